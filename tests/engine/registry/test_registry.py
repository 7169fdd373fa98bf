"""Policies by name, and their parameters from words. Nothing here is played, so nothing is compiled."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.registry import registry
from multiduel.kernels.contract import FOREVER, MachineSpec, Parameter, PolicySpec
from multiduel.machines import lucb, ucb
from multiduel.policies import challengers
from multiduel.policies.wrappers import Closing


class Mine(NamedTuple):
    machine: Any = ucb.Params()
    alpha: float = 1.0
    slow: bool = False


class Stranger(NamedTuple):
    alpha: float = 1.0


Stranger.__module__ = "somebody.else"
MACHINE = Parameter(meaning="a machine", machines="bandit")
ABOUT = {"cite": "", "slate": "two", "assumes": "", "regret": "", "use": ""}
CARD = PolicySpec(name="mine", title="Mine", params=Mine, parameters={"machine": MACHINE}, **ABOUT)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(registry, "POLICIES", dict(registry.POLICIES))
    monkeypatch.setattr(registry, "MACHINES", dict(registry.MACHINES))


def resolved(name, **words):
    return registry.resolve(registry.find(name), n_arms=5, words=words)


def test_a_card_is_known_by_its_name_once_it_was_found():
    assert registry.find(CARD) is CARD and registry.find("mine") is CARD
    machine = MachineSpec(name="my-machine", title="", params=Stranger, cite="", kind="bandit")
    registry.register(machine)
    assert registry.MACHINES["my-machine"] is machine and "my-machine" not in registry.POLICIES


def test_a_name_belongs_to_the_module_that_took_it_first():
    registry.register(CARD)
    with pytest.raises(md.BadInput, match=r"The name 'mine' is taken\. Give your PolicySpec another one"):
        registry.register(dataclasses.replace(CARD, params=Stranger))
    edited = dataclasses.replace(CARD, params=type("Mine", (Mine,), {}))
    registry.register(edited)
    assert registry.find("mine") is edited, "a later version of the same module"
    ours = registry.POLICIES["btm"]
    with pytest.raises(md.BadInput, match="The name 'btm' is taken"):
        registry.register(dataclasses.replace(ours, params=registry.POLICIES["beat-the-mean-pac"].params))
    assert registry.find("btm") is ours


class Offered:
    """An entry point of an installed package."""

    def __init__(self, card):
        self.name, self.card = card.name, card

    def load(self):
        return self.card


def test_packages_that_offer_a_name_that_is_taken_do_no_harm(monkeypatch):
    rucb, machine = registry.POLICIES["rucb"], registry.MACHINES["ucb"]
    theirs = [dataclasses.replace(card, params=Stranger) for card in (rucb, machine)]
    asked = []

    def points(group):
        asked.append(group)
        return [Offered(card) for card in (*theirs, CARD)]

    monkeypatch.setattr(importlib.metadata, "entry_points", points)
    registry._installed.cache_clear()
    try:
        assert registry.find("rucb", "typed") is rucb and not asked, "packages are loaded only for a name that is not known here"
        with pytest.raises(md.BadInput, match="There is no registered policy 'mine'"):
            registry.find("mine")
        assert not asked, "a name in data loads none"
        assert registry.find("mine", "typed") is CARD and asked
        assert registry.known_policies()["rucb"] is rucb and registry.MACHINES["ucb"] is machine
    finally:
        registry._installed.cache_clear()


def test_slates_hold_two_arms_unless_more_are_asked_for():
    spec = registry.find("uniform")
    assert registry.resolve(spec, n_arms=5).slate_size == 2
    assert registry.resolve(spec, n_arms=5, slate_size=9).slate_size == 5
    with pytest.raises(md.BadInput, match=r"'slate_size' of 'uniform' must be at least 2\. Got 1\."):
        registry.resolve(spec, n_arms=5, slate_size=1)


@pytest.mark.parametrize("word", [True, "true", "Yes"])
def test_closing_has_the_seats_of_the_policy_and_the_error_of_the_challengers(word):
    def closed(name, n_arms, slate_size):
        params = registry.resolve(registry.find(name), n_arms=n_arms, slate_size=slate_size, words={"closing": word})
        assert isinstance(params, Closing) and params.closer.alpha == challengers.Params().alpha
        return params.closer.slate_size

    assert closed("multi-rucb", 5, 3) == 3 and closed("rucb", 5, 2) == 2
    assert closed("multi-rucb", 1, 3) == 2, "of one arm too, which is shown alone"


@pytest.mark.parametrize("word", [0.01, "0.01"])
def test_a_number_is_the_error_of_closing(word):
    assert resolved("rucb", closing=word).closer.alpha == 0.01


@pytest.mark.parametrize("word", [False, "False", "no"])
def test_without_closing_a_policy_is_alone(word):
    assert resolved("rucb", closing=word) == resolved("rucb")


def test_machines_by_name_and_as_their_params():
    assert resolved("sparring").machine == ucb.Params()
    assert resolved("sparring", machine="kl-ucb").machine == registry.MACHINES["kl-ucb"].params()
    assert resolved("sparring", machine=ucb.Params(alpha=5.0)).machine == ucb.Params(alpha=5.0)
    assert resolved("sparring", machine=ucb.Params(alpha=5.0), alpha="7").machine.alpha == 7.0
    must = "'machine' of 'sparring' must be one of ucb, kl-ucb, thompson"
    for wrong, got in (
        ("kl-ubc", r"'kl-ubc'\. Did you mean 'kl-ucb'\?"),
        (lucb.LUCB(), r"LUCB\(epsilon"),
        ((1, 2), r"\(1, 2\)\.$"),
        (3, r"3\.$"),
        (["ucb"], r"\['ucb'\]\.$"),
    ):
        with pytest.raises(md.BadInput, match=f"{must}.* Got {got}"):
            resolved("sparring", machine=wrong)


def test_a_parameter_of_the_policy_is_not_its_machines():
    params = registry.resolve(CARD, n_arms=3, words={"alpha": 2.0, "timer": "round"})
    assert params.alpha == 2.0 and params.machine == ucb.Params(timer=ucb.ROUND)


@pytest.mark.parametrize(
    ("word", "means"),
    [
        *((word, True) for word in (True, "true", "YES", "1", 1)),
        *((word, False) for word in (False, "False", "no", "0", 0)),
    ],
)
def test_words_for_true_and_false(word, means):
    assert registry.resolve(CARD, n_arms=3, words={"slow": word}).slow is means


@pytest.mark.parametrize("word", ["perhaps", 2, None, ["true"]])
def test_what_is_neither_true_nor_false_is_refused(word):
    with pytest.raises(md.BadInput, match=r"'slow' of 'mine' must be true or false\. Got "):
        registry.resolve(CARD, n_arms=3, words={"slow": word})


@pytest.mark.parametrize("word", [True, False, None, [1.0], 1j, np.ones(2), "much"])
def test_what_is_no_number_is_refused(word):
    with pytest.raises(md.BadInput, match=r"'alpha' of 'mine' must be a number\. Got "):
        registry.resolve(CARD, n_arms=3, words={"alpha": word})


def test_how_large_and_how_small_parameters_may_be():
    def alpha(value):
        return registry.resolve(CARD, n_arms=3, words={"alpha": value}).alpha

    for fine in (0.0, 1e-12, -1e-12, 1e12, -1e12):
        assert alpha(fine) == fine
    for wrong in (0.9e-12, -0.9e-12, 1.1e12, -1.1e12, math.inf):
        with pytest.raises(md.BadInput, match=r"must be 0, or from 1e-12 to 1e\+12 in size"):
            alpha(wrong)
    assert resolved("sparring", unobserved="inf").machine.unobserved == math.inf, "where it is infinite unless given"
    with pytest.raises(md.BadInput, match="in size"):
        resolved("sparring", unobserved=1e13)
    for rounds in (10**15, FOREVER - 1, FOREVER):
        assert resolved("if2", horizon=rounds).horizon == rounds, "ints stay exact"
    with pytest.raises(md.BadInput, match=f"must be at most {FOREVER:,}"):
        resolved("if2", horizon=FOREVER + 1000)


def test_a_parameter_is_of_its_defaults_type_however_it_is_written():
    for word in (1000, 1000.0, "1000", "1e3", np.int64(1000)):
        rounds = resolved("if2", horizon=word).horizon
        assert rounds == 1000 and type(rounds) is int
    for word in (2, 2.0, "2", np.float32(2.0)):
        alpha = resolved("rucb", alpha=word).alpha
        assert alpha == 2.0 and type(alpha) is float


class Odd(NamedTuple):
    mode: str = "slow"  # a plain policy may have what it likes
    rate: float = 0.5
    top: float = -math.inf


def test_params_become_words_that_json_can_hold():
    registry.register(dataclasses.replace(CARD, name="odd", params=Odd, parameters={}))
    assert registry.describe(Odd()) == {"mode": "slow", "rate": 0.5, "top": "-inf"}
    words = registry.describe(resolved("sparring", machine="ucb", timer="round", closing=True))
    assert words == {"machine": "ucb", "alpha": 3.0, "timer": "round", "unobserved": "inf", "coin": "toss", "closing": 0.05}
    json.dumps(words, allow_nan=False)
    assert registry.describe(resolved("sparring", **words)) == words


def test_features_are_a_row_of_numbers_per_arm():
    spec = registry.find("kernel-self-sparring")
    assert registry.feature_table(spec, None, 3) is None
    for given in ([[1, 2], [3, 4], [5, 6]], np.arange(3.0)[:, None]):
        table = registry.feature_table(spec, given, 3)
        assert table is not None and table.dtype == np.float64 and (table == np.array(given)).all()
    with pytest.raises(md.BadInput, match=r"'mdb' takes no features of the arms\. These do: kernel-self-sparring, colstim, "):
        md.make("mdb", n_arms=3, features=[[0.0]] * 3)


@pytest.mark.parametrize(
    ("features", "says"),
    [
        ([[1.0], [2.0]], r"must be a table with 3 rows, one per arm\. Got shape \(2, 1\)\."),
        ([[1.0, 2.0, 3.0]], r"3 rows, one per arm\. Got shape \(1, 3\)\."),
        ([1.0, 2.0, 3.0], r"Got shape \(3,\)\."),
        ([[[1.0]], [[2.0]], [[3.0]]], r"Got shape \(3, 1, 1\)\."),
        ([[], [], []], r"Got shape \(3, 0\)\."),
        ([["a"], ["b"], ["c"]], "must be a table of numbers"),
        ("file.csv", "table of numbers"),
        ([[1.0], [np.nan], [2.0]], "must be finite numbers"),
        ([[1.0], [np.inf], [2.0]], "must be finite numbers"),
    ],
)
def test_features_that_are_refused(features, says):
    with pytest.raises(md.BadInput, match=f"'features' of 'kernel-self-sparring' .*{says}"):
        md.make("kernel-self-sparring", n_arms=3, features=features)
