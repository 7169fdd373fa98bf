"""The rules by which a verdict follows, one by one, on comparisons written down by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from multiduel.lab.paper import agreement
from multiduel.lab.paper.verdicts import (
    FAILS,
    HOLDS,
    OPEN,
    VACUOUS,
    Claim,
    Comparison,
    Topic,
    Verdict,
    claim,
    comparison,
    decide,
    judge,
)
from multiduel.lab.statistics import Estimate

BELOW = (-math.inf, 1.0)
PIVOTS = np.linspace(-3.0, 3.0, 999)


def topic(panel="a", subject="x / y", reading="", counts=True, short="(a)"):
    return Topic(panel=panel, subject=subject, where="somewhere", short=short, what="X / Y", reading=reading, counts=counts)


def made(p_inside=1.0, p_outside=1.0, *, runs=50, outcome=OPEN, value=0.5, low=0.4, **words):
    return Comparison(
        **vars(topic(**words)), value=value, low=low, high=0.6, runs=runs, wanted="below 1", p_inside=p_inside,
        p_outside=p_outside, outcome=outcome,
    )  # fmt: skip


def measured(value, **words):
    return Estimate(value, value - 0.1, value + 0.1, 50, error=0.05, pivots=PIVOTS, **words)


def test_below_a_limit_is_one_test_each_way():
    found = comparison(topic(), measured(0.9), BELOW)
    assert found.p_inside == measured(0.9).p_below(1.0) < 0.5 < found.p_outside == measured(0.9).p_above(1.0)
    assert (found.value, found.low, found.high, found.runs) == (0.9, 0.8, 1.0, 50)
    assert found.wanted == "below 1" and found.note == "" and found.outcome == OPEN and found.published
    assert (found.panel, found.subject, found.where, found.what) == ("a", "x / y", "somewhere", "X / Y")


@pytest.mark.parametrize("value", [0.35, 0.45, 0.5, 0.58, 0.7])
def test_within_a_range_both_ends_must_be_passed_and_outside_one_is_enough(value):
    found, it = comparison(topic(), measured(value), (0.4, 0.6)), measured(value)
    assert found.p_inside == max(it.p_above(0.4), it.p_below(0.6))
    assert found.p_outside == min(it.p_below(0.4), it.p_above(0.6))
    assert found.wanted == "0.4 to 0.6"


@pytest.mark.parametrize(
    ("given", "paired", "correlation", "note"),
    [
        ("", False, None, ""),
        ("seen", False, None, "seen"),
        ("", True, 0.876, "paired, correlation 0.88"),
        ("seen", False, 0.1, "seen; not paired, correlation 0.10"),
    ],
)
def test_how_it_was_compared_is_noted(given, paired, correlation, note):
    assert comparison(topic(), measured(0.9, paired=paired, correlation=correlation), BELOW, given).note == note


@pytest.mark.parametrize(("low", "high"), [(-math.inf, math.inf), (0.1, math.inf), (-math.inf, 3.0)])
def test_without_a_whole_interval_none_is_shown(low, high):
    found = comparison(topic(), Estimate(math.nan, low, high, 1), BELOW)
    assert (found.value, found.low, found.high) == (0.0, None, None)


def test_outcomes_at_five_percent_both_ways():
    """Two tests are made of each: twice the smaller p-value is held against 5 %."""
    assert [c.outcome for c in decide([made(0.025, 0.9)])] == [HOLDS]
    assert [c.outcome for c in decide([made(0.026, 0.9)])] == [OPEN]
    assert [c.outcome for c in decide([made(0.9, 0.025)])] == [FAILS]
    assert [c.outcome for c in decide([made(0.01, 0.01)])] == [FAILS], "what speaks for neither is not taken to hold"
    assert [c.outcome for c in decide([made(0.001, 0.9, runs=20), made(0.001, 0.9, runs=19)])] == [HOLDS, OPEN]


def test_holm_is_over_what_is_tested():
    two = [made(0.0125, 0.9), made(0.025, 0.9)]
    assert [c.outcome for c in decide(two)] == [HOLDS, HOLDS]
    assert [c.outcome for c in decide([*two, made(0.9, 0.9)])] == [OPEN, OPEN, OPEN]
    not_tested = [made(0.9, 0.9, runs=5), made(0.9, 0.9, outcome=VACUOUS)]
    assert [c.outcome for c in decide([*two, *not_tested])] == [HOLDS, HOLDS, OPEN, VACUOUS]


def outcomes(**by_panel):
    return [made(outcome=outcome, panel=panel) for panel, of in by_panel.items() for outcome in of]


@pytest.mark.parametrize(
    ("by_panel", "verdict", "line"),
    [
        ({"a": [HOLDS, HOLDS], "b": [HOLDS]}, (HOLDS, 2, 2), "holds: in 2 of 2 panels"),
        ({"a": [HOLDS]}, (HOLDS, 1, 1), "holds: in 1 of 1 panel"),
        ({"a": [HOLDS, OPEN], "b": [HOLDS]}, (OPEN, 1, 2), "open: holds in 1 of 2 panels"),
        ({"a": [HOLDS, FAILS], "b": [HOLDS]}, (FAILS, 1, 2), "fails: holds in 1 of 2 panels"),
        ({"a": [OPEN], "b": [FAILS]}, (FAILS, 0, 2), "fails: holds in 0 of 2 panels"),
        ({"a": [HOLDS, VACUOUS], "b": [VACUOUS]}, (HOLDS, 1, 1), "holds: in 1 of 1 panel"),
        ({"a": [VACUOUS], "b": [VACUOUS]}, (VACUOUS, 0, 2), "vacuous: the bound says nothing in 2 of 2 panels"),
        ({}, (OPEN, 0, 0), "open: no panel counts"),
    ],
)
def test_a_claim_holds_where_every_panel_does(by_panel, verdict, line):
    found = judge(outcomes(**by_panel))
    assert found == Verdict(*verdict) and found.line == line
    stand_in = made(outcome=FAILS, panel="z", counts=False)
    assert judge([*outcomes(**by_panel), stand_in]) == found, "generated rankers never count"


def test_a_claim_is_judged_as_published_and_each_reading_by_itself():
    published = [made(0.001, 0.9, panel="a"), made(0.001, 0.9, panel="b")]
    many = [made(0.9, 0.001, panel="a", reading="other")] + [made(0.9, 0.9, panel="b", reading="other")] * 3
    found = claim("name", "It is.", "A test.", [*published, *many])
    assert (found.name, found.statement, found.test) == ("name", "It is.", "A test.")
    assert found.verdict == HOLDS and found.line == "holds: in 2 of 2 panels"
    assert found.readings == {"other": "fails: holds in 0 of 2 panels"}
    assert [c.outcome for c in found.comparisons] == [HOLDS, HOLDS, FAILS, OPEN, OPEN, OPEN]
    third = [made(0.001, 0.9, panel="c", reading="third")]
    assert claim("name", "It is.", "A test.", [*published, *many, *third]).readings["third"] == "holds: in 1 of 1 panel"
    excused = claim("name", "It is.", "A test.", many, refutable=False)
    assert excused.readings == {"other": "open: holds in 0 of 2 panels"} and excused.line == "open: no panel counts"
    assert excused.why == "On generated rankers only, which do not count."


@pytest.mark.parametrize(
    ("comparisons", "why"),
    [
        ([(0.001, 1, 0.5, "(a)")], "X / Y is 0.5, as claimed."),
        ([(1, 0.001, 0.5, "(a)")], "X / Y is 0.5, not as claimed."),
        ([(0.001, 1, 0.52, "(a)"), (0.001, 1, 0.4567, "(b)")], "X / Y is 0.457 to 0.52, as claimed everywhere."),
        ([(1, 0.001, 1.5, "(a)"), (1, 0.001, 1.4, "(b)")], "X / Y is 1.4 to 1.5, as claimed nowhere."),
        ([(1, 1, 1.5, "(a)"), (1, 1, 1.4, "(b)")], "X / Y is 1.4 to 1.5, undecided everywhere."),
        (
            [(0.001, 1, 0.5, "(a)"), (1, 0.001, 1.4, "(b)"), (0.001, 1, 0.6, "(c)")],
            "X / Y is 0.5 to 1.4, as claimed on (a) (c), not as claimed on (b).",
        ),
        (
            [(0.001, 1, 0.5, "(a)"), (0.001, 1, 0.6, "K = 3"), (1, 1, 1.0, "(c)")],
            "X / Y is 0.5 to 1, as claimed on (a); K = 3, undecided on (c).",
        ),
    ],
)
def test_why_in_a_sentence(comparisons, why):
    parts = [made(inside, outside, value=value, panel=short, short=short) for inside, outside, value, short in comparisons]
    ignored = made(0.9, 0.001, value=99.0, counts=False, panel="z")
    assert claim("name", "It is.", "A test.", [*parts, ignored]).why == why


def test_why_goes_by_what_is_compared_and_infinite_bounds_have_no_ratio():
    other = [made(1, 1, value=3.0, subject="u / v", panel=panel, low=low) for panel, low in (("a", None), ("b", 2.0))]
    assert claim("name", "It is.", "A test.", [made(0.001, 1), *other]).why == (
        "X / Y is 0.5, as claimed; X / Y is 3, undecided everywhere."
    )
    assert claim("n", "s", "t", [made(low=None, outcome=VACUOUS)]).why == "X / Y is 0, which says nothing."


@pytest.mark.parametrize(
    ("verdict", "readings", "words"),
    [
        (HOLDS, {}, "As published, and with every reading tried."),
        (HOLDS, {"r": "holds: in 1 of 1 panel", "s": "open: no panel counts"}, "As published; not with: s."),
        (FAILS, {"r": "holds: in 1 of 1 panel", "s": "open: no panel counts", "t": "holds: in 2 of 2 panels"}, "r; t."),
        (OPEN, {"s": "fails: holds in 0 of 1 panel"}, "None of those tried."),
    ],
)
def test_which_reading_makes_it_right(verdict, readings, words):
    one = Claim("name", "It is.", "A test.", verdict=verdict, line=f"{verdict}: line", readings=readings)
    assert agreement.answers([one]) == [("It is.", f"{verdict}: line", words)]


def test_how_far_off_variances_are():
    assert agreement.Agreement("p", "s", {"a": 2.0, "b": 0.5}).distance == pytest.approx(2.0)
    assert agreement.Agreement("p", "s", {"a": 1.0, "b": 4.0}).distance == pytest.approx(2.0)
    assert agreement.Agreement("p", "s", {"a": 0.0}).distance == pytest.approx(1e12)
