"""DueDuel beyond its oracle: what its choices depend on, its commitments, its opponents."""

import math

import numpy as np
import pytest
from due_duel import PAGE, with_tables  # of benchmarks/

import multiduel as md
from multiduel import theory
from multiduel.kernels.contract import ask, init, recommend, tell, valid
from multiduel.policies.due_duel.due_duel import Params
from multiduel.policies.due_duel.due_times import nats, nats_at_most
from multiduel.policies.due_duel.state import ALL, PART, SINGLE, SUMS
from tests.naive.due_duel import Naive
from tests.naive.follow import follow
from tests.naive.stream import NaiveStream

K = 9


def fresh(m=4, K=K, seed=1, **params):
    rng = np.random.SeedSequence(seed).generate_state(4, np.uint64)
    chosen = Params(slate_size=m, **params)
    return chosen, init(chosen, K, rng), rng


def asked(player, round, limit=1, room=K):
    params, state, rng = player
    slate = np.zeros(room, np.int64)
    n, rounds = ask(params, state, rng, round, limit, slate)
    return slate[:n].tolist(), rounds


def told(player, arms, wins, round=0):
    params, state, rng = player
    tell(params, state, rng, round, np.array(arms, np.int64), np.array(wins, float))


def duel(player, winner, loser, times=1.0):
    told(player, [winner, loser], [[0.0, times], [0.0, 0.0]])


def answers(seed, count=60):
    """Outcomes of random slates, some pairs unseen, some tied."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        arms = rng.choice(K, rng.integers(2, 6), replace=False)
        wins = np.zeros((len(arms), len(arms)))
        for a in range(len(arms)):
            for b in range(a):
                wins[a, b] = rng.choice([0.0, 0.5, 1.0])
                wins[b, a] = rng.choice([0.0, 1.0 - wins[a, b]])
        yield arms, wins


@pytest.mark.parametrize("seed", range(6))
def test_choices_depend_on_the_tally_alone(seed):
    """One by one, backwards, or as one table of 9 arms it never asked for: the same slates from then on."""
    given = list(answers(seed))
    total = np.zeros((K, K))
    for arms, wins in given:
        total[np.ix_(arms, arms)] += wins
    forth, back, at_once = fresh(), fresh(), fresh()
    for k, (arms, wins) in enumerate(given):
        told(forth, arms, wins)
        asked(forth, k + 1)  # asking on the way changes nothing either
    for arms, wins in reversed(given):
        told(back, arms[::-1], wins[::-1, ::-1])
    told(at_once, range(K), total)
    for player in (back, at_once):
        assert np.array_equal(player[1].order, forth[1].order)
        for round in (61, 100, 10**4, 10**6):
            assert asked(player, round, limit=10**9) == asked(forth, round, limit=10**9)
        assert recommend(player[0], player[1]) == recommend(forth[0], forth[1])


@pytest.mark.parametrize("kind", ["utilities", "tournament", "ties"])
def test_what_is_kept_is_what_would_be_computed_anew(kind):
    """After many rounds at 24 arms: due times that count as known are right, bounds are bounds, sums are sums."""
    K, m = 24, 6
    rng = np.random.default_rng(7)
    P = md.random_tournament(K, seed=7).matrix if kind == "tournament" else md.synthetic(K, link="logit").matrix
    player = params, state, _ = fresh(m, K)
    naive = Naive(K, m, NaiveStream(np.ones(4, np.uint64)))
    seen = {"all": 0, "bound": 0, "sums": 0}
    for t in range(1, 900):
        arms, _ = asked(player, t, room=K)
        wins = np.zeros((len(arms), len(arms)))
        for a, i in enumerate(arms):
            for b, j in enumerate(arms[:a]):
                wins[a, b] = float(rng.random() < P[i, j]) if kind != "ties" else rng.choice([0.0, 0.5, 1.0])
                wins[b, a] = 1.0 - wins[a, b]
        told(player, arms, wins)
        naive.tell(t, arms, wins)
        if t % 9:
            continue
        assert all(valid(params, state, K, t).values())
        asked(player, t + 1, room=K)
        N, D, _ = naive.tables()
        order = state.order.tolist()
        for i in order[1:]:
            due = naive.log_due(i, order, N, D)
            if state.known[i] == ALL:
                seen["all"] += 1
                assert state.due[i] == pytest.approx(due, abs=1e-12)
            elif state.known[i] == PART:
                seen["bound"] += 1
                assert state.due[i] <= due + 1e-12
            if state.known[i] >= SUMS and state.largest[i] != SINGLE:
                seen["sums"] += 1
                group = order[: 2 ** (state.largest[i] - 1)]
                assert (state.d[i], state.n[i]) == (D[i, group].sum(), N[i, group].sum())
    assert min(seen.values()) > 100, seen


def test_until_an_arm_is_due_the_leader_is_used_alone():
    player = fresh(m=3, edge=1e9)
    for loser in range(1, K):
        duel(player, 0, loser, times=6.0 + loser)  # arm 1 has lost least often: it is due first
    slate, rounds = asked(player, 100, limit=10**12)
    due = 7.0 * 2.0**7  # n exp(n kl) with all 7 duels lost
    assert slate == [0] and 100 + rounds == math.ceil(due)
    assert asked(player, int(due) - 1)[0] == [0]
    assert asked(player, math.ceil(due))[0] == [0, 1, 2]


def test_an_opponent_that_refutes_much_faster_takes_the_leaders_place():
    for edge, opponent in ((16.0, 5), (1e6, 0)):
        player = fresh(m=2, edge=edge)
        for loser in range(2, K):
            duel(player, 0, loser, times=40.0)
        told(player, [0, 1], [[0.0, 26.0], [24.0, 0.0]])  # 0 leads, 1 is close behind it
        duel(player, 5, 1, times=3.0)  # and loses every duel with arm 5
        assert sorted(asked(player, 1000)[0]) == sorted([1, opponent])


def test_evidence_is_the_divergence_and_its_bound_is_one():
    for n in (1.0, 2.5, 7.0, 40.0, 1e4):
        for share in np.linspace(0.01, 1.0, 30):
            d = share * n
            assert nats(d, n) == pytest.approx(n * theory.kl((1.0 - share) / 2.0, 0.5), rel=1e-9)
            assert nats(d, n) <= nats_at_most(d, n) * (1.0 + 1e-12) + 1e-12
            assert nats_at_most(d, n) <= 2.0 * math.log(2.0) * d * d / (2.0 * n) * (1.0 + 1e-12)


def test_ties_of_due_times_are_broken_as_the_oracle_does():
    """In tournaments due times by single arms often agree to the last bit: there must be one way to compute them."""
    for seed in range(8):
        follow("due-duel", {}, 16, 3, seed, md.random_tournament(16, seed=1200 + seed).matrix, 150)


def test_every_case_of_the_listing_is_followed():
    seen = set()
    for seed in range(4):
        problem = md.random_tournament(7, seed=seed)
        seen |= set(follow("due-duel", {}, 7, 2 + seed, seed, problem.matrix, 600).cases)
    assert seen == {"alone", "leader", "refuter", "full", "riders"}


@pytest.mark.parametrize("stretch", [0.0, 0.5])
def test_no_run_settles_on_a_wrong_arm_where_losers_tie_and_where_borda_differs(stretch):
    utilities = [0.9, 0.6, 0.6, 0.6, 0.3, 0.3, 0.3, 0.3]
    ties = md.from_utilities(utilities)
    P = np.triu(np.full((6, 6), 0.9), k=1) + np.tril(np.full((6, 6), 0.1), k=-1) + np.diag(np.full(6, 0.5))
    P[0, 1:], P[1:, 0] = 0.6, 0.4  # arm 0 beats all by little, arm 1 all others by much
    disputed = md.from_matrix(P)
    assert disputed.winner == 0 and disputed.borda_winners == (1,)
    for problem, m in ((ties, 2), (ties, 4), (disputed, 2), (disputed, 4)):
        settings = {"slate_size": m, "horizon": 10**6, "runs": 100, "seed": 3, "checkpoints": [10**5, 10**6]}
        result = md.simulate("due-duel", problem, **settings, stretch=stretch)
        assert (result.recommended == problem.winner).all()
        assert result.mean[-1] < 1.6 * result.mean[0]  # logarithmic: nothing is paid at a constant rate


def test_the_tables_of_the_page_are_made_from_its_results():
    page = PAGE.read_text()
    assert with_tables(page) == page, "Run 'python benchmarks/due_duel.py tables'."


def test_regret_is_near_the_lower_bound_and_far_below_multi_rucb():
    problem = md.synthetic(16)
    bound = theory.multi_dueling_lower_bound(problem.matrix, 4)
    ours = md.simulate("due-duel", problem, slate_size=4, horizon=10**8, runs=60, seed=5, checkpoints=[10**5, 10**8])
    slope = float(ours.mean[-1] - ours.mean[0]) / 3.0
    assert 0.8 * bound.per_decade < slope < 1.5 * bound.per_decade
    other = md.simulate("multi-rucb", problem, slate_size=4, horizon=10**5, runs=30, seed=5, checkpoints=[10**5])
    assert ours.mean[0] < 0.5 * other.mean[-1]
