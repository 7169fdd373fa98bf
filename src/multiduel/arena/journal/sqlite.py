"""The journal in a file: SQLite with a write-ahead log, every commit flushed to the disk (synchronous=FULL)."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from typing import Any

from multiduel.arena.errors import Unavailable
from multiduel.arena.journal.migrations import statements
from multiduel.arena.journal.sql import SqlJournal
from multiduel.inputs import BadInput

PATIENCE = 30.0  # seconds to wait for another process's transaction


class SqliteJournal(SqlJournal):
    errors = (sqlite3.Error,)

    def __init__(self, path: str) -> None:
        super().__init__()
        if path == ":memory:" or path.startswith("file:"):
            raise BadInput(f"A journal that loses nothing lies in a file. Got '{path}'.")
        self.path = os.path.abspath(path)
        if not os.path.isdir(os.path.dirname(self.path)):
            raise BadInput(f"'{path}' must lie in a folder that exists. Got no such folder.")
        if not os.path.exists(self.path):  # nobody else's business: it holds key hashes
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            with self.borrowed() as connection:
                self._migrate(connection)
        except Unavailable as error:
            if isinstance(error.__cause__, sqlite3.OperationalError):
                raise  # locked, or the disk is full: later, perhaps
            raise BadInput(f"'{path}' cannot be used as a journal: {error.__cause__}.") from None

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if mode != "wal":
            raise BadInput(f"'{self.path}' must lie on a disk where SQLite's write-ahead log works. It answered '{mode}'.")
        connection.execute("BEGIN IMMEDIATE")
        (present,) = connection.execute("PRAGMA user_version").fetchone()
        (others,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if present == 0 and others:
            raise BadInput(f"'{self.path}' is another program's database.")
        for version, statement in statements("sqlite", present):
            connection.execute(statement)
            connection.execute(f"PRAGMA user_version={version}")
        connection.execute("COMMIT")

    def query(self, statement: str, values: Any = ()) -> list[Any]:
        """Reading needs no lock: a statement sees the last commit."""
        with self.borrowed() as connection:
            return self.run(connection, statement, values)

    def _begin(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")

    def _lock(self, connection: sqlite3.Connection, arena: str) -> bool:
        return bool(self.run(connection, "SELECT 1 FROM arenas WHERE id = ?", (arena,)))  # the whole file is locked already

    def _statement(self, statement: str) -> str:
        return statement
