"""Verdicts on numbers made up so that one knows what they must be."""

from __future__ import annotations

import pytest

from multiduel.lab.paper import claims, verdicts
from multiduel.lab.paper.statistics import Estimate
from tests.lab.made_up import all_panels, synthetic_problems

AS_IN_THE_PAPER = {
    "MultiSBM-Feedback": 50, "MultiSBM": 100, "DoublerBAI": 60, "Doubler": 90, "IF2": 200, "BTM": 210, "SAVAGE": 300,
    "SCB": 400, "MultiRUCB": 40, "IndSelfSparring": 50, "MDB": 60, "MultiSparring": 70,
}  # fmt: skip


def judged(level):
    panels = all_panels(level)
    return {claim.name: claim for claim in claims.judge(panels, synthetic_problems(panels))}


def by_name(**changed):
    levels = {**AS_IN_THE_PAPER, **{key.replace("_", "-"): value for key, value in changed.items()}}

    def level(label, policy):
        if policy == "doubler-bai":
            return levels["DoublerBAI"]
        return levels.get(label.split(",")[0].split(" @ ")[0], 100.0) / (float(label.split("m = ")[1]) if "@" in label else 1)

    return level


@pytest.fixture(scope="module")
def as_claimed():
    return judged(by_name())


def test_what_the_paper_says_holds_if_the_numbers_are_as_it_says(as_claimed):
    for name in ("half", "doubler", "sbm-baselines", "doubler-bai-baselines", "best"):
        assert as_claimed[name].verdict == verdicts.HOLDS, as_claimed[name].why
    assert as_claimed["slate-size"].verdict == verdicts.DEPENDS  # panels (a) and (b) got equal numbers, the readings did not
    assert as_claimed["theorem-1"].verdict == verdicts.VACUOUS
    growth = [c for c in as_claimed["theorem-2"].comparisons if c.reading.startswith("growth")]
    assert growth and all(c.outcome == verdicts.HOLDS for c in growth)


def test_variance_is_compared_as_variance():
    found = judged(by_name(IndSelfSparring=2000, MDB=2000, MultiSparring=2000))["variance"]
    assert found.verdict == verdicts.HOLDS, found.why
    assert all(c.value < 0.01 for c in found.comparisons if c.reading == verdicts.PUBLISHED)  # (40 / 2000)^2, about


def test_a_claim_fails_if_nothing_is_as_it_says():
    found = judged(by_name(DoublerBAI=500, MultiSBM_Feedback=99))
    assert found["doubler"].verdict == verdicts.FAILS
    assert found["half"].verdict == verdicts.FAILS
    assert "fails everywhere" in found["doubler"].why


def test_a_claim_depends_if_a_reading_rescues_it():
    usual = by_name(DoublerBAI=500)

    def level(label, policy):
        return 30.0 if label == "LUCB radius delta" else usual(label, policy)

    found = judged(level)["doubler"]
    assert found.verdict == verdicts.DEPENDS
    assert "Holds with: LUCB radius delta." in found.why and "As published: DoublerBAI / Doubler fails everywhere." in found.why


def test_an_interval_that_reaches_both_sides_is_open():
    made = verdicts.comparison("w", "x", "y", Estimate(0.98, 0.9, 1.1, 5), claims.BELOW)
    assert made.outcome == verdicts.OPEN
    assert verdicts.comparison("w", "x", "y", Estimate(0.5, 0.45, 0.55, 5), claims.HALF).outcome == verdicts.HOLDS
    assert verdicts.comparison("w", "x", "y", Estimate(0.3, 0.2, 0.39, 5), claims.HALF).outcome == verdicts.FAILS


def test_more_regret_than_the_leading_terms_refutes_no_theorem():
    found = judged(by_name(MultiSBM_Feedback=1e5))["theorem-2"]
    assert verdicts.FAILS not in {c.outcome for c in found.comparisons}


def test_single_runs_give_no_verdict():
    panels = all_panels(by_name(), runs=1)
    found = {claim.name: claim for claim in claims.judge(panels, synthetic_problems(panels))}
    assert found["half"].verdict == verdicts.OPEN and found["variance"].verdict == verdicts.OPEN
    assert all(c.low is None for c in found["half"].comparisons)
