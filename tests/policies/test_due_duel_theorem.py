"""The steps of DueDuel's proof (docs/due-duel-proof.md), by exact sums or along runs of its oracle with prepared outcomes."""

import math

import numpy as np
import pytest

from multiduel.policies.due_duel.due_times import log_due, nats
from tests.naive.due_duel import Naive, evidence
from tests.naive.stream import NaiveStream

STRETCHES = (0.0, 0.5, 3.0)
# Arm 0 beats all; 1, 2, 3 beat each other in a circle, and 3 and 4 are equal.
CYCLE = np.array(
    [
        [0.5, 0.7, 0.8, 0.7, 0.9],
        [0.3, 0.5, 0.9, 0.2, 0.6],
        [0.2, 0.1, 0.5, 0.8, 0.7],
        [0.3, 0.8, 0.2, 0.5, 0.5],
        [0.1, 0.4, 0.3, 0.5, 0.5],
    ]
)


def due_times(n, stretch):
    """n (1 + a e) exp(e) for w = 0 .. n wins of n duels, 0 where at least half were won."""
    return np.array([math.exp(log_due(n, nats(n - 2.0 * w, n), stretch)) if 2 * w < n else 0.0 for w in range(n + 1)])


def chances(biases):
    """The law of the number of wins in independent duels."""
    law = np.ones(1)
    for p in biases:
        law = np.append(law * (1.0 - p), 0.0) + np.append(0.0, law * p)
    return law


@pytest.mark.parametrize("stretch", STRETCHES)
@pytest.mark.parametrize("delta", [0.02, 0.1, 0.3])
def test_step_1_mean_due_time_of_the_winner_is_below_its_bound(stretch, delta):
    rho = math.sqrt(1.0 - 4.0 * delta**2)
    for n in (1, 2, 3, 5, 8, 20, 75, 200):
        values = due_times(n, stretch)
        assert np.all(np.diff(values) <= 1e-9 * values[:-1])  # more wins, sooner due: mixed biases are no worse than the least
        mean = float(values @ chances([0.5 + delta] * n))
        assert mean <= n * (1.0 + stretch * n * math.log(2.0)) * (n / 2.0 + 1.0) * rho**n
        mixed = np.random.default_rng(n).uniform(0.5 + delta, 1.0, n)
        assert float(values @ chances(mixed)) <= mean * (1.0 + 1e-9)


@pytest.mark.parametrize("stretch", STRETCHES)
def test_step_1_supremum_over_counts_has_the_mean_that_the_sum_allows(stretch):
    """One opponent, p = 0.8: the sum of exact means bounds the mean of the supremum along simulated paths."""
    allowed = sum(float(due_times(n, stretch) @ chances([0.8] * n)) for n in range(1, 250))
    wins = np.cumsum(np.random.default_rng(0).random((20_000, 60)) < 0.8, axis=1)
    tables = np.array([np.pad(due_times(n, stretch), (0, 60 - n)) for n in range(1, 61)])
    largest = tables[np.arange(60), wins].max(axis=1)
    assert 0.0 < largest.mean() - 4.0 * largest.std() / len(largest) ** 0.5 < allowed
    assert sum(float(due_times(n, stretch) @ chances([0.8] * n)) for n in range(250, 400)) < 1e-9 * allowed


def prepared(seed, rounds):
    """Y[i, j, s]: whether i loses the s-th duel with j, minus whether it wins; and its sums."""
    rng = np.random.default_rng(seed)
    K = len(CYCLE)
    lost = np.zeros((K, K, rounds + 1))
    for i in range(K):
        for j in range(i):
            lost[i, j, 1:] = np.cumsum(np.where(rng.random(rounds) < CYCLE[i, j], -1.0, 1.0))
            lost[j, i] = -lost[i, j]
    return lost


def largest_due_time(lost, counts, stretch):
    """B: the largest due time of arm 0 over all vectors of at most these counts whose sum of losses exceeds that of wins."""
    d, n = np.zeros(1), np.zeros(1)
    for j, most in enumerate(counts):
        d = (d[:, None] + lost[0, j + 1, : most + 1]).ravel()
        n = (n[:, None] + np.arange(most + 1)).ravel()
    seen = {(int(a), int(b)) for a, b in zip(d, n, strict=True) if a > 0.0}
    return max((math.exp(log_due(b, nats(a, b), stretch)) for a, b in seen), default=0.0)


@pytest.mark.parametrize("stretch", STRETCHES)
@pytest.mark.parametrize("m", [2, 3, 4])
def test_steps_2_to_5_hold_in_every_round_of_a_run(stretch, m):
    K, rounds, L, wrong_leader, led = len(CYCLE), 300, 50.0, 0, 0
    for seed in range(8):
        lost = prepared(seed, rounds)
        naive = Naive(K, m, NaiveStream(np.random.SeedSequence(seed).generate_state(4, np.uint64)), stretch=stretch)
        asked = []
        for t in range(1, rounds + 1):
            N, D, E = naive.tables()
            order = naive.order(E)
            due = {i: math.exp(naive.log_due(i, order, N, D)) if N[i].any() else 0.0 for i in order[1:]}
            slate = naive.ask(t)
            asked.append((t, order, due, slate, N, E))
            if len(slate) > 1:
                wins = np.zeros((len(slate), len(slate)))
                for a, i in enumerate(slate):
                    for b, j in enumerate(slate):
                        if a != b:
                            s = int(N[i, j])
                            wins[a, b] = lost[i, j, s + 1] < lost[i, j, s]
                naive.tell(t, slate, wins)
        most = [int(max((N[0, j] for _, order, _, _, N, _ in asked if order[0] != 0), default=0)) for j in range(1, K)]
        B = largest_due_time(lost, most, stretch)
        S = sum(
            max((lost[0, j, n] ** 2 / (2 * n) for n in range(1, rounds + 1) if lost[0, j, n] > 0), default=0.0)
            for j in range(1, K)
        )
        for t, order, due, slate, N, E in asked:
            x, first = order[0], min(due.values())
            above = order[: order.index(0)]
            assert all(E[y, 0] <= S + K * 2.0**-20 for y in above)  # step 2
            if x != 0:
                wrong_leader += 1
                assert due[0] <= max(B, N[0, above].sum()) * (1.0 + 1e-9)  # step 3
                if t > max(B, N[0, above].sum()):  # step 4
                    assert len(slate) > 1 and first <= due[0]
                    if {0, x} <= set(slate):
                        continue
                    pairs = [(i, j) for i in slate for j in slate if i != j and due.get(i) == first]
                    assert any(N[i, j] <= K * first * (1.0 + 1e-9) or (i == 0 and E[0, j] > 0.0) for i, j in pairs)
            elif len(slate) > 1:  # step 5
                led += 1
                i = min(order[1:], key=lambda k: (due[k], order.index(k)))
                for k in slate:
                    e = evidence(-lost[0, k, int(N[0, k])], N[0, k]) if N[0, k] else 0.0
                    by_refuting = k != i and E[i, k] > 0.0 and N[i, k] * math.exp(E[i, k]) <= K * t
                    assert k == 0 or by_refuting or N[0, k] * (1.0 + stretch * e) * math.exp(e) <= L * t * (1.0 + 1e-9)
    assert min(wrong_leader, led) > 20
