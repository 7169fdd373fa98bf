"""Backups: consistent while votes come in, whole or absent, and the arena goes on from one."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from multiduel.arena import Service, Vote, connect
from multiduel.arena.files.verify import verify
from multiduel.cli import app
from tests.arena.a_postgres import a_postgres, why_not
from tests.arena.play import an_arena, running, ticket_for


class Load:
    """Votes without a pause, until it is left. ``acknowledged`` are the numbers of their events."""

    def __init__(self, service: Service, arena: str, rater: str) -> None:
        self._service, self._arena, self._rater = service, arena, rater
        self.acknowledged: list[int] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._vote)

    def _vote(self) -> None:
        ticket = ticket_for(self._service, self._arena, self._rater, "first")
        while not self._stop.is_set():
            receipt = self._service.do(Vote(ticket.id, {"rank": [0, 1, 2]}, next=True))
            self.acknowledged.append(receipt.event)
            ticket = receipt.next

    def __enter__(self) -> Load:
        self._thread.start()
        while len(self.acknowledged) < 20:
            assert self._thread.is_alive()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def backup(db: str, out: Path) -> str:
    done = CliRunner().invoke(app, ["arena", "backup", str(out), "--db", db])
    assert done.exit_code == 0, done.output
    return done.output


def check(db: str, arena: str, before: int) -> None:
    """The copy verifies, has all that was acknowledged before it was begun, and takes votes."""
    with running(db) as service:
        report = verify(service.journal, arena)
        assert report.good, report
        assert report.events >= before
        ticket = ticket_for(service, arena, "r2", "after the backup")
        assert service.do(Vote(ticket.id, {"rank": [0, 1, 2]})).counted == "counted"
        assert verify(service.journal, arena).good


def test_a_copy_made_while_votes_come_in_is_whole(tmp_path: Path) -> None:
    db = str(tmp_path / "arena.db")
    with running(db) as service:
        arena, (rater, _) = an_arena(service, go_on=True)
        copies = []
        with Load(service, arena, rater) as load:
            for k in range(5):
                before, out = load.acknowledged[-1], tmp_path / f"copy{k}.db"
                assert "1 arena." in backup(db, out)
                copies.append((before, out))
            voted = len(load.acknowledged)
        assert load.acknowledged[-1] > copies[-1][0], "it went on voting meanwhile"
        assert voted > 20
    for before, out in copies:
        assert stat.S_IMODE(out.stat().st_mode) == 0o600
        assert not Path(f"{out}-wal").exists()
        check(str(out), arena, before)


def test_a_backup_replaces_nothing_and_leaves_no_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = str(tmp_path / "arena.db")
    with running(db) as service:
        an_arena(service)
    before = Path(db).read_bytes()
    done = CliRunner().invoke(app, ["arena", "backup", db, "--db", db])
    assert done.exit_code == 2 and "is there already" in done.output
    assert Path(db).read_bytes() == before
    done = CliRunner().invoke(app, ["arena", "backup", str(tmp_path / "copy.db"), "--db", str(tmp_path / "none.db")])
    assert done.exit_code == 2 and "no such file" in done.output and not (tmp_path / "none.db").exists()
    with closing(sqlite3.connect(db)) as damaged:  # an index that lacks rows
        damaged.execute("PRAGMA writable_schema=ON")
        damaged.execute("UPDATE sqlite_master SET rootpage = 2 WHERE name = 'key_changes_what'")
        damaged.commit()
    done = CliRunner().invoke(app, ["arena", "backup", str(tmp_path / "copy.db"), "--db", db])
    assert done.exit_code == 2, done.output
    assert not [file for file in os.listdir(tmp_path) if "copy" in file]


@pytest.mark.skipif(bool(why_not()) or not shutil.which("pg_dump"), reason=why_not() or "pg_dump is not installed")
def test_an_archive_of_postgresql_restores(tmp_path: Path) -> None:
    import psycopg

    with a_postgres() as server:
        with running(server.url) as service:
            arena, (rater, _) = an_arena(service, go_on=True)
            out = tmp_path / "arena.dump"
            with Load(service, arena, rater) as load:
                before = load.acknowledged[-1]
                assert "pg_restore" in backup(server.url, out)
        assert stat.S_IMODE(out.stat().st_mode) == 0o600
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE restored")
        url = server.url.replace("/postgres?", "/restored?")
        subprocess.run(["pg_restore", "--exit-on-error", "--no-owner", "--dbname", url, str(out)], check=True)
        check(url, arena, before)
        assert connect(url).arenas()
