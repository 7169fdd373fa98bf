"""KNOCKOUT and SEEBS: finders that name an arm and keep it."""

import numpy as np
import pytest

import multiduel as md
from tests.naive.follow import follow

CLEAR = 0.5 + 0.4 * np.sign(np.subtract.outer(np.arange(7, 0, -1), np.arange(7, 0, -1)))  # arm 0 beats 1 beats 2 ...


FLAT = np.full((5, 5), 0.5)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("knockout", {"epsilon": 0.2, "delta": 0.1}),
        ("knockout", {"epsilon": 0.45, "delta": 0.9, "gamma": 1.5}),
        ("seebs", {"delta": 0.5}),
        ("seebs", {"delta": 0.9, "epsilon": 0.2}),
        ("borda", {}),
        ("borda", {"explore": 0.2}),
    ],
    ids=str,
)
def test_finders_follow_their_oracles(name, params):
    worlds = (CLEAR, 1500), (FLAT, 3000), (CLEAR[:3, :3], 800), (FLAT[:2, :2], 300), (FLAT[:1, :1], 5)
    for seed, (P, rounds) in enumerate(worlds):
        follow(name, params, len(P), 2, seed, P, rounds, compiled=True)


@pytest.mark.parametrize("name", ["knockout", "seebs"])
def test_finders_name_the_best_arm_and_keep_it(name):
    result = md.simulate(name, CLEAR, horizon=10**9, runs=10, seed=3)
    assert (result.recommended == 0).all()
    assert result.events.max() < 5_000


def test_an_epsilon_winner_is_found_sooner_than_the_best():
    near = np.full((4, 4), 0.5) + 0.03 * np.sign(np.subtract.outer(np.arange(4, 0, -1), np.arange(4, 0, -1)))
    exact, rough = (md.simulate("seebs", near, horizon=10**8, runs=4, seed=0, epsilon=e) for e in (0.0, 0.1))
    assert (exact.recommended == 0).all()
    assert rough.events.mean() < 0.5 * exact.events.mean()


def test_outcomes_of_an_abandoned_match_are_ignored():
    policy = md.make("knockout", n_arms=4, seed=1, epsilon=0.3, delta=0.5)
    first = policy.ask()
    late = policy.ask()
    assert late.arms == first.arms
    while (slate := policy.ask()).arms == first.arms:
        policy.tell(slate, md.ranking(slate.arms))
    before = policy.snapshot()["state"]
    policy.tell(late, md.ranking(late.arms))
    assert policy.snapshot()["state"] == before


@pytest.mark.parametrize("name", ["knockout", "seebs"])
def test_finders_find_with_late_and_missing_tells(name):
    """The conformance check for this ends before their first close match does."""
    world = np.random.default_rng(4)
    for seed in range(3):
        policy, waiting = md.make(name, n_arms=len(CLEAR), seed=seed), []
        for _ in range(6000):
            slate = policy.ask()
            if len(slate.arms) == 2 and world.random() < 0.9:
                waiting.append(slate)
            while len(waiting) > 10:
                told = waiting.pop(int(world.integers(len(waiting))))
                i, j = told.arms
                policy.tell(told, md.best(i if world.random() < CLEAR[i, j] else j))
        assert policy.recommend() == 0
        assert policy.ask().arms == (0,)
