"""Snapshots that are not whole, part by part. Thousands of them at random: tests/fuzz."""

import json
from typing import NamedTuple

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.registry import registry
from multiduel.engine.session.snapshots import _check, leaves, pack, read_open, unpack
from multiduel.kernels.contract import valid
from multiduel.kernels.evidence import no_answers
from multiduel.machines import ALL as MACHINES
from multiduel.policies import ALL
from tests.engine.plain_policy import State, plain_policy

EMPTY = [pack(array) for array in no_answers(5)]


def saved(name="multi-rucb", **params):
    policy = md.make(name, n_arms=5, slate_size=3, seed=0, horizon=500, **params)
    for _ in range(20):
        slate = policy.ask()
        if len(slate.arms) > 1 and slate.round % 3:
            policy.tell(slate, md.ranking(sorted(slate.arms)))
    return policy.snapshot()


def change(packed, act):
    array = np.zeros(packed[1], f"<{packed[0]}")
    unpack(packed, array, "state")
    act(array)
    return pack(array)


@pytest.mark.parametrize("spec", [*ALL, *MACHINES], ids=lambda spec: spec.name)
def test_every_policy_and_machine_declares_what_its_state_may_hold(spec):
    assert spec.params in valid.table


@pytest.mark.parametrize(
    ("part", "value", "says"),
    [
        ("round", -1, "'round' must be from 0"),
        ("round", 10**15 + 1, "'round' must be from 0"),
        ("round", 10**30, "'round' must be from 0"),
        ("round", 3.0, "'round' is missing or no int"),
        ("round", 2, "'log_t' in the state of 'multi-rucb'"),
        ("n_arms", 10**9, "'n_arms' must be from 1"),
        ("n_arms", 10_001, "'n_arms' must be from 1 to 10,000. Got 10001"),
        ("n_arms", 6, "'labels' must name 6 arms"),
        ("labels", [0, 1, 2, 3, 3], "every arm once"),
        ("fingerprint", "xyz", "16 hexadecimal digits"),
        ("fingerprint", "abc", "16 hexadecimal digits"),
        ("fingerprint", "0123456789abcdeg", "16 hexadecimal digits"),
        ("fingerprint", 7, "'fingerprint' is missing or no str"),
        ("labels", [0, 1, 2, 3, 4.0], "'labels' must be from 0 to 4"),
        ("labels", [False, 1, 2, 3, 4], "'labels' must be from 0 to 4"),
        ("rng", [0, 0, 0, 0], "not all of them 0"),
        ("rng", [1, 2, 3, 2**64], "'rng' must be from 0"),
        ("open", [[3, [0, 0]]], "2 to 3 different arms"),
        ("open", [[3, [0]]], "2 to 3 different arms"),
        ("open", [[3, [0, 1, 2, 3]]], "2 to 3 different arms"),
        ("open", [[3, [0, 7]]], "from 0 to 4"),
        ("open", [[0, [0, 1]]], "the round of an open slate"),
        ("open", [[21, [0, 1]]], "the round of an open slate"),
        ("open", [[3, [0, 1]], [3, [1, 2]]], "the round of an open slate"),
        ("open", [3], "a round and its arms"),
        ("open", [[3, 7]], "a round and its arms"),
        ("open", [[3, [0, 1], 7]], "a round and its arms"),
        ("params", {"slate_size": 3, "alpha": 1e300}, "in size"),
        ("params", {"slate_size": -3}, "'slate_size' must be from 1"),
        ("params", {3: 4}, "has no name"),
        ("policy", "no-such", "There is no registered policy"),
        ("policy", "uniform", "no parameter 'alpha'"),
        ("state", [], "'state' must hold 5 arrays"),
        ("tally", [pack(np.full((5, 5), np.nan)), *EMPTY[1:]], "'tally' holds"),
        ("tally", [EMPTY[0], pack(np.triu(np.ones((5, 5)), 1)), EMPTY[2]], "'tally' holds"),
        ("tally", [*EMPTY[:2], pack(np.array([[1.0, 0.0]] * 5))], "'tally' holds"),
        ("tally", [EMPTY[0], pack(np.eye(5)), EMPTY[2]], "'tally' holds"),
        ("tally", [*EMPTY[:2], pack(np.array([[-1.0, 0.0]] * 5))], "'tally' holds"),
        ("tally", [*EMPTY[:2], pack(np.array([[1.5, 1.0]] * 5))], "'tally' holds"),
        ("tally", [*EMPTY[:2], pack(np.array([[1.0 + 1.5e-9, 1.0]] * 5))], "'tally' holds"),
        ("tally", EMPTY[:2], "must hold 3 arrays"),
        ("state", "x", "'state' is missing"),
    ],
)
def test_a_part_that_cannot_be(part, value, says):
    snapshot = saved()
    snapshot[part] = value
    with pytest.raises(md.BadInput, match=says):
        md.restore(snapshot)


def test_what_is_at_the_limit_is_taken():
    """And goes through ``restore``: the shares of an arm are sums, and may differ by rounding."""
    snapshot = saved()
    snapshot["fingerprint"], snapshot["rng"] = "0123456789abcdef", [2**64 - 1] * 4
    snapshot["tally"][2] = pack(np.array([[1.0 + 0.5e-9, 1.0]] * 5))
    again = md.restore(snapshot).snapshot()
    assert (
        again["fingerprint"] == snapshot["fingerprint"]
        and again["rng"] == snapshot["rng"]
        and again["tally"] == snapshot["tally"]
    )


def test_the_last_hundred_thousand_slates_are_open_and_no_more():
    pairs = [[round, [0, 1]] for round in range(1, 100_002)]
    assert len(list(read_open({"open": pairs[1:]}, 5, 3, 200_000))) == 100_000
    with pytest.raises(md.BadInput, match=r"at most 100,000 slates are open\. Got 100,001"):
        list(read_open({"open": pairs}, 5, 3, 200_000))


class Around(NamedTuple):
    policy: State
    last: np.ndarray


def test_what_is_said_of_a_state_is_said_of_every_field_those_inside_included():
    state = Around(State(np.zeros((3, 3)), np.zeros(3)), np.zeros(1))
    _check("mine", state, {"policy": {"W": True, "worth": True}, "last": True})
    with pytest.raises(md.BadInput, match="'worth' in the state of 'mine' holds what it cannot hold"):
        _check("mine", state, {"policy": {"W": True, "worth": False}, "last": True})
    with pytest.raises(TypeError, match=r"'valid' of 'mine' must speak of every field of Around\. It differs in: last, lost\."):
        _check("mine", state, {"policy": {"W": True, "worth": True}, "lost": True})
    with pytest.raises(TypeError, match=r"must speak of every field of State\. It differs in: worth\."):
        _check("mine", state, {"policy": {"W": True}, "last": True})


def test_all_is_stored_of_a_policy_that_does_not_say_what_its_state_may_hold(monkeypatch):
    spec = plain_policy()
    monkeypatch.setitem(registry.POLICIES, spec.name, spec)
    policy = md.make(spec, n_arms=3, seed=0)
    policy.tell(policy.ask(), np.array([[0.0, 1.0], [0.0, 0.0]]))
    stored = policy.snapshot()["state"]
    assert [part[:2] for part in stored] == [["f8", [3, 3]], ["f8", [3]]]
    W = np.zeros((3, 3))
    unpack(stored[0], W, "state")
    assert W.sum() == 1.0


@pytest.mark.parametrize(
    ("packed", "says"),
    [
        (["f8", [5, 5], "####"], "cannot be read"),
        (["f8", [5, 6], ""], "must be f8"),
        (["f8", [5, 5]], "a type, a shape and text"),
        (["f8", [5, 5], 7], "a type, a shape and text"),
        (["f8", [5, 5], pack(np.zeros((5, 4)))[2]], "must have 200 bytes"),
        (["f8", [5, 5], pack(np.zeros((9999, 999)))[2]], "must have 200 bytes. Got 201 or more"),  # small, until it is unpacked
    ],
)
def test_an_array_that_cannot_be_read(packed, says):
    snapshot = saved()
    snapshot["state"][0] = packed
    with pytest.raises(md.BadInput, match=says):
        md.restore(snapshot)


@pytest.mark.parametrize(
    ("name", "leaf", "act", "field"),
    [
        ("multi-rucb", 0, lambda W: W.__setitem__((0, 1), np.nan), "W"),
        ("multi-rucb", 3, lambda B: B.__setitem__(0, 5), "B"),
        ("rmed1", 7, lambda order: order.__setitem__(0, order[1]), "order"),
        ("rmed1", 12, lambda place: place.__setitem__(1, 5), "place"),
        ("ws-w", 1, lambda last: last.__setitem__(0, 9), "last"),
    ],
)
def test_a_field_that_cannot_be_is_named(name, leaf, act, field):
    snapshot = saved(name)
    snapshot["state"][leaf] = change(snapshot["state"][leaf], act)
    with pytest.raises(md.BadInput, match=f"'{field}' in the state of '{name}' holds what it cannot hold"):
        md.restore(snapshot)


@pytest.mark.parametrize("name", ["multi-rucb", "cw-rmed", "due-duel"])
def test_what_is_written_before_it_is_read_is_not_stored(name):
    """And so the policy goes on bit by bit from a snapshot without it, and from one of an earlier version that holds anything."""
    snapshot = saved(name)
    assert None in snapshot["state"] and not all(part is None for part in snapshot["state"])
    first = md.restore(snapshot)
    earlier = snapshot | {"state": [pack(np.full(3, np.nan)) if part is None else part for part in snapshot["state"]]}
    for other in (md.restore(snapshot), md.restore(earlier)):
        again = md.restore(snapshot)
        for _ in range(30):
            slate = again.ask()
            assert other.ask() == slate
            if len(slate.arms) > 1:
                again.tell(slate, md.ranking(sorted(slate.arms)))
                other.tell(slate, md.ranking(sorted(slate.arms)))
        assert other.snapshot() == again.snapshot()
    assert first.snapshot() == snapshot


def test_only_scratch_may_be_left_out():
    snapshot = saved()
    snapshot["state"][0] = None
    with pytest.raises(md.BadInput, match="a type, a shape and text"):
        md.restore(snapshot)


def test_the_scratch_of_a_large_problem_takes_no_room():
    """The linear programme of cw-rmed is rewritten every time: nearly all of its memory, and none of its snapshot."""
    policy = md.make("cw-rmed", n_arms=40, seed=0)
    in_memory = sum(leaf.nbytes for leaf in leaves(policy._state))
    assert len(json.dumps(policy.snapshot())) < 0.02 * in_memory


@pytest.mark.parametrize(("count", "taken"), [(0.5e12, True), (0.6e12, False)])
def test_a_policy_whose_snapshot_was_taken_can_go_on_counting(count, taken):
    whole = saved()
    whole["tally"][0] = change(whole["tally"][0], lambda above: above.__setitem__((0, 1), count))
    whole["tally"][2] = change(whole["tally"][2], lambda shares: shares[:, 1].fill(count))
    if not taken:
        with pytest.raises(md.BadInput, match="'tally' holds what it cannot hold"):
            md.restore(whole)
        return
    policy = md.restore(whole)
    policy.observe((0, 1), md.best(0))
    policy.standings()
