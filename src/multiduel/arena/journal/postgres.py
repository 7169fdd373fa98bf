"""The journal in PostgreSQL: several processes at once, each locking an arena's row while it appends.

A process that stalls (stopped, swapped out, its machine gone) while it holds the lock is cut off after ``STALLED`` seconds, and
others go on in its place. When it comes back, its connection is closed: what it had in hand is not committed, and it is told so.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from multiduel.arena.domain import events as log
from multiduel.arena.domain.errors import Unavailable
from multiduel.arena.domain.events import Event
from multiduel.arena.journal.known_heads import Row
from multiduel.arena.journal.migrations import KEYS_SINCE, statements
from multiduel.arena.journal.sql import COLUMNS, LAST, PAGE_LOCKED, SINCE, SqlJournal, key_hash, key_rows
from multiduel.inputs import BadInput, install

LOG = logging.getLogger("multiduel.arena")
STALLED = 6  # seconds without a word in a transaction, after which its process is cut off
BEAT = 1.0  # seconds between two words of a process that decides, for longer than that, what to append
PATIENCE = 10  # seconds to wait for another process's transaction: longer than it takes to cut one off that stalls
LONGEST = 15  # seconds of a statement; whatever may take longer is read in pages
MIGRATING = 7_291_001  # number of the lock that one process at a time holds while it makes tables
KEEPALIVES = {"keepalives_idle": "5", "keepalives_interval": "2", "keepalives_count": "3", "tcp_user_timeout": "10000"}
SETTINGS = {
    "synchronous_commit": "on",  # whatever the server's default: "done" means durable
    "lock_timeout": f"{PATIENCE}s",
    "statement_timeout": f"{LONGEST}s",
    "idle_in_transaction_session_timeout": f"{STALLED}s",
    "tcp_user_timeout": "10s",  # of the database's side: an answer to a machine that is gone
}

# Arrays go as bytes (%b): as text, psycopg escapes each cell, which takes four times as long.
ARRAYS = "unnest(%b::bigint[], %b::text[], %b::text[], %b::text[], %b::text[])"
INSERT = f"INSERT INTO events (arena, {COLUMNS}) SELECT %s::text, * FROM {ARRAYS}"
INSERT_KEYS = "INSERT INTO event_keys (key, number) SELECT * FROM unnest(%b::bigint[], %b::bigint[])"
# Row by row, which OFFSET 0 prescribes: a plan from old statistics, or none yet, may read all events of an arena for each key.
NUMBERS = (
    "SELECT DISTINCT number FROM unnest(%b::bigint[]) AS wanted (hash), "
    "LATERAL (SELECT number FROM event_keys WHERE key = hash AND number <= %s OFFSET 0) AS found"
)
ABOUT = (
    f"SELECT {COLUMNS} FROM ({NUMBERS}) AS named (about), "
    f"LATERAL (SELECT {COLUMNS} FROM events WHERE arena = %s AND number = about OFFSET 0) AS event"
)
SINCE_AND_ABOUT = f"(SELECT 0, {SINCE.removeprefix('SELECT ')}) UNION ALL (SELECT 1, {ABOUT.removeprefix('SELECT ')})"


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise BadInput(f"A journal in PostgreSQL needs psycopg: {install('postgres')}.") from None
    return psycopg


class PostgresJournal(SqlJournal):
    for_update = " FOR UPDATE"

    def __init__(self, url: str) -> None:
        super().__init__()
        self._psycopg = _psycopg()
        self.errors = (self._psycopg.Error,)
        self.url = url
        self._pulse = Pulse(self._psycopg)
        self._migrate()

    def _open(self) -> Any:
        given = self._psycopg.conninfo.conninfo_to_dict(self.url)
        words = {"connect_timeout": 10, **KEEPALIVES, **given}
        connection = self._psycopg.connect(**words, prepare_threshold=2)
        try:
            said = ", ".join(f"set_config('{name}', '{value}', false)" for name, value in SETTINGS.items())
            connection.execute(f"SELECT {said}")
            check = "SELECT current_setting('fsync'), current_setting('full_page_writes')"
            fsync, full_pages = connection.execute(check).fetchone()
            connection.commit()
            self._check_durable(fsync, full_pages)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_durable(self, fsync: str, full_pages: str) -> None:
        """Refuse a database that calls durable what a power cut takes away."""
        if fsync != "on":
            raise Unavailable("This PostgreSQL has 'fsync = off': a power cut would lose acknowledged votes. Turn it on.")
        if full_pages != "on":  # some file systems never tear a page
            LOG.warning("This PostgreSQL has 'full_page_writes = off': unless its disk never tears a page, turn it on.")

    def _migrate(self) -> None:
        with self._whole() as connection:
            connection.execute("SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0")
            connection.execute(f"SELECT pg_advisory_xact_lock({MIGRATING})")
            connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY)")
            done = {version for (version,) in connection.execute("SELECT version FROM schema_version").fetchall()}
            todo = statements("postgres", done)
            for statement in (statement for _, some in todo for statement in some):
                connection.execute(statement)
            if any(version == KEYS_SINCE for version, _ in todo):
                self.fill_keys(connection)
            for version, _ in todo:
                connection.execute("INSERT INTO schema_version (version) VALUES (%s)", (version,))

    def append(self, connection: Any, arena: str, events: Sequence[Event]) -> None:
        """In one statement: in the midst of several, a process that stalls would not be idle, and not be cut off."""
        columns = [list(column) for column in zip(*((e.number, e.kind, e.at, e.text, e.hash) for e in events), strict=True)]
        keys = [list(column) for column in zip(*key_rows(arena, events), strict=True)]
        if columns:
            connection.execute(f"WITH stored AS ({INSERT}) {INSERT_KEYS}" if keys else INSERT, (arena, *columns, *keys))

    def insert_keys(self, connection: Any, rows: Sequence[tuple[int, int]]) -> None:
        if rows:
            connection.execute(INSERT_KEYS, [list(column) for column in zip(*rows, strict=True)])

    def page_and_about(self, connection: Any, arena: str, start: int, keys: Sequence[str]) -> tuple[list[Row], list[Event]]:
        """In one statement: each takes a round trip while others wait for the lock."""
        if not keys:
            return super().page_and_about(connection, arena, start, keys)
        hashes = sorted({key_hash(arena, key) for key in keys})
        rows = sorted(self.run(connection, SINCE_AND_ABOUT, (arena, start, PAGE_LOCKED, hashes, LAST, arena)))
        return [row[1:] for row in rows if row[0] == 0], [log.read(*row[1:]) for row in rows if row[0] == 1]

    def _count_keys(self, connection: Any, rows: Sequence[tuple[int, int]]) -> int:
        columns = [list(column) for column in zip(*rows, strict=True)]
        wanted = "unnest(%b::bigint[], %b::bigint[]) AS wanted (key, number)"
        (row,) = connection.execute(f"SELECT COUNT(*) FROM {wanted} JOIN event_keys USING (key, number)", columns).fetchall()
        return int(row[0])

    def _rows_about(self, connection: Any, arena: str, last: int, hashes: list[int]) -> list[Any]:
        return self.run(connection, ABOUT, (hashes, last, arena))

    def _end_reading(self, connection: Any) -> None:
        connection.commit()

    def _held(self, connection: Any) -> AbstractContextManager[None]:
        return self._pulse.over(connection)

    def close(self) -> None:
        self._pulse.end()
        super().close()

    def _begin(self, connection: Any) -> None:
        """psycopg begins with the first statement."""

    def _lock(self, connection: Any, arena: str) -> bool:
        return bool(self.run(connection, "SELECT 1 FROM arenas WHERE id = ? FOR UPDATE", (arena,)))

    def _statement(self, statement: str) -> str:
        return statement.replace("?", "%s")

    def backup(self, draft: str) -> None:
        """Have pg_dump write an archive for pg_restore. What it connects with is in its environment, where no list of processes
        shows a password."""
        program = shutil.which("pg_dump") or ""
        if not program:
            raise BadInput("A backup of PostgreSQL needs its program pg_dump (Debian: apt-get install postgresql-client).")
        os.chmod(draft, 0o600)
        given = self._psycopg.conninfo.conninfo_to_dict(self.url)
        names = {
            option.keyword.decode(): option.envvar.decode()
            for option in self._psycopg.pq.Conninfo.get_defaults()
            if option.envvar
        }
        unknown = [name for name in given if name not in names]
        if unknown:
            raise BadInput(f"pg_dump cannot be told of '{unknown[0]}' in the database's URL. Run it by hand.")
        told = {names[name]: str(value) for name, value in given.items()}
        command = [program, "--format=custom", "--no-owner", "--file", draft]
        done = subprocess.run(command, env={**os.environ, **told}, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable(f"pg_dump failed: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")


class Held:
    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.lock = threading.Lock()
        self.open = True


class Pulse:
    """Says a word on every open transaction every ``BEAT`` seconds, so that one that thinks for long is not cut off.

    A process that is stopped says nothing.
    """

    def __init__(self, psycopg: Any) -> None:
        self._psycopg = psycopg
        self._held: set[Held] = set()
        self._guard = threading.Lock()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def over(self, connection: Any) -> Iterator[None]:
        held = Held(connection)
        with self._guard:
            self._held.add(held)
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="arena-pulse", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._guard:
                self._held.discard(held)
            with held.lock:  # a word that is being said is waited for: after the commit it would begin a transaction
                held.open = False

    def end(self) -> None:
        self._end.set()

    def _beat(self) -> None:
        while not self._end.wait(BEAT):
            with self._guard:
                all_held = list(self._held)
            for held in all_held:
                with held.lock, suppress(self._psycopg.Error):  # whoever owns the transaction will meet the error
                    idle = held.connection.info.transaction_status == self._psycopg.pq.TransactionStatus.INTRANS
                    if held.open and idle:
                        held.connection.execute("SELECT 1")
