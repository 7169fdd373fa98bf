"""Bounds from the relative entropy against plain bisection."""

import math
from itertools import pairwise

import numpy as np
import pytest

from multiduel.kernels.compiler.dispatch import compiled
from multiduel.kernels.confidence import kl, kl_lower, kl_upper
from tests.naive import machines as naive

MEANS = [0.0, 1e-300, 1e-12, 1e-6, 1e-3, 0.02, 0.25, 1.0 / 3.0, 0.5, 0.7, 0.9, 0.999, 1.0 - 1e-9, 1.0 - 2.0**-53, 1.0]
LEVELS = [0.0, 1e-12, 1e-8, 1e-4, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 40.0, 700.0, 1e6, 1e300]


@pytest.fixture(scope="module", params=["plain", "compiled"])
def bounds(request):
    make = compiled if request.param == "compiled" else lambda function: function
    return make(kl_upper), make(kl_lower)


@pytest.mark.parametrize("p", MEANS)
def test_upper_bound_agrees_with_bisection(bounds, p):
    upper, _ = bounds
    for level in LEVELS:
        expected = naive.kl_upper(p, level)
        q = upper(p, level)
        assert p <= q <= 1.0
        # kl is computed to about 1e-16; where it is flat, near p, that is 1e-16 / sqrt(level) of q.
        assert q == pytest.approx(expected, rel=0.0, abs=2e-13 + 1e-16 / math.sqrt(level or 1.0)), (p, level)


def test_levels_lost_in_rounding_still_give_a_bound():
    for p in MEANS:
        for level in (1e-300, 1e-40, 1e-20, 1e-17):
            assert p <= kl_upper(p, level) <= p + 1e-7


@pytest.mark.parametrize("p", MEANS)
def test_lower_bound_mirrors_the_upper(bounds, p):
    upper, lower = bounds
    for level in LEVELS:
        assert lower(p, level) == 1.0 - upper(1.0 - p, level)
        assert 0.0 <= lower(p, level) <= p + 1e-15


def test_bound_rises_with_level_and_mean(bounds):
    upper, _ = bounds
    for p in MEANS:
        rising = [upper(p, level) for level in LEVELS]
        assert all(b >= a - 1e-15 for a, b in pairwise(rising))
    for level in (1e-4, 0.1, 1.0, 10.0):
        rising = [upper(p, level) for p in MEANS]
        assert all(b >= a - 1e-12 for a, b in pairwise(rising))


def test_equal_arguments_give_equal_bounds_compiled_or_not():
    fast = compiled(kl_upper)
    rng = np.random.default_rng(0)
    for p, level in zip(rng.random(300), 10.0 ** rng.uniform(-9, 2, 300), strict=True):
        assert fast(p, level) == kl_upper(float(p), float(level))


def test_never_above_pinsker():
    """KL-UCB and LUCB skip the solving where this ceiling already falls short."""
    rng = np.random.default_rng(1)
    for p, level in zip(rng.random(500), 10.0 ** rng.uniform(-9, 1, 500), strict=True):
        assert kl_upper(float(p), float(level)) <= p + math.sqrt(0.5 * level)


def test_relative_entropy():
    assert kl(0.5, 0.5) == 0.0
    assert kl(0.0, 0.3) == pytest.approx(-math.log(0.7))
    assert kl(1.0, 0.3) == pytest.approx(-math.log(0.3))
    assert kl(0.2, 0.7) == pytest.approx(0.2 * math.log(2 / 7) + 0.8 * math.log(8 / 3))
