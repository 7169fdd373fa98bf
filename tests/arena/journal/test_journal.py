"""The journal: appends, refuses everything else, says "done" when it is durable, and notices what was altered."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import connect
from multiduel.arena.domain import events as log
from multiduel.arena.domain.errors import BrokenLog, NotFound, Unavailable
from multiduel.arena.domain.events import Event
from multiduel.arena.journal import ArenaRow, Secret, Snapshot, migrations
from multiduel.inputs import BadInput
from tests.arena.a_postgres import a_postgres, why_not
from tests.arena.conftest import new_database


def some_events(n: int, before: Event | None = None) -> list[Event]:
    events: list[Event] = []
    for k in range(n):
        last = events[-1] if events else before
        events.append(
            log.next_event(last, "opened", log.moment(datetime(2026, 1, 1, 0, 0, k, tzinfo=UTC)), {"é": [k, 0.1, None]})
        )
    return events


def begin(journal: Any, events: list[Event], arena: str = "a") -> None:
    with journal.transaction(arena, ArenaRow(arena, "name", None, "now")) as transaction:
        transaction.append(events)


def change_by_hand(db: str, statement: str) -> None:
    """As someone would who has the database and no scruples."""
    if db.startswith("postgresql"):
        import psycopg

        with psycopg.connect(db) as connection:
            connection.execute(statement)
    else:
        with closing(sqlite3.connect(db)) as connection:
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute(statement)
            connection.commit()


def test_events_come_back_as_they_went_in(db: str) -> None:
    journal = connect(db)
    events = some_events(3)
    begin(journal, events)
    assert journal.events("a") == events
    assert journal.events("a", since=1, limit=1) == events[1:2]
    assert list(journal.stream("a")) == events
    assert list(log.check_all(journal.stream("a"))) == events
    with journal.transaction("a") as transaction:
        assert transaction.since(2) == events[2:]
    assert [row.id for row in journal.arenas()] == ["a"]
    assert journal.find(id="b") is None
    with pytest.raises(NotFound, match="no arena 'b'"), journal.transaction("b"):
        pass
    journal.close()


def test_they_are_there_for_the_next_one_who_opens_it(db: str) -> None:
    journal = connect(db)
    begin(journal, some_events(2))
    journal.close()
    again = connect(db)
    assert len(again.events("a")) == 2
    again.close()


def test_a_transaction_that_fails_leaves_nothing(db: str) -> None:
    journal = connect(db)
    events = some_events(2)
    begin(journal, events[:1])
    with pytest.raises(ZeroDivisionError), journal.transaction("a") as transaction:
        transaction.put_content("x", b"x")
        transaction.append(events[1:])
        raise ZeroDivisionError
    assert journal.events("a") == events[:1]
    assert journal.get_content("a", "x") is None
    journal.close()


def test_a_number_is_taken_once(db: str) -> None:
    journal = connect(db)
    events = some_events(2)
    begin(journal, events)
    with pytest.raises(Unavailable), journal.transaction("a") as transaction:
        transaction.append(events[1:])
    assert journal.events("a") == events, "and the journal goes on after it"
    journal.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET body = '{}' WHERE number = 1",
        "DELETE FROM events WHERE number = 2",
        "DELETE FROM arenas",
        "UPDATE contents SET data = 'y'",
        "DELETE FROM contents",
    ],
)
def test_whoever_asks_nothing_is_changed_or_deleted(db: str, statement: str) -> None:
    journal = connect(db)
    events = some_events(2)
    begin(journal, events)
    with journal.transaction("a") as transaction:
        transaction.put_content("x", b"x")
    with pytest.raises(Exception, match=r"append-only|foreign key|FOREIGN KEY"):
        change_by_hand(db, statement)
    assert journal.events("a") == events
    assert journal.get_content("a", "x") == b"x"
    journal.close()


def test_sqlite_refuses_to_replace_and_to_leave_gaps(tmp_path: Path) -> None:
    journal = connect(tmp_path / "a.db")
    begin(journal, some_events(2))
    for number in (2, 4):
        with pytest.raises(sqlite3.IntegrityError, match="one after the other"):
            change_by_hand(
                str(tmp_path / "a.db"), f"INSERT OR REPLACE INTO events VALUES ('a', {number}, 'opened', 'now', '{{}}', 'hash')"
            )
    journal.close()


def test_sqlite_is_durable_when_it_says_done(tmp_path: Path) -> None:
    journal = connect(tmp_path / "a.db")
    assert journal.query("PRAGMA synchronous") == [(2,)], "FULL"  # type: ignore[attr-defined]
    assert journal.query("PRAGMA journal_mode") == [("wal",)]  # type: ignore[attr-defined]
    assert (tmp_path / "a.db").stat().st_mode & 0o077 == 0, "it holds key hashes"
    journal.close()


def test_sqlite_is_durable_whatever_it_was_built_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some builds of SQLite come with another default, which loses the last commits in a power cut."""
    honest = sqlite3.connect

    def careless(*words: Any, **more: Any) -> Any:
        connection = honest(*words, **more)
        connection.execute("PRAGMA synchronous=OFF")
        return connection

    monkeypatch.setattr(sqlite3, "connect", careless)
    journal = connect(tmp_path / "a.db")
    for _ in range(2):
        assert journal.query("PRAGMA synchronous") == [(2,)], "FULL"  # type: ignore[attr-defined]
        with pytest.raises(Unavailable):
            journal.query("SELECT nothing")  # type: ignore[attr-defined]  # the next one gets a new connection
    journal.close()


def test_postgresql_is_durable_whatever_its_default(postgres: Any) -> None:
    import psycopg

    from tests.arena.conftest import new_database

    url = new_database(postgres)
    with psycopg.connect(url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    with psycopg.connect(url) as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("off",), "so it is for others"
    journal = connect(url)
    begin(journal, some_events(1))
    for _ in range(2):
        assert journal.query("SHOW synchronous_commit") == [("on",)]  # type: ignore[attr-defined]
        with pytest.raises(Unavailable):
            journal.query("SELECT nothing")  # type: ignore[attr-defined]  # the next one gets a new connection
    with journal.transaction("a") as transaction:
        assert journal.run(transaction._connection, "SHOW synchronous_commit") == [("on",)]  # type: ignore[attr-defined]
    journal.close()


@pytest.mark.parametrize(("setting", "said"), [("fsync", "lose acknowledged votes"), ("full_page_writes", "never tears a page")])
def test_a_postgresql_that_loses_commits_in_a_power_cut_is_not_trusted(
    setting: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    if why_not():
        pytest.skip(why_not())
    import psycopg

    with a_postgres() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        server.crash()
        server.start()
        if setting == "fsync":
            with pytest.raises(Unavailable, match=said):
                connect(server.url)
        else:
            connect(server.url).close()
            assert said in caplog.text


def test_an_altered_event_is_noticed() -> None:
    events = some_events(3)
    for field, value in (("at", "2026"), ("kind", "paused"), ("text", "{}"), ("number", 7), ("hash", "0" * 64)):
        altered = [events[0], events[1]._replace(**{field: value}), events[2]]
        with pytest.raises(BrokenLog, match=r"Event 2"):
            list(log.check_all(altered))
    with pytest.raises(BrokenLog, match="Event 2: it is missing, the next one is 3"):
        list(log.check_all([events[0], events[2]]))
    assert list(log.check_all(events)) == events


def test_a_line_of_an_export_is_the_event() -> None:
    for event in some_events(2):
        assert log.from_line(log.to_line(event)) == event
    with pytest.raises(BrokenLog):
        log.from_line('{"number": 1}')


def test_snapshots_are_caches_torn_ones_are_ignored(db: str) -> None:
    journal = connect(db)
    events = some_events(2)
    begin(journal, events)
    assert journal.load_snapshot("a") is None
    snapshot = Snapshot(2, events[1].hash, "some", b"data")
    journal.save_snapshot("a", snapshot)
    assert journal.load_snapshot("a") == snapshot
    change_by_hand(db, "UPDATE snapshots SET data = 'torn'")
    assert journal.load_snapshot("a") is None
    journal.save_snapshot("a", snapshot._replace(hash="of another log"))
    assert journal.load_snapshot("a") is None
    journal.save_snapshot("a", snapshot)
    journal.drop_snapshots()
    assert journal.load_snapshot("a") is None
    journal.close()


def test_secrets_lie_apart_from_the_log(db: str) -> None:
    journal = connect(db)
    begin(journal, some_events(1))
    journal.secrets.put("a", Secret("owner", "key", "hash 1"))
    journal.secrets.put("a", Secret("owner", "key", "hash 2"))
    journal.secrets.put("a", Secret("rater", "r1", "hash 3"))
    assert journal.secrets.get("a", "owner") == [Secret("owner", "key", "hash 2")]
    assert journal.secrets.get("a", "rater", "r1") == [Secret("rater", "r1", "hash 3")]
    journal.secrets.remove("a", "rater", "r1")
    assert journal.secrets.get("a", "rater") == []
    assert journal.secrets.get("b", "owner") == []
    journal.close()


def test_who_locks_the_arena_is_waited_for(db: str) -> None:
    """Two at once would both append event 2."""
    journal = connect(db)
    events = some_events(3)
    begin(journal, events[:1])
    inside, order = threading.Event(), []

    def second() -> None:
        inside.wait(10)
        with journal.transaction("a") as transaction:
            order.append("second")
            assert len(transaction.since(0)) == 2
            transaction.append(events[2:])

    thread = threading.Thread(target=second)
    thread.start()
    with journal.transaction("a") as transaction:
        inside.set()
        thread.join(0.2)
        order.append("first")
        transaction.append(events[1:2])
    thread.join(10)
    assert order == ["first", "second"]
    assert journal.events("a") == events
    journal.close()


def test_a_newer_database_and_anothers_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.db"
    monkeypatch.setattr(migrations, "VERSION", 9)
    monkeypatch.setitem(migrations.MIGRATIONS, 9, ((), {"sqlite": ("CREATE TABLE later (x)",)}))
    connect(path).close()
    monkeypatch.undo()
    with pytest.raises(BadInput, match="version 9, made by a later multiduel"):
        connect(path)
    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("CREATE TABLE mine (x)").connection.commit()
    with pytest.raises(BadInput, match="another program's database"):
        connect(other)
    (tmp_path / "text.db").write_text("This is no database at all, but a text of some length. " * 20)
    with pytest.raises(BadInput, match="cannot be used as a journal"):
        connect(tmp_path / "text.db")
    with pytest.raises(BadInput, match="folder that exists"):
        connect(tmp_path / "nowhere" / "a.db")
    for bad in ("mysql://x", "", ":memory:"):
        with pytest.raises(BadInput):
            connect(bad)


def test_an_older_database_is_migrated_and_keeps_its_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.db"
    journal = connect(path)
    begin(journal, some_events(2))
    journal.close()
    later = migrations.VERSION + 1
    monkeypatch.setattr(migrations, "VERSION", later)
    monkeypatch.setitem(migrations.MIGRATIONS, later, (("CREATE TABLE more (x {integer})",), {"sqlite": ()}))
    again = connect(path)
    assert again.events("a") == some_events(2)
    assert again.query("SELECT * FROM more") == []  # type: ignore[attr-defined]
    again.close()


def test_a_database_that_cannot_be_reached_says_so(postgres: Any) -> None:
    with pytest.raises(Unavailable, match="cannot be"):
        connect("postgresql://arena@/postgres?host=/nowhere-at-all")


def test_many_threads_share_a_few_connections(db: str) -> None:
    """A server has more threads than a database gives connections."""
    from concurrent.futures import ThreadPoolExecutor

    from multiduel.arena.journal import sql

    journal = connect(db)
    events = some_events(3)
    begin(journal, events)
    with ThreadPoolExecutor(24) as pool:
        assert all(found == events for found in pool.map(lambda _: journal.events("a"), range(200)))
    assert 1 <= len(journal._free) <= sql.CONNECTIONS  # type: ignore[attr-defined]
    journal.close()


def test_postgresql_finds_keys_without_reading_the_arena(postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before its first ANALYZE too: with plans of its own choice, a vote among 128 raters once took 0.4 seconds."""
    import psycopg

    db = new_database(postgres)
    journal = connect(db)
    begin(journal, some_events(1))
    with psycopg.connect(db) as connection:
        for table in ("events", "event_keys"):
            connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
        connection.execute("INSERT INTO events SELECT 'a', n, 'vote', 'now', '{}', 'h' FROM generate_series(2, 8000) AS n")
        connection.execute("INSERT INTO event_keys SELECT hashint8extended(n, 0), n FROM generate_series(2, 8000) AS n")
    run, read = journal.run, []

    def explained(connection: Any, statement: str, parameters: Any) -> list[Any]:
        ((plan,),) = run(connection, f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
        todo = [plan[0]["Plan"]]
        while todo:
            node = todo.pop()
            read.append(node["Actual Rows"] * node["Actual Loops"])
            todo += node.get("Plans", [])
        return []

    monkeypatch.setattr(journal, "run", explained)
    with journal.borrowed() as connection:
        for _ in range(10):  # a prepared statement may get another plan after five times
            journal.page_and_about(connection, "a", 8000, [f"key {k}" for k in range(128)])
            journal.find_about(connection, "a", [f"key {k}" for k in range(128)], 8000)
    assert len(read) > 40
    assert max(read) < 200
    journal.close()


def test_a_connection_that_broke_is_replaced(postgres: Any) -> None:
    from tests.arena.conftest import new_database

    url = new_database(postgres)
    journal = connect(url)
    begin(journal, some_events(2))
    (database,) = journal.query("SELECT current_database()")  # type: ignore[attr-defined]
    import psycopg

    with psycopg.connect(postgres.url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", database)
    with pytest.raises(Unavailable):
        journal.events("a")
    assert len(journal.events("a")) == 2
    journal.close()
