"""A verdict follows from comparisons by rule.

A comparison is a ratio with a 95% interval and the range in which a claim wants it. It holds if the interval lies inside that
range, fails if it lies outside, and is open if it reaches both. A claim then

    holds     if every comparison as published holds
    depends   if some comparison holds and some does not: then on what is said
    fails     if no comparison holds
    open      if none holds, but not all fail
    vacuous   if it is a theorem whose bounds are all above T D_max, which any play stays within, or not finite

No correction is made for the number of comparisons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from multiduel.lab.paper.statistics import Estimate

PUBLISHED = "as published"  # the reading with the paper's parameters, or our defaults where it states none
HOLDS, FAILS, DEPENDS, OPEN, VACUOUS = "holds", "fails", "depends", "open", "vacuous"


@dataclass(frozen=True, kw_only=True)
class Topic:
    """What is compared: in which panel, whom, read how. Known by names and ids; the rest is only shown."""

    panel: str  # the experiment's name
    subject: str  # the contenders' ids
    where: str  # the panel, in words
    short: str  # and in fewer
    what: str  # the contenders, in words
    reading: str = ""  # of what the paper leaves open; none: as published

    @property
    def published(self) -> bool:
        return not self.reading


@dataclass(frozen=True, kw_only=True)
class Comparison(Topic):
    """One number that a claim is about."""

    value: float
    low: float | None  # None: no interval from one run
    high: float | None
    wanted: str
    outcome: str  # holds | fails | open | vacuous
    note: str = ""


@dataclass(frozen=True)
class Claim:
    name: str
    statement: str
    test: str
    comparisons: list[Comparison] = field(default_factory=list)
    verdict: str = "open"
    why: str = ""


def comparison(topic: Topic, measured: Estimate, wanted: tuple[float, float], note: str = "") -> Comparison:
    """The outcome, by the rule at the top of this file."""
    low, high = wanted
    if low < measured.low and measured.high < high:
        outcome = HOLDS
    elif measured.high < low or measured.low > high:
        outcome = FAILS
    else:
        outcome = OPEN
    words = f"below {high:g}" if math.isinf(low) else f"{low:g} to {high:g}"
    known = math.isfinite(measured.low) and math.isfinite(measured.high)
    value = measured.value if math.isfinite(measured.value) else 0.0
    low_end, high_end = (measured.low, measured.high) if known else (None, None)
    return Comparison(**vars(topic), value=value, low=low_end, high=high_end, wanted=words, outcome=outcome, note=note)


def claim(name: str, statement: str, test: str, comparisons: list[Comparison]) -> Claim:
    """The verdict, by the rule at the top of this file."""
    published = [c for c in comparisons if c.published]
    outcomes = {c.outcome for c in comparisons}
    if published and {c.outcome for c in published} == {VACUOUS}:
        verdict = VACUOUS
    elif published and {c.outcome for c in published} <= {HOLDS, VACUOUS}:
        verdict = HOLDS
    elif HOLDS in outcomes:
        verdict = DEPENDS
    else:
        verdict = FAILS if outcomes == {FAILS} else OPEN
    return Claim(name, statement, test, comparisons, verdict, _why(published, comparisons))


def _why(published: list[Comparison], comparisons: list[Comparison]) -> str:
    """On what it depends, in words: as published, by what is compared; then each reading."""
    words = []
    if published:
        names = {c.subject: c.what for c in reversed(published)}
        subjects = dict.fromkeys(c.subject for c in published)
        tallies = [f"{names[subject]} {_tally([c for c in published if c.subject == subject])}" for subject in subjects]
        words.append(f"As published: {'; '.join(tallies)}.")
    readings: dict[str, list[Comparison]] = {}
    for c in comparisons:
        if not c.published:
            readings.setdefault(c.reading, []).append(c)
    for outcome, verb in ((HOLDS, "Holds with"), (OPEN, "Open with"), (FAILS, "Fails with")):
        alike = [reading for reading, group in readings.items() if {c.outcome for c in group} == {outcome}]
        if alike:
            words.append(f"{verb}: {'; '.join(alike)}.")
    for reading, group in readings.items():
        if len({c.outcome for c in group}) > 1:
            held = sum(c.outcome == HOLDS for c in group)
            words.append(f"With {reading}: holds in {held} of {len(group)} comparisons.")
    return " ".join(words)


def _tally(comparisons: list[Comparison]) -> str:
    """'holds everywhere', or where it does what."""
    outcomes = [c.outcome for c in comparisons]
    verbs = {HOLDS: "holds", FAILS: "fails", OPEN: "is open", VACUOUS: "is vacuous"}
    if len(set(outcomes)) == 1:
        return f"{verbs[outcomes[0]]} everywhere" if len(outcomes) > 1 else verbs[outcomes[0]]
    parts = []
    for outcome, verb in verbs.items():
        places = [c.short for c in comparisons if c.outcome == outcome]
        if places:
            between = "; " if any(" " in place for place in places) else " "
            parts.append(f"{verb} on {between.join(places)}")
    return ", ".join(parts)
