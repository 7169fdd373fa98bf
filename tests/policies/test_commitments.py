"""Committing ahead is stepping: to the last bit, or in distribution."""

import numpy as np
import pytest

import multiduel as md
from multiduel import simulate
from tests.naive.follow import follow
from tests.policies.instances import RUCB_AND_RMED, clear_order, even_order, shuffled


@pytest.mark.parametrize("name", RUCB_AND_RMED)
def test_committing_ahead_is_stepping(name):
    problem = clear_order(5)
    ahead, steps = (simulate(name, problem, horizon=30_000, runs=3, seed=1, commit=commit) for commit in (True, False))
    for kind, regret in ahead.regrets.items():
        assert (regret == steps.regrets[kind]).all()
    assert (ahead.recommended == steps.recommended).all()
    assert (steps.events == 30_000).all()
    if name != "ws-w":  # it never plays an arm alone
        assert ahead.events.max() < 10_000


@pytest.mark.parametrize("name", ["rucb", "rmed1", "rmed2", "ecw-rmed"])
def test_oracles_are_followed_into_the_quiet_time(name):
    naive = follow(name, {}, 3, 2, 11, clear_order(3), 1500, compiled=True)
    assert naive.W.sum() < 1000  # most rounds were quiet


@pytest.mark.parametrize("name", ["savage", "btm", "ccb", "beat-the-mean-pac"])
def test_committing_is_stepping_to_the_last_bit(name):
    params = {"constant": 0.3} if "btm" in name or "mean" in name else {}
    quick, slow = (
        md.simulate(name, shuffled(6, 1), horizon=30_000, runs=3, seed=5, commit=commit, **params) for commit in (True, False)
    )
    assert (quick.regret == slow.regret).all()
    assert (quick.recommended == slow.recommended).all()
    assert quick.events.sum() < slow.events.sum()


@pytest.mark.parametrize("name", ["sparring", "doubler", "if1", "if2", "scb"])
def test_committing_is_stepping_in_distribution(name):
    quick, slow = (
        md.simulate(name, shuffled(4, 2, 0.3), horizon=8000, runs=400, seed=seed, commit=commit, checkpoints=[500, 2000, 8000])
        for seed, commit in ((11, True), (12, False))
    )
    error = np.hypot(quick.regret.std(axis=0), slow.regret.std(axis=0)) / 20.0
    assert (np.abs(quick.regret.mean(axis=0) - slow.regret.mean(axis=0)) <= 4.5 * error).all()
    assert (quick.regret.std(axis=0) / slow.regret.std(axis=0) < 1.35).all()
    assert (slow.regret.std(axis=0) / quick.regret.std(axis=0) < 1.35).all()
    assert quick.events.sum() < slow.events.sum()


def test_smaller_constants_commit_sooner():
    problem = md.synthetic(8)
    for name, tight, loose in (("if2", 1.0, 4.0), ("btm", 0.5, 3.0), ("savage", 0.5, 1e-9)):
        key = "delta" if name == "savage" else "constant"
        events = [
            md.simulate(name, problem, horizon=50_000, runs=3, seed=4, **{key: value}).events.sum() for value in (tight, loose)
        ]
        assert events[0] < events[1]


@pytest.mark.parametrize("name", ["ind-self-sparring", "mdb"])
def test_commitments_agree_with_stepping_to_the_last_bit(name):
    size = {"slate_size": 3, "horizon": 4000, "runs": 3, "seed": 3}
    ahead, stepped = (md.simulate(name, even_order(6), commit=commit, **size) for commit in (True, False))
    assert ahead.events.max() < stepped.events.min()
    for kind, regret in ahead.regrets.items():
        assert np.array_equal(regret, stepped.regrets[kind])
