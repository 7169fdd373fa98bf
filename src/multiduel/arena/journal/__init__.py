"""Where events are kept: SQLite in a file, or PostgreSQL by its URL. Both append only, and say "done" when it is durable.

>>> import tempfile, os
>>> journal = connect(os.path.join(tempfile.mkdtemp(), "arena.db"))
>>> journal.arenas()
[]
>>> journal.close()
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from multiduel.arena.events import Event
from multiduel.inputs import BadInput, shortened


class ArenaRow(NamedTuple):
    id: str
    name: str
    request: str | None  # of the one who created it
    created: str


class Secret(NamedTuple):
    """The hash of a key. It never comes near the log, which may be exported."""

    role: str  # "owner" or "rater"
    subject: str  # whose: a key's or a rater's id
    hash: str


class Snapshot(NamedTuple):
    """A fold as far as ``number``, kept only to save time."""

    number: int
    hash: str  # of that event
    format: str
    data: bytes


class Transaction(Protocol):
    """The arena is ours until it ends: nobody else appends meanwhile."""

    def since(self, number: int) -> list[Event]: ...

    def append(self, events: Sequence[Event]) -> None: ...

    def put_content(self, sha256: str, data: bytes) -> None: ...


class Secrets(Protocol):
    def put(self, arena: str, secret: Secret) -> None: ...

    def get(self, arena: str, role: str, subject: str | None = None) -> list[Secret]: ...

    def remove(self, arena: str, role: str, subject: str) -> None: ...


class Journal(Protocol):
    """Every method may be called from any thread. What cannot be done now raises ``Unavailable``."""

    @property
    def secrets(self) -> Secrets: ...

    def arenas(self) -> list[ArenaRow]: ...

    def find(self, *, id: str | None = None, request: str | None = None) -> ArenaRow | None: ...

    def transaction(self, arena: str, new: ArenaRow | None = None) -> AbstractContextManager[Transaction]: ...

    def events(self, arena: str, since: int = 0, limit: int | None = None) -> list[Event]: ...

    def stream(self, arena: str, since: int = 0) -> Iterator[Event]: ...

    def get_content(self, arena: str, sha256: str) -> bytes | None: ...

    def save_snapshot(self, arena: str, snapshot: Snapshot) -> None: ...

    def load_snapshot(self, arena: str) -> Snapshot | None: ...

    def drop_snapshots(self) -> None: ...

    def close(self) -> None: ...


def connect(db: str | os.PathLike[str]) -> Journal:
    """The journal in this file, or at this ``postgresql://`` URL. Tables are made, and older ones migrated, on the way.

    >>> import tempfile
    >>> journal = connect(os.path.join(tempfile.mkdtemp(), "arena.db"))
    >>> journal.close()
    """
    name = os.fspath(db)
    if not isinstance(name, str) or not name or "\0" in name:
        raise BadInput(f"A journal is a file, or a URL that starts with postgresql://. Got {shortened(name)}.")
    if name.startswith(("postgresql://", "postgres://")):
        from multiduel.arena.journal.postgres import PostgresJournal

        return PostgresJournal(name)
    if "://" in name:
        raise BadInput(f"A journal is a file, or a URL that starts with postgresql://. Got {shortened(name)}.")
    from multiduel.arena.journal.sqlite import SqliteJournal

    return SqliteJournal(name)
