"""Definitions checked by brute force in exact arithmetic; bounds against figures worked out by hand or published."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multiduel import theory
from multiduel.inputs import BadInput, did_you_mean
from multiduel.problems import cyclic, from_utilities, synthetic
from multiduel.theory.matrix import kl_to_half


@st.composite
def matrices(draw, most_arms=6):
    """Entries are multiples of 1/16, so that ties are common and every difference is exact."""
    K = draw(st.integers(1, most_arms))
    P = np.full((K, K), 0.5)
    for i, j in itertools.combinations(range(K), 2):
        P[i, j] = draw(st.integers(0, 16)) / 16
        P[j, i] = 1 - P[i, j]
    if draw(st.booleans()):  # often enough with a Condorcet winner
        best = draw(st.integers(0, K - 1))
        for j in range(K):
            if j != best:
                P[best, j] = draw(st.integers(9, 16)) / 16
                P[j, best] = 1 - P[best, j]
    return P


def brute_winner(P):
    K = len(P)
    winners = [i for i in range(K) if all(P[i, j] > 0.5 for j in range(K) if j != i)]
    assert len(winners) <= 1
    return winners[0] if winners else None


@given(matrices())
def test_winners(P):
    K = len(P)
    assert theory.condorcet_winner(P) == brute_winner(P)
    wins = [sum(P[i, j] > 0.5 for j in range(K)) for i in range(K)]
    assert theory.copeland_scores(P).tolist() == wins
    assert theory.copeland_winners(P) == tuple(i for i in range(K) if wins[i] == max(wins))
    borda = [sum(Fraction(P[i, j]) for j in range(K) if j != i) for i in range(K)]
    assert theory.borda_winners(P) == tuple(i for i in range(K) if borda[i] == max(borda))
    if K > 1:
        assert theory.borda_scores(P) == pytest.approx([float(b / (K - 1)) for b in borda])


@settings(max_examples=300)
@given(matrices())
def test_gamma_is_the_smallest_that_satisfies_property_1(P):
    best = brute_winner(P)
    got = theory.gamma(P)
    if best is None:
        assert got is None
        return
    D = [[Fraction(x) - Fraction(1, 2) for x in row] for row in P]
    arms = range(len(P))
    rest = [i for i in arms if i != best]
    if any(P[i, j] >= P[best, j] for i in rest for j in arms):
        assert got == math.inf
        return
    ratios = [D[best][i] / (D[best][j] - D[i][j]) for i in rest for j in arms]
    assert got == pytest.approx(float(max(ratios, default=Fraction(1))), rel=1e-12)
    assert all(D[best][i] <= max(ratios) * (D[best][j] - D[i][j]) for i in arms for j in arms if i != best)


@given(st.lists(st.floats(0.01, 0.69), min_size=1, max_size=8))
def test_gamma_of_links(others):
    mu = [0.7, *others]
    assert theory.gamma(from_utilities(mu, link="linear").matrix) == pytest.approx(1, abs=1e-9)
    # theory: the natural link is worst at the smallest utility as opponent and the best rival
    low, rival = min(mu), max(others)
    expected = max(1.0, (0.7 + low) * (rival + low) / (2 * low * (0.7 + rival)))
    assert theory.gamma(from_utilities(mu, link="natural").matrix) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=300)
@given(matrices())
def test_order_and_transitivity_by_triples(P):
    arms = range(len(P))
    ties = any(P[i, j] == 0.5 for i, j in itertools.combinations(arms, 2))
    chains = [(a, b, c) for a, b, c in itertools.permutations(arms, 3) if P[a, b] > 0.5 and P[b, c] > 0.5]
    cyclic_triple = any(P[c, a] > 0.5 for a, b, c in chains)
    assert theory.is_total_order(P) == (not ties and not cyclic_triple)
    assert theory.is_weakly_transitive(P) == (not cyclic_triple)
    assert theory.is_strongly_transitive(P) == all(P[a, c] >= max(P[a, b], P[b, c]) for a, b, c in chains)


@settings(max_examples=300)
@given(matrices())
def test_best_response_paths(P):
    best = brute_winner(P)

    def settles(j, path):
        if j == best:
            return True
        if j in path:
            return False
        return all(settles(i, [*path, j]) for i in range(len(P)) if P[i, j] == max(P[:, j]))

    expected = best is not None and all(settles(j, []) for j in range(len(P)))
    assert theory.best_response_reaches_winner(P) == expected


@given(matrices())
def test_finite_gamma_implies_that_best_responses_reach_the_winner(P):
    gamma = theory.gamma(P)
    if gamma is not None and math.isfinite(gamma):
        assert theory.best_response_reaches_winner(P)


def test_the_cyclic_instance_traps_best_responses():
    assert not theory.best_response_reaches_winner(cyclic(4).matrix)
    assert theory.best_response_reaches_winner(synthetic(48).matrix)


def test_large_matrices_are_feasible():
    P = from_utilities(np.random.default_rng(0).random(1000)).matrix
    assert theory.is_total_order(P) and theory.is_weakly_transitive(P) and theory.is_strongly_transitive(P)
    spoilt = P.copy()
    top, bottom = int(np.argmax(P.sum(axis=1))), int(np.argmin(P.sum(axis=1)))
    spoilt[top, bottom], spoilt[bottom, top] = 0.51, 0.49
    assert not theory.is_strongly_transitive(spoilt) and theory.is_weakly_transitive(spoilt)
    spoilt[top, bottom], spoilt[bottom, top] = 0.49, 0.51
    assert not theory.is_weakly_transitive(spoilt) and not theory.is_total_order(spoilt)


def test_gaps_and_hardness():
    P = np.array([[0.5, 0.75, 1.0], [0.25, 0.5, 0.5], [0.0, 0.5, 0.5]])
    assert theory.gaps(P).tolist() == [0, 0.25, 0.5]
    assert theory.gaps(P, winner=1).tolist() == [-0.25, 0, 0]
    assert theory.hardness(P) == 16 + 4
    with pytest.raises(BadInput, match="has none"):
        theory.gaps(cyclic(3, condorcet=False).matrix)
    with pytest.raises(BadInput, match=r"from 0 to 2. Got 3"):
        theory.gaps(P, winner=3)


def test_kl():
    from scipy.special import rel_entr

    for p, q in [(0.3, 0.5), (0.0, 0.25), (1.0, 0.25), (0.9, 0.1)]:
        assert theory.kl(p, q) == pytest.approx(rel_entr(p, q) + rel_entr(1 - p, 1 - q), rel=1e-12)
    assert theory.kl(0.5, 0.0) == theory.kl(0.5, 1.0) == math.inf
    assert theory.kl(1.0, 1.0) == theory.kl(0.0, 0.0) == 0
    d = 2**-20  # the smallest gaps of real matrices: 2 d^2 to the leading order
    assert theory.kl(0.5 - d, 0.5) == pytest.approx(2 * d * d, rel=1e-9)
    with pytest.raises(BadInput, match="between 0 and 1"):
        theory.kl(1.5, 0.5)


def test_komiyama_lower_bound_uses_the_cheapest_opponent():
    # Arm 2 loses narrowly to the winner, 0, and always to arm 1: learning through arm 1 is cheaper.
    P = np.array([[0.5, 0.6, 0.51], [0.4, 0.5, 1.0], [0.49, 0.0, 0.5]])
    first = 0.1 / (2 * theory.kl(0.4, 0.5))
    second = (0.01 + 0.1) / (2 * math.log(2))
    assert second < 0.01 / (2 * theory.kl(0.49, 0.5))
    assert theory.komiyama_lower_bound(P) == pytest.approx(first + second, rel=1e-12)


def test_regrets_of_a_round():
    D = [0.0, 0.1, 0.4]
    assert theory.average_regret(D, [0, 2]) == pytest.approx(0.2)
    assert theory.average_regret(D, [2, 2]) == pytest.approx(0.4)
    assert theory.average_regret(D, [0, 0, 0, 2]) == pytest.approx(0.2)
    assert theory.slot_average_regret(D, [0, 0, 0, 2]) == pytest.approx(0.1)
    assert theory.strong_regret(D, [0, 1, 2]) == 0.4
    assert theory.weak_regret(D, [1, 2]) == 0.1
    assert theory.weak_regret(D, [0, 2]) == 0
    for regret in (theory.average_regret, theory.strong_regret, theory.weak_regret, theory.slot_average_regret):
        with pytest.raises(BadInput, match="at least 1 arm"):
            regret(D, [])
        with pytest.raises(BadInput, match="from 0 to 2"):
            regret(D, [-1])


# K, link, gamma, D_2nd, D_max, H, sum 1/D: the table of the paper's instances
TABLE = [
    (48, "linear", 1.0, 0.05, 0.3, 2446.8, 291.5),
    (48, "natural", 1.5, 0.0333, 0.3, 4586.5, 372.3),
    (48, "logit", 1.077, 0.0250, 0.1457, 9913, 589.2),
    (72, "linear", 1.0, 0.05, 0.3, 3605.3, 437.2),
    (72, "natural", 1.5, 0.0333, 0.3, 6715.7, 557.5),
    (72, "logit", 1.077, 0.0250, 0.1457, 14611, 883.8),
]


@pytest.mark.parametrize(("K", "link", "gamma", "second", "largest", "H", "inverse"), TABLE)
def test_the_papers_instances(K, link, gamma, second, largest, H, inverse):
    P = synthetic(K, link=link).matrix
    D = np.sort(theory.gaps(P))[1:]
    assert theory.condorcet_winner(P) == 0
    assert theory.gamma(P) == pytest.approx(gamma, abs=5e-4)
    assert D[0] == pytest.approx(second, abs=5e-5)
    assert D[-1] == pytest.approx(largest, abs=5e-5)
    assert theory.hardness(P) == pytest.approx(H, abs=0.5 if link == "logit" else 0.05)
    assert np.sum(1 / D) == pytest.approx(inverse, abs=0.05)


def test_sbm_alpha():
    assert theory.sbm_alpha(48, 10**6) == 3
    assert theory.sbm_alpha(10**9, 15) == 3
    assert theory.sbm_alpha(10**9, 16) == pytest.approx(math.log(10**9) / math.log(math.log(16)))
    assert theory.sbm_alpha(1, 10**6) == 3


@pytest.mark.parametrize(
    ("link", "squared", "inverse"), [("linear", 5.07e4, 4.03e4), ("natural", 9.50e4, 5.14e4), ("logit", 9.97e4, 8.14e4)]
)
def test_theorem2_figures(link, squared, inverse):
    bound = theory.theorem2(synthetic(48, link=link).matrix, 10**6)
    assert bound.terms["D_max/D_i^2 branch"] == pytest.approx(squared, rel=2e-3)
    assert bound.terms["1/D_i branch"] == pytest.approx(inverse, rel=2e-3)
    assert bound.value == bound.raw == bound.terms["1/D_i branch"] + bound.terms["constant"]
    assert not bound.capped
    if link == "linear":
        assert bound.terms["constant"] == pytest.approx(26.4)


def test_theorem2_takes_the_smaller_branch():
    P = np.array([[0.5, 1.0], [0.0, 0.5]])  # D = 1/2: 0.5/0.25 = 2 against 2/0.5 = 4
    bound = theory.theorem2(P, 10**4, alpha=3)
    assert bound.raw == pytest.approx(5 * 2 * math.log(10**4) + 11 * 0.5 * 2 / 6)


@pytest.mark.parametrize(
    ("alpha", "m", "lead", "rest"),
    [(1.01, 8, 3.5e5, 2.1e6), (1.01, 16, 3.5e5, 5.3e5), (1.5, 8, 129, 3.2e6), (1.5, 16, 129, 7.9e5)],
)
def test_theorem3_figures(alpha, m, lead, rest):
    bound = theory.theorem3(synthetic(48).matrix, 10**6, m, alpha=alpha)
    smaller = min(bound.terms["D ln T branch"], bound.terms["(m+1)/(m-1) branch"])
    assert bound.terms["lead"] == pytest.approx(lead, rel=5e-3)
    assert smaller == pytest.approx(rest, rel=2e-2)
    assert bound.raw == bound.terms["lead"] + smaller
    assert bound.capped and bound.value == pytest.approx(3e5)
    assert any("Not informative" in note for note in bound.notes)


def test_theorem3_by_hand():
    P = np.array([[0.5, 1.0, 1.0], [0.0, 0.5, 0.75], [0.0, 0.25, 0.5]])
    bound = theory.theorem3(P, 10**12, 2, alpha=1.5)
    arms, pair = 2 * 6 / 0.25, 6 / 0.0625
    D = arms + pair
    assert bound.terms["D"] == pytest.approx(D)
    assert bound.terms["lead"] == pytest.approx(0.5 * math.sqrt(2 * 5 * 9 / 2) * 4)
    assert bound.terms["D ln T branch"] == pytest.approx(D * 0.5 * math.log(10**12))
    assert bound.terms["(m+1)/(m-1) branch"] == pytest.approx(
        (8 + 2 * D * math.log(2 * D)) * 0.5 + 3 * 0.5 * math.log(10**12) * arms
    )
    assert not bound.capped
    wide = theory.theorem3(P, 10**12, 9, alpha=1.5)
    assert wide.raw == theory.theorem3(P, 10**12, 3, alpha=1.5).raw < bound.raw
    assert any("m = K = 3" in note for note in wide.notes)


def test_theorem3_limits():
    P = synthetic(5).matrix
    with pytest.raises(BadInput, match=r"'alpha' of 'theorem3' must be greater than 1/2 and at most 1e\+12. Got 0.5."):
        theory.theorem3(P, 100, 2, alpha=0.5)
    low = theory.theorem3(P, 100, 2, alpha=0.51)
    assert low.raw == math.inf and low.capped and low.value == pytest.approx(100 * 0.3)
    assert any("alpha > 1" in note for note in low.notes)
    tied = theory.theorem3(from_utilities([0.9, 0.5, 0.5]).matrix, 1, 2, alpha=1.5)
    assert tied.raw == math.inf and any("tie" in note for note in tied.notes)
    with pytest.raises(BadInput, match=r"'slate_size' of 'bounds' must be a whole number of at least 2. Got 1."):
        theory.theorem3(P, 100, 1)


def test_theorem1_by_hand():
    P = np.array([[0.5, 0.75], [0.25, 0.5]])  # D = 1/4, H = 16, gamma = 1
    bound = theory.theorem1(P, 10**4, c1=2.0, c2=1.0, a=10.0, b=2.0)
    assert bound.terms["ln T"] == pytest.approx(2 * 16 * 8 * math.log(10**4))
    assert bound.terms["ln ln T"] == pytest.approx((4 + 1) * 2 * 16 * math.log(16))  # L = log2(4) + 2
    assert bound.terms["initial"] == 0.25 * (math.ceil(20 * 32 * math.log(32)) - 1) ** 2
    assert bound.value == 2500 and bound.capped
    default = theory.theorem1(P, 10**4, b=2.0)
    assert default.terms["ln T"] == pytest.approx(4.5 * 0.25 / 2 * 16 * 8 * math.log(10**4))
    assert any("no explicit constants" in note for note in default.notes)


def test_gamma_enters_the_theorems():
    natural = synthetic(48, link="natural").matrix
    bound = theory.theorem1(natural, 10**6, c2=1.0)
    size = 1.1 * 1.5**2 * theory.hardness(natural)
    assert bound.terms["initial"] == pytest.approx(0.3 * (math.ceil(20 * size * math.log(size)) - 1) ** 1.1, rel=1e-4)
    trapped = cyclic(4).matrix
    for bound in (theory.theorem1(trapped, 100), theory.theorem2(trapped, 100)):
        assert bound.raw == math.inf and bound.capped and bound.value == pytest.approx(10)
        assert any("gamma is infinite" in note for note in bound.notes)


def test_bounds_at_the_edges():
    one = np.array([[0.5]])
    for bound in (theory.theorem1(one, 10), theory.theorem2(one, 10), theory.theorem3(one, 10, 2)):
        assert bound.value == bound.raw == 0 and not bound.capped
    assert (theory.gamma(one), theory.hardness(one), theory.komiyama_lower_bound(one)) == (1, 0, 0)
    P = synthetic(3).matrix
    for horizon in (1, 2, 15, 16):
        for bound in (theory.theorem1(P, horizon), theory.theorem2(P, horizon), theory.theorem3(P, horizon, 2)):
            assert 0 <= bound.value <= horizon * 0.3 + 1e-12
    assert theory.theorem1(P, 100, b=1.0005).raw == math.inf
    for call in (theory.theorem1, theory.theorem2, lambda P, T: theory.theorem3(P, T, 2)):
        with pytest.raises(BadInput, match=r"'horizon' of 'bounds' must be a whole number of at least 1. Got 0."):
            call(P, 0)
        with pytest.raises(BadInput, match="Condorcet"):
            call(cyclic(3, condorcet=False).matrix, 10)
    with pytest.raises(BadInput, match="greater than 1"):
        theory.theorem1(P, 10, b=1.0)
    with pytest.raises(BadInput, match="must be positive"):
        theory.theorem1(P, 10, c2=0.0)
    with pytest.raises(BadInput, match="square"):
        theory.gamma(np.ones((2, 3)))


def test_did_you_mean():
    assert did_you_mean("multirucb", ["multi-rucb", "mdb"]) == " Did you mean 'multi-rucb'?"
    assert did_you_mean("MDB", ["multi-rucb", "mdb"]) == " Did you mean 'mdb'?"
    assert did_you_mean("zzz", ["multi-rucb", "mdb"]) == ""


@pytest.mark.parametrize("gap", [1e-4, 1e-6, 1e-9])
def test_small_differences_are_differences(gap):
    P = np.array([[0.5, 0.6, 0.6 + gap], [0.4, 0.5, 0.6], [0.4 - gap, 0.4, 0.5]])
    assert theory.borda_winners(P) == (0,) and theory.is_strongly_transitive(P)
    near = np.array([[0.5, 0.6, 0.6 - gap], [0.4, 0.5, 0.6], [0.4 + gap, 0.4, 0.5]])
    assert not theory.is_strongly_transitive(near)
    tied = np.array([[0.5, 0.5, 0.6 + gap], [0.5, 0.5, 0.6], [0.4 - gap, 0.4, 0.5]])
    assert theory.borda_winners(tied) == (0,)


@pytest.mark.parametrize("apart", [1e-1, 1e-3, 1e-5, 1e-7, 1e-9, 1e-12])
def test_kl_is_accurate_close_to_half(apart):
    """Against its series; 1 - p must not be rounded before the difference is taken."""
    p = 0.5 - apart
    d = 2.0 * p - 1.0
    series = sum(d ** (2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 40))
    assert theory.kl(p, 0.5) == pytest.approx(series, rel=1e-6)
    assert kl_to_half(np.array([p, 1.0 - p]))[0] == pytest.approx(series, rel=1e-6)


def test_kl_to_half_is_kl():
    p = np.array([0.0, 1.0, 0.5, 0.3, 1e-300, 0.999])
    assert kl_to_half(p) == pytest.approx([theory.kl(float(x), 0.5) for x in p], rel=1e-12)


def test_strong_transitivity_is_the_same_by_order_as_by_definition():
    """With an order of all arms it is read off the sorted matrix; otherwise every middle arm is looked at."""
    rng = np.random.default_rng(5)
    seen = set()
    for trial in range(300):
        K = int(rng.integers(2, 6))
        u = np.sort(rng.random(K) / 2.0)[::-1]
        P = 0.5 + (u[:, None] - u) / 2.0
        i, j = rng.permutation(K)[:2]
        P[i, j] = np.clip(P[i, j] + (trial % 3) * 0.05 * rng.normal(), 0.0, 1.0)
        P[j, i] = 1.0 - P[i, j]
        order = rng.permutation(K)
        P = P[np.ix_(order, order)]
        beats = P > 0.5
        triples = [(a, b, c) for a in range(K) for b in range(K) for c in range(K) if beats[a, b] and beats[b, c]]
        expected = all(P[a, c] >= max(P[a, b], P[b, c]) - 1e-12 for a, b, c in triples)
        assert theory.is_strongly_transitive(P) == expected
        seen.add(expected)
    assert seen == {True, False}
