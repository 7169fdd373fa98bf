"""The shares won in standings: intervals that hold together at all times, for any number of options in an answer."""

import math

import numpy as np
import pytest

import multiduel as md
from multiduel.inference import bounded
from multiduel.inference import standings as inferred

K, ALPHA, EXPERIMENTS = 16, 0.2, 60
ALLOWED = EXPERIMENTS * ALPHA + 3.0 * math.sqrt(EXPERIMENTS * ALPHA * (1.0 - ALPHA))


def ranked(arms, rng):
    return (lambda place: place[:, None] < place)(rng.permutation(len(arms)))


def best_only(arms, rng):
    table = np.zeros((len(arms), len(arms)))
    best = rng.integers(len(arms))
    table[best] = 1.0
    table[best, best] = 0.0
    return table


def with_ties(arms, rng):
    """A ranking with three ranks: many are level."""
    rank = rng.integers(3, size=len(arms))
    return (rank[:, None] < rank) + 0.5 * (rank[:, None] == rank) * (1 - np.eye(len(arms)))


def misses(slate_size, answer, known="answers", look=lambda found: (found.won_low, found.won_high), truth=0.5):
    """Experiments in which some interval missed at some time. All arms are alike, and each is in 125 answers or so."""
    missed = 0
    rounds = 2000 // slate_size
    looks = set(np.unique(np.geomspace(max(2, 20 * K // slate_size), rounds, 8).astype(int)).tolist())
    for seed in range(EXPERIMENTS):
        rng = np.random.default_rng(seed)
        tally = md.Tally(K)
        for t in range(1, rounds + 1):
            arms = rng.permutation(K)[:slate_size].tolist()
            tally.add(arms, answer(arms, rng))
            if t in looks:
                counts = md.Tally.of(tally.above, tally.ties, answers=tally.answers, showings=tally.showings)
                low, high = look(inferred(tally if known == "answers" else counts, alpha=ALPHA))
                stated = ~np.isnan(low)
                if ((low > truth) | (high < truth))[stated].any():
                    missed += 1
                    break
    return missed


@pytest.mark.parametrize(
    ("slate_size", "answer", "known"),
    [
        (2, with_ties, "answers"),
        *((16, answer, known) for answer in (ranked, best_only, with_ties) for known in ("answers", "counts")),
        (4, best_only, "answers"),
    ],
)
def test_intervals_hold_together_at_all_times(slate_size, answer, known):
    assert misses(slate_size, answer, known) <= ALLOWED


@pytest.mark.parametrize("answer", [ranked, best_only, with_ties])
def test_strengths_from_counts_of_rankings_hold(answer):
    assert misses(8, answer, "counts", lambda found: (found.low, found.high), 0.0) <= ALLOWED


def test_the_test_notices_a_variance_of_a_third(monkeypatch):
    monkeypatch.setattr(bounded, "variance", lambda n: n / 12.0)
    assert misses(2, ranked) > ALLOWED


def test_the_test_notices_an_error_that_is_not_shared_over_the_options(monkeypatch):
    import sys

    module = sys.modules["multiduel.inference.standings"]
    radius = module.bounded_radius
    monkeypatch.setattr(module, "bounded_radius", lambda squares, error: radius(squares, error * K))
    assert misses(2, ranked) > ALLOWED


def test_the_test_notices_pairs_of_one_answer_counted_as_independent(monkeypatch):
    import sys

    module = sys.modules["multiduel.inference.standings"]
    radius = module.bounded_radius
    monkeypatch.setattr(module, "bounded_radius", lambda squares, error: radius(squares / 15.0, error) / 15.0)
    assert misses(16, ranked) > ALLOWED


def test_intervals_hold_under_adaptive_play():
    """MultiRUCB chooses who duels; the truth is each arm's mean chance against the opponents it met."""
    P = np.array([[0.5, 0.55, 0.6], [0.45, 0.5, 0.55], [0.4, 0.45, 0.5]])
    missed = 0
    for seed in range(EXPERIMENTS):
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
            if t % 30 == 29:
                found, met = policy.standings(alpha=ALPHA), duels > 0
                truth = chances[met] / duels[met]
                wrong |= bool(((found.won_low[met] > truth) | (found.won_high[met] < truth)).any())
        missed += wrong
    assert missed <= ALLOWED
