"""Intervals of standings hold while one looks, by simulation, and a broken promise would be noticed.

Every setting, a thousand experiments each, is measured by benchmarks/standings_coverage.py; docs/standings-numbers.md has it.
"""

import math
import sys

import numpy as np
import standings_thinned as thinned  # of benchmarks/
import standings_trials as trials
from standings_coverage import plain_mean

from multiduel.inference import RunningTally

module = sys.modules["multiduel.inference.standings"]


def missed(setting, experiments):
    return sum(bool(trials.outcome(setting, seed)["missed"]) for seed in range(experiments))


ADAPTIVE = trials.Setting(20, 2, "due-duel", "alike", 2500)


def test_intervals_hold_while_one_looks_and_slates_are_chosen():
    assert missed(ADAPTIVE, 100) <= 5 + 3 * math.sqrt(100 * 0.05 * 0.95)
    assert missed(trials.Setting(10, 4, "due-duel", "alike", 1500), 60) <= 3 + 3 * math.sqrt(60 * 0.05 * 0.95)


def test_a_zero_at_the_plain_mean_would_be_noticed():
    with plain_mean():
        assert missed(ADAPTIVE, 100) > 5 + 3 * math.sqrt(100 * 0.05 * 0.95)


def test_intervals_hold_for_raters_with_tastes_and_would_not_by_answer():
    by_rater = trials.Setting(10, 4, "due-duel", "alike", 1500, raters="panel", by="rater")
    assert missed(by_rater, 60) <= 3 + 3 * math.sqrt(60 * 0.05 * 0.95)
    assert missed(by_rater._replace(by="answer"), 60) > 3 + 3 * math.sqrt(60 * 0.05 * 0.95)


def test_the_usual_interval_would_be_noticed(monkeypatch):
    from statistics import NormalDist

    monkeypatch.setattr(module, "at_all_times", lambda n, error: np.full(np.shape(n), NormalDist().inv_cdf(1.0 - error / 2.0)))
    assert missed(trials.Setting(10, 4, "due-duel", "alike", 1500), 60) > 3 + 3 * math.sqrt(60 * 0.05 * 0.95)


def test_intervals_hold_from_thinned_answers():
    """As few answers as ever are kept; looked at 60 times."""
    setting, most = trials.Setting(10, 4, "challengers", "alike", 4000), 2 + 3 * math.sqrt(40 * 0.05 * 0.95)
    with thinned.fewest_kept():
        found = [thinned.outcome(setting, seed) for seed in range(40)]
    assert np.mean([one["kept"] for one in found]) < 0.7 and max(one["most"] for one in found) >= 4.0, "it was thinned"
    assert sum(one["missed"] for one in found) <= most and sum(one["wrong"] for one in found) <= most
    assert all(0.97 < one["width"] < 1.03 for one in found), "as wide as from all answers"


def test_kept_answers_taken_apart_into_pairs_would_be_noticed(monkeypatch):
    """By the width: intervals that hold at all times are so wide that few misses would show it."""
    kept = RunningTally.kept

    def apart(tally):
        whole = kept(tally)
        each = np.repeat(whole.weight, np.diff(whole.edges))
        return whole._replace(edges=np.arange(len(whole.first) + 1), weight=each)

    monkeypatch.setattr(RunningTally, "kept", apart)
    with thinned.fewest_kept():
        found = [thinned.outcome(trials.Setting(10, 4, "challengers", "alike", 2000), seed) for seed in range(3)]
    assert all(one["width"] < 0.9 for one in found)
