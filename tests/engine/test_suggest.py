"""Suggestions come from measurements, and say what was measured."""

import pytest
from suggestions import NOT_FOR_REGRET  # of benchmarks/

import multiduel as md
from multiduel.engine.registry import POLICIES
from multiduel.engine.suggest import ASSUMPTIONS, measured
from multiduel.policies import ALL

ROWS = measured()["rows"]


def setting(assume, n_arms, horizon, seats):
    rows = [row for row in ROWS if (row["assumption"], row["n_arms"], row["horizon"]) == (assume, n_arms, horizon)]
    return [row for row in rows if row["slate_size"] in (2, seats) and POLICIES[row["policy"]].anytime]


@pytest.mark.parametrize("assume", ASSUMPTIONS)
def test_nothing_measured_in_its_setting_is_better_by_mean_and_by_the_worst_tenth(assume):
    suggestion = md.suggest(n_arms=28, slate_size=8, assume=assume)
    rows = setting(assume, 30, 10**4 if assume == "copeland" else 10**6, 8)
    rows = [row for row in rows if row["policy"] in {suggestion.policy, *(name for name, _ in suggestion.others)}]
    best = min((row for row in rows if row["policy"] == suggestion.policy), key=lambda row: row["mean"])
    for row in rows:
        assert row["mean"] >= best["mean"] or row["worst_tenth"] >= best["worst_tenth"] or row["policy"] == best["policy"]
    assert suggestion.policy in str(suggestion) and 1 <= len(suggestion.others) <= 5
    assert f"mean regret {best['mean']:,.0f}" in suggestion.why and "worst tenth" in suggestion.why
    assert "ended with a wrong arm" in suggestion.why and "quantile" not in suggestion.why


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


def test_every_row_is_20_instances_of_20_runs():
    assert all(row["instances"] == 20 and row["runs"] == 400 for row in ROWS)
    assert {row["assumption"] for row in ROWS} == set(ASSUMPTIONS)


def test_every_policy_was_measured_or_is_left_out_with_a_reason():
    left_out = measured()["left_out"]
    assert all(("seconds" in row) != ("times_behind" in row) for row in left_out)
    assert {row["policy"] for row in ROWS + left_out} == {spec.name for spec in ALL if not spec.features} - set(NOT_FOR_REGRET)


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
