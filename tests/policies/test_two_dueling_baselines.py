"""The paper's two-dueling baselines: each against its oracle to the very end, its end, its parameters, its orders."""

import math

import numpy as np
import pytest

import multiduel as md
from multiduel.inputs import BadInput
from multiduel.kernels.elimination import duels_to_verdict, pick, verdict
from multiduel.policies.beat_the_mean import PAC as PacParams
from multiduel.policies.beat_the_mean import comparisons_enough
from tests.naive.follow import follow
from tests.naive.stream import NaiveStream

NAMES = ("doubler", "sparring", "if1", "if2", "savage", "btm", "scb", "ccb", "beat-the-mean-pac")
HORIZON = ("if1", "if2", "savage", "btm")


def linear(K, seed, width=0.48):
    utility = np.random.default_rng(seed).permutation(np.linspace(0.0, 1.0, K))
    return 0.5 + width * (utility[:, None] - utility[None, :])


def tournament(K, seed, strength=0.4):
    """A random tournament: as a rule without a Condorcet winner."""
    signs = np.triu(np.where(np.random.default_rng(seed).random((K, K)) < 0.5, -1.0, 1.0), 1)
    return 0.5 + strength * (signs - signs.T)


class Turning:
    """A world that turns around after so many duels: what was believed comes out wrong."""

    def __init__(self, P, duels):
        self.P, self.duels = P, duels

    def __getitem__(self, pair):
        self.duels -= 1
        return self.P[pair] if self.duels >= 0 else self.P[pair[::-1]]


# The oracles, to the end


@pytest.mark.parametrize("name", ["if1", "if2"])
@pytest.mark.parametrize("constant", [0.05, 0.15])
def test_if_follows_its_oracle_through_new_candidates_to_the_commitment(name, constant):
    histories = [
        follow(name, {"constant": constant}, K, 2, seed, linear(K, seed), 2500, compiled=True)
        for K, seed in ((2, 0), (5, 1), (8, 2), (8, 3))
    ]
    assert all(not naive.W for naive in histories)
    assert max(len(naive.history) for naive in histories) >= 3


def test_if2_prunes_what_if1_keeps():
    duels = {name: md.simulate(name, md.synthetic(24), horizon=200_000, runs=6, seed=3).events for name in ("if1", "if2")}
    assert duels["if2"].sum() < duels["if1"].sum()


@pytest.mark.parametrize("variant", ["condorcet", "copeland"])
@pytest.mark.parametrize("union", ["horizon", "samples"])
def test_savage_follows_its_oracle_to_the_commitment(variant, union):
    for K, seed in ((2, 0), (4, 1), (6, 2)):
        P = linear(K, seed) if variant == "condorcet" else tournament(K, seed)
        naive = follow("savage", {"variant": variant, "union": union, "delta": 0.9}, K, 2, seed, P, 2500, compiled=True)
        assert naive.winner is not None


@pytest.mark.parametrize("params", [{"constant": 0.2}, {"constant": 0.2, "self_duels": False}, {"gamma": 1.05, "constant": 0.15}])
def test_btm_follows_its_oracle_to_the_commitment(params):
    naive = follow("btm", params, 6, 2, 4, linear(6, 4), 3000, compiled=True)
    assert naive.winner is not None
    assert len(naive.dropped) == 5


def test_beat_the_mean_pac_stops_both_ways():
    by_elimination = follow("beat-the-mean-pac", {"constant": 0.2}, 4, 2, 5, linear(4, 5), 1500, compiled=True)
    assert by_elimination.winner is not None
    assert len(by_elimination.A) == 1
    by_number = follow("beat-the-mean-pac", {"epsilon": 0.5, "delta": 0.9}, 2, 2, 6, linear(2, 6, 0.01), 6000, compiled=True)
    assert by_number.winner is not None
    assert len(by_number.A) == 2


def test_comparisons_enough_is_the_smallest_solution():
    for K, epsilon, gamma in ((2, 0.5, 1.0), (48, 0.1, 1.0), (10, 0.2, 1.3)):
        params = PacParams(epsilon=epsilon, gamma=gamma)

        def needed(N, K=K, params=params):
            return 36.0 * params.gamma**6 / params.epsilon**2 * math.log(K**3 * N / params.delta)

        N = comparisons_enough(params, K)
        assert needed(N) <= N
        assert needed(N - 1) > N - 1


@pytest.mark.parametrize("params", [{}, {"carry": True}, {"rule": "fixed"}, {"epsilon": 3.0}])
def test_scb_follows_its_oracle_through_found_arms(params):
    found = []
    for K, seed in ((2, 0), (3, 1), (5, 2)):
        found += follow("scb", params, K, 2, seed, tournament(K, seed, 0.49), 4000, compiled=True).found
    assert len(found) >= 3


def test_every_step_of_the_ccb_listing_is_followed():
    seen = set()
    for K, seed, P in (
        (1, 0, np.full((1, 1), 0.5)),
        (5, 1, linear(5, 1)),
        (5, 2, tournament(5, 2)),
        (7, 3, tournament(7, 3, 0.2)),
        (4, 5, np.full((4, 4), 0.5)),
        (6, 6, linear(6, 6, 0.1)),
        (3, 4, Turning(tournament(3, 4, 0.49), 40)),
        (4, 2, Turning(tournament(4, 2, 0.3), 100)),
        (5, 5, Turning(tournament(5, 5, 0.49), 100)),
    ):
        seen |= set(follow("ccb", {}, K, 2, seed, P, 2500, compiled=True).events)
    assert seen >= {"A", "B", "C", "trim", "3", "4", "5", "self"}


@pytest.mark.parametrize("machine", ["ucb", "kl-ucb"])
@pytest.mark.parametrize("name", ["doubler", "sparring"])
def test_reductions_follow_their_oracles_over_machines(name, machine):
    follow(name, {"machine": machine}, 5, 2, 7, linear(5, 7), 1200, compiled=True)


# The pieces they share


def test_verdict_is_the_confidence_interval():
    for n in (1.0, 7.0, 40.0, 200.0):
        for won in np.linspace(0.0, n, 41):
            for level in (0.1, 1.0, 4.0):
                phat, c = won / n, math.sqrt(level / n)
                expected = 1 if phat - c > 0.5 + 1e-12 else -1 if phat + c < 0.5 - 1e-12 else 0
                close = abs(abs(phat - 0.5) - c) < 1e-9
                assert close or verdict(2.0 * won - n, n, level) == expected


def test_no_verdict_falls_before_the_duels_it_takes():
    for n, net, level in ((0.0, 0.0, 3.0), (10.0, 2.0, 3.0), (100.0, -30.0, 3.0), (5000.0, 11.0, 20.0)):
        rounds = duels_to_verdict(net, n, level)
        assert rounds >= 1
        for k in range(1, rounds):
            assert verdict(net + k, n + k, level) == 0
            assert verdict(net - k, n + k, level) == 0


def test_pick_breaks_ties_at_random_and_draws_only_then():
    values, arms = np.array([3.0, 1.0, 3.0, 9.0, 1.0]), np.array([0, 1, 2, 4, 0])
    words = np.random.SeedSequence(1).generate_state(4, np.uint64)
    seen = [pick(values, arms, 4, 1.0, words) for _ in range(200)]
    assert set(seen) == {0, 2}
    before = words.copy()
    assert pick(values, arms, 2, 1.0, words) == 0
    assert (words == before).all()
    assert {pick(values, arms, 4, -1.0, words) for _ in range(100)} == {1, 4}
    assert NaiveStream(words).argmax([0.0, 1.0]) == 1


# Committing ahead is stepping


@pytest.mark.parametrize("name", ["doubler", "savage", "btm", "ccb", "beat-the-mean-pac"])
def test_committing_is_stepping_to_the_last_bit(name):
    params = {"constant": 0.3} if "btm" in name or "mean" in name else {}
    quick, slow = (
        md.simulate(name, linear(6, 1), horizon=30_000, runs=3, seed=5, commit=commit, **params) for commit in (True, False)
    )
    assert (quick.regret == slow.regret).all()
    assert (quick.recommended == slow.recommended).all()
    if name != "doubler":  # none of its rounds is certain
        assert quick.events.sum() < slow.events.sum()


@pytest.mark.parametrize("name", ["sparring", "if1", "if2", "scb"])
def test_committing_is_stepping_in_distribution(name):
    quick, slow = (
        md.simulate(name, linear(4, 2, 0.3), horizon=8000, runs=400, seed=seed, commit=commit, checkpoints=[500, 2000, 8000])
        for seed, commit in ((11, True), (12, False))
    )
    error = np.hypot(quick.regret.std(axis=0), slow.regret.std(axis=0)) / 20.0
    assert (np.abs(quick.regret.mean(axis=0) - slow.regret.mean(axis=0)) <= 4.5 * error).all()
    assert (quick.regret.std(axis=0) / slow.regret.std(axis=0) < 1.35).all()
    assert (slow.regret.std(axis=0) / quick.regret.std(axis=0) < 1.35).all()
    assert quick.events.sum() < slow.events.sum()


# Orders of magnitude: K = 48, linear, T = 10^6; random play costs 1.96e5


@pytest.mark.parametrize(
    ("name", "runs", "low", "high"),
    [
        ("doubler", 2, 4.0e4, 5.0e4),
        ("sparring", 2, 1.0e4, 2.0e4),
        ("if1", 8, 2.5e4, 5.0e4),
        ("if2", 8, 2.2e4, 4.5e4),
        ("savage", 3, 6.0e4, 7.8e4),
        ("btm", 3, 2.0e4, 4.5e4),
        ("ccb", 3, 0.8e4, 2.0e4),
    ],
)
def test_regret_has_the_published_order(name, runs, low, high):
    result = md.simulate(name, md.synthetic(48), horizon=10**6, runs=runs, seed=1, checkpoints=[10**6])
    assert low < result.regret[:, -1].mean() < high
    assert (result.recommended == 0).all()


def test_scb_and_ccb_find_a_copeland_winner_that_is_no_condorcet_winner():
    # 0 beats 1, 2, 3 and loses to 4, which loses to 1, 2 and 3; 1, 2, 3 go round.
    P = np.full((5, 5), 0.5)
    for i, j in ((0, 1), (0, 2), (0, 3), (4, 0), (1, 4), (2, 4), (3, 4), (1, 2), (2, 3), (3, 1)):
        P[i, j], P[j, i] = 0.9, 0.1
    for name in ("scb", "ccb", "savage"):
        params = {"variant": "copeland"} if name == "savage" else {}
        result = md.simulate(name, P, horizon=60_000, runs=6, seed=2, benchmark="copeland", **params)
        uniform = md.simulate("uniform", P, horizon=60_000, runs=2, seed=2, benchmark="copeland")
        assert (result.recommended == 0).all()
        assert result.regret[:, -1].mean() < 0.25 * uniform.regret[:, -1].mean()


# Parameters


@pytest.mark.parametrize("name", HORIZON)
def test_the_horizon_is_required(name):
    with pytest.raises(BadInput, match="must know how many rounds"):
        md.make(name, n_arms=4)


@pytest.mark.parametrize(
    ("name", "params", "sentence"),
    [
        ("if2", {"horizon": 10, "constant": 0}, "'constant' of 'if2' must be above 0. Got 0."),
        ("btm", {"horizon": 10, "gamma": 0.5}, "'gamma' of 'btm' must be at least 1. Got 0.5."),
        ("savage", {"horizon": 10, "variant": "borda"}, "must be one of condorcet, copeland"),
        ("savage", {"horizon": 10, "delta": 1.0}, "must be below 1"),
        ("scb", {"rule": "kl"}, "must be one of anytime, fixed"),
        ("ccb", {"alpha": 0.5}, "'alpha' of 'ccb' must be above 0.5. Got 0.5."),
        ("beat-the-mean-pac", {"epsilon": 0.0}, "must be above 0"),
        ("sparring", {"machine": "lucb"}, "must be one of ucb, kl-ucb, thompson"),
    ],
)
def test_bad_parameters_are_named(name, params, sentence):
    with pytest.raises(BadInput) as error:
        md.make(name, n_arms=4, **params)
    assert sentence in str(error.value)


def test_smaller_constants_commit_sooner():
    problem = md.synthetic(8)
    for name, tight, loose in (("if2", 1.0, 4.0), ("btm", 0.5, 3.0), ("savage", 0.5, 1e-9)):
        key = "delta" if name == "savage" else "constant"
        events = [
            md.simulate(name, problem, horizon=50_000, runs=3, seed=4, **{key: value}).events.sum() for value in (tight, loose)
        ]
        assert events[0] < events[1]


# Answers that come late, in any order, or never


@pytest.mark.parametrize("name", NAMES)
def test_late_reordered_and_missing_tells(name):
    params = (
        {"horizon": 3000, "constant": 0.3} if name in ("if1", "if2", "btm") else {"horizon": 3000} if name == "savage" else {}
    )
    P, rng = linear(6, 3), np.random.default_rng(8)
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
    P, rng = linear(4, 6), np.random.default_rng(1)
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
