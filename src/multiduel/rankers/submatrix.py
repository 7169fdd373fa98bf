"""Rankers that stand in a total order, picked from a matrix by a rule that can be stated.

The paper (AAMAS 2020) uses 24 of 136 rankers with P[i, j] > 1/2 for all i < j and does not say which. The rule here:

    sort the arms by Copeland score (how many others they beat), ties by Borda score, then by number
    go down the list; keep an arm if every arm kept so far beats it, by P >= 1/2 + margin (P > 1/2 if margin is 0)
    stop when there are enough
"""

from __future__ import annotations

import math

import numpy as np

from multiduel import theory
from multiduel.arrays import Floats
from multiduel.inputs import BadInput, whole
from multiduel.problems import Problem, from_matrix

MARGIN_STEP, MARGIN_LIMIT = 0.0005, 0.05


def total_order(problem: Problem, size: int, *, margin: float | None = 0.0) -> tuple[int, ...]:
    """Find arms that are totally ordered, best first.

    Parameters
    ----------
    problem
        The problem.
    size
        How many arms to keep.
    margin
        By how much an arm must beat those below; None takes the largest multiple of 0.0005 below 0.05 that leaves enough.

    Returns
    -------
    tuple of int
        The arms kept, best first.

    Examples
    --------
    >>> from multiduel import synthetic
    >>> total_order(synthetic(6), 3)
    (0, 1, 2)
    """
    size = whole("size", size, 1, of="total_order")
    if margin is not None and not 0.0 <= margin <= 0.5:
        raise BadInput(f"'margin' of 'total_order' must lie between 0 and 0.5. Got {margin}.")
    P = problem.matrix
    copeland, borda = theory.copeland_scores(P), theory.borda_scores(P)
    ranked = sorted(range(problem.n_arms), key=lambda arm: (-copeland[arm], -borda[arm], arm))
    if margin is not None:
        kept = _keep(P, ranked, size, margin)
        if len(kept) < size:
            raise BadInput(f"'{problem.label}' has {len(kept)} arms in a total order by this rule. Got a size of {size}.")
        return kept
    for step in range(math.ceil(MARGIN_LIMIT / MARGIN_STEP) - 1, -1, -1):
        kept = _keep(P, ranked, size, step * MARGIN_STEP)
        if len(kept) == size:
            return kept
    raise BadInput(f"'{problem.label}' has fewer than {size} arms in a total order by this rule.")


def _keep(P: Floats, ranked: list[int], size: int, margin: float) -> tuple[int, ...]:
    kept: list[int] = []
    for arm in ranked:
        if all(P[better, arm] > 0.5 and P[better, arm] >= 0.5 + margin for better in kept):
            kept.append(arm)
            if len(kept) == size:
                break
    return tuple(kept)


def take(problem: Problem, arms: tuple[int, ...]) -> Problem:
    """Keep some arms of a problem, in this order.

    Parameters
    ----------
    problem
        The problem.
    arms
        Their numbers.

    Examples
    --------
    >>> from multiduel import synthetic
    >>> take(synthetic(6), (0, 3)).names
    ('arm 0', 'arm 3')
    """
    rows = list(arms)
    names = [problem.names[arm] for arm in rows]
    return from_matrix(problem.matrix[np.ix_(rows, rows)], names=names, label=f"{problem.label}, {len(rows)} of {problem.n_arms}")
