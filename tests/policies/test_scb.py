"""SCB: found arms, and where no arm beats all."""

import numpy as np
import pytest

import multiduel as md
from tests.naive.follow import follow
from tests.policies.instances import tournament


@pytest.mark.parametrize("params", [{}, {"carry": True}, {"rule": "fixed"}, {"epsilon": 3.0}])
def test_scb_follows_its_oracle_through_found_arms(params):
    found = []
    for K, seed in ((2, 0), (3, 1), (5, 2)):
        found += follow("scb", params, K, 2, seed, tournament(K, seed, 0.49), 4000, compiled=True).found
    assert len(found) >= 3


def test_scb_and_ccb_find_a_copeland_winner_that_is_no_condorcet_winner():
    # 0 beats 1, 2, 3 and loses to 4, which loses to 1, 2 and 3; 1, 2, 3 go round.
    P = np.full((5, 5), 0.5)
    for i, j in ((0, 1), (0, 2), (0, 3), (4, 0), (1, 4), (2, 4), (3, 4), (1, 2), (2, 3), (3, 1)):
        P[i, j], P[j, i] = 0.9, 0.1
    for name in ("scb", "ccb", "savage"):
        params = {"variant": "copeland"} if name == "savage" else {}
        result = md.simulate(name, P, horizon=60_000, runs=6, seed=2, benchmark="copeland", **params)
        uniform = md.simulate("uniform", P, horizon=60_000, runs=2, seed=2, benchmark="copeland")
        assert (result.recommended == 0).all()
        assert result.regret[:, -1].mean() < 0.25 * uniform.regret[:, -1].mean()
