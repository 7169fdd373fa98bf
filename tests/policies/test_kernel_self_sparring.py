"""KernelSelfSparring: arms that are alike."""

import numpy as np
import pytest

import multiduel as md
from multiduel.kernels.contract import tell, use_features
from tests.naive.follow import follow
from tests.policies.instances import even_order, started


@pytest.mark.parametrize("params", [{}, {"variance": 0.01, "noise": 0.1, "correlation": 0.2}])
def test_kernel_self_sparring_follows_the_oracle(params):
    for K, m in ((1, 2), (2, 2), (6, 4)):
        follow("kernel-self-sparring", params, K, m, K, even_order(K), 60)


def test_arms_that_are_alike_learn_from_each_other():
    params, state, rng = started("kernel-self-sparring", 4, 2)
    use_features(params, state, np.array([[0.0, 0.0], [0.4, 0.0], [9.0, 0.0], [0.0, 9.0]]))
    tell(params, state, rng, 1, np.array([0, 2]), np.array([[0.0, 30.0], [0.0, 0.0]]))
    assert state.mean[0] > state.mean[1] > 0.7  # never seen, but kin of the winner
    assert abs(state.mean[3] - 0.5) < 1e-9 and state.mean[2] < 0.3
    assert np.array_equal(state.C, state.C.T)


def test_features_reach_the_arms_they_are_of():
    """Arms 0 to 3 are alike, 4 is not: in the user's numbers, whatever the policy's own are."""
    features = [[0.0], [0.1], [0.2], [0.3], [50.0]]
    policy = md.make("kernel-self-sparring", n_arms=5, slate_size=2, seed=4, features=features, variance=0.04)
    order = np.argsort(policy._label)
    assert order.tolist() != [0, 1, 2, 3, 4]
    covariance = policy._state.C[np.ix_(order, order)]
    assert covariance[4, :4].max() < 1e-9 < 0.035 < covariance[:4, :4].min()


def test_features_that_tell_quality_save_regret():
    quality = np.linspace(0.9, 0.1, 24)[:, None]
    informed, blind = (
        md.simulate("kernel-self-sparring", even_order(24), horizon=150, runs=60, seed=1, **given)
        for given in ({"features": quality, "length": 0.4}, {})
    )
    assert informed.mean[-1] < 0.5 * blind.mean[-1]
    assert informed.params["features"] == quality.tolist() and "features" not in blind.params
