"""Settings of all open choices at once: which of them agree with most of what is published, among those that were played?

A *choice* is something that the paper leaves open, with the settings that were tried. A *joint setting* takes one setting of
each, for all panels. It is held against every published statement that its experiments can speak about: a statement agrees if
the 95 % interval of its ratio lies where the paper says, is contradicted if it lies elsewhere, and is undecided otherwise.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from multiduel.arrays import Floats
from multiduel.engine.simulation.statistics import Statistic, estimate_variance, mean, ratio, variance
from multiduel.lab.paper.agreement import FACTOR
from multiduel.lab.paper.claims import BASELINES, BELOW, HALF, PUBLISHED_VARIANCE, RIVALS
from multiduel.lab.paper.interpretations import (
    MULTI_INTERPRETATIONS,
    MULTI_JOINT,
    TWO_INTERPRETATIONS,
    TWO_JOINT,
    Interpretation,
    find,
    same_as_default,
)
from multiduel.lab.paper.panels import MULTI, VARIED_IN, generated, short
from multiduel.lab.results import Line, Panel

NEAR = (1 / FACTOR, FACTOR)  # a variance over the published one
DEFAULT = "our default"
# What a joint setting chooses, and for whom; all contenders of a choice change together.
TWO_CHOICES = {
    "UCB in MultiSBM-Feedback, MultiSBM and Doubler": ("multi-sbm-feedback", "multi-sbm", "doubler"),
    "LUCB in DoublerBAI": ("doubler-bai",),
    "BTM": ("btm",),
    "IF": ("if2",),
}
TITLES = {"multi-rucb": "MultiRUCB", "ind-self-sparring": "IndSelfSparring", "mdb": "MDB", "multi-sparring": "MultiSparring"}
Lines = Mapping[tuple[str, str], Line]  # of each panel and role
Choice = dict[str, Lines]  # setting -> the lines that it puts in
Panels = Mapping[str, Panel]


@dataclass(frozen=True)
class Statement:
    """Ours over theirs, in a panel; without theirs, ours over a published number."""

    words: str
    panel: str
    ours: str
    theirs: str
    wanted: tuple[float, float]
    statistic: Statistic = mean
    published: float = 1.0


@dataclass(frozen=True)
class Joint:
    """A joint setting, and what it makes of the statements."""

    settings: tuple[str, ...]
    agree: tuple[str, ...]
    undecided: tuple[str, ...]
    contradicted: tuple[str, ...]

    @property
    def order(self) -> tuple[int, int]:
        return -len(self.agree), len(self.contradicted)


@dataclass(frozen=True)
class Search:
    """All joint settings of some choices, those that agree most first; our defaults, and the one that is drawn, by themselves."""

    about: str
    choices: tuple[str, ...]
    statements: int
    ranked: list[Joint]
    default: Joint
    drawn: Joint | None = None  # the joint interpretation that is played in all panels


def searches(panels: Panels) -> list[Search]:
    """One for the two-dueling algorithms, where all choices were varied on one problem, and one for the multi-dueling ones."""
    found = []
    if {"two-dueling-a", *VARIED_IN["two-dueling-a"]} <= set(panels):
        choices = _choices(panels, ["two-dueling-a"], TWO_CHOICES, TWO_INTERPRETATIONS)
        fixed = _default_lines(panels, ["two-dueling-a"], ("savage", "scb"))
        about = "the two-dueling algorithms on K = 48, linear"
        found.append(
            _search(about, choices, fixed, _two_statements(), drawn(choices, TWO_CHOICES, TWO_JOINT, TWO_INTERPRETATIONS))
        )
    known = [name for name in MULTI if {name, *VARIED_IN[name]} <= set(panels) and not generated(panels[name].experiment)]
    if known:
        whose = {TITLES[policy]: (policy,) for policy in TITLES}
        choices = _choices(panels, known, whose, MULTI_INTERPRETATIONS)
        about = f"the multi-dueling algorithms on panels {', '.join(short(panels[name]) for name in known)}"
        shown = drawn(choices, whose, MULTI_JOINT, MULTI_INTERPRETATIONS)
        found.append(_search(about, choices, {}, _multi_statements(panels, known), shown))
    return found


def _default_lines(panels: Panels, names: Sequence[str], roles: Sequence[str]) -> Lines:
    return {(name, role): panels[name].line(role) for name in names for role in roles}


def _choices(
    panels: Panels, names: Sequence[str], whose: Mapping[str, Sequence[str]], interpretations: Sequence[Interpretation]
) -> dict[str, Choice]:
    """Of each choice its settings: our default, and those interpretations of it that were played in all these panels and do not
    equal the default."""
    choices: dict[str, Choice] = {}
    for words, roles in whose.items():
        choices[words] = {DEFAULT: _default_lines(panels, names, roles)}
        for each in interpretations:
            if set(each.changes) != set(roles) or same_as_default(panels, names, roles, each):
                continue
            lines = {(name, role): find(panels, name, role, each) for name in names for role in roles}
            whole = {key: line for key, line in lines.items() if line is not None}
            if len(whole) == len(lines):
                choices[words][each.words] = whole
    return choices


def drawn(
    choices: Mapping[str, Choice], whose: Mapping[str, Sequence[str]], joint: Interpretation, single: Sequence[Interpretation]
) -> tuple[str, ...] | None:
    """The joint interpretation as settings of these choices; None if one of them was not played."""
    settings = []
    for words, roles in whose.items():
        wanted = {role: joint.changes[role] for role in roles if role in joint.changes}
        named = next((each.words for each in single if dict(each.changes) == wanted), None) if wanted else DEFAULT
        if named is None or named not in choices[words]:
            return None
        settings.append(named)
    return tuple(settings)


def _two_statements() -> list[Statement]:
    a, titles = "two-dueling-a", {"if2": "IF", "btm": "BTM", "savage": "SAVAGE", "scb": "SCB"}
    statements = [
        Statement("MultiSBM-Feedback below MultiSBM", a, "multi-sbm-feedback", "multi-sbm", BELOW),
        Statement("MultiSBM-Feedback about half of MultiSBM", a, "multi-sbm-feedback", "multi-sbm", HALF),
        Statement("DoublerBAI below Doubler", a, "doubler-bai", "doubler", BELOW),
    ]
    for ours, name in (("multi-sbm-feedback", "MultiSBM-Feedback"), ("doubler-bai", "DoublerBAI")):
        statements += [Statement(f"{name} below {titles[other]}", a, ours, other, BELOW) for other in BASELINES]
    return statements


def _multi_statements(panels: Panels, known: Sequence[str]) -> list[Statement]:
    statements = []
    for name in known:
        where = short(panels[name])
        for other in RIVALS:
            statements.append(Statement(f"MultiRUCB below {TITLES[other]} {where}", name, "multi-rucb", other, BELOW))
            words = f"MultiRUCB's variance below {TITLES[other]}'s {where}"
            statements.append(Statement(words, name, "multi-rucb", other, BELOW, variance))
        for policy, value in PUBLISHED_VARIANCE[name].items():
            words = f"{TITLES[policy]}'s variance near the published one {where}"
            statements.append(Statement(words, name, policy, "", NEAR, variance, float(value)))
    return statements


def _search(
    about: str,
    choices: Mapping[str, Choice],
    fixed: Lines,
    statements: Sequence[Statement],
    shown: tuple[str, ...] | None = None,
) -> Search:
    every_line = [*fixed.values(), *(line for choice in choices.values() for lines in choice.values() for line in lines.values())]
    fewest = min(line.result.runs for line in every_line)

    def runs(line: Line) -> Floats:
        return line.final[:fewest]  # the same seeds of all

    kept: dict[tuple[Statement, int, int], int] = {}

    def outcome(statement: Statement, ours: Line, theirs: Line | None) -> int:
        """1 if it agrees, -1 if it is contradicted, else 0."""
        key = statement, id(ours), id(theirs)
        if key not in kept:
            kept[key] = _outcome(statement, runs(ours), None if theirs is None else runs(theirs))
        return kept[key]

    def judged(settings: tuple[str, ...]) -> Joint:
        lines = dict(fixed)
        for choice, setting in zip(choices.values(), settings, strict=True):
            lines |= choice[setting]
        words: dict[int, list[str]] = {1: [], 0: [], -1: []}
        for s in statements:
            theirs = lines[s.panel, s.theirs] if s.theirs else None
            words[outcome(s, lines[s.panel, s.ours], theirs)].append(s.words)
        return Joint(settings, tuple(words[1]), tuple(words[0]), tuple(words[-1]))

    every = [judged(settings) for settings in itertools.product(*choices.values())]
    by_settings = {each.settings: each for each in every}
    ranked = sorted(every, key=lambda joint: joint.order)
    return Search(about, tuple(choices), len(statements), ranked, every[0], by_settings.get(shown) if shown else None)


def _outcome(statement: Statement, ours: Floats, theirs: Floats | None) -> int:
    published = statement.published
    measured = estimate_variance(ours).over(published) if theirs is None else ratio(ours, theirs, statement.statistic)
    low, high = statement.wanted
    if low < measured.low and measured.high < high:
        return 1
    return -1 if measured.high < low or measured.low > high else 0
