"""What both databases have in common: the statements. A few connections are shared; a transaction locks one arena."""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Protocol

from multiduel.arena.domain import events as log
from multiduel.arena.domain.errors import BrokenLog, Conflict, NotFound, Unavailable
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.past import keys_of
from multiduel.arena.journal.interface import ArenaRow, KeyChange, Notice, Secret, Snapshot
from multiduel.arena.journal.known_heads import Head, Heads, Row

PAGE = 5000  # events read at once
CONNECTIONS = 6  # at once, of a process, for those who read
WRITING = 8  # besides, for those who write: no vote waits behind readers
AT_ONCE = 500  # events in one statement
PAGE_LOCKED = 100  # while the arena is locked: it fits into a socket's buffer, so that the database never waits for a reader
WAIT = 10.0  # seconds to wait until one of them is free
LAST = 2**62  # more than there are events
COLUMNS = "number, kind, at, body, hash"
SINCE = f"SELECT {COLUMNS} FROM events WHERE arena = ? AND number > ? ORDER BY number LIMIT ?"
SECRET = "role, subject, hash, label, created, made_by, used"
NOTICE = "arena, id, kind, target, secret, created, made_by"
CHANGE = "arena, role, subject, what, label, at, made_by"


class Seats(Protocol):
    """How many may have a connection at a time: a semaphore, or a lock where there is one."""

    def acquire(self, blocking: bool = ..., timeout: float = ...) -> bool: ...

    def release(self) -> None: ...


class SqlTransaction:
    def __init__(self, journal: SqlJournal, connection: Any, arena: str) -> None:
        self._journal, self._connection, self._arena = journal, connection, arena
        self.last: Event | None = None  # that was read or appended

    def since(self, number: int) -> list[Event]:
        """The events after ``number``. ``RolledBack`` if the last known one is not there any more."""
        return self.since_and_about(number, [])[0]

    def since_and_about(self, number: int, keys: Sequence[str]) -> tuple[list[Event], list[Event]]:
        """The events after ``number``, and all events with any of these keys, both in order: one question, if that is quicker."""
        found: list[list[Event]] = []

        def page(start: int) -> list[Row]:
            wanted = [] if found else keys
            rows, about = self._journal.page_and_about(self._connection, self._arena, start, wanted)
            found.append(about)
            return rows

        events = list(self._journal.checked(self._arena, number, page, PAGE_LOCKED))
        self.last = events[-1] if events else self.last
        return events, found[0]

    def append(self, events: Sequence[Event]) -> None:
        self._journal.append(self._connection, self._arena, events)
        self.last = events[-1] if events else self.last

    def put_content(self, sha256: str, data: bytes) -> None:
        run = self._journal.run
        if not run(self._connection, "SELECT 1 FROM contents WHERE arena = ? AND sha256 = ?", (self._arena, sha256)):
            run(self._connection, "INSERT INTO contents (arena, sha256, data) VALUES (?, ?, ?)", (self._arena, sha256, data))


class SqlSecrets:
    def __init__(self, journal: SqlJournal) -> None:
        self._journal = journal

    def put(self, arena: str, secret: Secret, *, replace: bool = False) -> bool:
        """Store a key. One of the same name is replaced, and is good for nothing. True if there was one. With
        ``replace``, nothing is stored where there is none."""
        run = self._journal.run
        with self._journal._whole() as connection:
            where = (arena, secret.role, secret.subject)
            query = f"SELECT 1 FROM secrets WHERE arena = ? AND role = ? AND subject = ?{self._journal.for_update}"
            known = run(connection, query, where)
            if replace and not known:
                return False
            updates = ", ".join(f"{column} = excluded.{column}" for column in SECRET.split(", ")[2:])
            run(
                connection,
                f"INSERT INTO secrets (arena, {SECRET}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                f"ON CONFLICT (arena, role, subject) DO UPDATE SET {updates}",
                (arena, *secret),
            )
            what = "rotated" if known else "made"
            self._record(connection, KeyChange(*where, what, secret.label, secret.created, secret.made_by))
        return bool(known)

    def get(self, arena: str, role: str, subject: str | None = None) -> list[Secret]:
        where, values = ("", ()) if subject is None else (" AND subject = ?", (subject,))
        query = f"SELECT {SECRET} FROM secrets WHERE arena = ? AND role = ?{where} ORDER BY subject"
        return [Secret(*row) for row in self._journal.query(query, (arena, role, *values))]

    def holders(self, role: str, subject: str) -> list[str]:
        """Arenas that have a key of this role and name."""
        query = "SELECT arena FROM secrets WHERE role = ? AND subject = ? ORDER BY arena"
        return [row[0] for row in self._journal.query(query, (role, subject))]

    def remove(self, arena: str, role: str, subject: str, *, at: str = "", made_by: str = "", keep_last: bool = False) -> bool:
        """Revoke a key. False if there is none of this name. With ``keep_last`` the last one of its role is refused."""
        run, journal = self._journal.run, self._journal
        with journal._whole() as connection:
            query = f"SELECT subject, label FROM secrets WHERE arena = ? AND role = ? ORDER BY subject{journal.for_update}"
            there = dict(run(connection, query, (arena, role)))
            if subject not in there:
                return False
            if keep_last and len(there) == 1:
                raise Conflict(f"This is the last key of this role ({role}).")
            run(connection, "DELETE FROM secrets WHERE arena = ? AND role = ? AND subject = ?", (arena, role, subject))
            self._record(connection, KeyChange(arena, role, subject, "revoked", there[subject], at, made_by))
        return True

    def _record(self, connection: Any, change: KeyChange) -> None:
        self._journal.run(connection, f"INSERT INTO key_changes ({CHANGE}) VALUES (?, ?, ?, ?, ?, ?, ?)", change)

    def changes(self, arena: str, limit: int) -> list[KeyChange]:
        """The last changes, the newest first; without raters who joined by a link, of whom there may be very many."""
        others = "substr(made_by, 1, 5) <> 'link:'"
        query = f"SELECT {CHANGE} FROM key_changes WHERE arena = ? AND {others} ORDER BY number DESC LIMIT ?"
        return [KeyChange(*row) for row in self._journal.query(query, (arena, limit))]

    def last_change(self, arena: str, role: str, subject: str) -> KeyChange | None:
        query = f"SELECT {CHANGE} FROM key_changes WHERE arena = ? AND role = ? AND subject = ? ORDER BY number DESC LIMIT 1"
        rows = self._journal.query(query, (arena, role, subject))
        return KeyChange(*rows[0]) if rows else None

    def ended(self) -> int:
        """How many keys were ever revoked or replaced: another number, and keys that were good may not be so any more. A count,
        not the last number: of two transactions the one with the higher number may be seen first."""
        return int(self._journal.query("SELECT COUNT(*) FROM key_changes WHERE what IN ('revoked', 'rotated')")[0][0])

    def note_used(self, used: Sequence[tuple[str, str, str, str]]) -> None:
        """(arena, role, subject, at) of each."""
        with self._journal._whole() as connection:
            rows = [(at, arena, role, subject, at) for arena, role, subject, at in used]
            statement = "UPDATE secrets SET used = ? WHERE arena = ? AND role = ? AND subject = ? AND used < ?"
            connection.cursor().executemany(self._journal._statement(statement), rows)


class SqlNotices:
    def __init__(self, journal: SqlJournal) -> None:
        self._journal = journal

    def add(self, notice: Notice, most: int) -> bool:
        """Store a notice, unless its arena has as many as it may have. False if it has."""
        run, journal = self._journal.run, self._journal
        with journal._whole() as connection:
            journal._lock(connection, notice.arena)
            if len(run(connection, "SELECT id FROM notices WHERE arena = ?", (notice.arena,))) >= most:
                return False
            run(connection, f"INSERT INTO notices ({NOTICE}) VALUES (?, ?, ?, ?, ?, ?, ?)", notice)
        return True

    def get(self, arena: str | None = None) -> list[Notice]:
        """The notices of an arena, or of all."""
        where, values = ("", ()) if arena is None else (" WHERE arena = ?", (arena,))
        return [Notice(*row) for row in self._journal.query(f"SELECT {NOTICE} FROM notices{where} ORDER BY created, id", values)]

    def remove(self, arena: str, id: str) -> bool:
        """Remove a notice. False if there is none of this id."""
        with self._journal._whole() as connection:
            statement = self._journal._statement("DELETE FROM notices WHERE arena = ? AND id = ?")
            return bool(connection.execute(statement, (arena, id)).rowcount)

    def claim(self, arena: str, id: str, now: str, until: str) -> bool:
        """Take a delivery on until a time. False if another process has taken it on."""
        with self._journal._whole() as connection:
            statement = "UPDATE notices SET claimed = ? WHERE arena = ? AND id = ? AND claimed <= ?"
            return bool(connection.execute(self._journal._statement(statement), (until, arena, id, now)).rowcount)


class SqlJournal(ABC):
    """The journal, but for how one connects, begins and names a value's place in a statement."""

    errors: tuple[type[Exception], ...]  # the database's own
    one_lock = False  # a transaction on one arena holds up those on all others
    for_update = ""  # at the end of a query in a transaction: nobody else changes these rows until it ends

    def __init__(self) -> None:
        self._free: list[Any] = []  # connections that nobody uses at the moment
        self._seats = threading.BoundedSemaphore(CONNECTIONS)
        self._writing_seats: Seats = threading.BoundedSemaphore(WRITING)
        self._guard = threading.Lock()
        self.heads = Heads()
        self.secrets = SqlSecrets(self)
        self.notices = SqlNotices(self)

    @abstractmethod
    def _open(self) -> Any: ...

    @abstractmethod
    def _begin(self, connection: Any) -> None: ...

    @abstractmethod
    def _lock(self, connection: Any, arena: str) -> bool:
        """Nobody else appends to this arena until the transaction ends. False if there is no such arena."""

    def _held(self, connection: Any) -> AbstractContextManager[Any]:
        """Around a transaction that may think for a while between two statements."""
        return nullcontext()

    @abstractmethod
    def _statement(self, statement: str) -> str: ...

    @abstractmethod
    def backup(self, draft: str) -> None:
        """Write a consistent copy of the whole database to a file, while others read and write it."""

    def run(self, connection: Any, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        cursor = connection.execute(self._statement(statement), values)
        return list(cursor.fetchall()) if cursor.description else []

    def append(self, connection: Any, arena: str, events: Sequence[Event]) -> None:
        """Store events, and the keys that they can be found by."""
        self._insert(connection, arena, events)
        self.insert_keys(connection, key_rows(arena, events))

    def _insert(self, connection: Any, arena: str, events: Sequence[Event]) -> None:
        """Many rows in a statement: other threads run meanwhile, and a large import holds the lock for a short time only."""
        for start in range(0, len(events), AT_ONCE):
            rows = [(arena, e.number, e.kind, e.at, e.text, e.hash) for e in events[start : start + AT_ONCE]]
            places = ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(rows))
            self.run(connection, f"INSERT INTO events (arena, {COLUMNS}) VALUES {places}", [cell for row in rows for cell in row])

    def insert_keys(self, connection: Any, rows: Sequence[tuple[int, int]]) -> None:
        connection.cursor().executemany(self._statement("INSERT INTO event_keys (key, number) VALUES (?, ?)"), rows)

    def fill_keys(self, connection: Any) -> None:
        """Give the events that are there the keys that they can be found by. Damaged ones get none: reading them will tell."""
        self.run(connection, "DELETE FROM event_keys")
        place = ("", 0)
        query = f"SELECT arena, {COLUMNS} FROM events WHERE (arena, number) > (?, ?) ORDER BY arena, number LIMIT ?"
        while page := self.run(connection, query, (*place, PAGE)):
            place = page[-1][:2]
            by_arena: dict[str, list[Event]] = {}
            for arena, *row in page:
                with suppress(BrokenLog):
                    by_arena.setdefault(arena, []).append(log.read(*row))
            for arena, events in by_arena.items():
                self.insert_keys(connection, key_rows(arena, events))

    def page_and_about(self, connection: Any, arena: str, start: int, keys: Sequence[str]) -> tuple[list[Row], list[Event]]:
        """The next events after one, as stored, and all with any of these keys, while the arena is locked."""
        rows = self.run(connection, SINCE, (arena, start, PAGE_LOCKED))
        return rows, self.find_about(connection, arena, keys, LAST) if keys else []

    def find_about(self, connection: Any, arena: str, keys: Sequence[str], last: int) -> list[Event]:
        """The events with any of these keys, in order, up to event ``last``. Different keys may have the same hash: the caller
        looks again."""
        hashes = sorted({key_hash(arena, key) for key in keys})
        rows: dict[int, Any] = {}
        for start in range(0, len(hashes), AT_ONCE):
            rows |= {row[0]: row for row in self._rows_about(connection, arena, last, hashes[start : start + AT_ONCE])}
        return [log.read(*rows[number]) for number in sorted(rows)]

    def _rows_about(self, connection: Any, arena: str, last: int, hashes: list[int]) -> list[Any]:
        places = ", ".join("?" * len(hashes))
        about = f"SELECT number FROM event_keys WHERE number <= ? AND key IN ({places})"
        query = f"SELECT {COLUMNS} FROM events WHERE arena = ? AND number IN ({about})"
        return self.run(connection, query, (arena, last, *hashes))

    def first_without_key(self, arena: str, events: Sequence[Event]) -> int | None:
        """The number of the first of these events that cannot be found by one of its keys; None if all can."""
        rows = key_rows(arena, events)
        missing: list[int] = []
        with self.borrowed() as connection:
            for start in range(0, len(rows), AT_ONCE):
                some = rows[start : start + AT_ONCE]
                if self._count_keys(connection, some) < len(some):
                    missing += [row[1] for row in some if not self._count_keys(connection, [row])]
            self._end_reading(connection)
        return min(missing, default=None)

    def _count_keys(self, connection: Any, rows: Sequence[tuple[int, int]]) -> int:
        """How many of these rows the table of keys has."""
        values = ", ".join(["(?, ?)"] * len(rows))
        join = "CROSS JOIN event_keys ON key = column1 AND number = column2"  # each is looked up, in this order
        (row,) = self.run(connection, f"SELECT COUNT(*) FROM (VALUES {values}) {join}", [cell for row in rows for cell in row])
        return int(row[0])

    def about(self, arena: str, keys: Sequence[str], last: int) -> list[Event]:
        with self.borrowed() as connection:
            found = self.find_about(connection, arena, keys, last)
            self._end_reading(connection)
            return found

    def key_rows(self) -> int:
        """How many keys there are."""
        return int(self.query("SELECT COUNT(*) FROM event_keys")[0][0])

    def _usable(self, connection: Any) -> bool:
        """Whether a connection that was free until now still leads to the database."""
        return True

    @contextmanager
    def borrowed(self, *, writing: bool = False) -> Iterator[Any]:
        """A connection for a moment. One that failed is not given back; the next who needs one makes a new one."""
        with self._seat(self._writing_seats if writing else self._seats):
            connection = None
            try:
                connection = self._take_free() or self._open()
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
    def _seat(self, seats: Seats) -> Iterator[None]:
        if not seats.acquire(timeout=WAIT):
            raise Unavailable(f"All connections to the journal were in use for {WAIT:g} s.")
        try:
            yield
        finally:
            seats.release()

    def _take_free(self) -> Any:
        while True:
            with self._guard:
                connection = self._free.pop() if self._free else None
            if connection is None or self._usable(connection):
                return connection
            with suppress(*self.errors):
                connection.close()

    @contextmanager
    def _whole(self) -> Iterator[Any]:
        """A transaction: all of it or nothing."""
        with self.borrowed(writing=True) as connection:
            self._begin(connection)
            yield connection
            self._commit(connection)

    def _commit(self, connection: Any) -> None:
        connection.commit()

    @abstractmethod
    def _end_reading(self, connection: Any) -> None:
        """End what the first statement began."""

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with self.borrowed() as connection:
            rows = self.run(connection, statement, values)
            self._end_reading(connection)
            return rows

    def change(self, statement: str, values: Sequence[Any] = ()) -> None:
        with self._whole() as connection:
            self.run(connection, statement, values)

    @contextmanager
    def transaction(self, arena: str, new: ArenaRow | None = None) -> Iterator[SqlTransaction]:
        """Ours until it ends; durable when it ended without an error. ``new`` makes the arena in it."""
        self.heads.of(arena)
        with self._whole() as connection:
            if new is not None:
                self.run(connection, "INSERT INTO arenas (id, name, request, created) VALUES (?, ?, ?, ?)", new)
            if not self._lock(connection, arena):
                self._not_lost(arena)
                raise NotFound(f"There is no arena '{arena}'.")
            transaction = SqlTransaction(self, connection, arena)
            with self._held(connection):
                yield transaction
        if transaction.last is not None:
            self.heads.saw(arena, Head(transaction.last.number, transaction.last.hash))

    def _not_lost(self, arena: str) -> None:
        """Refuse to call an arena unknown whose events this process has seen."""
        head = self.heads.of(arena)
        if head.number:
            raise self.heads.lost(arena, head, "the whole arena is missing")

    def arenas(self) -> list[ArenaRow]:
        return [ArenaRow(*row) for row in self.query("SELECT id, name, request, created FROM arenas ORDER BY created, id")]

    def find(self, *, id: str | None = None, request: str | None = None) -> ArenaRow | None:
        column, value = ("id", id) if id is not None else ("request", request)
        rows = self.query(f"SELECT id, name, request, created FROM arenas WHERE {column} = ?", (value,))
        if not rows and id is not None:
            self._not_lost(id)
        return ArenaRow(*rows[0]) if rows else None

    def events(self, arena: str, since: int = 0, limit: int | None = None) -> list[Event]:
        if limit is None:
            return list(self.stream(arena, since))
        self.heads.of(arena)
        return [log.read(*row) for row in self.query(SINCE, (arena, since, limit))]

    def stream(self, arena: str, since: int = 0) -> Iterator[Event]:
        """All events from there on, page by page. ``RolledBack`` if the last known one is not there any more."""

        def page(start: int) -> list[Row]:
            rows = self.query(SINCE, (arena, start, PAGE))
            if rows:
                self.heads.saw(arena, Head(rows[-1][0], rows[-1][-1]))
            return rows

        return self.checked(arena, since, page, PAGE)

    def checked(self, arena: str, since: int, read: Callable[[int], list[Row]], size: int) -> Iterator[Event]:
        """The events after ``since``, read in pages of ``size`` from the last known event on, which must be there. Each is
        decoded when its turn comes: thousands of bodies at a time would keep the garbage collector busy."""
        head = self.heads.of(arena)  # before anything is read: what others commit meanwhile is not missed
        start = min(since, head.number - 1) if head.number else since
        while True:
            page = read(start)
            self.heads.check(arena, head, start, page)
            for row in page if start >= since else [row for row in page if row[0] > since]:
                yield log.read(*row)
            start = page[-1][0] if page else start
            if not page or (len(page) < size and start <= since):  # a damaged index may end early: else it is asked again
                break
        if start < head.number:
            raise self.heads.lost(arena, head, f"the log ends with event {start}" if start else "the log is empty")

    def of_kind(self, arena: str, kind: str) -> Iterator[Event]:
        """All events of one kind, in order."""
        number = 0
        query = f"SELECT {COLUMNS} FROM events WHERE arena = ? AND number > ? AND kind = ? ORDER BY number LIMIT ?"
        while rows := self.query(query, (arena, number, kind, PAGE)):
            yield from (log.read(*row) for row in rows)
            number = rows[-1][0]

    def newest(self, arena: str, least: int, before: int, limit: int, kind: str = "") -> list[Event]:
        """The last events, newest first, from ``least`` on and before ``before``; of one kind, if it is given."""
        which = " AND kind = ?" if kind else ""
        query = f"SELECT {COLUMNS} FROM events WHERE arena = ? AND number >= ? AND number < ?{which} ORDER BY number DESC LIMIT ?"
        values = (arena, least, before, *([kind] if kind else []), limit)
        return [log.read(*row) for row in self.query(query, values)]

    def get_content(self, arena: str, sha256: str) -> bytes | None:
        rows = self.query("SELECT data FROM contents WHERE arena = ? AND sha256 = ?", (arena, sha256))
        return bytes(rows[0][0]) if rows else None

    def save_snapshot(self, arena: str, snapshot: Snapshot, part: str = "") -> None:
        columns = ("number", "hash", "format", "data", "sha256")
        updates = ", ".join(f"{column} = excluded.{column}" for column in columns)
        self.change(
            f"INSERT INTO snapshots (arena, {', '.join(columns)}) VALUES (?, ?, ?, ?, ?, ?) "
            f"ON CONFLICT (arena) DO UPDATE SET {updates}",
            (_cache_name(arena, part), *snapshot, hashlib.sha256(snapshot.data).hexdigest()),
        )

    def load_snapshot(self, arena: str, part: str = "") -> Snapshot | None:
        """None also if it is torn, or not of this log."""
        name = _cache_name(arena, part)
        rows = self.query("SELECT number, hash, format, data, sha256 FROM snapshots WHERE arena = ?", (name,))
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

    def beat(self, process: str, at: str) -> None:
        """A durable write that changes no arena."""
        self.change(
            "INSERT INTO heartbeats (process, at) VALUES (?, ?) ON CONFLICT (process) DO UPDATE SET at = excluded.at",
            (process, at),
        )

    def signing_key(self, fresh: str, at: str) -> str:
        """The private key that signs heads of logs; ``fresh`` becomes it where there is none."""
        known = self.query("SELECT private FROM signing_key")
        if not known:
            self.change(
                "INSERT INTO signing_key (id, private, created) VALUES (1, ?, ?) ON CONFLICT (id) DO NOTHING", (fresh, at)
            )
            known = self.query("SELECT private FROM signing_key")
        return str(known[0][0])

    def close(self) -> None:
        with self._guard:
            connections, self._free = self._free, []
        for connection in connections:
            with suppress(*self.errors):
                connection.close()


def _cache_name(arena: str, part: str) -> str:
    """What stands in the first column of a snapshot: the arena and, of another cache than its state, which one."""
    return f"{arena} {part}" if part else arena


def key_hash(arena: str, key: str) -> int:
    """64 bits, as a database stores them."""
    said = f"{arena} {key}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big", signed=True)


def key_rows(arena: str, events: Sequence[Event]) -> list[tuple[int, int]]:
    """(hash, number) for each key of each event, in the order in which a table keeps them."""
    rows = []
    for event in events:
        with suppress(KeyError, TypeError, AttributeError):  # an altered body, of a database from elsewhere
            rows += [(key_hash(arena, key), event.number) for key in dict.fromkeys(keys_of(event))]
    return sorted(rows)


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
