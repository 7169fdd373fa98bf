"""Judges as they are: late, out of order, missing."""

import numpy as np
import pytest

import multiduel as md
from multiduel import make
from tests.policies.instances import RUCB_AND_RMED, shuffled


@pytest.mark.parametrize("name", RUCB_AND_RMED)
def test_outcomes_may_stay_away_or_come_late(name):
    policy = make(name, n_arms=6, seed=2, **({"horizon": 1000} if name == "rmed2fh" else {}))
    slates = [policy.ask() for _ in range(300)]
    assert all(1 <= len(slate.arms) <= 2 and len(set(slate.arms)) == len(slate.arms) for slate in slates)
    world = np.random.default_rng(0)
    for k in world.permutation(300)[:200]:
        if len(slates[k].arms) == 2:
            i, j = slates[k].arms
            won = float(world.random() < (0.8 if i < j else 0.2))
            policy.tell(slates[k], [[0.0, won], [1.0 - won, 0.0]])
        policy.ask()
    for _ in range(200):
        assert set(policy.ask().arms) <= set(range(6))


BASELINES = ("doubler", "sparring", "if1", "if2", "savage", "btm", "scb", "ccb", "beat-the-mean-pac")


@pytest.mark.parametrize("name", BASELINES)
def test_late_reordered_and_missing_tells(name):
    params = (
        {"horizon": 3000, "constant": 0.3} if name in ("if1", "if2", "btm") else {"horizon": 3000} if name == "savage" else {}
    )
    P, rng = shuffled(6, 3), np.random.default_rng(8)
    policy = md.make(name, n_arms=6, seed=9, **params)
    waiting = []
    for _ in range(3000):
        slate = policy.ask()
        assert 1 <= len(set(slate.arms)) == len(slate.arms) <= 2
        assert all(0 <= arm < 6 for arm in slate.arms)
        if len(slate.arms) == 2 and rng.random() < 0.8:  # else it is never told
            waiting.append(slate)
        while waiting and rng.random() < 0.6:
            late = waiting.pop(int(rng.integers(len(waiting))))
            x, y = late.arms
            kind = rng.random()
            if kind < 0.1:
                policy.tell(late, md.tie(x, y))
            else:
                policy.tell(late, md.duels([(x, y) if rng.random() < P[x, y] else (y, x)]))
    assert 0 <= policy.recommend() < 6


@pytest.mark.parametrize("name", ["if1", "if2", "savage", "btm"])
def test_what_is_committed_to_stays_whatever_is_told_late(name):
    params = {"delta": 0.5} if name == "savage" else {"constant": 0.3}
    P, rng = shuffled(4, 6), np.random.default_rng(1)
    policy = md.make(name, n_arms=4, seed=2, horizon=5000, **params)
    kept = policy.ask()
    while len(kept.arms) == 1:
        kept = policy.ask()
    alone = 0
    for _ in range(5000):
        slate = policy.ask()
        alone = alone + 1 if len(slate.arms) == 1 else 0
        if alone > 50:
            break
        if len(slate.arms) == 2:
            x, y = slate.arms
            policy.tell(slate, md.duels([(x, y) if rng.random() < P[x, y] else (y, x)]))
    assert alone > 50
    policy.tell(kept, md.duels([tuple(reversed(kept.arms))]))
    assert policy.ask().arms == slate.arms == (policy.recommend(),)
    assert slate.arms[0] == int(np.argmax(P.mean(axis=1)))
