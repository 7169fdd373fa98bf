"""Instances: the paper's utilities, and the promises each random family makes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multiduel import theory
from multiduel.inputs import BadInput
from multiduel.problems import (
    CATALOGUE,
    SPECS,
    bradley_terry,
    cyclic,
    instance,
    parse,
    random_tournament,
    random_utilities,
    synthetic,
    write_csv,
)

SEEDS = st.integers(0, 2**32)


def test_synthetic_utilities():
    mu = synthetic(48).utilities
    assert mu[0] == 0.8 and mu[1] == pytest.approx(0.7) and mu[-1] == pytest.approx(0.2)
    assert mu[2:] / mu[1:-1] == pytest.approx(np.full(46, 0.973134), abs=5e-7)
    assert synthetic(72).utilities[10] == pytest.approx(0.7 * (2 / 7) ** (9 / 70))
    assert synthetic(1).utilities.tolist() == [0.8]
    assert synthetic(2).utilities.tolist() == [0.8, 0.7]
    assert synthetic(3).utilities.tolist() == [0.8, 0.7, 0.2]
    assert synthetic(48, link="natural").label == "synthetic, K = 48, natural link"


@given(st.integers(1, 20), SEEDS)
def test_random_families_have_a_winner(K, seed):
    for problem in (random_utilities(K, seed=seed), bradley_terry(K, seed=seed), random_tournament(K, seed=seed)):
        assert problem.n_arms == K and problem.winner is not None
    assert bradley_terry(K, seed=seed).strongly_transitive


@given(st.integers(3, 12), SEEDS)
def test_tournament_without_a_winner(K, seed):
    problem = random_tournament(K, seed=seed, condorcet=False)
    assert problem.n_arms == K and problem.winner is None
    assert np.count_nonzero(problem.matrix == 0.5) == K  # the diagonal: no tie


def test_seeds():
    for family in (random_utilities, bradley_terry, random_tournament):
        assert np.array_equal(family(6, seed=1).matrix, family(6, seed=1).matrix)
        assert not np.array_equal(family(6, seed=1).matrix, family(6, seed=2).matrix)
        assert "seed 1" in family(6, seed=1).label
    winners = {random_tournament(6, seed=seed).winner for seed in range(60)}
    assert winners == set(range(6))


def test_scale_makes_it_easier():
    assert bradley_terry(6, seed=1, scale=2).gaps.max() > bradley_terry(6, seed=1, scale=1).gaps.max()


@pytest.mark.parametrize("K", range(1, 12))
def test_cyclic_with_a_winner(K):
    problem = cyclic(K, gap=0.05)
    assert problem.winner == 0 and problem.gaps[1:] == pytest.approx(np.full(K - 1, 0.05))
    assert np.count_nonzero(problem.matrix == 0.5) == K


@pytest.mark.parametrize("K", range(3, 12))
def test_a_circle_has_no_winner_and_no_tie(K):
    problem = cyclic(K, condorcet=False)
    assert problem.winner is None and np.count_nonzero(problem.matrix == 0.5) == K
    for i in range(K):
        assert problem.matrix[i, (i + 1) % K] == pytest.approx(0.9)
    if K % 2:
        assert len(problem.copeland_winners) == K
        assert len(problem.borda_winners) == K  # equal but for the rounding of their sums


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: synthetic(0), "'n_arms' of 'synthetic' must be at least 1. Got 0."),
        (lambda: synthetic(2.5), "'n_arms' of 'synthetic' must be a whole number. Got 2.5."),
        (lambda: random_utilities(3, seed=-1), "'seed' of 'random_utilities' must be at least 0. Got -1."),
        (lambda: bradley_terry(3, scale=0), "'scale' of 'bradley_terry' must be above 0 and at most 1e+100. Got 0.0."),
        (
            lambda: random_tournament(2, condorcet=False),
            "'n_arms' of 'random_tournament' without a Condorcet winner must be at least 3. Got 2.",
        ),
        (
            lambda: cyclic(2, condorcet=False),
            "'n_arms' of 'cyclic' without a Condorcet winner must be at least 3. Got 2.",
        ),
        (lambda: cyclic(4, gap=0.6), "'gap' of 'cyclic' must be above 0 and at most 1/2. Got 0.6."),
    ],
)
def test_refused(make, message):
    with pytest.raises(BadInput) as caught:
        make()
    assert str(caught.value) == message


def test_parse(tmp_path):
    for spec in SPECS:
        assert parse(spec, n_arms=7, seed=3).n_arms == 7
    assert parse("synthetic").label == "synthetic, K = 48, linear link"
    assert parse("random", n_arms=4, link="natural", seed=9).label == random_utilities(4, seed=9, link="natural").label
    path = tmp_path / "mine.csv"
    write_csv(cyclic(4), path)
    assert parse(str(path), n_arms=4).label == parse(str(path)).label == "mine"


def test_parse_refuses_what_it_cannot_use(tmp_path):
    with pytest.raises(BadInput, match=r"Got 'sinthetic'\. Did you mean 'synthetic'\?"):
        parse("sinthetic")
    with pytest.raises(BadInput, match="'link' must not be given for 'cyclic'"):
        parse("cyclic", link="logit")
    path = tmp_path / "mine.csv"
    write_csv(cyclic(4), path)
    with pytest.raises(BadInput, match="'n_arms' must be 4, the number of arms in"):
        parse(str(path), n_arms=5)


def test_the_published_numbers():
    """Utilities that we believe to be those of Ailon et al. (six arms), and the files of Komiyama et al. (eight and four)."""
    utilities = {name: instance(name).utilities.round(3).tolist() for name in ("1good", "2good", "3good", "arith", "geom")}
    assert utilities == {
        "1good": [0.8, 0.2, 0.2, 0.2, 0.2, 0.2],
        "2good": [0.8, 0.7, 0.2, 0.2, 0.2, 0.2],
        "3good": [0.8, 0.7, 0.7, 0.2, 0.2, 0.2],
        "arith": [0.8, 0.7, 0.575, 0.45, 0.325, 0.2],
        "geom": [0.8, 0.7, 0.512, 0.374, 0.274, 0.2],
    }
    assert instance("6good").utilities.tolist() == [0.8] + [0.7] * 5 + [0.2] * 10
    assert instance("arithmetic").matrix[2].round(2).tolist() == [0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75]
    assert instance("arithmetic").total_order and instance("arithmetic").strongly_transitive
    published = [[0.5, 0.6, 0.6, 0.6], [0.4, 0.5, 0.9, 0.1], [0.4, 0.1, 0.5, 0.9], [0.4, 0.9, 0.1, 0.5]]
    assert instance("cyclic", 4).matrix.round(12).tolist() == published


def test_they_equal_the_files_of_their_authors(data_dir):
    for name, arms in (("arithmetic", 8), ("cyclic", 4)):
        assert instance(name, arms).matrix == pytest.approx(parse(str(data_dir / f"synthetic_{name}_{arms}.csv")).matrix)


@pytest.mark.parametrize("K", [3, 4, 7, 40])
def test_three_winners(K):
    problem = instance("three-winners", K)
    scores = sorted(theory.copeland_scores(problem.matrix).tolist(), reverse=True)
    assert problem.winner is None and problem.copeland_winners == (0, 1, 2)
    assert scores == [K - 2] * 3 + list(range(K - 4, -1, -1)) if K > 3 else scores == [1, 1, 1]


@pytest.mark.parametrize("K", [5, 7, 9, 21])
def test_swirl(K):
    problem = instance("swirl", K)
    scores = theory.copeland_scores(problem.matrix).tolist()
    half = (K - 1) // 2
    assert problem.winner is None and problem.copeland_winners == (0,)
    assert sorted(scores) == [half - 1] + [half] * (K - 2) + [half + 1]
    assert not problem.weakly_transitive


@pytest.mark.parametrize("K", [4, 8, 30])
def test_borda_or_copeland(K):
    problem = instance("bvsc", K)
    assert problem.winner == 0 and problem.copeland_winners == (0,) and problem.borda_winners == (1,)
    assert problem.gaps[1:] == pytest.approx(np.full(K - 1, 0.05))


def test_every_family_has_a_source_and_makes_problems():
    for name, family in CATALOGUE.items():
        assert family.source and family.about and parse(name).n_arms == family.arms, name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: instance("swril"), "'name' must be one of"),
        (lambda: instance("swirl", 6), "'n_arms' of 'swirl' must be odd. Got 6."),
        (lambda: instance("swirl", link="logit"), "'link' must not be given for 'swirl', which takes 'gap'. Got 'logit'."),
        (lambda: instance("arithmetic", 12), "'step' of 'arithmetic' with 12 arms must be at most 0.0454545. Got 0.05."),
        (lambda: instance("bvsc", rout=0.05), "'rout' of 'bvsc' with 8 arms must be above 0.0666667"),
        (lambda: instance("2good", 1), "'n_arms' of '2good' must be at least 2. Got 1."),
        (lambda: instance("three-winners", gap=0.7), "'gap' of 'three-winners' must be above 0 and at most 1/2. Got 0.7."),
    ],
)
def test_instances_refuse(make, message):
    with pytest.raises(BadInput) as caught:
        make()
    assert str(caught.value).startswith(message)
