"""The server killed, its disk filled, while raters vote: short versions; ``make torture`` has the long ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.arena.a_postgres import a_postgres, why_not
from tests.arena.torture import faults
from tests.arena.torture.full_disk import a_small_disk, fill
from tests.arena.torture.going_back import go_back
from tests.arena.torture.jumping import jump
from tests.arena.torture.killing import torture
from tests.arena.torture.pausing import pause

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


def test_faults_by_plan_lose_nothing_and_count_nothing_twice(db: str) -> None:
    """Some operations of a short session on the database; ``make torture`` has all."""
    outcome = faults.run_faults(db, votes=3, every=16)
    assert not outcome.problems, outcome
    assert {"SELECT", "COMMIT", "ROLLBACK"} <= set(outcome.failed), outcome
    inserts = faults.run_faults(db, votes=3, every=5, only="INSERT")
    assert not inserts.problems and inserts.failed["INSERT"] >= 3, inserts


def test_the_answer_to_every_commit_is_lost_once(db: str) -> None:
    outcome = faults.run_faults(db, votes=3, how=("after",), only="COMMIT")
    assert not outcome.problems, outcome
    assert set(outcome.failed) == {"COMMIT"} and outcome.failed["COMMIT"] >= 10, outcome


@pytest.mark.parametrize("sabotage", sorted(faults.SABOTAGED))
def test_faults_by_plan_find_out_a_service_that_breaks_a_promise(tmp_path: Path, sabotage: str) -> None:
    how, found = faults.SABOTAGED[sabotage]
    with how():
        outcome = faults.run_faults(str(tmp_path / "arena.db"), votes=3, only="COMMIT", most_problems=40)
    assert any(found in problem for problem in outcome.problems), outcome


def test_a_clock_that_jumps_is_said_and_costs_nothing(tmp_path: Path) -> None:
    problems, happened = jump(tmp_path, votes=15, jumps=(3650 * 86_400, 0))
    assert not problems and happened["marked"] == 1, (problems, happened)


def test_a_server_that_ignores_a_jump_back_is_found_out(tmp_path: Path) -> None:
    problems, _ = jump(tmp_path, votes=15, jumps=(3650 * 86_400, 0), sabotage="dates-no-event-before-the-last")
    assert any("the dates are not" in problem for problem in problems), problems


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_a_server_that_pauses_with_the_lock_is_taken_over() -> None:
    with a_postgres() as postgres:
        problems, happened = pause(postgres.url, pauses=1, votes=20)
    assert not problems and happened["pauses"] == 1, (problems, happened)


def test_a_database_that_goes_back_is_said_and_nothing_is_acknowledged_on_it(tmp_path: Path) -> None:
    problems, happened = go_back("sqlite", tmp_path, votes=30, patience=3.0)
    assert not problems and happened["lost"] >= 20, (problems, happened)


def test_a_server_that_ignores_that_its_database_went_back_is_found_out(tmp_path: Path) -> None:
    problems, _ = go_back("sqlite", tmp_path, votes=30, patience=3.0, sabotage="ignores-that-the-database-went-back")
    assert any("raters were not told what happened" in problem for problem in problems), problems
