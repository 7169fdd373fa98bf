"""The answer in a few words, for the first line of a command: who is best, or how many may still be."""

from __future__ import annotations

from multiduel.inference import Verdict
from multiduel.inference.words import percent


def headline(verdict: Verdict) -> str:
    """Say in a few words what a verdict says.

    >>> from multiduel import verdict
    >>> headline(verdict([[0, 90], [2, 0]], names=["tea", "milk"])), headline(verdict([[0, 1], [2, 0]]))
    ('tea is best (95 %).', 'No winner yet: 2 of 2 are still possible.')
    """
    sure = f"({percent(1.0 - verdict.alpha)})"
    if len(verdict.present) == 1:
        return f"{verdict.names[verdict.present[0]]} is the only option."
    if verdict.winner is not None:
        give = f", give or take {percent(verdict.margin)}" if verdict.margin else ""
        return f"{verdict.names[verdict.winner]} is best{give} {sure}."
    if verdict.kind == "cycle":
        return f"No overall winner (cycle): no option beats all others {sure}."
    many = len(verdict.still_in)
    return f"No winner yet: {many} of {len(verdict.present)} {'is' if many == 1 else 'are'} still possible."
