"""RMED and its relatives: what their listings promise, beyond following their oracles."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from multiduel import make, simulate
from multiduel.inputs import BadInput
from multiduel.kernels.contract import ask, init, tell
from multiduel.policies.rmed.copeland import all_pairs, cheapest_upset, tell_pair
from multiduel.policies.rmed.cw_rmed import CWRMED, ECWRMED, rates
from multiduel.policies.rmed.forced_draws import rounds_before_due
from multiduel.policies.rmed.rmed import RMED2
from tests.naive.cw_rmed import Naive as NaiveLeastRegret
from tests.naive.ecw_rmed import Naive as NaiveCopeland
from tests.naive.follow import follow
from tests.naive.stream import NaiveStream
from tests.policies.instances import STREAM, clear_order


def no_condorcet_winner():
    """Arm 0 beats 1, 2, 3 and loses to 4, who beats nobody else; 1, 2, 3 are a cycle: arm 0 is the Copeland winner."""
    P = np.full((5, 5), 0.5)
    for i, j in ((0, 1), (0, 2), (0, 3), (4, 0), (1, 2), (2, 3), (3, 1), (1, 4), (2, 4), (3, 4)):
        P[i, j], P[j, i] = 0.8, 0.2
    return P


@pytest.mark.parametrize("name", ["cw-rmed", "ecw-rmed"])
def test_the_copeland_winner_is_found_where_no_arm_beats_all(name):
    result = simulate(name, no_condorcet_winner(), horizon=30_000, runs=4, benchmark="copeland")
    assert (result.recommended == 0).all()
    half = result.checkpoints.searchsorted(10_000)
    assert result.mean[-1] - result.mean[half] < 0.5 * result.mean[half]  # it has settled


@pytest.mark.parametrize("seed", range(6))
def test_cheapest_upset_is_the_least_over_all_sets_of_pairs(seed):
    K = 4
    world = np.random.default_rng(seed)
    pairs, naive = all_pairs(K, STREAM.copy()), NaiveCopeland(K, 2, NaiveStream(STREAM))
    naive.t = 1
    for _ in range(60):
        i, j = world.permutation(K)[:2]
        won = float(world.random() < 0.5)
        tell_pair(ECWRMED(), pairs, 1, i, j, won, 1.0 - won)
        naive.W[i, j] += won
        naive.W[j, i] += 1.0 - won
    assert pairs.L.tolist() == [len(naive.superiors(i)) for i in range(K)]
    for i1 in naive.winners():
        assert cheapest_upset(pairs, i1, -1.0) == pytest.approx(naive.upset_by_force(i1), abs=1e-12)


def test_rmed2_commits_no_further_than_its_next_draws():
    params = RMED2()
    for filled in (1, 2, 3, 5):
        for now in (2, 5, 30, 1000):
            for limit in (1, 7, 5000):
                due = (t for t in range(now + 1, now + limit) if params.alpha * math.log(math.log(max(t, 3))) > filled)
                assert rounds_before_due(params, filled, now, limit) == next(due, now + limit) - now


def drawn_pairs(P, N):
    """Every pair of P drawn N times, with exactly its share of wins."""
    pairs = all_pairs(len(P), STREAM.copy())
    for i in range(len(P)):
        for j in range(i + 1, len(P)):
            tell_pair(ECWRMED(), pairs, 1, i, j, N * P[i, j], N * P[j, i])
    return pairs


def draw_more(pairs, P, q):
    for i, j in zip(*np.nonzero(q), strict=True):
        tell_pair(ECWRMED(), pairs, 1, i, j, q[i, j] * P[i, j], q[i, j] * P[j, i])


def test_ecw_rmed_draws_what_makes_the_winner_certain():
    P = no_condorcet_winner()
    pairs = drawn_pairs(P, 1.0)
    total = rates(ECWRMED(), pairs, 0)
    assert total > 0.0 and cheapest_upset(pairs, 0, -1.0) < 10.0
    draw_more(pairs, P, 10.0 * pairs.q)
    assert cheapest_upset(pairs, 0, -1.0) > 10.0


def least_regret(pairs, P, i1):
    """CW-RMED's programme with every constraint written down, by another solver."""
    K = len(P)
    numbers = {frozenset(pair): k for k, pair in enumerate(itertools.combinations(range(K), 2))}
    won = [(i, j) for i, j in itertools.permutations(range(K), 2) if P[i, j] > 0.5]
    L = [sum(P[j, i] > 0.5 for j in range(K)) for i in range(K)]
    regret = [(L[i] + L[j] - 2 * L[i1]) / (2 * (K - 1)) for i, j in itertools.combinations(range(K), 2)]
    rows = []
    for size in range(1, len(won) + 1):
        for turned in itertools.combinations(won, size):
            changed = list(L)
            for i, j in turned:
                changed[i] += 1
                changed[j] -= 1
            if min(changed) < changed[i1]:
                row = np.zeros(len(numbers))
                for i, j in turned:
                    row[numbers[frozenset((i, j))]] = -pairs.duels.kl[j, i]
                rows.append(row)
    return linprog(regret, np.array(rows), -np.ones(len(rows))).fun


@pytest.mark.parametrize("seed", range(5))
def test_cw_rmed_draws_what_makes_the_winner_certain_at_the_least_regret(seed):
    K = 5
    P = np.full((K, K), 0.5)
    world = np.random.default_rng(seed)
    for i, j in itertools.combinations(range(K), 2):
        P[i, j] = world.choice([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
        P[j, i] = 1.0 - P[i, j]
    pairs = init(CWRMED(), K, STREAM.copy())
    for i, j in itertools.combinations(range(K), 2):
        tell_pair(ECWRMED(), pairs, 1, i, j, P[i, j], P[j, i])
    for i1 in np.flatnonzero(pairs.L.min() >= pairs.L):
        best = rates(CWRMED(), pairs, i1)
        assert best == pytest.approx(least_regret(pairs, P, i1), rel=1e-6, abs=1e-9)
        assert best <= rates(ECWRMED(), pairs, i1) + 1e-9
        rates(CWRMED(), pairs, i1)
        after = drawn_pairs(P, 1e-9)
        draw_more(after, P, 10.0 * pairs.q)
        assert cheapest_upset(after, i1, -1.0) > 10.0 - 1e-5


@pytest.mark.parametrize("K", [2, 3, 4])
def test_cw_rmed_follows_its_oracle_with_few_arms(K):
    follow("cw-rmed", {"alpha": 1.0, "beta": 0.1}, K, 2, K, clear_order(K), 150, compiled=True)


@pytest.mark.parametrize("seed", range(2))
def test_cw_rmed_values_its_winners_as_its_oracle_does(seed):
    """With more arms several rates may be equally good, so that slates may differ; how good they are may not."""
    K, params = 6, CWRMED(alpha=1.0, beta=0.1)
    rng, slate, world = STREAM.copy(), np.zeros(6, np.int64), np.random.default_rng(seed)
    pairs, naive = init(params, K, rng), NaiveLeastRegret(K, 2, NaiveStream(STREAM))
    assert pairs.arms.tolist() == naive.arms
    seen = 0
    for t in range(1, 121):
        if ask(params, pairs, rng, t, 1, slate)[0] == 2:
            won = float(world.random() < clear_order(K)[slate[0], slate[1]])
            wins = np.array([[0.0, won], [1.0 - won, 0.0]])
            naive.t = t
            naive.tell(t, slate[:2].tolist(), wins)
            tell(params, pairs, rng, t, slate[:2], wins)
        for i1 in naive.winners() if t % 5 == 0 else ():
            assert rates(params, pairs, i1) == pytest.approx(naive.rates(i1)[1], rel=1e-7, abs=1e-9)
            assert cheapest_upset(pairs, i1, -1.0) == pytest.approx(naive.upset(i1), abs=1e-12)
            seen += rates(params, pairs, i1) > 0.0
    assert seen > 5


def test_rmed2fh_wants_the_horizon():
    with pytest.raises(BadInput, match="horizon"):
        make("rmed2fh", n_arms=4)
