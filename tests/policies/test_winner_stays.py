"""Winner Stays: what its listings promise."""

import math

import numpy as np

from multiduel import simulate
from multiduel.kernels.contract import ask, init, tell
from multiduel.policies import winner_stays
from tests.policies.instances import STREAM, clear_order


def test_ws_s_uses_the_winner_of_round_r_floor_beta_to_the_r_times():
    params = winner_stays.WSS(beta=1.5)
    rng, slate = STREAM.copy(), np.zeros(3, np.int64)
    state = init(params, 3, rng)
    world, stretches, t = np.random.default_rng(0), [], 1
    while len(stretches) < 8:
        n, rounds = ask(params, state, rng, t, 10**9, slate)
        t += rounds
        if n == 1:
            stretches.append(rounds)
            assert sorted(state.standings.C) == [-len(stretches), -len(stretches), 2 * len(stretches)]
        else:
            won = float(world.random() < 0.7) if slate[0] < slate[1] else float(world.random() < 0.3)
            tell(params, state, rng, t, slate[:2], np.array([[0.0, won], [1.0 - won, 0.0]]))
    assert stretches == [math.floor(1.5**r) for r in range(1, 9)]


def test_ws_w_keeps_the_best_arm_in_nearly_every_duel():
    result = simulate("ws-w", clear_order(5), horizon=30_000, runs=3)
    assert result.regrets["weak"][:, -1].max() < 0.01 * result.regrets["strong"][:, -1].min()
