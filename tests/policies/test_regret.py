"""Regret as published, within wide margins."""

import pytest

import multiduel as md
from multiduel import simulate, synthetic
from tests.policies.instances import RUCB_AND_RMED, clear_order


def test_regrets_are_ordered_as_published():
    names = ("rmed1", "rucb", "ws-w", "uniform")
    regret = {name: simulate(name, synthetic(12), horizon=20_000, runs=4).mean[-1] for name in names}
    assert 2 * regret["rmed1"] < regret["rucb"] < regret["ws-w"] < regret["uniform"]


@pytest.mark.parametrize("name", RUCB_AND_RMED)
def test_the_winner_is_found(name):
    found = simulate(name, clear_order(5), horizon=30_000, runs=3, seed=1)
    assert (found.recommended == 0).all()


@pytest.mark.parametrize(
    ("name", "runs", "low", "high"),
    [
        ("doubler", 2, 4.0e4, 5.0e4),
        ("sparring", 2, 1.0e4, 2.0e4),
        ("if1", 8, 2.5e4, 5.0e4),
        ("if2", 8, 2.2e4, 4.5e4),
        ("savage", 3, 6.0e4, 7.8e4),
        ("btm", 3, 2.0e4, 4.5e4),
        ("ccb", 3, 0.8e4, 2.0e4),
    ],
)
def test_regret_has_the_published_order(name, runs, low, high):
    result = md.simulate(name, md.synthetic(48), horizon=10**6, runs=runs, seed=1, checkpoints=[10**6])
    assert low < result.regret[:, -1].mean() < high
    assert (result.recommended == 0).all()
