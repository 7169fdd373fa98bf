"""Verdicts on numbers made up so that one knows what they must be."""

from __future__ import annotations

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from multiduel.inputs import BadInput
from multiduel.lab.paper import agreement, claims, joint, panels, report, verdicts
from multiduel.lab.statistics import ratio, variance
from tests.lab.made_up import all_panels, panel

AS_IN_THE_PAPER = {
    "multi-sbm-feedback": 50, "multi-sbm": 100, "doubler-bai": 60, "doubler": 90, "if2": 200, "btm": 210, "savage": 300,
    "scb": 400, "multi-rucb": 40, "ind-self-sparring": 50, "mdb": 60, "multi-sparring": 70,
}  # fmt: skip


def judge(level, **options):
    return {claim.name: claim for claim in claims.judge(all_panels(level, **options))}


def by_policy(**changes):
    """Levels as in the paper, except for ``changes``; where a contender has its own m, the more the better."""
    levels = {**AS_IN_THE_PAPER, **{key.replace("_", "-"): value for key, value in changes.items()}}
    return lambda contender: levels.get(contender.policy, 100.0) / (contender.slate_size or 1)


@pytest.fixture(scope="module")
def as_claimed():
    return judge(by_policy())


def test_what_the_paper_says_holds_if_the_numbers_are_as_it_says(as_claimed):
    for name in ("less", "half", "constant", "doubler", "sbm-baselines", "doubler-bai-baselines", "best"):
        assert as_claimed[name].verdict == verdicts.HOLDS, as_claimed[name].why
    assert as_claimed["half"].line == "holds: in 6 of 6 panels"
    assert as_claimed["slate-size"].line == "open: holds in 0 of 2 panels"  # panels (a) and (b) got equal numbers
    assert as_claimed["slate-size"].readings["alpha = 1.01"].startswith("holds")
    assert as_claimed["theorem-1"].verdict == verdicts.VACUOUS
    growth = [c for c in as_claimed["theorem-2"].comparisons if c.reading.startswith("growth")]
    assert growth and all(c.outcome == verdicts.HOLDS for c in growth)


def test_less_and_about_half_are_two_claims():
    measured = judge(by_policy(multi_sbm_feedback=80))
    assert measured["less"].line == "holds: in 6 of 6 panels" and measured["half"].line == "fails: holds in 0 of 6 panels"


def test_variance_is_compared_as_variance():
    measured = judge(by_policy(ind_self_sparring=2000, mdb=2000, multi_sparring=2000))["variance"]
    assert measured.verdict == verdicts.HOLDS, measured.why
    assert all(c.value < 0.01 for c in measured.comparisons if c.published)  # (40 / 2000)^2, about


def test_a_claim_fails_if_nothing_is_as_it_says():
    measured = judge(by_policy(doubler_bai=500, multi_sbm_feedback=99))
    assert measured["doubler"].line == "fails: holds in 0 of 6 panels"
    assert measured["half"].verdict == verdicts.FAILS
    assert measured["doubler"].why.startswith("DoublerBAI / Doubler is ") and "as claimed nowhere" in measured["doubler"].why


def test_a_reading_is_apart_from_the_verdict_and_may_make_the_claim_right():
    usual = by_policy(doubler_bai=500)

    def level(contender):
        return 30.0 if contender.id == "doubler-bai-radius-delta" else usual(contender)

    measured = judge(level)["doubler"]
    assert measured.verdict == verdicts.FAILS
    assert measured.readings["LUCB radius delta"] == "holds: in 1 of 1 panel"
    assert measured.readings["LUCB radius t2"] == "fails: holds in 0 of 1 panel"
    ((_, _, words),) = agreement.answers([measured])
    assert words == "LUCB radius delta."


def test_generated_rankers_never_count():
    experiments = [dataclasses.replace(e, problem=panels.STAND_IN) if panels.on_rankers(e) else e for e in panels.load_all()]
    levels = by_policy()

    def level(contender):
        return levels(contender)

    measured = {c.name: c for c in claims.judge(all_panels(level, experiments=experiments))}
    assert measured["half"].line == "holds: in 5 of 5 panels" and measured["best"].line == "holds: in 2 of 2 panels"
    assert {c.panel for c in measured["half"].comparisons if not c.counts} == {"two-dueling-f"}
    shown = agreement.variances(all_panels(level, experiments=experiments))
    assert shown and all(set(row.ratios) <= {"multi-dueling-a", "multi-dueling-b"} for row in shown)


@pytest.fixture(scope="module")
def only_panel_a():
    return next(experiment for experiment in panels.load_all() if experiment.name == "multi-dueling-a")


def test_two_runs_have_a_variance_and_panels_that_are_not_there_none(only_panel_a):
    one, two = (agreement.variances({only_panel_a.name: panel(only_panel_a, runs=runs)}) for runs in (1, 2))
    assert one == [] and {row.policy for row in two} == set(claims.PUBLISHED_VARIANCE["multi-dueling-a"])
    assert all(set(row.ratios) == {"multi-dueling-a"} for row in two)


def test_every_setting_tried_is_held_against_the_published_variance_and_the_nearest_comes_first():
    """A reading's contender without parameters is the panel's own again, with fewer runs: the panel's counts."""
    name, reading = panels.MULTI[1], panels.MULTI_READINGS[1]
    by_name = {experiment.name: experiment for experiment in panels.load_all()}
    played = {
        name: panel(by_name[name], by_policy(), runs=3),
        reading: panel(by_name[reading], lambda c: 9.0 * len(c.id), runs=2),
    }
    rows = agreement.variances(played)
    lines = {(line.contender.policy, "our default"): line for line in played[name].lines}
    for line in played[reading].lines:
        if line.contender.params:
            lines[line.contender.policy, ", ".join(f"{key} = {value}" for key, value in line.contender.params.items())] = line
    published = claims.PUBLISHED_VARIANCE[name]
    assert {(row.policy, row.setting) for row in rows} == {key for key in lines if key[0] in published}
    for row in rows:
        ratio = lines[row.policy, row.setting].final.var(ddof=1) / published[row.policy]
        assert row.ratios == {name: pytest.approx(ratio)} and row.distance == pytest.approx(max(ratio, 1.0 / ratio))
    assert [policy for policy, _ in itertools.groupby(row.policy for row in rows)] == list(published)
    for _, group in itertools.groupby(rows, key=lambda row: row.policy):
        distances = [row.distance for row in group]
        assert distances == sorted(distances)


def test_how_far_off_variances_are_on_average():
    assert agreement.Agreement("p", "s", {"a": 8.0, "b": 0.5}).distance == pytest.approx(4.0)  # by 8 and by 2
    assert agreement.Agreement("p", "s", {"a": 0.0}).distance == pytest.approx(1e12), "no variance at all: very far"


def test_which_readings_turn_a_claim_is_said():
    def answer(verdict, **readings):
        lines = {"R": "open: no panel counts", **readings}
        ((statement, line, words),) = agreement.answers([verdicts.Claim("n", "S.", "t", [], verdict, "the line", "", lines)])
        assert (statement, line) == ("S.", "the line")
        return words

    holds, fails = "holds: in 1 of 1 panel", "fails: holds in 0 of 1 panel"
    assert answer(verdicts.HOLDS, R=holds, Q=holds) == "As published, and with every reading tried."
    assert answer(verdicts.HOLDS, P=fails, Q=holds) == "As published; not with: R; P."
    assert answer(verdicts.FAILS, P=holds, Q=holds, O=fails) == "P; Q."
    assert answer(verdicts.OPEN, P=fails) == "None of those tried."


@pytest.mark.parametrize(("factor", "agree"), [(1.4, True), (1.6, False)])
def test_variances_agree_within_a_factor_of_one_and_a_half(only_panel_a, factor, agree):
    published, results = claims.PUBLISHED_VARIANCE["multi-dueling-a"], []
    for result in panel(only_panel_a).results:
        scale = np.sqrt(factor * published.get(result.policy, 1.0) / result.final.var(ddof=1))
        results.append(dataclasses.replace(result, regrets={kind: scale * values for kind, values in result.regrets.items()}))
    measured = dataclasses.replace(panel(only_panel_a), results=tuple(results))
    said = " ".join(block.text for block in report._readings({only_panel_a.name: measured}, []) if hasattr(block, "text"))
    assert f"off by a factor of {factor} on average" in said
    assert ("no setting tried comes within a factor of 1.5" in said) is not agree


def test_the_joint_setting_that_agrees_best_is_found_and_what_is_left_is_said():
    """DoublerBAI is right with one radius only, BTM is beaten with constant 3 only, SAVAGE with none."""
    usual = by_policy(doubler_bai=500, btm=20, savage=10)
    special = {"doubler-bai-radius-delta": 30.0, "btm-constant-3": 210.0}
    two, multi = joint.searches(all_panels(lambda contender: special.get(contender.id, usual(contender))))
    assert two.ranked[0].settings == ("alpha = 3", "LUCB radius delta", "constant 3")
    assert two.ranked[0].contradicted == ("MultiSBM-Feedback below SAVAGE", "DoublerBAI below SAVAGE")
    assert len(two.ranked[0].agree) == two.statements - 2
    assert two.default.settings == ("alpha = 3", "as published", "constant 1")
    assert "DoublerBAI below Doubler" in two.default.contradicted and two.default.order > two.ranked[0].order
    assert len(two.ranked) == 4 * 8 * 3
    assert {"MultiRUCB below MDB (a)", "MultiRUCB below MDB (d)"} <= set(multi.default.agree)
    assert "MDB's variance near the published one (a)" in multi.default.contradicted


def test_which_settings_are_searched_together():
    everything = all_panels(by_policy())
    _, multi = joint.searches(everything)
    assert multi.statements == 4 * (2 * 3 + 4), "of four panels: mean and variance against three rivals, four published variances"
    for place, policy in enumerate(claims.PUBLISHED_VARIANCE["multi-dueling-a"]):
        tried = [
            {str(c.params) for c in everything[name].experiment.contenders if c.policy == policy and c.params}
            for name in panels.MULTI_READINGS
        ]
        assert len({each.settings[place] for each in multi.ranked}) == 1 + len(set.intersection(*tried))


def test_only_what_was_played_is_searched_and_never_generated_rankers():
    everything = all_panels(by_policy())
    assert joint.searches({}) == []
    two = {name: everything[name] for name in ("two-dueling-a", "reading-alpha-linear", "reading-doubler-bai")}
    assert [search.about for search in joint.searches(two)] == ["two-dueling algorithms, K = 48, linear"]
    name, reading = panels.MULTI[0], panels.MULTI_READINGS[0]
    assert joint.searches({reading: everything[reading]}) == joint.searches({name: everything[name]}) == []
    (only,) = joint.searches({key: everything[key] for key in (name, reading)})
    assert only.about == "multi-dueling algorithms, panels (a)"
    generated = [
        dataclasses.replace(everything[key].experiment, problem=panels.STAND_IN)
        for key in (panels.MULTI[2], panels.MULTI_READINGS[2])
    ]
    assert joint.searches(all_panels(experiments=generated)) == []


def test_a_search_needs_a_setting_of_every_choice():
    """Without DoublerBAI among its readings nothing is said of it; the other settings are not searched alone."""
    names = {"two-dueling-a", "reading-alpha-linear", "reading-doubler-bai"}
    by_name = {experiment.name: experiment for experiment in panels.load_all() if experiment.name in names}
    every = by_name["reading-doubler-bai"]
    rivals = tuple(contender for contender in every.contenders if contender.policy != "doubler-bai")
    assert rivals and len(rivals) < len(every.contenders)
    without = by_name | {every.name: dataclasses.replace(every, contenders=rivals)}
    assert joint.searches(all_panels(runs=2, experiments=without.values())) == []


SETTINGS = {
    "two-dueling algorithms, K = 48, linear": {
        "UCB (MultiSBM-Feedback, MultiSBM, Doubler)": ["alpha = 3", "alpha = 1", "alpha = 0", "alpha = -1"],
        "DoublerBAI": [
            "as published", "LUCB radius t2", "LUCB radius delta", "LUCB epsilon 0.05", "LUCB epsilon 0.1", "keep_last",
            "reset = false", "reset = false, radius delta",
        ],
        "BTM": ["constant 1", "constant 1.44", "constant 3"],
    },
    "multi-dueling algorithms, panels (a)": {
        "MultiRUCB": ["our default", "alpha = 1.01", "priority = always"],
        "IndSelfSparring": ["our default", "eta = 0.1"],
        "MDB": ["our default", "alpha = 1.01", "alpha = 0.5", "cap = narrow"],
        "MultiSparring": [
            "our default", "credit = pairs", "credit = pairs, duplicates = skip", "credit = pairs, duplicates = coin",
        ],
    },
}  # fmt: skip
STATEMENTS = """
MultiSBM-Feedback below MultiSBM
MultiSBM-Feedback about half of MultiSBM
DoublerBAI below Doubler
MultiSBM-Feedback below IF2
MultiSBM-Feedback below BTM
MultiSBM-Feedback below SAVAGE
MultiSBM-Feedback below SCB
DoublerBAI below IF2
DoublerBAI below BTM
DoublerBAI below SAVAGE
DoublerBAI below SCB
MultiRUCB below IndSelfSparring (a)
MultiRUCB's variance below IndSelfSparring's (a)
MultiRUCB below MDB (a)
MultiRUCB's variance below MDB's (a)
MultiRUCB below MultiSparring (a)
MultiRUCB's variance below MultiSparring's (a)
MultiRUCB's variance near the published one (a)
IndSelfSparring's variance near the published one (a)
MDB's variance near the published one (a)
MultiSparring's variance near the published one (a)
"""


def test_what_is_searched_and_what_it_is_held_against():
    """All settings with one another, the default first; two runs decide nothing, so that every statement is undecided."""
    names = {"two-dueling-a", "reading-alpha-linear", "reading-doubler-bai", panels.MULTI[0], panels.MULTI_READINGS[0]}
    experiments = [experiment for experiment in panels.load_all() if experiment.name in names]
    searches = joint.searches(all_panels(runs=2, experiments=experiments))
    assert [(search.about, search.choices) for search in searches] == [(key, tuple(each)) for key, each in SETTINGS.items()]
    for search, choices in zip(searches, SETTINGS.values(), strict=True):
        assert [each.settings for each in search.ranked] == list(itertools.product(*choices.values()))
        assert search.default == search.ranked[0] and search.statements == len(search.default.undecided)
    assert [words for search in searches for words in search.default.undecided] == STATEMENTS.strip().split("\n")


def ends(**finals):
    """A panel of which only the regrets at the end are known."""
    lines = {id: SimpleNamespace(final=final, result=SimpleNamespace(runs=len(final))) for id, final in finals.items()}
    return SimpleNamespace(lines=list(lines.values()), line=lines.__getitem__)


def test_joint_settings_are_held_against_every_statement_by_the_runs_that_all_have():
    usual = 100.0 + np.tile([-1.0, 1.0], 15)
    equal = 100.0 + np.tile([-1.0, -1.0, 1.0, 1.0], 8)
    half = np.where(np.arange(30) < 20, 0.5 * usual, 1e4)  # the rival has no such runs, so that they do not count
    only = ends(rival=usual[:20], high=2.0 * usual, equal=equal, half=half)
    choices = {"X": {name: {"ours": {"p": ("p", name)}} for name in ("high", "equal", "half")}}
    statements = [
        joint.Statement("below", "p", "ours", "rival", claims.BELOW),
        joint.Statement("half of it", "p", "ours", "rival", claims.HALF),
        joint.Statement("its variance", "p", "ours", "", joint.NEAR, variance, 1.0),
    ]
    found = joint._search({"p": only}, "about", choices, {"rival": {"p": ("p", "rival")}}, statements)
    assert found.default.settings == ("high",) and found.statements == 3
    assert [(each.settings[0], each.agree, each.undecided, each.contradicted) for each in found.ranked] == [
        ("half", ("below", "half of it"), (), ("its variance",)),
        ("equal", ("its variance",), ("below",), ("half of it",)),
        ("high", (), (), ("below", "half of it", "its variance")),
    ]


@pytest.mark.parametrize(("ours", "wanted"), [(100.0, claims.BELOW), (40.0, claims.HALF), (60.0, claims.HALF)])
def test_what_is_at_a_limit_exactly_is_undecided(ours, wanted):
    only = ends(rival=np.full(20, 100.0), ours=np.full(20, ours))
    statement, fixed = joint.Statement("exactly", "p", "ours", "rival", wanted), {"rival": {"p": ("p", "rival")}}
    found = joint._search({"p": only}, "about", {"X": {"x": {"ours": {"p": ("p", "ours")}}}}, fixed, [statement])
    assert found.default.undecided == ("exactly",)


def comparisons(*pairs, runs=50):
    """Made of samples around these ratios, with this spread."""
    rng = np.random.default_rng(3)
    made = []
    for number, (value, spread) in enumerate(pairs):
        topic = verdicts.Topic(panel=f"p{number}", subject="a / b", where="w", short="w", what="x")
        ours, theirs = value * np.exp(spread * rng.standard_normal((2, runs))) / [[1.0], [value]]
        made.append(verdicts.comparison(topic, ratio(ours, theirs), claims.BELOW))
    return made


def test_outcomes_follow_the_tests_and_twenty_runs_are_needed():
    outcomes = [c.outcome for c in verdicts.decide(comparisons((0.5, 0.1), (2.0, 0.1), (1.02, 0.1)))]
    assert outcomes == [verdicts.HOLDS, verdicts.FAILS, verdicts.OPEN]
    assert {c.outcome for c in verdicts.decide(comparisons((0.5, 0.1), runs=19))} == {verdicts.OPEN}


def test_holm_makes_open_what_luck_would_make_hold():
    """Forty comparisons of equals: alone some would be significant, together hardly ever one."""
    equals = comparisons(*[(1.0, 0.3)] * 40)
    alone = [c for one in equals for c in verdicts.decide([one])]
    assert any(c.outcome != verdicts.OPEN for c in alone)
    assert all(c.outcome == verdicts.OPEN for c in verdicts.decide(equals))


def test_more_regret_than_the_leading_terms_refutes_no_theorem():
    usual = next(experiment for experiment in panels.load_all() if experiment.name == "two-dueling-a")
    by_name = {claim.name: claim for claim in claims.judge({usual.name: panel(usual, by_policy(multi_sbm_feedback=1e5))})}
    measured = by_name["theorem-2"].comparisons
    assert [(c.outcome, c.value > 1.0) for c in measured] == [(verdicts.OPEN, True)] * 2
    assert by_name["less"].verdict == verdicts.FAILS


def test_growth_is_reckoned_from_the_last_checkpoint_at_a_tenth_or_before():
    regret = np.array([[0.0, 3.0, 5.0, 8.0], [1.0, 1.0, 2.0, 2.0]])
    for marks, growth, since in (
        ([1, 10, 11, 100], [5.0, 1.0], 10),
        ([1, 9, 11, 100], [5.0, 1.0], 9),
        ([20, 30, 40, 50], [8.0, 1.0], 20),
    ):
        late, when = claims._late(SimpleNamespace(regret=regret, result=SimpleNamespace(checkpoints=np.array(marks))))
        assert late.tolist() == growth and when == since


def test_growth_over_a_theorems_coefficient(as_claimed):
    """The made-up regret is a multiple of ln (1 + t), so that its growth per ln T is known."""
    two = {experiment.name: panel(experiment, by_policy()) for experiment in panels.load_all() if experiment.name in panels.TWO}
    grown = [c for c in as_claimed["theorem-2"].comparisons if c.reading == "growth in the last decade to T = 10^6"]
    assert {c.panel for c in grown} == set(two)
    for c in grown:
        slope = claims.coefficient(two[c.panel], claims._theorem2)
        per_log = two[c.panel].line("multi-sbm-feedback").final.mean() / np.log(10**6)
        assert c.value == pytest.approx(per_log / slope, rel=1e-3)
        seven = claims.coefficient(two[c.panel], lambda P, experiment: SimpleNamespace(raw=7.0 * np.log(experiment.horizon)))
        assert seven == pytest.approx(7.0, rel=1e-4)


def test_single_runs_give_no_verdict():
    measured = judge(by_policy(), runs=1)
    assert measured["half"].verdict == verdicts.OPEN and measured["variance"].verdict == verdicts.OPEN
    assert all(c.low is None for c in measured["half"].comparisons)


def renamed(experiment, words):
    """The experiment under other titles and labels."""
    contenders = tuple(dataclasses.replace(contender, label=next(words)) for contender in experiment.contenders)
    return dataclasses.replace(experiment, title=next(words), short=next(words), contenders=contenders)


def test_titles_and_labels_decide_nothing():
    words = (f"{word} {number}: as published, @ m = 3" for number in itertools.count() for word in ("x", "(a) y", "z"))
    usual = by_policy(doubler_bai=100)  # so that verdicts of all kinds occur
    before = judge(usual)
    after = judge(usual, experiments=[renamed(experiment, words) for experiment in panels.load_all()])
    assert {claim.verdict for claim in before.values()} >= {verdicts.HOLDS, verdicts.FAILS, verdicts.OPEN, verdicts.VACUOUS}
    for name, claim in before.items():
        assert after[name].verdict == claim.verdict
        numbers = [(c.panel, c.subject, c.published, c.value, c.low, c.high, c.outcome) for c in claim.comparisons]
        assert numbers == [(c.panel, c.subject, c.published, c.value, c.low, c.high, c.outcome) for c in after[name].comparisons]


def test_a_contender_that_is_not_there_is_said_in_a_sentence():
    experiments = {experiment.name: experiment for experiment in panels.load_all()}
    first = experiments["two-dueling-a"]
    without = dataclasses.replace(first, contenders=tuple(c for c in first.contenders if c.id != "multi-sbm"))
    with pytest.raises(
        BadInput, match=r"'two-dueling-a' has no contender 'multi-sbm'\. Did you mean .* It has: multi-sbm-feedback,"
    ):
        claims.judge(all_panels(experiments=[without]))


def test_panels_that_were_not_played_are_left_out_and_change_no_other(as_claimed):
    assert [len(claim.comparisons) for claim in claims.judge({})] == [0] * len(as_claimed)
    alone = {name: [] for name in as_claimed}
    for name, only in all_panels(by_policy()).items():
        for claim in claims.judge({name: only}):
            alone[claim.name] += [measured(c) for c in claim.comparisons]
    for name, claim in as_claimed.items():
        assert sorted(alone[name]) == sorted(measured(c) for c in claim.comparisons if " / " not in c.panel)


def measured(comparison):
    """What it says, without its correction for others beside it."""
    return comparison.panel, comparison.subject, comparison.reading, comparison.value, comparison.note


def test_every_comparison_says_which_panel_and_which_contenders(as_claimed):
    known = {experiment.name: {c.id for c in experiment.contenders} for experiment in panels.load_all()}
    for comparison in itertools.chain.from_iterable(claim.comparisons for claim in as_claimed.values()):
        for name in comparison.panel.split(" / "):
            assert set(comparison.subject.split(" / ")) <= known[name]
