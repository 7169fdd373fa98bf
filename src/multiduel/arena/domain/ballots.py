"""Ballots: what a rater said of a ticket, in positions on it (0 is the first shown), never in options.

{"rank": [[2], [0, 1]]}   best first; positions in one group are level; positions left out were not compared with any
{"best": 2}  {"worst": 0}
{"skip": true}            nothing is said
{"wins": [[0, 1], [0, 0]]}  weights of "this one beat that one", from a system that credits clicks; where the question is rank
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from multiduel.arrays import Floats
from multiduel.engine.session.outcomes import best, wins_matrix, worst
from multiduel.inputs import BadInput, shortened

QUESTIONS = ("rank", "best", "worst")
MOST_WEIGHT = 1e9
SKIPPED = '{"skip":true}'


def normal(ballot: Any, question: str, shown: int) -> dict[str, Any]:
    """The one form that ballots saying the same have in common. Whatever is no answer to the question is refused."""
    if not isinstance(ballot, Mapping) or len(ballot) != 1:
        raise BadInput(f'A ballot has one entry, such as {{"{question}": ...}} or {{"skip": true}}. Got {shortened(ballot)}.')
    ((kind, said),) = ballot.items()
    if kind == "skip":
        if said is not True:
            raise BadInput(f'A ballot that skips is {{"skip": true}}. Got {shortened(ballot)}.')
        return {"skip": True}
    if kind == "wins" and question == "rank":
        return {"wins": _weights(said, shown)}
    if kind != question:
        raise BadInput(f"This arena asks '{question}'. Got {shortened(ballot)}.")
    if kind == "rank":
        return {"rank": _groups(said, shown)}
    return {kind: _position(said, shown)}


def _position(value: Any, shown: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < shown:
        raise BadInput(f"A position on this ticket must be a whole number from 0 to {shown - 1}. Got {shortened(value)}.")
    return value


def _is_list(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, Sequence) and not isinstance(value, str))


def _groups(said: Any, shown: int) -> list[list[int]]:
    if not _is_list(said):
        raise BadInput(f"A ranking is a list of positions or of groups of them, best first. Got {shortened(said)}.")
    groups = [sorted([_position(p, shown) for p in (group if _is_list(group) else [group])]) for group in said]
    named = [position for group in groups for position in group]
    if len(set(named)) < len(named):
        raise BadInput(f"A ranking must name each position once. Got {shortened(said)}.")
    if len(named) < 2 or not all(groups):
        raise BadInput(f"A ranking must place two positions at least, in groups that are not empty. Got {shortened(said)}.")
    return groups


def _weights(said: Any, shown: int) -> list[list[float]]:
    try:
        table = np.array(said, np.float64)
    except (TypeError, ValueError, OverflowError):
        table = np.zeros(0)
    good = table.shape == (shown, shown) and bool(((table >= 0.0) & (table <= MOST_WEIGHT)).all()) and not table.diagonal().any()
    if not good:
        raise BadInput(
            f"'wins' must be {shown} x {shown} weights, 0 to {MOST_WEIGHT:g}, 0 on the diagonal. Got {shortened(said)}."
        )
    weights: list[list[float]] = table.tolist()
    return weights


@lru_cache(maxsize=4096)  # of few options there are few rankings
def spoken(text: str, shown: int) -> Floats:
    """``wins_of`` a ballot that is kept as canonical JSON. Not to be changed: others have the same array."""
    wins = wins_of(json.loads(text), shown)
    wins.flags.writeable = False
    return wins


@lru_cache(maxsize=4096)
def judged_pairs(text: str, shown: int) -> tuple[tuple[int, int, int], ...]:
    """The pairs of positions that a ballot, as canonical JSON, judges: 1 if the first is above, -1 if it is below, 0 if level."""
    wins = spoken(text, shown).tolist()
    return tuple(
        (a, b, (wins[a][b] > wins[b][a]) - (wins[a][b] < wins[b][a]))
        for a in range(shown)
        for b in range(a + 1, shown)
        if wins[a][b] + wins[b][a] > 0.0
    )


@lru_cache(maxsize=4096)
def placed_above(text: str, shown: int) -> tuple[tuple[int, int], ...]:
    """The pairs of positions of which a ballot, as canonical JSON, puts the first above the second."""
    wins = spoken(text, shown)
    return tuple((int(a), int(b)) for a, b in np.argwhere(wins > wins.T))


def wins_of(ballot: Mapping[str, Any], shown: int) -> Floats:
    """wins[a, b] of the positions, by a ballot in normal form: 1 for above, 1/2 each way for level, 0 both ways for unsaid."""
    ((kind, said),) = ballot.items()
    if kind == "best" or kind == "worst":
        return wins_matrix((best if kind == "best" else worst)(said), tuple(range(shown)))
    if kind == "wins":  # an answer counts once: what weighs more is above
        weights = np.array(said, np.float64)
        level: Floats = 0.5 * ((weights == weights.T) & (weights > 0.0))
        return level + (weights > weights.T)
    table = [[0.0] * shown for _ in range(shown)]  # a ballot is small: lists are quicker than arrays
    if kind == "rank":
        below = [position for group in said for position in group]
        for group in said:
            del below[: len(group)]
            for position in group:
                row = table[position]
                for other in below:
                    row[other] = 1.0
                for other in group:
                    row[other] = 0.5 if other != position else 0.0
    return np.array(table)
