"""Faults by plan: every operation on the journal's connection fails once, in turn; after each the audit.

An operation is a read, a write, a begin, a commit, an opening. It fails before it took effect, or after: then it happened, and
only the answer is lost. Two in a row fail as well, so that a rollback and what comes after a failure have their turn.
"""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from multiduel.arena import (
    AdmitRater,
    Ask,
    Create,
    Open,
    PrintTickets,
    Quarantine,
    Release,
    Service,
    Settings,
    Ticket,
    Unavailable,
    Undo,
    Vote,
    connect,
)
from multiduel.arena.journal import Secret
from multiduel.arena.journal.sql import SqlJournal
from multiduel.arena.journal.sqlite import SqliteJournal
from multiduel.arena.service.handlers import HANDLERS
from multiduel.arena.service.snapshots import save
from tests.arena.play import options
from tests.arena.torture.audit import audit, sent
from tests.arena.torture.sabotaged import HOW
from tests.arena.torture.stream import Ledger, Promise, some_ballot

TRIES = 8  # of a command: a client goes on
HOW_TO_FAIL = ("before", "after", "twice")


class Plan:
    """Which operation fails, and how; counted are all, or those that begin with ``only``. No operation has the number 0."""

    def __init__(self, at: int = 0, how: str = "before", only: str = "") -> None:
        self.at, self.how, self.only = at, how, only
        self.operations = 0
        self.failed: list[str] = []
        self._guard = threading.Lock()

    def carry_out(self, what: str, do: Callable[[], Any], fail: Callable[[], Exception]) -> Any:
        with self._guard:
            counted = what.startswith(self.only)
            self.operations += counted
            fails = counted and self.at > 0 and 0 <= self.operations - self.at < (2 if self.how == "twice" else 1)
            if fails:
                self.failed.append(what)
        if fails and self.how != "after":
            raise fail()
        answer = do()
        if fails:
            raise fail()
        return answer


class Faulty:
    """A connection that fails by plan."""

    def __init__(self, real: Any, plan: Plan) -> None:
        self._real, self._plan = real, plan

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def _fail(self, sqlite: bool = False) -> Exception:
        if sqlite or isinstance(self._real, sqlite3.Connection):
            return sqlite3.OperationalError("disk I/O error")
        import psycopg

        if self._real is not None:
            self._real.close()  # it is the connection that breaks
        return psycopg.OperationalError("server closed the connection unexpectedly")

    def execute(self, statement: str, *words: Any) -> Any:
        return self._plan.carry_out(statement, lambda: self._real.execute(statement, *words), self._fail)

    def executemany(self, statement: str, rows: Any) -> Any:
        return self._plan.carry_out(statement, lambda: self._real.executemany(statement, rows), self._fail)

    def commit(self) -> None:
        self._plan.carry_out("COMMIT", self._real.commit, self._fail)

    def rollback(self) -> None:
        self._plan.carry_out("ROLLBACK", self._real.rollback, self._fail)

    def close(self) -> None:
        self._real.close()


@contextmanager
def failing(kind: type[SqlJournal], plan: Plan) -> Iterator[None]:
    """All connections of such journals fail by this plan."""
    honest = kind._open

    def opened(self: Any) -> Any:
        connections: list[Any] = []

        def fail() -> Exception:
            return Faulty(connections[0] if connections else None, plan)._fail(kind is SqliteJournal)

        plan.carry_out("OPEN", lambda: connections.append(honest(self)), fail)
        return Faulty(connections[0], plan)

    kind._open = opened  # type: ignore[method-assign]
    try:
        yield
    finally:
        kind._open = honest  # type: ignore[method-assign]


def insist(call: Callable[[], Any]) -> Any:
    for _ in range(TRIES):
        try:
            return call()
        except Unavailable as error:
            last = error
    raise last


def session(db: str, name: str, votes: int, ledger: Ledger, arenas: list[str]) -> list[dict[str, Any]]:
    """A life with every kind of operation, a restart in its midst. Returns the boards that were shown last."""
    rng = random.Random(3)
    half = votes // 2
    with serving(db) as service:
        create = Create(name, Settings(slate_size=3, seed=3, go_on=True), options(4), request=name)
        arena = insist(lambda: service.do(create)).id
        arenas.append(arena)
        insist(lambda: service.do(Open(arena)))
        raters = [insist(lambda k=k: service.do(AdmitRater(arena, f"rater {k}", request=f"{k}"))) for k in range(2)]
        insist(lambda: service.journal.secrets.put(arena, Secret("rater", raters[0], "hash")))
        tickets: dict[str, Any] = {}
        for turn in range(half):
            _vote(service, arena, raters[turn % 2], tickets, turn, rng, ledger)
        insist(lambda: service.do(Quarantine(arena, raters[1], "too quick")))
        insist(lambda: _snapshot(service, arena))
    with serving(db) as again:
        insist(lambda: again.do(Release(arena, raters[1])))
        for turn in range(half, votes):
            _vote(again, arena, raters[turn % 2], tickets, turn, rng, ledger)
        insist(lambda: again.do(PrintTickets(arena, 2, "print")))
        if insist(lambda: again.journal.secrets.get(arena, "rater")) != [Secret("rater", raters[0], "hash")]:
            ledger.problems.append("a secret is lost")
        return [sent(insist(lambda: again.board(arena)))]


@contextmanager
def serving(db: str) -> Iterator[Service]:
    service = Service(insist(lambda: connect(db)))
    try:
        yield service
    finally:
        service.close()


def _vote(
    service: Service, arena: str, rater: str, tickets: dict[str, Any], turn: int, rng: random.Random, ledger: Ledger
) -> None:
    """A vote on the rater's ticket; every third is sent again, every third is taken back."""
    ticket = tickets.get(rater)
    if not isinstance(ticket, Ticket):
        ticket = insist(lambda: service.do(Ask(arena, rater, f"ask {turn}")))
    ballot = some_ballot(rng, len(ticket.options))
    command = Vote(ticket.id, ballot, next=True)
    receipt = insist(lambda: service.do(command))
    ledger.votes.append(Promise(rater, ticket.id, ballot, receipt.event, time.time()))
    tickets[rater] = receipt.next
    if turn % 3 == 1 and insist(lambda: service.do(command)) != receipt:
        ledger.problems.append("the same vote again was answered otherwise")
    if turn % 3 == 2:
        undone = insist(lambda: service.do(Undo(arena, rater, f"undo {turn}")))
        ledger.undone[ticket.id] = undone.event
        tickets[rater] = undone.next


def _snapshot(service: Service, arena: str) -> None:
    with service.look(arena) as state:
        service.journal.save_snapshot(arena, save(state))


@dataclass
class Faults:
    sessions: int = 0
    operations: int = 0  # of a session in which nothing fails
    failed: dict[str, int] = field(default_factory=dict)  # first word of the operation -> how often it failed
    votes: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        kinds = ", ".join(f"{number} {word}" for word, number in sorted(self.failed.items()))
        counts = f"{self.operations} operations, {self.sessions} sessions, {self.votes} votes acknowledged; failed: {kinds}"
        return "\n".join([counts, *(f"FAILED: {problem}" for problem in self.problems[:10])])


def run_faults(
    db: str,
    *,
    votes: int = 12,
    every: int = 1,
    how: tuple[str, ...] = HOW_TO_FAIL,
    only: str = "",
    most_problems: int = 10,
) -> Faults:
    """Every ``every``-th operation fails, in each of the ways ``how``; then the audit."""
    connect(db).close()
    done = Faults()
    done.operations = one_session(db, "nothing fails", votes, Plan(only=only), done)
    for way in how:
        for at in range(1, 3 * done.operations, every):
            plan = Plan(at, way, only)
            one_session(db, f"{way} {at}", votes, plan, done)
            if not plan.failed or len(done.problems) >= most_problems:
                break
            for what in plan.failed:
                word = what.split()[0]
                done.failed[word] = done.failed.get(word, 0) + 1
    if done.votes < votes * done.sessions and not done.problems:
        done.problems.append(f"too few votes to prove anything: {done.votes} in {done.sessions} sessions")
    return done


def one_session(db: str, name: str, votes: int, plan: Plan, done: Faults) -> int:
    ledger, arenas, boards = Ledger(), [], []
    journal = connect(db)
    kind = type(journal)
    try:
        with failing(kind, plan):
            try:
                boards = session(db, f"{name} {time.time_ns()}", votes, ledger, arenas)
            except Exception as error:
                ledger.problems.append(f"the session ended with {error!r}")
        problems = audit(journal, arenas[0], ledger, boards) if arenas else list(ledger.problems)
    except Exception as error:
        problems = [*ledger.problems, f"the audit ended with {error!r}"]
    finally:
        journal.close()
    done.sessions += 1
    done.votes += len(ledger.votes)
    done.problems += [f"{name} ({', '.join(plan.failed)}): {problem}" for problem in problems]
    return plan.operations


# ---- services that break a promise


@contextmanager
def calls_a_failed_commit_done() -> Iterator[None]:
    honest = SqlJournal._commit

    def commit(self: SqlJournal, connection: Any) -> None:
        with suppress(*self.errors):
            connection.commit()

    SqlJournal._commit = commit  # type: ignore[method-assign]
    own = [(kind, kind.__dict__["_commit"]) for kind in SqlJournal.__subclasses__() if "_commit" in kind.__dict__]
    for kind, _ in own:
        del kind._commit
    try:
        yield
    finally:
        SqlJournal._commit = honest  # type: ignore[method-assign]
        for kind, method in own:
            kind._commit = method  # type: ignore[method-assign]


@contextmanager
def counts_a_retry_twice() -> Iterator[None]:
    honest = dict(HANDLERS)
    HOW["counts-a-retry-twice"]()
    try:
        yield
    finally:
        HANDLERS.update(honest)


SABOTAGED = {  # how -> what must be found out
    "calls-a-failed-commit-done": (calls_a_failed_commit_done, "acknowledged votes are lost"),
    "counts-a-retry-twice": (counts_a_retry_twice, "votes were counted twice"),
}
