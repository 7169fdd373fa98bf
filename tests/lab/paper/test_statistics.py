"""Intervals against what they must cover, and against cases worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from multiduel.inputs import BadInput
from multiduel.lab.paper import statistics


def test_intervals_cover_the_mean_of_a_skewed_law_as_often_as_they_say():
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(200):
        found = statistics.estimate(rng.exponential(3.0, 50))
        covered += found.low <= 3.0 <= found.high
    assert 0.88 <= covered / 200 <= 0.99


def test_the_interval_is_the_same_each_time():
    sample = np.random.default_rng(0).normal(5, 1, 30)
    assert statistics.estimate(sample) == statistics.estimate(sample.copy())


def test_pairing_removes_what_the_seeds_have_in_common():
    rng = np.random.default_rng(2)
    worlds = rng.normal(100, 30, 40)  # seeds differ by far more than the algorithms do
    ours, theirs = worlds * 0.9, worlds
    paired, alone = statistics.ratio(ours, theirs), statistics.ratio(ours, theirs, paired=False)
    assert paired.low == pytest.approx(0.9) and paired.high == pytest.approx(0.9)
    assert alone.low < 0.85 and alone.high > 0.95
    assert statistics.wins(ours, theirs) == (40, 40)
    assert statistics.difference(ours, theirs).high < 0


def test_pairs_are_of_the_first_runs_where_one_has_fewer():
    assert statistics.ratio(np.array([1.0, 3.0]), np.array([2.0, 6.0, 900.0])).value == 0.5


def test_variance_has_an_interval_that_covers_it():
    rng = np.random.default_rng(3)
    found = statistics.estimate(rng.normal(0, 10, 50), statistics.variance)
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
