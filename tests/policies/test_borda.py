"""The Borda learner goes for the Borda winner."""

import numpy as np

import multiduel as md


def test_borda_goes_for_the_borda_winner_where_the_condorcet_winner_is_another():
    P = np.full((5, 5), 0.5)
    P[0, 1:], P[1:, 0] = 0.55, 0.45  # arm 0 beats all, narrowly
    P[1, 2:], P[2:, 1] = 0.95, 0.05  # arm 1 crushes all others
    result = md.simulate("borda", P, horizon=50_000, runs=4, seed=0, benchmark="borda")
    assert (result.recommended == 1).all()
    assert result.mean[-1] < 0.2 * 50_000 * 0.2
