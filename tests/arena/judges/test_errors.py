"""Verdicts of judges, by simulation: seldom wrong by case, often wrong where the same questions are asked again; positions."""

from __future__ import annotations

import numpy as np
from judges import Arena, experiment  # benchmarks/judges.py, where a thousand of each are played

from multiduel.arena.judges.worth import MOST_BY_CONTENT
from multiduel.inference.shares import share_interval

FEW = 13  # questions
EXPERIMENTS = 60


def test_verdicts_by_case_are_seldom_wrong_and_by_answer_often() -> None:
    few = Arena(2, 2, FEW, 200)
    wrong = {unit: sum(experiment(seed, few, unit, {}).wrong for seed in range(EXPERIMENTS)) for unit in ("case", "answer")}
    assert wrong["case"] <= 8, "5 % of 60 are 3; more than 8 has a chance of 0.2 %"
    assert wrong["answer"] >= 12, "asked again and again, a judge of 13 questions is believed though it says nothing new"


def test_verdicts_of_five_options_are_seldom_wrong_and_often_right() -> None:
    five, habits = Arena(5, 4, 30, 60), {"contradicts": 0.3}
    assert sum(experiment(seed, five, "case", habits).wrong for seed in range(20)) <= 5
    better = [experiment(seed, five, "case", {"better": 2.0}) for seed in range(10)]
    assert sum(one.right for one in better) >= 7 and sum(one.wrong for one in better) <= 2


def test_position_effects_are_found_and_seldom_imagined() -> None:
    many = Arena(2, 2, 60, 60)
    fair = [experiment(seed, many, "case", {}) for seed in range(30)]
    swayed = [experiment(seed, many, "case", {"position": 0.6}) for seed in range(15)]
    assert sum(one.swayed for one in fair) <= 6 and sum(one.swayed for one in swayed) >= 12
    assert not any(one.decides for one in fair)
    assert all(one.decides for one in (experiment(seed, many, "case", {"position": 1.0}) for seed in range(3)))
    assert sum(one.wrong for one in swayed) <= 5, "the order is random: a judge swayed by it prefers no option"


def test_decided_by_position_is_said_of_judges_whose_answers_mostly_are() -> None:
    rng, said = np.random.default_rng(1), {}
    for by_position in (0.5, 0.9):
        times = 0
        for _ in range(100):
            firsts = np.cumsum(rng.random(120) < by_position + (1.0 - by_position) / 2.0).tolist()
            looks = (share_interval(firsts[n - 1], n - firsts[n - 1]) for n in range(10, 121, 5))
            times += any(look.low > MOST_BY_CONTENT for look in looks)
        said[by_position] = times
    assert said[0.5] <= 10, "half by position, half by content is not mostly: 2.5 % of 100 at most, while one looks"
    assert said[0.9] >= 90


def test_shares_hold_while_one_looks() -> None:
    rng, misses = np.random.default_rng(1), 0
    for _ in range(300):
        drawn = rng.random(300) < 0.7
        looks = [share_interval(drawn[:n].sum(), n - drawn[:n].sum()) for n in range(10, 301, 29)]
        misses += any(not one.low <= 0.7 <= one.high for one in looks)
    assert misses <= 25, "5 % of 300 are 15"
    assert share_interval(200, 100).low > 0.5 and share_interval(0, 0).is_even
