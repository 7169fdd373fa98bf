"""Of each claim of the paper: what is compared with what, in which panels and readings, and that the numbers are those."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from multiduel import problems, theory
from multiduel.display.tables import number
from multiduel.lab.paper import claims, panels, verdicts
from tests.lab.made_up import panel

VARIANCES_OF_THE_PAPER = """
policy             multi-dueling-a  multi-dueling-b  multi-dueling-c  multi-dueling-d
multi-rucb                    1648             1042              678              232
ind-self-sparring             2048             1243              741              265
mdb                           2142             1246              754              278
multi-sparring                2201             1329              865              393
"""

# Claim and the range it wants; below it: reading, contenders by id, panels.
COMPARED = """
less: below 1
    as published: multi-sbm-feedback / multi-sbm: two-dueling-a to -f
    alpha = 1: multi-sbm-feedback-alpha-1 / multi-sbm-alpha-1: reading-alpha-linear and -logit
    alpha = 0: multi-sbm-feedback-alpha-0 / multi-sbm-alpha-0: reading-alpha-linear and -logit
    alpha = -1: multi-sbm-feedback-alpha-minus-1 / multi-sbm-alpha-minus-1: reading-alpha-linear and -logit
    T = 10,000,000: multi-sbm-feedback / multi-sbm: reading-long
half: 0.4 to 0.6
    as published: multi-sbm-feedback / multi-sbm: two-dueling-a to -f
    alpha = 1: multi-sbm-feedback-alpha-1 / multi-sbm-alpha-1: reading-alpha-linear and -logit
    alpha = 0: multi-sbm-feedback-alpha-0 / multi-sbm-alpha-0: reading-alpha-linear and -logit
    alpha = -1: multi-sbm-feedback-alpha-minus-1 / multi-sbm-alpha-minus-1: reading-alpha-linear and -logit
    T = 10,000,000: multi-sbm-feedback / multi-sbm: reading-long
constant: 0.4 to 0.6
    as published: multi-sbm-feedback / multi-sbm: two-dueling-a to -f
    T = 10,000,000: multi-sbm-feedback / multi-sbm: reading-long
    Theorem 2's coefficient: multi-sbm-feedback / multi-sbm: two-dueling-a to -f
doubler: below 1
    as published: doubler-bai / doubler: two-dueling-a to -f
    LUCB radius t2: doubler-bai-radius-t2 / doubler: reading-doubler-bai
    LUCB radius delta: doubler-bai-radius-delta / doubler: reading-doubler-bai
    LUCB epsilon 0.05: doubler-bai-epsilon-0-05 / doubler: reading-doubler-bai
    LUCB epsilon 0.1: doubler-bai-epsilon-0-1 / doubler: reading-doubler-bai
    keep_last: doubler-bai-keep-last / doubler: reading-doubler-bai
    reset = false: doubler-bai-no-reset / doubler: reading-doubler-bai
    reset = false, radius delta: doubler-bai-no-reset-radius-delta / doubler: reading-doubler-bai
    T = 100,000,000: doubler-bai / doubler: reading-longer
    Doubler's alpha = 1: doubler-bai / doubler-alpha-1: reading-alpha-linear and -logit
    Doubler's alpha = 0: doubler-bai / doubler-alpha-0: reading-alpha-linear and -logit
    Doubler's alpha = -1: doubler-bai / doubler-alpha-minus-1: reading-alpha-linear and -logit
sbm-baselines: below 1
    as published: multi-sbm-feedback / if2: two-dueling-a to -f
    as published: multi-sbm-feedback / btm: two-dueling-a to -f
    as published: multi-sbm-feedback / savage: two-dueling-a to -f
    as published: multi-sbm-feedback / scb: two-dueling-a to -f
    alpha = 1: multi-sbm-feedback-alpha-1 / if2: reading-alpha-linear and -logit
    alpha = 1: multi-sbm-feedback-alpha-1 / btm: reading-alpha-linear and -logit
    alpha = 0: multi-sbm-feedback-alpha-0 / if2: reading-alpha-linear and -logit
    alpha = 0: multi-sbm-feedback-alpha-0 / btm: reading-alpha-linear and -logit
    alpha = -1: multi-sbm-feedback-alpha-minus-1 / if2: reading-alpha-linear and -logit
    alpha = -1: multi-sbm-feedback-alpha-minus-1 / btm: reading-alpha-linear and -logit
    BTM's constant 1.44: multi-sbm-feedback-alpha-3 / btm-constant-1-44: reading-alpha-linear and -logit
    BTM's constant 3: multi-sbm-feedback-alpha-3 / btm-constant-3: reading-alpha-linear and -logit
    T = 10,000,000: multi-sbm-feedback / if2: reading-long
doubler-bai-baselines: below 1
    as published: doubler-bai / if2: two-dueling-a to -f
    as published: doubler-bai / btm: two-dueling-a to -f
    as published: doubler-bai / savage: two-dueling-a to -f
    as published: doubler-bai / scb: two-dueling-a to -f
    LUCB radius t2: doubler-bai-radius-t2 / if2: reading-doubler-bai
    LUCB radius delta: doubler-bai-radius-delta / if2: reading-doubler-bai
    LUCB epsilon 0.05: doubler-bai-epsilon-0-05 / if2: reading-doubler-bai
    LUCB epsilon 0.1: doubler-bai-epsilon-0-1 / if2: reading-doubler-bai
    keep_last: doubler-bai-keep-last / if2: reading-doubler-bai
    reset = false: doubler-bai-no-reset / if2: reading-doubler-bai
    reset = false, radius delta: doubler-bai-no-reset-radius-delta / if2: reading-doubler-bai
    T = 10,000,000: doubler-bai / if2: reading-long
    BTM's constant 1.44: doubler-bai / btm-constant-1-44: reading-alpha-linear and -logit
    BTM's constant 3: doubler-bai / btm-constant-3: reading-alpha-linear and -logit
best: below 1
    as published: multi-rucb / ind-self-sparring: multi-dueling-a to -d
    as published: multi-rucb / mdb: multi-dueling-a to -d
    as published: multi-rucb / multi-sparring: multi-dueling-a to -d
    eta = 0.1: multi-rucb-alpha-0-51 / ind-self-sparring-eta-0-1: reading-multi-rucb-8, -16 and -rankers-8, -16
    MDB's alpha = 1.01: multi-rucb-alpha-0-51 / mdb-alpha-1-01: reading-multi-rucb-8, -16 and -rankers-8, -16
    MDB's alpha = 0.5: multi-rucb-alpha-0-51 / mdb-alpha-0-5: reading-multi-rucb-8, -16 and -rankers-8, -16
    MDB's cap = narrow: multi-rucb-alpha-0-51 / mdb-narrow: reading-multi-rucb-8, -16 and -rankers-8, -16
    both alpha = 1.01: multi-rucb-alpha-1-01 / mdb-alpha-1-01: reading-multi-rucb-8, -16 and -rankers-8, -16
    priority = always: multi-rucb-priority-always / ind-self-sparring-eta-1: reading-multi-rucb-8, -16 and -rankers-8, -16
    priority = always: multi-rucb-priority-always / mdb-alpha-0-51: reading-multi-rucb-8, -16 and -rankers-8, -16
    MultiSparring's pairs: multi-rucb-alpha-0-51 / multi-sparring-pairs: reading-multi-rucb-8
    MultiSparring's pairs, skip: multi-rucb-alpha-0-51 / multi-sparring-pairs-skip: reading-multi-rucb-8, -16 and -rankers-8, -16
    MultiSparring's pairs, coin: multi-rucb-alpha-0-51 / multi-sparring-pairs-coin: reading-multi-rucb-8, -16 and -rankers-8, -16
variance: below 1
    as published: multi-rucb / ind-self-sparring: multi-dueling-a to -d
    as published: multi-rucb / mdb: multi-dueling-a to -d
    as published: multi-rucb / multi-sparring: multi-dueling-a to -d
    eta = 0.1: multi-rucb-alpha-0-51 / ind-self-sparring-eta-0-1: reading-multi-rucb-8, -16 and -rankers-8, -16
    MDB's alpha = 1.01: multi-rucb-alpha-0-51 / mdb-alpha-1-01: reading-multi-rucb-8, -16 and -rankers-8, -16
    MDB's alpha = 0.5: multi-rucb-alpha-0-51 / mdb-alpha-0-5: reading-multi-rucb-8, -16 and -rankers-8, -16
    MDB's cap = narrow: multi-rucb-alpha-0-51 / mdb-narrow: reading-multi-rucb-8, -16 and -rankers-8, -16
    both alpha = 1.01: multi-rucb-alpha-1-01 / mdb-alpha-1-01: reading-multi-rucb-8, -16 and -rankers-8, -16
    priority = always: multi-rucb-priority-always / ind-self-sparring-eta-1: reading-multi-rucb-8, -16 and -rankers-8, -16
    priority = always: multi-rucb-priority-always / mdb-alpha-0-51: reading-multi-rucb-8, -16 and -rankers-8, -16
    MultiSparring's pairs: multi-rucb-alpha-0-51 / multi-sparring-pairs: reading-multi-rucb-8
    MultiSparring's pairs, skip: multi-rucb-alpha-0-51 / multi-sparring-pairs-skip: reading-multi-rucb-8, -16 and -rankers-8, -16
    MultiSparring's pairs, coin: multi-rucb-alpha-0-51 / multi-sparring-pairs-coin: reading-multi-rucb-8, -16 and -rankers-8, -16
slate-size: below 1
    as published: multi-rucb: multi-dueling-b / multi-dueling-a, multi-dueling-d / multi-dueling-c
    alpha = 0.51, other m: multi-rucb-m-4 / multi-rucb-m-2: reading-slate-sizes and -rankers
    alpha = 0.51, other m: multi-rucb-m-8 / multi-rucb-m-4: reading-slate-sizes and -rankers
    alpha = 0.51, other m: multi-rucb-m-16 / multi-rucb-m-8: reading-slate-sizes and -rankers
    alpha = 0.51, other m: multi-rucb-m-32 / multi-rucb-m-16: reading-slate-sizes
    alpha = 0.51, other m: multi-rucb-m-48 / multi-rucb-m-32: reading-slate-sizes
    alpha = 0.51, other m: multi-rucb-m-24 / multi-rucb-m-16: reading-slate-sizes-rankers
    alpha = 1.01: multi-rucb-alpha-1-01-m-4 / multi-rucb-alpha-1-01-m-2: reading-slate-sizes and -rankers
    alpha = 1.01: multi-rucb-alpha-1-01-m-8 / multi-rucb-alpha-1-01-m-4: reading-slate-sizes and -rankers
    alpha = 1.01: multi-rucb-alpha-1-01-m-16 / multi-rucb-alpha-1-01-m-8: reading-slate-sizes and -rankers
    alpha = 1.01: multi-rucb-alpha-1-01-m-32 / multi-rucb-alpha-1-01-m-16: reading-slate-sizes
    alpha = 1.01: multi-rucb-alpha-1-01-m-48 / multi-rucb-alpha-1-01-m-32: reading-slate-sizes
    alpha = 1.01: multi-rucb-alpha-1-01-m-24 / multi-rucb-alpha-1-01-m-16: reading-slate-sizes-rankers
theorem-1: below 1
    as published: doubler-bai: two-dueling-a to -f
    T = 10^9: doubler-bai: reading-theory-doubler-bai
    growth in the last decade to T = 10^9: doubler-bai: reading-theory-doubler-bai
theorem-2: below 1
    as published: multi-sbm-feedback: two-dueling-a to -f
    T = 10,000,000: multi-sbm-feedback: reading-long
    growth in the last decade to T = 10^6: multi-sbm-feedback: two-dueling-a to -f
    growth in the last decade to T = 10^7: multi-sbm-feedback: reading-long
theorem-3: below 1
    as published: multi-rucb-alpha-1-01: reading-multi-rucb-8, -16 and -rankers-8, -16
    T = 10^12: multi-rucb-alpha-1-01: reading-theory-multi-rucb
    growth in the last decade to T = 10^12: multi-rucb-alpha-1-01: reading-theory-multi-rucb
"""
TOGETHER = {
    "two-dueling-a to -f": panels.TWO,
    "multi-dueling-a to -d": panels.MULTI,
    "reading-alpha-linear and -logit": panels.ALPHA_READINGS,
    "reading-multi-rucb-8, -16 and -rankers-8, -16": panels.MULTI_READINGS,
    "reading-slate-sizes and -rankers": panels.SLATE_SIZES,
}


def experiment(name):
    return next(each for each in panels.load_all() if each.name == name)


def differing(place):
    """Another level for every panel, and for most contenders."""
    return lambda contender: 100.0 + 10.0 * place + len(contender.id)


def play(experiments):
    """Two runs: enough for a variance, and quick."""
    return {each.name: panel(each, differing(place), runs=2) for place, each in enumerate(experiments)}


@pytest.fixture(scope="module")
def played():
    return play(panels.load_all())


def judge(played, *names):
    """Claims by name, from these panels only; without names, from all."""
    return {claim.name: claim for claim in claims.judge({name: played[name] for name in names or played})}


def listing(judged):
    lines = []
    for claim in judged.values():
        (wanted,) = {c.wanted for c in claim.comparisons}
        lines.append(f"{claim.name}: {wanted}")
        rows = {}
        for c in claim.comparisons:
            rows.setdefault((c.reading, c.subject), []).append(c.panel)
        for (reading, subject), names in rows.items():
            where = next((words for words, several in TOGETHER.items() if several == tuple(names)), ", ".join(names))
            lines.append(f"    {reading or 'as published'}: {subject}: {where}")
    return "\n".join(lines)


def test_what_each_claim_compares_with_what_and_where(played):
    judged = judge(played)
    assert listing(judged).split("\n") == COMPARED.strip().split("\n")
    assert all(c.counts for claim in judged.values() for c in claim.comparisons)


def test_the_published_numbers_and_the_limits_of_a_claim(played):
    (_, *names), *rows = (line.split() for line in VARIANCES_OF_THE_PAPER.strip().split("\n"))
    columns = {name: {row[0]: int(row[place]) for row in rows} for place, name in enumerate(names, 1)}
    assert columns == claims.PUBLISHED_VARIANCE
    (half,) = claims._feedback_gain({"two-dueling-a": played["two-dueling-a"]}, claims.HALF)
    (less,) = claims._feedback_gain({"two-dueling-a": played["two-dueling-a"]}, claims.BELOW)
    assert (half.wanted, less.wanted) == ("0.4 to 0.6", "below 1") and claims.BELOW[0] == -math.inf


def test_a_ratio_is_of_the_two_that_it_names(played):
    judged = judge(played)
    others = {"constant", "theorem-1", "theorem-2", "theorem-3"}
    for name, c in [(claim.name, c) for claim in judged.values() if claim.name not in others for c in claim.comparisons]:
        where, whom = c.panel.split(" / "), c.subject.split(" / ")
        ours, theirs = played[where[0]].line(whom[0]).final, played[where[-1]].line(whom[-1]).final
        measured = np.var if name == "variance" else np.mean
        assert c.value == pytest.approx(measured(ours) / measured(theirs)), (name, c)
        assert c.runs == 2
    first = played["multi-dueling-a"]
    ours, theirs = (first.line(id).final for id in ("multi-rucb", "ind-self-sparring"))
    fewer = int((ours < theirs).sum())
    means = f"{number(ours.mean())} against {number(theirs.mean())}; smaller in {fewer} of 2 runs"
    spreads = f"{number(ours.var(ddof=1))} against {number(theirs.var(ddof=1))}"
    assert [judged[name].comparisons[0].note for name in ("best", "variance")] == [means, spreads]


def test_growth_is_compared_with_growth(played):
    judged = judge(played, "two-dueling-a", "two-dueling-f", "reading-long")
    grown = [c for c in judged["constant"].comparisons if c.reading != "Theorem 2's coefficient"]
    for c in grown:  # all made-up regret grows alike
        ours, theirs = (played[c.panel].line(id).final.mean() for id in ("multi-sbm-feedback", "multi-sbm"))
        assert c.value == pytest.approx(ours / theirs)
    assert [c.note for c in grown] == ["from T = 98,083"] * 2 + ["from T = 1,000,000"]


def bound(name, P, experiment, horizon):
    if name == "theorem-3":
        return theory.theorem3(P, horizon, experiment.slate_size, alpha=1.01)
    return {"theorem-1": theory.theorem1, "theorem-2": theory.theorem2}[name](P, horizon)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("theorem-1", ("two-dueling-b", "reading-theory-doubler-bai")),
        ("theorem-2", ("two-dueling-b", "reading-long")),
        ("theorem-3", ("reading-multi-rucb-16", "reading-multi-rucb-rankers-16", "reading-theory-multi-rucb")),
    ],
)
def test_regret_is_held_against_the_theorems_bound_and_its_growth_against_the_coefficient(name, where, played):
    compared = judge(played, *where)[name].comparisons
    assert {c.panel for c in compared} == set(where)
    for c in compared:
        one = played[c.panel]
        P, T = one.problem.matrix, one.experiment.horizon
        limit, line = bound(name, P, one.experiment, T), one.line(c.subject)
        if c.reading.startswith("growth"):
            place = np.flatnonzero(line.result.checkpoints <= T / 10)[-1]
            when, growth = line.result.checkpoints[place], line.final - line.regret[:, place]
            slope = bound(name, P, one.experiment, round(math.e * T)).raw - limit.raw
            assert c.value == pytest.approx(growth.mean() / math.log(T / when) / slope)
            assert f" per ln T from T = {when:,}; coefficient {number(slope)}" in c.note and c.outcome == verdicts.OPEN
        else:
            assert c.value == pytest.approx(line.final.mean() / limit.raw)
            assert f"bound {number(limit.raw)}" in c.note
            assert c.note.endswith(", above T D_max: it says nothing here") is limit.capped
            assert (c.outcome == verdicts.VACUOUS) is limit.capped


SUBOPTIMAL_TIE = [[0.5, 0.8, 0.9], [0.2, 0.5, 0.5], [0.1, 0.5, 0.5]]  # the bound of Theorem 3 is infinite
BEATEN_MORE_BY_ANOTHER = [[0.5, 0.6, 0.9], [0.4, 0.5, 0.2], [0.1, 0.8, 0.5]]  # gamma is infinite: Theorems 1 and 2


@pytest.mark.parametrize(
    ("name", "theorem", "P", "why"),
    [
        ("reading-theory-doubler-bai", "theorem-1", BEATEN_MORE_BY_ANOTHER, "gamma is infinite: Corollary 1 does not cover"),
        ("two-dueling-a", "theorem-2", BEATEN_MORE_BY_ANOTHER, "gamma is infinite: Corollary 2 does not cover this matrix"),
        ("reading-theory-multi-rucb", "theorem-3", SUBOPTIMAL_TIE, "Two suboptimal arms tie"),
    ],
)
def test_where_no_bound_is_finite_none_is_tested_and_it_says_why(played, name, theorem, P, why):
    without = dataclasses.replace(played[name], problem=problems.from_matrix(P))
    (only,) = judge({name: without})[theorem].comparisons  # and no growth over a coefficient that is no number
    assert only.note.startswith(why)
    assert (only.outcome, only.wanted, only.value, only.low, only.high) == (verdicts.VACUOUS, "a finite bound", 0.0, None, None)
    assert (only.p_inside, only.p_outside, only.runs) == (1.0, 1.0, 2)


@pytest.mark.parametrize(
    ("P", "share", "note", "outcome"),
    [
        ([[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]], 0.5952, "its new branch is 0.595 of the old", verdicts.HOLDS),
        ([[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]], 1.0, "its new branch is 1.7 of the old", verdicts.FAILS),
    ],
)
def test_the_coefficient_is_that_of_the_smaller_branch(played, P, share, note, outcome):
    """D_max sum 1/D_i^2 over 2 sum 1/D_i: a number without error."""
    given = dataclasses.replace(played["two-dueling-a"], problem=problems.from_matrix(P))
    (only,) = claims._coefficients({"two-dueling-a": given})
    assert only.low == only.value == only.high == pytest.approx(share, abs=1e-4)
    assert only.note == note and verdicts.decide([only])[0].outcome == outcome


def at(checkpoints, one):
    """The panel, of which only these checkpoints (by their places) are known."""
    results = tuple(
        dataclasses.replace(
            result,
            checkpoints=result.checkpoints[checkpoints],
            regrets={kind: regret[:, checkpoints] for kind, regret in result.regrets.items()},
        )
        for result in one.results
    )
    return dataclasses.replace(one, results=results)


def test_growth_needs_two_checkpoints(played):
    long = played["reading-long"]
    for places, number_of_comparisons in (([-1], 0), ([0, -1], 1)):
        grown = claims._growth({"reading-long": at(places, long)}, "multi-sbm-feedback", ["reading-long"], claims._theorem2, "r")
        assert len(grown) == number_of_comparisons


def test_generated_rankers_count_in_no_claim():
    experiments = [dataclasses.replace(e, problem=panels.STAND_IN) if panels.on_rankers(e) else e for e in panels.load_all()]
    generated = {each.name for each in experiments if panels.generated(each)}
    assert generated == {
        "two-dueling-f", "multi-dueling-c", "multi-dueling-d", "reading-slate-sizes-rankers", "reading-multi-rucb-rankers-8",
        "reading-multi-rucb-rankers-16",
    }  # fmt: skip
    compared = [c for claim in claims.judge(play(experiments)) for c in claim.comparisons]
    for c in compared:
        assert c.counts is not bool(generated & set(c.panel.split(" / ")))
    assert generated == set(itertools.chain.from_iterable(c.panel.split(" / ") for c in compared if not c.counts))


def test_a_variance_needs_two_runs_of_both():
    first = experiment("multi-dueling-a")
    one, two = panel(first, runs=1), panel(first, runs=2)
    results = tuple(b if b.policy == "multi-rucb" else a for a, b in zip(one.results, two.results, strict=True))
    mixed = dataclasses.replace(two, results=results)
    for measured, known in ((one, False), (mixed, False), (two, True)):
        compared = claims._multi({"multi-dueling-a": measured}, claims.variance)
        assert [" against " in c.note for c in compared] == [known] * 3


def test_a_reading_may_have_no_contenders_but_the_two_that_it_compares():
    name = "reading-multi-rucb-8"
    every = experiment(name)
    pair = {"multi-rucb-alpha-0-51", "mdb-narrow"}
    only = dataclasses.replace(every, contenders=tuple(c for c in every.contenders if c.id in pair))
    (compared,) = claims._multi({name: panel(only, runs=2)}, claims.mean)
    assert set(compared.subject.split(" / ")) == pair


def test_bounds_to_draw_are_those_at_each_checkpoint(played):
    assert claims.bound_curves({}) == []
    curves = claims.bound_curves(played)
    assert [(one.experiment.name, id) for one, id, _, _ in curves] == [
        ("reading-theory-doubler-bai", "doubler-bai"), ("reading-theory-multi-rucb", "multi-rucb-alpha-1-01")
    ]  # fmt: skip
    for (one, id, limits, most), theorem in zip(curves, ("theorem-1", "theorem-3"), strict=True):
        P, marks = one.problem.matrix, one.line(id).result.checkpoints
        assert limits.tolist() == [bound(theorem, P, one.experiment, int(T)).raw for T in marks]
        assert most == P.max() - 0.5
