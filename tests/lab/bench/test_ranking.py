"""Ranks and their ranges: equal to the statistics of the lab, and true in 95 of 100 experiments."""

import numpy as np
import pytest

from multiduel.engine.registry.benchmark_results import PolicyResults, Row
from multiduel.engine.simulation import statistics
from multiduel.lab.bench import figures, ranking, report, suite
from multiduel.lab.bench.ranking import overall, ratios, scores, standings
from multiduel.lab.bench.suite import Cell

CELL = Cell("cyclic", 2, 10_000)


def results(name, share, runs=20, wrong=0.0, cell=CELL):
    """A policy whose regret is such a share of what random slates lose: a number, or [instances, runs]."""
    regret = (np.broadcast_to(share, (20, runs)) * ranking.losses(cell)[:, None]).astype(np.float32)
    ends = np.arange(20 * runs).reshape(20, runs) < wrong * 20 * runs
    row = Row(cell.family, cell.slate_size, cell.horizon, regret, ends, 1e-3)
    return PolicyResults(name, suite.digest(), {}, {row.key: row})


def noisy(name, share, rng, runs=20, spread=0.5, hardness=None):
    hardness = rng.lognormal(0.0, 0.5, (20, 1)) if hardness is None else hardness
    return results(name, share * hardness * rng.lognormal(-(spread**2) / 2, spread, (20, runs)), runs)


def test_score_is_regret_in_percent_of_what_random_slates_lose():
    (line,) = standings(CELL, {"a": results("a", 0.25)})
    assert line.score == pytest.approx(25.0) and line.worst == pytest.approx(25.0)
    assert (line.rank, line.first, line.last, line.not_apart, line.times_best) == (1, 1, 1, (), None)
    assert line.nanoseconds == pytest.approx(100.0)


def test_many_ratios_equal_those_of_the_lab_one_by_one():
    rng = np.random.default_rng(1)
    A, B = rng.lognormal(0.0, 0.6, (2, 5, 20))
    B = 0.7 * A + 0.5 * B
    found = ratios(A, B)
    p = []
    for k in range(5):
        one = statistics.ratio(A[k], B[k], paired=True)
        assert found.value[k] == pytest.approx(one.value)
        assert (found.low[k], found.high[k]) == (pytest.approx(one.low), pytest.approx(one.high))
        p.append(min(1.0, 2.0 * min(one.p_below(1.0), one.p_above(1.0))))
    assert found.p.tolist() == pytest.approx(statistics.holm(p))


def test_a_policy_beside_itself_is_not_told_apart():
    rng = np.random.default_rng(2)
    one = noisy("a", 0.2, rng)
    both = standings(CELL, {"a": one, "b": PolicyResults("b", one.suite, {}, one.rows)})
    assert [(line.first, line.last) for line in both] == [(1, 2), (1, 2)]
    assert both[0].not_apart == ("b",)


def test_policies_with_fewer_runs_are_compared_on_the_runs_that_both_have():
    rng = np.random.default_rng(3)
    shares = 0.2 * rng.lognormal(0.0, 1.0, (20, 20))
    whole, part = results("whole", shares), results("part", shares[:, :3], runs=3)
    assert scores(whole.rows[CELL.family, 2, 10_000]).mean() != scores(part.rows[CELL.family, 2, 10_000]).mean()
    (line,) = standings(CELL, {"whole": whole, "part": part}, only="part")
    assert line.not_apart == ("whole",), "on common runs the two are equal"


def test_told_apart_policies_have_ranks_without_a_range():
    rng = np.random.default_rng(4)
    hardness = rng.lognormal(0.0, 0.5, (20, 1))
    pool = {name: noisy(name, share, rng, hardness=hardness) for name, share in (("c", 0.8), ("a", 0.1), ("b", 0.3))}
    lines = standings(CELL, pool)
    assert [(line.policy, line.rank, line.first, line.last) for line in lines] == [("a", 1, 1, 1), ("b", 2, 2, 2), ("c", 3, 3, 3)]
    assert lines[2].times_best[1] < 8.0 < lines[2].times_best[2]


def test_what_is_told_apart_is_so_from_both_sides():
    rng = np.random.default_rng(6)
    hardness = rng.lognormal(0.0, 0.5, (20, 1))
    shares = {"a": 0.2, "b": 0.26, **{f"c{k}": 0.3 for k in range(10)}}
    pool = {name: noisy(name, share, rng, runs=2, hardness=hardness) for name, share in shares.items()}
    lines = {line.policy: line for line in standings(CELL, pool)}
    pairs = [(one, other) for one, line in lines.items() for other in line.not_apart]
    assert pairs and all((other, one) in pairs for one, other in pairs)
    assert all(standings(CELL, pool, only=name) == [line] for name, line in list(lines.items())[:2])


def test_rank_range_holds_the_true_rank_in_95_of_100_experiments():
    """Six policies, three of them truly equal: their ranks are 2 to 4. Instances differ, and each policy suits some better."""
    shares = {"a": 0.2, "b": 0.25, "c": 0.25, "d": 0.25, "e": 0.27, "f": 0.9}
    true = {"a": (1, 1), "b": (2, 4), "c": (2, 4), "d": (2, 4), "e": (5, 5), "f": (6, 6)}
    missed, useful, trials = dict.fromkeys(shares, 0), 0, 100
    for trial in range(trials):
        rng = np.random.default_rng([5, trial])
        hardness = rng.lognormal(0.0, 0.6, (20, 1))
        pool = {
            name: noisy(name, share, rng, runs=2, hardness=hardness * rng.lognormal(-0.02, 0.2, (20, 1)))
            for name, share in shares.items()
        }
        for line in standings(CELL, pool):
            low, high = true[line.policy]
            missed[line.policy] += not (line.first <= low and high <= line.last)
            useful += line.policy == "f" and line.first == 6
    assert max(missed.values()) <= 0.05 * trials + 3 * (0.05 * 0.95 * trials) ** 0.5, missed
    assert useful > 0.75 * trials, "and it is no empty promise"


def test_overall_counts_a_family_that_was_left_out_as_random_slates():
    cells = [Cell("cyclic", 2, 10_000), Cell("ties", 2, 10_000)]

    def both(name, first, second):
        rows = {}
        for cell, share in zip(cells, (first, second), strict=True):
            if share is not None:
                rows |= results(name, share, cell=cell).rows
        return PolicyResults(name, suite.digest(), {}, rows)

    slow = Row("ties", 2, 10_000, np.zeros((20, 0), np.float32), np.zeros((20, 0), bool), 9.0, "left out: slow")
    half = both("half", 0.1, None)
    half.rows[slow.key] = slow
    pool = {"untried": both("untried", 0.01, None), "half": half, "good": both("good", 0.1, 0.1), "poor": both("poor", 0.2, 0.4)}
    found = overall(2, 10_000, pool)
    assert "untried" not in found.policies, "what was not tried yet is not held against it, nor is it ranked"
    assert found.order() == ["good", "poor", "half"]
    times = dict(zip(found.policies, found.factor.tolist(), strict=True))
    assert times == pytest.approx({"good": 1.0, "poor": 8**0.5, "half": 10**0.5})
    assert found.ranks[found.policies.index("good")].tolist() == [1, 1, 1]
    at = np.array([1.0, 2.0, 4.0, 100.0])
    assert found.profile("good", at).tolist() == [1.0, 1.0, 1.0, 1.0]
    assert found.profile("poor", at).tolist() == [0.0, 0.5, 1.0, 1.0]
    assert found.profile("half", at).tolist() == [0.5, 0.5, 0.5, 0.5], "what was not played is never near the best"


def test_many_settings_are_one_sentence_and_a_table():
    rng = np.random.default_rng(4)
    pool = {"own": {}, "other": {}, "third": {}}
    for size, share in ((2, 0.9), (4, 0.1), (8, 0.1)):
        cell = Cell("cyclic", size, 10_000)
        for name, its in (("own", share), ("other", 0.3), ("third", 0.5)):
            pool[name] |= results(name, its * rng.lognormal(0.0, 0.1, (20, 20)), cell=cell).rows
    made = {name: PolicyResults(name, suite.digest(), {}, rows) for name, rows in pool.items()}
    found = report.report(made["own"], made)
    assert "rank 1 in 2 of 3 settings; at worst rank 3 of 3 with m = 2 and T = 10,000" in found.headline
    table = report.settings_table("own", found.profiles)
    assert [row[:3] for row in table.rows] == [("2", "10,000", "3"), ("4", "10,000", "1"), ("8", "10,000", "1")]


def test_named_lines_of_a_profile_can_be_told_apart(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    drawn, save = [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (drawn.append(self), save(self, *a, **k))[1])
    names = ("ind-self-sparring", "dts", "dts+", "merge-dts", "due-duel", "challengers")  # four are blue, two orange
    pool = {name: results(name, 0.1 * (place + 1)) for place, name in enumerate(names)}
    monkeypatch.setattr(ranking, "cells", lambda **_: [CELL])
    figures.profile(overall(2, 10_000, pool), tmp_path / "profile.svg", own="due-duel")
    lines = [line for line in drawn[0].axes[0].lines if not line.get_label().startswith("_")]
    looks = {(line.get_color(), line._dash_pattern[1] and tuple(line._dash_pattern[1])) for line in lines}
    assert len(lines) == len(names) and len(looks) == len(names)
