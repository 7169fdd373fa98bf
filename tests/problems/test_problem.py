"""Problem: validation, immutability, and what it says about its matrix."""

from __future__ import annotations

import dataclasses
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multiduel.inputs import BadInput
from multiduel.problems import Problem, cyclic, from_matrix, from_utilities, preference_matrix, synthetic


@st.composite
def nearly_antisymmetric(draw):
    K = draw(st.integers(1, 6))
    P = np.full((K, K), 0.5)
    for i in range(K):
        for j in range(i):
            P[i, j] = draw(st.floats(0, 1))
            P[j, i] = min(1.0, max(0.0, 1 - P[i, j] + draw(st.sampled_from([0.0, 0.0, 3e-10, -3e-10]))))
    return P


@given(nearly_antisymmetric())
def test_matrix_is_made_exact(values):
    P = preference_matrix(values)
    assert np.all(P + P.T == 1) and np.all(P.diagonal() == 0.5)
    assert np.all((P >= 0) & (P <= 1)) and np.abs(P - values).max() <= 1e-9
    untouched = (values + values.T == 1) & ~np.eye(len(P), dtype=bool)
    assert np.array_equal(P[untouched], values[untouched])
    assert np.array_equal(preference_matrix(P), P)
    assert P.flags.c_contiguous and not P.flags.writeable and P is not values


def spoilt(i, j, value, mirror=None):
    P = np.array(synthetic(3).matrix)
    P[i, j] = value
    if mirror is not None:
        P[j, i] = mirror
    return P


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (spoilt(0, 2, np.nan), "Entry (row 0 'a', column 2 'c') must be a finite number. Got nan."),
        (spoilt(1, 0, 1.5), "Entry (row 1 'b', column 0 'a') must be a probability, between 0 and 1. Got 1.5."),
        (spoilt(1, 2, -0.25), "Entry (row 1 'b', column 2 'c') must be a probability, between 0 and 1. Got -0.25."),
        (spoilt(2, 2, 0.4), "Entry (row 2 'c', column 2 'c') must be 1/2: an arm against itself. Got 0.4."),
        (
            spoilt(0, 1, 0.75, 0.125),
            "Entry (row 0 'a', column 1 'b') and its mirror entry must sum to 1. Got 0.75 and 0.125 the other way.",
        ),
    ],
)
def test_refused_entries_are_named(values, message):
    with pytest.raises(BadInput) as caught:
        from_matrix(values, names=["a", "b", "c"])
    assert str(caught.value) == message


@pytest.mark.parametrize("values", [[], [[]], [0.5], [[0.5, 0.5]], [[[0.5]]], [[0.5, 1], [0]], [["x"]], None])
def test_refused_shapes(values):
    with pytest.raises(BadInput, match="preference matrix must be"):
        from_matrix(values)


def test_entries_without_names_are_named_by_position():
    with pytest.raises(BadInput, match=r"^Entry \(row 0, column 1\) must"):
        preference_matrix([[0.5, 2], [-1, 0.5]])


@pytest.mark.parametrize(
    ("names", "message"),
    [(["a"], "2 in all. Got 1"), ([], "Got none"), (["a", "a "], "Got 'a' twice"), (["a", " "], "must not be blank")],
)
def test_refused_names(names, message):
    with pytest.raises(BadInput, match=message):
        from_matrix([[0.5, 0.7], [0.3, 0.5]], names=names)


def test_immutable():
    values = np.array([[0.5, 0.7], [0.3, 0.5]])
    problem = from_matrix(values)
    values[0, 1] = 0.9
    assert problem.matrix[0, 1] == 0.7
    with pytest.raises(ValueError):
        problem.matrix[0, 1] = 0.6
    with pytest.raises(ValueError):
        problem.gaps[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.label = "x"


def test_pickling_keeps_it_read_only():
    problem = synthetic(5, link="natural")
    again = pickle.loads(pickle.dumps(problem))
    assert np.array_equal(again.matrix, problem.matrix) and not again.matrix.flags.writeable
    assert (again.names, again.label, again.link) == (problem.names, problem.label, problem.link)
    assert np.array_equal(again.utilities, problem.utilities) and not again.utilities.flags.writeable


def test_what_it_says():
    problem = cyclic(4)
    assert (problem.n_arms, problem.winner, problem.copeland_winners) == (4, 0, (0,))
    assert problem.gamma == np.inf and problem.hardness == pytest.approx(300)
    assert not (problem.total_order or problem.strongly_transitive or problem.weakly_transitive)
    order = synthetic(4)
    assert order.total_order and order.strongly_transitive and order.weakly_transitive
    assert order.borda_winners == (0,)
    assert repr(order) == "Problem('synthetic, K = 4, linear link', n_arms=4)"


def test_without_a_condorcet_winner():
    problem = from_matrix(cyclic(3, condorcet=False).matrix, names=["x", "y", "z"], label="ring")
    assert problem.winner is None and problem.gamma is None
    assert problem.copeland_winners == problem.borda_winners == (0, 1, 2)
    for ask in (lambda: problem.gaps, lambda: problem.hardness, lambda: problem.benchmark_gaps("condorcet")):
        with pytest.raises(BadInput, match="'ring' has none; the Copeland winners are 'x', 'y', 'z'"):
            ask()
    assert problem.benchmark_gaps("copeland").tolist() == [0, 0, 0]
    assert problem.to_json()["hardness"] is None


def test_benchmark_gaps():
    problem = from_utilities([0.2, 0.8, 0.6])
    assert problem.benchmark_gaps("condorcet") == pytest.approx([0.3, 0, 0.1])
    assert problem.benchmark_gaps("utility") == pytest.approx([0.6, 0, 0.2])  # twice the Condorcet gaps
    assert problem.benchmark_gaps("copeland").tolist() == [1, 0, 0.5]
    assert problem.benchmark_gaps("borda") == pytest.approx([0.45, 0, 0.15])  # mean over the K - 1 others
    with pytest.raises(BadInput, match="Did you mean 'condorcet'"):
        problem.benchmark_gaps("condorset")
    with pytest.raises(BadInput, match="made from utilities"):
        cyclic(4).benchmark_gaps("utility")


@pytest.mark.parametrize("K", [1, 2, 3])
def test_small(K):
    problem = synthetic(K)
    assert problem.winner == 0 and problem.total_order and problem.strongly_transitive
    assert problem.gamma == pytest.approx(1)
    for kind in ("condorcet", "copeland", "borda", "utility"):
        gaps = problem.benchmark_gaps(kind)
        assert gaps.shape == (K,) and gaps[0] == 0 and np.all(gaps[1:] > 0)
    for bound in problem.bounds(100, slate_size=2).values():
        assert 0 <= bound.value <= 30 + 1e-9


def test_bounds():
    problem = synthetic(48)
    bounds = problem.bounds(10**6, slate_size=8, alpha=1.5)
    assert list(bounds) == ["doubler-bai", "multi-sbm-feedback", "multi-rucb"]
    assert bounds["multi-rucb"].terms["lead"] == pytest.approx(129, rel=5e-3)


def test_json():
    description = json.loads(json.dumps(cyclic(4).to_json(), allow_nan=False))
    assert description["label"] == "cyclic, K = 4, gap 0.1, cycle gap 0.4"
    assert (description["n_arms"], description["link"], description["gamma"]) == (4, None, "infinite")
    assert description["matrix_sha256"] != cyclic(4, gap=0.2).to_json()["matrix_sha256"]


def test_refused_utilities():
    with pytest.raises(BadInput, match="'utilities' must be 2 finite numbers"):
        Problem(np.array([[0.5, 0.7], [0.3, 0.5]]), utilities=np.array([1.0]))


@pytest.mark.parametrize("off", [1e-4, 1e-6, 1.1e-9])
def test_a_table_that_does_not_sum_to_one_is_refused_however_near(off):
    for table in ([[0.5, 0.7 + off], [0.3, 0.5]], [[0.5 + off, 0.7], [0.3, 0.5]]):
        with pytest.raises(BadInput, match=r"must sum to 1|must be 1/2"):
            from_matrix(table)
    with pytest.raises(BadInput, match="must be a probability"):
        from_matrix([[0.5, 1 + off], [-off, 0.5]])


def test_rounding_is_forgiven_and_taken_out():
    P = from_matrix([[0.5, 0.7 + 5e-10], [0.3, 0.5 - 5e-10]]).matrix
    assert P[0, 1] + P[1, 0] == 1 and P[1, 1] == 0.5
