"""What judges say, turned into ``wins[a, b]``: how often the slate's arm a beat its arm b."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats
from multiduel.inputs import BadInput, shortened


class Outcome(NamedTuple):
    """Pairs (winner, loser, weight): the weight is 1, or 1/2 each way for a tie. Made by the functions below.

    >>> best(3)
    Outcome(kind='best', arms=(3,))
    """

    kind: str
    arms: Any


def ranking(arms: Iterable[int]) -> Outcome:
    """Rank arms, best first.

    Parameters
    ----------
    arms
        The arms in their order. Arms of the slate that are left out were not judged.

    Returns
    -------
    Outcome
        For ``Policy.tell`` and ``Policy.observe``.

    Examples
    --------
    >>> ranking([2, 0, 1])
    Outcome(kind='ranking', arms=(2, 0, 1))
    """
    return Outcome("ranking", _each("ranking", arms))


def best(arm: int) -> Outcome:
    """Say that one arm beat every other of the slate; nothing is known of the others among themselves.

    Parameters
    ----------
    arm
        The best arm.

    Returns
    -------
    Outcome
        For ``Policy.tell`` and ``Policy.observe``.

    Examples
    --------
    >>> wins_matrix(best(5), (4, 5)).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    return Outcome("best", (arm,))


def worst(arm: int) -> Outcome:
    """Say that every other arm of the slate beat this one.

    Parameters
    ----------
    arm
        The worst arm.

    Returns
    -------
    Outcome
        For ``Policy.tell`` and ``Policy.observe``.

    Examples
    --------
    >>> wins_matrix(worst(5), (4, 5)).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return Outcome("worst", (arm,))


def duels(pairs: Iterable[tuple[int, int]]) -> Outcome:
    """List the duels that were fought.

    Parameters
    ----------
    pairs
        Any number of (winner, loser); a pair may come more than once.

    Returns
    -------
    Outcome
        For ``Policy.tell`` and ``Policy.observe``.

    Examples
    --------
    >>> wins_matrix(duels([(4, 5), (4, 5)]), (4, 5)).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    try:
        return Outcome("duels", tuple((winner, loser) for winner, loser in _each("duels", pairs)))
    except (TypeError, ValueError):
        raise BadInput(f"'duels' takes pairs (winner, loser). Got {shortened(pairs)}.") from None


def tie(*arms: int) -> Outcome:
    """Say that arms are equally good: half a win each way for every pair.

    Parameters
    ----------
    *arms
        The arms that tie.

    Returns
    -------
    Outcome
        For ``Policy.tell`` and ``Policy.observe``.

    Examples
    --------
    >>> wins_matrix(tie(4, 5), (4, 5)).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    return Outcome("tie", arms)


def _each(kind: str, values: Any) -> tuple[Any, ...]:
    try:
        return tuple(values)
    except TypeError:
        raise BadInput(f"'{kind}' takes a list of them. Got {shortened(values)}.") from None


def wins_matrix(outcome: Outcome | Sequence[Sequence[float]] | Floats, arms: tuple[int, ...]) -> Floats:
    """The wins among the slate's arms; only arms that were shown, no arm against itself. A matrix is taken as it is, if of
    the right shape: its entries are checked where they are used (``explain`` says what is wrong with them)."""
    n = len(arms)
    if not isinstance(outcome, Outcome):
        known = "ranking, best, worst, duels or tie"
        return matrix_of(outcome, n, "A matrix of wins for this slate", f"An outcome is made by {known}, or is a matrix of wins")
    kind: str = outcome.kind
    named: Any = outcome.arms
    if kind == "ranking" and len(named) == n:
        try:  # the usual case, quickly
            rank = {arm: r for r, arm in enumerate(named)}
            ranks = np.array([rank[arm] for arm in arms])
            return _ranked(n).take(ranks, 0).take(ranks, 1)
        except (KeyError, TypeError):
            pass  # the checks below say what is wrong
    place = {arm: a for a, arm in enumerate(arms)}
    for arm in itertools.chain.from_iterable(named) if kind == "duels" else named:
        try:
            shown = arm in place
        except TypeError:  # a list, say
            shown = False
        if not shown:
            raise BadInput(f"Arm {shortened(arm)} was not in this slate. It showed {shortened(arms)}.")
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


def matrix_of(values: Any, n: int, what: str, otherwise: str = "") -> Floats:
    """``values`` as n x n numbers; what they are is checked where they are used. ``otherwise`` is said of what is no matrix."""
    try:
        wins = np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"{otherwise or f'{what} must be a matrix of numbers'}. Got {shortened(values)}.") from None
    if wins.shape != (n, n):
        raise BadInput(f"{what} must be {n} x {n}. Got shape {wins.shape}.")
    return wins if wins.flags.writeable else wins.copy()  # an array that is read only would be compiled for once more


def explain(wins: Floats, arms: tuple[int, ...], most: float) -> BadInput:
    """What is wrong with a matrix of wins."""
    if wins.diagonal().any():
        return BadInput("An arm cannot beat itself: the diagonal of a matrix of wins must be 0.")
    a, b = np.argwhere(~((wins >= 0.0) & (wins <= most)))[0]
    limit = f"from 0 to {most:g}" if wins[a, b] > most else "finite and at least 0"
    return BadInput(f"Wins must be {limit}. Got {wins[a, b]} for arm {arms[a]} over arm {arms[b]}.")
