"""D-TS, D-TS+, MergeDTS, Versatile-DB, the PAC finders and the Borda learner."""

import numpy as np
import pytest
from scipy import special, stats

import multiduel as md
from multiduel.engine.play import ask_once
from multiduel.engine.registry import find, resolve
from multiduel.kernels.contract import ask, init
from multiduel.kernels.dispatch import entry
from multiduel.policies.double_thompson.beliefs import beta_above_half, draw_above_half, update
from tests.naive.follow import follow

LINEAR = md.synthetic(6).matrix
# Nobody beats everybody:
CYCLE = np.array([[0.5, 0.8, 0.3, 0.7], [0.2, 0.5, 0.75, 0.6], [0.7, 0.25, 0.5, 0.6], [0.3, 0.4, 0.4, 0.5]])


def stream(seed):
    return np.random.SeedSequence(seed).generate_state(4, np.uint64)


def ask_ahead(params, state, rng, round, limit, slate):
    return ask(params, state, rng, round, limit, slate)


def test_the_tail_of_a_belief_is_the_incomplete_beta_function():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = 10.0 ** rng.uniform(0.3, 5.5)
        a = 1.0 + np.clip(rng.choice([n * rng.random(), n / 2 + rng.normal() * n**0.5]), 0, n)
        b = 1.0 + n - (a - 1.0)
        assert beta_above_half(a, b) == pytest.approx(special.betainc(b, a, 0.5), rel=1e-9, abs=1e-290)
        assert beta_above_half(a, b) + beta_above_half(b, a) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (3.0, 7.5), (4.0, 30.0), (60.0, 50.0), (1.0, 12.0)])
def test_a_belief_above_one_half_is_the_truncated_beta(a, b):
    rng = stream(1)
    chance = beta_above_half(a, b)
    drawn = [draw_above_half(rng, a, b, chance) for _ in range(2000)]
    law = stats.beta(a, b)
    assert stats.kstest(drawn, lambda x: 1.0 - law.sf(x) / law.sf(0.5)).pvalue > 0.001


@pytest.mark.parametrize("name", ["dts", "dts+"])
@pytest.mark.parametrize("P", [LINEAR, CYCLE], ids=["linear", "cycle"])
def test_direct_draws_follow_the_oracle(name, P):
    for seed, alpha in ((0, 0.51), (1, 0.6), (2, 0.2)):
        follow(name, {"draws": "direct", "alpha": alpha}, len(P), 2, seed, P, 250, compiled=True)


def beliefs_after(name, wins, draws):
    """A policy that has seen wins[i, j] wins of i over j."""
    params = resolve(find(name), n_arms=len(wins), given={"draws": draws})
    state = init(params, len(wins), stream(0))
    for i in range(len(wins)):
        for j in range(i):
            if wins[i, j] + wins[j, i]:
                update(state.beliefs, i, j, wins[i, j], wins[j, i])
    return params, state


EARLY = np.array([[0, 3, 1, 2], [1, 0, 2, 0], [2, 1, 0, 4], [0, 3, 1, 0]], float)
LEADER = np.array([[0, 14, 9, 16], [5, 0, 7, 9], [3, 8, 0, 2], [6, 5, 9, 0]], float)
NO_CONDORCET = np.array([[0, 14, 2, 16], [5, 0, 30, 9], [25, 8, 0, 10], [6, 5, 9, 0]], float)
ALL_OPEN = np.zeros((4, 4))


@pytest.mark.parametrize("name", ["dts", "dts+"])
@pytest.mark.parametrize("wins", [EARLY, LEADER, NO_CONDORCET, ALL_OPEN], ids=["early", "leader", "cycle", "open"])
def test_lazy_draws_have_the_law_of_direct_ones(name, wins):
    counts = []
    for draws in ("lazy", "direct"):
        params, state = beliefs_after(name, wins, draws)
        one = entry(ask_once, params, name)
        rng, slate = stream(7), np.zeros(len(wins), np.int64)
        tally = np.zeros((len(wins), len(wins)))
        for _ in range(8000):
            n = one.call(params, state, rng, 200, slate)
            tally[slate[0], slate[n - 1]] += 1
        counts.append(tally.ravel())
    table = np.array(counts)[:, np.sum(counts, axis=0) > 0]
    assert table.shape[1] > 3
    rare = table.sum(axis=0) < 16  # pooled: the chi-square law needs some in every cell
    if rare.any():
        table = np.c_[table[:, ~rare], table[:, rare].sum(axis=1)]
    assert stats.chi2_contingency(table).pvalue > 0.001


@pytest.mark.parametrize("wins", [LEADER, NO_CONDORCET], ids=["leader", "no-condorcet"])
def test_quiet_stretches_have_the_law_of_single_rounds(wins):
    """From the same beliefs: how long until a pair is played (at most 40 rounds), and which."""
    params, state = beliefs_after("dts", wins, "lazy")
    ahead = entry(ask_ahead, params, "dts")
    rng, slate = stream(3), np.zeros(len(wins), np.int64)
    seen = {1: [], 40: []}
    for limit, sample in seen.items():
        for _ in range(3000):
            state.loud[0] = -1
            t = 200
            while t < 240:
                n, rounds = ahead.call(params, state, rng, t, min(limit, 240 - t), slate)
                t += rounds
                if n == 2:
                    break
            sample.append((t, int(slate[0]), int(slate[1]) if n == 2 else -1))
    assert stats.ks_2samp([s[0] for s in seen[1]], [s[0] for s in seen[40]]).pvalue > 0.001
    pairs = sorted({s[1:] for sample in seen.values() for s in sample})
    table = np.array([[sum(s[1:] == pair for s in sample) for pair in pairs] for sample in seen.values()])
    table = table[:, table.sum(axis=0) >= 16]
    assert stats.chi2_contingency(table).pvalue > 0.001


@pytest.mark.parametrize("name", ["dts", "dts+"])
def test_a_million_rounds_cost_few_events(name):
    result = md.simulate(name, md.synthetic(12), horizon=10**6, runs=3, seed=1)
    assert (result.recommended == 0).all()
    assert result.events.max() < 30_000
    assert result.mean[-1] < 1_000


@pytest.mark.parametrize("shared", [False, True])
def test_versatile_db_follows_its_oracle(shared):
    for seed, K in ((0, 6), (1, 2), (2, 1)):
        follow("versatile-db", {"shared": shared}, K, 2, seed, LINEAR[:K, :K], 300, compiled=True)


def test_versatile_db_learns_in_both_readings():
    for shared in (False, True):
        result = md.simulate("versatile-db", md.synthetic(6), horizon=30_000, runs=4, seed=2, shared=shared)
        assert (result.recommended == 0).all()
        assert result.mean[-1] < 0.3 * 30_000 * md.synthetic(6).gaps.mean()


@pytest.mark.parametrize("params", [{}, {"batch_size": 2, "C": 1.0}, {"batch_size": 3, "alpha": 0.1}], ids=str)
def test_merge_dts_with_direct_draws_follows_its_oracle(params):
    for seed, P in ((0, LINEAR), (1, CYCLE), (2, md.synthetic(13).matrix), (3, LINEAR[:1, :1])):
        follow("merge-dts", {"draws": "direct", **params}, len(P), 2, seed, P, 400, compiled=True)


def test_merge_dts_draws_lazily_the_same_law():
    """The first arm from the same beliefs, drawn by coins and by Betas."""
    counts = []
    for draws in ("lazy", "direct"):
        params, state = beliefs_after("merge-dts", LEADER, draws)
        one = entry(ask_once, params, "merge-dts")
        rng, slate = stream(5), np.zeros(4, np.int64)
        first = np.zeros(4)
        for _ in range(4000):
            one.call(params, state, rng, 10, slate)
            first[slate[0]] += 1
        counts.append(first)
    assert stats.chi2_contingency(np.array(counts)).pvalue > 0.001


def test_merge_dts_finds_the_winner_and_stops_exploring():
    result = md.simulate("merge-dts", md.synthetic(24), horizon=10**9, runs=4, seed=1)
    assert (result.recommended == 0).all()
    assert result.events.max() < 10**6


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


def test_borda_goes_for_the_borda_winner_where_the_condorcet_winner_is_another():
    P = np.full((5, 5), 0.5)
    P[0, 1:], P[1:, 0] = 0.55, 0.45  # arm 0 beats all, narrowly
    P[1, 2:], P[2:, 1] = 0.95, 0.05  # arm 1 crushes all others
    result = md.simulate("borda", P, horizon=50_000, runs=4, seed=0, benchmark="borda")
    assert (result.recommended == 1).all()
    assert result.mean[-1] < 0.2 * 50_000 * 0.2


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
