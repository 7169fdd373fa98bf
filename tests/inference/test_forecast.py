"""Forecasts promise nothing, but their range is made to hold what it then takes in four cases of five."""

import numpy as np

import multiduel as md

MOST = 6000  # answers: who is not settled then was to take longer than a range that ends before


def first_forecast(seed, K=5, m=2):
    """(range, answers that it then took or None): strengths are drawn from the law that a forecast takes for granted."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(K)
    policy = md.make("challengers", n_arms=K, slate_size=m, seed=seed)
    forecast, at = None, 0
    for t in range(1, MOST + 1):
        slate = policy.ask()
        if len(slate.arms) == 1:
            return forecast, t - 1 - at
        score = {arm: u[arm] + rng.gumbel() for arm in slate.arms}
        policy.tell(slate, md.ranking(sorted(slate.arms, key=lambda arm: -score[arm])))
        if forecast is None and t >= 40 * K / m:
            forecast, at = md.forecast(policy.tally, slate_size=m), t
    return forecast, None


def test_the_range_holds_about_four_of_five():
    within, sooner, later = 0, 0, 0
    for seed in range(120):
        forecast, took = first_forecast(seed)
        if forecast is None or forecast.high == 0:
            continue  # settled before there was one
        if took is None:
            later += forecast.high < MOST - 100  # else nobody knows
            continue
        within += forecast.low <= took <= forecast.high
        sooner += took < forecast.low
        later += took > forecast.high
    known = within + sooner + later
    assert known > 80
    assert 0.65 < within / known < 0.95  # 0.80 plus or minus three and a half standard errors
    assert sooner / known < 0.25 and later / known < 0.25


def test_a_range_that_is_too_wide_is_too_early_to_say():
    """Between equal leaders anything is possible; the numbers stay, for whoever offers a margin."""
    level = md.inference.Tally.of([[0, 40, 60], [40, 0, 60], [20, 20, 0]])
    guess = md.forecast(level)
    assert guess.too_early and guess.high > 30 * guess.low > 0
    assert str(guess) == "too early to say (the range is too wide)", "such as 410 to 67,000: no number that helps"
    clear = md.forecast(md.inference.Tally.of([[0, 30, 45], [12, 0, 40], [5, 10, 0]]))
    assert not clear.too_early and clear.high <= 30 * clear.low
