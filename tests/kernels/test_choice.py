"""Ties are broken uniformly, and only ties cost a draw."""

import math

import numpy as np
import pytest
from scipy import stats

from multiduel.kernels.choice import argmax, draw_distinct, largest
from multiduel.kernels.compiler.dispatch import compiled
from tests.naive.stream import NaiveStream


def words(seed):
    return np.random.SeedSequence(seed).generate_state(4, np.uint64)


@pytest.fixture(scope="module", params=["plain", "compiled"])
def choice(request):
    make = compiled if request.param == "compiled" else lambda function: function
    return {"largest": make(largest), "argmax": make(argmax), "draw_distinct": make(draw_distinct)}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0], 0),
        ([0.0, 1.0], 1),
        ([math.inf, 2.0, 5.0], 0),
        ([-1.0, 0.0, -1.0], 1),
        ([1e-320, 0.0, -1.0], 0),
        ([0.1, 0.2, 0.15], 1),
    ],
)
def test_a_unique_maximum_costs_no_draw(choice, values, expected):
    rng = words(0)
    values = np.array(values)
    assert choice["argmax"](values, rng) == expected
    assert choice["largest"](values) == values[expected]
    assert (rng == words(0)).all()


def test_a_tie_costs_one_draw_and_takes_the_drawn_one_in_ascending_order(choice):
    values = np.array([1.0, 7.0, -1.0, 7.0, 0.0, 7.0])
    rng, naive = words(1), NaiveStream(words(1))
    for _ in range(300):
        assert choice["argmax"](values, rng) == [1, 3, 5][naive.below(3)]
    assert rng.tolist() == naive.s


@pytest.mark.parametrize("top", [0.0, 0.5, math.inf])
def test_ties_are_uniform(choice, top):
    values = np.array([-1.0, top, top, -1.0, top, top, top])
    rng = words(2)
    counts = np.bincount([choice["argmax"](values, rng) for _ in range(4000)], minlength=7)
    assert counts[0] == counts[3] == 0
    assert stats.chisquare(counts[[1, 2, 4, 5, 6]]).pvalue > 1e-4


def test_distinct_draws_are_uniform_over_ordered_choices(choice):
    rng = words(3)
    counts = {}
    for _ in range(6000):
        slate = np.full(5, -1)
        # Of the pool's first four, two, from seat 1.
        choice["draw_distinct"](np.array([4, 6, 7, 9, 99]), 4, 2, slate, 1, rng)
        assert slate[0] == -1 and (slate[3:] == -1).all()
        pair = tuple(slate[1:3].tolist())
        counts[pair] = counts.get(pair, 0) + 1
    assert set(counts) == {(a, b) for a in (4, 6, 7, 9) for b in (4, 6, 7, 9) if a != b}
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


@pytest.mark.parametrize("count", [0, 1, 3, 6])
def test_distinct_draws_are_the_naive_streams(choice, count):
    rng, naive = words(4), NaiveStream(words(4))
    for _ in range(50):
        pool, slate = np.arange(6), np.full(6, -1)
        choice["draw_distinct"](pool, 6, count, slate, 0, rng)
        assert slate[:count].tolist() == naive.distinct(range(6), count)
        assert sorted(pool.tolist()) == list(range(6))
    assert rng.tolist() == naive.s
