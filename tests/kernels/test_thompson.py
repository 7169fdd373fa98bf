"""The lazy race has exactly the law of plain Beta draws: chi-square against quadrature, for any leader and any level."""

import math

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import beta as beta_law
from scipy.stats import chisquare, kstest

from multiduel.kernels import thompson
from multiduel.kernels.compiler.dispatch import JIT, compiled
from multiduel.kernels.random import stream
from multiduel.kernels.thompson import HAZARD, LEADER, OPEN, SILENT, UNKNOWN

RACES = 200_000 if JIT else 3_000
ALPHA = 1e-4  # over some thirty tests with fixed seeds: a failure is a fault

BELIEFS = {
    "fresh": ([0, 0, 0, 0, 0], [0, 0, 0, 0, 0]),
    "one far ahead": ([900, 40, 30, 20, 2], [300, 60, 50, 50, 1]),
    "neck and neck": ([500, 495, 300, 100, 8], [480, 490, 330, 120, 10]),
    "fractions": ([20.5, 3.25, 17.75, 0.5, 6.125], [11.5, 4.75, 16.25, 0.25, 9.875]),
    "skewed": ([200, 150, 0, 12, 0], [0.5, 8, 40, 1, 0]),
    "large": ([60_000, 59_000, 900, 30_000, 200], [40_000, 40_600, 650, 20_700, 130]),
}


def race_of(wins, losses):
    race = thompson.new_race(len(wins))
    for arm, (won, lost) in enumerate(zip(wins, losses, strict=True)):
        thompson.update_belief(race, arm, float(won), float(lost))
    return race


def chances(race):
    """P(arm i wins the race), by quadrature."""
    laws = [beta_law(a, b) for a, b in zip(race.a, race.b, strict=True)]
    edges = np.unique(np.concatenate([law.ppf([1e-13, 1e-6, 0.01, 0.25, 0.5, 0.75, 0.99, 1 - 1e-6, 1 - 1e-13]) for law in laws]))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half = np.diff(edges)[:, None] / 2.0
    x, w = (edges[:-1, None] + half * (1.0 + nodes)).ravel(), (half * weights).ravel()
    below = np.array([law.cdf(x) for law in laws])
    others = [np.prod(np.delete(below, i, axis=0), axis=0) for i in range(len(laws))]
    return np.array([np.sum(w * law.pdf(x) * rest) for law, rest in zip(laws, others, strict=True)])


def hold(race, rng, races, singles, pairs):
    """Winners, and pairs of successive winners."""
    last = thompson.draw(race, rng)
    for _ in range(races):
        winner = thompson.draw(race, rng)
        singles[winner] += 1.0
        pairs[last, winner] += 1.0
        last = winner


def hold_skipping(race, rng, races, singles):
    """The same, taking sure races at a stroke."""
    left = races
    while left > 0:
        sure = min(thompson.sure_races(race, rng), left)
        if sure > 0:
            thompson.skip(race, sure)
            singles[race.tally[LEADER]] += sure
            left -= sure
        else:
            singles[thompson.draw(race, rng)] += 1.0
            left -= 1


@pytest.fixture(scope="module")
def holding():
    return compiled(hold)


@pytest.fixture(scope="module")
def skipping():
    return compiled(hold_skipping)


def p_value(counts, expected):
    """Chi-square with cells of fewer than ten expected put together."""
    counts, expected = np.ravel(counts), np.ravel(expected) * np.sum(counts)
    rare = expected < 10.0
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
        if expected[-1] < 1e-3:
            assert counts[-1] <= 1.0
            counts, expected = counts[:-1], expected[:-1]
    if len(counts) < 2:
        return 1.0
    return chisquare(counts, expected * (counts.sum() / expected.sum())).pvalue


@pytest.mark.parametrize("name", BELIEFS)
def test_winners_have_the_law_of_plain_draws(name, holding, skipping):
    race = race_of(*BELIEFS[name])
    law = chances(race)
    assert law.sum() == pytest.approx(1.0, abs=1e-8)
    rng = stream(np.random.SeedSequence(len(name)))
    singles, pairs, skipped = np.zeros(5), np.zeros((5, 5)), np.zeros(5)
    holding(race, rng, RACES, singles, pairs)
    assert p_value(singles, law) > ALPHA
    assert p_value(pairs, np.outer(law, law)) > ALPHA  # and successive races are independent
    skipping(race, rng, RACES, skipped)
    assert p_value(skipped, law) > ALPHA


@pytest.mark.parametrize("leader", range(5))
@pytest.mark.parametrize("name", ["neck and neck", "fractions", "skewed"])
def test_any_leader_and_any_level_will_do(name, leader, holding):
    race = race_of(*BELIEFS[name])
    law = chances(race)
    own = beta_law(race.a[leader], race.b[leader])
    rng = stream(np.random.SeedSequence([leader, len(name)]))
    for share in (1e-5, 0.03, 0.15, 0.9):
        thompson.lay_level(race, leader, float(own.ppf(share)))
        singles = np.zeros(5)
        holding(race, rng, RACES // 4, singles, np.zeros((5, 5)))
        assert p_value(singles, law) > ALPHA, share


@pytest.mark.skipif(not JIT, reason="too few races in plain Python to see it")
def test_the_chi_square_sees_a_small_error(holding):
    """Its power: alarms raised 10% too seldom would be found out."""
    race, rng = race_of(*BELIEFS["neck and neck"]), stream(np.random.SeedSequence(5))
    law = chances(race)
    thompson.lay_level(race, 0, float(beta_law(race.a[0], race.b[0]).ppf(0.15)))
    thompson.prepare(race, rng)
    assert race.tally[OPEN] < 5
    race.hazard[:] *= 0.9
    race.level[HAZARD] *= 0.9
    singles = np.zeros(5)
    holding(race, rng, RACES, singles, np.zeros((5, 5)))
    assert p_value(singles, law) < ALPHA


def test_plain_draws_have_the_law_too():
    race = race_of(*BELIEFS["fractions"])
    rng = stream(np.random.SeedSequence(2))
    singles = np.bincount([thompson.draw_directly(race, rng) for _ in range(3000)], minlength=5)
    assert p_value(singles, chances(race)) > ALPHA


def test_silence_is_geometric():
    race = race_of(*BELIEFS["one far ahead"])
    rng = stream(np.random.SeedSequence(3))
    thompson.prepare(race, rng)
    race.level[HAZARD] = 0.01
    waits = np.array([thompson.silence(race, rng) for _ in range(4000)])
    spread = waits + np.random.default_rng(0).random(4000)  # an exponential again, but for the shape within a race
    assert kstest(spread, "expon", args=(0.0, 100.0)).pvalue > ALPHA
    assert waits.mean() == pytest.approx(1.0 / math.expm1(0.01), rel=0.08)


def test_a_leader_far_ahead_wins_for_long():
    race = race_of([90_000, 100, 80], [10_000, 200, 300])
    assert thompson.sure_races(race, stream(np.random.SeedSequence(4))) > 10**6
    assert race.tally[LEADER] == 0


def test_news_end_the_silence():
    race = race_of([90_000, 100, 80], [10_000, 200, 300])
    rng = stream(np.random.SeedSequence(4))
    thompson.sure_races(race, rng)
    for _ in range(3):
        thompson.update_belief(race, 2, 200_000.0, 0.0)
    assert race.tally[SILENT] == UNKNOWN
    winners = [thompson.draw(race, rng) for _ in range(20)]
    assert winners == [2] * 20


@pytest.mark.parametrize("n_arms", [1, 2])
def test_small_fields(n_arms):
    race, rng = thompson.new_race(n_arms), stream(np.random.SeedSequence(1))
    for k in range(60):
        winner = thompson.draw(race, rng)
        assert 0 <= winner < n_arms
        thompson.update_belief(race, winner, float(k % 3 == 0), 0.5)


def test_log_beta_against_scipy():
    draws = np.random.default_rng(0)
    for _ in range(500):
        a, b = 1.0 + draws.exponential(10.0 ** draws.uniform(-2, 6, 2))
        assert thompson.log_beta(a, b) == pytest.approx(betaln(a, b), rel=1e-9, abs=1e-12)
    assert thompson.log_beta(1.0, 1.0) == pytest.approx(0.0, abs=1e-12)


def test_compiled_and_plain_hold_the_same_races(holding):
    def run(function):
        race, rng = race_of(*BELIEFS["neck and neck"]), stream(np.random.SeedSequence(9))
        singles, pairs = np.zeros(5), np.zeros((5, 5))
        function(race, rng, 2000, singles, pairs)
        return singles.tolist(), pairs.tolist(), rng.tolist(), [array.tolist() for array in race]

    assert run(holding) == run(hold)
