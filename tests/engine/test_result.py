"""The numbers of a result, worked out by hand; and a result of a single run, that has no spread."""

import json
import math

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.play import KINDS
from multiduel.engine.result import Result, Settlement


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


def test_a_single_run_shows_no_interval():
    assert repr(result(1)) == "Result('uniform' on four: m = 2, T = 1,000, 1 runs, mean regret 1)"
    assert repr(result(2)).endswith(", 2 runs, mean regret 2 (95%: 0 to 14.71))")
    assert [row[-1] for row in md.Results([result(1), result(2)]).rows()] == ["-", "0 to 14.71"]


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
