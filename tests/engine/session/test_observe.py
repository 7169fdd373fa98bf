"""Comparisons that a policy did not ask for, and a start from those seen before."""

import numpy as np
import pytest

import multiduel as md
from multiduel.policies import ALL

TWO = [spec.name for spec in ALL if spec.slate == "two" and spec.observes]
BLIND = [spec.name for spec in ALL if not spec.observes]


def upper(n):
    """Every arm beat those of higher number 20 times, and lost once."""
    return np.triu(np.full((n, n), 20.0), 1) + np.tril(np.ones((n, n)), -1)


def test_who_observes():
    assert len(BLIND) == 21 and {"multi-rucb", "rmed1", "dts", "ind-self-sparring", "uniform"}.isdisjoint(BLIND)
    assert {"sparring", "multi-sbm-feedback", "doubler-bai", "knockout", "seebs", "versatile-db", "if2", "btm", "savage"} < set(
        BLIND
    )


def test_an_observed_ranking_counts():
    policy = md.make("multi-rucb", n_arms=5, slate_size=3, seed=0)
    for _ in range(40):
        policy.observe((4, 1, 0), md.ranking([1, 4, 0]))
    assert policy.recommend() == 1 and policy.round == 0 and policy.open == ()


@pytest.mark.parametrize("name", TWO)
def test_a_two_dueling_policy_learns_every_pair_of_a_ranking(name):
    """Kernels of two arms look at the first two of a slate: the others must reach them as pairs."""
    policy = md.make(name, n_arms=6, seed=1, horizon=1000)
    for _ in range(60):
        policy.observe([5, 1, 3, 4, 2, 0], md.ranking([2, 3, 4, 5, 0, 1]))
    assert policy.recommend() == 2


def test_a_start_from_a_tally_goes_on_where_it_ended():
    W = upper(6)
    policy = md.make("rucb", n_arms=6, seed=2, tally=W, round=400)
    assert policy.recommend() == 0 and policy.ask().round == 401
    assert md.make("rucb", n_arms=6, seed=2, tally=W).ask().round == int(W.sum()) + 1  # by default a round for every duel
    assert md.make("rucb", n_arms=6, seed=2, tally=W.tolist(), round=0).ask().round == 1


def test_the_round_matters_to_bounds_that_grow_with_it():
    """In round 1 the bounds of RUCB have no width: a tally of 21 duels a pair seems to settle everything."""
    W = np.array([[0.0, 12.0, 12.0], [9.0, 0.0, 12.0], [9.0, 9.0, 0.0]])
    early, late = (md.make("rucb", n_arms=3, seed=0, tally=W, round=round) for round in (0, 10**6))
    assert {len(early.ask().arms) for _ in range(1)} == {1}
    assert 2 in {len(late.ask().arms) for _ in range(20)}


@pytest.mark.parametrize(
    ("tally", "says"),
    [
        ([[0.0, 1.0]], "must be 2 x 2"),
        ("nonsense", "must be a matrix of numbers"),
        ([[0.0, -1.0], [1.0, 0.0]], "finite and at least 0"),
        ([[0.0, float("nan")], [1.0, 0.0]], "finite"),
        ([[1.0, 1.0], [1.0, 0.0]], "An arm cannot beat itself"),
        ([[0.0, 1.1e15], [1.0, 0.0]], "from 0 to 1e"),
    ],
)
def test_tallies_that_are_refused(tally, says):
    with pytest.raises(md.BadInput, match=says):
        md.make("rucb", n_arms=2, tally=tally)
    md.make("rucb", n_arms=2, tally=[[0.0, 1e15], [0.0, 0.0]])


@pytest.mark.parametrize("round", [-1, 0.5, 10**15 + 1, "x", None])
def test_rounds_that_are_refused(round):
    if round is None:  # a round without a tally
        with pytest.raises(md.BadInput, match="Give it 'tally' too"):
            md.make("rucb", n_arms=2, round=3)
        return
    with pytest.raises(md.BadInput, match="'round' of 'rucb'"):
        md.make("rucb", n_arms=2, tally=np.zeros((2, 2)), round=round)


@pytest.mark.parametrize("arms", [(0,), (0, 0), (0, 9), (0, -1), 3, None, "ab", ([0], 1), (0, 1.5)])
def test_arms_that_are_refused(arms):
    policy = md.make("uniform", n_arms=3, seed=0)
    before = policy.snapshot()
    with pytest.raises(md.BadInput, match="two or more different arms from 0 to 2"):
        policy.observe(arms, md.ranking([0, 1]))
    assert policy.snapshot() == before


def test_observed_weights_have_the_limit_of_told_ones():
    policy = md.make("uniform", n_arms=3, seed=0)
    policy.observe((0, 1), [[0.0, 1e9], [0.0, 0.0]])
    with pytest.raises(md.BadInput, match="from 0 to 1e"):
        policy.observe((0, 1), [[0.0, 1.0000001e9], [0.0, 0.0]])
