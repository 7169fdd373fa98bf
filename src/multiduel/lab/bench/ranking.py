"""Rank policies on the suite, with what can be told apart and what cannot.

A policy's *score* on an instance is its mean regret in percent of what random slates would lose there; 100 is no better than
chance. Its score in a cell is the mean over the twenty instances, so that every instance counts the same.

Two policies are compared instance by instance, on the runs that both have, which have the same seeds: a studentised bootstrap of
the ratio of scores that resamples instances (``engine.simulation.statistics.ratio``, for many pairs at once). The range of a rank
counts only policies that are told apart, from both sides, after Holm's adjustment for their number: for instances drawn like
these it holds the true rank in at least 95 of 100 experiments, as far as the bootstrap does (tests/lab/bench).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np

from multiduel.arrays import Floats
from multiduel.engine.registry.benchmark_results import PolicyResults, Row, worst_tenth
from multiduel.engine.simulation.statistics import CONFIDENCE, RESAMPLES, holm
from multiduel.lab.bench.instances import INSTANCES
from multiduel.lab.bench.suite import FAMILIES, Cell, cells

PER_OTHER = 40  # resamples for each policy compared with, so that the smallest p-value survives the adjustment
RANDOM = 100.0  # the score of random slates
Pool = Mapping[str, PolicyResults]


@dataclass(frozen=True)
class Ratios:
    """Scores of one policy over those of others, with 95 % intervals and two-sided p-values adjusted for their number."""

    value: Floats
    low: Floats
    high: Floats
    p: Floats

    @property
    def told_apart(self) -> np.ndarray:
        return self.p <= 1.0 - CONFIDENCE


@dataclass(frozen=True)
class Standing:
    """A policy in a cell."""

    policy: str
    row: Row
    score: float  # percent of what random slates lose
    rank: int
    first: int  # the range of ranks that cannot be ruled out
    last: int
    not_apart: tuple[str, ...]  # policies that it is not told apart from
    worst: float  # score of the worst tenth of the runs
    times_best: tuple[float, float, float] | None  # its score over that of the best one, with the interval; None: it is the best

    @property
    def wrong(self) -> float:
        """The share of runs that end wrong."""
        return float(self.row.wrong.mean())

    @property
    def nanoseconds(self) -> float:
        """CPU time of a round."""
        return 1e9 * self.row.seconds / self.row.horizon


@cache
def losses(cell: Cell) -> Floats:
    """The regret of random slates on every instance of a cell, up to the end."""
    family = FAMILIES[cell.family]
    return cell.horizon * np.array([family.random_loss(number) for number in range(INSTANCES)])


def scores(row: Row, runs: int | None = None) -> Floats:
    """The score on every instance, of the first so many runs."""
    cell = Cell(*row.key)
    return np.asarray(RANDOM * row.regret[:, : runs or row.runs].mean(axis=1, dtype=np.float64) / losses(cell))


def in_cell(cell: Cell, pool: Pool) -> dict[str, Row]:
    """The rows of a cell that were played, by policy."""
    rows = {name: results.rows.get((cell.family, cell.slate_size, cell.horizon)) for name, results in pool.items()}
    return {name: row for name, row in rows.items() if row is not None and row.runs}


def standings(cell: Cell, pool: Pool, only: str | None = None) -> list[Standing]:
    """The policies in a cell, best first; of ``only`` one policy if its name is given."""
    rows = in_cell(cell, pool)
    mean = {name: float(scores(row).mean()) for name, row in rows.items()}
    order = sorted(mean, key=lambda name: mean[name])
    compared = {name: compare(rows[name], [rows[other] for other in order if other != name]) for name in order}
    told = np.zeros((len(order), len(order)), bool)
    for place, name in enumerate(order):
        told[place, np.arange(len(order)) != place] = compared[name].told_apart
    told &= told.T  # each side adjusts for its own comparisons: two are told apart if both say so
    found = []
    for place, name in enumerate(order):
        if only is not None and name != only:
            continue
        others = [other for other in order if other != name]
        ratio, apart = compared[name], np.delete(told[place], place)
        better, worse = (int(np.count_nonzero(apart & side)) for side in (ratio.value > 1.0, ratio.value < 1.0))
        times = None if place == 0 else tuple(float(each[0]) for each in (ratio.value, ratio.low, ratio.high))
        found.append(
            Standing(
                policy=name,
                row=rows[name],
                score=mean[name],
                rank=place + 1,
                first=1 + better,
                last=len(order) - worse,
                not_apart=tuple(other for other, told in zip(others, apart, strict=True) if not told),
                worst=worst_tenth(RANDOM * rows[name].regret / losses(cell)[:, None]),
                times_best=times,  # type: ignore[arg-type]
            )
        )
    return found


def compare(ours: Row, others: Sequence[Row]) -> Ratios:
    """Compare one row with others of its cell, each on the runs that both have."""
    if not others:
        return Ratios(*(np.zeros(0),) * 4)
    common = [min(ours.runs, other.runs) for other in others]
    mine = {runs: scores(ours, runs) for runs in set(common)}
    A = np.stack([mine[runs] for runs in common])
    B = np.stack([scores(other, runs) for other, runs in zip(others, common, strict=True)])
    return ratios(A, B)


def ratios(A: Floats, B: Floats) -> Ratios:
    """mean(A[k]) / mean(B[k]) for every k, paired by instance: ``statistics.ratio(paired=True)`` of each, and Holm over all."""
    pairs, n = A.shape
    middle, error = _log_ratio(A, B, np.ones((1, n)))
    centres, errors = _log_ratio(A, B, _resamples(n, max(RESAMPLES, PER_OTHER * pairs)))
    value, low, high, p = np.exp(middle[:, 0]), *(np.zeros(pairs) for _ in range(3))
    for k in range(pairs):
        if error[k, 0] == 0.0:  # all instances alike: no doubt
            low[k] = high[k] = value[k]
            p[k] = float(value[k] == 1.0)
            continue
        pivots = (centres[k] - middle[k, 0]) / np.where(errors[k] > 0.0, errors[k], np.nan)
        pivots = pivots[np.isfinite(pivots)]
        tail = (1.0 - CONFIDENCE) / 2.0
        below, above = np.quantile(pivots, [tail, 1.0 - tail])
        low[k], high[k] = np.exp(middle[k, 0] - above * error[k, 0]), np.exp(middle[k, 0] - below * error[k, 0])
        distance = middle[k, 0] / error[k, 0]
        beyond = min(np.count_nonzero(pivots <= distance), np.count_nonzero(pivots >= distance))
        p[k] = min(1.0, 2.0 * (1 + beyond) / (1 + len(pivots)))
    return Ratios(value, low, high, np.array(holm(p.tolist())))


def _log_ratio(A: Floats, B: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """ln of the ratio of weighted means and its standard error, by the delta method: a row per pair, a column per resample."""
    n = A.shape[1]
    a, b = A @ weights.T / n, B @ weights.T / n
    squares = (A * A) @ weights.T / a**2 - 2.0 * (A * B) @ weights.T / (a * b) + (B * B) @ weights.T / b**2
    squares[squares < 1e-13] = 0.0  # what is left of a difference of equal numbers
    return np.log(a / b), np.sqrt(squares / (n * (n - 1.0)))


@lru_cache(maxsize=8)
def _resamples(n: int, resamples: int) -> Floats:
    """How often each instance is in each resample."""
    drawn = np.random.default_rng(0).integers(n, size=(resamples, n))
    return np.stack([(drawn == k).sum(axis=1) for k in range(n)], axis=1).astype(np.float64)


@dataclass(frozen=True)
class Overall:
    """Policies over all families, with one slate size and one horizon."""

    slate_size: int
    horizon: int
    policies: tuple[str, ...]
    families: tuple[str, ...]
    values: Floats  # [policies, families, instances]  scores; that of random slates where a policy was left out
    played: np.ndarray  # [policies, families]

    @cached_property
    def factor(self) -> Floats:
        """How many times the best score of each family, as a geometric mean over families."""
        return np.asarray(_factors(self.values.mean(axis=2)[..., None])[:, 0])

    @cached_property
    def ranks(self) -> np.ndarray:
        """[policies, 3]  rank by factor, and the range that holds it in 95 of 100 resamples of the instances."""
        weights = _resamples(INSTANCES, RESAMPLES)
        factors = _factors(self.values @ weights.T / INSTANCES)
        drawn = factors.argsort(axis=0).argsort(axis=0) + 1
        low, high = np.quantile(drawn, [0.025, 0.975], axis=1, method="nearest")
        rank = self.factor.argsort().argsort() + 1
        return np.stack([rank, np.minimum(low, rank), np.maximum(high, rank)], axis=1).astype(int)

    def profile(self, policy: str, times: Floats) -> Floats:
        """The share of all instances on which a policy's mean regret is at most so many times that of the best one there."""
        relative = (self.values / self.values.min(axis=0, keepdims=True))[self.policies.index(policy)]
        relative[~self.played[self.policies.index(policy)]] = np.inf
        return np.asarray((relative.ravel()[None, :] <= times[:, None] * (1.0 + 1e-12)).mean(axis=1))

    def order(self) -> list[str]:
        """The policies, best first."""
        return [self.policies[place] for place in self.factor.argsort()]


def overall(slate_size: int, horizon: int, pool: Pool) -> Overall:
    """Rank policies with this slate size and horizon over the families that anyone played.

    A policy must have been tried in all of them, and have played one: what was not tried yet is not held against it.
    """
    wanted = [cell for cell in cells(slate_sizes=(slate_size,), horizons=(horizon,)) if in_cell(cell, pool)]
    rows = {cell.family: in_cell(cell, pool) for cell in wanted}
    keys = [(cell.family, slate_size, horizon) for cell in wanted]
    tried = [name for name, results in pool.items() if all(key in results.rows for key in keys)]
    names = tuple(name for name in tried if any(name in found for found in rows.values()))
    values = np.full((len(names), len(wanted), INSTANCES), RANDOM)
    for place, found in enumerate(rows.values()):
        for number, name in enumerate(names):
            if name in found:
                values[number, place] = scores(found[name])
    played = np.array([[name in found for found in rows.values()] for name in names], bool).reshape(len(names), len(wanted))
    return Overall(slate_size, horizon, names, tuple(rows), values, played)


def _factors(means: Floats) -> Floats:
    """From [policies, families, resamples] of mean scores: the geometric mean over families of how many times the best."""
    logs = np.log(np.maximum(means, 1e-12))
    return np.asarray(np.exp((logs - logs.min(axis=0, keepdims=True)).mean(axis=1)))
