"""The paper's claims, each with a test, the numbers, their intervals and an outcome that follows from them by rule.

A claim becomes comparisons: ratios with 95 % intervals over runs (see verdicts.py for what is made of them). Without an
interpretation they take the paper's parameters where it states them, and our defaults elsewhere; with one, the contenders that
it changes are taken from the experiments that vary them (interpretations.py). Further comparisons go beyond the claim's own
terms: longer horizons, other slate sizes, how fast regret still grows.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from multiduel import theory
from multiduel.arrays import Floats
from multiduel.display.tables import number, power_of_ten
from multiduel.engine.registry.registry import find as find_policy
from multiduel.engine.simulation.statistics import Estimate, Statistic, estimate, mean, ratio, variance, wins
from multiduel.lab.experiment import Experiment
from multiduel.lab.paper.interpretations import (
    MULTI_INTERPRETATIONS,
    MULTI_JOINT,
    TWO_INTERPRETATIONS,
    TWO_JOINT,
    Interpretation,
    find,
    played,
    same_as_default,
)
from multiduel.lab.paper.panels import MULTI, MULTI_VARIED, SLATE_SIZES, TWO, generated, short, title
from multiduel.lab.paper.verdicts import NOT_INFORMATIVE, Claim, Comparison, Topic, claim, comparison
from multiduel.lab.results import Line, Panel

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
RIVALS = ("ind-self-sparring", "mdb", "multi-sparring")
SMALLER_AND_LARGER = (("multi-dueling-a", "multi-dueling-b"), ("multi-dueling-c", "multi-dueling-d"))
Panels = Mapping[str, Panel]
Pairs = Sequence[tuple[str, str]]
Theorem = Callable[[Floats, Experiment], theory.Bound]


def judge(panels: Panels) -> list[Claim]:
    """All claims of the paper, judged by what was measured."""
    at_the_end = "Ratio of mean regrets at the end; below 1."
    told = f"{at_the_end} IF1, IF2, BTM and SAVAGE are told each point's horizon. The paper says IF: IF2 at our defaults."
    half = f"about half ({HALF[0]} to {HALF[1]})"
    feedback, bai = "multi-sbm-feedback", "doubler-bai"
    gain, against = [(feedback, "multi-sbm")], [(bai, "doubler")]
    feedback_baselines, bai_baselines = ([(ours, other) for other in BASELINES] for ours in (feedback, bai))
    rivals = [("multi-rucb", other) for other in RIVALS]
    two = (TWO, (*TWO_INTERPRETATIONS, TWO_JOINT))
    multi = (MULTI, (*MULTI_INTERPRETATIONS, MULTI_JOINT))
    smaller = f"Ratio of mean regrets at the end; {half}."
    return [
        _claim(panels, "less", "MultiSBM-Feedback has less regret than MultiSBM.", at_the_end, *two, gain,
               further=_longer(panels, gain)),
        _claim(panels, "half", f"MultiSBM-Feedback has {half} of the regret of MultiSBM.", smaller, *two, gain, wanted=HALF,
               further=_longer(panels, gain, HALF)),
        claim(
            "constant",
            f"The constant of ln T is almost halved ({HALF[0]} to {HALF[1]}) by the feedback.",
            f"Ratio of what regret grows by from about T / 10 to T, MultiSBM-Feedback over MultiSBM; {HALF[0]} to {HALF[1]}. "
            "And Theorem 2's coefficient of ln T over its second branch, which is MultiSBM's.",
            [*_growth_gain(panels), *_coefficients(panels)],
        ),
        _claim(panels, "doubler", "DoublerBAI has less regret than Doubler.", at_the_end, *two, against,
               further=_longer(panels, against)),
        _claim(panels, "sbm-baselines", "MultiSBM-Feedback has less regret than IF, BTM, SAVAGE and SCB.", told, *two,
               feedback_baselines, further=_longer(panels, feedback_baselines)),
        _claim(panels, "doubler-bai-baselines", "DoublerBAI has less regret than IF, BTM, SAVAGE and SCB.", told, *two,
               bai_baselines, further=_longer(panels, bai_baselines)),
        _claim(panels, "best", "MultiRUCB has the least regret of the multi-dueling algorithms.", at_the_end, *multi, rivals),
        _claim(panels, "variance", "MultiRUCB has the smallest variance of the multi-dueling algorithms.",
               "Ratio of sample variances of regret at the end, not paired; below 1.", *multi, rivals, statistic=variance),
        claim(
            "slate-size",
            "MultiRUCB improves as m, the number of arms compared at once, grows.",
            "Ratio of mean regrets at the end, larger m over smaller m; below 1.",
            [*_sizes(panels), *_other_sizes(panels)],
        ),
        claim(
            "theorem-1",
            "Theorem 1: DoublerBAI's regret is within its bound of order ln T.",
            "Mean regret over the bound O(H ln T) + O((H ln H)^b); below 1. The paper has no constants: those of its appendix, "
            "with LUCB's measured. To T = 10^9: growth per ln T over the coefficient of ln T; below 1.",
            [
                *_bounds(panels, bai, TWO, _theorem1),
                *_bounds(panels, bai, ("theory-doubler-bai",), _theorem1, "T = 10^9"),
                *_growth(panels, bai, ("theory-doubler-bai",), _theorem1, "growth in the last decade to T = 10^9"),
            ],
        ),
        claim(
            "theorem-2",
            "Theorem 2: MultiSBM-Feedback's regret is within its bound.",
            "Mean regret over the bound's leading terms; below 1. Its term in ln ln T has no constants and is left out, "
            "so that more regret refutes nothing. And: growth per ln T at the end over the coefficient of ln T; below 1.",
            [
                *_bounds(panels, feedback, TWO, _theorem2),
                *_bounds(panels, feedback, ("long-10-7",), _theorem2, "T = 10^7"),
                *_growth(panels, feedback, TWO, _theorem2, "growth in the last decade to T = 10^6"),
                *_growth(panels, feedback, ("long-10-7",), _theorem2, "growth in the last decade to T = 10^7"),
            ],
            refutable=False,
            left_out=" The theorem's last term, in ln ln T, has no constants and is left out: more regret refutes nothing.",
        ),
        claim(
            "theorem-3",
            "Theorem 3: MultiRUCB's regret is within its bound (for its parameter alpha above 1).",
            "Mean regret with alpha = 1.01 over the bound; below 1. To T = 10^12: growth per ln T over the coefficient of ln T.",
            [
                *_bounds(panels, RUCB_1, MULTI_VARIED, _theorem3),
                *_bounds(panels, RUCB_1, ("theory-multi-rucb",), _theorem3, "T = 10^12"),
                *_growth(panels, RUCB_1, ("theory-multi-rucb",), _theorem3, "growth in the last decade to T = 10^12"),
            ],
        ),
    ]  # fmt: skip


# What is compared


def _claim(
    panels: Panels,
    name: str,
    statement: str,
    test: str,
    names: Sequence[str],
    interpretations: Iterable[Interpretation],
    pairs: Pairs,
    *,
    wanted: tuple[float, float] = BELOW,
    statistic: Statistic = mean,
    further: Sequence[Comparison] = (),
) -> Claim:
    """A claim that pairs of contenders stand in some ratio in every panel: at our defaults, and with each interpretation that
    changes one of them. An interpretation takes all pairs, the unchanged ones too, wherever what it changes was played."""
    there = [panel for panel in names if panel in panels]
    comparisons = [_compared(panels, panel, pair, None, wanted, statistic) for pair in pairs for panel in there]
    roles = list(dict.fromkeys(role for pair in pairs for role in pair))
    same = []
    for each in interpretations:
        if not set(roles) & set(each.changes):
            continue
        where = [panel for panel in there if played(panels, panel, roles, each)]
        comparisons += [_compared(panels, panel, pair, each, wanted, statistic) for pair in pairs for panel in where]
        if same_as_default(panels, where, roles, each):
            same.append(each.words)
    return claim(name, statement, test, [*comparisons, *further], same=same)


def _compared(
    panels: Panels,
    name: str,
    pair: tuple[str, str],
    interpretation: Interpretation | None,
    wanted: tuple[float, float],
    statistic: Statistic,
) -> Comparison:
    ours, theirs = (find(panels, name, role, interpretation) for role in pair)
    assert ours is not None and theirs is not None  # asked for only where it was played
    topic = _pair_topic(panels[name], pair, (ours, theirs), statistic)
    words = interpretation.words if interpretation else ""
    return ratio_of_runs(dataclasses.replace(topic, interpretation=words), ours, theirs, wanted, statistic)


def _longer(panels: Panels, pairs: Pairs, wanted: tuple[float, float] = BELOW) -> list[Comparison]:
    """The same pairs at longer horizons, where they were played."""
    comparisons = []
    for name in ("long-10-7", "long-10-8"):
        ids = {contender.id for contender in panels[name].experiment.contenders} if name in panels else set()
        for pair in pairs:
            if set(pair) <= ids:
                ours, theirs = (panels[name].line(id) for id in pair)
                topic = _pair_topic(panels[name], pair, (ours, theirs), mean)
                words = f"T = {power_of_ten(panels[name].experiment.horizon)}"
                comparisons.append(ratio_of_runs(dataclasses.replace(topic, further=words), ours, theirs, wanted, mean))
    return comparisons


def _growth_gain(panels: Panels) -> list[Comparison]:
    """What regret grows by in the last decade, with the feedback over without."""
    comparisons = []
    ours, theirs = "multi-sbm-feedback", "multi-sbm"
    for name in (*TWO, "long-10-7"):
        if name in panels:
            a, b = (_late(panels[name].line(id)) for id in (ours, theirs))
            topic = _topic(
                panels[name], f"{ours} / {theirs}", "growth of MultiSBM-Feedback / MultiSBM",
                lead="In the last tenfold of rounds MultiSBM-Feedback's regret grows by", tail="times what MultiSBM's does",
                further="" if name in TWO else f"T = {power_of_ten(panels[name].experiment.horizon)}",
            )  # fmt: skip
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
            pair, what = "multi-sbm-feedback / multi-sbm", "coefficient of MultiSBM-Feedback / MultiSBM"
            topic = _topic(panels[name], pair, what, further="Theorem 2's coefficient")
            comparisons.append(comparison(topic, exact, HALF, f"its new branch is {share:.3g} of the old"))
    return comparisons


def _late(line: Line) -> tuple[Floats, int]:
    """What each run's regret grew by since the last checkpoint at T / 10 or before, or the first; and when that was."""
    marks = line.result.checkpoints
    place = max(int(np.searchsorted(marks, marks[-1] / 10, side="right")) - 1, 0)
    return line.regret[:, -1] - line.regret[:, place], int(marks[place])


def _sizes(panels: Panels) -> list[Comparison]:
    """MultiRUCB with the larger m of two panels over the smaller one, at our default and with alpha = 1.01."""
    comparisons = []
    with_alpha = next(each for each in MULTI_INTERPRETATIONS if each.changes == {"multi-rucb": ("multi-rucb", {"alpha": 1.01})})
    for each in (None, with_alpha):
        for smaller, larger in SMALLER_AND_LARGER:
            if not (smaller in panels and larger in panels):
                continue
            small, large = panels[smaller], panels[larger]
            ours, theirs = (find(panels, name, "multi-rucb", each) for name in (larger, smaller))
            if ours is None or theirs is None:
                continue
            m, n = large.experiment.slate_size, small.experiment.slate_size
            topic = Topic(
                panel=f"{larger} / {smaller}",
                pair="multi-rucb",
                subject=ours.id,
                where=f"{title(large)} / {title(small)}",
                short=f"{short(large)} / {short(small)}",
                what=f"m = {m} / m = {n}",
                lead=f"With m = {m} MultiRUCB has",
                tail=f"times its regret with m = {n}",
                interpretation=each.words if each else "",
                counts=not generated(large.experiment),
            )
            comparisons.append(ratio_of_runs(topic, ours, theirs, BELOW, mean, note=False))
    return comparisons


def _other_sizes(panels: Panels) -> list[Comparison]:
    """The same from each m to the next."""
    comparisons = []
    settings: tuple[tuple[dict[str, float], str], ...] = (({}, "other m"), ({"alpha": 1.01}, "other m, alpha = 1.01"))
    for name in SLATE_SIZES:
        for params, words in settings if name in panels else ():
            every_m = [line for line in panels[name].lines if line.contender.policy == "multi-rucb"]
            alike = sorted((line for line in every_m if line.contender.params == params), key=lambda line: line.result.slate_size)
            for a, b in itertools.pairwise(alike):
                what = f"m = {b.result.slate_size} / m = {a.result.slate_size}"
                topic = _topic(panels[name], f"{b.id} / {a.id}", what, further=words)
                comparisons.append(ratio_of_runs(topic, b, a, BELOW, mean, note=False))
    return comparisons


def _bounds(panels: Panels, id: str, names: Iterable[str], theorem: Theorem, further: str = "") -> list[Comparison]:
    """Mean regret over a theorem's bound. A bound above T D_max holds for any play; where none is finite, none is tested."""
    comparisons = []
    for name in names:
        if name not in panels:
            continue
        panel = panels[name]
        bound = theorem(panel.problem.matrix, panel.experiment)
        line = panel.line(id)
        name_of = find_policy(line.contender.policy).title
        topic = _topic(
            panel, id, f"{line.label} / its bound", further=further,
            lead=f"{name_of}'s regret is", tail="times the bound",
        )  # fmt: skip
        if math.isinf(bound.raw):
            nothing = comparison(topic, Estimate(0.0, -math.inf, math.inf, line.result.runs), BELOW, bound.why_infinite)
            comparisons.append(dataclasses.replace(nothing, wanted="a finite bound", outcome=NOT_INFORMATIVE))
            continue
        measured = estimate(line.final)
        judged = comparison(topic, measured.over(bound.raw), BELOW, f"regret {measured}; bound {number(bound.raw)}")
        if bound.capped:
            judged = dataclasses.replace(
                judged, outcome=NOT_INFORMATIVE, note=f"{judged.note}, above T D_max: it says nothing here"
            )
        comparisons.append(judged)
    return comparisons


def _growth(panels: Panels, id: str, names: Iterable[str], theorem: Theorem, further: str) -> list[Comparison]:
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
        topic = _topic(panel, id, "growth / coefficient of ln T", further=further)
        comparisons.append(comparison(topic, growth.over(slope), BELOW, note))
    return comparisons


def coefficient(panel: Panel, theorem: Theorem) -> float:
    """By how much the bound grows from T to e T."""
    experiment = panel.experiment
    longer = dataclasses.replace(experiment, horizon=round(math.e * experiment.horizon))
    return theorem(panel.problem.matrix, longer).raw - theorem(panel.problem.matrix, experiment).raw


def bound_curves(panels: Panels) -> list[tuple[Panel, str, Floats, float]]:
    """For a figure: the panels of theory, whose line, its bound at each checkpoint, the largest regret of a round."""
    plans = (("theory-doubler-bai", "doubler-bai", _theorem1), ("theory-multi-rucb", RUCB_1, _theorem3))
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


# How it is judged


def _topic(panel: Panel, pair: str, what: str, **words: str) -> Topic:
    counts, where = not generated(panel.experiment), title(panel)
    return Topic(panel=panel.experiment.name, pair=pair, where=where, short=short(panel), what=what, counts=counts, **words)


def _pair_topic(panel: Panel, pair: tuple[str, str], lines: tuple[Line, Line], statistic: Statistic) -> Topic:
    """One contender over another, both named by their ids in the panel."""
    (ours, theirs), (us, them) = (panel.line(role).label for role in pair), lines
    of = "regret" if statistic is mean else "variance"
    return _topic(
        panel, " / ".join(pair), f"{us.label} / {them.label}", subject=f"{us.id} / {them.id}",
        lead=f"{ours} has", tail=f"times {theirs}'s {of}",
    )  # fmt: skip


def ratio_of_runs(
    topic: Topic, us: Line, them: Line, wanted: tuple[float, float], statistic: Statistic, *, note: bool = True
) -> Comparison:
    """One contender's statistic over another's, of the runs that both have."""
    common = min(us.result.runs, them.result.runs)
    a, b = us.final[:common], them.final[:common]
    if not note:
        return comparison(topic, ratio(a, b), wanted)
    if statistic is mean:
        won, of = wins(a, b)
        words = f"{number(float(a.mean()))} against {number(float(b.mean()))}; smaller in {won} of {of} runs"
        return comparison(topic, ratio(a, b), wanted, words)
    words = f"{number(float(statistic(a)))} against {number(float(statistic(b)))}" if common > 1 else ""
    return comparison(topic, ratio(a, b, statistic), wanted, words)
