"""Of each claim of the paper: what is compared with what, where, interpreted how; and that the numbers are those."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from multiduel import problems, theory
from multiduel.display.tables import number
from multiduel.lab.paper import claims, interpretations, panels, verdicts
from tests.lab.made_up import panel

VARIANCES_OF_THE_PAPER = """
policy             multi-dueling-a  multi-dueling-b  multi-dueling-c  multi-dueling-d
multi-rucb                    1648             1042              678              232
ind-self-sparring             2048             1243              741              265
mdb                           2142             1246              754              278
multi-sparring                2201             1329              865              393
"""

# Claim and the range it wants; below it: interpretation, contenders by id, panels.
COMPARED = """
less: below 1
    our defaults: multi-sbm-feedback / multi-sbm: two-dueling-a to -f
    less exploration (UCB's alpha = 1): multi-sbm-feedback-alpha-1 / multi-sbm-alpha-1: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = 0): multi-sbm-feedback-alpha-0 / multi-sbm-alpha-0: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = -1): multi-sbm-feedback-alpha-minus-1 / multi-sbm-alpha-minus-1: two-dueling-a, two-dueling-c
    T = 10^7: multi-sbm-feedback / multi-sbm: long-10-7
half: 0.4 to 0.6
    our defaults: multi-sbm-feedback / multi-sbm: two-dueling-a to -f
    less exploration (UCB's alpha = 1): multi-sbm-feedback-alpha-1 / multi-sbm-alpha-1: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = 0): multi-sbm-feedback-alpha-0 / multi-sbm-alpha-0: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = -1): multi-sbm-feedback-alpha-minus-1 / multi-sbm-alpha-minus-1: two-dueling-a, two-dueling-c
    T = 10^7: multi-sbm-feedback / multi-sbm: long-10-7
constant: 0.4 to 0.6
    our defaults: multi-sbm-feedback / multi-sbm: two-dueling-a to -f
    T = 10^7: multi-sbm-feedback / multi-sbm: long-10-7
    Theorem 2's coefficient: multi-sbm-feedback / multi-sbm: two-dueling-a to -f
doubler: below 1
    our defaults: doubler-bai / doubler: two-dueling-a to -f
    less exploration (UCB's alpha = 1): doubler-bai / doubler-alpha-1: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = 0): doubler-bai / doubler-alpha-0: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = -1): doubler-bai / doubler-alpha-minus-1: two-dueling-a, two-dueling-c
    t^2 for t^4 in LUCB's confidence radius: doubler-bai-radius-t2 / doubler: two-dueling-a
    narrower intervals in DoublerBAI (LUCB's radius of delta alone): doubler-bai-radius-delta / doubler: two-dueling-a to -f
    LUCB's epsilon = 0.05: doubler-bai-epsilon-0-05 / doubler: two-dueling-a
    LUCB's epsilon = 0.1: doubler-bai-epsilon-0-1 / doubler: two-dueling-a
    the last arm found kept until there is another: doubler-bai-keep-last / doubler: two-dueling-a
    LUCB's memory kept between epochs: doubler-bai-no-reset / doubler: two-dueling-a
    LUCB's memory kept between epochs and its radius of delta alone: doubler-bai-no-reset-radius-delta / doubler: two-dueling-a
    joint: doubler-bai-radius-delta / doubler: two-dueling-a to -f
    T = 10^8: doubler-bai / doubler: long-10-8
sbm-baselines: below 1
    our defaults: multi-sbm-feedback / if2: two-dueling-a to -f
    our defaults: multi-sbm-feedback / btm: two-dueling-a to -f
    our defaults: multi-sbm-feedback / savage: two-dueling-a to -f
    our defaults: multi-sbm-feedback / scb: two-dueling-a to -f
    less exploration (UCB's alpha = 1): multi-sbm-feedback-alpha-1 / if2: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = 1): multi-sbm-feedback-alpha-1 / btm: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = 1): multi-sbm-feedback-alpha-1 / savage: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = 1): multi-sbm-feedback-alpha-1 / scb: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = 0): multi-sbm-feedback-alpha-0 / if2: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = 0): multi-sbm-feedback-alpha-0 / btm: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = 0): multi-sbm-feedback-alpha-0 / savage: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = 0): multi-sbm-feedback-alpha-0 / scb: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = -1): multi-sbm-feedback-alpha-minus-1 / if2: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = -1): multi-sbm-feedback-alpha-minus-1 / btm: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = -1): multi-sbm-feedback-alpha-minus-1 / savage: two-dueling-a, two-dueling-c
    less exploration (UCB's alpha = -1): multi-sbm-feedback-alpha-minus-1 / scb: two-dueling-a, two-dueling-c
    BTM's constant 1.44: multi-sbm-feedback / btm-constant-1-44: two-dueling-a, two-dueling-c
    BTM's constant of 3 (as in its paper): multi-sbm-feedback / btm-constant-3: two-dueling-a to -f
    IF1 for IF: multi-sbm-feedback / if1: two-dueling-a to -f
    joint: multi-sbm-feedback / btm-constant-3: two-dueling-a to -f
    T = 10^7: multi-sbm-feedback / if2: long-10-7
doubler-bai-baselines: below 1
    our defaults: doubler-bai / if2: two-dueling-a to -f
    our defaults: doubler-bai / btm: two-dueling-a to -f
    our defaults: doubler-bai / savage: two-dueling-a to -f
    our defaults: doubler-bai / scb: two-dueling-a to -f
    t^2 for t^4 in LUCB's confidence radius: doubler-bai-radius-t2 / if2: two-dueling-a
    t^2 for t^4 in LUCB's confidence radius: doubler-bai-radius-t2 / btm: two-dueling-a
    t^2 for t^4 in LUCB's confidence radius: doubler-bai-radius-t2 / savage: two-dueling-a
    t^2 for t^4 in LUCB's confidence radius: doubler-bai-radius-t2 / scb: two-dueling-a
    narrower intervals in DoublerBAI (LUCB's radius of delta alone): doubler-bai-radius-delta / if2: two-dueling-a to -f
    narrower intervals in DoublerBAI (LUCB's radius of delta alone): doubler-bai-radius-delta / btm: two-dueling-a to -f
    narrower intervals in DoublerBAI (LUCB's radius of delta alone): doubler-bai-radius-delta / savage: two-dueling-a to -f
    narrower intervals in DoublerBAI (LUCB's radius of delta alone): doubler-bai-radius-delta / scb: two-dueling-a to -f
    LUCB's epsilon = 0.05: doubler-bai-epsilon-0-05 / if2: two-dueling-a
    LUCB's epsilon = 0.05: doubler-bai-epsilon-0-05 / btm: two-dueling-a
    LUCB's epsilon = 0.05: doubler-bai-epsilon-0-05 / savage: two-dueling-a
    LUCB's epsilon = 0.05: doubler-bai-epsilon-0-05 / scb: two-dueling-a
    LUCB's epsilon = 0.1: doubler-bai-epsilon-0-1 / if2: two-dueling-a
    LUCB's epsilon = 0.1: doubler-bai-epsilon-0-1 / btm: two-dueling-a
    LUCB's epsilon = 0.1: doubler-bai-epsilon-0-1 / savage: two-dueling-a
    LUCB's epsilon = 0.1: doubler-bai-epsilon-0-1 / scb: two-dueling-a
    the last arm found kept until there is another: doubler-bai-keep-last / if2: two-dueling-a
    the last arm found kept until there is another: doubler-bai-keep-last / btm: two-dueling-a
    the last arm found kept until there is another: doubler-bai-keep-last / savage: two-dueling-a
    the last arm found kept until there is another: doubler-bai-keep-last / scb: two-dueling-a
    LUCB's memory kept between epochs: doubler-bai-no-reset / if2: two-dueling-a
    LUCB's memory kept between epochs: doubler-bai-no-reset / btm: two-dueling-a
    LUCB's memory kept between epochs: doubler-bai-no-reset / savage: two-dueling-a
    LUCB's memory kept between epochs: doubler-bai-no-reset / scb: two-dueling-a
    LUCB's memory kept between epochs and its radius of delta alone: doubler-bai-no-reset-radius-delta / if2: two-dueling-a
    LUCB's memory kept between epochs and its radius of delta alone: doubler-bai-no-reset-radius-delta / btm: two-dueling-a
    LUCB's memory kept between epochs and its radius of delta alone: doubler-bai-no-reset-radius-delta / savage: two-dueling-a
    LUCB's memory kept between epochs and its radius of delta alone: doubler-bai-no-reset-radius-delta / scb: two-dueling-a
    BTM's constant 1.44: doubler-bai / btm-constant-1-44: two-dueling-a, two-dueling-c
    BTM's constant of 3 (as in its paper): doubler-bai / btm-constant-3: two-dueling-a to -f
    IF1 for IF: doubler-bai / if1: two-dueling-a to -f
    joint: doubler-bai-radius-delta / if2: two-dueling-a to -f
    joint: doubler-bai-radius-delta / btm-constant-3: two-dueling-a to -f
    joint: doubler-bai-radius-delta / savage: two-dueling-a to -f
    joint: doubler-bai-radius-delta / scb: two-dueling-a to -f
    T = 10^7: doubler-bai / if2: long-10-7
best: below 1
    our defaults: multi-rucb / ind-self-sparring: multi-dueling-a to -d
    our defaults: multi-rucb / mdb: multi-dueling-a to -d
    our defaults: multi-rucb / multi-sparring: multi-dueling-a to -d
    MultiRUCB's alpha = 1.01: multi-rucb-alpha-1-01 / ind-self-sparring: multi-dueling-a to -d
    MultiRUCB's alpha = 1.01: multi-rucb-alpha-1-01 / mdb: multi-dueling-a to -d
    MultiRUCB's alpha = 1.01: multi-rucb-alpha-1-01 / multi-sparring: multi-dueling-a to -d
    MultiRUCB's priority = always: multi-rucb-priority-always / ind-self-sparring: multi-dueling-a to -d
    MultiRUCB's priority = always: multi-rucb-priority-always / mdb: multi-dueling-a to -d
    MultiRUCB's priority = always: multi-rucb-priority-always / multi-sparring: multi-dueling-a to -d
    IndSelfSparring's learning rate eta = 0.1: multi-rucb / ind-self-sparring-eta-0-1: multi-dueling-a to -d
    MDB's alpha = 1.01: multi-rucb / mdb-alpha-1-01: multi-dueling-a to -d
    MDB's alpha = 0.5: multi-rucb / mdb-alpha-0-5: multi-dueling-a to -d
    MDB's cap = narrow: multi-rucb / mdb-narrow: multi-dueling-a to -d
    alpha = 1.01 in MultiRUCB and MDB: multi-rucb-alpha-1-01 / ind-self-sparring: multi-dueling-a to -d
    alpha = 1.01 in MultiRUCB and MDB: multi-rucb-alpha-1-01 / mdb-alpha-1-01: multi-dueling-a to -d
    alpha = 1.01 in MultiRUCB and MDB: multi-rucb-alpha-1-01 / multi-sparring: multi-dueling-a to -d
    MultiSparring's credit by pairs: multi-rucb / multi-sparring-pairs: multi-dueling-a
    MultiSparring's credit by pairs without duplicates: multi-rucb / multi-sparring-pairs-skip: multi-dueling-a to -d
    MultiSparring's credit by pairs with coins: multi-rucb / multi-sparring-pairs-coin: multi-dueling-a to -d
    joint: multi-rucb / ind-self-sparring-eta-0-1: multi-dueling-a to -d
    joint: multi-rucb / mdb-alpha-1-01: multi-dueling-a to -d
    joint: multi-rucb / multi-sparring-pairs-coin: multi-dueling-a to -d
variance: below 1
    our defaults: multi-rucb / ind-self-sparring: multi-dueling-a to -d
    our defaults: multi-rucb / mdb: multi-dueling-a to -d
    our defaults: multi-rucb / multi-sparring: multi-dueling-a to -d
    MultiRUCB's alpha = 1.01: multi-rucb-alpha-1-01 / ind-self-sparring: multi-dueling-a to -d
    MultiRUCB's alpha = 1.01: multi-rucb-alpha-1-01 / mdb: multi-dueling-a to -d
    MultiRUCB's alpha = 1.01: multi-rucb-alpha-1-01 / multi-sparring: multi-dueling-a to -d
    MultiRUCB's priority = always: multi-rucb-priority-always / ind-self-sparring: multi-dueling-a to -d
    MultiRUCB's priority = always: multi-rucb-priority-always / mdb: multi-dueling-a to -d
    MultiRUCB's priority = always: multi-rucb-priority-always / multi-sparring: multi-dueling-a to -d
    IndSelfSparring's learning rate eta = 0.1: multi-rucb / ind-self-sparring-eta-0-1: multi-dueling-a to -d
    MDB's alpha = 1.01: multi-rucb / mdb-alpha-1-01: multi-dueling-a to -d
    MDB's alpha = 0.5: multi-rucb / mdb-alpha-0-5: multi-dueling-a to -d
    MDB's cap = narrow: multi-rucb / mdb-narrow: multi-dueling-a to -d
    alpha = 1.01 in MultiRUCB and MDB: multi-rucb-alpha-1-01 / ind-self-sparring: multi-dueling-a to -d
    alpha = 1.01 in MultiRUCB and MDB: multi-rucb-alpha-1-01 / mdb-alpha-1-01: multi-dueling-a to -d
    alpha = 1.01 in MultiRUCB and MDB: multi-rucb-alpha-1-01 / multi-sparring: multi-dueling-a to -d
    MultiSparring's credit by pairs: multi-rucb / multi-sparring-pairs: multi-dueling-a
    MultiSparring's credit by pairs without duplicates: multi-rucb / multi-sparring-pairs-skip: multi-dueling-a to -d
    MultiSparring's credit by pairs with coins: multi-rucb / multi-sparring-pairs-coin: multi-dueling-a to -d
    joint: multi-rucb / ind-self-sparring-eta-0-1: multi-dueling-a to -d
    joint: multi-rucb / mdb-alpha-1-01: multi-dueling-a to -d
    joint: multi-rucb / multi-sparring-pairs-coin: multi-dueling-a to -d
slate-size: below 1
    our defaults: multi-rucb: multi-dueling-b / multi-dueling-a, multi-dueling-d / multi-dueling-c
    MultiRUCB's alpha = 1.01: multi-rucb-alpha-1-01: multi-dueling-b / multi-dueling-a, multi-dueling-d / multi-dueling-c
    other m: multi-rucb-m-4 / multi-rucb-m-2: slate-sizes and -rankers
    other m: multi-rucb-m-8 / multi-rucb-m-4: slate-sizes and -rankers
    other m: multi-rucb-m-16 / multi-rucb-m-8: slate-sizes and -rankers
    other m: multi-rucb-m-32 / multi-rucb-m-16: slate-sizes
    other m: multi-rucb-m-48 / multi-rucb-m-32: slate-sizes
    other m: multi-rucb-m-24 / multi-rucb-m-16: slate-sizes-rankers
    other m, alpha = 1.01: multi-rucb-alpha-1-01-m-4 / multi-rucb-alpha-1-01-m-2: slate-sizes and -rankers
    other m, alpha = 1.01: multi-rucb-alpha-1-01-m-8 / multi-rucb-alpha-1-01-m-4: slate-sizes and -rankers
    other m, alpha = 1.01: multi-rucb-alpha-1-01-m-16 / multi-rucb-alpha-1-01-m-8: slate-sizes and -rankers
    other m, alpha = 1.01: multi-rucb-alpha-1-01-m-32 / multi-rucb-alpha-1-01-m-16: slate-sizes
    other m, alpha = 1.01: multi-rucb-alpha-1-01-m-48 / multi-rucb-alpha-1-01-m-32: slate-sizes
    other m, alpha = 1.01: multi-rucb-alpha-1-01-m-24 / multi-rucb-alpha-1-01-m-16: slate-sizes-rankers
theorem-1: below 1
    our defaults: doubler-bai: two-dueling-a to -f
    T = 10^9: doubler-bai: theory-doubler-bai
    growth in the last decade to T = 10^9: doubler-bai: theory-doubler-bai
theorem-2: below 1
    our defaults: multi-sbm-feedback: two-dueling-a to -f
    T = 10^7: multi-sbm-feedback: long-10-7
    growth in the last decade to T = 10^6: multi-sbm-feedback: two-dueling-a to -f
    growth in the last decade to T = 10^7: multi-sbm-feedback: long-10-7
theorem-3: below 1
    our defaults: multi-rucb-alpha-1-01: interpretation-multi-rucb-8, -16 and -rankers-8, -16
    T = 10^12: multi-rucb-alpha-1-01: theory-multi-rucb
    growth in the last decade to T = 10^12: multi-rucb-alpha-1-01: theory-multi-rucb
"""
TOGETHER = {
    "two-dueling-a to -f": panels.TWO,
    "multi-dueling-a to -d": panels.MULTI,
    "interpretation-multi-rucb-8, -16 and -rankers-8, -16": panels.MULTI_VARIED,
    "slate-sizes and -rankers": panels.SLATE_SIZES,
}


SHORT = {interpretations.TWO_JOINT.words: "joint", interpretations.MULTI_JOINT.words: "joint"}


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
            if not (c.interpretation and c.subject == c.pair):  # what an interpretation leaves alone is at our defaults
                rows.setdefault((SHORT.get(c.interpretation, c.interpretation) or c.further, c.subject), []).append(c.panel)
        for (words, subject), names in rows.items():
            where = next((words for words, several in TOGETHER.items() if several == tuple(names)), ", ".join(names))
            lines.append(f"    {words or 'our defaults'}: {subject}: {where}")
    return "\n".join(lines)


def test_what_each_claim_compares_with_what_and_where(played):
    judged = judge(played)
    assert listing(judged).split("\n") == COMPARED.strip().split("\n")
    assert all(c.counts for claim in judged.values() for c in claim.comparisons)


def test_an_interpretation_is_compared_with_all_rivals_wherever_it_was_played(played):
    """Those that it does not change are at our defaults."""
    for claim in judge(played).values():
        pairs = {c.pair for c in claim.comparisons if c.default}
        for words in claim.interpretations:
            made = [(c.panel, c.pair) for c in claim.comparisons if c.interpretation == words]
            assert len(made) == len(set(made))
            assert set(made) == set(itertools.product({panel for panel, _ in made}, pairs))


def test_every_contender_that_varies_a_panel_is_in_an_interpretation_and_no_other():
    """The experiments and the interpretations say the same."""
    described = {
        (policy, tuple(sorted(params.items())))
        for each in (
            *interpretations.TWO_INTERPRETATIONS, interpretations.TWO_JOINT, *interpretations.MULTI_INTERPRETATIONS,
            interpretations.MULTI_JOINT,
        )
        for policy, params in each.changes.values()
        if params
    }  # fmt: skip
    varied = {
        (contender.policy, tuple(sorted(contender.params.items())))
        for each in panels.load_all() if each.name in (*panels.INTERPRETATIONS, *panels.JOINT) for contender in each.contenders
    }  # fmt: skip
    assert described == varied


def test_a_panel_and_what_varies_its_contenders_are_played_alike():
    by_name = {each.name: each for each in panels.load_all()}
    for name in (*panels.TWO, *panels.MULTI):
        for other in (f"joint-{name}", *panels.VARIED_IN.get(name, ())):
            one, two = by_name[name], by_name[other]
            facts = [(e.problem, e.horizon, e.seed, e.slate_size, e.benchmark, e.regret, e.reset_horizon) for e in (one, two)]
            assert facts[0] == facts[1]
            assert two.marks()[-1] == one.marks()[-1]


def test_an_interpretation_that_plays_like_the_default_is_recognised(played):
    """By every kind of regret at the end, and by the arms recommended."""
    kept = {"doubler-bai": ("doubler-bai", {"keep_last": True})}
    each = next(i for i in interpretations.TWO_INTERPRETATIONS if i.changes == kept)
    panel_a, name = played["two-dueling-a"], "interpretation-doubler-bai"

    def with_last_arm_kept(change):
        line = panel_a.line("doubler-bai").result
        kinds = {kind: regret[:, -1:] for kind, regret in line.regrets.items()}
        mine = dataclasses.replace(line, checkpoints=line.checkpoints[-1:], regrets=kinds)
        ids = [contender.id for contender in played[name].experiment.contenders]
        results = list(played[name].results)
        results[ids.index("doubler-bai-keep-last")] = change(mine)
        return {**played, name: dataclasses.replace(played[name], results=tuple(results))}

    same = with_last_arm_kept(lambda result: result)
    assert interpretations.same_as_default(same, panels.TWO, ["doubler-bai", "if2"], each)
    judged = {claim.name: claim for claim in claims.judge(same)}["doubler"].interpretations[each.words]
    assert judged.same and judged.line.startswith(verdicts.SAME)
    for change in (
        lambda result: dataclasses.replace(result, recommended=result.recommended + 1),
        lambda result: dataclasses.replace(result, regrets={**result.regrets, "weak": result.regrets["weak"] + 1e-9}),
    ):
        assert not interpretations.same_as_default(with_last_arm_kept(change), panels.TWO, ["doubler-bai"], each)
    assert not interpretations.same_as_default({}, panels.TWO, ["doubler-bai"], each), "what was not played is not the same"


def test_the_published_numbers_and_the_limits_of_a_claim(played):
    (_, *names), *rows = (line.split() for line in VARIANCES_OF_THE_PAPER.strip().split("\n"))
    columns = {name: {row[0]: int(row[place]) for row in rows} for place, name in enumerate(names, 1)}
    assert columns == claims.PUBLISHED_VARIANCE
    judged = judge(played, "two-dueling-a")
    wanted = [judged[name].comparisons[0].wanted for name in ("half", "less")]
    assert wanted == ["0.4 to 0.6", "below 1"] and claims.BELOW[0] == -math.inf
    assert "0.4 to 0.6" in judged["half"].statement and "0.4 to 0.6" in judged["constant"].statement


def lines_of(played, c):
    """The two lines that a comparison names, found by their ids among the panel and what varies it."""
    where, whom = c.panel.split(" / "), c.subject.split(" / ")
    for place, id in ((where[0], whom[0]), (where[-1], whom[-1])):
        names = (place, f"joint-{place}", *panels.VARIED_IN.get(place, ()))
        yield next(line for name in names if name in played for line in played[name].lines if line.id == id)


def test_a_ratio_is_of_the_two_that_it_names(played):
    judged = judge(played)
    others = {"constant", "theorem-1", "theorem-2", "theorem-3"}
    for name, c in [(claim.name, c) for claim in judged.values() if claim.name not in others for c in claim.comparisons]:
        ours, theirs = (line.final for line in lines_of(played, c))
        measured = np.var if name == "variance" else np.mean
        assert c.value == pytest.approx(measured(ours) / measured(theirs)), (name, c)
        assert c.runs == 2
    first = played["multi-dueling-a"]
    ours, theirs = (first.line(id).final for id in ("multi-rucb", "ind-self-sparring"))
    fewer = int((ours < theirs).sum())
    means = f"{number(ours.mean())} against {number(theirs.mean())}; smaller in {fewer} of 2 runs"
    spreads = f"{number(ours.var(ddof=1))} against {number(theirs.var(ddof=1))}"
    assert [judged[name].comparisons[0].note for name in ("best", "variance")] == [means, spreads]


def test_runs_that_only_one_of_two_has_do_not_count():
    """Interpretations are played less often than panels: the common seeds are compared."""
    names = ("multi-dueling-a", "joint-multi-dueling-a")
    one, other = (panel(experiment(name), runs=runs) for name, runs in zip(names, (6, 4), strict=True))
    one.line("multi-rucb").regret[4:] *= 1000.0
    judged = {claim.name: claim for claim in claims.judge(dict(zip(names, (one, other), strict=True)))}
    jointly = [c for c in judged["best"].comparisons if c.interpretation == interpretations.MULTI_JOINT.words]
    (found,) = [c for c in jointly if c.subject == "multi-rucb / mdb-alpha-1-01"]
    ours, theirs = one.line("multi-rucb").final[:4], other.line("mdb-alpha-1-01").final
    assert found.value == pytest.approx(ours.mean() / theirs.mean()) and found.runs == 4


def test_growth_is_compared_with_growth(played):
    judged = judge(played, "two-dueling-a", "two-dueling-f", "long-10-7")
    grown = [c for c in judged["constant"].comparisons if c.further != "Theorem 2's coefficient"]
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
        ("theorem-1", ("two-dueling-b", "theory-doubler-bai")),
        ("theorem-2", ("two-dueling-b", "long-10-7")),
        ("theorem-3", ("interpretation-multi-rucb-16", "interpretation-multi-rucb-rankers-16", "theory-multi-rucb")),
    ],
)
def test_regret_is_held_against_the_theorems_bound_and_its_growth_against_the_coefficient(name, where, played):
    compared = judge(played, *where)[name].comparisons
    assert {c.panel for c in compared} == set(where)
    for c in compared:
        one = played[c.panel]
        P, T = one.problem.matrix, one.experiment.horizon
        limit, line = bound(name, P, one.experiment, T), one.line(c.subject)
        if c.further.startswith("growth"):
            place = np.flatnonzero(line.result.checkpoints <= T / 10)[-1]
            when, growth = line.result.checkpoints[place], line.final - line.regret[:, place]
            slope = bound(name, P, one.experiment, round(math.e * T)).raw - limit.raw
            assert c.value == pytest.approx(growth.mean() / math.log(T / when) / slope)
            assert f" per ln T from T = {when:,}; coefficient {number(slope)}" in c.note and c.outcome == verdicts.INCONCLUSIVE
        else:
            assert c.value == pytest.approx(line.final.mean() / limit.raw)
            assert f"bound {number(limit.raw)}" in c.note
            assert c.note.endswith(", above T D_max: it says nothing here") is limit.capped
            assert (c.outcome == verdicts.NOT_INFORMATIVE) is limit.capped


SUBOPTIMAL_TIE = [[0.5, 0.8, 0.9], [0.2, 0.5, 0.5], [0.1, 0.5, 0.5]]  # the bound of Theorem 3 is infinite
BEATEN_MORE_BY_ANOTHER = [[0.5, 0.6, 0.9], [0.4, 0.5, 0.2], [0.1, 0.8, 0.5]]  # gamma is infinite: Theorems 1 and 2


@pytest.mark.parametrize(
    ("name", "theorem", "P", "why"),
    [
        ("theory-doubler-bai", "theorem-1", BEATEN_MORE_BY_ANOTHER, "gamma is infinite: Corollary 1 does not cover"),
        ("two-dueling-a", "theorem-2", BEATEN_MORE_BY_ANOTHER, "gamma is infinite: Corollary 2 does not cover this matrix"),
        ("theory-multi-rucb", "theorem-3", SUBOPTIMAL_TIE, "Two suboptimal arms tie"),
    ],
)
def test_where_no_bound_is_finite_none_is_tested_and_it_says_why(played, name, theorem, P, why):
    without = dataclasses.replace(played[name], problem=problems.from_matrix(P))
    (only,) = judge({name: without})[theorem].comparisons  # and no growth over a coefficient that is no number
    assert only.note.startswith(why)
    assert only.outcome == verdicts.NOT_INFORMATIVE
    assert (only.wanted, only.value, only.low, only.high) == ("a finite bound", 0.0, None, None)
    assert (only.p_inside, only.p_outside, only.runs) == (1.0, 1.0, 2)


@pytest.mark.parametrize(
    ("P", "share", "note", "outcome"),
    [
        ([[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]], 0.5952, "its new branch is 0.595 of the old", verdicts.REPRODUCES),
        ([[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]], 1.0, "its new branch is 1.7 of the old", verdicts.DOES_NOT),
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
    long = played["long-10-7"]
    for places, number_of_comparisons in (([-1], 0), ([0, -1], 1)):
        grown = claims._growth({"long-10-7": at(places, long)}, "multi-sbm-feedback", ["long-10-7"], claims._theorem2, "r")
        assert len(grown) == number_of_comparisons


def test_generated_rankers_count_in_no_claim():
    experiments = [dataclasses.replace(e, problem=panels.STAND_IN) if panels.on_rankers(e) else e for e in panels.load_all()]
    generated = {each.name for each in experiments if panels.generated(each)}
    shown = {
        "two-dueling-f", "multi-dueling-c", "multi-dueling-d", "slate-sizes-rankers", "interpretation-multi-rucb-rankers-8",
        "interpretation-multi-rucb-rankers-16",
    }  # fmt: skip
    assert generated == shown | {f"joint-{name}" for name in shown if "dueling" in name}
    compared = [c for claim in claims.judge(play(experiments)) for c in claim.comparisons]
    for c in compared:
        assert c.counts is not bool(generated & set(c.panel.split(" / ")))
    assert shown - {name for name in shown if "interpretation" in name} <= set(
        itertools.chain.from_iterable(c.panel.split(" / ") for c in compared if not c.counts)
    )


def test_a_variance_needs_two_runs_of_both():
    first = experiment("multi-dueling-a")
    one, two = panel(first, runs=1), panel(first, runs=2)
    results = tuple(b if b.policy == "multi-rucb" else a for a, b in zip(one.results, two.results, strict=True))
    mixed = dataclasses.replace(two, results=results)
    for measured, known in ((one, False), (mixed, False), (two, True)):
        judged = {claim.name: claim for claim in claims.judge({"multi-dueling-a": measured})}
        assert [" against " in c.note for c in judged["variance"].comparisons] == [known] * 3


def test_bounds_to_draw_are_those_at_each_checkpoint(played):
    assert claims.bound_curves({}) == []
    curves = claims.bound_curves(played)
    assert [(one.experiment.name, id) for one, id, _, _ in curves] == [
        ("theory-doubler-bai", "doubler-bai"), ("theory-multi-rucb", "multi-rucb-alpha-1-01")
    ]  # fmt: skip
    for (one, id, limits, most), theorem in zip(curves, ("theorem-1", "theorem-3"), strict=True):
        P, marks = one.problem.matrix, one.line(id).result.checkpoints
        assert limits.tolist() == [bound(theorem, P, one.experiment, int(T)).raw for T in marks]
        assert most == P.max() - 0.5
