"""The paper's claims, each with a test, the numbers, their intervals and a verdict that follows from them by rule.

A claim becomes comparisons: ratios with 95% bootstrap intervals over common seeds (see verdicts.py for what is made of
them). Those "as published" take the paper's parameters, or our defaults where it states none; those of other readings
come from the experiments named reading-*.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping

from multiduel import theory
from multiduel.arrays import Floats
from multiduel.lab.experiment import Experiment
from multiduel.lab.paper.panels import ALPHA_READINGS, MULTI, MULTI_READINGS, SLATE_SIZES, TWO, short, title
from multiduel.lab.paper.statistics import Estimate, Statistic, estimate, mean, number, ratio, variance, wins
from multiduel.lab.paper.verdicts import FAILS, OPEN, VACUOUS, Claim, Comparison, Topic, claim, comparison
from multiduel.lab.results import Panel

HALF = (0.4, 0.6)  # "about half"
BELOW = (-math.inf, 1.0)

# Variance of regret at T = 10^6 over 50 runs, the paper's table.
PUBLISHED_VARIANCE = {
    "multi-dueling-a": {"multi-rucb": 1648, "ind-self-sparring": 2048, "mdb": 2142, "multi-sparring": 2201},
    "multi-dueling-b": {"multi-rucb": 1042, "ind-self-sparring": 1243, "mdb": 1246, "multi-sparring": 1329},
    "multi-dueling-c": {"multi-rucb": 678, "ind-self-sparring": 741, "mdb": 754, "multi-sparring": 865},
    "multi-dueling-d": {"multi-rucb": 232, "ind-self-sparring": 265, "mdb": 278, "multi-sparring": 393},
}
BASELINES = ("if2", "btm", "savage", "scb")
ALPHAS = {"alpha-1": "alpha = 1", "alpha-0": "alpha = 0", "alpha-minus-1": "alpha = -1"}  # in ids, and in words
MACHINES = {"kl-ucb": "KL-UCB", "thompson": "Thompson", "ucb": "UCB"}
Panels = Mapping[str, Panel]
Theorem = Callable[[Floats, Experiment], theory.Bound]


def judge(panels: Panels) -> list[Claim]:
    """All claims of the paper, judged by what was measured."""
    return [
        claim(
            "half",
            "MultiSBM-Feedback has about half the regret of MultiSBM.",
            f"Ratio of mean regrets at the end, runs paired by seed; about half: {HALF[0]} to {HALF[1]}.",
            _half(panels),
        ),
        claim(
            "doubler",
            "DoublerBAI has less regret than Doubler.",
            "Ratio of mean regrets at the end, runs paired by seed; below 1.",
            _against(panels, "doubler-bai", ("doubler",), _doubler_readings(panels, "doubler")),
        ),
        claim(
            "sbm-baselines",
            "MultiSBM-Feedback has less regret than IF, BTM, SAVAGE and SCB.",
            "Ratio of mean regrets at the end, runs paired by seed; below 1. IF2, BTM and SAVAGE are told each point's horizon.",
            _against(panels, "multi-sbm-feedback", BASELINES, _alpha_readings(panels)),
        ),
        claim(
            "doubler-bai-baselines",
            "DoublerBAI has less regret than IF, BTM, SAVAGE and SCB.",
            "Ratio of mean regrets at the end, runs paired by seed; below 1. IF2, BTM and SAVAGE are told each point's horizon.",
            _against(panels, "doubler-bai", BASELINES, _doubler_readings(panels, "if2")),
        ),
        claim(
            "best",
            "MultiRUCB has the least regret of the multi-dueling algorithms.",
            "Ratio of mean regrets at the end, runs paired by seed; below 1.",
            _multi(panels, mean),
        ),
        claim(
            "variance",
            "MultiRUCB has the smallest variance of the multi-dueling algorithms.",
            "Ratio of sample variances of regret at the end, both samples resampled on their own; below 1.",
            _multi(panels, variance),
        ),
        claim(
            "slate-size",
            "MultiRUCB improves as m grows.",
            "Ratio of mean regrets at the end, larger m over smaller m, runs paired by seed; below 1.",
            _sizes(panels),
        ),
        claim(
            "theorem-1",
            "Theorem 1: DoublerBAI's regret is O(H ln T) + O((H ln H)^b).",
            "Mean regret over the bound; below 1. The paper has no constants: those of its appendix, with LUCB's measured.",
            _bounds(panels, "doubler-bai", TWO, _theorem1),
        ),
        claim(
            "theorem-2",
            "Theorem 2: MultiSBM-Feedback's regret is within its bound.",
            "Mean regret over the bound's leading terms; below 1. Its term in ln ln T has no constant and is left out, "
            "so more regret refutes nothing. And: growth per ln T at the end over the coefficient of ln T; below 1.",
            [
                *_bounds(panels, "multi-sbm-feedback", TWO, _theorem2),
                *_bounds(panels, "multi-sbm-feedback", ("reading-long",), _theorem2, _long(panels)),
                *_growth(panels),
            ],
        ),
        claim(
            "theorem-3",
            "Theorem 3: MultiRUCB's regret, alpha > 1, is within its bound.",
            "Mean regret with alpha = 1.01 over the bound; below 1.",
            _bounds(panels, "multi-rucb-alpha-1-01", MULTI_READINGS, _theorem3),
        ),
    ]


# What is compared


def _half(panels: Panels) -> list[Comparison]:
    ours, theirs = "multi-sbm-feedback", "multi-sbm"
    comparisons = [_ratio(panels[name], ours, theirs, wanted=HALF) for name in TWO if name in panels]
    for name in ALPHA_READINGS:
        for alpha, reading in ALPHAS.items() if name in panels else ():
            comparisons.append(_ratio(panels[name], f"{ours}-{alpha}", f"{theirs}-{alpha}", reading, HALF))
    if "reading-long" in panels:
        comparisons.append(_ratio(panels["reading-long"], ours, theirs, _long(panels), HALF))
    if "reading-machines" in panels:
        panel = panels["reading-machines"]
        for machine, words in MACHINES.items():
            reading = f"{words} at T = {panel.experiment.horizon:,}"
            comparisons.append(_ratio(panel, f"{ours}-{machine}", f"{theirs}-{machine}", reading, HALF))
    return comparisons


def _against(panels: Panels, ours: str, others: Iterable[str], readings: Iterable[Comparison]) -> list[Comparison]:
    rivals = list(others)
    published = [_ratio(panels[name], ours, other) for other in rivals for name in TWO if name in panels]
    return [*published, *readings]


def _doubler_readings(panels: Panels, other: str) -> list[Comparison]:
    comparisons = []
    if "reading-doubler-bai" in panels:
        panel = panels["reading-doubler-bai"]
        readings = [line for line in panel.lines if line.contender.policy == "doubler-bai" and line.id != "doubler-bai"]
        comparisons += [_ratio(panel, line.id, other, line.label, named="DoublerBAI") for line in readings]
    if "reading-long" in panels:
        comparisons.append(_ratio(panels["reading-long"], "doubler-bai", other, _long(panels)))
    return comparisons


def _alpha_readings(panels: Panels) -> list[Comparison]:
    comparisons = []
    for name in ALPHA_READINGS:
        for alpha, reading in ALPHAS.items() if name in panels else ():
            ours = f"multi-sbm-feedback-{alpha}"
            for other in ("if2", "btm"):
                comparisons.append(_ratio(panels[name], ours, other, reading, named="MultiSBM-Feedback"))
    if "reading-long" in panels:
        comparisons.append(_ratio(panels["reading-long"], "multi-sbm-feedback", "if2", _long(panels)))
    return comparisons


def _multi(panels: Panels, statistic: Statistic) -> list[Comparison]:
    others = ("ind-self-sparring", "mdb", "multi-sparring")
    comparisons = [
        _ratio(panels[name], "multi-rucb", other, statistic=statistic)
        for other in others for name in MULTI if name in panels
    ]  # fmt: skip
    readings = [
        ("multi-rucb-alpha-0-51", "ind-self-sparring-eta-0-1", "eta = 0.1"),
        ("multi-rucb-alpha-0-51", "mdb-alpha-1-01", "MDB's alpha = 1.01"),
        ("multi-rucb-alpha-1-01", "mdb-alpha-1-01", "both alpha = 1.01"),
        ("multi-rucb-priority-always", "ind-self-sparring-eta-1", "priority = always"),
        ("multi-rucb-priority-always", "mdb-alpha-0-51", "priority = always"),
    ]
    for name in MULTI_READINGS:
        if name in panels:
            comparisons += [_ratio(panels[name], a, b, reading, statistic=statistic) for a, b, reading in readings]
    return comparisons


def _sizes(panels: Panels) -> list[Comparison]:
    comparisons = []
    for smaller, larger in (("multi-dueling-a", "multi-dueling-b"), ("multi-dueling-c", "multi-dueling-d")):
        if smaller in panels and larger in panels:
            small, large = panels[smaller], panels[larger]
            topic = Topic(
                panel=f"{larger} / {smaller}",
                subject="multi-rucb",
                where=f"{title(large)} / {title(small)}",
                short=f"{short(large)} / {short(small)}",
                what=f"m = {large.experiment.slate_size} / m = {small.experiment.slate_size}",
            )
            ours, theirs = large.line("multi-rucb").final, small.line("multi-rucb").final
            comparisons.append(comparison(topic, ratio(ours, theirs), BELOW))
    readings: tuple[tuple[dict[str, float], str], ...] = (({}, "alpha = 0.51, other m"), ({"alpha": 1.01}, "alpha = 1.01"))
    for name in SLATE_SIZES:
        for params, reading in readings if name in panels else ():
            every_m = [line for line in panels[name].lines if line.contender.policy == "multi-rucb"]
            alike = sorted((line for line in every_m if line.contender.params == params), key=lambda line: line.result.slate_size)
            for a, b in itertools.pairwise(alike):
                topic = Topic(
                    panel=name,
                    subject=f"{b.id} / {a.id}",
                    where=short(panels[name]),
                    short=short(panels[name]),
                    what=f"m = {b.result.slate_size} / m = {a.result.slate_size}",
                    reading=reading,
                )
                comparisons.append(comparison(topic, ratio(b.final, a.final), BELOW))
    return comparisons


def _bounds(panels: Panels, id: str, names: Iterable[str], theorem: Theorem, reading: str = "") -> list[Comparison]:
    """Mean regret over a theorem's bound. A bound above T D_max holds for any play; where none is finite, none is tested."""
    comparisons = []
    for name in names:
        if name not in panels:
            continue
        panel = panels[name]
        bound = theorem(panel.problem.matrix, panel.experiment)
        line = panel.line(id)
        topic = _topic(panel, id, line.label, reading)
        if math.isinf(bound.raw):
            why = bound.notes[-1] if not bound.capped else bound.notes[-2]
            nothing = Comparison(
                **vars(topic), value=0.0, low=None, high=None, wanted="a finite bound", outcome=VACUOUS, note=why
            )
            comparisons.append(nothing)
            continue
        measured = estimate(line.final)
        share = Estimate(measured.value / bound.raw, measured.low / bound.raw, measured.high / bound.raw, measured.runs)
        judged = comparison(topic, share, BELOW, f"regret {measured}; bound {number(bound.raw)}")
        if judged.outcome == FAILS and theorem is _theorem2:  # what it leaves out may be as large as one likes
            judged = dataclasses.replace(judged, outcome=OPEN, note=f"{judged.note}, without its term in ln ln T")
        if bound.capped:
            judged = dataclasses.replace(judged, outcome=VACUOUS, note=f"{judged.note}, above T D_max: it says nothing here")
        comparisons.append(judged)
    return comparisons


def _growth(panels: Panels) -> list[Comparison]:
    """How fast MultiSBM-Feedback's regret still grows per ln T at the end, over Theorem 2's coefficient of ln T."""
    comparisons = []
    for name in (*TWO, "reading-long"):
        if name not in panels:
            continue
        panel = panels[name]
        bound = _theorem2(panel.problem.matrix, panel.experiment)
        line = panel.line("multi-sbm-feedback")
        checkpoints = line.result.checkpoints
        if math.isinf(bound.raw) or len(checkpoints) == 1:
            continue
        before, end = checkpoints[-2:].tolist()
        coefficient = min(bound.terms["D_max/D_i^2 branch"], bound.terms["1/D_i branch"]) / math.log(panel.experiment.horizon)
        growth = estimate((line.regret[:, -1] - line.regret[:, -2]) / math.log(end / before))
        share = Estimate(growth.value / coefficient, growth.low / coefficient, growth.high / coefficient, growth.runs)
        note = f"{growth} per ln T; coefficient {number(coefficient)}"
        topic = _topic(panel, line.id, "growth / coefficient of ln T", f"growth from T = {before:,} to {end:,}")
        judged = comparison(topic, share, BELOW, note)
        comparisons.append(dataclasses.replace(judged, outcome=OPEN) if judged.outcome == FAILS else judged)
    return comparisons


def _theorem1(P: Floats, experiment: Experiment) -> theory.Bound:
    return theory.theorem1(P, experiment.horizon)


def _theorem2(P: Floats, experiment: Experiment) -> theory.Bound:
    return theory.theorem2(P, experiment.horizon)


def _theorem3(P: Floats, experiment: Experiment) -> theory.Bound:
    return theory.theorem3(P, experiment.horizon, experiment.slate_size, alpha=1.01)


def _long(panels: Panels) -> str:
    """The name of the reading with the longer horizon."""
    return f"T = {panels['reading-long'].experiment.horizon:,}" if "reading-long" in panels else ""


# How it is judged


def _topic(panel: Panel, subject: str, what: str, reading: str) -> Topic:
    name = panel.experiment.name
    return Topic(panel=name, subject=subject, where=title(panel), short=short(panel), what=what, reading=reading)


def _ratio(
    panel: Panel,
    ours: str,
    theirs: str,
    reading: str = "",
    wanted: tuple[float, float] = BELOW,
    *,
    statistic: Statistic = mean,
    named: str | None = None,
) -> Comparison:
    """One contender's statistic over another's, both named by their ids; ``named`` is what ours is called."""
    us, them = panel.line(ours), panel.line(theirs)
    a, b = us.final, them.final
    topic = _topic(panel, f"{ours} / {theirs}", f"{named or us.label} / {them.label}", reading)
    if statistic is mean:
        won, of = wins(a, b)
        note = f"{number(float(a.mean()))} against {number(float(b.mean()))}; smaller in {won} of {of} runs"
        return comparison(topic, ratio(a, b), wanted, note)
    several = min(len(a), len(b)) > 1
    measured = ratio(a, b, statistic, paired=False) if several else Estimate(math.nan, -math.inf, math.inf, 1)
    note = f"{number(float(statistic(a)))} against {number(float(statistic(b)))}" if several else ""
    return comparison(topic, measured, wanted, note)
