"""Suggestions come from measurements, and say what was measured."""

import dataclasses
import re

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.registry import benchmark_results
from multiduel.engine.registry import suggest as module
from multiduel.engine.registry.registry import POLICIES
from multiduel.engine.registry.suggest import ASSUMPTIONS, measured
from multiduel.policies import ALL

ROWS = measured()["rows"]


def setting(assume, n_arms, seats):
    """The rows of the longest horizon at which at least half of the policies were measured."""
    rows = [row for row in ROWS if (row["assumption"], row["n_arms"]) == (assume, n_arms)]
    count = {end: len({row["policy"] for row in rows if row["horizon"] == end}) for end in {row["horizon"] for row in rows}}
    last = max(end for end, policies in count.items() if 2 * policies >= max(count.values()))
    rows = [row for row in rows if row["horizon"] == last]
    return [row for row in rows if row["slate_size"] in (2, seats) and POLICIES[row["policy"]].anytime]


@pytest.mark.parametrize("assume", ASSUMPTIONS)
def test_nothing_measured_in_its_setting_is_better_by_mean_and_by_the_worst_tenth(assume):
    suggestion = md.suggest(n_arms=36, slate_size=8, assume=assume)
    rows = setting(assume, 40, 8)
    rows = [row for row in rows if row["policy"] in {suggestion.policy, *(name for name, _ in suggestion.others)}]
    mine = [row for row in rows if row["policy"] == suggestion.policy]
    best = next(row for row in mine if f"mean regret {row['mean']:,.0f} " in suggestion.why)
    for row in rows:
        assert row["mean"] >= best["mean"] or row["worst_tenth"] >= best["worst_tenth"] or row["policy"] == best["policy"]
    assert suggestion.policy in str(suggestion) and 1 <= len(suggestion.others) <= 5
    assert "worst tenth" in suggestion.why and "ended with a wrong arm" in suggestion.why


def test_no_policy_is_named_that_asks_for_more_than_is_assumed():
    for n_arms in (8, 30):
        named = {}
        for assume in ASSUMPTIONS:
            suggestion = md.suggest(n_arms=n_arms, slate_size=8, horizon=10**4, assume=assume)
            named[assume] = {suggestion.policy, *(name for name, _ in suggestion.others)}
        assert not any("linear" in POLICIES[name].assumes for name in named["condorcet"] | named["copeland"])
        assert not any(POLICIES[name].assumes.startswith("a Condorcet winner") for name in named["copeland"])
        assert "ind-self-sparring" in named["utilities"]


def test_two_seats_get_a_policy_measured_with_two():
    for assume in ASSUMPTIONS:
        suggestion = md.suggest(n_arms=10, slate_size=2, assume=assume)
        assert "2 at once" in suggestion.why and POLICIES[suggestion.policy].anytime


def test_rows_are_those_of_the_benchmark():
    """Once by hand: the instances of 10 arms in both families of utilities."""
    shipped = benchmark_results.shipped()["due-duel"].rows
    arms = {name: family["arms"] for name, family in benchmark_results.shipped_suite()["families"].items()}
    both = [(name, shipped[name, 2, 10_000]) for name in ("utilities", "bradley-terry")]
    values = [row.regret[[k for k, K in enumerate(arms[name]) if K == 10]].mean(axis=1) for name, row in both]
    (row,) = [
        row
        for row in ROWS
        if (row["policy"], row["assumption"]) == ("due-duel", "utilities")
        and (row["n_arms"], row["slate_size"], row["horizon"]) == (10, 2, 10_000)
    ]
    assert row["instances"] == 10 and row["mean"] == pytest.approx(float(np.concatenate(values).mean()), rel=1e-5)
    assert row["runs"] == sum(5 * row.runs for _, row in both)


def test_every_row_has_enough_instances():
    assert all(row["instances"] >= module.FEWEST_INSTANCES and row["runs"] >= row["instances"] for row in ROWS)
    assert {row["assumption"] for row in ROWS} == set(ASSUMPTIONS)


def test_measurements_are_of_policies_that_exist_or_say_why_not():
    left_out = measured()["left_out"]
    assert all(row["seconds"] >= 0 for row in left_out)
    assert {row["policy"] for row in ROWS + left_out} | set(measured()["not_for_regret"]) <= {spec.name for spec in ALL}


@pytest.mark.parametrize(
    ("changed", "said"),
    [({}, True), ({"assumes": "a total order of the arms"}, False), ({"features": True}, False)],
    ids=["fits", "assumes-more", "wants-features"],
)
def test_suggest_names_what_was_not_measured(monkeypatch, changed, said):
    monkeypatch.setitem(POLICIES, "unheard-of", dataclasses.replace(POLICIES["uniform"], name="unheard-of", **changed))
    suggestion = md.suggest(n_arms=10)
    assert bool(re.search(r"Not measured: [^.]*\bunheard-of\b", suggestion.why)) == said
    assert "unheard-of" not in {suggestion.policy, *(name for name, _ in suggestion.others)}


def test_a_policy_that_wants_features_is_never_named_without_them():
    wanting = {spec.name for spec in ALL if spec.features}
    assert "kernel-self-sparring" in wanting
    for assume in ASSUMPTIONS:
        for n_arms in (3, 8, 30):
            suggestion = md.suggest(n_arms=n_arms, slate_size=4, horizon=10**4, assume=assume)
            assert not wanting & {suggestion.policy, *(name for name, _ in suggestion.others)}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"n_arms": 0}, "n_arms"),
        ({"n_arms": 3, "slate_size": 1}, "slate_size"),
        ({"n_arms": 3, "assume": "x"}, "assume"),
        ({"n_arms": 10**19}, "'n_arms' of 'suggest' must be at most 10,000. Got 10000000000000000000."),
        ({"n_arms": 3, "slate_size": 10**400}, "'slate_size' of 'suggest' must be at most 10,000."),
        ({"n_arms": 3, "horizon": 10**19}, "'horizon' of 'suggest' must be at most"),
    ],
)
def test_bad_arguments(arguments, says):
    with pytest.raises(md.BadInput, match=says):
        md.suggest(**arguments)


def row(policy, mean, worst_tenth, *, horizon=10**4, slate_size=2, wrong=0.0, n_arms=10):
    facts = {"policy": policy, "mean": mean, "worst_tenth": worst_tenth, "error": 10.0, "wrong": wrong}
    place = {"assumption": "utilities", "n_arms": n_arms, "horizon": horizon, "slate_size": slate_size}
    return facts | place | {"instances": 20, "runs": 400}


@pytest.fixture
def ask(monkeypatch):
    """A suggestion from rows that are made up."""

    def ask(rows, **setting):
        everybody = [{"policy": name} for name in POLICIES]
        monkeypatch.setattr(module, "measured", lambda: {"rows": rows, "left_out": everybody, "not_for_regret": []})
        return md.suggest(assume="utilities", **{"n_arms": 10} | setting)

    return ask


MADE_UP = [
    row("uniform", 9000.0, 9500.0),
    row("rucb", 300.0, 700.0, wrong=0.025),
    row("due-duel", 200.0, 250.0),
    row("due-duel", 190.0, 270.0, slate_size=4),
    row("multi-rucb", 310.0, 420.0, slate_size=4),
    row("multi-rucb", 320.0, 430.0),
    row("scb", 800.0, 990.0),
    row("ccb", 810.0, 995.0),
    row("mdb", 820.0, 996.0),
    row("no-longer-there", 1.0, 1.0),
    row("if1", 100.0, 110.0),
]


def test_the_least_sum_of_ranks_wins_and_each_other_policy_is_named_once_five_at_most(ask):
    choice = ask(MADE_UP, slate_size=4)
    assert choice.policy == "due-duel"  # ranks 1 + 0, against 0 + 1 of its own with four: in ties the mean decides
    assert choice.others == (("multi-rucb", 310.0), ("rucb", 300.0), ("scb", 800.0), ("ccb", 810.0), ("mdb", 820.0))
    assert choice.why == (
        "measured where it is most like yours (options with hidden qualities; 10 arms, 4 at once, 10,000 rounds; 20 instances, "
        "400 runs): mean regret 190 (±20), worst tenth 270, no run ended with a wrong arm. Next is multi-rucb: mean regret 310 "
        f"(±20), worst tenth 420, no run ended with a wrong arm. {POLICIES['due-duel'].use}"
    )


def test_two_at_once_if_nothing_is_said_and_the_share_of_wrong_runs_is_told(ask):
    choice = ask(MADE_UP)
    assert "10 arms, 2 at once" in choice.why and "mean regret 200 " in choice.why
    assert "Next is multi-rucb" in choice.why or "Next is rucb" in choice.why
    assert "worst tenth 700, 2.5 % of the runs ended with a wrong arm" in ask(MADE_UP[:2]).why


def test_who_must_know_the_horizon_is_named_only_if_it_is_known(ask):
    assert ask(MADE_UP, horizon=10**4).policy == "if1" and "if1" not in str(ask(MADE_UP))


def test_a_policy_without_a_rival_is_named_without_one(ask):
    choice = ask([row("rucb", 300.0, 700.0), row("rucb", 310.0, 710.0, slate_size=4)], slate_size=4)
    assert choice.policy == "rucb" and choice.others == () and "Next is" not in choice.why


def test_a_horizon_that_is_not_known_is_a_million_and_the_nearest_is_by_ratio(ask):
    rows = [row("rucb", 300.0, 700.0, horizon=10**power) for power in (4, 6, 7)]
    few = [row(name, 300.0, 700.0) for name in ("ws-s", "ws-w")] + [row("rucb", 1.0, 1.0, horizon=10**6)]
    assert "10,000 rounds" in ask([*few, row("rucb", 9.0, 9.0)]).why, "a horizon with a third of the policies says little"
    assert "1,000,000 rounds" in ask(rows).why and "10,000,000 rounds" in ask(rows, horizon=10**9).why
    assert "10,000 rounds" in ask(rows, horizon=1).why, "one round is few, but may be asked for"
    two = [row("rucb", 300.0, 700.0, n_arms=1), row("rucb", 300.0, 700.0, n_arms=4)]
    assert "; 4 arms," in ask(two, n_arms=2).why, "in a tie, the larger"
    assert "; 1 arms," in ask(two, n_arms=1).why


def test_options_with_features_that_change_get_a_policy_that_takes_them():
    for n_arms, m, d in ((8, 2, 4), (30, 4, 12), (200, 2, 30)):
        suggestion = md.suggest(n_arms=n_arms, slate_size=m, dimension=d)
        names = [suggestion.policy, *(name for name, _ in suggestion.others)]
        assert all(POLICIES[name].contextual for name in names) and len(set(names)) == len(names)
        rows = [row for row in module.measured_contexts() if f"mean regret {row['mean']:,.0f} " in suggestion.why]
        assert rows[0]["policy"] == suggestion.policy and f"{rows[0]['runs']} runs" in suggestion.why
        assert all(mean >= rows[0]["mean"] for _, mean in suggestion.others)
    with pytest.raises(md.BadInput, match="left out"):
        md.suggest(n_arms=8, dimension=4, assume="copeland")
