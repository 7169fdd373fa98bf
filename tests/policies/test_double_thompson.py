"""D-TS, D-TS+ and MergeDTS: beliefs, and lazy draws that have the law of direct ones."""

import numpy as np
import pytest
from scipy import special, stats

import multiduel as md
from multiduel.engine.registry.registry import find, resolve
from multiduel.engine.session.rounds import ask_once
from multiduel.kernels.compiler.dispatch import entry
from multiduel.kernels.contract import ask, init
from multiduel.policies.double_thompson.beliefs import beta_above_half, draw_above_half, update
from tests.naive.follow import follow
from tests.policies.instances import LINEAR

# Nobody beats everybody:
CYCLE = np.array([[0.5, 0.8, 0.3, 0.7], [0.2, 0.5, 0.75, 0.6], [0.7, 0.25, 0.5, 0.6], [0.3, 0.4, 0.4, 0.5]])


def words(seed):
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
    rng = words(1)
    chance = beta_above_half(a, b)
    drawn = [draw_above_half(a, b, chance, rng) for _ in range(2000)]
    law = stats.beta(a, b)
    assert stats.kstest(drawn, lambda x: 1.0 - law.sf(x) / law.sf(0.5)).pvalue > 0.001


@pytest.mark.parametrize("name", ["dts", "dts+"])
@pytest.mark.parametrize("P", [LINEAR, CYCLE], ids=["linear", "cycle"])
def test_direct_draws_follow_the_oracle(name, P):
    for seed, alpha in ((0, 0.51), (1, 0.6), (2, 0.2)):
        follow(name, {"draws": "direct", "alpha": alpha}, len(P), 2, seed, P, 250, compiled=True)


def beliefs_after(name, wins, draws):
    """A policy that has seen wins[i, j] wins of i over j."""
    params = resolve(find(name), n_arms=len(wins), words={"draws": draws})
    state = init(params, len(wins), words(0))
    for i in range(len(wins)):
        for j in range(i):
            if wins[i, j] + wins[j, i]:
                update(state.beliefs, i, j, wins[i, j], wins[j, i])
    return params, state


EARLY = np.array([[0, 3, 1, 2], [1, 0, 2, 0], [2, 1, 0, 4], [0, 3, 1, 0]], float)


LEADER = np.array([[0, 14, 9, 16], [5, 0, 7, 9], [3, 8, 0, 2], [6, 5, 9, 0]], float)


NO_CONDORCET = np.array([[0, 14, 2, 16], [5, 0, 30, 9], [25, 8, 0, 10], [6, 5, 9, 0]], float)


ALL_OPEN = np.zeros((4, 4))


# Nine arms, so that some have lost too often to be looked at further
NINE = np.random.default_rng(3).integers(0, 7, (9, 9)) * (1.0 - np.eye(9))


@pytest.mark.parametrize("name", ["dts", "dts+"])
@pytest.mark.parametrize("wins", [EARLY, LEADER, NO_CONDORCET, ALL_OPEN, NINE], ids=["early", "leader", "cycle", "open", "nine"])
def test_lazy_draws_have_the_law_of_direct_ones(name, wins):
    counts = []
    for draws in ("lazy", "direct"):
        params, state = beliefs_after(name, wins, draws)
        one = entry(ask_once, params, name)
        rng, slate = words(7), np.zeros(len(wins), np.int64)
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
    rng, slate = words(3), np.zeros(len(wins), np.int64)
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
        rng, slate = words(5), np.zeros(4, np.int64)
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
