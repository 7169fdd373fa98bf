"""One policy for many processes: every ask and tell is an event in a database, and each process follows the events.

    with the database locked: read what other processes appended and do the same, then ask or tell, append the event, commit

A policy is deterministic: the same asks and tells lead to the same state everywhere. So each process holds a copy that it can
answer from at once, the database holds events and now and then a snapshot, and a process that starts, or comes back after it was
killed, begins with the snapshot and follows from there. What was committed stays: a page is told once, whichever process its
clicks reach, and a page of another policy, or of the same policy made anew, is refused by its fingerprint, which is drawn at
random once.

SQLite in a file by default, PostgreSQL by its URL. SQLite commits to its write-ahead log without waiting for the disk
(synchronous=NORMAL): killing a process loses nothing; a power failure may lose the last moments and damages nothing.
``durable=True`` waits for the disk.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from multiduel.engine.session.policy import Policy, make, restore
from multiduel.engine.session.slates import Slate
from multiduel.files import file_name
from multiduel.inputs import BadInput, finite, shortened
from multiduel.rankers.impression import Clicks, Impression

PATIENCE = 10.0  # seconds to wait for the transaction of another process
SNAPSHOT_EVERY = 5_000  # events
MOST_KEY = 1_000  # characters
POSTGRES = ("postgresql://", "postgres://")
TABLES = (
    "CREATE TABLE IF NOT EXISTS policies (name TEXT PRIMARY KEY, about TEXT NOT NULL, snapshot TEXT NOT NULL, "
    "event BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS events (policy TEXT NOT NULL, number BIGINT NOT NULL, kind TEXT NOT NULL, round BIGINT NOT NULL, "
    "body TEXT NOT NULL, PRIMARY KEY (policy, number))",
    "CREATE TABLE IF NOT EXISTS open_pages (policy TEXT NOT NULL, round BIGINT NOT NULL, time DOUBLE PRECISION NOT NULL, "
    "key TEXT, arms TEXT NOT NULL, PRIMARY KEY (policy, round))",
    "CREATE INDEX IF NOT EXISTS open_by_time ON open_pages (policy, time)",
    "CREATE UNIQUE INDEX IF NOT EXISTS open_by_key ON open_pages (policy, key)",
)


class SharedPolicy:
    """A policy that any number of processes and threads may ask and tell.

    Parameters
    ----------
    where
        A file, for SQLite, or the URL of a PostgreSQL database (``postgresql://...``, which needs the extra ``postgres``).
    policy
        Name of the policy, as for ``make``. The process that comes first makes it; the others must ask for the same.
    experiment
        Name of the experiment: one database may hold several.
    durable
        Whether SQLite waits for the disk with every ask and tell.
    **options
        ``n_arms``, ``slate_size``, ``seed`` and the policy's parameters, as for ``make``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "policy.db"
    >>> one, two = (SharedPolicy(file, "uniform", n_arms=3, slate_size=3) for _ in range(2))  # in two processes
    >>> from multiduel.rankers import multileave
    >>> page = multileave([["a", "b"], ["b", "a"], ["c"]], one.ask(), policy=one)
    >>> two.tell(page, page["documents"][:1]), one.tell(page, [])  # once, whichever process hears of it
    (True, False)
    """

    def __init__(
        self, where: str | os.PathLike[str], policy: str, *, experiment: str = "rankers", durable: bool = False, **options: Any
    ) -> None:
        if not isinstance(experiment, str) or not 1 <= len(experiment) <= 200:
            raise BadInput(f"'experiment' must be a name of 1 to 200 characters. Got {shortened(experiment)}.")
        self.experiment = experiment
        self._lock = threading.RLock()
        self._connect = _connector(where, durable)
        self._process = 0
        self._connection: Any = None
        self._policy: Policy | None = None
        self._seen = self._saved = 0  # the last event that the copy knows, and that of the last snapshot it knows of
        self._changed = False
        fresh = make(policy, **options)
        about = {"policy": fresh.spec.name, "n_arms": fresh.n_arms, "params": fresh.snapshot()["params"]}
        with self._writing(make_tables=True) as run:
            row = run("SELECT about FROM policies WHERE name = ?", self.experiment).fetchone()
            if row is None:
                values = (self.experiment, json.dumps(about), json.dumps(fresh.snapshot()), 0)
                run("INSERT INTO policies (name, about, snapshot, event) VALUES (?, ?, ?, ?)", *values)
            elif json.loads(row[0]) != json.loads(json.dumps(about)):
                raise BadInput(
                    f"Experiment '{experiment}' is at work with {shortened(json.loads(row[0]), 200)}. Give the same, or another "
                    f"'experiment'. Got {shortened(about, 200)}."
                )

    def __repr__(self) -> str:
        return f"SharedPolicy({self.experiment!r})"

    @property
    def fingerprint(self) -> str:
        """Identity of the policy, the same in all processes."""
        with self._reading() as policy:
            return policy.fingerprint

    @property
    def round(self) -> int:
        """Rounds asked so far, by all processes."""
        with self._reading() as policy:
            return policy.round

    def ask(self, *, key: str | None = None) -> Slate:
        """Choose the rankers for the next page.

        Parameters
        ----------
        key
            Who asks for what, such as user and query: as long as that page is open, the same key gets the same slate again, so
            that a page that is loaded again stays the same (with the same ``seed`` for ``multileave``: see ``page_seed``).

        Returns
        -------
        Slate
            The round and the rankers to mix.
        """
        if key is not None and (not isinstance(key, str) or not 1 <= len(key) <= MOST_KEY):
            raise BadInput(f"'key' must be a text of 1 to {MOST_KEY:,} characters. Got {shortened(key)}.")
        with self._writing() as run:
            policy = self._follow(run)
            if key is not None:
                open = run("SELECT round, arms FROM open_pages WHERE policy = ? AND key = ?", self.experiment, key).fetchone()
                if open is not None:
                    return Slate(int(open[0]), tuple(json.loads(open[1])))
            self._changed = True
            slate = policy.ask()
            arms = json.dumps(slate.arms)
            self._append(run, "ask", slate.round, arms)
            if len(slate.arms) > 1:
                values = (self.experiment, slate.round, clock.time(), key, arms)
                run("INSERT INTO open_pages (policy, round, time, key, arms) VALUES (?, ?, ?, ?, ?)", *values)
            return slate

    def tell(self, page: Impression, clicks: Clicks) -> bool:
        """Learn the clicks on a page, once.

        Parameters
        ----------
        page
            What ``multileave`` made for a slate of this policy.
        clicks
            As for ``credit``.

        Returns
        -------
        bool
            True if it counted; False if this page was told or swept before, by whichever process.

        Raises
        ------
        BadInput
            If the page is of another policy, or was never asked for.
        """
        if not isinstance(page, Impression):
            raise BadInput(
                "'tell' takes an impression; one that went through JSON as rankers.Impression(it). Got something else."
            )
        told = page.told(clicks)
        with self._writing() as run:
            policy = self._follow(run)
            if told.policy != policy.fingerprint:
                raise BadInput(
                    f"This page was made for another policy: its fingerprint is {told.policy}, not {policy.fingerprint}."
                )
            slate = Slate(told.round, told.arms)
            if len(told.arms) < 2 or (told.round <= policy.round and not _is_open(policy, told.round)):
                return False
            wins = np.asarray(told.wins, np.float64)
            policy.tell(slate, wins)
            self._append(run, "tell", slate.round, json.dumps(wins.tolist()))
            run("DELETE FROM open_pages WHERE policy = ? AND round = ?", self.experiment, slate.round)
            self._snapshot_if_due(run, policy)
            return True

    def sweep(self, seconds: float = 1800.0, *, most: int = 10_000) -> int:
        """Forget pages that have waited too long for clicks. Clicks that come later stay in the log.

        Parameters
        ----------
        seconds
            How long a page waits for its clicks.
        most
            How many pages to forget at once at most: the others wait meanwhile.

        Returns
        -------
        int
            How many pages were forgotten.
        """
        if not finite("seconds", seconds, of="sweep") >= 0.0:
            raise BadInput(f"'seconds' of 'sweep' must be at least 0. Got {shortened(seconds)}.")
        with self._writing() as run:
            policy = self._follow(run)
            before = clock.time() - seconds
            query = "SELECT round, arms FROM open_pages WHERE policy = ? AND time < ? ORDER BY round LIMIT ?"
            rows = run(query, self.experiment, before, int(most)).fetchall()
            for round, arms in rows:
                self._changed = True
                self._forget(policy, int(round), arms)
                self._append(run, "forget", int(round), arms)
                run("DELETE FROM open_pages WHERE policy = ? AND round = ?", self.experiment, int(round))
            self._snapshot_if_due(run, policy)
            return len(rows)

    def policy(self) -> Policy:
        """Return a copy of the policy, for ``recommend``, ``verdict`` and ``snapshot``.

        Returns
        -------
        Policy
            What is told to the copy stays in the copy.
        """
        with self._reading() as policy:
            return restore(policy.snapshot())

    def close(self) -> None:
        """Save a snapshot, so that the next process starts at once, and close the connection."""
        with self._writing() as run:
            self._snapshot(run, self._follow(run))
        with self._lock:
            self._connection.close()
            self._connection = self._policy = None

    # ---- following ----

    @contextmanager
    def _writing(self, make_tables: bool = False) -> Iterator[Callable[..., Any]]:
        """A transaction that no other process is in. If it fails, this process's copy is thrown away and made anew."""
        with self._lock:
            if self._connection is None or self._process != os.getpid():  # a connection does not survive a fork
                self._connection, self._process, self._policy = self._connect(), os.getpid(), None
            if make_tables:
                self._connection.make(TABLES)
            self._changed = False
            try:
                with self._connection.transaction(self.experiment) as run:
                    yield run
            except BadInput:  # refused input changes nothing, and then the copy is still right
                self._policy = None if self._changed else self._policy
                raise
            except self._connection.errors as error:
                self._policy = None
                raise BadInput(f"The database of experiment '{self.experiment}' refused: {str(error).strip()}.") from error
            except BaseException:
                self._policy = None
                raise

    @contextmanager
    def _reading(self) -> Iterator[Policy]:
        with self._writing() as run:
            yield self._follow(run)

    def _follow(self, run: Callable[..., Any]) -> Policy:
        """This process's copy of the policy, after all events so far."""
        query = "SELECT number, kind, round, body FROM events WHERE policy = ? AND number > ? ORDER BY number"
        rows = run(query, self.experiment, self._seen).fetchall()
        if self._policy is None or (rows and rows[0][0] != self._seen + 1):  # or it slept while events were thrown away
            row = run("SELECT snapshot, event FROM policies WHERE name = ?", self.experiment).fetchone()
            if row is None:
                raise BadInput(f"Experiment '{self.experiment}' is no longer in its database.")
            self._policy, self._seen = restore(json.loads(row[0])), int(row[1])
            self._saved = self._seen
            rows = run(query, self.experiment, self._seen).fetchall()
        policy = self._policy
        for number, kind, round, body in rows:
            self._changed = True  # until this event is done
            if kind == "ask":
                slate = policy.ask()
                if slate != (round, tuple(json.loads(body))):
                    raise BadInput(
                        f"Round {round} of experiment '{self.experiment}' was {body} where it was asked, and {list(slate.arms)} "
                        "here: all processes must run the same version of multiduel."
                    )
            elif kind == "tell":
                policy.tell(Slate(int(round), policy._open[int(round)]), np.array(json.loads(body)))
            else:
                self._forget(policy, int(round), body)
            self._seen = int(number)
        self._changed = False
        return policy

    @staticmethod
    def _forget(policy: Policy, round: int, arms: str) -> None:
        if _is_open(policy, round):  # of very many open pages a policy forgets the oldest by itself
            policy.forget(Slate(round, tuple(json.loads(arms))))

    def _append(self, run: Callable[..., Any], kind: str, round: int, body: str) -> None:
        self._changed = True
        self._seen += 1
        values = (self.experiment, self._seen, kind, round, body)
        run("INSERT INTO events (policy, number, kind, round, body) VALUES (?, ?, ?, ?, ?)", *values)

    def _snapshot_if_due(self, run: Callable[..., Any], policy: Policy) -> None:
        if self._seen - self._saved >= SNAPSHOT_EVERY:
            self._snapshot(run, policy)

    def _snapshot(self, run: Callable[..., Any], policy: Policy) -> None:
        """Events before the last snapshot but one are no longer needed by anybody who is not asleep."""
        (before,) = run("SELECT event FROM policies WHERE name = ?", self.experiment).fetchone()
        saved = (json.dumps(policy.snapshot()), self._seen, self.experiment)
        run("UPDATE policies SET snapshot = ?, event = ? WHERE name = ?", *saved)
        self._saved = self._seen
        run("DELETE FROM events WHERE policy = ? AND number <= ?", self.experiment, before)


def _is_open(policy: Policy, round: int) -> bool:
    return round in policy._open


def _connector(where: str | os.PathLike[str], durable: bool) -> Callable[[], Any]:
    if isinstance(where, str) and where.startswith(POSTGRES):
        return lambda: _Postgres(where)
    path = os.path.abspath(file_name(where))
    if not os.path.isdir(os.path.dirname(path)):
        raise BadInput(f"'{where}' must lie in a folder that exists. Got no such folder.")
    return lambda: _Sqlite(path, durable)


class _Sqlite:
    errors = (sqlite3.Error,)

    def __init__(self, path: str, durable: bool) -> None:
        try:
            self._of = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            self._of.execute("PRAGMA journal_mode=WAL")
            self._of.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        except sqlite3.Error as error:
            raise BadInput(f"'{path}' cannot be used as a database: {error}.") from None

    def make(self, tables: tuple[str, ...]) -> None:
        for table in tables:
            self._of.execute(table)

    @contextmanager
    def transaction(self, experiment: str) -> Iterator[Callable[..., Any]]:
        self._of.execute("BEGIN IMMEDIATE")
        try:
            yield lambda query, *values: self._of.execute(query, values)
        except BaseException:
            self._of.execute("ROLLBACK")
            raise
        self._of.execute("COMMIT")

    def close(self) -> None:
        self._of.close()


class _Postgres:
    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise BadInput("PostgreSQL needs psycopg: install multiduel[postgres].") from None
        self.errors = (psycopg.Error,)
        try:
            self._of = psycopg.connect(url, autocommit=True, connect_timeout=int(PATIENCE))
        except psycopg.Error as error:
            raise BadInput(f"The database cannot be reached: {str(error).strip()}.") from None

    def make(self, tables: tuple[str, ...]) -> None:
        with self._of.transaction():
            self._of.execute(
                "SELECT pg_advisory_xact_lock(8317562)"
            )  # two who make the same table at once would disturb each other
            for table in tables:
                self._of.execute(table)

    @contextmanager
    def transaction(self, experiment: str) -> Iterator[Callable[..., Any]]:
        with self._of.transaction():
            self._of.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (experiment,))
            yield lambda query, *values: self._of.execute(query.replace("?", "%s"), values)

    def close(self) -> None:
        self._of.close()
