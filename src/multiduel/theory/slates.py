"""The least regret any multi-dueling policy must pay: a linear programme over slates.

Derived here (docs/due-duel-proof.md has every step); for m = 2 it is the bound of Komiyama, Honda, Kashima, Nakagawa (COLT 2015).

A policy whose regret is o(T^a) for every a > 0 and every matrix with a Condorcet winner must, on this one, gather ln T nats
against every arm i != * from the arms that beat it: with n_A the expected plays of slate A, divided by ln T,

    sum_A n_A sum_{j in A : p_ij < 1/2} kl(p_ij, 1/2) >= 1   for i in A, for every i != *.

The cheapest such n, where a play of A costs its mean gap, is the bound. There are too many slates to write down, so they are
found as they are needed (column generation): the dual prices y_i say what a nat against i is worth, and the next slate is one
that is worth more than it costs.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multiduel.arrays import Floats
from multiduel.inputs import BadInput
from multiduel.theory.matrix import gaps, kl_to_half

FEW_SLATES = 1_500_000  # up to so many slates (24 arms, 8 at once), all are looked at and the bound is exact
CLOSE = 1e-9


@dataclass(frozen=True)
class SlateBound:
    """A lower bound, liminf R_T / ln T >= constant.

    It is exact, or an estimate from above: the true constant is then ``at_least`` or more.

    Examples
    --------
    >>> P = [[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]
    >>> bound = multi_dueling_lower_bound(P, 3)
    >>> [slate for slate, per_log in bound.slates], bound.exact
    ([(0, 1), (0, 1, 2)], True)
    """

    constant: float
    at_least: float
    exact: bool
    slates: tuple[tuple[tuple[int, ...], float], ...]  # the cheapest plan: slates, and how often per ln T

    @property
    def per_decade(self) -> float:
        """Regret for each factor of 10 in T."""
        return self.constant * math.log(10)

    @property
    def gap(self) -> float:
        """Largest share of the estimate by which it may be too high; 0 when exact."""
        return 0.0 if self.exact or self.constant == 0.0 else 1.0 - self.at_least / self.constant


def multi_dueling_lower_bound(P: ArrayLike, slate_size: int) -> SlateBound:
    """Compute the constant of ln T that no consistent policy with slates of at most ``slate_size`` arms stays below.

    Exact where all slates can be looked at (up to 1,500,000); beyond, slates are found by local search, which may miss some: the
    constant is then an estimate from above, and ``at_least`` a certified bound from below.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j), with a Condorcet winner.
    slate_size
        How many arms a slate may hold.

    Returns
    -------
    SlateBound
        The constant, and the slates that attain it.

    Examples
    --------
    >>> P = [[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]
    >>> [round(multi_dueling_lower_bound(P, m).constant, 3) for m in (2, 3)]  # times ln T
    [1.322, 0.963]
    """
    from scipy.optimize import linprog

    if slate_size < 2:
        raise BadInput(f"'slate_size' must be at least 2. Got {slate_size}.")
    matrix = np.asarray(P, dtype=np.float64)
    D = gaps(matrix)  # and so a Condorcet winner
    K, best = len(D), int(np.argmin(D))
    m = min(slate_size, K)
    if K == 1:
        return SlateBound(0.0, 0.0, True, ())
    info = np.where(matrix < 0.5, kl_to_half(matrix), 0.0)  # info[i, j]: against i, by j
    others = [i for i in range(K) if i != best]
    exact = sum(math.comb(K, size) for size in range(2, m + 1)) <= FEW_SLATES
    known = _Slates(D, info)
    for i in others:
        known.add((best, i))
    every: list[NDArray[np.int16]] = []
    while True:
        solved: Any = linprog(
            known.costs, A_ub=-np.array(known.nats).T[others], b_ub=-np.ones(len(others)), bounds=(0, None), method="highs"
        )
        y = np.zeros(K)
        y[others] = -solved.ineqlin.marginals
        worth = info * y[:, None]
        worth += worth.T  # what the duel of a pair is worth
        if sum(known.add(slate) for slate in _search(D, worth, best, m)):
            continue
        if exact and not every:
            every = [_combinations(K, size) for size in range(2, m + 1)]
        if not sum(known.add(slate) for slate in _worth_most(every, D, worth)):
            break
    constant = float(solved.fun)
    at_least = constant if exact else float(y.sum()) / max(1.0, _dearest(D, worth, best, m))
    plan = sorted(((slate, float(n)) for slate, n in zip(known.slates, solved.x, strict=True) if n > CLOSE), key=lambda s: -s[1])
    return SlateBound(constant, at_least, exact, tuple(plan))


class _Slates:
    """The columns of the programme so far."""

    def __init__(self, D: Floats, info: Floats) -> None:
        self.D, self.info = D, info
        self.slates: list[tuple[int, ...]] = []
        self.costs: list[float] = []
        self.nats: list[Floats] = []
        self.seen: set[tuple[int, ...]] = set()

    def add(self, slate: tuple[int, ...]) -> bool:
        if slate in self.seen:
            return False
        arms = list(slate)
        nats = np.zeros(len(self.D))
        nats[arms] = self.info[np.ix_(arms, arms)].sum(axis=1)
        self.seen.add(slate)
        self.slates.append(slate)
        self.costs.append(float(self.D[arms].mean()))
        self.nats.append(nats)
        return True


def _combinations(K: int, size: int) -> NDArray[np.int16]:
    flat = itertools.chain.from_iterable(itertools.combinations(range(K), size))
    return np.fromiter(flat, np.int16, size * math.comb(K, size)).reshape(-1, size)


def _worth_most(every: list[NDArray[np.int16]], D: Floats, worth: Floats, at_once: int = 30) -> list[tuple[int, ...]]:
    """Of all slates, those that are worth most beyond their cost; none if none is."""
    found: list[tuple[float, tuple[int, ...]]] = []
    for slates in every:
        excess = -D[slates].mean(axis=1)
        for a, b in itertools.combinations(range(slates.shape[1]), 2):
            excess += worth[slates[:, a], slates[:, b]]
        top = np.argpartition(-excess, min(at_once, len(excess) - 1))[:at_once]
        found += [(float(excess[k]), tuple(int(arm) for arm in slates[k])) for k in top if excess[k] > CLOSE]
    return [slate for _, slate in sorted(found, reverse=True)[:at_once]]


def _search(D: Floats, worth: Floats, best: int, m: int) -> list[tuple[int, ...]]:
    """Local search: from every pair with the winner, add what adds most; then exchange arms while that helps."""
    K = len(D)
    found: dict[tuple[int, ...], float] = {}

    def excess(slate: list[int]) -> float:
        return float(worth[np.ix_(slate, slate)].sum() / 2.0 - D[slate].mean())

    def keep(slate: list[int]) -> None:
        value = excess(slate)
        if value > CLOSE:
            found[tuple(sorted(slate))] = value

    for i in range(K):
        if i == best:
            continue
        slate = [best, i]
        while len(slate) < m:
            n = len(slate)
            gain = worth[slate].sum(axis=0) - (D[slate].sum() + D) / (n + 1) + D[slate].mean()
            gain[slate] = -np.inf
            slate.append(int(np.argmax(gain)))
            keep(slate)
    for start in sorted(found, key=lambda slate: -found[slate])[:20]:
        slate, better = list(start), True
        while better:
            better = False
            for place in range(len(slate)):
                rest = slate[:place] + slate[place + 1 :]
                value = worth[rest].sum(axis=0) - (D[rest].sum() + D) / len(slate) + worth[np.ix_(rest, rest)].sum() / 2.0
                value[rest] = -np.inf
                arm = int(np.argmax(value))
                if value[arm] > value[slate[place]] + CLOSE:
                    slate, better = [*rest, arm], True
        keep(slate)
    return sorted(found, key=lambda slate: -found[slate])[:40]


def _dearest(D: Floats, worth: Floats, best: int, m: int) -> float:
    """No slate is worth more than so many times its cost: prices divided by it are feasible, which certifies a bound.

    Of a slate of s arms, worth / cost is s sum_a h_a / sum_a D_a where h_a is a's share of the worth: all of its duel with the
    winner and half of the others. So the largest s h_a / D_a bounds it, with the most that s - 2 other arms can give.
    """
    most = 0.0
    for a in range(len(D)):
        if a != best:
            rest = np.sort(np.delete(worth[a], [a, best]))[::-1] / 2.0
            for s in range(2, m + 1):
                with_winner = worth[a, best] + rest[: s - 2].sum()
                most = max(most, s * max(with_winner, rest[: s - 1].sum()) / D[a])
    return float(most)
