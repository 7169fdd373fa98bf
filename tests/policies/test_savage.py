"""SAVAGE to its commitment."""

import pytest

from tests.naive.follow import follow
from tests.policies.instances import shuffled, tournament


@pytest.mark.parametrize("variant", ["condorcet", "copeland"])
@pytest.mark.parametrize("union", ["horizon", "samples"])
def test_savage_follows_its_oracle_to_the_commitment(variant, union):
    for K, seed in ((2, 0), (4, 1), (6, 2)):
        P = shuffled(K, seed) if variant == "condorcet" else tournament(K, seed)
        naive = follow("savage", {"variant": variant, "union": union, "delta": 0.9}, K, 2, seed, P, 2500, compiled=True)
        assert naive.winner is not None
