"""Verdicts on numbers made up so that one knows what they must be."""

from __future__ import annotations

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from multiduel.engine.simulation.statistics import ratio, variance
from multiduel.inputs import BadInput
from multiduel.lab.paper import agreement, claims, interpretations, joint, panels, report, verdicts
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


def test_what_the_paper_says_reproduces_if_the_numbers_are_as_it_says(as_claimed):
    for name in ("less", "half", "constant", "doubler", "sbm-baselines", "doubler-bai-baselines", "best"):
        assert as_claimed[name].verdict == verdicts.REPRODUCES, as_claimed[name].why
    assert as_claimed["half"].line == "reproduces: in 6 of 6 panels"
    assert as_claimed["slate-size"].line == "inconclusive: as claimed in 0 of 2 panels"  # panels (a) and (b) got equal numbers
    assert as_claimed["slate-size"].further["other m, alpha = 1.01"].line.startswith("reproduces")
    assert as_claimed["theorem-1"].verdict == verdicts.NOT_INFORMATIVE
    growth = [c for c in as_claimed["theorem-2"].comparisons if c.further.startswith("growth")]
    assert growth and all(c.outcome == verdicts.REPRODUCES for c in growth)


def test_less_and_about_half_are_two_claims():
    measured = judge(by_policy(multi_sbm_feedback=80))
    assert measured["less"].line == "reproduces: in 6 of 6 panels"
    assert measured["half"].line == "does not reproduce: as claimed in 0 of 6 panels"


def test_variance_is_compared_as_variance():
    measured = judge(by_policy(ind_self_sparring=2000, mdb=2000, multi_sparring=2000))["variance"]
    assert measured.verdict == verdicts.REPRODUCES, measured.why
    assert all(c.value < 0.01 for c in measured.comparisons if c.default)  # (40 / 2000)^2, about


def test_a_claim_does_not_reproduce_if_nothing_is_as_it_says():
    measured = judge(by_policy(doubler_bai=500, multi_sbm_feedback=99))
    assert measured["doubler"].line == "does not reproduce: as claimed in 0 of 6 panels"
    assert measured["half"].verdict == verdicts.DOES_NOT
    assert measured["doubler"].why.startswith("DoublerBAI has 5.6 times Doubler's regret")


def test_an_interpretation_may_make_a_claim_reproduce_which_changes_nothing_at_our_defaults():
    usual = by_policy(doubler_bai=500)

    def level(contender):
        return 30.0 if contender.id in ("doubler-bai-radius-delta", "doubler-bai-epsilon-0-1") else usual(contender)

    measured = judge(level)["doubler"]
    assert measured.verdict == verdicts.DOES_NOT
    right, partly = (measured.interpretations[words] for words in (interpretations.RADIUS, "LUCB's epsilon = 0.1"))
    assert right.whole and right.line == "reproduces: in 6 of 6 panels"
    assert not partly.whole and partly.line == "partly tested: reproduces, as claimed in 1 of 1 played, 6 in all"
    assert measured.why.endswith(f"; it would with {interpretations.RADIUS} or with {interpretations.TWO_JOINT.words}.")
    words = report._turned(measured)
    assert words.startswith(f"Reproduces with: {interpretations.RADIUS}; ")
    assert "Partly tested, and as claimed there: LUCB's epsilon = 0.1 ((a))." in words


def test_one_rival_worsened_does_not_make_the_best_of_all():
    """MDB's alpha = 1.01 makes MultiRUCB better than MDB, and IndSelfSparring is four times better still."""
    usual = by_policy(ind_self_sparring=10, mdb=20)
    measured = judge(lambda contender: 60.0 if contender.id == "mdb-alpha-1-01" else usual(contender))["best"]
    assert measured.verdict == verdicts.DOES_NOT
    with_it = measured.interpretations["MDB's alpha = 1.01"]
    assert with_it.whole and with_it.verdict == verdicts.DOES_NOT
    assert "MDB's alpha = 1.01" not in report._turned(measured) and "it would" not in measured.why


def test_generated_rankers_never_count():
    experiments = [dataclasses.replace(e, problem=panels.STAND_IN) if panels.on_rankers(e) else e for e in panels.load_all()]
    levels = by_policy()

    def level(contender):
        return levels(contender)

    measured = {c.name: c for c in claims.judge(all_panels(level, experiments=experiments))}
    assert measured["half"].line == "reproduces: in 5 of 5 panels" and measured["best"].line == "reproduces: in 2 of 2 panels"
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
    name = panels.MULTI[1]
    by_name = {experiment.name: experiment for experiment in panels.load_all()}
    played = {
        name: panel(by_name[name], by_policy(), runs=3),
        f"joint-{name}": panel(by_name[f"joint-{name}"], lambda c: 7.0 * len(c.id), runs=2),
        panels.MULTI_VARIED[1]: panel(by_name[panels.MULTI_VARIED[1]], lambda c: 9.0 * len(c.id), runs=2),
    }
    rows = agreement.variances(played)
    lines = {(line.contender.policy, "our default"): line for line in played[name].lines}
    for other in (f"joint-{name}", panels.MULTI_VARIED[1]):
        for line in played[other].lines:
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


@pytest.mark.parametrize(("factor", "agree"), [(1.4, True), (1.6, False)])
def test_variances_agree_within_a_factor_of_one_and_a_half(only_panel_a, factor, agree):
    published, results = claims.PUBLISHED_VARIANCE["multi-dueling-a"], []
    for result in panel(only_panel_a).results:
        scale = np.sqrt(factor * published.get(result.policy, 1.0) / result.final.var(ddof=1))
        results.append(dataclasses.replace(result, regrets={kind: scale * values for kind, values in result.regrets.items()}))
    measured = dataclasses.replace(panel(only_panel_a), results=tuple(results))
    said = " ".join(block.text for block in report._nearest({only_panel_a.name: measured}) if hasattr(block, "text"))
    assert f"off by a factor of {factor} on average" in said
    assert ("no setting tried comes within a factor of 1.5" in said) is not agree


TWO_A = ("two-dueling-a", "joint-two-dueling-a", *panels.VARIED_IN["two-dueling-a"])
MULTI_A = (panels.MULTI[0], f"joint-{panels.MULTI[0]}", panels.MULTI_VARIED[0])


def test_the_joint_setting_that_agrees_best_is_found_and_what_is_left_is_said():
    """DoublerBAI is right with one radius only, BTM is beaten with constant 3 only, SAVAGE with none."""
    usual = by_policy(doubler_bai=500, btm=20, savage=10)
    special = {"doubler-bai-radius-delta": 30.0, "btm-constant-3": 210.0}
    two, multi = joint.searches(all_panels(lambda contender: special.get(contender.id, usual(contender))))
    default = joint.DEFAULT
    assert two.ranked[0].settings == (default, interpretations.RADIUS, interpretations.BTM_AS_IN_ITS_PAPER, default)
    assert two.ranked[0] == two.drawn, "it is the one that is drawn"
    assert two.ranked[0].contradicted == ("MultiSBM-Feedback below SAVAGE", "DoublerBAI below SAVAGE")
    assert len(two.ranked[0].agree) == two.statements - 2
    assert two.default.settings == (default,) * 4
    assert "DoublerBAI below Doubler" in two.default.contradicted and two.default.order > two.ranked[0].order
    assert len(two.ranked) == 4 * 8 * 3 * 2
    assert {"MultiRUCB below MDB (a)", "MultiRUCB below MDB (d)"} <= set(multi.default.agree)
    assert "MDB's variance near the published one (a)" in multi.default.contradicted
    said = report._is_drawn(dataclasses.replace(two, drawn=two.default))
    assert "agrees with" in said and report._is_drawn(two).strip() == "It is the joint interpretation in the figures."


def test_which_settings_are_searched_together():
    everything = all_panels(by_policy())
    _, multi = joint.searches(everything)
    assert multi.statements == 4 * (2 * 3 + 4), "of four panels: mean and variance against three rivals, four published variances"
    for place, policy in enumerate(claims.PUBLISHED_VARIANCE["multi-dueling-a"]):
        varied = [
            [*everything[f"joint-{name}"].experiment.contenders, *everything[other].experiment.contenders]
            for name, other in zip(panels.MULTI, panels.MULTI_VARIED, strict=True)
        ]
        tried = [{str(c.params) for c in contenders if c.policy == policy} for contenders in varied]
        assert len({each.settings[place] for each in multi.ranked}) == 1 + len(set.intersection(*tried))


def test_only_what_was_played_is_searched_and_never_generated_rankers():
    everything = all_panels(by_policy())
    assert joint.searches({}) == []
    two = {name: everything[name] for name in TWO_A}
    assert [search.about for search in joint.searches(two)] == ["the two-dueling algorithms on K = 48, linear"]
    name, *others = MULTI_A
    assert joint.searches({other: everything[other] for other in others}) == joint.searches({name: everything[name]}) == []
    (only,) = joint.searches({key: everything[key] for key in MULTI_A})
    assert only.about == "the multi-dueling algorithms on panels (a)"
    generated = [
        dataclasses.replace(everything[key].experiment, problem=panels.STAND_IN)
        for key in (panels.MULTI[2], panels.MULTI_VARIED[2])
    ]
    assert joint.searches(all_panels(experiments=generated)) == []


SETTINGS = {
    "the two-dueling algorithms on K = 48, linear": {
        "UCB in MultiSBM-Feedback, MultiSBM and Doubler": [
            "our default", "less exploration (UCB's alpha = 1)", "less exploration (UCB's alpha = 0)",
            "less exploration (UCB's alpha = -1)",
        ],
        "LUCB in DoublerBAI": [
            "our default", "t^2 for t^4 in LUCB's confidence radius", interpretations.RADIUS, "LUCB's epsilon = 0.05",
            "LUCB's epsilon = 0.1", "the last arm found kept until there is another", "LUCB's memory kept between epochs",
            "LUCB's memory kept between epochs and its radius of delta alone",
        ],
        "BTM": ["our default", "BTM's constant 1.44", interpretations.BTM_AS_IN_ITS_PAPER],
        "IF": ["our default", "IF1 for IF"],
    },
    "the multi-dueling algorithms on panels (a)": {
        "MultiRUCB": ["our default", "MultiRUCB's alpha = 1.01", "MultiRUCB's priority = always"],
        "IndSelfSparring": ["our default", "IndSelfSparring's learning rate eta = 0.1"],
        "MDB": ["our default", "MDB's alpha = 1.01", "MDB's alpha = 0.5", "MDB's cap = narrow"],
        "MultiSparring": [
            "our default", "MultiSparring's credit by pairs", "MultiSparring's credit by pairs without duplicates",
            "MultiSparring's credit by pairs with coins",
        ],
    },
}  # fmt: skip
STATEMENTS = """
MultiSBM-Feedback below MultiSBM
MultiSBM-Feedback about half of MultiSBM
DoublerBAI below Doubler
MultiSBM-Feedback below IF
MultiSBM-Feedback below BTM
MultiSBM-Feedback below SAVAGE
MultiSBM-Feedback below SCB
DoublerBAI below IF
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
    experiments = [experiment for experiment in panels.load_all() if experiment.name in {*TWO_A, *MULTI_A}]
    searches = joint.searches(all_panels(runs=2, experiments=experiments))
    assert [(search.about, search.choices) for search in searches] == [(key, tuple(each)) for key, each in SETTINGS.items()]
    for search, choices in zip(searches, SETTINGS.values(), strict=True):
        assert [each.settings for each in search.ranked] == list(itertools.product(*choices.values()))
        assert search.default == search.ranked[0] and search.statements == len(search.default.undecided)
        assert search.drawn in search.ranked and search.drawn != search.default
    assert [words for search in searches for words in search.default.undecided] == STATEMENTS.strip().split("\n")


def ended(final):
    """A line of which only the regrets at the end are known."""
    return SimpleNamespace(final=final, result=SimpleNamespace(runs=len(final)))


def test_joint_settings_are_held_against_every_statement_by_the_runs_that_all_have():
    usual = 100.0 + np.tile([-1.0, 1.0], 15)
    equal = 100.0 + np.tile([-1.0, -1.0, 1.0, 1.0], 8)
    half = np.where(np.arange(30) < 20, 0.5 * usual, 1e4)  # the rival has no such runs, so that they do not count
    lines = {"high": ended(2.0 * usual), "equal": ended(equal), "half": ended(half)}
    choices = {"X": {name: {("p", "ours"): line} for name, line in lines.items()}}
    statements = [
        joint.Statement("below", "p", "ours", "rival", claims.BELOW),
        joint.Statement("half of it", "p", "ours", "rival", claims.HALF),
        joint.Statement("its variance", "p", "ours", "", joint.NEAR, variance, 1.0),
    ]
    found = joint._search("about", choices, {("p", "rival"): ended(usual[:20])}, statements, ("equal",))
    assert found.default.settings == ("high",) and found.statements == 3 and found.drawn.settings == ("equal",)
    assert [(each.settings[0], each.agree, each.undecided, each.contradicted) for each in found.ranked] == [
        ("half", ("below", "half of it"), (), ("its variance",)),
        ("equal", ("its variance",), ("below",), ("half of it",)),
        ("high", (), (), ("below", "half of it", "its variance")),
    ]


@pytest.mark.parametrize(("ours", "wanted"), [(100.0, claims.BELOW), (40.0, claims.HALF), (60.0, claims.HALF)])
def test_what_is_at_a_limit_exactly_is_undecided(ours, wanted):
    statement, fixed = joint.Statement("exactly", "p", "ours", "rival", wanted), {("p", "rival"): ended(np.full(20, 100.0))}
    found = joint._search("about", {"X": {"x": {("p", "ours"): ended(np.full(20, ours))}}}, fixed, [statement])
    assert found.default.undecided == ("exactly",)


def comparisons(*pairs, runs=50):
    """Made of samples around these ratios, with this spread."""
    rng = np.random.default_rng(3)
    made = []
    for number, (value, spread) in enumerate(pairs):
        topic = verdicts.Topic(panel=f"p{number}", pair="a / b", where="w", short="w", what="x")
        ours, theirs = value * np.exp(spread * rng.standard_normal((2, runs))) / [[1.0], [value]]
        made.append(verdicts.comparison(topic, ratio(ours, theirs), claims.BELOW))
    return made


def test_outcomes_follow_the_tests_and_twenty_runs_are_needed():
    outcomes = [c.outcome for c in verdicts.decide(comparisons((0.5, 0.1), (2.0, 0.1), (1.02, 0.1)))]
    assert outcomes == [verdicts.REPRODUCES, verdicts.DOES_NOT, verdicts.INCONCLUSIVE]
    assert {c.outcome for c in verdicts.decide(comparisons((0.5, 0.1), runs=19))} == {verdicts.INCONCLUSIVE}


def test_holm_makes_open_what_luck_would_make_hold():
    """Forty comparisons of equals: alone some would be significant, together hardly ever one."""
    equals = comparisons(*[(1.0, 0.3)] * 40)
    alone = [c for one in equals for c in verdicts.decide([one])]
    assert any(c.outcome != verdicts.INCONCLUSIVE for c in alone)
    assert all(c.outcome == verdicts.INCONCLUSIVE for c in verdicts.decide(equals))


def test_more_regret_than_the_leading_terms_refutes_no_theorem():
    usual = next(experiment for experiment in panels.load_all() if experiment.name == "two-dueling-a")
    by_name = {claim.name: claim for claim in claims.judge({usual.name: panel(usual, by_policy(multi_sbm_feedback=1e5))})}
    measured = by_name["theorem-2"].comparisons
    assert [(c.outcome, c.value > 1.0) for c in measured] == [(verdicts.INCONCLUSIVE, True)] * 2
    assert by_name["less"].verdict == verdicts.DOES_NOT


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
    grown = [c for c in as_claimed["theorem-2"].comparisons if c.further == "growth in the last decade to T = 10^6"]
    assert {c.panel for c in grown} == set(two)
    for c in grown:
        slope = claims.coefficient(two[c.panel], claims._theorem2)
        per_log = two[c.panel].line("multi-sbm-feedback").final.mean() / np.log(10**6)
        assert c.value == pytest.approx(per_log / slope, rel=1e-3)
        seven = claims.coefficient(two[c.panel], lambda P, experiment: SimpleNamespace(raw=7.0 * np.log(experiment.horizon)))
        assert seven == pytest.approx(7.0, rel=1e-4)


def test_single_runs_give_no_verdict():
    measured = judge(by_policy(), runs=1)
    assert measured["half"].verdict == verdicts.INCONCLUSIVE and measured["variance"].verdict == verdicts.INCONCLUSIVE
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
    assert {claim.verdict for claim in before.values()} >= {
        verdicts.REPRODUCES,
        verdicts.DOES_NOT,
        verdicts.INCONCLUSIVE,
        verdicts.NOT_INFORMATIVE,
    }
    for name, claim in before.items():
        assert after[name].verdict == claim.verdict
        numbers = [(c.panel, c.subject, c.default, c.value, c.low, c.high, c.outcome) for c in claim.comparisons]
        assert numbers == [(c.panel, c.subject, c.default, c.value, c.low, c.high, c.outcome) for c in after[name].comparisons]


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
    everything = all_panels(by_policy())
    for name in everything:
        if name in (*panels.JOINT, *panels.INTERPRETATIONS) and name not in panels.MULTI_VARIED:
            continue  # they are held against the panel that they vary
        beside = (name, f"joint-{name}", *panels.VARIED_IN.get(name, ()))
        for claim in claims.judge({each: everything[each] for each in beside if each in everything}):
            alone[claim.name] += [measured(c) for c in claim.comparisons if c.panel == name]
    for name, claim in as_claimed.items():
        assert sorted(alone[name]) == sorted(measured(c) for c in claim.comparisons if " / " not in c.panel)


def measured(comparison):
    """What it says, without its correction for others beside it."""
    words = comparison.interpretation, comparison.further
    return comparison.panel, comparison.subject, *words, comparison.value, comparison.note


def test_every_comparison_says_which_panel_and_which_contenders(as_claimed):
    own = {experiment.name: {c.id for c in experiment.contenders} for experiment in panels.load_all()}
    beside = {name: (*panels.VARIED_IN.get(name, ()), f"joint-{name}") for name in own}
    known = {name: ids.union(*(own[other] for other in beside[name] if other in own)) for name, ids in own.items()}
    for comparison in itertools.chain.from_iterable(claim.comparisons for claim in as_claimed.values()):
        for name in comparison.panel.split(" / "):
            assert set(comparison.subject.split(" / ")) <= known[name]
