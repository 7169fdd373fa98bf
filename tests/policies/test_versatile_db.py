"""Versatile-DB: both readings."""

import pytest

import multiduel as md
from tests.naive.follow import follow
from tests.policies.instances import LINEAR


@pytest.mark.parametrize("shared", [False, True])
def test_versatile_db_follows_its_oracle(shared):
    for seed, K in ((0, 6), (1, 2), (2, 1)):
        follow("versatile-db", {"shared": shared}, K, 2, seed, LINEAR[:K, :K], 300, compiled=True)


def test_versatile_db_learns_in_both_readings():
    for shared in (False, True):
        result = md.simulate("versatile-db", md.synthetic(6), horizon=30_000, runs=4, seed=2, shared=shared)
        assert (result.recommended == 0).all()
        assert result.mean[-1] < 0.3 * 30_000 * md.synthetic(6).gaps.mean()
