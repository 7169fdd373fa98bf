"""What a judge is asked, and how its answer is read. A judge sees contents in a random order, and never a name."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from multiduel.arena.domain.ballots import normal, wins_of
from multiduel.arena.domain.options import Content
from multiduel.arrays import Floats
from multiduel.inputs import BadInput, shortened

LETTERS = "ABCDEFGHIJKLMNOPQRST"  # as many as an arena shows at once
MOST_ANSWER = 100_000  # characters of an answer that are read


class Unreadable(Exception):
    """An answer that says nothing that can be taken for a vote."""


class Reply(NamedTuple):
    """What came back from a judge, as it was said, and what it cost."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True)
class Question:
    """What a judge is asked: to compare these contents, in this order.

    >>> Question(("Paris", "Lyon"), case="What is the capital of France?").letters
    'AB'
    """

    contents: tuple[str | bytes, ...]  # texts, or the bytes of an image or a sound
    case: str | None = None  # the question that they answer, if there is one
    task: str = "rank"  # rank, best or worst
    instructions: str = ""  # of the owner
    kinds: tuple[str, ...] = ()  # text, markdown, url, image or audio; text if not given
    types: tuple[str, ...] = ()  # media types of images and sounds

    @property
    def letters(self) -> str:
        """The names of the positions."""
        return LETTERS[: len(self.contents)]

    def reversed(self) -> Question:
        """Ask the same in the opposite order."""
        back = tuple(reversed(self.contents))
        return Question(back, self.case, self.task, self.instructions, self.kinds[::-1], self.types[::-1])

    def to_json(self) -> dict[str, Any]:
        """The question as plain JSON, with media in base 64."""
        shown = [one if isinstance(one, str) else {"base64": base64.b64encode(one).decode("ascii")} for one in self.contents]
        return {"task": self.task, "case": self.case, "instructions": self.instructions, "contents": shown}


def question_of(contents: Sequence[Content], case: str | None, task: str, instructions: str) -> Question:
    """Make the question of what is shown."""
    texts = tuple(one.data if one.kind in ("image", "audio") else one.data.decode("utf-8") for one in contents)
    return Question(texts, case, task, instructions, tuple(one.kind for one in contents), tuple(one.type for one in contents))


def ballot_of(said: Any, task: str, shown: int) -> dict[str, Any]:
    """Read what a judge said: a ballot in positions. Letters stand for positions.

    Parameters
    ----------
    said
        {"best": "A"}, {"best": "tie"}, {"worst": 1}, {"ranking": ["B", ["A", "C"]]} or {"skip": true}; a position; a ranking as a
        list; "tie"; None for nothing to say.
    task
        rank, best or worst.
    shown
        How many contents there were.

    Returns
    -------
    dict
        A ballot in its normal form.

    Raises
    ------
    Unreadable
        It is none of these, or no answer to the task.

    Examples
    --------
    >>> ballot_of({"best": "B"}, "rank", 2), ballot_of("tie", "rank", 2), ballot_of([2, [0, 1]], "rank", 3)
    ({'rank': [[1], [0]]}, {'rank': [[0, 1]]}, {'rank': [[2], [0, 1]]})
    """
    if said is None:
        return {"skip": True}
    if isinstance(said, Mapping):
        if len(said) != 1:
            known = [name for name in ("ranking", "rank", "best", "worst", "tie", "skip") if name in said]
            if len(known) != 1:
                raise Unreadable(f"It must say one of best, worst, ranking, tie or skip. Got {shortened(said)}.")
            said = {known[0]: said[known[0]]}
        ((kind, value),) = said.items()
    elif isinstance(said, list | tuple):
        kind, value = "rank", said
    else:
        kind, value = ("tie", True) if said == "tie" else ("best" if task == "rank" else task, said)
    if kind in ("best", "worst") and value == "tie":
        kind, value = "tie", True
    try:
        if kind == "skip" and value is True:
            return {"skip": True}
        if kind == "tie" and value is True:
            return normal({"rank": [list(range(shown))]}, task, shown) if task == "rank" else {"skip": True}
        if kind in ("ranking", "rank"):
            return normal({"rank": _ranking(value, shown)}, task, shown)
        if kind in ("best", "worst"):
            place = _position(value, shown)
            if task == "rank" and shown == 2:
                first, second = ([place], [1 - place]) if kind == "best" else ([1 - place], [place])
                return normal({"rank": [first, second]}, task, shown)
            return normal({kind: place}, task, shown)
    except BadInput as error:
        raise Unreadable(str(error)) from None
    raise Unreadable(f"It must say one of best, worst, ranking, tie or skip. Got {shortened(said)}.")


def _ranking(value: Any, shown: int) -> list[list[int]]:
    if isinstance(value, str):
        value = list(value.replace(">", "").replace(" ", "").replace(",", ""))
    if not isinstance(value, list | tuple):
        raise Unreadable(f"A ranking is a list, best first. Got {shortened(value)}.")
    groups = [one if isinstance(one, list | tuple) else [one] for one in value]
    ranked = [[_position(one, shown) for one in group] for group in groups]
    if len({one for group in ranked for one in group}) < shown:
        raise Unreadable(f"A ranking must name all {shown}. Got {shortened(value)}.")
    return ranked


def _position(value: Any, shown: int) -> int:
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, str) and len(value) == 1 and value.upper() in LETTERS[:shown]:
        return LETTERS.index(value.upper())
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < shown:
        raise Unreadable(f"A position is one of {', '.join(LETTERS[:shown])}, or 0 to {shown - 1}. Got {shortened(value)}.")
    return value


def read_text(text: str, task: str, shown: int) -> dict[str, Any]:
    """Read the first JSON object of an answer in words."""
    text = text[:MOST_ANSWER]
    start = text.find("{")
    if start < 0:
        raise Unreadable(f"It must contain a JSON object. Got {shortened(text)}.")
    try:
        said, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        raise Unreadable(f"It must contain a JSON object. Got {shortened(text)}.") from None
    if not isinstance(said, dict):
        raise Unreadable(f"It must contain a JSON object. Got {shortened(text)}.")
    return ballot_of(said, task, shown)


def joined(ballots: Sequence[Mapping[str, Any]], task: str, shown: int) -> dict[str, Any]:
    """Join ballots on the same contents in the same positions into one: of each pair, what most say, and level where as many say
    the opposite. Skips say nothing; of skips alone comes a skip.

    >>> joined([{"rank": [[0], [1]]}, {"rank": [[1], [0]]}], "rank", 2)
    {'rank': [[0, 1]]}
    """
    said = [ballot for ballot in ballots if "skip" not in ballot]
    if not said:
        return {"skip": True}
    if all(ballot == said[0] for ballot in said):
        return dict(said[0])
    total: Floats = sum((np.sign((wins := wins_of(ballot, shown)) - wins.T) for ballot in said), np.zeros((shown, shown)))
    if task != "rank":  # the most chosen; who is as often chosen as another cannot be said in such a ballot
        chosen = [ballot[task] for ballot in said]
        most = max(set(chosen), key=chosen.count)
        others = [one for one in set(chosen) if one != most and chosen.count(one) == chosen.count(most)]
        return {"skip": True} if others else {task: most}
    if shown == 2:
        sign = total[0, 1]
        return normal({"rank": [[0, 1]] if sign == 0 else [[0], [1]] if sign > 0 else [[1], [0]]}, task, shown)
    wins = (total > 0) + 0.5 * (total == 0)
    np.fill_diagonal(wins, 0.0)
    return normal({"wins": wins.tolist()}, task, shown)


def turned(ballot: Mapping[str, Any], shown: int) -> dict[str, Any]:
    """A ballot on the opposite order, in the positions of the original one."""
    ((kind, said),) = ballot.items()
    if kind == "skip":
        return {"skip": True}
    if kind == "rank":
        return {"rank": [sorted(shown - 1 - place for place in group) for group in said]}
    return {kind: shown - 1 - said}
