"""Eight writers on one arena: several services on one database, as several processes would have it."""

from __future__ import annotations

import random
import threading

import pytest

from multiduel.arena import AdmitRater, Ask, Conflict, Create, Open, Service, Settings, Ticket, Undo, Vote, connect
from multiduel.arena.files.verify import verify
from multiduel.arena.service import writers
from multiduel.arena.service.writers import More, Waiting, Writers
from tests.arena.folding import fold
from tests.arena.play import options

WRITERS, VOTES = 8, 25


def test_eight_writers_on_one_arena_lose_no_race(db: str) -> None:
    services = [Service(connect(db)) for _ in range(WRITERS)]
    try:
        arena = services[0].do(Create("shared", Settings(slate_size=3, seed=1, go_on=True), options(5), request="one")).id
        services[0].do(Open(arena))
        start = threading.Barrier(WRITERS)
        receipts: list[list[int]] = [[] for _ in range(WRITERS)]
        undone = [0] * WRITERS
        problems: list[str] = []

        def write(k: int) -> None:
            rng, service = random.Random(k), services[k]
            start.wait()
            try:
                rater = service.do(AdmitRater(arena, f"rater {k}", request=f"{k}"))
                ticket = service.do(Ask(arena, rater, "first"))
                for turn in range(VOTES):
                    order = rng.sample(range(3), 3)
                    receipt = service.do(Vote(ticket.id, {"rank": [[p] for p in order]}, next=True))
                    receipts[k].append(receipt.event)
                    ticket = receipt.next
                    # another service knows of it at once, and answers the same
                    elsewhere = services[(k + 1) % WRITERS]
                    assert elsewhere.ticket(ticket.id) == ticket
                    if turn % 5 == 4:
                        back = elsewhere.do(Undo(arena, rater, f"undo {turn}"))
                        assert service.do(Undo(arena, rater, f"undo {turn}")) == back
                        undone[k] += 1
                        ticket = back.next
                    assert isinstance(ticket, Ticket)
            except Exception as error:
                problems.append(f"writer {k}: {error!r}")

        threads = [threading.Thread(target=write, args=(k,)) for k in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(300.0)
        assert not problems, problems
        events = services[0].events(arena)
        numbers = [number for some in receipts for number in some]
        assert len(set(numbers)) == len(numbers) == WRITERS * VOTES
        votes = [event for event in events if event.kind == "vote"]
        assert sorted(numbers) == [event.number for event in votes]
        assert [event.number for event in events] == list(range(1, len(events) + 1))
        assert sum(event.kind == "undo" for event in events) == sum(undone)
        for service in services:
            with service.look(arena) as state:
                assert state.number == len(events) and state.tally.answers == len(votes) - sum(undone)
        assert len({service.digest(arena) for service in services}) == 1
        assert fold(events).tally.above.tolist() == state.tally.above.tolist()
        report = verify(services[0].journal, arena)
        assert report.good, report
    finally:
        for service in services:
            service.close()


def test_the_same_commands_of_eight_writers_are_carried_out_once(db: str) -> None:
    """Retries that meet: the same request, rater, ticket and vote, through eight services at the same time."""
    services = [Service(connect(db)) for _ in range(WRITERS)]
    try:
        arenas = _at_once(services, lambda service: service.do(Create("one", Settings(seed=1), options(3), request="same")).id)
        assert len(set(arenas)) == 1, arenas
        arena = arenas[0]
        _at_once(services, lambda service: service.do(Open(arena)).status)
        raters = _at_once(services, lambda service: service.do(AdmitRater(arena, "Ada", request="same")))
        assert set(raters) == {"r1"}
        tickets = _at_once(services, lambda service: service.do(Ask(arena, "r1", "same")))
        assert len(set(tickets)) == 1
        ballots = iter([{"rank": [[0], [1]]}, {"rank": [[1], [0]]}] * (WRITERS // 2))
        answers = _at_once(services, lambda service, take=threading.Lock(): _vote(service, tickets[0].id, ballots, take))
        taken = [answer for answer in answers if not isinstance(answer, Conflict)]
        assert len(taken) == WRITERS // 2 and len(set(taken)) == 1, "one of the two votes stands, the other is refused"
        kinds = [event.kind for event in services[0].events(arena)]
        assert kinds == ["created", "opened", "rater_admitted", "epoch", "ticket", "vote"], kinds
    finally:
        for service in services:
            service.close()


def test_commands_join_a_group_that_waits_as_far_as_they_may() -> None:
    """In their order, not more than fit, none that were cancelled, nothing after a long one, and nothing joins a long one."""
    groups: list[list[object]] = []
    taken, go = threading.Semaphore(0), threading.Semaphore(0)

    def carry_out(arena: str, group: list[Waiting], more: More) -> None:
        taken.release()
        go.acquire(timeout=20)
        groups.append([command for command, _ in [*group, *more(), *more()]])

    pool = Writers(carry_out, lambda: None, pause=60.0, together=4, is_long=lambda command: command == "long")
    pool.submit("a", 0)
    taken.acquire(timeout=20)
    for command in (1, 2, 3, 4, 5, 6, "long", 7):
        waiting = pool.submit("a", command)
        if command == 2:
            assert waiting.cancel()
    go.release(4)
    pool.close()
    assert groups == [[0, 1, 3], [4, 5, 6], ["long"], [7]]


def test_few_short_groups_begin_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes meanwhile waits, and makes the next groups larger. Long commands do not count."""
    monkeypatch.setattr(writers, "SLOW", 60.0)
    groups: list[tuple[str, int]] = []
    taken, go = threading.Semaphore(0), threading.Semaphore(0)

    def carry_out(arena: str, group: list[Waiting], more: More) -> None:
        groups.append((arena, len(group)))
        taken.release()
        go.acquire(timeout=20)

    pool = Writers(carry_out, lambda: None, pause=60.0, together=4, is_long=lambda command: command == "long")
    pool.submit("import", "long")
    for _ in range(3):
        for arena in "abcd":
            pool.submit(arena, None)
    for _ in range(1 + writers.AT_ONCE):
        assert taken.acquire(timeout=20)
    assert not taken.acquire(timeout=0.2)
    assert {arena for arena, _ in groups} == {"import", "a", "b"}
    go.release(20)
    pool.close()
    assert [group for group in groups if group[0] in "cd"] == [("c", 3), ("d", 3)]


def test_groups_that_wait_for_the_database_hold_up_nobody() -> None:
    """As many as there are writers, each begun while those before it stand still; also after a rest."""
    all_there = threading.Barrier(writers.WRITERS, timeout=20)
    rested = threading.Event()
    pool = Writers(lambda *_: all_there.wait() and None, rested.set, pause=0.05, together=4, is_long=lambda _: False)
    for _ in range(2):
        for arena in range(writers.WRITERS):
            pool.submit(f"{arena}", None)
        rested.wait(20)
        rested.clear()
    pool.close()
    assert not all_there.broken


def _vote(service: Service, ticket: str, ballots: object, take: threading.Lock) -> object:
    with take:
        ballot = next(ballots)  # type: ignore[call-overload]
    try:
        return service.do(Vote(ticket, ballot))
    except Conflict as refusal:
        return refusal


def _at_once(services: list[Service], call: object) -> list[object]:
    start, came = threading.Barrier(len(services)), [None] * len(services)

    def run(k: int) -> None:
        start.wait()
        try:
            came[k] = call(services[k])  # type: ignore[operator]
        except Exception as error:
            came[k] = error  # type: ignore[call-overload]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(services))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120.0)
    return came  # type: ignore[return-value]
