"""The leaderboard: one observation per answer, and intervals that hold together at all times."""

import math

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.session import policy as engine_policy
from multiduel.inference import bounded

K, CONFIDENCE, EXPERIMENTS = 16, 0.8, 100
ALLOWED = EXPERIMENTS * (1.0 - CONFIDENCE) + 3.0 * math.sqrt(EXPERIMENTS * CONFIDENCE * (1.0 - CONFIDENCE))


def ranked(arms, rng):
    return md.ranking(rng.permutation(arms).tolist()), 0.5


def best_only(arms, rng):
    return md.best(arms[rng.integers(len(arms))]), 1.0 / len(arms)


def with_ties(arms, rng):
    """A ranking with three ranks: many are level."""
    rank = rng.integers(3, size=len(arms))
    return (rank[:, None] < rank) + 0.5 * (rank[:, None] == rank) * (1 - np.eye(len(arms))), 0.5


def misses(slate_size, answer, experiments=EXPERIMENTS):
    """Experiments in which some interval missed at some time. All arms are alike, and each is in 125 answers or so."""
    missed = 0
    rounds = 2000 // slate_size
    looks = set(np.unique(np.geomspace(slate_size, rounds, 30).astype(int)).tolist())
    for seed in range(experiments):
        rng = np.random.default_rng(seed)
        policy = md.make("uniform", n_arms=K, slate_size=slate_size, seed=seed)
        for t in range(1, rounds + 1):
            slate = policy.ask()
            outcome, expected = answer(slate.arms, rng)
            policy.tell(slate, outcome)
            if t in looks and any(not line.low <= expected <= line.high for line in policy.leaderboard(CONFIDENCE)):
                missed += 1
                break
    return missed


@pytest.mark.parametrize("answer", [ranked, best_only, with_ties])
@pytest.mark.parametrize("slate_size", [2, 4, 8, 16])
def test_intervals_hold_together_at_all_times(slate_size, answer):
    assert misses(slate_size, answer) <= ALLOWED


def test_the_test_notices_a_variance_of_half_the_size(monkeypatch):
    monkeypatch.setattr(bounded, "variance", lambda n: 0.125 * n)
    assert misses(2, ranked) > ALLOWED


def test_the_test_notices_an_error_that_is_not_shared_over_the_arms(monkeypatch):
    monkeypatch.setattr(engine_policy, "bounded_radius", lambda n, error: bounded.bounded_radius(n, error * K))
    assert misses(2, ranked) > ALLOWED


@pytest.mark.parametrize("answer", [ranked, best_only])
def test_the_test_notices_duels_of_one_answer_counted_as_independent(monkeypatch, answer):
    radius = bounded.bounded_radius
    monkeypatch.setattr(engine_policy, "bounded_radius", lambda n, error: radius(15 * n, error))
    assert misses(16, answer) > ALLOWED


def test_intervals_hold_under_adaptive_play():
    """MultiRUCB chooses who duels; the truth is each arm's mean chance against the opponents it met."""
    P = np.array([[0.5, 0.55, 0.6], [0.45, 0.5, 0.55], [0.4, 0.45, 0.5]])
    missed, experiments = 0, 100
    for seed in range(experiments):
        rng = np.random.default_rng(seed)
        policy = md.make("multi-rucb", n_arms=3, slate_size=2, seed=seed)
        chances, duels, wrong = np.zeros(3), np.zeros(3), False
        for t in range(300):
            slate = policy.ask()
            if len(slate.arms) == 1:
                continue
            i, j = slate.arms
            policy.tell(slate, md.duels([(i, j) if rng.random() < P[i, j] else (j, i)]))
            chances[[i, j]] += P[i, j], P[j, i]
            duels[[i, j]] += 1
            if t % 10 == 0:
                for line in policy.leaderboard(CONFIDENCE):
                    if line.answers:
                        wrong |= not line.low <= chances[line.arm] / duels[line.arm] <= line.high
        missed += wrong
    assert missed <= ALLOWED


def test_an_answer_is_one_observation():
    policy = md.make("uniform", n_arms=3, slate_size=3, seed=0)
    for _ in range(200):
        policy.tell(policy.ask(), md.ranking([0, 1, 2]))
    top, middle, bottom = policy.leaderboard()
    assert (top.arm, top.answers, top.win_rate) == (0, 200, 1.0) and top.recommended
    assert middle.win_rate == 0.5 and bottom.win_rate == 0.0
    assert middle.low < 0.5 < middle.high and top.high == 1.0 and bottom.low == 0.0
    fresh = md.make("uniform", n_arms=3, seed=0).leaderboard()
    assert all(math.isnan(line.win_rate) and (line.low, line.high) == (0.0, 1.0) for line in fresh)


@pytest.mark.parametrize(
    ("outcome", "shares"),
    [
        (md.best(1), {0: (0.0, 1), 1: (1.0, 1), 2: (0.0, 1), 3: (0.0, 1)}),
        (md.worst(1), {0: (1.0, 1), 1: (0.0, 1), 2: (1.0, 1), 3: (1.0, 1)}),
        (md.ranking([2, 0]), {0: (0.0, 1), 1: (0.0, 0), 2: (1.0, 1), 3: (0.0, 0)}),  # the others were not judged
        (md.tie(0, 1, 3), {0: (0.5, 1), 1: (0.5, 1), 2: (0.0, 0), 3: (0.5, 1)}),
        (md.duels([(0, 1), (0, 1), (1, 0), (2, 0)]), {0: (0.5, 1), 1: (0.0, 1), 2: (1.0, 1), 3: (0.0, 0)}),
    ],
)
def test_only_judged_opponents_count(outcome, shares):
    policy = md.make("uniform", n_arms=4, slate_size=4, seed=0)
    policy.tell(policy.ask(), outcome)
    for line in policy.leaderboard():
        share, answers = shares[line.arm]
        assert line.answers == answers and (answers == 0 or line.win_rate == share)
