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
from multiduel.lab.paper.figures import title
from multiduel.lab.paper.statistics import Estimate, Statistic, estimate, mean, number, ratio, variance, wins
from multiduel.lab.paper.verdicts import FAILS, OPEN, PUBLISHED, VACUOUS, Claim, Comparison, claim, comparison
from multiduel.lab.results import Panel
from multiduel.problems import Problem

HALF = (0.4, 0.6)  # "about half"
BELOW = (-math.inf, 1.0)

# Variance of regret at T = 10^6 over 50 runs, the paper's table.
PUBLISHED_VARIANCE = {
    "multi-dueling-a": {"MultiRUCB": 1648, "IndSelfSparring": 2048, "MDB": 2142, "MultiSparring": 2201},
    "multi-dueling-b": {"MultiRUCB": 1042, "IndSelfSparring": 1243, "MDB": 1246, "MultiSparring": 1329},
    "multi-dueling-c": {"MultiRUCB": 678, "IndSelfSparring": 741, "MDB": 754, "MultiSparring": 865},
    "multi-dueling-d": {"MultiRUCB": 232, "IndSelfSparring": 265, "MDB": 278, "MultiSparring": 393},
}
TWO = tuple(f"two-dueling-{letter}" for letter in "abcdef")
MULTI = tuple(PUBLISHED_VARIANCE)
MULTI_READINGS = tuple(f"reading-multi-rucb{kind}-{m}" for kind in ("", "-rankers") for m in (8, 16))
BASELINES = ("IF2", "BTM", "SAVAGE", "SCB")
Panels = Mapping[str, Panel]
Problems = Mapping[str, Problem]  # of the panels of the same names
Theorem = Callable[[Floats, Experiment], theory.Bound]


def judge(panels: Panels, problems: Problems) -> list[Claim]:
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
            _against(panels, "DoublerBAI", ("Doubler",), _doubler_readings(panels, "Doubler")),
        ),
        claim(
            "sbm-baselines",
            "MultiSBM-Feedback has less regret than IF, BTM, SAVAGE and SCB.",
            "Ratio of mean regrets at the end, runs paired by seed; below 1. IF2, BTM and SAVAGE are told each point's horizon.",
            _against(panels, "MultiSBM-Feedback", BASELINES, _alpha_readings(panels)),
        ),
        claim(
            "doubler-bai-baselines",
            "DoublerBAI has less regret than IF, BTM, SAVAGE and SCB.",
            "Ratio of mean regrets at the end, runs paired by seed; below 1. IF2, BTM and SAVAGE are told each point's horizon.",
            _against(panels, "DoublerBAI", BASELINES, _doubler_readings(panels, "IF2")),
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
            _bounds(panels, problems, "DoublerBAI", TWO, _theorem1),
        ),
        claim(
            "theorem-2",
            "Theorem 2: MultiSBM-Feedback's regret is within its bound.",
            "Mean regret over the bound's leading terms; below 1. Its term in ln ln T has no constant and is left out, "
            "so more regret refutes nothing. And: growth per ln T at the end over the coefficient of ln T; below 1.",
            [
                *_bounds(panels, problems, "MultiSBM-Feedback", TWO, _theorem2),
                *_bounds(panels, problems, "MultiSBM-Feedback", ("reading-long",), _theorem2, _long(panels)),
                *_growth(panels, problems),
            ],
        ),
        claim(
            "theorem-3",
            "Theorem 3: MultiRUCB's regret, alpha > 1, is within its bound.",
            "Mean regret with alpha = 1.01 over the bound; below 1.",
            _bounds(panels, problems, "MultiRUCB, alpha 1.01", MULTI_READINGS, _theorem3),
        ),
    ]


# What is compared


def _half(panels: Panels) -> list[Comparison]:
    found = [_ratio(panels[name], "MultiSBM-Feedback", "MultiSBM", PUBLISHED, HALF) for name in TWO if name in panels]
    for name in ("reading-alpha-linear", "reading-alpha-logit"):
        for alpha in ("1", "0", "-1") if name in panels else ():
            ours, theirs = (f"{label}, alpha {alpha}" for label in ("MultiSBM-Feedback", "MultiSBM"))
            found.append(_ratio(panels[name], ours, theirs, f"alpha = {alpha}", HALF))
    if "reading-long" in panels:
        found.append(_ratio(panels["reading-long"], "MultiSBM-Feedback", "MultiSBM", _long(panels), HALF))
    if "reading-machines" in panels:
        panel = panels["reading-machines"]
        for machine in ("KL-UCB", "Thompson", "UCB"):
            ours, theirs = (f"{label}, {machine}" for label in ("MultiSBM-Feedback", "MultiSBM"))
            found.append(_ratio(panel, ours, theirs, f"{machine} at T = {panel.experiment.horizon:,}", HALF))
    return found


def _against(panels: Panels, ours: str, others: Iterable[str], readings: Iterable[Comparison]) -> list[Comparison]:
    rivals = list(others)
    published = [_ratio(panels[name], ours, other, PUBLISHED) for other in rivals for name in TWO if name in panels]
    return [*published, *readings]


def _doubler_readings(panels: Panels, other: str) -> list[Comparison]:
    found = []
    if "reading-doubler-bai" in panels:
        panel = panels["reading-doubler-bai"]
        readings = [curve.label for curve in panel.curves if curve.policy == "doubler-bai" and curve.label != PUBLISHED]
        found += [_ratio(panel, label, other, label, named="DoublerBAI") for label in readings]
    if "reading-long" in panels:
        found.append(_ratio(panels["reading-long"], "DoublerBAI", other, _long(panels)))
    return found


def _alpha_readings(panels: Panels) -> list[Comparison]:
    found = []
    for name in ("reading-alpha-linear", "reading-alpha-logit"):
        for alpha in ("1", "0", "-1") if name in panels else ():
            ours = f"MultiSBM-Feedback, alpha {alpha}"
            for other in ("IF2", "BTM"):
                found.append(_ratio(panels[name], ours, other, f"alpha = {alpha}", named="MultiSBM-Feedback"))
    if "reading-long" in panels:
        found.append(_ratio(panels["reading-long"], "MultiSBM-Feedback", "IF2", _long(panels)))
    return found


def _multi(panels: Panels, statistic: Statistic) -> list[Comparison]:
    others = ("IndSelfSparring", "MDB", "MultiSparring")
    found = [
        _ratio(panels[name], "MultiRUCB", other, PUBLISHED, statistic=statistic)
        for other in others for name in MULTI if name in panels
    ]  # fmt: skip
    ours = "MultiRUCB, alpha 0.51"
    for name, panel in panels.items():
        if name.startswith("reading-multi-rucb"):
            readings = [
                (ours, "IndSelfSparring, eta 0.1", "eta = 0.1"),
                (ours, "MDB, alpha 1.01", "MDB's alpha = 1.01"),
                ("MultiRUCB, alpha 1.01", "MDB, alpha 1.01", "both alpha = 1.01"),
                ("MultiRUCB, alpha 0.51, priority always", "IndSelfSparring, eta 1", "priority = always"),
                ("MultiRUCB, alpha 0.51, priority always", "MDB, alpha 0.51", "priority = always"),
            ]
            found += [_ratio(panel, a, b, reading, statistic=statistic) for a, b, reading in readings]
    return found


def _sizes(panels: Panels) -> list[Comparison]:
    found = []
    for small, large in (("multi-dueling-a", "multi-dueling-b"), ("multi-dueling-c", "multi-dueling-d")):
        if small in panels and large in panels:
            ours, theirs = _final(panels[large], "MultiRUCB"), _final(panels[small], "MultiRUCB")
            where = title(panels[small]).partition(") ")[2].rpartition(",")[0]
            found.append(comparison(where, "m = 16 / m = 8", PUBLISHED, ratio(ours, theirs), BELOW))
    for name in ("reading-slate-sizes", "reading-slate-sizes-rankers"):
        if name not in panels:
            continue
        panel = panels[name]
        for label, reading in (("MultiRUCB", "alpha = 0.51, other m"), ("MultiRUCB, alpha 1.01", "alpha = 1.01")):
            sizes = [curve.slate_size for curve in panel.curves if curve.label.split(" @ ")[0] == label]
            for smaller, larger in itertools.pairwise(sizes):
                ours, theirs = (_final(panel, f"{label} @ m = {size}") for size in (larger, smaller))
                where = title(panel).removeprefix("Regret against m: ")
                found.append(comparison(where, f"m = {larger} / m = {smaller}", reading, ratio(ours, theirs), BELOW))
    return found


def _bounds(
    panels: Panels, problems: Problems, label: str, names: Iterable[str], theorem: Theorem, reading: str = PUBLISHED
) -> list[Comparison]:
    """Mean regret over a theorem's bound. A bound above T D_max holds for any play; where none is finite, none is tested."""
    found = []
    for name in names:
        if name not in panels:
            continue
        panel = panels[name]
        bound = theorem(problems[name].matrix, panel.experiment)
        measured, where = estimate(_final(panel, label)), title(panel)
        if math.isinf(bound.raw):
            why = bound.notes[-1] if not bound.capped else bound.notes[-2]
            found.append(Comparison(where, label, reading, 0.0, None, None, "a finite bound", VACUOUS, why))
            continue
        share = Estimate(measured.value / bound.raw, measured.low / bound.raw, measured.high / bound.raw, measured.runs)
        made = comparison(where, label, reading, share, BELOW, f"regret {measured}; bound {number(bound.raw)}")
        if made.outcome == FAILS and theorem is _theorem2:  # what it leaves out may be as large as one likes
            made = dataclasses.replace(made, outcome=OPEN, note=f"{made.note}, without its term in ln ln T")
        if bound.capped:
            made = dataclasses.replace(made, outcome=VACUOUS, note=f"{made.note}, above T D_max: it says nothing here")
        found.append(made)
    return found


def _growth(panels: Panels, problems: Problems) -> list[Comparison]:
    """How fast MultiSBM-Feedback's regret still grows per ln T at the end, over Theorem 2's coefficient of ln T."""
    found = []
    for name in (*TWO, "reading-long"):
        if name not in panels or math.isinf(_theorem2(problems[name].matrix, panels[name].experiment).raw):
            continue
        panel = panels[name]
        curve = next(curve for curve in panel.curves if curve.label == "MultiSBM-Feedback")
        if len(curve.checkpoints) > 1:
            before, end = curve.checkpoints[-2:].tolist()
            terms = _theorem2(problems[name].matrix, panel.experiment).terms
            coefficient = min(terms["D_max/D_i^2 branch"], terms["1/D_i branch"]) / math.log(panel.experiment.horizon)
            grown = estimate((curve.regret[:, -1] - curve.regret[:, -2]) / math.log(end / before))
            share = Estimate(grown.value / coefficient, grown.low / coefficient, grown.high / coefficient, grown.runs)
            note = f"{grown} per ln T; coefficient {number(coefficient)}"
            reading = f"growth from T = {before:,} to {end:,}"
            made = comparison(title(panel), "growth / coefficient of ln T", reading, share, BELOW, note)
            found.append(dataclasses.replace(made, outcome=OPEN) if made.outcome == FAILS else made)
    return found


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


def _final(panel: Panel, label: str) -> Floats:
    return next(curve for curve in panel.curves if curve.label == label).regret[:, -1]


def _ratio(
    panel: Panel,
    ours: str,
    theirs: str,
    reading: str,
    wanted: tuple[float, float] = BELOW,
    *,
    statistic: Statistic = mean,
    named: str | None = None,
) -> Comparison:
    a, b = _final(panel, ours), _final(panel, theirs)
    if statistic is mean:
        won, of = wins(a, b)
        note = f"{number(float(a.mean()))} against {number(float(b.mean()))}; smaller in {won} of {of} runs"
        return comparison(title(panel), f"{named or ours} / {theirs}", reading, ratio(a, b), wanted, note)
    found = ratio(a, b, statistic, paired=False) if min(len(a), len(b)) > 1 else Estimate(math.nan, -math.inf, math.inf, 1)
    note = f"{number(float(statistic(a)))} against {number(float(statistic(b)))}" if found.runs > 1 else ""
    return comparison(title(panel), f"{named or ours} / {theirs}", reading, found, wanted, note)
