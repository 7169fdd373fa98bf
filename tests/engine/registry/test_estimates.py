"""Small things of the engine that are easily got wrong unnoticed: logs as problems, modules behind a policy, no bar."""

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.registry.fingerprints import modules_behind
from multiduel.inference import Tally, pair_intervals


def test_a_log_as_a_problem_number_by_number():
    above = np.array([[0.0, 6.0, 0.0], [2.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    ties = np.array([[0.0, 4.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    problem = md.estimate(Tally.of(above, ties, answers=13), alpha=0.1)
    assert problem.label == "13 answers, K = 3" and problem.matrix[0, 1] == pytest.approx(8 / 12)
    assert problem.matrix[1, 2] == 1.0, "a single answer counts"
    low, high = pair_intervals(above, ties, error=0.1 / 3)  # three pairs share the error
    assert problem.low[0, 1] == low[0, 1] and problem.high[0, 1] == high[0, 1]
    assert problem.low[0, 2] == 0.0 and problem.high[0, 2] == 1.0 and problem.matrix[0, 2] == 0.5
    assert problem.judgements[0, 1] == 12.0
    named = md.estimate(Tally.of(above), names=["a", "b", "c"], label="tea")
    assert named.label == "tea" and named.names == ("a", "b", "c")
    for alpha in (0.0, 1.0):
        with pytest.raises(md.BadInput, match="'alpha' of 'estimate' must lie between 0 and 1"):
            md.estimate(Tally.of(above), alpha=alpha)


def test_an_estimate_of_votes_keeps_names_and_counts_answers():
    votes = md.read_votes(["tea > milk > water", "5: milk > tea = water"])
    problem = md.estimate(votes)
    assert problem.names == ("milk", "tea", "water") and problem.label == "6 answers, K = 3"
    assert problem.judgements[0, 1] == 6.0 and problem.matrix[0, 1] == pytest.approx(5 / 6)


def test_a_policy_counts_answers_not_duels():
    policy = md.make("uniform", n_arms=5, slate_size=3, seed=1)
    for k in range(10):
        slate = policy.ask()
        policy.tell(slate, md.ranking(slate.arms) if k else np.zeros((3, 3)))  # one that says nothing
    policy.observe((0, 1), md.best(0))
    assert policy.tally.answers == 10 and md.estimate(policy.tally).label == "10 answers, K = 5"
    assert md.restore(policy.snapshot()).tally.answers == 10
    early = {name: value for name, value in policy.snapshot().items() if name != "answers"}
    restored = md.restore(early).tally
    assert restored.answers == restored.showings.max(), "of a snapshot of an early version: the least that it can be"
    assert md.restore(md.restore(early).snapshot()).tally.answers == restored.answers
    with pytest.raises(md.BadInput, match="answers"):
        md.restore(policy.snapshot() | {"answers": -1})


def test_one_pair_has_the_error_for_itself_and_it_is_a_twentieth():
    above = np.array([[0.0, 6.0], [2.0, 0.0]])
    problem = md.estimate(Tally.of(above))
    low, high = pair_intervals(above, np.zeros((2, 2)), error=0.05)
    assert (problem.low[0, 1], problem.high[0, 1]) == (low[0, 1], high[0, 1])


def test_the_modules_behind_a_policy_are_its_own_and_its_machines():
    assert modules_behind("rucb") == ["multiduel.policies.rucb"]
    behind = modules_behind("sparring", "doubler-bai")
    assert {"multiduel.machines.ucb", "multiduel.machines.kl_ucb", "multiduel.machines.thompson"} <= set(behind)
    assert "multiduel.machines.lucb" in behind
    assert "multiduel.machines.lucb" not in modules_behind("sparring")
