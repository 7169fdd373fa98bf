"""Intervals against what they must cover, and against cases worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from multiduel.inputs import BadInput
from multiduel.lab import statistics


def two_peaks(rng, runs):
    """Some runs settle early and some do not."""
    return np.where(rng.random(runs) < 0.15, rng.normal(3.0, 0.3, runs), rng.normal(1.0, 0.15, runs))


LAWS = {
    "normal": lambda rng, runs: rng.normal(10.0, 1.0, runs),
    "long tail": lambda rng, runs: rng.lognormal(0.0, 0.5, runs),
    "two peaks": two_peaks,
}


@pytest.mark.parametrize("runs", [20, 50])
@pytest.mark.parametrize("law", LAWS)
def test_intervals_cover_what_they_must_as_often_as_they_say(law, runs):
    """At the numbers of runs that verdicts are made of: a mean, a ratio of means without and with a common world, a ratio of
    variances. 300 samples: one standard error is 0.013. Variances of few runs are covered less often than said, and the
    documentation says so."""
    rng = np.random.default_rng(5)
    draw = LAWS[law]
    truth = draw(rng, 500_000).mean()
    covered = np.zeros(4)
    for _ in range(300):
        a, b, world = (draw(rng, runs) for _ in range(3))
        intervals = [
            (statistics.estimate(a, resamples=500), truth),
            (statistics.ratio(a, b, resamples=500), 1.0),
            (statistics.ratio(a * world, b * world, resamples=500), 1.0),
            (statistics.ratio(a, b, statistics.variance, resamples=500), 1.0),
        ]
        covered += [interval.low <= wanted <= interval.high for interval, wanted in intervals]
    assert (covered[:3] / 300 >= 0.905).all(), covered / 300
    assert covered[3] / 300 >= 0.85, covered / 300
    assert (covered / 300 <= 0.995).all(), covered / 300


def test_pairing_is_chosen_where_there_is_something_to_pair():
    rng = np.random.default_rng(1)
    worlds = rng.normal(100, 10, 50)
    ours, theirs = worlds + rng.normal(0, 3, 50), worlds + rng.normal(0, 3, 50)
    alike, apart = statistics.ratio(ours, theirs), statistics.ratio(ours, rng.permutation(theirs))
    assert alike.paired and alike.correlation > 0.8
    assert not apart.paired and alike.high - alike.low < apart.high - apart.low
    assert not statistics.ratio(ours, theirs[:20]).paired  # run counts differ
    assert statistics.ratio(ours, theirs[:20]).value == pytest.approx(ours.mean() / theirs[:20].mean())


def test_p_values_are_the_intervals_other_side():
    rng = np.random.default_rng(4)
    measured = statistics.ratio(rng.normal(90, 10, 50), rng.normal(100, 10, 50))
    assert measured.p_below(measured.high) == pytest.approx(0.025, abs=0.002)
    assert measured.p_above(measured.low) == pytest.approx(0.025, abs=0.002)
    assert measured.p_below(1.0) < 0.01 < 0.9 < measured.p_above(1.0)


def test_the_interval_is_the_same_each_time():
    sample = np.random.default_rng(0).normal(5, 1, 30)
    assert statistics.estimate(sample) == statistics.estimate(sample.copy())


def test_pairing_removes_what_the_seeds_have_in_common():
    rng = np.random.default_rng(2)
    worlds = rng.normal(100, 30, 40)  # seeds differ by far more than the algorithms do
    ours, theirs = worlds * 0.9, worlds
    paired, alone = statistics.ratio(ours, theirs, paired=True), statistics.ratio(ours, theirs, paired=False)
    assert paired.low == pytest.approx(0.9) and paired.high == pytest.approx(0.9)
    assert alone.low < 0.85 and alone.high > 0.95
    assert statistics.wins(ours, theirs) == (40, 40)


def test_variance_has_an_interval_that_covers_it():
    rng = np.random.default_rng(3)
    found = statistics.estimate_variance(rng.normal(0, 10, 50))
    assert found.low < 100 < found.high and found.low > 20


def test_one_run_and_equal_runs():
    one = statistics.estimate(np.array([4.0]))
    assert one.value == 4.0 and math.isinf(one.low) and math.isinf(one.high)
    same = statistics.estimate(np.full(10, 7.0))
    assert (same.low, same.high) == (7.0, 7.0)
    with pytest.raises(BadInput):
        statistics.estimate(np.array([]))


def test_the_band_holds_the_mean():
    regret = np.cumsum(np.random.default_rng(4).exponential(1.0, (20, 30)), axis=1)
    low, high = statistics.band(regret)
    mean = regret.mean(axis=0)
    assert (low < mean).all() and (mean < high).all()
    assert statistics.quantiles(np.arange(101.0), (0.05, 0.5)) == (5.0, 50.0)


def test_values_that_can_be_worked_out_by_hand():
    known = statistics.Estimate(2.0, 1.0, 3.0, 5, error=1.0, pivots=np.array([-1.0, 0.0, 1.0, 2.0]))
    assert known.p_above(1.0) == 3 / 5 and known.p_below(1.0) == 4 / 5  # a p-value counts the sample itself
    halved = known.over(2.0)
    assert (halved.value, halved.low, halved.high, halved.error) == (1.0, 0.5, 1.5, 0.5)
    assert statistics.holm([0.5, 0.9]) == [1.0, 1.0] and statistics.holm([0.6, 0.01]) == [0.6, 0.02]
    assert statistics.wins(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0, 9.0])) == (1, 3)
    steps = np.array([1.0, 2.0, 3.0])
    assert statistics.correlation(steps, 2.0 * steps) == pytest.approx(1.0)
    assert statistics.correlation(steps[:2], steps) is None and statistics.correlation(steps, np.ones(3)) is None
    low, high = statistics.band(np.array([[0.0], [2.0]]))
    assert [low[0], high[0]] == pytest.approx([1.0 - 12.7062047, 1.0 + 12.7062047])  # Student's t with 1 degree of freedom
    assert [statistics.number(x) for x in (999.0, 1000.0, 1e7, -math.inf, math.nan)] == [
        "999",
        "1,000",
        "1e+07",
        "-infinite",
        "-",
    ]
    for confidence in (0.0, 1.0):
        with pytest.raises(BadInput, match="between 0 and 1"):
            statistics.estimate(steps, confidence=confidence)
    with pytest.raises(BadInput, match="at least 1 run"):
        statistics.estimate(np.array([]))
