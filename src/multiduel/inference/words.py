"""Verdicts as sentences for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiduel.inference.verdict import Verdict

WHOM = {
    "answer": "for these raters",
    "rater": "for people like these raters",
    "case": "for cases like these",
}
MANY = 12  # names in a sentence at most
BETTER = {  # what it means to beat each other option, by the question that was asked
    "rank": "more than half of the {answers} that tell the two apart place it above",
    "best": "of the {answers} that name one of the two best, more than half name it",
    "worst": "of the {answers} that name one of the two worst, more than half name the other",
}


def sentence(verdict: Verdict, question: str = "rank", whom: str = "", *, final: bool = False) -> str:
    """The verdict for people. ``whom`` says for whom it holds, if more is known than the unit; ``final`` says that no more
    answers will come: then there is no "yet"."""
    whom, sure = whom or WHOM[verdict.unit], f"({percent(1.0 - verdict.alpha)})"
    name = [f"'{text}'" for text in verdict.names]
    none = "No winner" if final else "No winner yet"
    answers = f"{verdict.unit}s"
    if len(verdict.present) == 1:
        return f"{name[verdict.present[0]]} is the only option."
    if verdict.winner is not None and verdict.margin > 0.0:
        return (
            f"{name[verdict.winner]} is best, give or take {percent(verdict.margin)}, {whom} {sure}: no other option is "
            f"preferred to it in more than {percent(0.5 + verdict.margin)} of the {answers} on the two, ties counting half."
        )
    if verdict.winner is not None:
        better = BETTER[question].format(answers=answers)
        return f"{name[verdict.winner]} is best {whom} {sure}: against each other option, {better}."
    if verdict.kind == "cycle":
        steps = [f"{name[i]} above {name[j]}" for i, j in zip(verdict.cycle, (*verdict.cycle[1:], verdict.cycle[0]), strict=True)]
        so = "each step of this cycle is certain too:" if verdict.cycle_is_certain else "most place"
        return f"No option beats all others {whom} {sure}; {so} {listed(steps)}."
    if verdict.kind == "open":
        return f"{none} {whom}: any of the {len(verdict.present)} options may still be the one that beats all others."
    few = [name[arm] for arm in verdict.still_in]
    if len(few) == 1:
        only = f"if one option beats all others, it is {few[0]} {sure}"
        return f"{none} {whom}: {only}; that there is one is not certain."
    return (
        f"{none} {whom}: {listed(few)} are still possible. If one option beats all others, it is one of these {len(few)} {sure}."
    )


def percent(share: float) -> str:
    return f"{100.0 * share:.4g} %"


def listed(words: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'; very long lists are cut."""
    if len(words) > MANY:
        return f"{', '.join(words[:MANY])} and {len(words) - MANY} more"
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else list(words))
