"""What the paper's algorithms must show on its synthetic problem, at sizes that take a moment."""

import numpy as np
import pytest

import multiduel as md


def test_multi_rucb_is_near_the_known_values_and_falls_with_m():
    """50 runs of 10^6 rounds, K = 48, alpha = 0.51: means 861 (m = 8) and 613 (m = 16), standard deviations 54 and 45."""
    means = {}
    for m in (2, 4, 8, 16, 32):
        result = md.simulate("multi-rucb", md.synthetic(48), slate_size=m, horizon=10**6, runs=50 if m > 2 else 10)
        means[m] = result.mean[-1]
        assert (result.recommended == 0).all()
    assert means[8] == pytest.approx(861, abs=40) and means[16] == pytest.approx(613, abs=35)
    assert list(means.values()) == sorted(means.values(), reverse=True)


@pytest.mark.parametrize("link", ["linear", "natural", "logit"])
def test_feedback_pays(link):
    problem = md.synthetic(48, link=link)
    without, with_it = (md.simulate(name, problem, horizon=10**6, runs=4) for name in ("multi-sbm", "multi-sbm-feedback"))
    difference = without.final - with_it.final
    assert difference.mean() > 3 * np.sqrt((without.variance[-1] + with_it.variance[-1]) / 4)


def test_doubler_bai_identifies_first_in_epoch_18():
    """Epochs 0 to 17 (to round 113,362) never identify an arm, so the left arm is random and regret is linear until
    epoch 18 (rounds 113,363 to 363,008): about 1.5e4 at 10^5."""
    marks = [88_000, 100_000, 10**6]
    result = md.simulate("doubler-bai", md.synthetic(48), horizon=10**6, runs=20, checkpoints=marks)
    assert result.mean[1] == pytest.approx(1.5e4, rel=0.35)
    assert 3e4 < result.mean[2] < 1.3e5
