"""A database that goes back in time beneath a running server: noticed, said, and nothing is acknowledged on top of it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import Ask, RolledBack, Service, Unavailable, Vote, connect
from multiduel.arena.files.verify import verify
from tests.arena.a_postgres import why_not
from tests.arena.backups import Backups, SqliteBackups, backups_of
from tests.arena.calling import Caller
from tests.arena.play import an_arena, running

LOST = "The database has lost events: event"


@pytest.fixture(params=["sqlite", "postgres"])
def backups(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backups]:
    if request.param == "postgres" and why_not():
        pytest.skip(why_not())
    with backups_of(request.param, tmp_path) as some:
        yield some


def insistent(call: Callable[[], Any]) -> Any:
    """As a client does: what was cut off by the database's end is sent again."""
    for _ in range(20):
        try:
            return call()
        except RolledBack:
            raise
        except Unavailable:
            continue
    return call()


def vote(service: Service, arena: str, rater: str, times: int, name: str) -> list[int]:
    """Numbers of the events that were acknowledged."""
    numbers = []
    for k in range(times):
        ticket = insistent(lambda k=k: service.do(Ask(arena, rater, f"{name} {k}")))
        numbers.append(insistent(lambda ticket=ticket: service.do(Vote(ticket.id, {"rank": [[0], [1], [2]]}))).event)
    return numbers


def test_a_lagging_copy_that_takes_over_is_noticed(backups: Backups, caplog: pytest.LogCaptureFixture) -> None:
    with running(backups.db) as service:
        arena, (ada, _) = an_arena(service)
        other, (bob, _) = an_arena(service)
        vote(service, arena, ada, 3, "before")
        vote(service, other, bob, 3, "before")
        backups.keep("older")
        acknowledged = vote(service, arena, ada, 5, "lost")[-1]
        backups.put_back("older")
        with caplog.at_level(logging.CRITICAL, "multiduel.arena"):
            for call in (
                lambda: vote(service, arena, ada, 1, "after"),
                lambda: service.board(arena),
                lambda: service.events(arena),
                lambda: vote(service, arena, ada, 1, "after"),
            ):
                with pytest.raises(RolledBack, match=f"{LOST} {acknowledged} of arena '{arena}' was acknowledged"):
                    insistent(call)
        assert [record.levelname for record in caplog.records] == ["CRITICAL"], "said once"
        assert vote(service, other, bob, 2, "after"), "arenas that lost nothing go on"
    with running(backups.db) as service:
        kept = service.events(arena)
        assert len(kept) < acknowledged, "nothing was appended to what is left"
        assert vote(service, arena, ada, 2, "again")[0] > len(kept), "who starts it anew has decided to go on"
        assert verify(service.journal, arena).good


def test_another_log_of_the_same_length_is_noticed(backups: Backups) -> None:
    with running(backups.db) as service:
        arena, (ada, _) = an_arena(service)
        vote(service, arena, ada, 1, "before")
        backups.keep("older")
        vote(service, arena, ada, 2, "lost")
        number = len(service.events(arena))
        backups.put_back("older")
        with running(backups.db) as another:
            vote(another, arena, ada, 2, "in its place")
            assert len(another.events(arena)) == number
        with pytest.raises(RolledBack, match="another event has its number"):
            insistent(lambda: service.board(arena))
        with pytest.raises(RolledBack, match="another event has its number"):
            vote(service, arena, ada, 1, "after")


def test_an_emptied_database_is_noticed(backups: Backups) -> None:
    backups.keep("empty")
    with running(backups.db) as service:
        arena, (ada, _) = an_arena(service)
        vote(service, arena, ada, 1, "before")
        backups.put_back("empty")
        for call in (lambda: vote(service, arena, ada, 1, "after"), lambda: service.board(arena)):
            with pytest.raises(RolledBack, match=r"the whole arena is missing|the log is empty"):
                insistent(call)


def test_what_is_lost_is_noticed_though_the_state_was_forgotten(backups: Backups) -> None:
    """By a failure, or because other arenas needed the room: it is folded anew, from a log that is shorter now."""
    with running(backups.db) as service:
        arena, (ada, _) = an_arena(service)
        backups.keep("older")
        vote(service, arena, ada, 2, "lost")
        backups.put_back("older")
        service._live.clear()
        with pytest.raises(RolledBack, match=LOST):
            vote(service, arena, ada, 1, "after")


def test_a_file_that_is_gone_or_has_no_tables_is_said(tmp_path: Path) -> None:
    backups = SqliteBackups(tmp_path)
    with running(backups.db) as service:
        arena, (ada, _) = an_arena(service)
        (tmp_path / "nothing").touch()
        backups.put_back("nothing")
        with pytest.raises(Unavailable, match="was emptied"):
            vote(service, arena, ada, 1, "after")
        os.unlink(backups.db)
        with pytest.raises(Unavailable, match="is gone"):
            vote(service, arena, ada, 1, "after")
        assert not os.path.exists(backups.db)


def test_a_file_replaced_during_a_transaction_acknowledges_nothing(tmp_path: Path) -> None:
    backups = SqliteBackups(tmp_path)
    with running(backups.db) as service:
        arena, (ada, _) = an_arena(service)
        backups.keep("same")
        with pytest.raises(Unavailable, match="replaced"), service.journal.transaction(arena) as transaction:
            transaction.put_content("x", b"x")
            backups.put_back("same")
        assert vote(service, arena, ada, 1, "after"), "it holds the same events: all is well"


def test_postgresql_refuses_gaps_and_numbers_that_were_passed(postgres: Any) -> None:
    import psycopg

    from tests.arena.conftest import new_database

    url = new_database(postgres)
    with running(url) as service:
        arena, _ = an_arena(service)
        number = len(service.events(arena))
    for wrong in (number + 2, 0, -1):
        with pytest.raises(psycopg.errors.RaiseException, match="one after the other"), psycopg.connect(url) as connection:
            connection.execute("INSERT INTO events VALUES (%s, %s, 'opened', 'now', '{}', 'hash')", (arena, wrong))


def test_a_postgresql_of_the_first_version_gets_its_trigger(postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    from multiduel.arena.journal import migrations
    from tests.arena.conftest import new_database

    url = new_database(postgres)
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "VERSION", 3)  # another came first: the numbers of what was done have a gap
        patched.setattr(migrations, "MIGRATIONS", {1: migrations.MIGRATIONS[1], 3: ((), {"postgres": ()})})
        with running(url) as service:
            arena, _ = an_arena(service)
        patched.setattr(migrations, "MIGRATIONS", {3: ((), {"postgres": ()})})
        connect(url).close()
    monkeypatch.setattr(migrations, "VERSION", max(3, migrations.VERSION))
    connect(url).close()
    with pytest.raises(psycopg.errors.RaiseException, match="one after the other"), psycopg.connect(url) as connection:
        connection.execute("INSERT INTO events VALUES (%s, 99, 'opened', 'now', '{}', 'hash')", (arena,))


def test_raters_and_owners_are_told_over_http(tmp_path: Path) -> None:
    backups = SqliteBackups(tmp_path)
    call = Caller(tmp_path)
    try:
        arena, owner = call.arena(slate_size=3)
        rater = call.rater(arena, owner, "Ada")
        backups.keep("older")
        ticket = call.ask(arena, rater)
        backups.put_back("older")
        for answer in (
            call("PUT", f"/tickets/{ticket['ticket']}/vote", {"rank": [0, 1, 2]}, key=rater),
            call("GET", f"/arenas/{arena}/board", key=owner),
            call("GET", f"/own/{arena}/board", headers={"Authorization": f"Bearer {owner}"}),
        ):
            assert answer.status_code == 503 and LOST in answer.text, answer.text
    finally:
        call.close()
