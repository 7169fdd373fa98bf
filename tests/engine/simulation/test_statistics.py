"""Intervals against what they must cover, and against cases worked out by hand."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from multiduel.engine.simulation import statistics
from multiduel.inputs import BadInput


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


def test_values_that_can_be_worked_out_by_hand():
    known = statistics.Estimate(2.0, 1.0, 3.0, 5, error=1.0, pivots=np.array([-1.0, 0.0, 1.0, 2.0]))
    assert known.p_above(1.0) == 3 / 5 and known.p_below(1.0) == 4 / 5  # a p-value counts the sample itself
    halved = known.over(2.0)
    assert (halved.value, halved.low, halved.high, halved.error) == (1.0, 0.5, 1.5, 0.5)
    assert statistics.holm([0.5, 0.9]) == [1.0, 1.0] and statistics.holm([0.6, 0.01]) == [0.6, 0.02]
    assert statistics.holm([0.9, 0.8]) == [1.0, 1.0] and statistics.holm([]) == []
    assert statistics.wins(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0, 9.0])) == (1, 3)
    steps = np.array([1.0, 2.0, 3.0])
    assert statistics.correlation(steps, 2.0 * steps) == pytest.approx(1.0)
    assert statistics.correlation(steps / 2.0, steps / -2.0) == pytest.approx(-1.0)
    assert statistics.correlation(steps[:2], steps) is None and statistics.correlation(steps, np.ones(3)) is None
    assert statistics.correlation(np.ones(3), steps) is None
    for confidence in (0.0, 1.0):
        with pytest.raises(BadInput, match="between 0 and 1"):
            statistics.estimate(steps, confidence=confidence)
    with pytest.raises(BadInput, match="at least 1 run"):
        statistics.estimate(np.array([]))


def plain_log_influence(sample, of):
    """ln of the mean or the variance, and by how much each run moves it: what ``ratio`` and ``estimate_variance`` rest on."""
    middle = sum(sample) / len(sample)
    if of == "mean":
        return math.log(middle), [(x - middle) / middle for x in sample]
    spread = sum((x - middle) ** 2 for x in sample) / (len(sample) - 1)
    return math.log(spread), [(x - middle) ** 2 / spread - 1.0 for x in sample]


def plain_interval(middle, error, pivots, confidence=0.95):
    tail = (1.0 - confidence) / 2.0
    below, above = np.quantile(pivots, [tail, 1.0 - tail])
    return middle - above * error, middle - below * error


def luck(*sizes, resamples=2000):
    """The resamples that are promised to be the same each time."""
    rng = np.random.default_rng(0)
    return [rng.integers(n, size=(resamples, n)) for n in sizes]


@pytest.mark.parametrize("runs", [3, 12])  # of three runs some resamples have no spread, and say nothing
@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_the_interval_of_a_mean_is_the_bootstrap_t_written_out(runs, confidence):
    sample = np.random.default_rng(7).lognormal(0.0, 0.5, runs)
    pivots = []
    for places in luck(runs)[0]:
        again = sample[places].tolist()
        middle = sum(again) / runs
        error = math.sqrt(sum((x - middle) ** 2 for x in again) / (runs - 1) / runs)
        if max(again) > min(again):
            pivots.append((middle - sample.mean()) / error)
    error = float(sample.std(ddof=1)) / math.sqrt(runs)
    found = statistics.estimate(sample, confidence=confidence)
    assert (found.low, found.high) == pytest.approx(plain_interval(sample.mean(), error, pivots, confidence))
    assert (found.value, found.runs, found.error, found.correlation, found.paired) == (sample.mean(), runs, error, None, False)
    assert found.p_above(0.9) == (1 + sum(pivot >= (found.value - 0.9) / error for pivot in pivots)) / (1 + len(pivots))


@pytest.mark.parametrize("of", ["mean", "variance"])
@pytest.mark.parametrize("paired", [False, True])
def test_the_interval_of_a_ratio_is_the_bootstrap_t_of_its_logarithm_written_out(of, paired):
    rng = np.random.default_rng(8)
    ours, theirs = rng.lognormal(0.0, 0.5, 9), rng.lognormal(0.3, 0.4, 9 if paired else 14)
    first, second = luck(9, 14) if not paired else luck(9) * 2

    def log_and_error(a, b):
        (log_a, pull_a), (log_b, pull_b) = (plain_log_influence(sample.tolist(), of) for sample in (a, b))
        if paired:
            return log_a - log_b, math.sqrt(sum((x - y) ** 2 for x, y in zip(pull_a, pull_b, strict=True)) / (9 * 8))
        return log_a - log_b, math.sqrt(sum(x**2 for x in pull_a) / (9 * 8) + sum(y**2 for y in pull_b) / (14 * 13))

    middle, error = log_and_error(ours, theirs)
    pivots = []
    for one, other in zip(first, second, strict=True):
        again, spread = log_and_error(ours[one], theirs[other])
        pivots.append((again - middle) / spread)
    found = statistics.ratio(ours, theirs, getattr(statistics, of), paired=paired)
    low, high = plain_interval(middle, error, pivots)
    assert (found.low, found.high) == pytest.approx((math.exp(low), math.exp(high)))
    assert found.value == pytest.approx(math.exp(middle)) and found.paired == paired and found.runs == 9
    assert found.correlation == pytest.approx(np.corrcoef(ours, theirs[:9])[0, 1])
    below = sum(pivot <= (middle - math.log(0.7)) / error for pivot in pivots)
    assert found.p_below(0.7) == pytest.approx((1 + below) / (1 + len(pivots)))
    assert found.over(2.0).p_below(0.35) == found.p_below(0.7), "the same doubt in other units"
    assert found.over(2.0).error == found.error == pytest.approx(error), "of a logarithm"


def test_the_interval_of_a_variance_is_the_bootstrap_t_of_its_logarithm_written_out():
    sample = np.random.default_rng(9).normal(0.0, 3.0, 10)

    def log_and_error(a):
        log, pull = plain_log_influence(a.tolist(), "variance")
        return log, math.sqrt(sum(x**2 for x in pull) / (10 * 9))

    middle, error = log_and_error(sample)
    again = [log_and_error(sample[places]) for places in luck(10)[0]]
    low, high = plain_interval(middle, error, [(log - middle) / spread for log, spread in again])
    found = statistics.estimate_variance(sample)
    assert (found.low, found.high) == pytest.approx((math.exp(low), math.exp(high)))
    assert found.value == pytest.approx(sample.var(ddof=1)) and found.error == pytest.approx(error)
    assert found.runs == 10 and found.logarithmic


def test_what_has_no_spread_leaves_no_doubt_and_what_has_no_interval_leaves_all():
    same = statistics.estimate(np.full(10, 7.0))
    assert (same.p_above(6.0), same.p_above(7.0), same.p_above(8.0)) == (0.0, 1.0, 1.0)
    assert (same.p_below(6.0), same.p_below(7.0), same.p_below(8.0)) == (1.0, 1.0, 0.0)
    one = statistics.estimate(np.array([4.0]))
    assert one.runs == 1 and one.p_above(0.0) == one.p_below(100.0) == 1.0
    assert statistics.Estimate(math.inf, math.inf, math.inf, 3).p_above(1.0) == 1.0


@pytest.mark.parametrize(
    ("ours", "theirs", "value"),
    [([2.0], [4.0], 0.5), ([2.0], [4.0, 8.0], 1 / 3), ([0.0, 0.0, 0.0], [1.0, 3.0, 4.0], 0.0), ([0.0] * 3, [0.0] * 3, math.nan),
     ([1.0, 3.0, 4.0], [0.0, 0.0, 0.0], math.nan),
     ([1.0, 3.0, 5.0], [-1.0, -3.0, -5.0], -1.0), ([-1.0, -3.0, 1.0], [1.0, 3.0, 2.0], -0.5),
     ([-1.0, -3.0, 1.0], [-1.0, -3.0, 1.0], 1.0)],
)  # fmt: skip
def test_a_ratio_without_logarithm_has_no_interval(ours, theirs, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = statistics.ratio(np.array(ours), np.array(theirs))
    assert found.value == pytest.approx(value, nan_ok=True) and found.p_above(0.1) == 1.0
    assert (found.low, found.high, found.runs) == (-math.inf, math.inf, min(len(ours), len(theirs)))


@pytest.mark.parametrize(("low", "high", "known"), [(1.0, 2.0, True), (-math.inf, 2.0, False), (1.0, math.inf, False)])
def test_an_interval_has_two_ends(low, high, known):
    assert statistics.Estimate(1.5, low, high, 5).has_interval is known


def test_variances_of_one_run_and_of_equal_runs():
    one, same = statistics.estimate_variance(np.array([4.0])), statistics.estimate_variance(np.full(5, 4.0))
    assert math.isnan(one.value) and (one.low, one.high, one.runs) == (-math.inf, math.inf, 1)
    assert statistics.estimate_variance(np.full(2, 4.0)).value == 0.0
    assert same.value == 0.0 and (same.low, same.high, same.runs) == (-math.inf, math.inf, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(statistics.ratio(np.array([4.0]), np.array([1.0, 2.0]), statistics.variance).value)
        assert statistics.ratio(np.array([4.0]), np.array([2.0])).value == 2.0
        assert statistics.estimate(np.array([4.0])).low == -math.inf
        assert statistics.estimate_variance(np.full(3, 4.0)).low == -math.inf
    assert math.isfinite(statistics.estimate_variance(np.array([1.0, 1.5, 2.0])).high)
    with pytest.raises(BadInput, match="at least 1 run"):
        statistics.estimate_variance(np.array([]))


def test_two_runs_that_differ_say_nothing_of_their_spread():
    """Resamples of two runs are the two, or have no spread: an interval of them would have no width."""
    two, other = np.array([1.0, 3.0]), np.array([2.0, 7.0])
    found = [statistics.estimate(two), statistics.estimate_variance(two)]
    found += [statistics.ratio(two, other, kind) for kind in (statistics.mean, statistics.variance)]
    assert [each.value for each in found] == pytest.approx([2.0, 2.0, 4 / 9, 0.16])
    for each in found:
        assert (each.low, each.high, each.runs, each.p_below(9.0)) == (-math.inf, math.inf, 2, 1.0)
    assert statistics.ratio(two, np.arange(1.0, 9.0)).high == math.inf, "the fewer decide"
    assert statistics.estimate(np.array([7.0, 7.0])).high == 7.0
    assert math.isfinite(statistics.estimate(np.array([1.0, 3.0, 4.0])).high)


@pytest.mark.parametrize(("correlation", "paired"), [(0.45, False), (0.55, True), (-0.9, False)])
def test_pairs_are_made_from_a_correlation_of_two_over_the_root_of_the_runs(correlation, paired):
    x, z = np.linalg.qr(np.column_stack([np.ones(16), np.random.default_rng(3).normal(size=(16, 2))]))[0][:, 1:].T
    ours, theirs = 10.0 + x, 10.0 + correlation * x + math.sqrt(1.0 - correlation**2) * z  # 2 / sqrt(16) = 0.5
    found = statistics.ratio(ours, theirs)
    assert found.correlation == pytest.approx(correlation) and found.paired == paired
    assert not statistics.ratio(ours, theirs, statistics.variance).paired
    assert statistics.correlation(ours, theirs[:12]) == pytest.approx(np.corrcoef(ours[:12], theirs[:12])[0, 1])


def test_an_estimate_shows_and_compares_as_what_one_reads():
    known = statistics.Estimate(2000.0, 1.25, 3.0, 5, error=1.0, pivots=np.array([1.0, 2.0]), logarithmic=True)
    assert known == statistics.Estimate(2000.0, 1.25, 3.0, 5)
    assert str(known) == "2,000 (1.25 to 3)"
    assert repr(known) == "Estimate(value=2000.0, low=1.25, high=3.0, runs=5, correlation=None, paired=False)"


def test_an_interval_too_wide_for_numbers_stays_finite():
    ours, theirs = np.array([1.0, 1.0, 1.0, 1e9]), np.array([1.0, 1.0, 1.0, 1.0 + 1e-9])
    found = statistics.ratio(ours, theirs, paired=False)
    assert 0.0 <= found.low < found.value and found.high <= math.exp(700.0)
