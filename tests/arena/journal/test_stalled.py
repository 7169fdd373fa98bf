"""A process that stalls while it holds the lock: taken over on PostgreSQL, said on SQLite; never an acknowledgement too much."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import Service, Unavailable, Vote, connect
from multiduel.arena.files.verify import verify
from multiduel.arena.journal import postgres as on_postgres
from tests.arena.conftest import new_database
from tests.arena.play import an_arena, running, ticket_for

ROOT = Path(__file__).resolve().parents[3]
FIRST = {"rank": [[0], [1], [2]]}


@contextmanager
def stopped_inside(db: str, ticket: str) -> Iterator[subprocess.Popen[str]]:
    """A process that was stopped while its vote on this ticket is being decided."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "tests.arena.holder", db, ticket]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "inside\n"
        process.send_signal(signal.SIGSTOP)
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


def go_on(process: subprocess.Popen[str]) -> list[str]:
    process.send_signal(signal.SIGCONT)
    return process.communicate("\n", timeout=120)[0].splitlines()


def votes_of(service: Service, arena: str) -> list[Any]:
    return [event.body["ticket"] for event in service.events(arena) if event.kind == "vote"]


def test_a_stopped_process_on_postgresql_is_taken_over(postgres: Any) -> None:
    db = new_database(postgres)
    with running(db) as service:
        arena, (ada, bob) = an_arena(service)
        mine, other = ticket_for(service, arena, ada, "mine"), ticket_for(service, arena, bob, "other")
        with stopped_inside(db, other.id) as process:
            receipt = service.do(Vote(mine.id, FIRST), 120)  # it was 300 seconds once
            assert votes_of(service, arena) == [mine.id]
            said = go_on(process)
        assert said[0].startswith("Unavailable"), said
        assert said[1] == f"acknowledged {receipt.event + 1}", "folded anew, and done again"
        assert votes_of(service, arena) == [mine.id, other.id]
        assert verify(service.journal, arena).good


def test_a_process_that_thinks_for_long_is_not_cut_off(postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an import of many votes does, which is decided in one transaction."""
    monkeypatch.setitem(on_postgres.SETTINGS, "idle_in_transaction_session_timeout", "1s")
    monkeypatch.setattr(on_postgres, "BEAT", 0.2)
    with running(new_database(postgres)) as service:
        arena, _ = an_arena(service)
        with service.journal.transaction(arena) as transaction:
            time.sleep(2.5)
            transaction.put_content("x", b"x")
        assert service.journal.get_content(arena, "x") == b"x"
        monkeypatch.setattr(on_postgres.Pulse, "_beat", lambda pulse: None)
        silent = connect(service.journal.url)  # type: ignore[attr-defined]
        with pytest.raises(Unavailable), silent.transaction(arena) as transaction:
            time.sleep(2.5)
            transaction.put_content("y", b"y")
        silent.close()


def test_after_a_transaction_nothing_is_said_on_its_connection(postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word after the commit would begin a transaction that nobody ends, and the connection would be cut off."""
    monkeypatch.setattr(on_postgres, "BEAT", 0.001)
    with running(new_database(postgres)) as service:
        arena, _ = an_arena(service)
        for k in range(200):
            with service.journal.transaction(arena) as transaction:
                transaction.put_content(f"{k}", b"x")
        idle = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%%'"
        assert service.journal.query(idle) == [(0,)]  # type: ignore[attr-defined]


def test_limits_of_seconds_hold_on_every_connection(postgres: Any) -> None:
    journal = connect(new_database(postgres))
    for name in ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"):
        ((limit,),) = journal.query(f"SHOW {name}")  # type: ignore[attr-defined]
        assert limit.endswith("s") and 1 <= int(limit[:-1]) <= 30, (name, limit)
    journal.close()


def test_a_stopped_process_on_sqlite_costs_a_refusal_and_nothing_else(tmp_path: Path) -> None:
    """SQLite cannot take a lock over. Reads go on, writes are refused after seconds, and the holder goes on when it can."""
    db = str(tmp_path / "arena.db")
    with running(db) as service:
        arena, (ada, bob) = an_arena(service)
        second, (eve, _) = an_arena(service)
        mine, other = ticket_for(service, arena, ada, "mine"), ticket_for(service, arena, bob, "other")
        third = ticket_for(service, second, eve, "third")
        with stopped_inside(db, other.id) as process:
            waiting = [service.submit(Vote(ticket.id, FIRST)) for ticket in (mine, third)]
            for future in waiting:
                with pytest.raises(Unavailable, match="locked"):
                    future.result(60)
            assert service.board(arena).answers == 0, "who only looks is not held up"
            said = go_on(process)
        assert [line.split()[0] for line in said] == ["acknowledged", "acknowledged"] and len(set(said)) == 1, said
        assert service.do(Vote(mine.id, FIRST)).counted == service.do(Vote(third.id, FIRST)).counted == "counted"
        assert votes_of(service, arena) == [other.id, mine.id]
