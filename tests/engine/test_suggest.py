"""Suggestions come from measurements."""

import pytest

import multiduel as md
from multiduel.engine.registry import POLICIES
from multiduel.engine.suggest import measured
from multiduel.policies import ALL


def test_the_suggestion_lost_least_in_its_setting():
    suggestion = md.suggest(n_arms=40, slate_size=8, assume="utilities")
    rows = [
        row
        for row in measured()["rows"]
        if (row["assumption"], row["n_arms"], row["horizon"]) == ("utilities", 48, 10**6)
        and POLICIES[row["policy"]].anytime
        and row["runs"] >= 5
    ]
    assert suggestion.policy == min(rows, key=lambda row: row["mean"])["policy"]
    assert suggestion.policy in str(suggestion) and len(suggestion.others) == 5


def test_two_seats_get_a_policy_measured_with_two():
    for assume in ("utilities", "condorcet", "copeland"):
        suggestion = md.suggest(n_arms=10, slate_size=2, assume=assume)
        assert "2 at once" in suggestion.why and POLICIES[suggestion.policy].anytime


def test_every_policy_was_measured():
    assert {row["policy"] for row in measured()["rows"]} == {spec.name for spec in ALL}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [({"n_arms": 0}, "n_arms"), ({"n_arms": 3, "slate_size": 1}, "slate_size"), ({"n_arms": 3, "assume": "x"}, "assume")],
)
def test_bad_arguments(arguments, says):
    with pytest.raises(md.BadInput, match=says):
        md.suggest(**arguments)
