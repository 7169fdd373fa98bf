"""The policy one talks to."""

import json
import math
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import chi2

import multiduel as md
from multiduel.engine.registry.registry import POLICIES
from multiduel.kernels.contract import PolicySpec, ask, init, recommend, tell


def talk(policy, rounds, seed=0):
    """Ask and tell against linear utilities; returns the slates."""
    rng, slates = np.random.default_rng(seed), []
    for _ in range(rounds):
        slate = policy.ask()
        slates.append(slate)
        if len(slate.arms) > 1:
            noisy = {arm: -arm + rng.normal() * 2.0 for arm in slate.arms}
            policy.tell(slate, md.ranking(sorted(slate.arms, key=lambda arm, noisy=noisy: -noisy[arm])))
    return slates


def test_it_finds_the_best_and_says_so():
    policy = md.make("multi-rucb", n_arms=8, slate_size=4, seed=3)
    talk(policy, 400)
    assert policy.recommend() == 0
    assert policy.standings().lines[0].option == 0


class FirstTwo(NamedTuple):
    """A policy that always compares its arms 0 and 1, and bets on 0."""


class Nothing(NamedTuple):
    none: np.ndarray


@init.implement(FirstTwo)
def start(params, n_arms, rng):
    return Nothing(np.zeros(1))


@ask.implement(FirstTwo)
def first_two(params, state, rng, round, limit, slate):
    slate[0], slate[1] = 0, 1
    return 2, 1


@tell.implement(FirstTwo)
def learn_nothing(params, state, rng, round, slate, wins):
    pass


@recommend.implement(FirstTwo)
def bet(params, state):
    return 0


@pytest.fixture
def first_two_arms():
    name = "first-two"
    md.register(PolicySpec(name=name, title=name, params=FirstTwo, slate="two", anytime=True, cite="", assumes="", regret="",
                           use="", parameters={}))  # fmt: skip
    yield name
    del POLICIES[name]


def test_internal_labels_do_not_show(first_two_arms):
    """A policy that looks at arm numbers alone shows every arm equally often over seeds and runs."""
    shown, bets = np.zeros((6, 6)), np.zeros(6)
    for seed in range(300):
        policy = md.make(first_two_arms, n_arms=6, seed=seed)
        shown[policy.ask().arms] += 1
        bets[policy.recommend()] += 1
    simulated = np.bincount(md.simulate(first_two_arms, md.synthetic(6), horizon=5, runs=300).recommended, minlength=6)
    for counts in (shown[~np.eye(6, dtype=bool)], bets, simulated):
        expected = 300 / len(counts)
        spread = ((counts - expected) ** 2 / expected).sum()
        assert spread < chi2.isf(1e-4, len(counts) - 1)


def test_snapshot_is_json_and_restores_bit_for_bit():
    first = md.make("multi-sbm-feedback", n_arms=7, seed=5, machine="kl-ucb")
    talk(first, 50)
    open_slate = first.ask()
    second = md.restore(json.loads(json.dumps(first.snapshot())))
    assert second.snapshot() == first.snapshot() and second.open == first.open
    if len(open_slate.arms) > 1:
        for policy in (first, second):
            policy.tell(open_slate, md.best(open_slate.arms[0]))
    assert talk(first, 100, seed=9) == talk(second, 100, seed=9)
    assert first.snapshot() == second.snapshot()


@pytest.mark.parametrize("break_it", ["format", "state", "rng", "labels", "params"])
def test_a_broken_snapshot_is_refused(break_it):
    saved = md.make("multi-rucb", n_arms=5, slate_size=3, seed=0).snapshot()
    saved[break_it] = {"format": "other", "state": saved["state"][:-1], "rng": [1, 2], "labels": [0, 0, 1, 2, 3]}.get(
        break_it, {"alpha": "much"}
    )
    with pytest.raises(md.BadInput):
        md.restore(saved)


def test_telling_is_once_and_only_what_was_asked():
    policy = md.make("multi-rucb", n_arms=6, slate_size=3, seed=1)
    slate = policy.ask()
    before = policy.snapshot()
    wrong_arms = md.Slate(slate.round, tuple(reversed(slate.arms)))
    refused = (
        (md.Slate(9, slate.arms), md.best(slate.arms[0]), "was never asked"),
        (wrong_arms, md.best(slate.arms[0]), "showed"),
        (slate, md.best(99), "was not in this slate"),
        (slate, -np.ones((3, 3)), "An arm cannot beat itself"),
        (slate, np.triu(np.full((3, 3), math.nan), 1), "finite"),
        ("slate", md.best(0), "takes the Slate"),
    )
    for told, outcome, says in refused:
        with pytest.raises(md.BadInput, match=says):
            policy.tell(told, outcome)
        assert policy.snapshot() == before
    policy.tell(slate, md.best(slate.arms[0]))
    with pytest.raises(md.BadInput, match="is told already"):
        policy.tell(slate, md.best(slate.arms[0]))


def test_wins_given_in_any_memory_order_are_the_same():
    left, right = (md.make("multi-rucb", n_arms=4, slate_size=3, seed=2) for _ in range(2))
    wins = np.triu(np.ones((3, 3)), 1)
    left.tell(left.ask(), wins.T)
    right.tell(right.ask(), np.ascontiguousarray(wins.T))
    assert left.snapshot() | {"fingerprint": ""} == right.snapshot() | {"fingerprint": ""}


def test_open_slates_can_be_forgotten():
    policy = md.make("uniform", n_arms=4, slate_size=2, seed=0)
    slates = [policy.ask() for _ in range(3)]
    policy.forget(slates[1])
    assert policy.open == (slates[0], slates[2]) and policy.round == 3
    with pytest.raises(md.BadInput, match="not open"):
        policy.forget(slates[1])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"n_arms": 0}, "'n_arms' of 'multi-rucb' must be a whole number of at least 1. Got 0."),
        ({"n_arms": 2.5}, "must be a whole number"),
        ({"n_arms": 5, "slate_size": 1}, "'slate_size' of 'multi-rucb' must be a whole number of at least 2. Got 1."),
        ({"n_arms": 5, "alpha": 0.5}, "'alpha' of 'multi-rucb' must be above 0.5. Got 0.5."),
        ({"n_arms": 5, "alpha": "x"}, "must be a number"),
        ({"n_arms": 5, "priority": "sometimes"}, "must be one of coin, always"),
        ({"n_arms": 5, "alhpa": 1.0}, "Did you mean 'alpha'"),
        ({"n_arms": 5, "seed": -1}, "'seed'"),
    ],
)
def test_make_refuses_with_a_sentence(arguments, says):
    with pytest.raises(md.BadInput) as error:
        md.make("multi-rucb", **arguments)
    assert says in str(error.value)


def test_unknown_policies_machines_and_missing_horizons():
    with pytest.raises(md.BadInput, match="Did you mean 'multi-rucb'"):
        md.make("multirucb", n_arms=3)
    with pytest.raises(md.BadInput, match="must be one of ucb, kl-ucb, thompson"):
        md.make("multi-sbm", n_arms=3, machine="lucb")
    with pytest.raises(md.BadInput, match="how many rounds"):
        md.make("if2", n_arms=3)
    assert md.make("if2", n_arms=3, horizon=100).params.horizon == 100


def test_parameters_that_are_not_the_policys_go_to_its_machine():
    policy = md.make("doubler-bai", n_arms=3, machine="kl-lucb", radius="t2", epsilon="0.1", keep_last="yes", seed=0)
    assert policy.params.machine.radius == 2.0 and policy.params.machine.epsilon == 0.1 and policy.params.keep_last is True
    words = policy.snapshot()["params"]
    assert words["machine"] == "kl-lucb" and words["radius"] == "t2" and words["keep_last"] is True
