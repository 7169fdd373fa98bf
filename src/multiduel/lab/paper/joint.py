"""Settings of all open choices at once: which of them agree with most of what is published, among those that were played?

A *choice* is something that the paper leaves open, with the settings that were tried. A *joint setting* takes one setting of
each, for all panels. It is held against every published statement that its experiments can speak about: a statement agrees if
the 95% interval of its ratio lies where the paper says, is contradicted if it lies elsewhere, and is undecided otherwise.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from multiduel.arrays import Floats
from multiduel.lab.paper.agreement import FACTOR
from multiduel.lab.paper.claims import ALPHAS, BASELINES, BELOW, HALF, PUBLISHED_VARIANCE
from multiduel.lab.paper.panels import MULTI, MULTI_READINGS, generated, short
from multiduel.lab.results import Panel
from multiduel.lab.statistics import Statistic, estimate_variance, mean, ratio, variance

NEAR = (1 / FACTOR, FACTOR)  # a variance over the published one
Key = tuple[str, str]  # an experiment's name, a contender's id
Choice = dict[str, dict[str, dict[str, Key]]]  # setting -> algorithm -> panel -> which line
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
    """All joint settings of some choices, those that agree most first; the published one, with our defaults, by itself."""

    about: str
    choices: tuple[str, ...]
    statements: int
    ranked: list[Joint]
    default: Joint


def searches(panels: Panels) -> list[Search]:
    """One for the two-dueling algorithms, where all choices were varied on one problem, and one for the multi-dueling ones."""
    found = []
    if {"two-dueling-a", "reading-alpha-linear", "reading-doubler-bai"} <= set(panels):
        choices, fixed = _two_choices(panels)
        if all(choices.values()):
            found.append(_search(panels, "two-dueling algorithms, K = 48, linear", choices, fixed, _two_statements()))
    known = [
        (name, reading)
        for name, reading in zip(MULTI, MULTI_READINGS, strict=True)
        if name in panels and reading in panels and not generated(panels[name].experiment)
    ]
    if known:
        where = ", ".join(short(panels[name]) for name, _ in known)
        found.append(_search(panels, f"multi-dueling algorithms, panels {where}", *_multi_choices(panels, known)))
    return found


def _two_choices(panels: Panels) -> tuple[dict[str, Choice], dict[str, dict[str, Key]]]:
    a, alphas, bai = "two-dueling-a", "reading-alpha-linear", "reading-doubler-bai"
    machines = ("multi-sbm-feedback", "multi-sbm", "doubler")
    of_alpha: Choice = {"alpha = 3": {each: {a: (a, each)} for each in machines}}
    for ending, words in ALPHAS.items():
        of_alpha[words] = {each: {a: (alphas, f"{each}-{ending}")} for each in machines}
    lines = [line for line in panels[bai].lines if line.contender.policy == "doubler-bai"]
    of_lucb: Choice = {line.label: {"doubler-bai": {a: (bai, line.id)}} for line in lines}
    of_btm: Choice = {"constant 1": {"btm": {a: (a, "btm")}}}
    for constant in ("1.44", "3"):
        of_btm[f"constant {constant}"] = {"btm": {a: (alphas, f"btm-constant-{constant.replace('.', '-')}")}}
    fixed = {each: {a: (a, each)} for each in ("if2", "savage", "scb")}
    return {"UCB (MultiSBM-Feedback, MultiSBM, Doubler)": of_alpha, "DoublerBAI": of_lucb, "BTM": of_btm}, fixed


def _two_statements() -> list[Statement]:
    a, titles = "two-dueling-a", {"if2": "IF2", "btm": "BTM", "savage": "SAVAGE", "scb": "SCB"}
    statements = [
        Statement("MultiSBM-Feedback below MultiSBM", a, "multi-sbm-feedback", "multi-sbm", BELOW),
        Statement("MultiSBM-Feedback about half of MultiSBM", a, "multi-sbm-feedback", "multi-sbm", HALF),
        Statement("DoublerBAI below Doubler", a, "doubler-bai", "doubler", BELOW),
    ]
    for ours, name in (("multi-sbm-feedback", "MultiSBM-Feedback"), ("doubler-bai", "DoublerBAI")):
        statements += [Statement(f"{name} below {titles[other]}", a, ours, other, BELOW) for other in BASELINES]
    return statements


def _multi_choices(
    panels: Panels, known: list[tuple[str, str]]
) -> tuple[dict[str, Choice], dict[str, dict[str, Key]], list[Statement]]:
    titles = {"multi-rucb": "MultiRUCB", "ind-self-sparring": "IndSelfSparring", "mdb": "MDB", "multi-sparring": "MultiSparring"}
    choices: dict[str, Choice] = {}
    for policy, title in titles.items():
        choice: Choice = {"our default": {policy: {name: (name, policy) for name, _ in known}}}
        for name, reading in known:
            for line in panels[reading].lines:
                if line.contender.policy == policy and line.contender.params:
                    words = ", ".join(f"{key} = {value}" for key, value in line.contender.params.items())
                    choice.setdefault(words, {policy: {}})[policy][name] = (reading, line.id)
        everywhere = {words: setting for words, setting in choice.items() if len(setting[policy]) == len(known)}
        choices[title] = everywhere
    statements = []
    for name, _ in known:
        where = short(panels[name])
        for other in list(titles)[1:]:
            statements.append(Statement(f"MultiRUCB below {titles[other]} {where}", name, "multi-rucb", other, BELOW))
            words = f"MultiRUCB's variance below {titles[other]}'s {where}"
            statements.append(Statement(words, name, "multi-rucb", other, BELOW, variance))
        for policy, value in PUBLISHED_VARIANCE[name].items():
            words = f"{titles[policy]}'s variance near the published one {where}"
            statements.append(Statement(words, name, policy, "", NEAR, variance, float(value)))
    return choices, {}, statements


def _search(
    panels: Panels, about: str, choices: dict[str, Choice], fixed: dict[str, dict[str, Key]], statements: list[Statement]
) -> Search:
    fewest = min(line.result.runs for panel in panels.values() for line in panel.lines)

    def runs(key: Key) -> Floats:
        return panels[key[0]].line(key[1]).final[:fewest]  # the same seeds of all

    @functools.cache
    def outcome(statement: Statement, ours: Key, theirs: Key | None) -> int:
        """1 if it agrees, -1 if it is contradicted, else 0."""
        if theirs is None:
            measured = estimate_variance(runs(ours)).over(statement.published)
        else:
            measured = ratio(runs(ours), runs(theirs), statement.statistic)
        low, high = statement.wanted
        if low < measured.low and measured.high < high:
            return 1
        return -1 if measured.high < low or measured.low > high else 0

    def judged(settings: tuple[str, ...]) -> Joint:
        lines = dict(fixed)
        for choice, setting in zip(choices.values(), settings, strict=True):
            lines |= choice[setting]
        words: dict[int, list[str]] = {1: [], 0: [], -1: []}
        for s in statements:
            theirs = lines[s.theirs][s.panel] if s.theirs else None
            words[outcome(s, lines[s.ours][s.panel], theirs)].append(s.words)
        return Joint(settings, tuple(words[1]), tuple(words[0]), tuple(words[-1]))

    every = [judged(settings) for settings in itertools.product(*choices.values())]
    return Search(about, tuple(choices), len(statements), sorted(every, key=lambda joint: joint.order), every[0])
