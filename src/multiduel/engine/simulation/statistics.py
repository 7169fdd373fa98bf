"""Statistics that verdicts rest on: studentised bootstrap intervals and p-values of ratios and of means beside a bound.

The interval of a mean that is shown in tables and figures is ``engine.simulation.result.mean_interval``.

An interval comes from pivots: how far a resample's statistic is from the sample's, in units of the resample's own standard
error (the bootstrap-t of Efron and Tibshirani, 1993, chapter 12). It needs no normal law, which regret does not follow, and
unlike percentiles it does not get too short with few runs. Ratios are taken on the logarithmic scale, where they are nearly
symmetric. The resampling is seeded, so the same runs give the same interval. Coverage: docs/paper.md, tests/lab.

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
from dataclasses import dataclass, field

import numpy as np

from multiduel.arrays import Floats
from multiduel.display.tables import between, number
from multiduel.inputs import BadInput

CONFIDENCE = 0.95  # of every interval that is shown
RESAMPLES = 2000
FEWEST_RUNS = 20  # behind any verdict
Statistic = Callable[[Floats], Floats]  # samples[..., runs] -> values[...]


@dataclass(frozen=True)
class Estimate:
    """A number with its confidence interval, and what is needed to test it."""

    value: float
    low: float
    high: float
    runs: int  # the fewest of the samples that it is made of
    correlation: float | None = None  # of two samples, over common seeds
    paired: bool = False
    error: float = field(default=math.inf, compare=False, repr=False)  # standard error, on the scale of the pivots
    pivots: Floats | None = field(default=None, compare=False, repr=False)
    logarithmic: bool = field(default=False, compare=False, repr=False)  # the scale of error and pivots

    def __str__(self) -> str:
        return f"{number(self.value)} ({between((self.low, self.high))})"

    @property
    def has_interval(self) -> bool:
        """One run has none, and two that differ."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def p_below(self, limit: float) -> float:
        """p-value against "not below ``limit``"; one-sided."""
        return self._p(limit, -1.0)

    def p_above(self, limit: float) -> float:
        return self._p(limit, 1.0)

    def over(self, divisor: float) -> Estimate:
        """The same in other units."""
        value, low, high = (number / divisor for number in (self.value, self.low, self.high))
        error = self.error if self.logarithmic else self.error / divisor
        return Estimate(value, low, high, self.runs, self.correlation, self.paired, error, self.pivots, self.logarithmic)

    def _p(self, limit: float, side: float) -> float:
        if self.pivots is None:
            exact = self.low == self.high and math.isfinite(self.value)  # all runs alike: no doubt
            return 0.0 if exact and side * (self.value - limit) > 0.0 else 1.0
        at, to = (math.log(self.value), math.log(limit)) if self.logarithmic else (self.value, limit)
        distance = (at - to) / self.error
        beyond = np.count_nonzero(side * self.pivots >= side * distance)
        return float((1 + beyond) / (1 + len(self.pivots)))


def mean(sample: Floats) -> Floats:
    return np.asarray(sample.mean(axis=-1))


def variance(sample: Floats) -> Floats:
    """Sample variance, divided by n - 1."""
    return np.asarray(sample.var(axis=-1, ddof=1))


def estimate(sample: Floats, *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES) -> Estimate:
    """The mean of one sample, with its interval; infinite for one run, and for two that differ."""
    runs = np.asarray(sample, np.float64)
    _enough(len(runs), confidence)
    value = float(runs.mean())
    if len(runs) == 1:
        return Estimate(value, -math.inf, math.inf, 1)
    error = float(runs.std(ddof=1)) / math.sqrt(len(runs))
    draws = runs[np.random.default_rng(0).integers(len(runs), size=(resamples, len(runs)))]
    with np.errstate(divide="ignore", invalid="ignore"):
        pivots = (draws.mean(axis=-1) - value) / (draws.std(axis=-1, ddof=1) / math.sqrt(len(runs)))
    return _estimate(value, value, error, pivots, len(runs), confidence)


def estimate_variance(sample: Floats, *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES) -> Estimate:
    """The variance of one sample, with its interval, found on the logarithmic scale."""
    runs = np.asarray(sample, np.float64)
    if _enough(len(runs), confidence) == 1:
        return Estimate(math.nan, -math.inf, math.inf, 1)
    draws = runs[np.random.default_rng(0).integers(len(runs), size=(resamples, len(runs)))]
    parts = [_log_influence(each, variance) for each in (runs, draws)]
    (middle, error), (centres, errors) = (
        (log, np.sqrt((pull**2).sum(axis=-1) / (len(runs) * (len(runs) - 1.0)))) for log, pull in parts
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        pivots = (centres - middle) / errors
    return _estimate(float(variance(runs)), float(middle), float(error), pivots, len(runs), confidence, logarithmic=True)


def ratio(
    ours: Floats,
    theirs: Floats,
    statistic: Statistic = mean,
    *,
    paired: bool | None = None,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Estimate:
    """statistic(ours) / statistic(theirs), with its interval; the statistic is ``mean`` or ``variance``.

    ``paired``: run r of both had the same arm labels and the same world, so runs are resampled together. If not said, they
    are where there are as many of both and they correlate by more than luck alone makes them, 2 / sqrt(runs): else pairing
    has nothing to pair. Variances are never paired.
    """
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    fewest = _enough(min(len(a), len(b)), confidence)
    link = correlation(a, b)
    if paired is None:
        paired = statistic is mean and len(a) == len(b) and link is not None and link > 2.0 / math.sqrt(len(a))
    known = fewest > 1 or statistic is mean  # one run has no variance
    top, bottom = (float(statistic(a)), float(statistic(b))) if known else (math.nan, math.nan)
    value = top / bottom if bottom != 0.0 else math.nan
    if fewest == 1:
        return Estimate(value, -math.inf, math.inf, fewest, link, paired)
    rng = np.random.default_rng(0)
    first = rng.integers(len(a), size=(resamples, len(a)))
    second = first if paired else rng.integers(len(b), size=(resamples, len(b)))
    with np.errstate(divide="ignore", invalid="ignore"):  # what is not above 0 has no logarithm, and so no pivots
        middle, error = _log_ratio(a, b, statistic, paired)
        centres, errors = _log_ratio(a[first], b[second], statistic, paired)
        pivots = (centres - middle) / errors
    shape = _estimate(value, float(middle), float(error), pivots, fewest, confidence, logarithmic=True)
    return Estimate(value, shape.low, shape.high, fewest, link, paired, shape.error, shape.pivots, True)


def correlation(ours: Floats, theirs: Floats) -> float | None:
    """Over common seeds; None where there is none to speak of."""
    common = min(len(ours), len(theirs))
    a, b = np.asarray(ours, np.float64)[:common], np.asarray(theirs, np.float64)[:common]
    if common < 3 or np.ptp(a) == 0.0 or np.ptp(b) == 0.0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def _log_ratio(a: Floats, b: Floats, statistic: Statistic, paired: bool) -> tuple[Floats, Floats]:
    """ln of the ratio and its standard error, by the delta method, over the last axis."""
    parts = [_log_influence(sample, statistic) for sample in (a, b)]
    (log_a, pull_a), (log_b, pull_b) = parts
    if paired:
        n = a.shape[-1]
        spread = ((pull_a - pull_b) ** 2).sum(axis=-1) / (n * (n - 1.0))
    else:
        spread = sum((pull**2).sum(axis=-1) / (pull.shape[-1] * (pull.shape[-1] - 1.0)) for pull in (pull_a, pull_b))
    return log_a - log_b, np.sqrt(spread)


def _log_influence(sample: Floats, statistic: Statistic) -> tuple[Floats, Floats]:
    """ln of the statistic, and how each run pulls at it."""
    value = statistic(sample)
    centred = sample - sample.mean(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = centred / value[..., None] if statistic is mean else centred**2 / value[..., None] - 1.0
        return np.log(value), pull


def _estimate(
    value: float, centre: float, error: float, pivots: Floats, runs: int, confidence: float, *, logarithmic: bool = False
) -> Estimate:
    pivots = pivots[np.isfinite(pivots)]
    if error == 0.0:
        return Estimate(value, value, value, runs)
    if runs < 3 or len(pivots) == 0:  # a resample of two runs is these two, or has no spread: it says nothing
        return Estimate(value, -math.inf, math.inf, runs)
    tail = (1.0 - confidence) / 2.0
    below, above = np.quantile(pivots, [tail, 1.0 - tail])
    low, high = centre - above * error, centre - below * error
    if logarithmic:
        low, high = math.exp(min(low, 700.0)), math.exp(min(high, 700.0))
    return Estimate(value, float(low), float(high), runs, None, False, error, pivots, logarithmic)


def holm(values: list[float]) -> list[float]:
    """p-values adjusted for their number (Holm 1979): each may be held against 5 % as if it were alone.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(values)), key=lambda k: values[k])
    adjusted = [0.0] * len(values)
    largest = 0.0
    for place, k in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - place) * values[k]))
        adjusted[k] = largest
    return adjusted


def wins(ours: Floats, theirs: Floats) -> tuple[int, int]:
    """On how many common seeds our regret is the smaller, and how many there are."""
    common = min(len(ours), len(theirs))
    return int(np.count_nonzero(np.asarray(ours)[:common] < np.asarray(theirs)[:common])), common


def _enough(runs: int, confidence: float) -> int:
    if runs < 1:
        raise BadInput("A statistic needs at least 1 run. Got none.")
    if not 0.0 < confidence < 1.0:
        raise BadInput(f"'confidence' must lie between 0 and 1. Got {confidence}.")
    return runs
