"""What a preference matrix says by itself: winners, gaps, Property 1, order, the least regret of two-dueling. See the package."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from multiduel.arrays import Floats, Ints
from multiduel.inputs import BadInput

ROUNDING = 1e-12  # differences below this are rounding, not preference: Borda ties, strong transitivity


def square(P: ArrayLike) -> Floats:
    """The matrix, if it is one."""
    matrix = np.asarray(P, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise BadInput(f"'P' must be a square matrix with at least 1 arm. Got shape {matrix.shape}.")
    return matrix


# Winners


def condorcet_winner(P: ArrayLike) -> int | None:
    """Find the arm that beats every other with probability above 1/2.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j).

    Returns
    -------
    int or None
        None if there is no such arm.

    Examples
    --------
    >>> condorcet_winner([[0.5, 0.4], [0.6, 0.5]])
    1
    """
    matrix = square(P)
    full = np.flatnonzero(copeland_scores(matrix) == len(matrix) - 1)
    return int(full[0]) if len(full) else None


def copeland_scores(P: ArrayLike) -> Ints:
    """Count how many arms each arm beats: #{j : P[i, j] > 1/2}. A tie counts for neither.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j).

    Examples
    --------
    >>> copeland_scores([[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]).tolist()
    [2, 1, 0]
    """
    return np.asarray(np.count_nonzero(square(P) > 0.5, axis=1), dtype=np.int64)


def copeland_winners(P: ArrayLike) -> tuple[int, ...]:
    """Find the arms of largest Copeland score. There is always one, and there may be several.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j).

    Examples
    --------
    >>> copeland_winners([[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]])  # a cycle
    (0, 1, 2)
    """
    scores = copeland_scores(P)
    return tuple(np.flatnonzero(scores == scores.max()).tolist())


def borda_scores(P: ArrayLike) -> Floats:
    """Compute the chance of beating a random other arm: B_i = sum over j != i of P[i, j], divided by K - 1 (K = 1: 1/2).

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j).

    Examples
    --------
    >>> borda_scores([[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]).round(2).tolist()
    [0.85, 0.45, 0.2]
    """
    matrix = square(P)
    others = len(matrix) - 1
    if others == 0:
        return np.array([0.5])
    return np.asarray((matrix.sum(axis=1) - matrix.diagonal()) / others, dtype=np.float64)


def borda_winners(P: ArrayLike) -> tuple[int, ...]:
    """Find the arms of largest Borda score, equal up to rounding.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j).

    Examples
    --------
    >>> borda_winners([[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]])
    (0,)
    """
    scores = borda_scores(P)
    return tuple(np.flatnonzero(scores >= scores.max() - ROUNDING).tolist())


# Gaps and hardness


def gaps(P: ArrayLike, winner: int | None = None) -> Floats:
    """Compute the gaps D_i = P[*, i] - 1/2.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j).
    winner
        Another benchmark arm than the Condorcet winner; gaps can be negative then.

    Examples
    --------
    >>> gaps([[0.5, 0.75], [0.25, 0.5]]).tolist()
    [0.0, 0.25]
    """
    matrix = square(P)
    if winner is not None and not 0 <= winner < len(matrix):
        raise BadInput(f"'winner' must be an arm from 0 to {len(matrix) - 1}. Got {winner}.")
    best = condorcet_winner(matrix) if winner is None else winner
    if best is None:
        most = ", ".join(map(str, copeland_winners(matrix)))
        raise BadInput(
            "Gaps need a Condorcet winner, an arm that beats every other with probability above 1/2. "
            f"This matrix has none; most arms are beaten by: {most}."
        )
    return np.asarray(matrix[best] - 0.5, dtype=np.float64)


def hardness(P: ArrayLike) -> float:
    """Compute H = sum over i != * of 1/D_i^2 (AAMAS 2020, Theorem 1); 0 when K = 1.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j), with a Condorcet winner.

    Examples
    --------
    >>> hardness([[0.5, 0.75], [0.25, 0.5]])
    16.0
    """
    return float(np.sum(suboptimal_gaps(square(P)) ** -2.0))


def suboptimal_gaps(matrix: Floats) -> Floats:
    D = gaps(matrix)
    return D[D > 0]


def gamma(P: ArrayLike) -> float | None:
    """Find the smallest gamma of Property 1, D_*i <= gamma (D_*j - D_ij) for all i, j (AAMAS 2020).

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j).

    Returns
    -------
    float or None
        None without a strict Condorcet winner; infinite when some other arm does at least as well against some j.

    Examples
    --------
    >>> P = [[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]
    >>> round(gamma(P), 6)
    1.5
    """
    matrix = square(P)
    best = condorcet_winner(matrix)
    if best is None:
        return None
    rest = np.arange(len(matrix)) != best
    if not rest.any():
        return 1.0
    advantage = matrix[best] - matrix[rest]  # D_*j - D_ij
    if advantage.min() <= 0:
        return math.inf
    return float(np.max((matrix[best, rest] - 0.5)[:, None] / advantage))


# Order and transitivity


def is_total_order(P: ArrayLike) -> bool:
    """Tell whether there is no tie and no cycle: the Copeland scores are 0, 1, ..., K - 1.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j).

    Examples
    --------
    >>> cycle = [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]
    >>> is_total_order(cycle), is_total_order([[0.5, 0.4], [0.6, 0.5]])
    (False, True)
    """
    scores = np.sort(copeland_scores(P))
    return bool(np.array_equal(scores, np.arange(len(scores))))


def is_weakly_transitive(P: ArrayLike) -> bool:
    """Tell whether a beats b and b beats c (both above 1/2) never comes with c beating a.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j).

    Examples
    --------
    >>> is_weakly_transitive([[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]])  # a cycle
    False
    """
    matrix = square(P)
    beats = (matrix > 0.5).astype(np.float32)  # float: the product runs in BLAS
    return not bool(np.any((beats @ beats > 0) & (matrix < 0.5)))


def is_strongly_transitive(P: ArrayLike) -> bool:
    """Tell whether a beats b and b beats c (both above 1/2) implies P[a, c] >= max(P[a, b], P[b, c]).

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j).

    Examples
    --------
    >>> is_strongly_transitive([[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]])
    True
    """
    matrix = square(P)
    order = np.argsort(-copeland_scores(matrix))
    if is_total_order(matrix):  # then a, b, c stand in this order, and the largest of all b before, or after, is enough: O(K^2)
        ranked = np.triu(matrix[np.ix_(order, order)], k=1)
        row_so_far = np.maximum.accumulate(ranked, axis=1)
        column_so_far = np.maximum.accumulate(ranked[::-1], axis=0)[::-1]
        return not np.any(np.triu(np.maximum(row_so_far, column_so_far) - ranked, k=1) > ROUNDING)
    for b in range(len(matrix)):
        above = np.flatnonzero(matrix[:, b] > 0.5)
        below = np.flatnonzero(matrix[b] > 0.5)
        needed = np.maximum(matrix[above, b][:, None], matrix[b, below][None, :])
        if np.any(matrix[np.ix_(above, below)] < needed - ROUNDING):
            return False
    return True


def best_response_reaches_winner(P: ArrayLike) -> bool:
    """Tell whether every path j -> argmax_i P[i, j] ends in the Condorcet winner.

    DoublerBAI and MultiSBM follow best responses, so this, weaker than a finite gamma, is what they need to settle.
    Where several arms are best against j, all of them must lead to the winner.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j).

    Examples
    --------
    >>> best_response_reaches_winner([[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]])
    True
    """
    matrix = square(P)
    best = condorcet_winner(matrix)
    if best is None:
        return False
    astray = (matrix == matrix.max(axis=0)).astype(np.int64)  # astray[i, j]: i is a best response to j
    reached = np.zeros(len(matrix), dtype=bool)
    reached[best] = True
    while True:
        grown = reached | (astray[~reached].sum(axis=0) == 0)
        if np.array_equal(grown, reached):
            return bool(reached.all())
        reached = grown


# Information


def kl(p: float, q: float) -> float:
    """Compute kl(p, q) = p ln(p/q) + (1-p) ln((1-p)/(1-q)) of two Bernoulli laws; accurate also when p is close to q.

    Parameters
    ----------
    p, q
        The chances.

    Examples
    --------
    >>> round(kl(0.3, 0.5), 4)
    0.0823
    """
    if not (0 <= p <= 1 and 0 <= q <= 1):
        raise BadInput(f"'p' and 'q' of 'kl' must be between 0 and 1. Got {p} and {q}.")
    if abs(p - q) < 1e-8 * min(q, 1 - q):  # where the two parts cancel to their last digits
        return (p - q) ** 2 / (2 * q * (1 - q))
    return _kl_part(p, q, p - q) + _kl_part(1 - p, 1 - q, q - p)


def kl_to_half(p: Floats) -> Floats:
    """kl(p, 1/2) of a whole array."""
    d = 2.0 * np.asarray(p, dtype=np.float64) - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = 0.5 * ((1.0 + d) * np.log1p(d) + (1.0 - d) * np.log1p(-d))
    nats = np.where(np.abs(d) < 1e-8, 0.5 * d * d, nats)  # where the two parts cancel to their last digits
    return np.where(np.abs(d) >= 1.0, math.log(2.0), nats)


def _kl_part(p: float, q: float, apart: float) -> float:
    if p == 0:
        return 0.0
    if q == 0:
        return math.inf
    near = abs(apart) < q / 2  # log1p keeps a small difference, log a small p or q
    return p * math.log1p(apart / q) if near else p * (math.log(p) - math.log(q))


def komiyama_lower_bound(P: ArrayLike) -> float:
    """Compute Komiyama's (2015) lower bound for two-dueling algorithms, as a constant of ln T.

    liminf R_T / ln T >= sum_{i != *} min_{j : P[i,j] < 1/2} (D_i + D_j) / (2 kl(P[i,j], 1/2)). No matching constant is known for
    larger slates.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j), with a Condorcet winner.

    Examples
    --------
    >>> P = [[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]
    >>> round(komiyama_lower_bound(P), 3)  # times ln T
    1.322
    """
    matrix = square(P)
    D = gaps(matrix)
    nats = kl_to_half(matrix)
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = np.where(matrix < 0.5, (D[:, None] + D[None, :]) / (2.0 * nats), np.inf)
    return float(cost.min(axis=1)[D > 0].sum())
