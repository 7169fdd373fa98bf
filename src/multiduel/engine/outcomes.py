"""What judges say, turned into ``wins[a, b]``: how often the slate's arm a beat its arm b."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats
from multiduel.inputs import BadInput


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


def wins_matrix(outcome: Outcome | Sequence[Sequence[float]] | Floats, arms: tuple[int, ...]) -> Floats:
    """The wins among the slate's arms; only arms that were shown, no arm against itself. A matrix is taken as it is, if of
    the right shape: its entries are checked where they are used (``explain`` says what is wrong with them)."""
    n = len(arms)
    if not isinstance(outcome, Outcome):
        return _matrix(outcome, n)
    kind: str = outcome.kind
    named: Any = outcome.arms
    if kind == "ranking" and len(named) == n:
        try:  # the usual case, quickly
            rank = {arm: r for r, arm in enumerate(named)}
            ranks = np.array([rank[arm] for arm in arms])
            return _ranked(n).take(ranks, 0).take(ranks, 1)
        except KeyError:
            pass  # the checks below say what is wrong
    place = {arm: a for a, arm in enumerate(arms)}
    for arm in sum(named, ()) if kind == "duels" else named:
        if arm not in place:
            raise BadInput(f"Arm {arm!r} was not in this slate. It showed {arms}.")
    wins = np.zeros((n, n))
    if kind == "duels":
        for winner, loser in named:
            if winner == loser:
                raise BadInput(f"An arm cannot beat itself. Got the duel ({winner}, {loser}).")
            wins[place[winner], place[loser]] += 1.0
        return wins
    if len(set(named)) < len(named):
        raise BadInput(f"A {kind} must name each arm once. Got {named}.")
    here = [place[arm] for arm in named]
    if kind == "best":
        wins[here[0], :] = 1.0
    elif kind == "worst":
        wins[:, here[0]] = 1.0
    else:
        wins[np.ix_(here, here)] = 0.5 if kind == "tie" else _ranked(len(here))
    np.fill_diagonal(wins, 0.0)
    return wins


@functools.cache
def _ranked(n: int) -> Floats:
    """Wins among n arms in order."""
    return np.triu(np.ones((n, n)), 1)


def _matrix(values: Any, n: int) -> Floats:
    try:
        wins = np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError):
        known = "ranking, best, worst, duels or tie"
        raise BadInput(f"An outcome is made by {known}, or is a matrix of wins. Got {values!r}.") from None
    if wins.shape != (n, n):
        raise BadInput(f"A matrix of wins for this slate must be {n} x {n}. Got shape {wins.shape}.")
    return wins


def explain(wins: Floats, arms: tuple[int, ...]) -> BadInput:
    """What is wrong with a matrix of wins."""
    if wins.diagonal().any():
        return BadInput("An arm cannot beat itself: the diagonal of a matrix of wins must be 0.")
    a, b = np.argwhere(~((wins >= 0.0) & np.isfinite(wins)))[0]
    return BadInput(f"Wins must be finite and at least 0. Got {wins[a, b]} for arm {arms[a]} over arm {arms[b]}.")
