"""Results know what tells them apart, and compare with each other."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.simulation.statistics import holm, ratio

BOTH = [("rucb", {"alpha": 0.51}), ("rucb", {"alpha": 1.0})]


@pytest.fixture(scope="module")
def results():
    return md.simulate([*BOTH, "uniform"], md.synthetic(5), horizon=2000, runs=20, checkpoints=4)


def test_two_settings_of_a_policy_are_told_apart_everywhere(results):
    names = ["rucb, alpha = 0.51", "rucb, alpha = 1.0", "uniform"]
    assert results.labels == names
    assert [row[0] for row in results.table().rows] == names
    assert [result.summary().name for result in results] == names, "each alone too"
    assert [result.to_json()["label"] for result in results] == names
    table = results.columns()
    assert list(dict.fromkeys(table["label"].tolist())) == names
    alpha = table["alpha"]
    assert np.unique(alpha[table["label"] == names[0]]) == [0.51] and np.isnan(alpha[table["policy"] == "uniform"]).all()
    pandas = pytest.importorskip("pandas")
    frame = results.to_frame("pandas")
    means = frame[frame["round"] == 2000].groupby(["policy", "alpha"])["average"].mean()
    assert isinstance(means, pandas.Series)
    assert means.loc["rucb", 1.0] == pytest.approx(results[1].final.mean())


def test_parameters_of_any_kind_are_columns():
    several = md.simulate(
        ["btm", ("doubler-bai", {"radius": "t2"}), "savage"], md.synthetic(4), horizon=50, runs=2, checkpoints=1
    )
    table = several.columns()
    assert table["radius"][table["policy"] == "doubler-bai"].tolist() == ["t2", "t2"]
    assert table["radius"][table["policy"] == "btm"].tolist() == [None, None]
    assert table["horizon"].dtype.kind in "fi" and table["run"].tolist() == [0, 1] * 3


def test_a_result_is_found_by_label_policy_place_or_slice(results):
    assert results["uniform"] is results[2] and results["rucb, alpha = 1.0"] is results[1]
    assert isinstance(results[:2], md.Results) and results[:2].labels == results.labels[:2]
    with pytest.raises(md.BadInput, match=r"There are 2 results of 'rucb'. Name one by its label: 'rucb, alpha = 0.51', "):
        results["rucb"]
    with pytest.raises(md.BadInput, match=r"There is no result 'unifrm'. Did you mean 'uniform'"):
        results["unifrm"]


def test_a_comparison_is_the_reports_ratio_and_holm_is_over_several(results):
    first, *others = results
    found = first.compare(others)
    for each, other in zip(found, others, strict=True):
        expected = ratio(first.final, other.final)
        assert (each.ratio, each.low, each.high, each.paired) == (expected.value, expected.low, expected.high, expected.paired)
    alone = [first.compare(other).p for other in others]
    assert [each.p for each in found] == holm(alone)
    assert [each.theirs for each in found] == results.labels[1:] and {each.ours for each in found} == {results.labels[0]}
    assert found[1].less and not results[2].compare(first).less and results[2].compare(first).told_apart
    assert "uniform" in repr(found) and "times the regret of uniform" in str(found[1])


def test_runs_of_other_seeds_are_not_paired(results):
    other = md.simulate("rucb", md.synthetic(5), horizon=2000, runs=20, checkpoints=4, seed=9)
    twin = dataclasses.replace(other, regrets=results[0].regrets)
    assert results[0].compare(dataclasses.replace(twin, seed=0)).paired, "the same runs"
    assert not results[0].compare(twin).paired
    later = dataclasses.replace(twin, seed=0, first_run=20)
    assert not results[0].compare(later).paired


def test_few_runs_tell_nobody_apart():
    few = md.simulate(["rucb", "uniform"], md.synthetic(5), horizon=2000, runs=5, checkpoints=1)
    assert not few[0].compare(few[1]).told_apart and "a verdict needs 20 runs" in str(few[0].compare(few[1]))


def test_what_cannot_be_compared_is_refused(results):
    other = md.simulate("rucb", md.synthetic(6), horizon=2000, runs=2, checkpoints=1)
    shorter = md.simulate("rucb", md.synthetic(5), horizon=1000, runs=2, checkpoints=1)
    for wrong, words in (
        (other, "must have the same problem"),
        (shorter, "must have the same last checkpoint. Got '2000' and '1000'"),
        ([], "at least 1 result"),
        ([3], "must be a result, or a list of results. Got 3"),
    ):
        with pytest.raises(md.BadInput, match=words):
            results[0].compare(wrong)
    with pytest.raises(md.BadInput, match="'regret' must be one of"):
        results[0].compare(results[1], regret="mean")


def test_intervals_of_a_ratio_cover_it():
    """Two policies with the same law of regret: the ratio is 1, and the interval holds it in about 95 of 100 experiments."""
    rng = np.random.default_rng(5)
    made = md.simulate("uniform", md.synthetic(4), horizon=10, runs=20, checkpoints=1)

    def drawn(shared):
        regret = rng.lognormal(0.0, 0.4, (20, 1)) * shared
        return dataclasses.replace(made, regrets=dict.fromkeys(made.regrets, regret))

    covered = wrong = 0
    for _ in range(300):
        shared = rng.lognormal(0.0, 0.6, (20, 1))
        found = drawn(shared).compare(drawn(shared))
        covered += found.low <= 1.0 <= found.high
        wrong += found.told_apart
    assert covered / 300 > 0.90 and wrong / 300 < 0.10
