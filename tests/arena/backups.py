"""A database that goes back in time beneath those who use it: an older copy of it takes its place."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from multiduel.arena.journal import connect
from tests.arena.a_postgres import Postgres, a_postgres


class Backups(Protocol):
    db: str

    def keep(self, name: str) -> None: ...

    def put_back(self, name: str) -> None: ...


class SqliteBackups:
    """Files beside the database. The copy is moved to its place, as an operator would who does not stop the server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.db = str(folder / "arena.db")
        connect(self.db).close()

    def keep(self, name: str) -> None:
        with closing(sqlite3.connect(self.db)) as here, closing(sqlite3.connect(self._folder / name)) as there:
            here.backup(there)

    def put_back(self, name: str) -> None:
        shutil.copy(self._folder / name, self._folder / "copy")
        for rest in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(self.db + rest)
        os.replace(self._folder / "copy", self.db)


class PostgresBackups:
    """Copies of the data directory of a server of one's own."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres
        self.db = postgres.url
        connect(self.db).close()

    def keep(self, name: str) -> None:
        self._postgres.keep(name)

    def put_back(self, name: str) -> None:
        self._postgres.put_back(name)


@contextmanager
def backups_of(kind: str, folder: Path) -> Iterator[Backups]:
    if kind == "sqlite":
        yield SqliteBackups(folder)
    else:
        with a_postgres() as postgres:
            yield PostgresBackups(postgres)
