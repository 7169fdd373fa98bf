"""A verdict follows from comparisons by rule.

A comparison is a ratio with a 95% interval and the range in which a claim wants it. Two one-sided tests ask whether it is in
that range or outside; their p-values are adjusted by Holm's method over all comparisons of the claim as published (and, of
a reading, over those of that reading). It then

    holds   if it is in the range, at 5%
    fails   if it is outside, at 5%
    open    otherwise, and always with fewer than 20 runs

The verdict on a claim is about what was published: the paper's parameters, and our defaults where it states none. A panel
holds if all its comparisons do. The claim

    holds   if every panel holds
    fails   if some comparison fails
    open    otherwise
    vacuous if it is a theorem whose bounds are all above T D_max, which any play stays within, or not finite

and the count of panels is said. Panels on generated rankers never count. Readings have verdicts of their own, by the same rule.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from multiduel.lab.statistics import FEWEST_RUNS, Estimate, holm

HOLDS, FAILS, OPEN, VACUOUS = "holds", "fails", "open", "vacuous"
LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class Topic:
    """What is compared: in which panel, whom, read how. Known by names and ids; the rest is only shown."""

    panel: str  # the experiment's name
    subject: str  # the contenders' ids
    where: str  # the panel, in words
    short: str  # and in fewer
    what: str  # the contenders, in words
    reading: str = ""  # of what the paper leaves open; none: as published, or our default
    counts: bool = True  # towards a verdict: not on generated rankers

    @property
    def published(self) -> bool:
        return not self.reading


@dataclass(frozen=True, kw_only=True)
class Comparison(Topic):
    """One number that a claim is about."""

    value: float
    low: float | None  # None: no interval from one run
    high: float | None
    runs: int
    wanted: str
    p_inside: float  # against "not in the range wanted"
    p_outside: float
    outcome: str = OPEN
    note: str = ""


@dataclass(frozen=True)
class Verdict:
    """What a group of comparisons says, and in how many panels."""

    word: str
    held: int
    of: int

    @property
    def line(self) -> str:
        if self.word == VACUOUS:
            return f"{VACUOUS}: the bound says nothing in {self.of} of {self.of} panels"
        if self.of == 0:
            return f"{OPEN}: no panel counts"
        verb = "" if self.word == HOLDS else "holds "
        return f"{self.word}: {verb}in {self.held} of {self.of} {'panel' if self.of == 1 else 'panels'}"


@dataclass(frozen=True)
class Claim:
    name: str
    statement: str
    test: str
    comparisons: list[Comparison] = field(default_factory=list)
    verdict: str = OPEN
    line: str = ""  # the verdict as published, with its count
    why: str = ""  # what is behind it, in a sentence
    readings: dict[str, str] = field(default_factory=dict)  # reading -> its verdict's line


def comparison(topic: Topic, measured: Estimate, wanted: tuple[float, float], note: str = "") -> Comparison:
    """A comparison, its outcome yet open."""
    low, high = wanted
    inside = measured.p_below(high) if math.isinf(low) else max(measured.p_above(low), measured.p_below(high))
    outside = measured.p_above(high) if math.isinf(low) else min(measured.p_below(low), measured.p_above(high))
    words = f"below {high:g}" if math.isinf(low) else f"{low:g} to {high:g}"
    if measured.correlation is not None:
        how = "paired" if measured.paired else "not paired"
        note = (
            f"{note}; {how}, correlation {measured.correlation:.2f}" if note else f"{how}, correlation {measured.correlation:.2f}"
        )
    return Comparison(
        **vars(topic),
        value=measured.value if math.isfinite(measured.value) else 0.0,
        low=measured.low if measured.has_interval else None,
        high=measured.high if measured.has_interval else None,
        runs=measured.runs,
        wanted=words,
        p_inside=inside,
        p_outside=outside,
        note=note,
    )


def decide(comparisons: list[Comparison]) -> list[Comparison]:
    """Their outcomes, by Holm's method over those that are tested."""
    tested = [c for c in comparisons if c.outcome == OPEN and c.runs >= FEWEST_RUNS]
    adjusted = holm([2.0 * min(c.p_inside, c.p_outside) for c in tested])
    outcomes = {}
    for c, p in zip(tested, adjusted, strict=True):
        if p <= LEVEL:
            outcomes[id(c)] = HOLDS if c.p_inside < c.p_outside else FAILS
    return [dataclasses.replace(c, outcome=outcomes[id(c)]) if id(c) in outcomes else c for c in comparisons]


def judge(comparisons: Iterable[Comparison]) -> Verdict:
    """The rule at the top of this file."""
    counted = [c for c in comparisons if c.counts]
    panels: dict[str, list[str]] = {}
    for c in counted:
        panels.setdefault(c.panel, []).append(c.outcome)
    if counted and all(c.outcome == VACUOUS for c in counted):
        return Verdict(VACUOUS, 0, len(panels))
    biting = {panel: [o for o in outcomes if o != VACUOUS] for panel, outcomes in panels.items()}
    biting = {panel: outcomes for panel, outcomes in biting.items() if outcomes}
    held = sum(set(outcomes) == {HOLDS} for outcomes in biting.values())
    if biting and held == len(biting):
        return Verdict(HOLDS, held, len(biting))
    return Verdict(FAILS if any(FAILS in outcomes for outcomes in biting.values()) else OPEN, held, len(biting))


def claim(name: str, statement: str, test: str, comparisons: list[Comparison], *, refutable: bool = True) -> Claim:
    """The verdict. Not ``refutable``: a bound with a term left out, which more regret does not refute."""
    groups: dict[str, list[Comparison]] = {}
    for c in comparisons:
        groups.setdefault(c.reading, []).append(c)
    decided = []
    for group in groups.values():
        outcomes = decide(group)
        if not refutable:
            outcomes = [dataclasses.replace(c, outcome=OPEN) if c.outcome == FAILS else c for c in outcomes]
        decided += outcomes
    published = [c for c in decided if c.published]
    verdict = judge(published)
    readings = {reading: judge([c for c in decided if c.reading == reading]).line for reading in groups if reading}
    return Claim(name, statement, test, decided, verdict.word, verdict.line, _why(published), readings)


def _why(published: list[Comparison]) -> str:
    """By what is compared: everywhere, or where what."""
    counted = [c for c in published if c.counts]
    subjects = dict.fromkeys(c.subject for c in counted)
    names = {c.subject: c.what for c in reversed(counted)}
    words = [f"{names[subject]} is {_tally([c for c in counted if c.subject == subject])}" for subject in subjects]
    return f"{'; '.join(words)}." if words else "On generated rankers only, which do not count."


def _tally(comparisons: list[Comparison]) -> str:
    """'0.5 to 0.7, as claimed everywhere', or where it is and where not."""
    outcomes = [c.outcome for c in comparisons]
    values = sorted(c.value for c in comparisons if c.low is not None) or [0.0]  # an infinite bound has no ratio
    span = f"{values[0]:.3g}" if len(values) == 1 else f"{values[0]:.3g} to {values[-1]:.3g}"
    words = {HOLDS: "as claimed", FAILS: "not as claimed", OPEN: "undecided", VACUOUS: "which says nothing"}
    if len(outcomes) == 1:
        return f"{span}, {words[outcomes[0]]}"
    if len(set(outcomes)) == 1:
        return f"{span}, {'as claimed nowhere' if FAILS in outcomes else words[outcomes[0]] + ' everywhere'}"
    parts = []
    for outcome, phrase in words.items():
        places = [c.short for c in comparisons if c.outcome == outcome]
        if places:
            between = "; " if any(" " in place for place in places) else " "
            parts.append(f"{phrase} on {between.join(places)}")
    return f"{span}, {', '.join(parts)}"
