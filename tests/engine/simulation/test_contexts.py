"""Problems whose rounds differ: what they show, what they answer, what they cost, and what is refused."""

import math

import numpy as np
import pytest

import multiduel as md
from multiduel import BadInput
from multiduel.engine.simulation.seeds import run_seeds, streams
from multiduel.kernels.contract import compare, init, meet
from multiduel.policies.uniform import Params

ITEMS = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [-1.0, 0.2]])


def met(problem, rounds, seats=None, labels=None, slate=None):
    """What the world shows and answers, round by round: rows, gaps, wins of the slate."""
    K = problem.n_arms
    world = problem.world(np.arange(K) if labels is None else labels, seats or K)
    params = Params(slate_size=2)
    state, key = init(params, K, np.arange(1, 5, dtype=np.uint64)), np.uint64(12345)
    slate = np.arange(K) if slate is None else slate
    for t in range(1, rounds + 1):
        gaps, wins = np.zeros(K), np.full((len(slate), len(slate)), 9.0)
        meet(world, key, t, gaps, params, state)
        compare(world, key, t, 1, slate, wins)
        yield world.shown.copy(), gaps, wins, world.u.copy()


def test_each_arm_is_a_random_item_with_its_utility_and_its_gap():
    problem = md.contexts(ITEMS, n_arms=3, theta=[1.0, 2.0]).measured_by("utility")
    seen = np.zeros((3, 4))
    for shown, gaps, _, u in met(problem, 2000):
        for k, row in enumerate(shown):
            item = int(np.flatnonzero((row == ITEMS).all(axis=1))[0])
            seen[k, item] += 1
            assert u[k] == ITEMS[item] @ [1.0, 2.0]
        assert np.allclose(gaps, u.max() - u) and gaps.min() == 0.0
    assert (np.abs(seen - 500) < 5 * math.sqrt(2000 * 0.25 * 0.75)).all()


def test_condorcet_gaps_are_chances():
    for link, chance in (("logit", lambda x: 1 / (1 + np.exp(-x))), ("linear", lambda x: np.clip(0.5 + x / 2, 0, 1))):
        problem = md.contexts(ITEMS, n_arms=3, theta=[1.0, 2.0], link=link)
        for _, gaps, _, u in met(problem, 20):
            assert np.allclose(gaps, chance(u.max() - u) - 0.5)


@pytest.mark.parametrize(("link", "answers"), [("logit", "coins"), ("linear", "coins"), ("logit", "rankings")])
def test_answers_have_the_chances_of_the_utilities(link, answers):
    """Utilities are fixed, so that chances can be counted; numbers of arms and places in the slate must not matter."""
    u = np.array([0.0, 0.6, 0.3])
    problem = md.context_arms([[1.0]], n_arms=3, utilities=[u], link=link, answers=answers)
    for slate in (np.array([0, 1, 2]), np.array([2, 0, 1])):
        total = sum(wins for _, _, wins, _ in met(problem, 4000, slate=slate))
        assert not total.diagonal().any() and (total + total.T)[~np.eye(3, dtype=bool)].tolist() == [4000.0] * 6
        apart = u[slate][:, None] - u[slate]
        P = 1 / (1 + np.exp(-apart)) if link == "logit" else 0.5 + apart / 2
        assert (np.abs(total / 4000 - P)[~np.eye(3, dtype=bool)] < 5 * 0.5 / math.sqrt(4000)).all()


def test_rankings_are_transitive_and_follow_plackett_and_luce():
    u = np.array([0.0, 1.0, 0.5])
    problem = md.context_arms([[1.0]], n_arms=3, utilities=[u], answers="rankings")
    first = np.zeros(3)
    for _, _, wins, _ in met(problem, 4000):
        assert sorted(wins.sum(axis=1).tolist()) == [0.0, 1.0, 2.0]
        first[int(wins.sum(axis=1).argmax())] += 1
    expected = np.exp(u) / np.exp(u).sum()
    assert (np.abs(first / 4000 - expected) < 5 * 0.5 / math.sqrt(4000)).all()


def test_false_answers_are_turned_round_and_end():
    problem = md.random_contexts(4, dimension=2, items=50)
    honest = [wins for _, _, wins, _ in met(problem, 20)]
    false = [wins for _, _, wins, _ in met(problem.corrupted(12), 20)]
    for t, (one, other) in enumerate(zip(honest, false, strict=True), 1):
        assert (other == (one.T if t <= 12 else one)).all()


def test_context_arms_are_products_in_blocks():
    contexts, arms = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0, 5.0], [0.0, 1.0, 6.0]])
    problem = md.context_arms(contexts, arms, theta=np.arange(6.0))
    for shown, _, _, u in met(problem, 30):
        context = contexts[0] if shown[0, 0] == 1.0 else contexts[1]
        assert (shown == [np.outer(arm, context).ravel() for arm in arms]).all()
        assert np.allclose(u, shown @ np.arange(6.0))
    own = md.context_arms(contexts, n_arms=2, utilities=[[1.0, 2.0], [3.0, 4.0]])
    assert own.rows[:2].tolist() == [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0]]


def test_rounds_are_the_same_for_every_policy_and_can_be_replayed():
    problem = md.random_contexts(6, dimension=3, items=200).measured_by("utility")
    result = md.simulate("uniform", problem, horizon=50, runs=1, seed=4, checkpoints=range(1, 51), benchmark="utility")
    drawn = streams(run_seeds(4, 1)[0], 6)
    labels = drawn.labels
    world = problem.world(labels, 2)
    params = Params(slate_size=2)
    state = init(params, 6, drawn.policy)
    for t in range(1, 51):
        gaps = np.zeros(6)
        meet(world, drawn.world, t, gaps, params, state)
        items = problem.items_of(drawn.world, t)
        assert (world.shown == problem.rows[items][labels]).all()
        assert np.allclose(gaps, problem.utilities[items].max() - problem.utilities[items][labels])
    rates = np.diff(result.regret[0], prepend=0.0)
    assert (rates >= 0.0).all() and rates.max() > 0.0


def test_all_kinds_of_regret_are_ordered_and_none_is_committed_to():
    problem = md.random_contexts(6, dimension=3, items=200)
    result = md.simulate("linear-self-sparring", problem, horizon=300, slate_size=3, runs=3, checkpoints=[300])
    weak, average, strong = (result.regrets[kind][:, 0] for kind in ("weak", "average", "strong"))
    assert (weak <= average).all() and (average <= strong).all() and (result.events == 300).all()
    committing = md.simulate("rucb", problem, horizon=300, runs=2)  # it would commit to one arm for thousands of rounds
    assert (committing.events == 300).all()


def test_linear_policies_learn_where_others_cannot():
    problem = md.random_contexts(10, dimension=5)
    results = md.simulate(["colstim", "max-pair-ucb", "linear-self-sparring", "rucb", "uniform"], problem, horizon=3000, runs=5)
    colstim, pair, sparring, rucb, uniform = (float(result.mean[-1]) for result in results)
    assert max(colstim, pair, sparring) < 0.25 * uniform and rucb > 0.8 * uniform


def test_misspecified_utilities_are_taken_as_they_are():
    problem = md.contexts(ITEMS, n_arms=3, utilities=[3.0, -1.0, 0.0, 7.0])
    assert problem.utilities.tolist() == [3.0, -1.0, 0.0, 7.0]


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: md.contexts(ITEMS, n_arms=3), "either 'theta'"),
        (lambda: md.contexts(ITEMS, n_arms=3, theta=[1.0], utilities=[1.0]), "not both"),
        (lambda: md.contexts(ITEMS, n_arms=3, theta=[1.0]), "must have 2 numbers"),
        (lambda: md.contexts(ITEMS, n_arms=3, utilities=[1.0]), "a number for each row"),
        (lambda: md.contexts([[np.nan]], n_arms=3, theta=[1.0]), "from -1,000,000"),
        (lambda: md.contexts([1.0], n_arms=3, theta=[1.0]), "2 dimensions"),
        (lambda: md.contexts(ITEMS, n_arms=0, theta=[1.0, 1.0]), "n_arms"),
        (lambda: md.contexts(ITEMS, n_arms=3, theta=[1.0, 1.0], link="probit"), "link"),
        (lambda: md.contexts(ITEMS, n_arms=3, theta=[1.0, 1.0], link="linear", answers="rankings"), "logit link only"),
        (lambda: md.context_arms(ITEMS, theta=[1.0]), "either 'arms'"),
        (lambda: md.context_arms(np.ones((2000, 100)), n_arms=100, theta=[1.0]), "at most 100,000,000"),
        (lambda: md.random_contexts(5, dimension=0), "dimension"),
        (lambda: md.random_contexts(5, law="cauchy"), "law"),
        (lambda: md.random_contexts(5, scale=math.inf), "scale"),
        (lambda: md.simulate("colstim", PROBLEM, horizon=10, until="verdict"), "another option in every round"),
        (lambda: md.simulate("rucb", PROBLEM, horizon=10, closing=True), "'closing' of 'rucb'"),
        (lambda: md.simulate("colstim", PROBLEM, horizon=10, features=np.ones((4, 3))), "come from the problem"),
        (lambda: md.simulate("colstim", PROBLEM, horizon=10, dimension=7), "must be 3, as many as the problem"),
        (lambda: md.simulate("colstim", md.synthetic(4), horizon=10, dimension=7), "bring features in every round"),
        (lambda: md.simulate("colstim", PROBLEM, horizon=10, benchmark="borda"), "condorcet or utility"),
        (lambda: PROBLEM.corrupted(-1), "rounds"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(act, words):
    with pytest.raises(BadInput, match=words):
        act()


PROBLEM = md.random_contexts(4, dimension=3, items=20)
