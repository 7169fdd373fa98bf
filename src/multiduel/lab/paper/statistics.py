"""Statistics over runs: bootstrap intervals, paired comparisons on common seeds, quantiles. Never a bare mean.

Intervals are Efron's BCa bootstrap (1987): percentiles of the resampled statistic, corrected for its bias and for how its
spread changes with its value. They need no normal law, which regret does not follow: it has a long tail, and in some
algorithms two peaks. The resampling is seeded, so the same runs give the same interval.

>>> import numpy as np
>>> runs = np.array([10.0, 12.0, 11.0, 13.0, 40.0, 9.0, 12.0, 11.0])
>>> mean = estimate(runs)
>>> mean.value, mean.low < 14.75 < mean.high
(14.75, True)
>>> ratio(runs, 2 * runs).value        # the same runs, twice as dear
0.5
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from multiduel.arrays import Floats
from multiduel.inputs import BadInput

CONFIDENCE = 0.95
RESAMPLES = 4000
Statistic = Callable[[Floats], Floats]  # samples[..., runs] -> values[...]


@dataclass(frozen=True)
class Estimate:
    """A number with its confidence interval."""

    value: float
    low: float
    high: float
    runs: int

    def __str__(self) -> str:
        return f"{number(self.value)} ({number(self.low)} to {number(self.high)})"


def mean(sample: Floats) -> Floats:
    return np.asarray(sample.mean(axis=-1))


def variance(sample: Floats) -> Floats:
    """Sample variance, divided by n - 1."""
    return np.asarray(sample.var(axis=-1, ddof=1))


def estimate(sample: Floats, statistic: Statistic = mean, *, confidence: float = CONFIDENCE) -> Estimate:
    """A statistic of one sample, with its bootstrap interval; infinite for a single run."""
    return _bca(np.asarray(sample, np.float64)[None, :], lambda rows: statistic(rows[0]), confidence)


def ratio(
    ours: Floats, theirs: Floats, statistic: Statistic = mean, *, paired: bool = True, confidence: float = CONFIDENCE
) -> Estimate:
    """statistic(ours) / statistic(theirs), with its bootstrap interval.

    ``paired``: run r of both had the same arm labels and the same world, so runs are resampled together; where one has
    more runs, the others are left out.
    """
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if paired:
        common = min(len(a), len(b))
        return _bca(np.stack([a[:common], b[:common]]), lambda rows: _divide(statistic(rows[0]), statistic(rows[1])), confidence)
    return _bca_two(a, b, statistic, confidence)


def difference(ours: Floats, theirs: Floats, *, confidence: float = CONFIDENCE) -> Estimate:
    """mean(ours - theirs) over common seeds, with its bootstrap interval."""
    common = min(len(ours), len(theirs))
    gaps = np.asarray(ours, np.float64)[:common] - np.asarray(theirs, np.float64)[:common]
    return estimate(gaps, confidence=confidence)


def wins(ours: Floats, theirs: Floats) -> tuple[int, int]:
    """On how many common seeds our regret is the smaller, and how many there are."""
    common = min(len(ours), len(theirs))
    return int(np.count_nonzero(np.asarray(ours)[:common] < np.asarray(theirs)[:common])), common


def band(regret: Floats, *, confidence: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """The interval of the mean at each checkpoint, of runs x checkpoints; for figures: percentile bootstrap, vectorised."""
    runs = len(regret)
    if runs == 1:
        return regret[0].copy(), regret[0].copy()
    # Weights of runs in each resample times the runs: the resampled means of all checkpoints at once.
    weights = np.random.default_rng(0).multinomial(runs, np.full(runs, 1.0 / runs), 1000) / runs
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(weights @ regret, [tail, 1.0 - tail], axis=0)
    return low, high


def quantiles(sample: Floats, shares: tuple[float, ...] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> tuple[float, ...]:
    return tuple(float(value) for value in np.quantile(sample, shares))


def number(value: float) -> str:
    """For reading: three or four digits.

    >>> [number(x) for x in (123456.0, 12.3456, 0.01234, float("inf"))]
    ['123,456', '12.35', '0.01234', 'infinite']
    """
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if math.isnan(value):
        return "-"
    if abs(value) >= 1e7:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _divide(a: Floats, b: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(a / b)


def _bca(rows: Floats, statistic: Statistic, confidence: float) -> Estimate:
    """BCa of a statistic of rows[k, ..., runs], the runs of all rows resampled together."""
    runs = _enough(rows.shape[-1], confidence)
    value = float(statistic(rows))
    if runs == 1:
        return Estimate(value, -math.inf, math.inf, 1)
    picked = np.random.default_rng(0).integers(runs, size=(RESAMPLES, runs))
    left_out = np.array([[k for k in range(runs) if k != out] for out in range(runs)])
    if runs == 2:  # a variance cannot be had of one run
        return _interval(value, statistic(rows[:, picked]), None, confidence, runs)
    return _interval(value, statistic(rows[:, picked]), statistic(rows[:, left_out]), confidence, runs)


def _bca_two(a: Floats, b: Floats, statistic: Statistic, confidence: float) -> Estimate:
    """The ratio of two independent samples."""
    _enough(min(len(a), len(b)), confidence)
    rng = np.random.default_rng(0)
    value = float(_divide(statistic(a), statistic(b)))
    if min(len(a), len(b)) == 1:
        return Estimate(value, -math.inf, math.inf, 1)
    tops = statistic(a[rng.integers(len(a), size=(RESAMPLES, len(a)))])
    bottoms = statistic(b[rng.integers(len(b), size=(RESAMPLES, len(b)))])
    return _interval(value, _divide(tops, bottoms), None, confidence, min(len(a), len(b)))


def _interval(value: float, resampled: Floats, jackknife: Floats | None, confidence: float, runs: int) -> Estimate:
    from scipy.special import ndtr, ndtri

    resampled = resampled[np.isfinite(resampled)]
    if not math.isfinite(value) or len(resampled) == 0:
        return Estimate(value, -math.inf, math.inf, runs)
    if np.ptp(resampled) == 0.0:
        return Estimate(value, value, value, runs)
    below = (np.count_nonzero(resampled < value) + 0.5 * np.count_nonzero(resampled == value)) / len(resampled)
    bias = float(ndtri(min(max(below, 1.0 / len(resampled)), 1.0 - 1.0 / len(resampled))))
    bend = 0.0  # acceleration
    if jackknife is not None and np.isfinite(jackknife).all() and np.ptp(jackknife) > 0.0:
        pull = jackknife.mean() - jackknife
        bend = float((pull**3).sum() / (6.0 * (pull**2).sum() ** 1.5))
    ends = []
    for share in ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0):
        z = bias + float(ndtri(share))
        ends.append(float(np.quantile(resampled, ndtr(bias + z / (1.0 - bend * z)))))
    return Estimate(value, ends[0], ends[1], runs)


def _enough(runs: int, confidence: float) -> int:
    if runs < 1:
        raise BadInput("A statistic needs at least 1 run. Got none.")
    if not 0.0 < confidence < 1.0:
        raise BadInput(f"'confidence' must lie between 0 and 1. Got {confidence}.")
    return runs
