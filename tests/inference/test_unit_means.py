"""Bets on the means of users' first judgements: right numbers, an error that is kept, and more found than by first judgements."""

import math

import numpy as np
import pytest

from multiduel import BadInput
from multiduel.inference.unit_means import LEVELS, SHARES, WEIGHTS, means_verdict


def a_log(rng, *, chance, users, pages, taste):
    """Two options; users with tastes of their own, whose pages come in a random order."""
    unit = rng.permutation(np.repeat(np.arange(users), pages))
    liked = np.clip(chance + taste * rng.standard_normal(users), 0.0, 1.0)
    return unit, rng.random(len(unit)) < liked[unit]


def judged(unit, won, alpha=0.05):
    n = len(unit)
    return means_verdict(unit, [0] * n, [1] * n, np.asarray(won, float), n_arms=2, alpha=alpha)


def test_evidence_is_the_product_of_bets_on_means():
    rng = np.random.default_rng(1)
    unit, won = a_log(rng, chance=0.7, users=9, pages=11, taste=0.1)
    found = judged(unit, won)
    best = 0.0
    for k in (2, 4, 8):
        wealth = np.ones(len(SHARES))
        seen = {}
        for u, x in zip(unit.tolist(), won.tolist(), strict=True):
            seen.setdefault(u, []).append(float(x))
            if len(seen[u]) == k:
                wealth = wealth * (1.0 + SHARES * (2.0 * np.mean(seen[u]) - 1.0))
                best = max(best, math.log(WEIGHTS @ wealth / LEVELS))
    assert found.evidence[0, 1] == pytest.approx(best)
    assert WEIGHTS.sum() == pytest.approx(1.0) and SHARES.max() < 1.0


def test_order_of_the_two_options_does_not_matter():
    unit, won = a_log(np.random.default_rng(2), chance=0.8, users=60, pages=8, taste=0.1)
    one = judged(unit, won)
    other = means_verdict(unit, [1] * len(unit), [0] * len(unit), 1.0 - won, n_arms=2)
    assert one.winner == other.winner == 0 and one.reached == other.reached
    assert np.allclose(one.evidence, other.evidence)


@pytest.mark.parametrize(("users", "pages", "taste"), [(60, 40, 0.2), (400, 4, 0.3), (30, 64, 0.0)])
def test_equal_options_are_seldom_told_apart(users, pages, taste):
    """At alpha = 0.2, so that too much would be seen: 300 logs, at most 20 % plus three standard errors."""
    rng = np.random.default_rng(users)
    wrong = sum(
        judged(*a_log(rng, chance=0.5, users=users, pages=pages, taste=taste), alpha=0.2).winner is not None for _ in range(300)
    )
    assert wrong <= 300 * 0.2 + 3 * math.sqrt(300 * 0.2 * 0.8)


def test_sixty_users_with_forty_pages_are_enough():
    """A difference that first judgements find in one log of ten, and a t-test of users' means nearly always."""
    rng = np.random.default_rng(4)
    found = [judged(*a_log(rng, chance=0.6, users=60, pages=28, taste=0.14)).winner for _ in range(100)]
    assert found.count(0) >= 50 and found.count(1) == 0


def test_bad_columns_are_refused():
    for unit, first, won in (([0], [2], [1.0]), ([-1], [0], [1.0]), ([0], [0], [1.5]), ([0, 1], [0], [1.0]), ([0], [1], [0.5])):
        with pytest.raises(BadInput, match="columns of one length"):
            means_verdict(unit, first, [1] * len(first), won, n_arms=2)
