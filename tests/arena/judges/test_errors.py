"""Verdicts of judges, by simulation: seldom wrong by case, often wrong where the same questions are asked again; positions."""

from __future__ import annotations

import numpy as np
from judges import experiment  # benchmarks/judges.py, where a thousand of each are played

from multiduel.inference.shares import share_interval

FEW = 13  # questions
EXPERIMENTS = 60


def test_verdicts_by_case_are_seldom_wrong_and_by_answer_often() -> None:
    wrong = {unit: sum(experiment(seed, FEW, unit, {})[0] for seed in range(EXPERIMENTS)) for unit in ("case", "answer")}
    assert wrong["case"] <= 8, "5 % of 60 are 3; more than 8 has a chance of 0.2 %"
    assert wrong["answer"] >= 12, "asked again and again, a judge of 13 questions is believed though it says nothing new"


def test_position_effects_are_found_and_seldom_imagined() -> None:
    fair = [experiment(seed, 60, "case", {}) for seed in range(30)]
    swayed = [experiment(seed, 60, "case", {"position": 0.6}) for seed in range(15)]
    assert sum(one[1] for one in fair) <= 6 and sum(one[1] for one in swayed) >= 12
    assert sum(one[0] for one in swayed) <= 5, "the order is random: a judge swayed by it prefers no option"


def test_shares_hold_while_one_looks() -> None:
    rng, misses = np.random.default_rng(1), 0
    for _ in range(300):
        drawn = rng.random(300) < 0.7
        looks = [share_interval(drawn[:n].sum(), n - drawn[:n].sum()) for n in range(10, 301, 29)]
        misses += any(not one.low <= 0.7 <= one.high for one in looks)
    assert misses <= 25, "5 % of 300 are 15"
    assert share_interval(200, 100).low > 0.5 and share_interval(0, 0).is_even
