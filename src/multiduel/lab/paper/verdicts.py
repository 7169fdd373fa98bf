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


@dataclass(frozen=True)
class Comparison:
    """One number that a claim is about."""

    where: str
    what: str
    reading: str
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


def comparison(where: str, what: str, reading: str, found: Estimate, wanted: tuple[float, float], note: str = "") -> Comparison:
    low, high = wanted
    if low < found.low and found.high < high:
        outcome = HOLDS
    elif found.high < low or found.low > high:
        outcome = FAILS
    else:
        outcome = OPEN
    words = f"below {high:g}" if math.isinf(low) else f"{low:g} to {high:g}"
    known = math.isfinite(found.low) and math.isfinite(found.high)
    value = found.value if math.isfinite(found.value) else 0.0
    return Comparison(
        where, what, reading, value, found.low if known else None, found.high if known else None, words, outcome, note
    )


def claim(name: str, statement: str, test: str, comparisons: list[Comparison]) -> Claim:
    """The verdict, by the rule at the top of this file."""
    published = [c for c in comparisons if c.reading == PUBLISHED]
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
    said = []
    if published:
        whats = dict.fromkeys(c.what for c in published)
        tallies = [f"{what} {_tally([c for c in published if c.what == what])}" for what in whats]
        said.append(f"As published: {'; '.join(tallies)}.")
    readings: dict[str, list[Comparison]] = {}
    for c in comparisons:
        if c.reading != PUBLISHED:
            readings.setdefault(c.reading, []).append(c)
    for outcome, words in ((HOLDS, "Holds with"), (OPEN, "Open with"), (FAILS, "Fails with")):
        alike = [reading for reading, found in readings.items() if {c.outcome for c in found} == {outcome}]
        if alike:
            said.append(f"{words}: {'; '.join(alike)}.")
    for reading, found in readings.items():
        if len({c.outcome for c in found}) > 1:
            held = sum(c.outcome == HOLDS for c in found)
            said.append(f"With {reading}: holds in {held} of {len(found)} comparisons.")
    return " ".join(said)


def _tally(comparisons: list[Comparison]) -> str:
    """'holds everywhere', or where it does what."""
    outcomes = [c.outcome for c in comparisons]
    verbs = {HOLDS: "holds", FAILS: "fails", OPEN: "is open", VACUOUS: "is vacuous"}
    if len(set(outcomes)) == 1:
        return f"{verbs[outcomes[0]]} everywhere" if len(outcomes) > 1 else verbs[outcomes[0]]
    parts = []
    for outcome, verb in verbs.items():
        places = [_place(c.where) for c in comparisons if c.outcome == outcome]
        if places:
            parts.append(f"{verb} on {' '.join(places) if places[0][0] == '(' else '; '.join(places)}")
    return ", ".join(parts)


def _place(where: str) -> str:
    """'(a)' of '(a) synthetic, ...'; 'K = 48, linear' of 'Readings of ...: K = 48, linear'."""
    return where.partition(" ")[0] if where.startswith("(") else where.rpartition(": ")[2]
