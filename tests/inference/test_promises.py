"""What verdicts and intervals promise, by simulation, and that a broken promise would be noticed.

The full grid, a thousand trials each, is measured by benchmarks/verdicts.py; docs/verdicts-numbers.md has it.
"""

import math

import numpy as np
import pytest

import multiduel as md
from multiduel.inference import Tally, pair_intervals, verdict

ERROR = 0.2


def allowed(trials, error=ERROR):
    return trials * error + 3.0 * math.sqrt(trials * error * (1.0 - error))


def wrong_verdicts(utilities, error, trials=1000, horizon=2000, slate_size=2, policy="uniform"):
    problem = md.Rankings(md.from_utilities(utilities, link="logit"))
    benchmark = "copeland"  # there need not be an option that beats all others
    options = {"slate_size": slate_size, "horizon": horizon, "runs": trials, "checkpoints": [1], "benchmark": benchmark}
    return md.simulate(policy, problem, until="verdict", verdict_error=error, threads=1, **options).settlement.wrong.sum()


def test_two_alike_are_told_apart_no_more_often_than_promised():
    assert wrong_verdicts([0.0, 0.0], ERROR) <= allowed(1000)


def test_a_bound_without_the_union_over_options_would_be_noticed():
    """ln(K / 0.4) with K = 2 is what ln(1 / 0.2) would be."""
    assert wrong_verdicts([0.0, 0.0], 2 * ERROR) > allowed(1000)


@pytest.mark.parametrize("slate_size", [2, 4])
@pytest.mark.parametrize("policy", ["uniform", "challengers"])
def test_two_alike_on_top_of_others(policy, slate_size):
    trials = 150
    wrong = wrong_verdicts([0.0, 0.0, -0.5, -1.0, -1.5], ERROR, trials, 1500, slate_size, policy)
    assert wrong <= allowed(trials)


def out_of_the_best(error, trials=300):
    """Trials in which the option that beats all others, barely, was called out at some time."""
    P = np.full((3, 3), 0.5)
    P[0, 1:], P[1:, 0] = 0.501, 0.499
    rng, gone = np.random.default_rng(5), 0
    for _ in range(trials):
        D = np.zeros((3, 3))
        for look in range(40):
            for i, j in ((0, 1), (0, 2), (1, 2)):
                n = 3 + 2 * look
                won = rng.binomial(n, P[i, j])
                D[i, j] += won
                D[j, i] += n - won
            if 0 in verdict(D, alpha=error).out:
                gone += 1
                break
    return gone


def test_the_best_is_rarely_out():
    assert out_of_the_best(ERROR) <= allowed(300)
    assert out_of_the_best(0.6) > allowed(300)  # the test can fail


def misses(error, share_out, trials=250):
    """Trials in which an interval missed at some time: four options, six pairs, 30 looks."""
    utilities = np.array([0.0, 0.0, 1.0, -1.0])
    P = 1.0 / (1.0 + np.exp(utilities[None, :] - utilities[:, None]))
    i, j = np.triu_indices(4, 1)
    rng, missed = np.random.default_rng(1), 0
    for _ in range(trials):
        D, T = np.zeros((4, 4)), np.zeros((4, 4))
        for look in range(30):
            n = 2 + 2 * look
            ties = rng.binomial(n, 0.1, 6)
            won = rng.binomial(n - ties, P[i, j])
            D[i, j] += won
            D[j, i] += n - ties - won
            T[i, j] += ties
            T[j, i] += ties
            low, high = pair_intervals(D, T, error=error / 6 if share_out else error)
            truth = 0.9 * P + 0.05  # ties half
            if not ((low <= truth) & (truth <= high)).all():
                missed += 1
                break
    return missed


def test_intervals_of_pairs_hold_together():
    assert misses(ERROR, share_out=True) <= allowed(250)
    assert misses(ERROR, share_out=False) > allowed(250)  # an error that is not shared out over the pairs is noticed


def tasted(unit, trials=60):
    """Five raters with tastes; in the population two options are alike. How often one is called the winner."""
    decided = 0
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        taste = rng.normal(size=(5, 2)) * 1.5
        tally = Tally(2, unit=unit)
        for t in range(1, 301):
            rater = int(rng.integers(5))
            first = rng.random() < 1.0 / (1.0 + math.exp(taste[rater, 1] - taste[rater, 0]))
            tally.add((0, 1), [[0, 1], [0, 0]] if first else [[0, 0], [1, 0]], rater=rater)
            if t % 20 == 0 and verdict(tally).settled:
                decided += 1
                break
    return decided


def test_few_raters_decide_for_themselves_and_not_for_people_like_them():
    assert tasted("rater") <= allowed(60, 0.05)
    assert tasted("answer") > 30
