"""The server killed, its disk filled, while raters vote: short versions; ``make torture`` has the long ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.arena.a_postgres import a_postgres, why_not
from tests.arena.torture.full_disk import a_small_disk, fill
from tests.arena.torture.killing import torture

pytestmark = pytest.mark.xdist_group("torture")  # one after the other: they need the machine


def test_kill_9_loses_nothing_and_counts_nothing_twice(tmp_path: Path) -> None:
    outcome = torture(str(tmp_path / "arena.db"), kills=3, votes_between=60)
    assert not outcome.problems, outcome
    assert outcome.kills == 3 and outcome.undos and outcome.resent, outcome


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_kill_9_of_workers_on_postgresql(tmp_path: Path) -> None:
    with a_postgres() as postgres:
        outcome = torture(postgres.url, kills=2, votes_between=60, workers=2)
    assert not outcome.problems, outcome


@pytest.mark.parametrize(
    ("sabotage", "kills", "found"),
    [
        ("acknowledges-before-it-commits", 2, "acknowledged votes are lost"),
        ("counts-a-retry-twice", 0, "votes were counted twice"),
        ("forgets-an-undo", 0, "the live board differs from the replay in answers"),
    ],
)
def test_a_server_that_breaks_a_promise_is_found_out(tmp_path: Path, sabotage: str, kills: int, found: str) -> None:
    outcome = torture(str(tmp_path / "arena.db"), kills=kills, votes_between=120, sabotage=sabotage)
    assert any(found in problem for problem in outcome.problems), outcome


def test_a_run_that_proves_nothing_has_failed(tmp_path: Path) -> None:
    outcome = torture(str(tmp_path / "arena.db"), kills=0, votes_between=10, least_votes=100_000)
    assert [problem.split(":")[0] for problem in outcome.problems] == [
        "too few votes to prove anything",
        "no request was cut in flight",
    ], outcome


def test_a_full_disk_is_said_and_costs_nothing(tmp_path: Path) -> None:
    """A small disk where one may be mounted; elsewhere a limit on the server's files."""
    with a_small_disk(tmp_path / "disk") as enlarge:
        problems, happened = fill(tmp_path / "disk", enlarge)
    assert not problems, problems
    assert happened["when_full"] >= 10 and happened["after"] >= 50, happened
