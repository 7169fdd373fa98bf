"""IF1 and IF2 to their commitments."""

import pytest

import multiduel as md
from tests.naive.follow import follow
from tests.policies.instances import shuffled


@pytest.mark.parametrize("name", ["if1", "if2"])
@pytest.mark.parametrize("constant", [0.05, 0.15])
def test_if_follows_its_oracle_through_new_candidates_to_the_commitment(name, constant):
    histories = [
        follow(name, {"constant": constant}, K, 2, seed, shuffled(K, seed), 2500, compiled=True)
        for K, seed in ((2, 0), (5, 1), (8, 2), (8, 3))
    ]
    assert all(not naive.W for naive in histories)
    assert max(len(naive.history) for naive in histories) >= 3


def test_if2_prunes_what_if1_keeps():
    duels = {name: md.simulate(name, md.synthetic(24), horizon=200_000, runs=6, seed=3).events for name in ("if1", "if2")}
    assert duels["if2"].sum() < duels["if1"].sum()
