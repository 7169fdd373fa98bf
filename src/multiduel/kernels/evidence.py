"""What answers say about pairs of arms, counted, and the evidence in the counts: bets whose winnings cannot be luck.

An answer is what one judge said of one slate. For each pair it places one above the other, level, or says nothing. Against
"i is placed above j at most half the time" one may bet a share b of one's money on every answer that decides the pair, at
even odds; after D[i, j] answers for and D[j, i] against, 1 has become (1 + b)^D[i,j] (1 - b)^D[j,i]. Which b is best depends
on the truth, so the money is split over 24 bets from 1/64 to 0.97, evenly spaced in ln b:

    L[i, j] = ln mean_g (1 + b_g)^D[i,j] (1 - b_g)^D[j,i]

``multiduel.inference`` says what may be concluded from it, and why.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.kernels.compiler.dispatch import kernel

SHARES = np.exp(np.linspace(math.log(1.0 / 64.0), math.log(0.97), 24))  # b_g
NEGLIGIBLE = 42.0  # a term e^-42 times the largest is lost in rounding


class Bets(NamedTuple):
    """The logarithm of what one answer does to each bet."""

    win: Floats  # f8[24]
    tie: Floats  # f8[24]
    loss: Floats  # f8[24]


def bets(null: float = 0.5) -> Bets:
    """Bets against "the mean of X is at most ``null``", X = 1 for above, 1/2 for level, 0 for below.

    A bet's money is multiplied by 1 + b (X - null) / null: fair or worse whenever the mean is at most the null, and never
    negative. At 1/2 that is 1 + b, 1 and 1 - b.
    """
    return Bets(*(np.log1p(SHARES * ((x - null) / null)) for x in (1.0, 0.5, 0.0)))


class Powers(NamedTuple):
    """What a bet has become after 0, 1, 2, ... answers of a kind. Most counts are small, and a product is quicker than exp."""

    win: Floats  # f8[counts, 24]
    tie: Floats
    loss: Floats


def powers(stakes: Bets) -> Powers:
    most = min(256, int(700.0 / max(stakes.win[-1], stakes.tie[-1])))  # beyond, a power would not be a finite number
    steps = np.arange(most + 1.0)[:, None]
    return Powers(*(np.exp(steps * kind) for kind in stakes))


EVEN = bets()
_SHARES, (_WIN, _TIE, _LOSS) = SHARES, EVEN  # constants of compiled code
_WON, _TIED, _LOST = powers(EVEN)


class Counts(NamedTuple):
    """Answers, counted. An answer counts at most 1 for a pair, and at most 1 for an arm."""

    above: Floats  # f8[K, K]  answers that placed i above j
    ties: Floats  # f8[K, K]  answers that placed i and j level; symmetric
    shares: Floats  # f8[K, 2]  per arm: sum of the shares of its judged opponents that it beat; answers that judged it


def no_answers(n_arms: int) -> Counts:
    return Counts(np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms)), np.zeros((n_arms, 2)))


@kernel
def count_answer(counts: Counts, slate: Ints, wins: Floats) -> None:
    """One answer more. ``wins`` are weights: whoever has more of a pair's is placed above."""
    n = slate.shape[0]
    for a in range(n):
        i = slate[a]
        beaten = 0.0
        judged = 0.0
        for b in range(n):
            mine, theirs = wins[a, b], wins[b, a]
            if a == b or mine + theirs == 0.0:
                continue
            judged += 1.0
            if mine > theirs:
                counts.above[i, slate[b]] += 1.0
                beaten += 1.0
            elif mine == theirs:
                counts.ties[i, slate[b]] += 1.0
                beaten += 0.5
        if judged > 0.0:
            counts.shares[i, 0] += beaten / judged
            counts.shares[i, 1] += 1.0


@kernel
def grown(largest: float, total: float, x: float) -> tuple[float, float]:
    """One term e^x more in a sum that is kept as total times e^largest."""
    if x > largest:
        kept = total * math.exp(largest - x) if x - largest < NEGLIGIBLE else 0.0
        return x, kept + 1.0
    return largest, total + (math.exp(x - largest) if largest - x < NEGLIGIBLE else 0.0)


@kernel
def log_winnings(win: Floats, tie: Floats, loss: Floats, above: float, level: float, below: float) -> float:
    """ln of the mean, over the bets, of what 1 has become after so many answers."""
    largest, total = -math.inf, 0.0
    for g in range(win.shape[0]):
        largest, total = grown(largest, total, above * win[g] + level * tie[g] + below * loss[g])
    return largest + math.log(total / win.shape[0])


@kernel
def is_listed(table: Floats, above: float, level: float, below: float) -> bool:
    """Are these whole numbers, and small enough for a table of powers?"""
    small = above < table.shape[0] and level < table.shape[0] and below < table.shape[0]
    return small and above == math.floor(above) and level == math.floor(level) and below == math.floor(below)


@kernel
def log_evidence(above: float, below: float) -> float:
    """L: evidence that i, placed above j so often and below it so often, is above more than half the time."""
    if is_listed(_WON, above, 0.0, below):
        return log_mean_product(_WON[int(above)], _TIED[0], _LOST[int(below)])
    return log_winnings(_WIN, _TIE, _LOSS, above, 0.0, below)


@kernel
def log_mean_product(x: Floats, y: Floats, z: Floats) -> float:
    """ln of the mean of x y z over the 24 bets: four sums, because one would wait for itself."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for g in range(0, 24, 4):
        a += x[g] * y[g] * z[g]
        b += x[g + 1] * y[g + 1] * z[g + 1]
        c += x[g + 2] * y[g + 2] * z[g + 2]
        d += x[g + 3] * y[g + 3] * z[g + 3]
    return math.log(((a + b) + (c + d)) / 24.0)


@kernel
def log_winnings_at(null: float, above: float, level: float, below: float) -> float:
    """The same for bets against any ``null``. It falls as the null rises."""
    largest, total = -math.inf, 0.0
    for g in range(_SHARES.shape[0]):
        b = _SHARES[g]
        x = above * math.log1p(b * (1.0 - null) / null) + below * _LOSS[g]
        if level > 0.0:
            x += level * math.log1p(b * (0.5 - null) / null)
        largest, total = grown(largest, total, x)
    return largest + math.log(total / _SHARES.shape[0])


@kernel
def least_not_refuted(above: float, level: float, below: float, needed: float) -> float:
    """The lower end of an interval: nulls below it have evidence of ``needed`` or more against them. Found by halving, and
    rounded down."""
    if above + level == 0.0:
        return 0.0
    low, high = 0.0, (above + 0.5 * level) / (above + level + below)
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        if log_winnings_at(middle, above, level, below) >= needed:
            low = middle
        else:
            high = middle
    return low


@kernel
def log_mean_against(L: Floats, h: int) -> float:
    """ln of the mean, over the others, of exp L[j, h]: the evidence against "h beats all others"."""
    largest, total = -math.inf, 0.0
    for j in range(L.shape[0]):
        if j != h:
            largest, total = grown(largest, total, L[j, h])
    return largest + math.log(total / (L.shape[0] - 1.0))


@kernel
def weigh_anew(D: Floats, L: Floats, against: Floats, slate: Ints) -> None:
    """After an answer to ``slate``: the evidence of its pairs, and against its arms."""
    n = slate.shape[0]
    for a in range(n):
        for b in range(n):
            i, j = slate[a], slate[b]
            if a != b and D[i, j] + D[j, i] > 0.0:
                L[i, j] = log_evidence(D[i, j], D[j, i])
    for a in range(n):
        against[slate[a]] = log_mean_against(L, slate[a])


def weighed(D: Floats) -> tuple[Floats, Floats]:
    """(L, against) as they must be, in NumPy: to check what came from outside."""
    largest, total = np.full(D.shape, -math.inf), np.zeros(D.shape)
    for g in range(len(_SHARES)):
        x = D * _WIN[g] + D.T * _LOSS[g]
        above = np.maximum(largest, x)
        total = total * np.exp(largest - above) + np.exp(x - above)
        largest = above
    L = np.where(D + D.T > 0.0, largest + np.log(total / len(_SHARES)), 0.0)
    others = np.where(np.eye(len(D)) > 0.0, -math.inf, L)
    top = others.max(axis=0, initial=-math.inf)
    return L, top + np.log(np.exp(others - top).sum(axis=0) / (len(D) - 1.0)) if len(D) > 1 else np.zeros(1)


@kernel
def beats_each(L: Floats, b: int, needed: float) -> bool:
    """The evidence that b beats each other is at least ``needed``."""
    least = math.inf
    for j in range(L.shape[0]):
        if j != b and L[b, j] < least:
            least = L[b, j]
    return least >= needed
