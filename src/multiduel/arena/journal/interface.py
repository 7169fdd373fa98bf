"""What a journal offers, whichever database it is in: the rows that it stores, and its methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from multiduel.arena.domain.events import Event


class ArenaRow(NamedTuple):
    id: str
    name: str
    request: str | None  # of the one who created it
    created: str


class Secret(NamedTuple):
    """The hash of a key. It never comes near the log, which may be exported."""

    role: str  # server, owner, link, rater or report; account: whom an owner invited
    subject: str  # the key's name: random, or the rater's id
    hash: str
    label: str = ""  # who holds it, if somebody said so
    created: str = ""  # "": before keys had dates
    made_by: str = ""  # which key made it, or the operator
    used: str = ""  # last time, to a few minutes; "": never


class KeyChange(NamedTuple):
    """A line of the record of keys: kept beside the log, never in it."""

    arena: str
    role: str
    subject: str
    what: str  # made, rotated, revoked
    label: str
    at: str
    made_by: str


class Notice(NamedTuple):
    """Where an owner wants to be told of results: kept beside the log, never in it."""

    arena: str
    id: str
    kind: str  # webhook, mail
    target: str  # a URL, which may hold a secret, or an address
    secret: str  # that webhooks are signed with
    created: str
    made_by: str


class Snapshot(NamedTuple):
    """A fold as far as ``number``, kept only to save time."""

    number: int
    hash: str  # of that event
    format: str
    data: bytes


class Transaction(Protocol):
    """The arena is ours until it ends: nobody else appends meanwhile."""

    def since(self, number: int) -> list[Event]: ...

    def since_and_about(self, number: int, keys: Sequence[str]) -> tuple[list[Event], list[Event]]: ...

    def append(self, events: Sequence[Event]) -> None: ...

    def put_content(self, sha256: str, data: bytes) -> None: ...


class Secrets(Protocol):
    """The hashes of keys, and a record of who changed them."""

    def put(self, arena: str, secret: Secret, *, replace: bool = False) -> bool: ...

    def get(self, arena: str, role: str, subject: str | None = None) -> list[Secret]: ...

    def holders(self, role: str, subject: str) -> list[str]: ...

    def remove(
        self, arena: str, role: str, subject: str, *, at: str = "", made_by: str = "", keep_last: bool = False
    ) -> bool: ...

    def changes(self, arena: str, limit: int) -> list[KeyChange]: ...

    def last_change(self, arena: str, role: str, subject: str) -> KeyChange | None: ...

    def ended(self) -> int: ...

    def note_used(self, used: Sequence[tuple[str, str, str, str]]) -> None: ...


class Notices(Protocol):
    """Where owners want to be told of results."""

    def add(self, notice: Notice, most: int) -> bool: ...

    def get(self, arena: str | None = None) -> list[Notice]: ...

    def remove(self, arena: str, id: str) -> bool: ...

    def claim(self, arena: str, id: str, now: str, until: str) -> bool: ...


class Journal(Protocol):
    """Every method may be called from any thread. What cannot be done now raises ``Unavailable``."""

    @property
    def secrets(self) -> Secrets: ...

    @property
    def notices(self) -> Notices: ...

    @property
    def one_lock(self) -> bool: ...  # a transaction on one arena holds up those on all others

    def arenas(self) -> list[ArenaRow]: ...

    def find(self, *, id: str | None = None, request: str | None = None) -> ArenaRow | None: ...

    def transaction(self, arena: str, new: ArenaRow | None = None) -> AbstractContextManager[Transaction]: ...

    def events(self, arena: str, since: int = 0, limit: int | None = None) -> list[Event]: ...

    def stream(self, arena: str, since: int = 0) -> Iterator[Event]: ...

    def of_kind(self, arena: str, kind: str) -> Iterator[Event]: ...

    def about(self, arena: str, keys: Sequence[str], last: int) -> list[Event]: ...  # that have a key of these (domain/past.py)

    def key_rows(self) -> int: ...

    def first_without_key(self, arena: str, events: Sequence[Event]) -> int | None: ...

    def newest(self, arena: str, least: int, before: int, limit: int, kind: str = "") -> list[Event]: ...

    def get_content(self, arena: str, sha256: str) -> bytes | None: ...

    def save_snapshot(self, arena: str, snapshot: Snapshot, part: str = "") -> None: ...  # part: a cache of something else

    def load_snapshot(self, arena: str, part: str = "") -> Snapshot | None: ...

    def drop_snapshots(self) -> None: ...

    def beat(self, process: str, at: str) -> None: ...

    def signing_key(self, fresh: str, at: str) -> str: ...

    def backup(self, draft: str) -> None: ...  # a consistent copy while others write

    def close(self) -> None: ...
