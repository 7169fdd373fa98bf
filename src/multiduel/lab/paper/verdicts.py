"""The outcome of a claim follows from its comparisons by rule.

A comparison is a ratio with a 95 % interval and the range in which a claim wants it. Two one-sided tests ask whether it is in
that range or outside; their p-values are adjusted by Holm's method over all comparisons of the claim at our defaults (and, of
an interpretation, over those of that interpretation). The comparison then

    reproduces            if it is in the range, at 5 %
    does not reproduce    if it is outside, at 5 %
    is inconclusive       otherwise, and always with fewer than 20 runs

The outcome of a claim is at the paper's parameters where it states them, and at our defaults elsewhere. A panel is as claimed
if all its comparisons are. The claim

    reproduces            if every panel is as claimed
    does not reproduce    if some comparison does not
    is inconclusive       otherwise

and a theorem's bound is not informative if it is above T D_max, which any play stays within, or not finite, in all panels.

The count of panels is said. Panels on generated rankers never count. Each interpretation has an outcome of its own, by the same
rule, if every comparison of the claim was made with it (those that it does not change are at our defaults); else it is partly
tested, and its outcome is that of the panels played and says so. An interpretation whose runs equal those of the default, bit
by bit, has no outcome.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from multiduel.engine.simulation.statistics import FEWEST_RUNS, Estimate, holm

REPRODUCES, DOES_NOT, INCONCLUSIVE = "reproduces", "does not reproduce", "inconclusive"
NOT_INFORMATIVE = "bound not informative"
PARTLY, SAME = "partly tested", "same as our default"  # of an interpretation, in place of an outcome
OUTCOMES = (REPRODUCES, DOES_NOT, INCONCLUSIVE, NOT_INFORMATIVE)
LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class Topic:
    """What is compared: in which panel, which contenders, interpreted how. Known by names and ids; the rest is only shown."""

    panel: str  # the experiment's name
    pair: str  # what the claim compares, by the ids of its contenders
    subject: str = ""  # which contenders were compared, by their ids: the pair if not given
    where: str  # the panel, in words
    short: str  # and in fewer
    what: str  # the contenders, in words
    lead: str = ""  # a sentence: "MultiRUCB has" ...
    tail: str = ""  # ... 1.2 to 1.4 "times MDB's regret"
    interpretation: str = ""  # of what the paper leaves open; none: our defaults
    further: str = ""  # beyond the claim's own terms, such as at another horizon
    counts: bool = True  # towards an outcome: not on generated rankers

    def __post_init__(self) -> None:
        object.__setattr__(self, "subject", self.subject or self.pair)

    @property
    def default(self) -> bool:
        """Is it what the claim says, at our defaults?"""
        return not self.interpretation and not self.further


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
    outcome: str = INCONCLUSIVE
    note: str = ""


@dataclass(frozen=True)
class Verdict:
    """What a group of comparisons says, and in how many panels."""

    word: str
    held: int
    of: int

    @property
    def count(self) -> str:
        """In how many panels, in words."""
        if self.of == 0:
            return "no panel counts"
        said = "in" if self.word in (REPRODUCES, NOT_INFORMATIVE) else "as claimed in"
        held = self.of if self.word == NOT_INFORMATIVE else self.held
        return f"{said} {held} of {self.of} {'panel' if self.of == 1 else 'panels'}"

    @property
    def line(self) -> str:
        return f"{self.word}: {self.count}"


@dataclass(frozen=True)
class Interpreted:
    """What becomes of a claim with an interpretation, or beyond its own terms."""

    verdict: str  # by the rule, of what was played
    line: str
    whole: bool = True  # every comparison of the claim was made with it
    same: bool = False  # it plays like our default, bit by bit
    where: tuple[str, ...] = ()  # the panels that count, in few letters
    held: int = 0  # in how many of them it is as claimed


@dataclass(frozen=True)
class Claim:
    name: str
    statement: str
    test: str
    comparisons: list[Comparison] = field(default_factory=list)
    verdict: str = INCONCLUSIVE
    line: str = ""  # the outcome at our defaults, with its count
    why: str = ""  # what was measured, in a sentence
    interpretations: dict[str, Interpreted] = field(default_factory=dict)
    further: dict[str, Interpreted] = field(default_factory=dict)


def comparison(topic: Topic, measured: Estimate, wanted: tuple[float, float], note: str = "") -> Comparison:
    """Make a comparison, its outcome not decided yet."""
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
    tested = [c for c in comparisons if c.outcome == INCONCLUSIVE and c.runs >= FEWEST_RUNS]
    adjusted = holm([2.0 * min(c.p_inside, c.p_outside) for c in tested])
    outcomes = {}
    for c, p in zip(tested, adjusted, strict=True):
        if p <= LEVEL:
            outcomes[id(c)] = REPRODUCES if c.p_inside < c.p_outside else DOES_NOT
    return [dataclasses.replace(c, outcome=outcomes[id(c)]) if id(c) in outcomes else c for c in comparisons]


def judge(comparisons: Iterable[Comparison]) -> Verdict:
    """The rule at the top of this file."""
    counted = [c for c in comparisons if c.counts]
    panels: dict[str, list[str]] = {}
    for c in counted:
        panels.setdefault(c.panel, []).append(c.outcome)
    if counted and all(c.outcome == NOT_INFORMATIVE for c in counted):
        return Verdict(NOT_INFORMATIVE, 0, len(panels))
    biting = {panel: [o for o in outcomes if o != NOT_INFORMATIVE] for panel, outcomes in panels.items()}
    biting = {panel: outcomes for panel, outcomes in biting.items() if outcomes}
    held = sum(set(outcomes) == {REPRODUCES} for outcomes in biting.values())
    if biting and held == len(biting):
        return Verdict(REPRODUCES, held, len(biting))
    return Verdict(DOES_NOT if any(DOES_NOT in outcomes for outcomes in biting.values()) else INCONCLUSIVE, held, len(biting))


def claim(
    name: str,
    statement: str,
    test: str,
    comparisons: list[Comparison],
    *,
    same: Collection[str] = (),
    refutable: bool = True,
    left_out: str = "",
) -> Claim:
    """Judge a claim by its comparisons.

    ``same`` are interpretations that play like our default, bit by bit. Not ``refutable``: a bound with a term left out, which
    more regret does not refute. ``left_out`` says so, at the end of the sentence.
    """
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for c in comparisons:
        groups.setdefault((c.interpretation, c.further), []).append(c)
    decided: dict[tuple[str, str], list[Comparison]] = {}
    for key, group in groups.items():
        outcomes = decide(group)
        if not refutable:
            outcomes = [dataclasses.replace(c, outcome=INCONCLUSIVE) if c.outcome == DOES_NOT else c for c in outcomes]
        decided[key] = outcomes
    default = decided.get(("", ""), [])
    verdict = judge(default)
    interpretations = {
        interpretation: _interpreted(group, default, same=interpretation in same)
        for (interpretation, _), group in decided.items()
        if interpretation
    }
    further = {words: _interpreted(group, group) for (_, words), group in decided.items() if words}
    every = [c for group in decided.values() for c in group]
    why = _why(default, interpretations, verdict) + left_out
    return Claim(name, statement, test, every, verdict.word, verdict.line, why, interpretations, further)


def _interpreted(group: list[Comparison], default: list[Comparison], *, same: bool = False) -> Interpreted:
    """What an interpretation makes of the claim, and whether every comparison of the claim was made with it."""
    verdict = judge(group)
    made = {(c.panel, c.pair) for c in group if c.counts}
    wanted = {(c.panel, c.pair) for c in default if c.counts}
    where = tuple(dict.fromkeys(c.short for c in group if c.counts))
    if same:
        return Interpreted(verdict.word, f"{SAME}: equal in every run, bit by bit", whole=False, same=True, where=where)
    if made >= wanted:
        return Interpreted(verdict.word, verdict.line, where=where, held=verdict.held)
    panels = len({panel for panel, _ in wanted})
    words = f"{PARTLY}: {verdict.word}, as claimed in {verdict.held} of {verdict.of} played, {panels} in all"
    return Interpreted(verdict.word, words, whole=False, where=where, held=verdict.held)


def _why(default: list[Comparison], interpretations: dict[str, Interpreted], verdict: Verdict) -> str:
    """What was measured, by what is compared; and which interpretations would make the claim reproduce."""
    counted = [c for c in default if c.counts]
    if not counted:
        return "Measured on generated rankers only, which do not count."
    leads: dict[str, list[str]] = {}
    for pair in dict.fromkeys(c.pair for c in counted):
        group = [c for c in counted if c.pair == pair]
        leads.setdefault(group[0].lead, []).append(f"{_tally(group)}")
    sentences = [f"{lead} {_and(_once(parts))}".strip() for lead, parts in leads.items()]
    too_large = ", which exceeds what any play could lose" if verdict.word == NOT_INFORMATIVE else ""
    return f"{'; '.join(sentences)}{too_large}{_would(interpretations, verdict)}."


def _once(parts: list[str]) -> list[str]:
    """What all parts of an enumeration are about is said in the first: "2 times A's regret, 3 times B's"."""
    for word in (" regret", " variance"):
        if all(word in part for part in parts):
            return [parts[0], *(part.replace(f"'s{word}", "'s") for part in parts[1:])]
    return parts


def _tally(comparisons: list[Comparison]) -> str:
    """'0.5 to 0.7 times MDB's regret', and where that is as claimed if it is so in some panels only."""
    outcomes = [c.outcome for c in comparisons]
    values = sorted(c.value for c in comparisons if c.low is not None) or sorted(c.value for c in comparisons)
    span = _short(values[0]) if _short(values[0]) == _short(values[-1]) else f"{_short(values[0])} to {_short(values[-1])}"
    words = f"{span} {comparisons[0].tail}"
    as_claimed = [c.short for c in comparisons if c.outcome == REPRODUCES]
    if not as_claimed or len(as_claimed) == len(outcomes):
        return words
    said = {DOES_NOT: "not", INCONCLUSIVE: "undecided", NOT_INFORMATIVE: "a bound that says nothing"}
    others = {word: [c.short for c in comparisons if c.outcome == word] for word in said if word in outcomes}
    if len(others) == 1:
        return f"{words} (as claimed on {_and(as_claimed)}, {said[next(iter(others))]} elsewhere)"
    rest = ", ".join(f"{said[word]} on {_and(where)}" for word, where in others.items())
    return f"{words} (as claimed on {_and(as_claimed)}, {rest})"


def _would(interpretations: dict[str, Interpreted], verdict: Verdict) -> str:
    """Which interpretations change the outcome."""
    if verdict.word == REPRODUCES:
        against = [words for words, each in interpretations.items() if each.whole and each.verdict == DOES_NOT]
        return f"; but not with {_or(against)}" if against else ""
    if verdict.word == NOT_INFORMATIVE:
        return ""
    found = [words for words, each in interpretations.items() if each.whole and each.verdict == REPRODUCES]
    if found:
        return f"; it would with {_or(found)}"
    partly: dict[tuple[str, ...], list[str]] = {}
    for words, each in interpretations.items():
        if each.verdict == REPRODUCES and not each.same:
            partly.setdefault(each.where, []).append(words)
    better = [(words, each) for words, each in interpretations.items() if each.whole and each.held > verdict.held]
    if better:
        words, best = max(better, key=lambda pair: pair[1].held)  # the first of equals: a single choice before a joint one
        others = "but does not as a whole" if best.verdict == DOES_NOT else "and is undecided on the others"
        return f"; with {words} it would on {best.held} of {verdict.of} panels, {others}"
    parts = [f"on {_and(where)}, the only {'panel' if len(where) == 1 else 'panels'} tried, it would with {_or(words)}"
             for where, words in partly.items()]  # fmt: skip
    return "; " + "; ".join(parts) if parts else "; no interpretation tried makes it reproduce" if interpretations else ""


def _short(value: float) -> str:
    """A ratio with two digits, or three above 10."""
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def _and(words: list[str] | tuple[str, ...]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _or(words: list[str]) -> str:
    return " or with ".join(words)
