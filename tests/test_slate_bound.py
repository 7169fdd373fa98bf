"""The lower bound over slates: against the whole programme, against Komiyama's, and its certificate."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

import multiduel as md
from multiduel import theory
from multiduel.theory import slates


def whole_programme(P, m):
    """Every slate a column."""
    D, K = theory.gaps(P), len(P)
    best = int(np.argmin(D))
    columns, costs = [], []
    for size in range(2, m + 1):
        for slate in itertools.combinations(range(K), size):
            columns.append([
                sum(theory.kl(P[i, j], 0.5) for j in slate if P[i, j] < 0.5) if i in slate else 0.0 for i in range(K) if i != best
            ])  # fmt: skip
            costs.append(np.mean([D[i] for i in slate]))
    return linprog(costs, A_ub=-np.array(columns).T, b_ub=-np.ones(K - 1), method="highs").fun


@pytest.mark.parametrize("problem", [md.synthetic(7), md.random_tournament(7, seed=4), md.cyclic(6)], ids=str)
def test_column_generation_solves_the_whole_programme(problem):
    values = []
    for m in range(2, problem.n_arms + 1):
        bound = theory.multi_dueling_lower_bound(problem.matrix, m)
        assert bound.exact and bound.gap == 0.0
        assert bound.constant == pytest.approx(whole_programme(problem.matrix, m), rel=1e-7)
        played = sum(n * np.mean(problem.gaps[list(slate)]) for slate, n in bound.slates)
        assert played == pytest.approx(bound.constant, rel=1e-7)
        values.append(bound.constant)
    assert all(b <= a * (1 + 1e-9) for a, b in itertools.pairwise(values))  # more seats never cost more
    assert values[0] == pytest.approx(theory.komiyama_lower_bound(problem.matrix), rel=1e-9)


def test_an_estimate_is_certified_from_below(monkeypatch):
    problem = md.synthetic(9)
    exact = theory.multi_dueling_lower_bound(problem.matrix, 4)
    monkeypatch.setattr(slates, "FEW_SLATES", 10)
    found = theory.multi_dueling_lower_bound(problem.matrix, 4)
    assert not found.exact and 0.0 < found.gap < 1.0
    assert found.at_least <= exact.constant * (1 + 1e-9) and found.constant >= exact.constant * (1 - 1e-9)
    assert found.constant == pytest.approx(exact.constant, rel=0.02)


def test_small_and_refused():
    assert theory.multi_dueling_lower_bound([[0.5]], 2).constant == 0.0
    two = theory.multi_dueling_lower_bound([[0.5, 0.7], [0.3, 0.5]], 8)
    assert two.constant == pytest.approx(0.1 / theory.kl(0.3, 0.5)) and two.per_decade == pytest.approx(
        two.constant * math.log(10)
    )
    with pytest.raises(md.BadInput, match=r"'slate_size' must be at least 2\. Got 1\."):
        theory.multi_dueling_lower_bound(md.synthetic(3).matrix, 1)
    with pytest.raises(md.BadInput, match="Condorcet winner"):
        theory.multi_dueling_lower_bound(md.cyclic(5, condorcet=False).matrix, 2)
