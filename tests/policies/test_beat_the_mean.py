"""Beat the Mean and its PAC version to their commitments."""

import math

import pytest

from multiduel.policies.beat_the_mean import PAC as PacParams
from multiduel.policies.beat_the_mean import comparisons_enough
from tests.naive.follow import follow
from tests.policies.instances import shuffled


@pytest.mark.parametrize("params", [{"constant": 0.2}, {"constant": 0.2, "self_duels": False}, {"gamma": 1.05, "constant": 0.15}])
def test_btm_follows_its_oracle_to_the_commitment(params):
    naive = follow("btm", params, 6, 2, 4, shuffled(6, 4), 3000, compiled=True)
    assert naive.winner is not None
    assert len(naive.dropped) == 5


def test_beat_the_mean_pac_stops_both_ways():
    by_elimination = follow("beat-the-mean-pac", {"constant": 0.2}, 4, 2, 5, shuffled(4, 5), 1500, compiled=True)
    assert by_elimination.winner is not None
    assert len(by_elimination.A) == 1
    by_number = follow("beat-the-mean-pac", {"epsilon": 0.5, "delta": 0.9}, 2, 2, 6, shuffled(2, 6, 0.01), 6000, compiled=True)
    assert by_number.winner is not None
    assert len(by_number.A) == 2


def test_comparisons_enough_is_the_smallest_solution():
    for K, epsilon, gamma in ((2, 0.5, 1.0), (48, 0.1, 1.0), (10, 0.2, 1.3)):
        params = PacParams(epsilon=epsilon, gamma=gamma)

        def needed(N, K=K, params=params):
            return 36.0 * params.gamma**6 / params.epsilon**2 * math.log(K**3 * N / params.delta)

        N = comparisons_enough(params, K)
        assert needed(N) <= N
        assert needed(N - 1) > N - 1
