"""The rules by which a verdict follows, one by one, on comparisons written down by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from multiduel.engine.simulation.statistics import Estimate
from multiduel.lab.paper import agreement
from multiduel.lab.paper.verdicts import (
    DOES_NOT,
    INCONCLUSIVE,
    NOT_INFORMATIVE,
    PARTLY,
    REPRODUCES,
    Comparison,
    Topic,
    Verdict,
    claim,
    comparison,
    decide,
    judge,
)

BELOW = (-math.inf, 1.0)
PIVOTS = np.linspace(-3.0, 3.0, 999)


def topic(panel="a", pair="x / y", interpretation="", counts=True, short="(a)", tail="times Y's regret", further=""):
    return Topic(
        panel=panel, pair=pair, where="somewhere", short=short, what="X / Y", lead="X has", tail=tail,
        interpretation=interpretation, counts=counts, further=further,
    )  # fmt: skip


def made(p_inside=1.0, p_outside=1.0, *, runs=50, outcome=INCONCLUSIVE, value=0.5, low=0.4, **words):
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
    assert found.wanted == "below 1" and found.note == "" and found.outcome == INCONCLUSIVE and found.default
    assert (found.panel, found.pair, found.where, found.what) == ("a", "x / y", "somewhere", "X / Y")


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
    assert [c.outcome for c in decide([made(0.025, 0.9)])] == [REPRODUCES]
    assert [c.outcome for c in decide([made(0.026, 0.9)])] == [INCONCLUSIVE]
    assert [c.outcome for c in decide([made(0.9, 0.025)])] == [DOES_NOT]
    assert [c.outcome for c in decide([made(0.01, 0.01)])] == [DOES_NOT], "what speaks for neither is not taken to hold"
    assert [c.outcome for c in decide([made(0.001, 0.9, runs=20), made(0.001, 0.9, runs=19)])] == [REPRODUCES, INCONCLUSIVE]


def test_holm_is_over_what_is_tested():
    two = [made(0.0125, 0.9), made(0.025, 0.9)]
    assert [c.outcome for c in decide(two)] == [REPRODUCES, REPRODUCES]
    assert [c.outcome for c in decide([*two, made(0.9, 0.9)])] == [INCONCLUSIVE, INCONCLUSIVE, INCONCLUSIVE]
    not_tested = [made(0.9, 0.9, runs=5), made(0.9, 0.9, outcome=NOT_INFORMATIVE)]
    assert [c.outcome for c in decide([*two, *not_tested])] == [REPRODUCES, REPRODUCES, INCONCLUSIVE, NOT_INFORMATIVE]


def outcomes(**by_panel):
    return [made(outcome=outcome, panel=panel) for panel, of in by_panel.items() for outcome in of]


@pytest.mark.parametrize(
    ("by_panel", "verdict", "line"),
    [
        ({"a": [REPRODUCES, REPRODUCES], "b": [REPRODUCES]}, (REPRODUCES, 2, 2), "reproduces: in 2 of 2 panels"),
        ({"a": [REPRODUCES]}, (REPRODUCES, 1, 1), "reproduces: in 1 of 1 panel"),
        ({"a": [REPRODUCES, INCONCLUSIVE], "b": [REPRODUCES]}, (INCONCLUSIVE, 1, 2), "inconclusive: as claimed in 1 of 2 panels"),
        ({"a": [REPRODUCES, DOES_NOT], "b": [REPRODUCES]}, (DOES_NOT, 1, 2), "does not reproduce: as claimed in 1 of 2 panels"),
        ({"a": [INCONCLUSIVE], "b": [DOES_NOT]}, (DOES_NOT, 0, 2), "does not reproduce: as claimed in 0 of 2 panels"),
        ({"a": [REPRODUCES, NOT_INFORMATIVE], "b": [NOT_INFORMATIVE]}, (REPRODUCES, 1, 1), "reproduces: in 1 of 1 panel"),
        ({"a": [NOT_INFORMATIVE], "b": [NOT_INFORMATIVE]}, (NOT_INFORMATIVE, 0, 2), "bound not informative: in 2 of 2 panels"),
        ({}, (INCONCLUSIVE, 0, 0), "inconclusive: no panel counts"),
    ],
)
def test_a_claim_reproduces_where_every_panel_does(by_panel, verdict, line):
    found = judge(outcomes(**by_panel))
    assert found == Verdict(*verdict) and found.line == line
    stand_in = made(outcome=DOES_NOT, panel="z", counts=False)
    assert judge([*outcomes(**by_panel), stand_in]) == found, "generated rankers never count"


def test_each_interpretation_is_judged_by_itself_and_the_claim_at_our_defaults():
    default = [made(0.001, 0.9, panel="a"), made(0.001, 0.9, panel="b")]
    many = [made(0.9, 0.001, panel="a", interpretation="other")] + [made(0.9, 0.9, panel="b", interpretation="other")] * 3
    found = claim("name", "It is.", "A test.", [*default, *many])
    assert (found.name, found.statement, found.test) == ("name", "It is.", "A test.")
    assert found.verdict == REPRODUCES and found.line == "reproduces: in 2 of 2 panels"
    other = found.interpretations["other"]
    assert other.whole and other.line == "does not reproduce: as claimed in 0 of 2 panels"
    assert [c.outcome for c in found.comparisons] == [REPRODUCES, REPRODUCES, DOES_NOT, INCONCLUSIVE, INCONCLUSIVE, INCONCLUSIVE]
    assert found.why == "X has 0.5 times Y's regret; but not with other."
    excused = claim("name", "It is.", "A test.", many, refutable=False)
    assert excused.interpretations["other"].line == "inconclusive: as claimed in 0 of 2 panels"
    assert excused.line == "inconclusive: no panel counts"
    assert excused.why == "Measured on generated rankers only, which do not count."


@pytest.mark.parametrize(
    ("pairs", "whole"),
    [
        ([("a", "x / y"), ("b", "x / y"), ("a", "x / z"), ("b", "x / z")], True),
        ([("a", "x / y"), ("b", "x / y")], False),  # one rival of two
        ([("a", "x / y"), ("a", "x / z")], False),  # one panel of two
    ],
)
def test_an_interpretation_counts_only_if_every_comparison_was_made_with_it(pairs, whole):
    """'MultiRUCB has the least regret' is not right with an alpha of MDB if only MDB was compared."""
    default = [made(0.9, 0.001, panel=panel, pair=pair) for pair in ("x / y", "x / z") for panel in ("a", "b")]
    tried = [made(0.001, 0.9, panel=panel, pair=pair, interpretation="i") for panel, pair in pairs]
    found = claim("name", "It is.", "A test.", [*default, *tried])
    assert found.verdict == DOES_NOT and found.interpretations["i"].whole is whole
    assert found.interpretations["i"].verdict == REPRODUCES
    assert found.interpretations["i"].line.startswith(REPRODUCES if whole else PARTLY)
    assert ("; it would with i." in found.why) is whole
    assert ("the only panel tried, it would with i." in found.why) is (not whole)


def test_what_does_not_count_by_default_is_not_asked_of_an_interpretation():
    default = [made(0.9, 0.001, panel="a"), made(0.9, 0.001, panel="z", counts=False)]
    found = claim("name", "It is.", "A test.", [*default, made(0.001, 0.9, panel="a", interpretation="i")])
    assert found.interpretations["i"].whole


def test_an_interpretation_that_equals_the_default_has_no_outcome():
    both = [made(0.001, 0.9), made(0.001, 0.9, interpretation="i")]
    same = claim("name", "It is.", "A test.", both, same=["i"]).interpretations["i"]
    assert same.same and not same.whole and same.line == "same as our default: equal in every run, bit by bit"
    other = [made(0.9, 0.001), made(0.9, 0.001, interpretation="i")]
    assert "i" not in claim("name", "It is.", "A test.", other, same=["i"]).why.split()


def test_what_goes_beyond_the_claim_stands_by_itself():
    found = claim("name", "It is.", "A test.", [made(0.001, 0.9), made(0.9, 0.001, further="T = 10^7")])
    assert found.verdict == REPRODUCES and found.interpretations == {}
    assert found.further["T = 10^7"].line == "does not reproduce: as claimed in 0 of 1 panel"


NONE = "; no interpretation tried makes it reproduce"


@pytest.mark.parametrize(
    ("comparisons", "why"),
    [
        ([(0.001, 1, 0.5, "(a)")], "X has 0.5 times Y's regret."),
        ([(1, 0.001, 1.53, "(a)")], f"X has 1.5 times Y's regret{NONE}."),
        ([(0.001, 1, 0.52, "(a)"), (0.001, 1, 0.4567, "(b)")], "X has 0.46 to 0.52 times Y's regret."),
        ([(1, 0.001, 21.5, "(a)"), (1, 0.001, 1.4, "(b)")], f"X has 1.4 to 22 times Y's regret{NONE}."),
        ([(1, 1, 1.01, "(a)"), (1, 1, 0.99, "(b)")], f"X has 0.99 to 1 times Y's regret{NONE}."),
        (
            [(0.001, 1, 0.5, "(a)"), (1, 0.001, 1.4, "(b)"), (0.001, 1, 0.6, "(c)")],
            f"X has 0.5 to 1.4 times Y's regret (as claimed on (a) and (c), not elsewhere){NONE}.",
        ),
        (
            [(0.001, 1, 0.5, "(a)"), (1, 0.001, 1.4, "(b)"), (1, 1, 1.1, "(c)")],
            f"X has 0.5 to 1.4 times Y's regret (as claimed on (a), not on (b), undecided on (c)){NONE}.",
        ),
        (
            [(0.001, 1, 0.5, "(a)"), (0.001, 1, 0.6, "K = 3"), (1, 1, 1.0, "(c)")],
            f"X has 0.5 to 1 times Y's regret (as claimed on (a) and K = 3, undecided elsewhere){NONE}.",
        ),
    ],
)
def test_what_was_measured_in_a_sentence(comparisons, why):
    parts = [made(inside, outside, value=value, panel=short, short=short) for inside, outside, value, short in comparisons]
    ignored = made(0.9, 0.001, value=99.0, counts=False, panel="z")
    tried = [made(1, 1, panel=c.panel, interpretation="i") for c in parts]
    assert claim("name", "It is.", "A test.", [*parts, ignored, *tried]).why == why
    assert claim("name", "It is.", "A test.", [*parts, ignored]).why == why.replace(NONE, "")


def test_the_sentence_names_what_makes_a_claim_reproduce_and_where():
    default = [made(0.9, 0.001, value=2.0, panel=panel, short=f"({panel})") for panel in "abc"]

    def why(*outcomes):
        """One interpretation for each of these: by panel, in which it is as claimed."""
        p = {"+": (0.001, 0.9), "-": (0.9, 0.001), "?": (0.9, 0.9)}
        tried = [
            made(*p[sign], panel=panel, short=f"({panel})", interpretation=f"i{number}")
            for number, signs in enumerate(outcomes) for panel, sign in zip("abc", signs, strict=False)
        ]  # fmt: skip
        return claim("name", "It is.", "A test.", [*default, *tried]).why.removeprefix("X has 2 times Y's regret")

    assert why("+++", "+", "+++") == "; it would with i0 or with i2."
    assert why("+?+", "++-", "+") == "; with i0 it would on 2 of 3 panels, and is undecided on the others."
    assert why("++-", "+") == "; with i0 it would on 2 of 3 panels, but does not as a whole."
    assert why("+", "++", "+", "---") == (
        "; on (a), the only panel tried, it would with i0 or with i2; on (a) and (b), the only panels tried, it would with i1."
    )
    assert why("-", "???") == f"{NONE}."


def test_several_rivals_are_enumerated_and_a_bound_that_says_nothing_says_so():
    rivals = [made(0.001, 1, value=0.2 * k, pair=f"x / {k}", tail=f"times {k}'s regret") for k in (1, 2, 3)]
    assert claim("n", "s", "t", rivals).why == "X has 0.2 times 1's regret, 0.4 times 2's and 0.6 times 3's."
    infinite = made(low=None, outcome=NOT_INFORMATIVE, tail="times the bound")
    assert claim("n", "s", "t", [infinite]).why == "X has 0.5 times the bound, which exceeds what any play could lose."
    assert claim("n", "s", "t", rivals, left_out=" A term is left out.").why.endswith("3's. A term is left out.")


def test_how_far_off_variances_are():
    assert agreement.Agreement("p", "s", {"a": 2.0, "b": 0.5}).distance == pytest.approx(2.0)
    assert agreement.Agreement("p", "s", {"a": 1.0, "b": 4.0}).distance == pytest.approx(2.0)
    assert agreement.Agreement("p", "s", {"a": 0.0}).distance == pytest.approx(1e12)
