"""What judges say, turned into ``wins[a, b]``: how often the slate's arm a beat its arm b."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from multiduel.errors import BadInput
from multiduel.kernels.arrays import Floats


class Outcome(NamedTuple):
    """Pairs (winner, loser, weight): the weight is 1, or 1/2 each way for a tie. Made by the functions below."""

    kind: str
    arms: Any


def ranking(arms: Iterable[int]) -> Outcome:
    """These arms, best first. Arms of the slate that are left out were not judged."""
    return Outcome("ranking", tuple(arms))


def best(arm: int) -> Outcome:
    """This arm beat every other of the slate; nothing is known of the others among themselves."""
    return Outcome("best", (arm,))


def worst(arm: int) -> Outcome:
    """Every other arm of the slate beat this one."""
    return Outcome("worst", (arm,))


def duels(pairs: Iterable[tuple[int, int]]) -> Outcome:
    """Any number of (winner, loser) pairs; a pair may come more than once."""
    return Outcome("duels", tuple((winner, loser) for winner, loser in pairs))


def tie(*arms: int) -> Outcome:
    """These arms are equally good: half a win each way for every pair."""
    return Outcome("tie", arms)


def wins_matrix(outcome: Outcome | Sequence[Sequence[float]] | Floats, arms: Sequence[int]) -> Floats:
    """The wins among the slate's arms, checked: only arms that were shown, no arm against itself."""
    if not isinstance(outcome, Outcome):
        return _checked(outcome, arms)
    n = len(arms)
    place = {arm: a for a, arm in enumerate(arms)}
    named: tuple[int, ...] = sum(outcome.arms, ()) if outcome.kind == "duels" else outcome.arms
    for arm in named:
        if arm not in place:
            raise BadInput(f"Arm {arm!r} was not in this slate. It showed {tuple(arms)}.")
    wins = np.zeros((n, n))
    if outcome.kind == "duels":
        for winner, loser in outcome.arms:
            if winner == loser:
                raise BadInput(f"An arm cannot beat itself. Got the duel ({winner}, {loser}).")
            wins[place[winner], place[loser]] += 1.0
        return wins
    if len(set(named)) < len(named):
        raise BadInput(f"A {outcome.kind} must name each arm once. Got {named}.")
    here = [place[arm] for arm in named]
    if outcome.kind == "best":
        wins[here[0], :] = 1.0
    elif outcome.kind == "worst":
        wins[:, here[0]] = 1.0
    elif outcome.kind == "tie":
        wins[np.ix_(here, here)] = 0.5
    elif len(here) == n:
        rank = np.empty(n, np.int64)
        rank[here] = np.arange(n)
        return (rank[:, None] < rank).astype(np.float64)
    else:
        wins[np.ix_(here, here)] = np.triu(np.ones((len(here), len(here))), 1)
    wins[range(n), range(n)] = 0.0
    return wins


def _checked(values: Any, arms: Sequence[int]) -> Floats:
    n = len(arms)
    try:
        wins = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise BadInput(f"An outcome is made by ranking, best, worst, duels or tie, or is a matrix of wins. Got {values!r}.") from None
    if wins.shape != (n, n):
        raise BadInput(f"A matrix of wins for this slate must be {n} x {n}. Got shape {wins.shape}.")
    if not (wins >= 0.0).all() or not np.isfinite(wins).all():
        a, b = np.argwhere(~((wins >= 0.0) & np.isfinite(wins)))[0]
        raise BadInput(f"Wins must be finite and at least 0. Got {wins[a, b]} for arm {arms[a]} over arm {arms[b]}.")
    if wins.diagonal().any():
        raise BadInput("An arm cannot beat itself: the diagonal of a matrix of wins must be 0.")
    return wins
