"""Every call of a judge, kept in a file and found again by what was asked; and the tickets that a run has not answered yet.

A call is paid for once: a run that was killed loses at most the calls that were under way. Keys are never part of a call.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from multiduel.arena.domain.events import canonical
from multiduel.arena.judges.questions import Reply
from multiduel.files import file_name
from multiduel.inputs import BadInput

FORMAT = 1
TABLES = """
CREATE TABLE IF NOT EXISTS about (format INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, judge TEXT NOT NULL, at REAL NOT NULL, seconds REAL NOT NULL,
    tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, request TEXT NOT NULL, answer TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS judgements (
    arena TEXT NOT NULL, ticket TEXT NOT NULL, judge TEXT NOT NULL, turned INTEGER NOT NULL,
    key TEXT NOT NULL, ballot TEXT NOT NULL,
    PRIMARY KEY (ticket, judge, turned)
);
CREATE TABLE IF NOT EXISTS asks (
    arena TEXT NOT NULL, rater TEXT NOT NULL, request TEXT NOT NULL, PRIMARY KEY (arena, rater, request)
);
"""


class Call(NamedTuple):
    """A call that was made, now or before."""

    key: str
    answer: str
    seconds: float
    tokens_in: int
    tokens_out: int
    new: bool  # made now, and not found


class Judgement(NamedTuple):
    """What one judge said of one ticket in one order, in the positions of the ticket."""

    ticket: str
    judge: str
    turned: bool
    ballot: dict[str, Any]
    answer: str


class Calls:
    """The file of calls. Threads may share it.

    >>> calls = Calls(":memory:")
    >>> made = calls.call("me", {"ask": 1}, lambda: Reply("yes"))
    >>> again = calls.call("me", {"ask": 1}, lambda: Reply("no"))
    >>> made.new, again.new, again.answer
    (True, False, 'yes')
    >>> calls.close()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = file_name(path)
        self._lock = threading.RLock()
        self._busy: dict[str, threading.Lock] = {}
        try:
            self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")  # what was paid for is not lost with the power either
            self._db.executescript(TABLES)
            known = self._db.execute("SELECT format FROM about").fetchone()
            if known is None:
                self._db.execute("INSERT INTO about VALUES (?)", (FORMAT,))
            elif known[0] != FORMAT:
                raise BadInput(f"'{self.path}' is of format {known[0]}; this version reads format {FORMAT}.")
        except sqlite3.Error as error:
            raise BadInput(f"'{self.path}' cannot be used as a file of calls: {error}.") from None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def call(self, judge: str, request: Mapping[str, Any], make: Callable[[], Reply], *, name: str = "") -> Call:
        """Find the call with this request to this judge, or make it and keep it. The same call is under way once at a time.

        Parameters
        ----------
        judge
            What tells judges with different answers apart.
        request
            All that the answer depends on.
        make
            Makes the call.
        name
            The judge's name, for people.

        Returns
        -------
        Call
            The call.
        """
        text = canonical(request)
        key = hashlib.sha256(f"{judge}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
        with self._lock:
            busy = self._busy.setdefault(key, threading.Lock())
        with busy:
            found = self._find(key)
            if found is not None:
                return found
            begun = time.perf_counter()
            reply = make()
            seconds = time.perf_counter() - begun
            row = (key, name or judge, time.time(), seconds, reply.tokens_in, reply.tokens_out, text, reply.text)
            with self._lock:
                self._db.execute("INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            return Call(key, reply.text, seconds, reply.tokens_in, reply.tokens_out, True)

    def _find(self, key: str) -> Call | None:
        with self._lock:
            row = self._db.execute("SELECT answer, seconds, tokens_in, tokens_out FROM calls WHERE key = ?", (key,)).fetchone()
        return None if row is None else Call(key, row[0], row[1], row[2], row[3], False)

    def keep(self, arena: str, ticket: str, judge: str, turned: bool, key: str, ballot: Mapping[str, Any]) -> None:
        """Keep what a judge said of a ticket."""
        row = (arena, ticket, judge, int(turned), key, canonical(ballot))
        with self._lock:
            self._db.execute("INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?, ?, ?)", row)

    def judgements(self, arena: str) -> list[Judgement]:
        """All that judges said of an arena's tickets."""
        sql = (
            "SELECT ticket, j.judge, turned, ballot, answer FROM judgements j JOIN calls USING (key) "
            "WHERE arena = ? ORDER BY j.rowid"
        )
        with self._lock:
            rows = self._db.execute(sql, (arena,)).fetchall()
        return [
            Judgement(ticket, judge, bool(turned), json.loads(ballot), answer) for ticket, judge, turned, ballot, answer in rows
        ]

    def costs(self, arena: str) -> dict[str, tuple[int, int, int, float]]:
        """Calls, tokens in, tokens out and seconds by judge, of the calls behind an arena's judgements."""
        sql = (
            "SELECT judge, count(*), sum(tokens_in), sum(tokens_out), sum(seconds) FROM calls WHERE key IN "
            "(SELECT key FROM judgements WHERE arena = ?) GROUP BY judge"
        )
        with self._lock:
            rows = self._db.execute(sql, (arena,)).fetchall()
        return {judge: (calls, tokens_in, tokens_out, seconds) for judge, calls, tokens_in, tokens_out, seconds in rows}

    def begin(self, arena: str, rater: str, request: str) -> None:
        """Note that a ticket is asked for under this request."""
        with self._lock:
            self._db.execute("INSERT OR IGNORE INTO asks VALUES (?, ?, ?)", (arena, rater, request))

    def end(self, arena: str, rater: str, request: str) -> None:
        """Note that this ticket is voted on."""
        with self._lock:
            self._db.execute("DELETE FROM asks WHERE arena = ? AND rater = ? AND request = ?", (arena, rater, request))

    def open_asks(self, arena: str, rater: str) -> list[str]:
        """The requests whose tickets are not voted on yet: a run goes on with these."""
        with self._lock:
            rows = self._db.execute("SELECT request FROM asks WHERE arena = ? AND rater = ? ORDER BY rowid", (arena, rater))
            return [row[0] for row in rows.fetchall()]
