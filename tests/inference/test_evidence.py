"""The evidence of pairs: its formula, its fairness, compiled and plain alike, and the intervals made of it."""

import itertools
import math

import numpy as np
import pytest

from multiduel.inference import Weighed, evidence, pair_intervals
from multiduel.inference.evidence import _stakes, fill_evidence, fill_intervals
from multiduel.kernels.compiler.dispatch import entry
from multiduel.kernels.evidence import EVEN, SHARES, bets, log_evidence, log_winnings, log_winnings_at


def tables(K=7, most=400, seed=0):
    rng = np.random.default_rng(seed)
    D = rng.integers(0, most, (K, K)).astype(float)
    T = np.triu(rng.integers(0, 30, (K, K)), 1).astype(float)
    np.fill_diagonal(D, 0.0)
    return D, T + T.T


def test_it_is_the_formula():
    D, T = tables()
    L, against = evidence(D, T)
    assert len(SHARES) == 24 and SHARES[0] == pytest.approx(1 / 64) and SHARES[-1] == pytest.approx(0.97)
    assert np.diff(np.log(SHARES)) == pytest.approx(np.full(23, math.log(64 * 0.97) / 23))
    for i, j in itertools.permutations(range(len(D)), 2):
        terms = [D[i, j] * math.log1p(b) + D[j, i] * math.log1p(-b) for b in SHARES]
        assert L[i, j] == pytest.approx(np.logaddexp.reduce(terms) - math.log(24), abs=1e-9)  # ties count nothing
    for h in range(len(D)):
        column = np.delete(L[:, h], h)
        assert against[h] == pytest.approx(np.logaddexp.reduce(column) - math.log(len(column)), abs=1e-9)


@pytest.mark.parametrize("null", [0.5, 0.45, 0.3])
def test_compiled_and_plain_are_the_same_numbers(null):
    D, T = tables()
    D[0, 1] = 12.5  # a count that is not whole goes another way
    stakes, powers = _stakes(null)
    L, against, low = np.zeros((7, 7)), np.zeros(7), np.zeros((7, 7))
    fill_evidence(stakes, powers, D, T, L, against)  # called from Python it is plain Python
    fill_intervals(stakes, D, T, math.log(2.0 / 0.01), low)
    compiled = evidence(D, T, null=null)
    assert (compiled[0] == L).all() and (against == compiled[1]).all()
    assert (low == pair_intervals(D, T, error=0.01)[0]).all()


@pytest.mark.parametrize(("null", "ties"), [(0.5, 0.0), (0.5, 0.3), (0.45, 0.0), (0.45, 0.4), (0.2, 0.1)])
def test_under_the_null_the_money_is_expected_to_stay_what_it_was(null, ties):
    """Exactly, over all outcomes of 12 answers of which a share are ties and the mean is the null."""
    win = null - 0.5 * ties
    chances = (win, ties, 1.0 - win - ties)
    stakes, total = bets(null), 0.0
    for w in range(13):
        for t in range(13 - w):
            ways = math.factorial(12) / (math.factorial(w) * math.factorial(t) * math.factorial(12 - w - t))
            chance = ways * chances[0] ** w * chances[1] ** t * chances[2] ** (12 - w - t)
            total += chance * math.exp(log_winnings(*stakes, float(w), float(t), float(12 - w - t)))
    assert total == pytest.approx(1.0, abs=1e-12)


def test_the_power_tables_and_the_logarithms_agree():
    stakes, _ = _stakes(0.4)
    for w, t, l in ((256, 0, 0), (0, 0, 256), (256, 256, 256), (3, 200, 90), (257, 1, 2)):
        D, T = np.array([[0.0, w], [l, 0.0]]), np.array([[0.0, t], [t, 0.0]])
        L, _ = evidence(D, T, null=0.4)
        assert L[0, 1] == pytest.approx(log_winnings(*stakes, float(w), float(t), float(l)), abs=1e-9)


@pytest.mark.parametrize("above", [0.0, 1.0, 12.0, 12.5, 256.0, 257.0, 3000.0])
@pytest.mark.parametrize("below", [0.0, 0.5, 7.0, 256.0, 900.0])
def test_evidence_is_the_same_number_by_the_table_and_by_logarithms(above, below):
    assert log_evidence(above, below) == pytest.approx(log_winnings(*EVEN, above, 0.0, below), abs=1e-9)


def test_evidence_falls_as_the_null_rises_so_that_a_margin_may_be_chosen_afterwards():
    D, T = tables(K=7, most=300)
    D[2, 3] = 700.0  # beyond the tables
    nulls = (0.05, 0.2, 0.4, 0.45, 0.48, 0.5)
    found = [evidence(D, T, null=null)[0] for null in nulls]
    for lower, higher in itertools.pairwise(found):
        assert (lower >= higher - 1e-9).all()
    assert (found[0] > found[-1] + 1.0).any()


def test_intervals_hold_what_the_bets_do_not_refute():
    D, T = tables(K=5, most=120)
    D += 1.0 - np.eye(5)
    low, high = pair_intervals(D, T, error=0.01)
    needed = math.log(200.0)
    for i, j in itertools.permutations(range(5), 2):
        share = (D[i, j] + 0.5 * T[i, j]) / (D[i, j] + D[j, i] + T[i, j])
        assert 0.0 < low[i, j] < share < high[i, j] < 1.0
        assert log_winnings_at(low[i, j], D[i, j], T[i, j], D[j, i]) == pytest.approx(needed, abs=1e-3)
        assert high[j, i] == 1.0 - low[i, j]
        falls = [log_winnings_at(p, D[i, j], T[i, j], D[j, i]) for p in np.linspace(0.01, 0.99, 50)]
        assert (np.diff(falls) < 0.0).all()
    assert [ends[0, 1] for ends in pair_intervals(np.zeros((2, 2)), np.zeros((2, 2)), error=0.05)] == [0.0, 1.0]


@pytest.mark.parametrize("null", [0.5, 0.4])
def test_every_answer_counts_and_none_is_no_evidence(null):
    """All counts of a pair up to 2; what stands on the diagonal says nothing, and what stood there before is gone."""
    stakes, powers = _stakes(null)
    for w, t, l in itertools.product((0.0, 1.0, 2.0), repeat=3):
        D, T = np.array([[9.0, w], [l, 9.0]]), np.array([[0.0, t], [t, 0.0]])
        L, against = np.full((2, 2), math.nan), np.full(2, math.nan)
        fill_evidence(stakes, powers, D, T, L, against)
        mine, theirs = (math.log(np.mean(np.exp(x * stakes.win + t * stakes.tie + y * stakes.loss))) for x, y in ((w, l), (l, w)))
        assert L.tolist() == [[0.0, pytest.approx(mine, abs=1e-12)], [pytest.approx(theirs, abs=1e-12), 0.0]]
        assert against.tolist() == [L[1, 0], L[0, 1]]


def test_nothing_speaks_against_the_only_one():
    L, against = evidence(np.zeros((1, 1)), np.zeros((1, 1)))
    assert L.tolist() == [[0.0]] and against.tolist() == [-math.inf]


@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize(("K", "arms"), [(2, (0, 1)), (2, (1, 0)), (4, (3, 1)), (4, (2, 0, 3)), (4, (0, 1, 2, 3))])
def test_evidence_that_is_kept_is_that_of_the_counts(K, arms, margin):
    D, T = tables(K, most=30)
    kept = Weighed.of(D, T, margin)
    assert (kept.L is kept.even) is (margin == 0.0)
    for i, j in itertools.combinations(arms, 2):
        D[i, j] += 3.0
        T[i, j] = T[j, i] = T[i, j] + 1.0
    kept.update(D, T, arms, margin)
    even, against = evidence(D, T)
    assert np.allclose(kept.even, even) and np.allclose(kept.against, against)
    assert np.allclose(kept.L, evidence(D, T, null=0.5 - margin)[0])


def test_what_is_compiled_is_made_ready_before_it_is_called():
    evidence(np.zeros((2, 2)), np.zeros((2, 2)))
    assert entry(fill_evidence, _stakes(0.5)[0], "the evidence of pairs").ready
