"""Late answers: each is told when it is due, with the features of its round, and commitments end when one arrives."""

import json
import math

import numpy as np
import pytest

import multiduel as md
from multiduel import BadInput
from multiduel.engine.registry.registry import POLICIES, resolve
from multiduel.engine.simulation.delays import LATENESS, Delay, answer, arrive, delay_of, delayed, read_delay
from multiduel.engine.simulation.play import Opponent, Pace, Record, play
from multiduel.engine.simulation.seeds import run_seeds, streams
from multiduel.engine.simulation.worlds import Matrix, sides
from multiduel.kernels.contract import FOREVER, ask, compare, fix_features, init, meet, recommend, see, tell
from multiduel.kernels.random import chance, place

K, SEATS, HORIZON = 5, 3, 160
PROBLEM = md.synthetic(K)
OURS = sorted(name for name, spec in POLICIES.items() if spec.params.__module__.startswith("multiduel."))
DELAYS = [Delay(0), Delay(1), Delay(7), Delay(mean=6.0), Delay(HORIZON + 40)]


def parts(name, problem=PROBLEM, **words):
    """A policy of a run, ready to be asked: fresh each time."""
    spec = POLICIES[name]
    own = {"dimension": problem.dimension} if hasattr(problem, "dimension") and spec.contextual else {}
    size = 2 if spec.slate == "two" else SEATS
    params = resolve(spec, n_arms=K, slate_size=size, horizon=HORIZON, words={**own, **words})
    labels, rng, key = streams(run_seeds(3, 1)[0], K)
    return params, init(params, K, rng), rng, labels, key


def world_of(problem, labels):
    return problem.world(labels, SEATS) if hasattr(problem, "world") else Matrix(sides(problem.matrix[np.ix_(labels, labels)]))


def by_hand(name, delay, problem=PROBLEM, gaps=None):
    """The oracle: one round after the other, with a list of answers that are under way."""
    params, state, rng, labels, key = parts(name, problem)
    world, contextual = world_of(problem, labels), hasattr(problem, "dimension")
    gaps = np.zeros(K) if contextual else problem.gaps[labels].copy()
    under_way, costs, slate, wins = [], [], np.zeros(K, np.int64), np.zeros((SEATS, SEATS))

    def tell_due(t):
        for due in sorted((each for each in under_way if each[0] == t), key=lambda each: each[1]):
            _, round, arms, told, rows = due
            if contextual:
                last = world.shown.copy()
                see(params, state, arms, rows)
            tell(params, state, rng, round, arms, told)
            if contextual:
                see(params, state, np.arange(K), last)
            under_way.remove(due)

    for t in range(1, HORIZON + 1):
        tell_due(t)
        meet(world, key, t, gaps, params, state)
        n, rounds = ask(params, state, rng, t, 1, slate)
        assert rounds == 1
        costs.append(gaps[slate[:n]].mean())
        if n > 1:
            compare(world, key, t, 1, slate[:n], wins)
            late = delay.rounds
            if delay.mean:
                late = math.floor(math.log(1.0 - chance(place(key, t), LATENESS)) / math.log(1.0 - 1.0 / (1.0 + delay.mean)))
            rows = world.shown[slate[:n]].copy() if contextual else None
            under_way.append((t + 1 + late, t, slate[:n].copy(), wins[:n, :n].copy(), rows))
    tell_due(HORIZON + 1)
    return np.cumsum(costs), recommend(params, state)


def in_the_loop(name, delay, stride, problem=PROBLEM, budget=FOREVER, **words):
    """The loop as plain Python: what compiled code plays, without compiling all policies once more."""
    params, state, rng, labels, key = parts(name, problem, **words)
    marks, clock = np.arange(1, HORIZON + 1), np.array([1, 0, 0, 0])
    record = Record(marks, clock, np.zeros((2, 4)), np.zeros((4, HORIZON)), np.zeros(K, np.int64), np.zeros((SEATS, SEATS)))
    gaps = np.zeros(K) if hasattr(problem, "dimension") else problem.gaps[labels].copy()
    opponent = Opponent(delayed(world_of(problem, labels), delay, SEATS, HORIZON), key, gaps)
    while clock[0] <= HORIZON:
        arm = play(params, state, rng, opponent, Pace(HORIZON, stride, budget, False), record)
    return record.regret[0], arm, int(clock[2])


@pytest.mark.parametrize("name", OURS)
def test_every_policy_is_told_what_is_due_and_nothing_else(name):
    spec = POLICIES[name]
    for delay in DELAYS:
        costs, arm = by_hand(name, delay)
        stepped = in_the_loop(name, delay, 1)
        assert np.allclose(stepped[0], costs, rtol=1e-12) and stepped[1] == arm
        if spec.commits == "exact" and not spec.blocks:  # others may draw in another order, or step where answers are late
            committed = in_the_loop(name, delay, FOREVER)
            assert (committed[0] == stepped[0]).all() and committed[1] == arm and committed[2] <= stepped[2]


@pytest.mark.parametrize("name", ["max-pair-ucb", "colstim", "linear-self-sparring", "max-in-p", "rucb"])
@pytest.mark.parametrize("delay", DELAYS[1:4], ids=str)
def test_late_answers_come_with_the_features_of_their_round(name, delay):
    problem = md.random_contexts(K, dimension=2, items=40, seed=2).measured_by("utility")
    costs, arm = by_hand(name, delay, problem)
    for budget in (1, 7, FOREVER):
        regret, recommended, events = in_the_loop(name, delay, 1, problem, budget)
        assert np.allclose(regret, costs, rtol=1e-12) and recommended == arm and events == HORIZON


def test_fixed_features_stay_when_answers_are_late():
    table, delay = np.random.default_rng(4).normal(size=(K, 2)), Delay(5)
    params, state, rng, labels, key = parts("max-pair-ucb", dimension=2)
    fix_features(params, state, table[labels])
    world, wins = delayed(world_of(PROBLEM, labels), delay, SEATS, HORIZON), np.zeros((SEATS, SEATS))
    before = state.X.copy()
    for t in range(1, 60):
        arrive(world, key, t, np.zeros(K), wins, params, state, rng)
        n, _ = ask(params, state, rng, t, 1, slate := np.zeros(K, np.int64))
        if n > 1:
            answer(world, key, t, 1, slate[:n], wins, params, state, rng)
    assert (before == state.X).all() and (before == table[labels].T).all()


def test_no_delay_is_the_loop_as_ever():
    """A world that keeps answers for no time at all plays what the world itself plays; and 0 is not even such a world."""
    kinds = ("average", "strong", "weak", "slots")
    plain, zero = (md.simulate("multi-rucb", PROBLEM, horizon=2000, slate_size=3, runs=3, **more) for more in ({}, {"delay": 0}))
    assert all((plain.regrets[kind] == zero.regrets[kind]).all() for kind in kinds) and plain.problem == zero.problem
    params, state, rng, labels, key = parts("multi-rucb")
    assert arrive(world_of(PROBLEM, labels), key, 1, np.zeros(K), np.zeros((3, 3)), params, state, rng) == FOREVER


@pytest.mark.parametrize("delay", [25, "geometric:25"])
@pytest.mark.parametrize("name", ["multi-rucb", "scb"])
def test_compiled_runs_agree_with_stepping_and_with_the_oracle(name, delay):
    options = {
        "horizon": HORIZON,
        "slate_size": SEATS,
        "runs": 1,
        "seed": 3,
        "checkpoints": range(1, HORIZON + 1),
        "delay": delay,
    }
    played = md.simulate(name, PROBLEM, **options)
    stepped = md.simulate(name, PROBLEM, **options, commit=False)
    assert all((played.regrets[kind] == stepped.regrets[kind]).all() for kind in played.regrets)
    costs, arm = by_hand(name, read_delay(delay))
    assert (
        np.allclose(played.regret[0], costs, rtol=1e-12) and played.recommended[0] == streams(run_seeds(3, 1)[0], K).labels[arm]
    )


def test_runs_until_a_verdict_end_when_the_answer_arrives():
    """Regret by the verdict is that of all rounds until then: answers that are under way are no longer heard."""
    problem, late = md.synthetic(4), 100
    for delay in (0, late):
        result = md.simulate(
            "rucb", problem, horizon=6000, runs=6, seed=1, until="verdict", checkpoints=range(1, 6001), delay=delay
        )
        found = result.settlement
        assert found.settled.all()
        for run, rounds in enumerate(found.rounds.astype(int)):
            assert found.regret[run] == pytest.approx(result.regret[run, rounds - 1], rel=1e-9)
            steady = np.diff(result.regret[run, rounds - 1 :])
            assert steady == pytest.approx(problem.gaps[found.arm[run]])
            assert found.answers[run] <= rounds - delay


def test_geometric_delays_have_their_mean_and_law():
    world = delayed(Matrix(sides(PROBLEM.matrix)), Delay(mean=4.0), 2, 10**6)
    drawn = np.array([delay_of(world, np.uint64(99), t) for t in range(1, 20_001)])
    p = 1.0 / 5.0
    for k in range(12):
        expected = p * (1.0 - p) ** k
        assert abs((drawn == k).mean() - expected) < 5.0 * math.sqrt(expected / len(drawn))
    assert abs(drawn.mean() - 4.0) < 5.0 * math.sqrt(20.0 / len(drawn)) and drawn.max() <= Delay(mean=4.0).longest
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 5.0 / math.sqrt(len(drawn))


def test_late_answers_cost_regret():
    """The longer they take, the more is paid while nothing is known: a delay of the whole run leaves nothing to learn."""
    problem = md.synthetic(8)
    means = [md.simulate("rucb", problem, horizon=3000, runs=20, delay=delay).final.mean() for delay in (0, 1000, 3000)]
    blind = md.simulate("uniform", problem, horizon=3000, runs=20).final.mean()
    assert means[0] < means[1] < means[2] and means[2] > 0.5 * blind


def test_results_say_how_late_answers_were():
    result = md.simulate("rucb", PROBLEM, horizon=50, runs=2, delay="geometric:2.5")
    assert (
        result.problem["delay"] == "geometric:2.5" and "of mean 2.5" in repr(result) and "delay" in json.dumps(result.to_json())
    )
    with pytest.raises(BadInput, match="same problem"):
        result.compare(md.simulate("rucb", PROBLEM, horizon=50, runs=2))


@pytest.mark.parametrize(
    ("delay", "sentence"),
    [
        (-1, "'delay' of 'simulate' must be a whole number of at least 0. Got -1."),
        (1.5, "'delay' of 'simulate' must be a whole number of at least 0. Got 1.5."),
        (True, "'delay' of 'simulate' must be a whole number of at least 0. Got True."),
        (None, "'delay' of 'simulate' must be a whole number of at least 0. Got None."),
        (200_000, "'delay' of 'simulate' must be at most 100,000. Got 200000."),
        ("soon", "'delay' of 'simulate' must be a number of rounds, or 'geometric:MEAN'. Got 'soon'."),
        ("9" * 5000, "'delay' of 'simulate' must be a number of rounds, or 'geometric:MEAN'."),
        ("geometric:0", "The mean of 'delay' of 'simulate' must be above 0 and at most 100,000. Got 'geometric:0'."),
        ("geometric:nan", "The mean of 'delay' of 'simulate' must be above 0"),
        ("geometric:", "The mean of 'delay' of 'simulate' must be above 0"),
        ([3], "'delay' of 'simulate' must be a whole number of at least 0. Got [3]."),
    ],
)
def test_delays_that_cannot_be_are_refused(delay, sentence):
    with pytest.raises(BadInput) as refused:
        md.simulate("rucb", PROBLEM, horizon=10, runs=1, delay=delay)
    assert str(refused.value).startswith(sentence)


def test_what_does_not_fit_a_delay_is_refused_before_the_first_round():
    with pytest.raises(BadInput, match=r"'closing' of 'rucb' remembers the slates of 1,024 rounds"):
        md.simulate(["uniform", ("rucb", {"closing": True})], PROBLEM, horizon=10**9, runs=1, delay=1024)
    with pytest.raises(BadInput, match=r"must be shorter: up to 3,673,700 slates of 40 arms"):
        md.simulate(["uniform", "multi-rucb"], md.synthetic(40), horizon=10**9, slate_size=40, runs=1, delay="geometric:1e5")


def test_answers_longer_under_way_than_the_run_are_lost():
    world = delayed(Matrix(sides(PROBLEM.matrix)), Delay(90), 2, 20)
    params, state, rng, _, key = parts("rucb")
    answer(world, key, 1, 1, np.array([0, 1]), np.zeros((2, 2)), params, state, rng)
    assert world.queue.tolist() == [FOREVER, 0]
