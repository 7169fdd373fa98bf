"""Evidence from all judgements of a user: bets on the mean of the first k, for k = 2, 4, 8, ..., 64.

``verdict`` by rater counts the first judgement of a pair by each rater. Here rater u bets with the mean M of his or her first k
judgements of the pair (i, j), each 1, 1/2 or 0, once there are k:

    exp L_k[i, j] = sum over 8 shares b of  weight of b  x  product over raters with k judgements of  1 + b (2 M - 1)
    L[i, j]       = max over k of L_k[i, j]  -  ln 6

**Claim** "for some k, among raters who come to k judgements of the pair, the mean of the first k is above 1/2". **Conditions**:
raters come as a sample of people, independent of each other; and what a rater is shown does not hang on his or her own earlier
answers. Then, if "the mean is at most 1/2" holds for k, each factor has mean 1 at most whatever the raters before did, and
L_k >= ln(6 K / alpha) at any time has chance alpha / (6 K) at most (Ville). The six chances are added, not the six products: what
a rater's first two judgements were is known before the mean of four is, so that the sum of the products need not be a fair game.
The second condition is stronger than for the first judgement alone: a policy that learns from a rater's first answers and then
shows the pair to those who liked i would choose who comes to k. Policies look at the sum over all raters, in which one's own are
few; with few raters and many pages each that is an approximation, not a theorem. docs/rankers.md has the errors that were counted
under adaptive slates, and what a policy that looks at single raters does to it.

Large shares have larger weights: they pay where the means of few raters differ much, and there the price of mixing decides. Where
it takes many raters, it does not matter.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.inference.evidence import run
from multiduel.inference.verdict import needed
from multiduel.inputs import BadInput, share, shortened, whole
from multiduel.kernels.compiler.dispatch import kernel

LEVELS = 6  # k = 2, 4, 8, ..., 64
SHARES: Floats = 0.97 * 0.5 ** np.arange(8, dtype=np.float64)
WEIGHTS: Floats = np.sqrt(SHARES) / np.sqrt(SHARES).sum()
MOST_CELLS = 100_000_000  # raters times pairs


class Means(NamedTuple):
    """Arrays that compiled code changes in place."""

    shares: Floats  # f8[8]
    weights: Floats  # f8[8]
    count: Any  # i4[units, pairs]
    total: Any  # f4[units, pairs]  of the lower-numbered option's parts
    money: Floats  # f8[K, K, levels, 8]  ln of what each bet has become
    peak: Floats  # f8[K, K]


def bet_on_means(means: Means, unit: Ints, first: Ints, second: Ints, won: Floats, at: Ints, claim: float, won_at: Ints) -> None:
    K = means.peak.shape[0]
    for row in range(unit.shape[0]):
        i, j, part, u = first[row], second[row], won[row], unit[row]
        if i > j:
            i, j, part = j, i, 1.0 - part
        pair = j * (j - 1) // 2 + i
        means.count[u, pair] += 1
        means.total[u, pair] += part
        n = means.count[u, pair]
        level = 0
        while 2 << level < n:
            level += 1
        if 2 << level != n or level >= LEVELS:
            continue
        mean = means.total[u, pair] / n
        for turn in range(2):
            a, b, x = (i, j, mean) if turn == 0 else (j, i, 1.0 - mean)
            for g in range(means.shares.shape[0]):
                means.money[a, b, level, g] += math.log1p(means.shares[g] * (2.0 * x - 1.0))
            now = log_mean(means.money[a, b, level], means.weights) - math.log(LEVELS)
            if now > means.peak[a, b]:
                means.peak[a, b] = now
                least = math.inf
                for c in range(K):
                    if c != a and means.peak[a, c] < least:
                        least = means.peak[a, c]
                if least >= claim and won_at[a] < 0:
                    won_at[a] = at[row]


@kernel
def log_mean(money: Floats, weights: Floats) -> float:
    largest, total = -math.inf, 0.0
    for g in range(money.shape[0]):
        largest = max(largest, money[g])
    for g in range(money.shape[0]):
        total += weights[g] * math.exp(money[g] - largest)
    return largest + math.log(total)


class MeansCourse:
    """Bets on means, portion by portion of the judgements.

    Parameters
    ----------
    units
        How many raters there may be, numbered from 0.
    n_arms
        How many options there are.
    alpha
        As for ``means_verdict``.

    Examples
    --------
    >>> course = MeansCourse(30, 2)
    >>> for unit in range(30):
    ...     course.add([unit] * 2, [0] * 2, [1] * 2, [1.0] * 2, [unit] * 2)
    >>> found = course.verdict()
    >>> found.winner, found.reached
    (0, 10)
    """

    def __init__(self, units: int, n_arms: int, *, alpha: float = 0.05) -> None:
        self.n_arms = K = whole("n_arms", n_arms, 2, of="means_verdict")
        self.claim = needed(K, share("alpha", alpha, of="means_verdict")).winner
        cells = units, K * (K - 1) // 2
        if math.prod(cells) > MOST_CELLS:
            raise BadInput(f"'means_verdict' takes at most {MOST_CELLS:,} units times pairs. Got {math.prod(cells):,}.")
        money, peak = np.zeros((K, K, LEVELS, len(SHARES))), np.zeros((K, K))
        self.means = Means(SHARES, WEIGHTS, np.zeros(cells, np.int32), np.zeros(cells, np.float32), money, peak)
        self.won_at = np.full(K, -1, np.int64)

    def add(self, unit: Any, first: Any, second: Any, won: Any, at: Any) -> None:
        """Count judgements in their order.

        Parameters
        ----------
        unit, first, second, won
            As for ``means_verdict``.
        at
            The answer that each belongs to, from 0.
        """
        columns = _checked(unit, first, second, won, self.n_arms)
        if int(columns[0].max(initial=-1)) >= len(self.means.count):
            raise BadInput(f"'unit' must be below {len(self.means.count):,}. Got {int(columns[0].max()):,}.")
        answers = np.ascontiguousarray(at, np.int64)
        if answers.shape != columns[0].shape:
            raise BadInput(f"'at' must have {len(columns[0]):,} numbers, as the other columns have. Got {shortened(at)}.")
        run(bet_on_means, self.means, *columns, answers, self.claim, self.won_at)

    def verdict(self) -> MeansVerdict:
        """Say what is settled by now.

        Returns
        -------
        MeansVerdict
            The winner that was found first, if there is one: it stands.
        """
        found = sorted((int(when), arm) for arm, when in enumerate(self.won_at) if when >= 0)
        winner, reached = (found[0][1], found[0][0] + 1) if found else (None, None)
        return MeansVerdict(winner, reached, self.means.peak, self.claim)


class MeansVerdict(NamedTuple):
    """Which option has the evidence, and since which answer."""

    winner: int | None
    reached: int | None  # the answer, from 1
    evidence: Floats  # f8[K, K]  the largest so far
    needed: float


def means_verdict(unit: Any, first: Any, second: Any, won: Any, *, n_arms: int, alpha: float = 0.05) -> MeansVerdict:
    """Judge by the means of each unit's first judgements, in the order of the answers.

    Parameters
    ----------
    unit
        Who answered, numbers from 0.
    first, second, won
        The two options of each judgement, and the first's part of it, from 0 to 1.
    n_arms
        How many options there are.
    alpha
        The largest chance of an error, under the conditions above.

    Returns
    -------
    MeansVerdict
        The winner that was found first, if there is one: it stands.

    Examples
    --------
    >>> means_verdict([0, 0, 1, 1, 2, 2] * 5, [0] * 30, [1] * 30, [1.0] * 30, n_arms=2).winner is None  # three units are few
    True
    >>> means_verdict([unit // 2 for unit in range(60)], [0] * 60, [1] * 60, [1.0] * 60, n_arms=2).winner
    0
    """
    K = whole("n_arms", n_arms, 2, of="means_verdict")
    columns = _checked(unit, first, second, won, K)
    course = MeansCourse(int(columns[0].max(initial=-1)) + 1, K, alpha=alpha)
    course.add(*columns, np.arange(len(columns[0])))
    return course.verdict()


def _checked(unit: Any, first: Any, second: Any, won: Any, K: int) -> tuple[Any, Any, Any, Any]:
    """The columns as compiled code takes them, which checks nothing."""
    try:
        columns = [np.ascontiguousarray(column, np.int64) for column in (unit, first, second)]
        part = np.ascontiguousarray(won, np.float64)
        good = all(column.shape == part.shape == (len(part),) for column in columns)
        good = good and (not len(part) or bool(min(column.min() for column in columns) >= 0))
        good = good and (not len(part) or bool(max(columns[1].max(), columns[2].max()) < K and (columns[1] != columns[2]).all()))
        good = good and (not len(part) or bool(part.min() >= 0.0 and part.max() <= 1.0))
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise BadInput(
            "'means_verdict' takes columns of one length: units from 0, two different options, parts from 0 to 1. "
            f"Got {shortened(unit)}, {shortened(first)}, {shortened(second)} and {shortened(won)}."
        )
    return columns[0], columns[1], columns[2], part
