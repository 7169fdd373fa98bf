"""Clocks that jump: events are in the order of their numbers, dates are the clock's, and a jump back is said."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from multiduel.arena import Ask, BrokenLog, Conflict, Service, Undo, Vote
from multiduel.arena.domain import events as log
from multiduel.arena.domain.clock import MARK, WallClock, dated, span, went_back
from multiduel.arena.files.imports import check_log, import_log
from multiduel.arena.files.verify import verify
from multiduel.arena.web.pages.event_text import Names, words
from multiduel.inputs import BadInput
from tests.arena.calling import Caller
from tests.arena.folding import fold
from tests.arena.play import Clock, an_arena, running, ticket_for

TEN_YEARS = 3650 * 86_400.0
FIRST = {"rank": [[0], [1], [2]]}


def vote(service: Service, clock: Clock, arena: str, rater: str, request: str) -> Any:
    ticket = ticket_for(service, arena, rater, request)
    clock.wait(5.0)
    return service.do(Vote(ticket.id, FIRST)).event


def test_a_clock_that_jumped_ten_years_and_back_leaves_todays_dates(service: Service, clock: Clock) -> None:
    arena, (ada, bob) = an_arena(service)
    vote(service, clock, arena, ada, "before")
    held = ticket_for(service, arena, bob, "held over the jump")
    clock.wait(TEN_YEARS)
    vote(service, clock, arena, ada, "during")
    open_ = ticket_for(service, arena, ada, "left open")
    ahead = service.do(Vote(held.id, FIRST))
    assert ahead.counted == "late"
    clock.wait(-TEN_YEARS)
    first = service.do(Vote(open_.id, FIRST)).event
    vote(service, clock, arena, ada, "after")
    events = service.events(arena)
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert {event.at[:4] for event in events[first - 1 :]} == {"2026"}
    assert {event.at[:4] for event in events[:first]} == {"2026", "2035"}
    assert [event.number for event in events if MARK in event.body] == [first], "said once"
    assert events[first - 1].body[MARK] == pytest.approx(TEN_YEARS, abs=60)
    report = verify(service.journal, arena)
    assert report.good and f"set back once, first before event {first}, by 3,650 days" in str(report)
    with service.look(arena) as state:
        assert "had been set back by 3,650 days" in words(events[first - 1], Names(state, events))
        assert "clock" not in words(events[first], Names(state, events))
    years = {datetime.fromtimestamp(at, UTC).year for at, _ in service.pace(arena)}
    assert years == {2026}, "a chart over ten years would show nothing"
    lines = {line.label: line.seconds for line in service.raters(arena)}
    assert lines == {"rater 0": 5.0, "rater 1": None}, "what a jump fell into is no answering time"


def test_tickets_of_the_future_block_no_place_for_ten_years(service: Service, clock: Clock) -> None:
    arena, (ada, bob) = an_arena(service, places=2, expires=600)
    clock.wait(TEN_YEARS)
    for request in ("one", "two"):
        ticket_for(service, arena, ada, request)
    clock.wait(-TEN_YEARS)
    assert vote(service, clock, arena, bob, "another's")
    with pytest.raises(Conflict, match="places"):
        service.do(Ask(arena, ada, "three"))
    clock.wait(601.0)
    assert ticket_for(service, arena, ada, "three").expires[:4] == "2026"  # type: ignore[index]
    one = service.do(Ask(arena, ada, "one"))
    assert service.do(Vote(one.id, FIRST)).counted == "late", "and what they answer is taken all the same"
    assert service.do(Undo(arena, ada, "undo")).counted == "undone"


def test_jumps_survive_a_restart_and_a_snapshot(tmp_path: Any, clock: Clock) -> None:
    with running(tmp_path / "a.db", clock) as service:
        arena, (ada, _) = an_arena(service, places=2, expires=600)
        clock.wait(TEN_YEARS)
        ticket_for(service, arena, ada, "one")
        clock.wait(-TEN_YEARS)
        ticket_for(service, arena, ada, "two")
        known = service.digest(arena)
    with running(tmp_path / "a.db", clock) as service:
        assert service.digest(arena) == known
        service.journal.drop_snapshots()
    with running(tmp_path / "a.db", clock) as service:
        assert service.digest(arena) == known
        with service.look(arena) as state:
            assert all(ticket.expires is not None and ticket.expires[:4] == "2026" for ticket in state.tickets.values())


def test_a_small_step_back_is_no_jump(service: Service, clock: Clock) -> None:
    arena, (ada, _) = an_arena(service)
    vote(service, clock, arena, ada, "before")
    clock.wait(-30.0)
    vote(service, clock, arena, ada, "after")
    events = service.events(arena)
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert not any(MARK in event.body for event in events)


def test_a_refused_command_leaves_the_jump_to_the_next_event(service: Service, clock: Clock) -> None:
    arena, (ada, _) = an_arena(service)
    clock.wait(-3600.0)
    with pytest.raises(Conflict):
        service.do(Undo(arena, ada, "nothing to undo"))
    vote(service, clock, arena, ada, "after")
    marked = [event for event in service.events(arena) if MARK in event.body]
    assert len(marked) == 1 and span(went_back(marked[0].body)) == "60 minutes"


def test_a_log_with_a_jump_can_be_imported_and_one_that_hides_it_cannot(service: Service, clock: Clock, tmp_path: Any) -> None:
    arena, (ada, _) = an_arena(service)
    clock.wait(-7200.0)
    vote(service, clock, arena, ada, "after")
    events = service.events(arena)
    with service.look(arena) as state:
        sha256s = {content["sha256"] for option in state.options for content in option.contents}
    contents = {sha256: service.journal.get_content(arena, sha256) or b"" for sha256 in sha256s}
    with running(tmp_path / "other.db", clock) as other:
        assert import_log(other, events, contents).events == len(events)
    hidden: list[log.Event] = []
    for event in events:
        body = {name: value for name, value in event.body.items() if name != MARK}
        hidden.append(log.next_event(hidden[-1] if hidden else None, event.kind, event.at, body))
    with pytest.raises(BadInput, match="unless it says that the clock went back"):
        check_log(hidden, contents)


@pytest.mark.parametrize("mark", [True, -5, "a day", 1.5, 10**400, None, [1]])
def test_a_forged_mark_means_nothing(mark: Any) -> None:
    assert went_back({MARK: mark}) == 0


def test_a_forged_time_after_a_mark_is_a_broken_log(service: Service) -> None:
    arena, _ = an_arena(service)
    events = service.events(arena)
    with pytest.raises(BrokenLog):
        fold([*events, log.next_event(events[-1], "paused", "yesterday", {MARK: 86_400})])


def test_the_servers_log_says_when_the_machines_clock_jumps(caplog: pytest.LogCaptureFixture) -> None:
    wall, steady = [1e9], [50.0]
    clock = WallClock(lambda: wall[0], lambda: steady[0])
    said = []
    for moved, passed in ((10.0, 10.0), (TEN_YEARS, 1.0), (1.0, 1.0), (-TEN_YEARS, 1.0), (90_000.0, 90_000.0)):
        wall[0] += moved
        steady[0] += passed
        caplog.clear()
        with caplog.at_level(logging.WARNING, "multiduel.arena"):
            assert clock() == datetime.fromtimestamp(wall[0], UTC)
        said.append([record.getMessage() for record in caplog.records])
    jumped = "The clock of this machine jumped {} by 3,650 days."
    assert said == [[], [jumped.format("forward")], [], [jumped.format("back")], []], "a day without a command is no jump"


def test_the_first_event_is_dated_by_the_clock() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert dated(now, "") == (log.moment(now), 0)
    assert dated(now, log.moment(now + timedelta(seconds=61))) == (log.moment(now), 61)


def test_the_journals_page_says_it(tmp_path: Any) -> None:
    clock = Clock()
    call = Caller(tmp_path)
    try:
        call.service._clock = clock
        arena, owner = call.arena(slate_size=3)
        clock.wait(-TEN_YEARS)
        call.rater(arena, owner, "Ada")
        page = call("GET", f"/own/{arena}/journal", headers={"Authorization": f"Bearer {owner}"}).text
        assert "The clock had been set back by 3,650 days" in page
    finally:
        call.close()
