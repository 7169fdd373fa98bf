"""The paper's claims, each with a test, the numbers, their intervals and a verdict that follows from them by rule.

A claim becomes comparisons: ratios with 95% intervals over runs (see verdicts.py for what is made of them). Those without a
reading take the paper's parameters, or our defaults where it states none; those of other readings come from the experiments
named reading-*.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from multiduel import theory
from multiduel.arrays import Floats
from multiduel.display.tables import number
from multiduel.lab.experiment import Experiment
from multiduel.lab.paper.panels import ALPHA_READINGS, LONG, MULTI, MULTI_READINGS, SLATE_SIZES, TWO, generated, short, title
from multiduel.lab.paper.verdicts import VACUOUS, Claim, Comparison, Topic, claim, comparison
from multiduel.lab.results import Line, Panel
from multiduel.lab.statistics import Estimate, Statistic, estimate, mean, ratio, variance, wins

HALF = (0.4, 0.6)  # "about half"
BELOW = (-math.inf, 1.0)

# Variance of regret at T = 10^6 over 50 runs, the paper's table.
PUBLISHED_VARIANCE = {
    "multi-dueling-a": {"multi-rucb": 1648, "ind-self-sparring": 2048, "mdb": 2142, "multi-sparring": 2201},
    "multi-dueling-b": {"multi-rucb": 1042, "ind-self-sparring": 1243, "mdb": 1246, "multi-sparring": 1329},
    "multi-dueling-c": {"multi-rucb": 678, "ind-self-sparring": 741, "mdb": 754, "multi-sparring": 865},
    "multi-dueling-d": {"multi-rucb": 232, "ind-self-sparring": 265, "mdb": 278, "multi-sparring": 393},
}
RUCB_1 = "multi-rucb-alpha-1-01"
BASELINES = ("if2", "btm", "savage", "scb")
ALPHAS = {"alpha-1": "alpha = 1", "alpha-0": "alpha = 0", "alpha-minus-1": "alpha = -1"}  # in ids, and in words
Panels = Mapping[str, Panel]
Theorem = Callable[[Floats, Experiment], theory.Bound]


def judge(panels: Panels) -> list[Claim]:
    """All claims of the paper, judged by what was measured."""
    at_the_end = "Ratio of mean regrets at the end; below 1."
    told = f"{at_the_end} IF2, BTM and SAVAGE are told each point's horizon."
    feedback, bai = "multi-sbm-feedback", "doubler-bai"
    return [
        claim("less", "MultiSBM-Feedback has less regret than MultiSBM.", at_the_end, _feedback_gain(panels, BELOW)),
        claim(
            "half",
            "MultiSBM-Feedback has about half the regret of MultiSBM.",
            f"Ratio of mean regrets at the end; about half: {HALF[0]} to {HALF[1]}.",
            _feedback_gain(panels, HALF),
        ),
        claim(
            "constant",
            "The constant of ln T is almost halved by the feedback.",
            f"Ratio of what regret grows by from about T / 10 to T, MultiSBM-Feedback over MultiSBM; {HALF[0]} to {HALF[1]}. "
            "And, as a reading, Theorem 2's coefficient of ln T over its second branch, which is MultiSBM's.",
            [*_growth_gain(panels), *_coefficients(panels)],
        ),
        claim(
            "doubler",
            "DoublerBAI has less regret than Doubler.",
            at_the_end,
            _against(panels, bai, ("doubler",), [*_doubler_readings(panels, "doubler"), *_doubler_alphas(panels)]),
        ),
        claim(
            "sbm-baselines",
            "MultiSBM-Feedback has less regret than IF, BTM, SAVAGE and SCB.",
            told,
            _against(panels, feedback, BASELINES, _alpha_readings(panels)),
        ),
        claim(
            "doubler-bai-baselines",
            "DoublerBAI has less regret than IF, BTM, SAVAGE and SCB.",
            told,
            _against(panels, bai, BASELINES, [*_doubler_readings(panels, "if2"), *_btm_readings(panels, bai)]),
        ),
        claim("best", "MultiRUCB has the least regret of the multi-dueling algorithms.", at_the_end, _multi(panels, mean)),
        claim(
            "variance",
            "MultiRUCB has the smallest variance of the multi-dueling algorithms.",
            "Ratio of sample variances of regret at the end, not paired; below 1.",
            _multi(panels, variance),
        ),
        claim(
            "slate-size",
            "MultiRUCB improves as m grows.",
            "Ratio of mean regrets at the end, larger m over smaller m; below 1.",
            _sizes(panels),
        ),
        claim(
            "theorem-1",
            "Theorem 1: DoublerBAI's regret is O(H ln T) + O((H ln H)^b).",
            "Mean regret over the bound; below 1. The paper has no constants: those of its appendix, with LUCB's measured. To "
            "T = 10^9: growth per ln T over the coefficient of ln T; below 1.",
            [
                *_bounds(panels, bai, TWO, _theorem1),
                *_bounds(panels, bai, ("reading-theory-doubler-bai",), _theorem1, "T = 10^9"),
                *_growth(panels, bai, ("reading-theory-doubler-bai",), _theorem1, "growth in the last decade to T = 10^9"),
            ],
        ),
        claim(
            "theorem-2",
            "Theorem 2: MultiSBM-Feedback's regret is within its bound.",
            "Mean regret over the bound's leading terms; below 1. Its term in ln ln T has no constant and is left out, "
            "so more regret refutes nothing. And: growth per ln T at the end over the coefficient of ln T; below 1.",
            [
                *_bounds(panels, feedback, TWO, _theorem2),
                *_bounds(panels, feedback, ("reading-long",), _theorem2, _long(panels)),
                *_growth(panels, feedback, TWO, _theorem2, "growth in the last decade to T = 10^6"),
                *_growth(panels, feedback, ("reading-long",), _theorem2, "growth in the last decade to T = 10^7"),
            ],
            refutable=False,
        ),
        claim(
            "theorem-3",
            "Theorem 3: MultiRUCB's regret, alpha > 1, is within its bound.",
            "Mean regret with alpha = 1.01 over the bound; below 1. To T = 10^12: growth per ln T over the coefficient of ln T.",
            [
                *_bounds(panels, RUCB_1, MULTI_READINGS, _theorem3),
                *_bounds(panels, RUCB_1, ("reading-theory-multi-rucb",), _theorem3, "T = 10^12"),
                *_growth(panels, RUCB_1, ("reading-theory-multi-rucb",), _theorem3, "growth in the last decade to T = 10^12"),
            ],
        ),
    ]


# What is compared


def _feedback_gain(panels: Panels, wanted: tuple[float, float]) -> list[Comparison]:
    ours, theirs = "multi-sbm-feedback", "multi-sbm"
    comparisons = [_ratio(panels[name], ours, theirs, wanted=wanted) for name in TWO if name in panels]
    for name in ALPHA_READINGS:
        for alpha, reading in ALPHAS.items() if name in panels else ():
            comparisons.append(_ratio(panels[name], f"{ours}-{alpha}", f"{theirs}-{alpha}", reading, wanted))
    if "reading-long" in panels:
        comparisons.append(_ratio(panels["reading-long"], ours, theirs, _long(panels), wanted))
    return comparisons


def _growth_gain(panels: Panels) -> list[Comparison]:
    """What regret grows by in the last decade, with the feedback over without."""
    comparisons = []
    ours, theirs = "multi-sbm-feedback", "multi-sbm"
    for name in (*TWO, "reading-long"):
        if name in panels:
            a, b = (_late(panels[name].line(id)) for id in (ours, theirs))
            topic = _topic(panels[name], f"{ours} / {theirs}", "growth of MultiSBM-Feedback / MultiSBM", _if_long(panels, name))
            comparisons.append(comparison(topic, ratio(a[0], b[0]), HALF, f"from T = {a[1]:,}"))
    return comparisons


def _coefficients(panels: Panels) -> list[Comparison]:
    """Theorem 2's coefficient over its second branch, which is MultiSBM's: a number without error."""
    comparisons = []
    for name in TWO:
        if name in panels:
            terms = _theorem2(panels[name].problem.matrix, panels[name].experiment).terms
            share = terms["D_max/D_i^2 branch"] / terms["1/D_i branch"]
            exact = Estimate(min(share, 1.0), min(share, 1.0), min(share, 1.0), panels[name].experiment.runs)
            subject, what = "multi-sbm-feedback / multi-sbm", "coefficient of MultiSBM-Feedback / MultiSBM"
            topic = _topic(panels[name], subject, what, "Theorem 2's coefficient")
            comparisons.append(comparison(topic, exact, HALF, f"its new branch is {share:.3g} of the old"))
    return comparisons


def _late(line: Line) -> tuple[Floats, int]:
    """What each run's regret grew by since the last checkpoint at T / 10 or before, or the first; and when that was."""
    marks = line.result.checkpoints
    place = max(int(np.searchsorted(marks, marks[-1] / 10, side="right")) - 1, 0)
    return line.regret[:, -1] - line.regret[:, place], int(marks[place])


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
    for name in LONG:
        if name in panels and {"doubler-bai", other} <= {contender.id for contender in panels[name].experiment.contenders}:
            comparisons.append(_ratio(panels[name], "doubler-bai", other, f"T = {panels[name].experiment.horizon:,}"))
    return comparisons


def _doubler_alphas(panels: Panels) -> list[Comparison]:
    return [
        _ratio(panels[name], "doubler-bai", f"doubler-{alpha}", f"Doubler's {reading}")
        for name in ALPHA_READINGS if name in panels for alpha, reading in ALPHAS.items()
    ]  # fmt: skip


def _alpha_readings(panels: Panels) -> list[Comparison]:
    comparisons = []
    for name in ALPHA_READINGS:
        for alpha, reading in ALPHAS.items() if name in panels else ():
            ours = f"multi-sbm-feedback-{alpha}"
            for other in ("if2", "btm"):
                comparisons.append(_ratio(panels[name], ours, other, reading, named="MultiSBM-Feedback"))
    comparisons += _btm_readings(panels, "multi-sbm-feedback-alpha-3")
    if "reading-long" in panels:
        comparisons.append(_ratio(panels["reading-long"], "multi-sbm-feedback", "if2", _long(panels)))
    return comparisons


def _btm_readings(panels: Panels, ours: str) -> list[Comparison]:
    constants = {"btm-constant-1-44": "BTM's constant 1.44", "btm-constant-3": "BTM's constant 3"}
    return [
        _ratio(panels[name], ours, other, reading)
        for name in ALPHA_READINGS if name in panels for other, reading in constants.items()
    ]  # fmt: skip


def _multi(panels: Panels, statistic: Statistic) -> list[Comparison]:
    others = ("ind-self-sparring", "mdb", "multi-sparring")
    comparisons = [
        _ratio(panels[name], "multi-rucb", other, statistic=statistic)
        for other in others for name in MULTI if name in panels
    ]  # fmt: skip
    usual, always = "multi-rucb-alpha-0-51", "multi-rucb-priority-always"
    readings = [
        (usual, "ind-self-sparring-eta-0-1", "eta = 0.1"),
        (usual, "mdb-alpha-1-01", "MDB's alpha = 1.01"),
        (usual, "mdb-alpha-0-5", "MDB's alpha = 0.5"),
        (usual, "mdb-narrow", "MDB's cap = narrow"),
        (RUCB_1, "mdb-alpha-1-01", "both alpha = 1.01"),
        (always, "ind-self-sparring-eta-1", "priority = always"),
        (always, "mdb-alpha-0-51", "priority = always"),
        (usual, "multi-sparring-pairs", "MultiSparring's pairs"),
        (usual, "multi-sparring-pairs-skip", "MultiSparring's pairs, skip"),
        (usual, "multi-sparring-pairs-coin", "MultiSparring's pairs, coin"),
    ]
    for name in MULTI_READINGS:
        ids = {contender.id for contender in panels[name].experiment.contenders} if name in panels else set()
        comparisons += [_ratio(panels[name], a, b, reading, statistic=statistic) for a, b, reading in readings if {a, b} <= ids]
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
                counts=not generated(large.experiment),
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
                    counts=not generated(panels[name].experiment),
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
        topic = _topic(panel, id, f"{line.label} / its bound", reading)
        if math.isinf(bound.raw):
            nothing = comparison(topic, Estimate(0.0, -math.inf, math.inf, line.result.runs), BELOW, bound.why_infinite)
            comparisons.append(dataclasses.replace(nothing, wanted="a finite bound", outcome=VACUOUS))
            continue
        measured = estimate(line.final)
        judged = comparison(topic, measured.over(bound.raw), BELOW, f"regret {measured}; bound {number(bound.raw)}")
        if bound.capped:
            judged = dataclasses.replace(judged, outcome=VACUOUS, note=f"{judged.note}, above T D_max: it says nothing here")
        comparisons.append(judged)
    return comparisons


def _growth(panels: Panels, id: str, names: Iterable[str], theorem: Theorem, reading: str) -> list[Comparison]:
    """How fast regret still grows per ln T at the end, over the theorem's coefficient of ln T."""
    comparisons = []
    for name in names:
        if name not in panels or len(panels[name].line(id).result.checkpoints) == 1:
            continue
        panel = panels[name]
        slope = coefficient(panel, theorem)
        if not math.isfinite(slope):
            continue
        late, before = _late(panel.line(id))
        growth = estimate(late / math.log(panel.experiment.horizon / before))
        note = f"{growth} per ln T from T = {before:,}; coefficient {number(slope)}"
        topic = _topic(panel, id, "growth / coefficient of ln T", reading)
        comparisons.append(comparison(topic, growth.over(slope), BELOW, note))
    return comparisons


def coefficient(panel: Panel, theorem: Theorem) -> float:
    """By how much the bound grows from T to e T."""
    experiment = panel.experiment
    longer = dataclasses.replace(experiment, horizon=round(math.e * experiment.horizon))
    return theorem(panel.problem.matrix, longer).raw - theorem(panel.problem.matrix, experiment).raw


def bound_curves(panels: Panels) -> list[tuple[Panel, str, Floats, float]]:
    """For a figure: the panels of theory, whose line, its bound at each checkpoint, the largest regret of a round."""
    plans = (("reading-theory-doubler-bai", "doubler-bai", _theorem1), ("reading-theory-multi-rucb", RUCB_1, _theorem3))
    rows = []
    for name, id, theorem in plans:
        if name in panels:
            panel = panels[name]
            marks = panel.line(id).result.checkpoints.tolist()
            limits = [theorem(panel.problem.matrix, dataclasses.replace(panel.experiment, horizon=T)).raw for T in marks]
            rows.append((panel, id, np.array(limits), float(panel.problem.gaps.max())))
    return rows


def _theorem1(P: Floats, experiment: Experiment) -> theory.Bound:
    return theory.theorem1(P, experiment.horizon)


def _theorem2(P: Floats, experiment: Experiment) -> theory.Bound:
    return theory.theorem2(P, experiment.horizon)


def _theorem3(P: Floats, experiment: Experiment) -> theory.Bound:
    return theory.theorem3(P, experiment.horizon, experiment.slate_size, alpha=1.01)


def _long(panels: Panels) -> str:
    """The name of the reading with the longer horizon."""
    return f"T = {panels['reading-long'].experiment.horizon:,}" if "reading-long" in panels else ""


def _if_long(panels: Panels, name: str) -> str:
    return _long(panels) if name == "reading-long" else ""


# How it is judged


def _topic(panel: Panel, subject: str, what: str, reading: str) -> Topic:
    name = panel.experiment.name
    counts, where = not generated(panel.experiment), title(panel)
    return Topic(panel=name, subject=subject, where=where, short=short(panel), what=what, reading=reading, counts=counts)


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
    note = f"{number(float(statistic(a)))} against {number(float(statistic(b)))}" if several else ""
    return comparison(topic, ratio(a, b, statistic), wanted, note)
