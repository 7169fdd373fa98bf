"""The numbers of a result, worked out by hand; and a result of a single run, that has no spread."""

import dataclasses
import json
import math

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.simulation.play import KINDS
from multiduel.engine.simulation.result import Result, Settlement, mean_interval


def result(runs, settlement=None):
    """Regret 1, 3, 5, .. by the last round, a tenth of that halfway; each kind has one more."""
    last = 1.0 + 2.0 * np.arange(runs)
    each = np.stack([last / 10, last], axis=1)
    return Result(
        policy="uniform",
        params={},
        problem={"n_arms": 4, "label": "four"},
        slate_size=2,
        horizon=1000,
        runs=runs,
        seed=0,
        benchmark="condorcet",
        checkpoints=np.array([500, 1000]),
        regrets={kind: each + k for k, kind in enumerate(KINDS)},
        recommended=np.zeros(runs, np.int64),
        events=np.full(runs, 1000),
        seconds=0.1,
        compile_seconds=0.2,
        settlement=settlement,
    )


def test_the_spread_is_that_of_a_sample():
    assert result(2).variance.tolist() == pytest.approx([0.02, 2.0]) and result(2).std[1] == pytest.approx(math.sqrt(2.0))
    assert result(3).variance[1] == pytest.approx(4.0)
    assert result(1).variance.tolist() == result(1).std.tolist() == [0.0, 0.0]


def test_the_interval_is_students():
    low, high = result(2).interval(0.5)  # Student's t of one degree, at 3/4: 1
    assert (low[1], high[1]) == (pytest.approx(2.0 - 1.0), pytest.approx(2.0 + 1.0))
    low, high = result(2).interval(0.5, kind="weak")
    assert (low[1], high[1]) == (pytest.approx(3.0), pytest.approx(5.0))


def test_the_interval_of_a_mean_is_of_each_column_and_symmetric():
    low, high = mean_interval(np.array([[0.0, 5.0], [2.0, 5.0]]))
    assert [low[0], high[0]] == pytest.approx([1.0 - 12.7062047, 1.0 + 12.7062047])  # Student's t with 1 degree of freedom
    assert (low[1], high[1]) == (5.0, 5.0)
    assert [float(bound) for bound in mean_interval(np.array([3.0]))] == [-math.inf, math.inf]


def test_a_summary_has_the_numbers_of_the_last_checkpoint():
    shown = result(3).summary("weak", name="mine")
    assert (shown.name, shown.problem, shown.slate_size, shown.runs, shown.mean) == ("mine", "four", 2, 3, 5.0)
    assert shown.std == pytest.approx(2.0) and shown.quantiles == pytest.approx((3.2, 5.0, 6.8))
    assert shown.interval == tuple(bound[-1] for bound in result(3).interval(kind="weak"))
    assert shown.winner_found is None and result(3).summary(winners=[0, 2]).winner_found == 1.0
    won = dataclasses.replace(result(4), problem={"n_arms": 4, "label": "four", "winner": 1}, recommended=np.array([1, 0, 1, 1]))
    assert won.summary().winner_found == 0.75 and (won.summary().seconds, won.summary().compile_seconds) == (0.1, 0.2)


def test_a_curve_has_the_interval_of_the_mean_at_each_checkpoint():
    curve = result(3).curve("strong", dashed=True)
    assert (curve.name, curve.policy, curve.runs, curve.end, curve.dashed, curve.thick) == (
        "uniform",
        "uniform",
        3,
        1000,
        True,
        False,
    )
    assert (curve.regret == result(3).regrets["strong"]).all()
    assert (np.array([curve.low, curve.high]) == np.array(result(3).interval(kind="strong"))).all()


def test_a_single_run_shows_no_interval():
    assert repr(result(1)) == "Result('uniform' on four: m = 2, T = 1,000, 1 runs, mean regret 1)"
    assert repr(result(2)).endswith(", 2 runs, mean regret 2 (95 %: 0 to 14.71))")
    assert [row[-1] for row in md.Results([result(1), result(2)]).table().rows] == ["-", "0 to 14.71"]


@pytest.mark.parametrize("ask", [Result.quantile, Result.interval])
def test_a_kind_of_regret_that_there_is_not(ask):
    with pytest.raises(md.BadInput, match=r"'kind' must be one of average, strong, weak, slots\. Got 'mean'"):
        ask(result(2), 0.5, kind="mean")


def test_no_results_have_no_columns():
    assert md.Results([]).columns() == {}


def test_json_has_each_kind_at_the_end_and_null_where_no_verdict_fell():
    settlement = Settlement(
        error=0.05,
        kind=("winner", "open"),
        arm=np.array([2, 0]),
        rounds=np.array([70.0, math.inf]),
        answers=np.array([60.0, math.inf]),
        regret=np.array([0.5, 3.0]),
        wrong=np.array([True, False]),
    )
    told = json.loads(json.dumps(result(2, settlement).to_json(), allow_nan=False))
    assert told["final_by_kind"] == {"average": [1.0, 3.0], "strong": [2.0, 4.0], "weak": [3.0, 5.0], "slots": [4.0, 6.0]}
    assert told["final"] == [1.0, 3.0] and told["mean"] == pytest.approx([0.2, 2.0])
    assert told["settlement"] == {
        "error": 0.05,
        "kind": ["winner", "open"],
        "arm": [2, 0],
        "rounds": [70.0, None],
        "answers": [60.0, None],
        "regret": [0.5, 3.0],
        "wrong": [True, False],
    }
    assert "settlement" not in result(2).to_json()
