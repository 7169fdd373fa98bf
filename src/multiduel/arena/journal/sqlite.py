"""The journal in a file: SQLite with a write-ahead log, every commit flushed to the disk (synchronous=FULL)."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing, suppress

from multiduel.arena.domain.errors import Unavailable
from multiduel.arena.journal.migrations import KEYS_SINCE, statements
from multiduel.arena.journal.sql import SqlJournal
from multiduel.inputs import BadInput

PATIENCE = 5.0  # seconds to wait for another process's transaction
CACHE = 32_768  # kilobytes of a connection at most: keys of events are spread over their table
IMPATIENCE = 0.25  # the same, after one waited in vain: the rest are told at once


class Connection(sqlite3.Connection):
    file: tuple[int, int]  # the one that it opened; the path may lead to another by now


class SqliteJournal(SqlJournal):
    errors = (sqlite3.Error, UnicodeDecodeError)  # the latter if a message of SQLite's names what is damaged
    one_lock = True

    def __init__(self, path: str) -> None:
        super().__init__()
        self._writing_seats = threading.Lock()  # SQLite has one writer at a time, and would have others sleep and ask again
        self._blocked = False  # the last who wanted to write waited in vain
        self._made = False  # the tables are there
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

    def _open(self) -> Connection:
        if not os.path.exists(self.path):  # SQLite would make an empty one
            raise Unavailable(f"The journal's file '{self.path}' is gone. Nothing is written until it is back.")
        connection = sqlite3.connect(
            self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False, factory=Connection
        )
        connection.file = self._file()
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(f"PRAGMA cache_size={-CACHE}")
        connection.execute("PRAGMA foreign_keys=ON")
        if self._made and connection.execute("PRAGMA user_version").fetchone() == (0,):
            connection.close()
            raise Unavailable(f"'{self.path}' was emptied: it has no tables any more. Nothing is written until it is back.")
        return connection

    def _file(self) -> tuple[int, int]:
        try:
            found = os.stat(self.path)
        except OSError:
            return (0, 0)
        return (found.st_dev, found.st_ino)

    def _usable(self, connection: Connection) -> bool:
        """A file that was replaced is not read or written any more: what is written to it nobody finds again."""
        return connection.file == self._file()

    def _commit(self, connection: Connection) -> None:
        super()._commit(connection)
        if not self._usable(connection):
            raise sqlite3.OperationalError("the journal's file was replaced meanwhile")

    def _migrate(self, connection: sqlite3.Connection) -> None:
        mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if mode != "wal":
            raise BadInput(f"'{self.path}' must lie on a disk where SQLite's write-ahead log works. It answered '{mode}'.")
        connection.execute("BEGIN IMMEDIATE")
        (present,) = connection.execute("PRAGMA user_version").fetchone()
        (others,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if present == 0 and others:
            raise BadInput(f"'{self.path}' is another program's database.")
        for version, some in statements("sqlite", range(1, present + 1)):
            for statement in some:
                connection.execute(statement)
            if version == KEYS_SINCE:
                self.fill_keys(connection)
            connection.execute(f"PRAGMA user_version={version}")
        connection.execute("COMMIT")
        self._made = True

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Lock the file. SQLite knows no way to take a lock over from a process that stalls: all that wait are told soon."""
        connection.execute(f"PRAGMA busy_timeout={1000 * (IMPATIENCE if self._blocked else PATIENCE):.0f}")
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            self._blocked = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            raise
        self._blocked = False

    def _end_reading(self, connection: sqlite3.Connection) -> None:
        """Nothing: reading needs no lock, a statement sees the last commit."""

    def _lock(self, connection: sqlite3.Connection, arena: str) -> bool:
        return bool(self.run(connection, "SELECT 1 FROM arenas WHERE id = ?", (arena,)))  # the whole file is locked already

    def _statement(self, statement: str) -> str:
        return statement

    def backup(self, draft: str) -> None:
        """Copy all pages in one step: a reader of the write-ahead log sees one commit, and holds up no writer."""
        os.chmod(draft, 0o600)  # it holds the hashes of keys, and the key that signs heads
        with self.borrowed() as connection, closing(sqlite3.connect(draft)) as copy:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a write-ahead log beside it
            found = copy.execute("PRAGMA integrity_check").fetchone()[0]
        if found != "ok":
            raise Unavailable(f"The copy of '{self.path}' is damaged, and so may be the database: {found}.")
