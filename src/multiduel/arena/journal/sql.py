"""What both databases have in common: the statements. A few connections are shared; a transaction locks one arena."""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from multiduel.arena import events as log
from multiduel.arena.errors import NotFound, Unavailable
from multiduel.arena.events import Event
from multiduel.arena.journal import ArenaRow, Secret, Snapshot

PAGE = 5000  # events read at once
CONNECTIONS = 6  # at once, of a process: the writer and a few who read
COLUMNS = "number, kind, at, body, hash"
SINCE = f"SELECT {COLUMNS} FROM events WHERE arena = ? AND number > ? ORDER BY number"


class SqlTransaction:
    def __init__(self, journal: SqlJournal, connection: Any, arena: str) -> None:
        self._journal, self._connection, self._arena = journal, connection, arena

    def since(self, number: int) -> list[Event]:
        return [log.read(*row) for row in self._journal.run(self._connection, SINCE, (self._arena, number))]

    def append(self, events: Sequence[Event]) -> None:
        rows = [(self._arena, event.number, event.kind, event.at, event.text, event.hash) for event in events]
        self._journal.many(self._connection, f"INSERT INTO events (arena, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", rows)

    def put_content(self, sha256: str, data: bytes) -> None:
        run = self._journal.run
        if not run(self._connection, "SELECT 1 FROM contents WHERE arena = ? AND sha256 = ?", (self._arena, sha256)):
            run(self._connection, "INSERT INTO contents (arena, sha256, data) VALUES (?, ?, ?)", (self._arena, sha256, data))


class SqlSecrets:
    def __init__(self, journal: SqlJournal) -> None:
        self._journal = journal

    def put(self, arena: str, secret: Secret) -> None:
        self._journal.change(
            "INSERT INTO secrets (arena, role, subject, hash) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (arena, role, subject) DO UPDATE SET hash = excluded.hash",
            (arena, *secret),
        )

    def get(self, arena: str, role: str, subject: str | None = None) -> list[Secret]:
        where, values = ("", ()) if subject is None else (" AND subject = ?", (subject,))
        query = f"SELECT role, subject, hash FROM secrets WHERE arena = ? AND role = ?{where} ORDER BY subject"
        return [Secret(*row) for row in self._journal.query(query, (arena, role, *values))]

    def remove(self, arena: str, role: str, subject: str) -> None:
        self._journal.change("DELETE FROM secrets WHERE arena = ? AND role = ? AND subject = ?", (arena, role, subject))


class SqlJournal(ABC):
    """The journal, but for how one connects, begins and names a value's place in a statement."""

    errors: tuple[type[Exception], ...]  # the database's own

    def __init__(self) -> None:
        self._free: list[Any] = []  # connections that nobody uses at the moment
        self._seats = threading.BoundedSemaphore(CONNECTIONS)
        self._guard = threading.Lock()
        self.secrets = SqlSecrets(self)

    @abstractmethod
    def _open(self) -> Any: ...

    @abstractmethod
    def _begin(self, connection: Any) -> None: ...

    @abstractmethod
    def _lock(self, connection: Any, arena: str) -> bool:
        """Nobody else appends to this arena until the transaction ends. False if there is no such arena."""

    @abstractmethod
    def _statement(self, statement: str) -> str: ...

    def run(self, connection: Any, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        cursor = connection.execute(self._statement(statement), values)
        return list(cursor.fetchall()) if cursor.description else []

    def many(self, connection: Any, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        connection.cursor().executemany(self._statement(statement), rows)

    @contextmanager
    def borrowed(self) -> Iterator[Any]:
        """A connection for a moment. One that failed is not given back; the next who needs one makes a new one."""
        with self._seats:
            connection = None
            try:
                with self._guard:
                    connection = self._free.pop() if self._free else None
                connection = self._open() if connection is None else connection
                yield connection
            except BaseException as error:
                if connection is not None:
                    with suppress(*self.errors):
                        connection.rollback()
                    with suppress(*self.errors):
                        connection.close()
                if isinstance(error, self.errors):
                    raise Unavailable(f"The journal cannot be used at the moment: {first_line(error)}.") from error
                raise
            with self._guard:
                self._free.append(connection)

    @contextmanager
    def _whole(self) -> Iterator[Any]:
        """A transaction: all of it or nothing."""
        with self.borrowed() as connection:
            self._begin(connection)
            yield connection
            self._commit(connection)

    def _commit(self, connection: Any) -> None:
        connection.commit()

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._whole() as connection:
            return self.run(connection, statement, values)

    def change(self, statement: str, values: Sequence[Any] = ()) -> None:
        with self._whole() as connection:
            self.run(connection, statement, values)

    @contextmanager
    def transaction(self, arena: str, new: ArenaRow | None = None) -> Iterator[SqlTransaction]:
        """Ours until it ends; durable when it ended without an error. ``new`` makes the arena in it."""
        with self._whole() as connection:
            if new is not None:
                self.run(connection, "INSERT INTO arenas (id, name, request, created) VALUES (?, ?, ?, ?)", new)
            if not self._lock(connection, arena):
                raise NotFound(f"There is no arena '{arena}'.")
            yield SqlTransaction(self, connection, arena)

    def arenas(self) -> list[ArenaRow]:
        return [ArenaRow(*row) for row in self.query("SELECT id, name, request, created FROM arenas ORDER BY created, id")]

    def find(self, *, id: str | None = None, request: str | None = None) -> ArenaRow | None:
        column, value = ("id", id) if id is not None else ("request", request)
        rows = self.query(f"SELECT id, name, request, created FROM arenas WHERE {column} = ?", (value,))
        return ArenaRow(*rows[0]) if rows else None

    def events(self, arena: str, since: int = 0, limit: int | None = None) -> list[Event]:
        rows = self.query(SINCE, (arena, since)) if limit is None else self.query(f"{SINCE} LIMIT ?", (arena, since, limit))
        return [log.read(*row) for row in rows]

    def stream(self, arena: str, since: int = 0) -> Iterator[Event]:
        """All events from there on, page by page."""
        while page := self.events(arena, since, PAGE):
            yield from page
            since = page[-1].number

    def get_content(self, arena: str, sha256: str) -> bytes | None:
        rows = self.query("SELECT data FROM contents WHERE arena = ? AND sha256 = ?", (arena, sha256))
        return bytes(rows[0][0]) if rows else None

    def save_snapshot(self, arena: str, snapshot: Snapshot) -> None:
        columns = ("number", "hash", "format", "data", "sha256")
        updates = ", ".join(f"{column} = excluded.{column}" for column in columns)
        self.change(
            f"INSERT INTO snapshots (arena, {', '.join(columns)}) VALUES (?, ?, ?, ?, ?, ?) "
            f"ON CONFLICT (arena) DO UPDATE SET {updates}",
            (arena, *snapshot, hashlib.sha256(snapshot.data).hexdigest()),
        )

    def load_snapshot(self, arena: str) -> Snapshot | None:
        """None also if it is torn, or not of this log."""
        rows = self.query("SELECT number, hash, format, data, sha256 FROM snapshots WHERE arena = ?", (arena,))
        if not rows:
            return None
        number, hash, format, data, sha256 = rows[0]
        known = self.query("SELECT hash FROM events WHERE arena = ? AND number = ?", (arena, number))
        of_this_log = [tuple(row) for row in known] == [(hash,)]
        if not of_this_log or isinstance(data, str) or hashlib.sha256(bytes(data)).hexdigest() != sha256:
            return None
        return Snapshot(number, hash, format, bytes(data))

    def drop_snapshots(self) -> None:
        self.change("DELETE FROM snapshots")

    def close(self) -> None:
        with self._guard:
            connections, self._free = self._free, []
        for connection in connections:
            with suppress(*self.errors):
                connection.close()


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
