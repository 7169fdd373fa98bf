"""The simulator: what is played is what is counted, whatever the threads, the strides and the checkpoints."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

import multiduel as md
from multiduel import theory
from multiduel.engine.simulation import runs as module
from multiduel.engine.simulation.play import KINDS
from multiduel.engine.simulation.seeds import run_seeds, streams
from multiduel.engine.simulation.simulate import _checkpoints, _settlement
from multiduel.engine.simulation.worlds import BlockMatrix, Matrix, sides
from multiduel.kernels.contract import ask, compare, init, tell
from multiduel.policies.wrappers import CYCLE, OPEN, WINNER, Watched

PROBLEM = md.synthetic(6)


def by_hand(name, problem, slate_size, horizon, seed, run):
    """The regret of one run, round by round in plain Python, by the formulas of multiduel.theory."""
    from multiduel.engine.registry.registry import find, resolve

    labels, rng, key = streams(run_seeds(seed, run + 1)[run], problem.n_arms)
    params = resolve(find(name), n_arms=problem.n_arms, slate_size=slate_size, horizon=horizon)
    state = init(params, problem.n_arms, rng)
    world = Matrix(sides(np.array(problem.matrix)[np.ix_(labels, labels)]))
    slate, wins = np.zeros(problem.n_arms, np.int64), np.zeros((slate_size, slate_size))
    gaps, total = problem.gaps[labels], np.zeros((4, horizon))
    for t in range(1, horizon + 1):
        n, rounds = ask(params, state, rng, t, 1, slate)
        assert rounds == 1
        arms = slate[:n].tolist()
        each = [f(gaps, arms) for f in (theory.average_regret, theory.strong_regret, theory.weak_regret)]
        total[:, t - 1] = [*each, theory.slot_average_regret(gaps, arms)]
        if n > 1:
            compare(world, key, t, 1, slate[:n], wins)
            tell(params, state, rng, t, slate[:n], wins)
    return total.cumsum(axis=1)


@pytest.mark.parametrize(("name", "slate_size"), [("multi-rucb", 3), ("doubler-bai", 2), ("uniform", 4)])
def test_regret_is_the_sum_of_the_slates_gaps(name, slate_size):
    result = md.simulate(name, PROBLEM, slate_size=slate_size, horizon=300, runs=3, seed=4, checkpoints=range(1, 301))
    for run in range(3):
        expected = by_hand(name, PROBLEM, slate_size, 300, 4, run)
        for kind, values in zip(KINDS, expected, strict=True):
            np.testing.assert_allclose(result.regrets[kind][run], values, rtol=1e-12, atol=1e-12)


def test_checkpoints_are_points_of_the_same_curve():
    full = md.simulate("multi-rucb", PROBLEM, slate_size=3, horizon=2000, runs=4, checkpoints=range(1, 2001))
    some = md.simulate("multi-rucb", PROBLEM, slate_size=3, horizon=2000, runs=4)
    assert (some.regret == full.regret[:, some.checkpoints - 1]).all()
    assert some.checkpoints[0] == 1 and some.checkpoints[-1] == 2000 and len(some.checkpoints) <= 200


def test_threads_do_not_matter_and_runs_are_a_prefix():
    one = md.simulate("multi-sbm-feedback", PROBLEM, horizon=3000, runs=5, threads=1)
    two = md.simulate("multi-sbm-feedback", PROBLEM, horizon=3000, runs=5, threads=2)
    fewer = md.simulate("multi-sbm-feedback", PROBLEM, horizon=3000, runs=2)
    assert (one.regret == two.regret).all() and (one.regret[:2] == fewer.regret).all()


def test_budget_and_strides_do_not_matter(monkeypatch):
    whole = md.simulate("multi-rucb", PROBLEM, slate_size=3, horizon=20_000, runs=3)
    stepped = md.simulate("multi-rucb", PROBLEM, slate_size=3, horizon=20_000, runs=3, commit=False)
    monkeypatch.setattr(module, "next_budget", lambda budget, seconds: 7)
    pieces = md.simulate("multi-rucb", PROBLEM, slate_size=3, horizon=20_000, runs=3)
    for other in (stepped, pieces):
        for kind in KINDS:
            assert (whole.regrets[kind] == other.regrets[kind]).all()
    assert (stepped.events == 20_000).all() and (whole.events < 5_000).all()


def test_very_long_horizons_cost_little():
    short = md.simulate("multi-rucb", PROBLEM, slate_size=3, horizon=10**6, runs=3)
    long = md.simulate("multi-rucb", PROBLEM, slate_size=3, horizon=2**62, runs=3)
    assert long.events.sum() < 5 * short.events.sum()  # ln 2^62 is 3 times ln 10^6
    assert np.isfinite(long.regret).all() and (np.diff(long.regret) >= 0).all()
    assert (long.recommended == 0).all()


def test_policies_share_the_world_and_the_labels():
    """The same policy under two names of parameters that change nothing gives the same runs; seeds differ in all."""
    a = md.simulate("multi-rucb", PROBLEM, slate_size=6, horizon=500, runs=2, priority="coin")
    b = md.simulate("multi-rucb", PROBLEM, slate_size=6, horizon=500, runs=2, priority="always")  # never |C| > m
    other = md.simulate("multi-rucb", PROBLEM, slate_size=6, horizon=500, runs=2, seed=1)
    assert (a.regret == b.regret).all() and not (a.final == other.final).any()


def outcomes(world, key, round, *slate):
    """{(i, j): 1 if i beat j} of one round."""
    n = len(slate)
    wins = np.zeros((n, n))
    compare(world, key, round, 1, np.array(slate), wins)
    assert (wins + wins.T == 1 - np.eye(n)).all()
    return {(i, j): wins[a, b] for a, i in enumerate(slate) for b, j in enumerate(slate) if a != b}


def test_a_pair_has_one_outcome_a_round_whoever_sits_where():
    P, key = np.array(md.synthetic(9).matrix), np.uint64(77)
    for world in (Matrix(sides(P)), BlockMatrix(sides(P), np.zeros(4, np.uint64))):
        for t in range(1, 200):
            everyone = outcomes(world, key, t, *range(9))
            for slate in ((3, 7), (7, 3), (8, 0, 3, 7), (5, 2)):
                assert outcomes(world, key, t, *slate).items() <= everyone.items()
    rounds = np.zeros((3, 3))
    compare(Matrix(sides(P)), key, 5, 40, np.array([6, 1, 4]), rounds)  # 40 rounds at once are the 40 rounds
    each = [outcomes(Matrix(sides(P)), key, t, 1, 4, 6) for t in range(5, 45)]
    assert rounds[0, 1] == sum(one[6, 1] for one in each) and rounds[2, 1] == sum(one[4, 1] for one in each)


def test_coins_are_fair_to_the_matrix_and_independent():
    """Every pair's frequency, from both sides, and pairs of pairs that share an arm: within 4.5 standard errors."""
    P, key, T = np.array(md.synthetic(5, link="logit").matrix), np.uint64(2**63 + 11), 20_000
    world, slate, wins = Matrix(sides(P)), np.array([4, 0, 2, 1, 3]), np.zeros((5, 5))
    seen = np.zeros((T, 5, 5))
    for t in range(T):
        compare(world, key, t + 1, 1, slate, wins)
        seen[t][np.ix_(slate, slate)] = wins
    error = np.sqrt(P * (1 - P) / T) + np.eye(5)
    assert (np.abs(seen.mean(axis=0) - P * (1 - np.eye(5))) < 4.5 * error + np.eye(5)).all()
    upper = seen[:, *np.triu_indices(5, 1)]
    correlation = np.corrcoef(upper.T) - np.eye(10)
    assert np.abs(correlation).max() < 4.5 / np.sqrt(T)
    assert np.abs([np.corrcoef(upper[1:, k], upper[:-1, k])[0, 1] for k in range(10)]).max() < 4.5 / np.sqrt(T)


@pytest.mark.parametrize("name", ["if1", "if2", "btm", "savage", "rmed2fh"])
def test_reset_horizon_is_one_run_per_point(name):
    """Also of policies that go on from the run before, while nothing that they did depends on the end."""
    marks = [1, 50, 400, 1000, 3000]
    curve = md.simulate(name, PROBLEM, horizon=3000, runs=3, checkpoints=marks, reset_horizon=True)
    alone = [md.simulate(name, PROBLEM, horizon=mark, runs=3, checkpoints=[mark]) for mark in marks]
    for k, point in enumerate(alone):
        for kind in KINDS:
            assert (curve.regrets[kind][:, k] == point.regrets[kind][:, 0]).all()
    assert (curve.recommended == alone[-1].recommended).all()
    went_on = curve.events < sum(point.events for point in alone)
    assert went_on.all() if name != "rmed2fh" else not went_on.any()


def test_without_reset_horizon_there_is_one_end_and_who_needs_none_is_not_touched_by_it():
    options = {"horizon": 1000, "runs": 3, "checkpoints": [50, 400, 1000], "threads": 1}
    one_end, each_its_own = (md.simulate("rmed2fh", PROBLEM, reset_horizon=reset, **options) for reset in (False, True))
    assert (one_end.final == each_its_own.final).all() and (one_end.regret[:, 0] != each_its_own.regret[:, 0]).any()
    usual, reset = (md.simulate("multi-rucb", PROBLEM, reset_horizon=reset, **options) for reset in (False, True))
    assert (usual.regret == reset.regret).all() and (usual.events == reset.events).all()


def test_arms_are_recommended_by_the_users_numbers():
    problem = md.from_utilities([0.0, 0.2, 0.1, 3.0], link="logit")
    assert (md.simulate("multi-rucb", problem, horizon=2000, runs=5, threads=1).recommended == 3).all()


def test_the_labels_the_policys_stream_and_the_worlds_key_know_nothing_of_each_other():
    drawn = [streams(seed, 2) for seed in run_seeds(3, 500)]
    columns = [[labels[0], *policy, world] for labels, policy, world in drawn]
    correlation = np.corrcoef(np.array(columns, float).T) - np.eye(6)
    assert np.abs(correlation).max() < 4.5 / np.sqrt(500)


def test_reset_horizon_tells_exactly_the_checkpoint_and_ends_there(monkeypatch):
    marks, told, ends = [1, 2, 50, 51], [], []
    real_init, real_loop = module.init, module._loop

    def init(params, *rest):
        told.append(params.horizon)
        return real_init(params, *rest)

    def loop(plan):
        ready = real_loop(plan)

        class Watched:
            prepare = staticmethod(ready.prepare)

            @staticmethod
            def call(*args):
                arm = ready.call(*args)
                ends.append((args[-2].horizon, int(args[-1].clock[module.ROUND])))
                return arm

        return Watched

    monkeypatch.setattr(module, "init", init)
    monkeypatch.setattr(module, "_loop", loop)
    md.simulate("rmed2fh", PROBLEM, horizon=60, runs=1, checkpoints=marks, reset_horizon=True)
    assert told[1:] == marks  # the first only prepares the code
    assert [mark for mark, played in ends if played > mark] == marks
    assert all(played == mark + 1 for mark, played in ends if played > mark)


def test_benchmarks_measure_against_their_own_winner():
    cycle = md.random_tournament(5, seed=3, condorcet=False)
    with pytest.raises(md.BadInput, match="Condorcet"):
        md.simulate("uniform", cycle, horizon=10, runs=1)
    result = md.simulate("uniform", cycle, horizon=1000, runs=20, slate_size=2, benchmark="copeland")
    expected = cycle.benchmark_gaps("copeland").mean() * 1000
    assert abs(result.mean[-1] - expected) < 5 * result.std[-1] / np.sqrt(20)


def test_result_statistics():
    result = md.simulate("uniform", PROBLEM, horizon=100, runs=10)
    low, high = result.interval(0.9)
    assert (low <= result.mean).all() and (result.mean <= high).all() and (high - low)[-1] > 0
    assert np.allclose(result.std**2, result.variance) and result.quantile(0.5).shape == result.checkpoints.shape
    for confidence in (-0.5, 0.0, 1.0, math.nan):
        with pytest.raises(md.BadInput, match="'confidence'"):
            result.interval(confidence)
    described = result.to_json()
    asked = {"policy", "params", "problem", "slate_size", "horizon", "runs", "checkpoints", "mean", "std", "final", "seconds"}
    assert asked | {"compile_seconds"} <= set(described) and len(described["final"]) == 10


def test_ctrl_c_stops_all_threads_and_leaves_nothing(no_thread_stays):
    def interrupt(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        md.simulate("multi-sbm", md.synthetic(48), horizon=10**10, runs=4, progress=interrupt)


def test_progress_rises_to_one():
    seen = []
    md.simulate("multi-sbm", md.synthetic(24), horizon=200_000, runs=2, progress=seen.append)
    assert seen[-1] == 1.0 and all(a <= b for a, b in itertools.pairwise(seen))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"horizon": 0}, "'horizon' of 'simulate' must be a whole number of at least 1"),
        ({"horizon": 2**63}, "'horizon' of 'simulate' must be at most 4,611,686,018,427,387,904"),
        ({"horizon": 10**400}, "'horizon' of 'simulate' must be at most"),
        ({"horizon": math.inf}, "'horizon' of 'simulate' must be a whole number"),
        ({"horizon": 10, "runs": 0}, "'runs'"),
        ({"horizon": 10, "runs": 10**8 + 1}, "'runs' of 'simulate' must be at most 100,000,000. Got 100000001"),
        ({"horizon": 10, "checkpoints": 10**5 + 1}, "'checkpoints' of 'simulate' must be at most 100,000. Got 100001"),
        ({"horizon": 10, "checkpoints": 3.5}, "'checkpoints' of 'simulate' must be a list of rounds. Got 3.5"),
        ({"horizon": 10, "threads": 0}, "'threads'"),
        ({"horizon": 10, "checkpoints": []}, "ascending"),
        ({"horizon": 10, "checkpoints": [5, 5]}, "ascending"),
        ({"horizon": 10, "checkpoints": [5, 11]}, "must not pass the horizon, 10. Got 11"),
        ({"horizon": 10, "benchmark": "best"}, "best"),
        ({"horizon": 10, "alpha": 3}, "no parameter 'alpha'"),
        ({"horizon": 10, "verdict_error": 1.0}, "'verdict_error' of 'simulate' must lie between 0 and 1. Got 1.0"),
        ({"horizon": 10, "until": "verdict", "reset_horizon": True}, "'until' and 'reset_horizon' of 'simulate' cannot"),
    ],
)
def test_bad_arguments(arguments, says):
    with pytest.raises(md.BadInput, match=says):
        md.simulate("uniform", PROBLEM, **arguments)


def test_what_is_not_said():
    result = md.simulate("uniform", PROBLEM, horizon=3, until="verdict")
    assert result.runs == len(result.final) == 50 and result.settlement.error == 0.05 and result.slate_size == 2
    for horizon in (3, 10**6, 2**62):
        assert _checkpoints(None, horizon).tolist() == _checkpoints(200, horizon).tolist()
        assert _checkpoints(1, horizon).tolist() == [horizon] and _checkpoints(2, horizon).tolist() == [1, horizon]


def test_a_two_dueling_policy_compares_two_whatever_is_said():
    options = {"horizon": 30, "runs": 2, "threads": 1}
    two, four = (md.simulate("rucb", PROBLEM, slate_size=size, **options) for size in (2, 4))
    assert two.slate_size == four.slate_size == 2 and (two.regret == four.regret).all()
    assert md.simulate("uniform", PROBLEM, slate_size=4, **options).slate_size == 4


def settlement(winner):
    """Of four runs of 10 rounds that ended with a regret of 8: open, then in round 4 with winner 0, winner 1 and a cycle."""
    settled = np.array([[0, 0, 0, OPEN], [4, 3, 0, WINNER], [4, 3, 1, WINNER], [4, 3, 1, CYCLE]])
    problem = SimpleNamespace(winner=winner) if winner is not None else SimpleNamespace()
    plan = SimpleNamespace(horizon=10, gaps=np.array([0.0, 0.5]), problem=problem, params=Watched(None, 0.07, False))
    regret = np.zeros((4, 4, 2))
    regret[:, 0, -1] = 8.0
    return _settlement(plan, SimpleNamespace(settled=settled, regret=regret))


def test_a_settlement_counts_until_the_verdict():
    settled = settlement(winner=0)
    assert settled.kind == ("open", "winner", "winner", "cycle") and settled.error == 0.07
    assert settled.rounds.tolist() == [math.inf, 4.0, 4.0, 4.0] and settled.answers.tolist() == [math.inf, 3.0, 3.0, 3.0]
    assert settled.regret.tolist() == [8.0, 8.0, 8.0 - 6 * 0.5, 8.0 - 6 * 0.5], "six rounds with the arm in use came after it"
    assert settled.settled.tolist() == [False, True, True, True] and settled.arm.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("winner", "wrong"),
    [(0, [False, False, True, True]), (1, [False, True, False, True]), (None, [False, True, True, False])],
)
def test_a_verdict_is_wrong_that_names_another_winner_or_none_where_there_is_one(winner, wrong):
    assert settlement(winner).wrong.tolist() == wrong


def test_regret_until_the_verdict_is_known_where_the_end_is_no_checkpoint():
    options = {"horizon": 50, "runs": 3, "until": "verdict"}
    some = md.simulate("uniform", PROBLEM, checkpoints=[2, 5], **options)
    assert (some.settlement.regret == md.simulate("uniform", PROBLEM, **options).final).all(), "it is open"
    assert some.checkpoints.tolist() == [2, 5] and some.regret.shape == (3, 2)


def test_a_matrix_will_do_and_a_wrong_one_is_refused():
    assert md.simulate("uniform", [[0.5, 0.9], [0.1, 0.5]], horizon=10, runs=1).final[0] == pytest.approx(2.0)
    with pytest.raises(md.BadInput, match=r"0\.2"):
        md.simulate("uniform", [[0.5, 0.9], [0.2, 0.5]], horizon=10, runs=1)
