"""Faults stay where they are: in their command, in their arena. No other waits for them, and nobody waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import (
    AdmitRater,
    Ask,
    Conflict,
    Create,
    ImportVotes,
    Open,
    Quarantine,
    Service,
    Settings,
    Ticket,
    Unavailable,
    Undo,
    Vote,
    VoteLine,
    connect,
)
from multiduel.arena.files.verify import verify
from multiduel.arena.service import handlers, writers
from multiduel.arena.service import service as module
from multiduel.arena.service.service import Order
from multiduel.arena.service.snapshots import digest
from multiduel.inputs import BadInput
from tests.arena.folding import fold
from tests.arena.play import an_arena, full_disk, options, running, ticket_for
from tests.arena.service.test_service import held_up

RANKED = {"rank": [0, 1, 2]}
LINES = [VoteLine(f"{k}", {"rank": [0, 1]}, shown=["o1", "o2"], rater="paper") for k in range(module.MANY + 1)]


@pytest.fixture
def folds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arenas whose log was folded, one after the other."""
    seen: list[str] = []
    load = module.load

    def counted(arena: str, snapshot: Any, past: Any) -> Any:
        seen.append(arena)
        return load(arena, snapshot, past)

    monkeypatch.setattr(module, "load", counted)
    return seen


def same_as_its_log(service: Service, arena: str) -> bool:
    return service.digest(arena) == digest(fold(service.events(arena), arena)) and verify(service.journal, arena).good


# ---- commands that fail


@pytest.mark.parametrize(
    "error", [ZeroDivisionError, UnicodeEncodeError("utf-8", "x", 0, 1, "no"), SystemExit, KeyboardInterrupt]
)
def test_command_that_fails_before_its_first_event_costs_nothing_but_itself(
    service: Service, monkeypatch: pytest.MonkeyPatch, folds: list[str], error: Any
) -> None:
    arena, (rater, other) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")

    def fails(decision: Any, command: Any) -> Any:
        raise error

    monkeypatch.setitem(handlers.HANDLERS, Undo, fails)
    folds.clear()
    with held_up(service, arena):
        commits = service.commits
        futures = [
            service.submit(command) for command in (Vote(ticket.id, RANKED), Undo(arena, rater, "1"), Ask(arena, other, "1"))
        ]
    assert futures[0].result(20).counted == "counted"
    assert isinstance(futures[1].exception(20), Exception), "SystemExit, raised elsewhere, would end the server"
    assert isinstance(futures[2].result(20), Ticket)
    assert service.commits == commits + 1, "the one that was held up and all three have one"
    assert folds == []
    assert same_as_its_log(service, arena)


def test_command_that_fails_half_way_is_undone_and_the_others_are_carried_out(
    service: Service, monkeypatch: pytest.MonkeyPatch, folds: list[str]
) -> None:
    arena, (rater, other) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")

    def fails(decision: Any, command: Any) -> Any:
        decision.emit("paused", {})
        raise SystemExit

    monkeypatch.setitem(handlers.HANDLERS, Undo, fails)
    folds.clear()
    with held_up(service, arena):
        futures = [
            service.submit(command)
            for command in (Vote(ticket.id, RANKED), Undo(arena, rater, "1"), Ask(arena, other, "1"), Undo(arena, rater, "2"))
        ]
    assert futures[0].result(20).counted == "counted"
    assert isinstance(futures[2].result(20), Ticket)
    assert all(isinstance(futures[k].exception(20), Exception) for k in (1, 3))
    assert folds == [arena, arena], "once for each that failed, and not for the others"
    assert "paused" not in [event.kind for event in service.events(arena)]
    assert same_as_its_log(service, arena)


def test_event_that_fails_in_the_fold_is_noticed_as_half_way(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of the last event is still the old one, but the state is not."""
    arena, (rater, _) = an_arena(service)
    monkeypatch.setitem(
        handlers.HANDLERS, Undo, lambda decision, command: decision.emit("vote", {"ticket": None, "shown": ["o1"]})
    )
    with pytest.raises(Exception, match="does not fit"):
        service.do(Undo(arena, rater, "1"))
    assert same_as_its_log(service, arena)


def test_choice_without_its_ticket_is_not_kept(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that was asked has drawn its luck: the next ticket must come out as it would without the failure."""
    arena, (rater, _) = an_arena(service)
    ticket_for(service, arena, rater, "1")

    def fails(decision: Any, command: Any) -> Any:
        decision.state.choose()
        raise BadInput("Too late.")

    monkeypatch.setitem(handlers.HANDLERS, Undo, fails)
    with pytest.raises(BadInput):
        service.do(Undo(arena, rater, "1"))
    other = service.do(AdmitRater(arena, "late"))
    ticket_for(service, arena, other, "1")
    assert verify(service.journal, arena).good


def test_commands_on_a_full_disk_do_not_fold_the_log_again_and_again(service: Service, folds: list[str]) -> None:
    arena, (rater, _) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")
    folds.clear()
    with full_disk(service):
        for _ in range(5):
            with pytest.raises(Unavailable, match="disk is full"):
                service.do(Vote(ticket.id, RANKED))
    assert service.do(Vote(ticket.id, RANKED)).counted == "counted"
    assert len(folds) <= 1
    assert same_as_its_log(service, arena)


def test_journal_that_cannot_be_read_for_a_moment_costs_no_fold(
    service: Service, monkeypatch: pytest.MonkeyPatch, folds: list[str]
) -> None:
    arena, _ = an_arena(service)
    service.info(arena)
    folds.clear()

    def fails(*arguments: Any) -> Any:
        raise Unavailable("Not now.")

    monkeypatch.setattr(service.journal, "stream", fails)
    with pytest.raises(Unavailable):
        service.info(arena)
    monkeypatch.undo()
    service.info(arena)
    assert folds == []


def test_text_that_no_database_can_hold_is_refused_for_every_command(db: str) -> None:
    with running(db) as service:
        arena, (rater, _) = an_arena(service)
        ticket = ticket_for(service, arena, rater, "1")
        service.do(Vote(ticket.id, RANKED))
        events = service.info(arena).events
        for bad in ("\ud800", "a\udfffb", "\0"):
            for command in (
                Undo(arena, rater, bad), Ask(arena, rater, bad), AdmitRater(arena, "x", request=bad),
                Quarantine(arena, rater, bad), Create("x", Settings(), options(2), request=bad), Vote(ticket.id, {bad: 1}),
                Vote(ticket.id, RANKED, next_request=bad),
                ImportVotes(arena, [VoteLine(bad, {"rank": [0, 1]}, shown=["o1", "o2"])]),
            ):  # fmt: skip
                with pytest.raises(BadInput, match="whole characters"):
                    service.do(command, timeout=20)
            with pytest.raises(Exception, match="no arena"):
                service.info(bad)
        assert service.info(arena).events == events
        assert len(service.arenas()) == 1


# ---- long work


class Slow:
    """Imports that begin and then wait until they are let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go = threading.Semaphore(0), threading.Event()
        honest = handlers.HANDLERS[ImportVotes]

        def slowly(decision: Any, command: Any) -> Any:
            self.begun.release()
            assert self.go.wait(60)
            return honest(decision, command)

        monkeypatch.setitem(handlers.HANDLERS, ImportVotes, slowly)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    one = Slow(monkeypatch)
    yield one
    one.go.set()


def test_import_holds_up_no_other_arena(db: str, slow: Slow) -> None:
    """Neither the writers nor the database: SQLite has one lock for all arenas."""
    with running(db) as service:
        busy, _ = an_arena(service)
        arena, (rater, _) = an_arena(service)
        importing = service.submit(ImportVotes(busy, LINES))
        assert slow.begun.acquire(timeout=20)
        ticket = service.do(Ask(arena, rater, "1"), timeout=20)
        assert service.do(Vote(ticket.id, RANKED, next=True), timeout=20).counted == "counted"
        assert service.board(arena).answers == 1
        assert service.do(Create("another", Settings(), options(2)), timeout=20).status == "created"
        assert not importing.done()
        slow.go.set()
        assert importing.result(20).accepted
        assert service.board(busy).answers == len(LINES)
        assert same_as_its_log(service, busy) and same_as_its_log(service, arena)


def test_imports_of_many_arenas_leave_writers_for_votes(service: Service, slow: Slow) -> None:
    arena, (rater, _) = an_arena(service)
    busy = [an_arena(service)[0] for _ in range(writers.WRITERS + 1)]
    importing = [service.submit(ImportVotes(one, LINES)) for one in busy]
    for _ in range(writers.LONG):
        assert slow.begun.acquire(timeout=20)
    ticket = service.do(Ask(arena, rater, "1"), timeout=20)
    assert service.do(Vote(ticket.id, RANKED), timeout=20).counted == "counted"
    assert not slow.begun.acquire(timeout=0.05), "the others wait for their turn"
    slow.go.set()
    assert all(one.result(60).accepted for one in importing)


def test_import_that_another_process_overtakes_is_decided_again(db: str, slow: Slow) -> None:
    with running(db) as service, running(db) as other:
        arena, (rater, _) = an_arena(service)
        importing = service.submit(ImportVotes(arena, LINES))
        assert slow.begun.acquire(timeout=20)
        ticket = other.do(Ask(arena, rater, "1"), timeout=20)
        assert other.do(Vote(ticket.id, RANKED), timeout=20).counted == "counted"
        slow.go.set()
        report = importing.result(60)
        assert report.accepted and [line.result for line in report.lines] == ["new"] * len(LINES)
        assert service.board(arena).answers == other.board(arena).answers == len(LINES) + 1
        assert same_as_its_log(service, arena)
        assert [line.result for line in service.do(ImportVotes(arena, LINES)).lines] == ["already"] * len(LINES)


def test_import_that_cannot_be_written_is_there_not_at_all(service: Service) -> None:
    arena, _ = an_arena(service)
    events = service.info(arena).events
    with full_disk(service), pytest.raises(Unavailable):
        service.do(ImportVotes(arena, LINES))
    assert service.info(arena).events == events
    assert [line.result for line in service.do(ImportVotes(arena, LINES)).lines] == ["new"] * len(LINES)
    assert same_as_its_log(service, arena)


def test_more_events_than_fit_into_a_statement_are_appended_in_order(db: str) -> None:
    with running(db) as service:
        arena, _ = an_arena(service)
        lines = [VoteLine(f"{k}", {"rank": [0, 1]}, shown=["o1", "o2"]) for k in range(1_203)]
        assert service.do(ImportVotes(arena, lines)).accepted
        assert [event.number for event in service.events(arena)] == list(range(1, service.info(arena).events + 1))
        assert verify(service.journal, arena).good


# ---- the writers


def test_commands_of_one_arena_keep_their_order(service: Service) -> None:
    arena, _ = an_arena(service)
    with held_up(service, arena):
        futures = [
            service.submit(ImportVotes(arena, LINES)),
            service.submit(AdmitRater(arena, "paper")),
            service.submit(Open(arena)),
        ]
    assert futures[0].result(20).accepted
    assert isinstance(futures[1].exception(20), Conflict), "the import has admitted this rater before"


def test_writer_that_dies_is_seen_and_nobody_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(connect(tmp_path / "a.db"))
    arena, _ = an_arena(service)
    assert service.stuck() == ""

    def dies() -> Any:
        raise SystemExit

    with held_up(service, arena):
        monkeypatch.setattr(service._writers, "_next", dies)
        waiting = service._writers.submit("other", Order(Open("other")))  # a writer wakes for it, and dies
    assert isinstance(waiting.exception(20), Unavailable)
    assert "ended" in service.stuck()
    with pytest.raises(Unavailable, match="Restart"):
        service.submit(Open(arena))
    service.close()


def test_command_that_does_not_end_is_seen(service: Service, slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    arena, _ = an_arena(service)
    importing = service.submit(ImportVotes(arena, LINES))
    assert slow.begun.acquire(timeout=20)
    assert service.stuck() == ""
    monkeypatch.setattr(writers, "NO_END", -1.0)
    assert "in work" in service.stuck()
    slow.go.set()
    importing.result(20)


def test_command_that_no_writer_takes_is_seen(service: Service, slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = [an_arena(service)[0] for _ in range(writers.LONG + 1)]
    importing = [service.submit(ImportVotes(one, LINES)) for one in busy]
    for _ in range(writers.LONG):
        assert slow.begun.acquire(timeout=20)
    assert service.stuck() == ""
    monkeypatch.setattr(writers, "NO_WRITER", -1.0)
    assert "waiting for a writer" in service.stuck()
    slow.go.set()
    assert all(one.result(60).accepted for one in importing)


# ---- the heart


def test_heartbeat_is_a_durable_write_and_kept_for_a_while(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(db) as service:
        beats: list[str] = []
        honest = service.journal.beat
        monkeypatch.setattr(service.journal, "beat", lambda process, at: (beats.append(at), honest(process, at))[1])
        for _ in range(5):
            service.heartbeat().result(20)
        assert len(beats) == 1, "probes do not hammer the disk"
        assert service.journal.query("SELECT COUNT(*) FROM heartbeats")[0][0] == 1  # type: ignore[attr-defined]


def test_votes_prove_that_writing_works(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(process: str, at: str) -> None:
        raise AssertionError("a vote was written a moment ago")

    monkeypatch.setattr(service.journal, "beat", unwanted)
    an_arena(service)
    service.heartbeat().result(20)


def test_retry_that_writes_nothing_proves_nothing(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    arena, _ = an_arena(service)
    monkeypatch.setattr(module, "FRESH", 0.0)
    written = service._written
    service.do(Open(arena))  # it is open
    assert service._written == written
    service.heartbeat().result(20)
    assert service._written > written


def test_heartbeat_fails_on_a_full_disk_and_recovers(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FRESH", 0.0)
    with full_disk(service), pytest.raises(Unavailable, match="disk is full"):
        service.heartbeat().result(20)
    service._beat = None  # as if a second had passed
    service.heartbeat().result(20)
