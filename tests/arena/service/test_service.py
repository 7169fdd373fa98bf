"""The service: every command, sent once or again, refused or cut off, does what it says and nothing else."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import (
    AddOptions,
    AdmitRater,
    Ask,
    ChangePolicy,
    Close,
    Conflict,
    Create,
    Done,
    Forbidden,
    ImportVotes,
    NotFound,
    Open,
    Pause,
    PrintTickets,
    Quarantine,
    Release,
    RetireOption,
    Service,
    Settings,
    Ticket,
    Unavailable,
    Undo,
    Vote,
    VoteLine,
    connect,
)
from multiduel.arena.domain.ballots import normal, wins_of
from multiduel.inputs import BadInput
from tests.arena.play import Clock, an_arena, full_disk, options, running, ticket_for

RANKED = {"rank": [0, 1, 2]}


def answers(service: Service, arena: str) -> int:
    return service.board(arena).answers


# ---- ballots


def test_ballots_that_say_the_same_are_the_same() -> None:
    assert normal({"rank": [2, [1, 0]]}, "rank", 3) == normal({"rank": [[2], [0, 1]]}, "rank", 3) == {"rank": [[2], [0, 1]]}
    assert wins_of({"rank": [[2], [0, 1]]}, 4).tolist() == [[0, 0.5, 0, 0], [0.5, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert wins_of({"best": 1}, 3).tolist() == [[0, 0, 0], [1, 0, 1], [0, 0, 0]]
    assert wins_of({"worst": 1}, 3).tolist() == [[0, 1, 0], [0, 0, 0], [0, 1, 0]]
    assert not wins_of({"skip": True}, 3).any()


@pytest.mark.parametrize(
    "ballot",
    [
        None, {}, [], {"rank": [0, 1], "skip": True}, {"rank": "01"}, {"rank": [0, 0]}, {"rank": [0]}, {"rank": [[0, 1], []]},
        {"rank": [0, 3]}, {"rank": [-1, 0]}, {"rank": [True, 0]}, {"rank": [0.0, 1]}, {"best": 0}, {"skip": 1}, {"skip": False},
        {"wins": [[0, 1], [0, 0]]}, {"wins": [[0, -1, 0], [0, 0, 0], [0, 0, 0]]}, {"wins": [[1, 0, 0], [0, 0, 0], [0, 0, 0]]},
        {"wins": [[0, float("nan"), 0], [0, 0, 0], [0, 0, 0]]}, {"rank": [[[0]], 1]},
    ],
)  # fmt: skip
def test_a_ballot_that_is_no_answer_is_refused_and_the_ticket_stays(service: Service, ballot: Any) -> None:
    arena, (rater, _) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")
    with pytest.raises(BadInput):
        service.do(Vote(ticket.id, ballot))
    assert service.do(Vote(ticket.id, RANKED)).counted == "counted"


def test_a_question_takes_its_own_answer_only(service: Service) -> None:
    for question in ("best", "worst"):
        arena, (rater, _) = an_arena(service, question=question)
        ticket = ticket_for(service, arena, rater, "1")
        for other in ({"rank": [0, 1]}, {"best" if question == "worst" else "worst": 0}, {"wins": [[0] * 3] * 3}):
            with pytest.raises(BadInput, match=f"asks '{question}'"):
                service.do(Vote(ticket.id, other))
        assert service.do(Vote(ticket.id, {question: 0})).counted == "counted"


def test_credits_of_a_ranker_are_votes_too(service: Service) -> None:
    arena, (rater, _) = an_arena(service, 3)
    ticket = ticket_for(service, arena, rater, "1")
    service.do(Vote(ticket.id, {"wins": [[0, 2.5, 0], [0.5, 0, 0], [0, 0, 0]]}))
    board = service.board(arena)
    i, j = (board.options.index(ticket.options[k]) for k in (0, 1))
    assert board.above[i, j] == 1.0
    assert board.above.sum() == 1.0


# ---- once


def test_the_same_ask_gives_the_same_ticket(service: Service) -> None:
    arena, (rater, other) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")
    events = service.info(arena).events
    assert service.do(Ask(arena, rater, "1")) == ticket
    assert service.do(Ask(arena, rater, "2")) == ticket, "there is one place: an open ticket is given again"
    assert service.info(arena).events == events
    assert ticket_for(service, arena, other, "1") != ticket
    service.do(Vote(ticket.id, RANKED))
    assert service.do(Ask(arena, rater, "1")) == ticket, "also when it is used"


def test_a_vote_counts_once_and_another_is_a_conflict(service: Service) -> None:
    arena, (rater, _) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")
    receipt = service.do(Vote(ticket.id, RANKED))
    assert service.do(Vote(ticket.id, {"rank": [[0], [1], [2]]})) == receipt, "said in other words"
    with pytest.raises(Conflict, match="another vote"):
        service.do(Vote(ticket.id, {"rank": [1, 0, 2]}))
    with pytest.raises(Conflict, match="another vote"):
        service.do(Vote(ticket.id, {"skip": True}))
    assert answers(service, arena) == 1


def test_the_next_ticket_comes_with_the_vote_and_again_with_its_retry(service: Service) -> None:
    arena, (rater, _) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")
    first = service.do(Vote(ticket.id, RANKED, next=True))
    assert isinstance(first.next, Ticket)
    assert first.next.id != ticket.id
    assert service.do(Vote(ticket.id, RANKED, next=True)) == first
    service.do(Vote(first.next.id, {"skip": True}))
    assert service.do(Vote(ticket.id, RANKED, next=True)) == first, "also when the next one is voted on"


def test_create_admit_add_and_print_are_carried_out_once(service: Service) -> None:
    command = Create("mine", Settings(room=6), options(3), request="one")
    arena = service.do(command).id
    assert service.do(command).id == arena
    assert len(service.arenas()) == 1
    assert service.do(AdmitRater(arena, "Ada", request="x")) == service.do(AdmitRater(arena, "Ada", request="x")) == "r1"
    with pytest.raises(Conflict, match="'Ada' already"):
        service.do(AdmitRater(arena, "Ada", request="y"))
    service.do(AdmitRater(arena, "r3"))
    assert [service.do(AdmitRater(arena, "")) for _ in range(2)] == ["r3", "r4"]
    assert [line.label for line in service.raters(arena)] == ["Ada", "r3", "r3 (2)", "r4"]
    for _ in range(2):
        service.do(AddOptions(arena, options(1, 4), request="more"))
    assert len(service.info(arena).options) == 4
    service.do(Open(arena))
    sheets = service.do(PrintTickets(arena, 3, "print"))
    assert len(sheets) == 3
    assert service.do(PrintTickets(arena, 3, "print")) == sheets
    assert {sheet.rater for sheet in sheets} == {None} and {sheet.expires for sheet in sheets} == {None}


# ---- tickets


def test_what_is_not_there_is_not_found(service: Service) -> None:
    arena, (rater, _) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")
    for command in (
        Ask("0" * 12, rater, "1"), Ask(arena, "r9", "1"), Vote(f"{arena}-none", RANKED), Vote("none", RANKED), Vote("", RANKED),
        Undo(arena, "r9", "1"), Quarantine(arena, "r9"), RetireOption(arena, "o9"), RetireOption(arena, "nonsense"),
    ):  # fmt: skip
        with pytest.raises(NotFound):
            service.do(command)
    for look in (lambda: service.board("nowhere"), lambda: service.content(ticket.id, 3), lambda: service.content("x", 0)):
        with pytest.raises(NotFound):
            look()
    with pytest.raises(NotFound):
        service.content(ticket.id, -1)


def test_a_ticket_is_its_raters(service: Service) -> None:
    arena, (rater, other) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")
    with pytest.raises(Forbidden):
        service.do(Vote(ticket.id, RANKED, rater=other))
    assert service.do(Vote(ticket.id, RANKED, rater=rater)).counted == "counted"


def test_expiry_frees_the_place_and_a_late_vote_counts_until_the_arena_is_closed(service: Service, clock: Clock) -> None:
    arena, (rater, _) = an_arena(service, expires=60)
    ticket = ticket_for(service, arena, rater, "1")
    clock.wait(59)
    assert service.do(Ask(arena, rater, "2")) == ticket
    clock.wait(2)
    new = ticket_for(service, arena, rater, "2")
    assert new.id != ticket.id
    assert service.do(Vote(ticket.id, RANKED)).counted == "late"
    assert answers(service, arena) == 1
    clock.wait(3600)
    service.do(Close(arena))
    with pytest.raises(Conflict, match="closed"):
        service.do(Vote(new.id, RANKED))
    assert service.do(Vote(ticket.id, RANKED)).counted == "late", "the retry of one that counted"
    assert answers(service, arena) == 1


def test_several_places_and_then_no_more(service: Service, clock: Clock) -> None:
    arena, (rater, _) = an_arena(service, places=2, expires=60)
    first, second = ticket_for(service, arena, rater, "1"), ticket_for(service, arena, rater, "2")
    assert first.id != second.id
    with pytest.raises(Conflict, match="2 places"):
        service.do(Ask(arena, rater, "3"))
    receipt = service.do(Vote(first.id, RANKED, next=True))
    assert isinstance(receipt.next, Ticket)
    clock.wait(61)
    assert isinstance(service.do(Ask(arena, rater, "4")), Ticket)


def test_open_pause_close(service: Service) -> None:
    arena = service.do(Create("mine", Settings(), options(3))).id
    rater = service.do(AdmitRater(arena, ""))
    assert service.do(Ask(arena, rater, "1")).why == "created"
    with pytest.raises(Conflict, match="not open yet"):
        service.do(Pause(arena))
    assert service.do(Open(arena)).status == "open"
    number = service.info(arena).events
    assert service.do(Open(arena)).events == number, "it is open: nothing happens"
    ticket = ticket_for(service, arena, rater, "2")
    service.do(Pause(arena))
    assert service.do(Ask(arena, rater, "3")).why == "paused"
    receipt = service.do(Vote(ticket.id, {"rank": [1, 0]}, next=True))
    assert (receipt.counted, receipt.next.why) == ("counted", "paused"), "work that was done is taken"
    service.do(Open(arena))
    service.do(Close(arena))
    assert service.do(Ask(arena, rater, "4")).why == "closed"
    for command in (Open(arena), Pause(arena), ChangePolicy(arena, "uniform"), AdmitRater(arena, "x"), Undo(arena, rater, "5")):
        with pytest.raises(Conflict, match="closed, and stays so"):
            service.do(command)
    assert service.do(Close(arena)).status == "closed"


def test_limits_per_rater(service: Service) -> None:
    arena, (rater, _) = an_arena(service, limit=2)
    busy = service.do(AdmitRater(arena, "busy", limit=3))
    for one, limit in ((rater, 2), (busy, 3)):
        for k in range(limit):
            service.do(Vote(ticket_for(service, arena, one, f"{k}").id, RANKED))
        assert service.do(Ask(arena, one, "more")).why == "limit"
    label = next(line.label for line in service.raters(arena) if line.rater == rater)
    line = VoteLine("paper", {"rank": [0, 1]}, shown=["option 1", "option 2"], rater=label)
    report = service.do(ImportVotes(arena, [line]))
    assert [one.counted for one in report.lines] == ["aside"], "kept aside, not dropped"
    board = service.board(arena)
    assert (board.answers, board.set_aside) == (5, 1)
    assert "1 vote is excluded" in board.sentence
    service.do(Quarantine(arena, rater))
    assert (service.board(arena).answers, service.board(arena).set_aside) == (3, 3)
    service.do(Release(arena, rater))
    assert (service.board(arena).answers, service.board(arena).set_aside) == (5, 1), "what was beyond the limit stays aside"


def test_by_rater_all_that_is_open_is_judged_once(service: Service) -> None:
    """No pair is shown to a rater twice while there are others, and then none is."""
    arena, (rater, other) = an_arena(service, 5, unit="rater")
    pairs: Counter[frozenset[str]] = Counter()
    for k in range(30):
        got = service.do(Ask(arena, rater, f"{k}"))
        if isinstance(got, Done):
            break
        new = {frozenset((a, b)) for a in got.options for b in got.options if a < b}
        assert any(pairs[pair] == 0 for pair in new), "something new in every ticket"
        pairs.update(new)
        service.do(Vote(got.id, {"rank": list(range(len(got.options)))}))
    assert got.why == "judged"
    assert len(pairs) == 10
    board = service.board(arena)
    assert (board.above + board.above.T + board.ties).max() == 1.0, "the first judgement counts"
    assert isinstance(service.do(Ask(arena, other, "1")), Ticket)
    service.do(Undo(arena, rater, "undo"))
    service.do(Vote(service.do(Ask(arena, rater, "again")).id, {"skip": True}))
    assert isinstance(service.do(Ask(arena, rater, "and again")), Ticket), "what was taken back is open again"


def test_contexts_take_turns_and_options_show_what_belongs_to_them(service: Service) -> None:
    arena, (rater, _) = an_arena(service, contexts=3)
    seen = Counter()
    for k in range(6):
        ticket = ticket_for(service, arena, rater, f"{k}")
        assert ticket.context is not None
        seen[ticket.context] += 1
        c = int(ticket.context[1:]) - 1
        assert service.info(arena).contexts[c]["text"] == f"question {c}"
        for position, option in enumerate(ticket.options):
            assert service.content(ticket.id, position).data == f"content {option[1:]} in {c}".encode()
        service.do(Vote(ticket.id, RANKED))
    assert set(seen.values()) == {2}


def test_the_order_shown_says_nothing(service: Service) -> None:
    """The leader is the first option of a slate, and must not be the first on the screen."""
    arena, (rater, _) = an_arena(service, 3, places=1000)
    first = Counter(ticket_for(service, arena, rater, f"{k}").options[0] for k in range(90))
    assert set(first) == {"o1", "o2", "o3"}
    assert max(first.values()) < 50
    with service.look(arena) as state:
        ids = {ticket.id for ticket in state.tickets.values()}
    assert len({one.partition("-")[2] for one in ids}) == 90 and all(len(one) > 30 for one in ids)


# ---- taking back


def test_undo_takes_the_last_vote_back_and_gives_a_ticket_that_shows_the_same(service: Service) -> None:
    arena, (rater, _) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")
    before = service.board(arena).above
    vote = service.do(Vote(ticket.id, RANKED, next=True))
    undo = service.do(Undo(arena, rater, "oops"))
    assert (undo.counted, undo.next.options, undo.next.by) == ("undone", ticket.options, "undo")
    assert (service.board(arena).above == before).all()
    assert service.do(Undo(arena, rater, "oops")) == undo, "once"
    retry = service.do(Vote(ticket.id, RANKED))
    assert (retry.event, retry.counted) == (vote.event, "undone"), "a vote that was on its way does not come back"
    assert answers(service, arena) == 0
    service.do(Vote(undo.next.id, {"rank": [2, 1, 0]}))
    assert answers(service, arena) == 1
    assert service.do(Ask(arena, rater, "2")) == vote.next, "the ticket that was open before"
    kinds = [event.kind for event in service.events(arena)]
    assert kinds.count("vote") == 2 and kinds.count("undo") == 1, "nothing is erased"


def test_undo_goes_back_vote_by_vote_and_no_further(service: Service) -> None:
    arena, (rater, other) = an_arena(service)
    for k in range(2):
        service.do(Vote(ticket_for(service, arena, rater, f"{k}").id, RANKED))
    service.do(Vote(ticket_for(service, arena, other, "0").id, RANKED))
    service.do(Undo(arena, rater, "a"))
    service.do(Undo(arena, rater, "b"))
    with pytest.raises(Conflict, match="no vote"):
        service.do(Undo(arena, rater, "c"))
    assert answers(service, arena) == 1, "the other's stays"


def test_quarantine_sets_votes_aside_and_release_brings_them_back(service: Service) -> None:
    arena, (rater, other) = an_arena(service)
    for k in range(4):
        service.do(Vote(ticket_for(service, arena, rater, f"{k}").id, RANKED))
        service.do(Vote(ticket_for(service, arena, other, f"{k}").id, RANKED))
    all_votes = service.board(arena)
    service.do(Quarantine(arena, rater, "three votes a second"))
    aside = service.board(arena)
    assert (aside.answers, aside.set_aside, aside.quarantined) == (4, 4, ("rater 0",))
    assert "4 votes are excluded, those of 1 excluded rater among them" in aside.sentence
    ticket = ticket_for(service, arena, rater, "x")
    assert service.do(Vote(ticket.id, {"skip": True})).counted == "skipped"
    assert service.do(Vote(ticket_for(service, arena, rater, "y").id, RANKED)).counted == "aside"
    assert service.board(arena).set_aside == 5
    service.do(Undo(arena, rater, "z"))
    service.do(Release(arena, rater))
    released = service.board(arena)
    assert (released.answers, released.set_aside) == (8, 0)
    assert (released.above == all_votes.above).all()
    line = next(one for one in service.raters(arena) if one.rater == rater)
    assert (line.votes, line.skipped, line.aside, line.quarantined) == (4, 1, 0, False)


def test_options_come_and_go_only_with_room(service: Service) -> None:
    arena, _ = an_arena(service, 3)
    for command in (AddOptions(arena, options(1, 4)), RetireOption(arena, "o1")):
        with pytest.raises(Conflict, match="'room'"):
            service.do(command)
    arena, (rater, _) = an_arena(service, 3, room=4)
    ticket = ticket_for(service, arena, rater, "1")
    with pytest.raises(Conflict, match="A correction is a new option"):
        service.do(AddOptions(arena, options(1, 1)))
    service.do(AddOptions(arena, options(1, 4)))
    with pytest.raises(Conflict, match="room for 4"):
        service.do(AddOptions(arena, options(1, 5)))
    service.do(RetireOption(arena, "o1"))
    number = service.info(arena).events
    assert service.do(RetireOption(arena, "o1")).events == number
    service.do(RetireOption(arena, "o2"))
    with pytest.raises(Conflict, match="Two options must stay"):
        service.do(RetireOption(arena, "o3"))
    assert service.do(Vote(ticket.id, RANKED)).counted == "counted", "it was shown before they retired"
    for k in range(10):
        shown = ticket_for(service, arena, rater, f"then {k}")
        assert set(shown.options) == {"o3", "o4"}
        service.do(Vote(shown.id, {"rank": [0, 1]}))
    with pytest.raises(BadInput, match="'room' must be at least"):
        service.do(Create("x", Settings(room=2), options(3)))


# ---- groups


@contextmanager
def held_up(service: Service, arena: str) -> Iterator[None]:
    """What is submitted inside waits, and then shares the transaction of a command that waited for the lock before."""
    with service.look(arena):
        service.submit(Open(arena))  # taken by the writer, which then waits for the lock
        while service._writers.waits():
            threading.Event().wait(0.001)
        yield


def test_commands_that_wait_share_a_transaction_and_a_refusal_harms_no_other(service: Service) -> None:
    arena, (rater, other) = an_arena(service)
    tickets = [ticket_for(service, arena, one, "1") for one in (rater, other)]
    commits = service.commits
    with held_up(service, arena):
        futures = [
            service.submit(command)
            for command in (
                Vote(tickets[0].id, RANKED, next=True), Vote(tickets[0].id, {"rank": [1, 0, 2]}), Ask(arena, "nobody", "1"),
                Vote(tickets[1].id, {"rank": 7}), Vote(tickets[0].id, RANKED, next=True), Vote(tickets[1].id, RANKED),
            )
        ]  # fmt: skip
    results = [future.exception(10) or future.result() for future in futures]
    assert service.commits == commits + 1, "the one that was held up and all six have one"
    assert [type(one).__name__ for one in results] == ["Receipt", "Conflict", "NotFound", "BadInput", "Receipt", "Receipt"]
    assert results[0] == results[4]
    assert answers(service, arena) == 2


def test_a_commit_that_fails_is_as_if_nothing_was_and_may_be_sent_again(service: Service) -> None:
    arena, (rater, other) = an_arena(service)
    tickets = [ticket_for(service, arena, one, "1") for one in (rater, other)]
    events, digest = service.info(arena).events, service.digest(arena)
    with full_disk(service):
        with held_up(service, arena):
            futures = [service.submit(Vote(ticket.id, RANKED, next=True)) for ticket in tickets]
        for future in futures:
            with pytest.raises(Unavailable, match="disk is full"):
                future.result(10)
    assert service.info(arena).events == events
    assert service.digest(arena) == digest, "the state in memory was thrown away and folded anew"
    for ticket in tickets:
        assert service.do(Vote(ticket.id, RANKED)).counted == "counted"
    assert answers(service, arena) == 2


def test_a_commit_whose_answer_was_lost_is_found_again(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database did commit, and the connection broke before it could say so."""
    arena, (rater, _) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")

    def commit_and_break(connection: Any) -> None:
        import sqlite3

        connection.commit()
        raise sqlite3.OperationalError("connection lost")

    monkeypatch.setattr(service.journal, "_commit", commit_and_break)
    with pytest.raises(Unavailable):
        service.do(Vote(ticket.id, RANKED, next=True))
    monkeypatch.undo()
    receipt = service.do(Vote(ticket.id, RANKED, next=True))
    assert isinstance(receipt.next, Ticket)
    assert [event.kind for event in service.events(arena)].count("vote") == 1


def test_a_fault_of_ours_in_one_command_harms_no_other(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    from multiduel.arena.service import handlers

    arena, (rater, other) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")
    monkeypatch.setitem(handlers.HANDLERS, Undo, lambda decision, command: 1 // 0)
    with held_up(service, arena):
        futures = [
            service.submit(command) for command in (Vote(ticket.id, RANKED), Undo(arena, rater, "1"), Ask(arena, other, "1"))
        ]
    assert futures[0].result(10).counted == "counted"
    assert isinstance(futures[1].exception(10), ZeroDivisionError)
    assert isinstance(futures[2].result(10), Ticket)
    assert answers(service, arena) == 1


def test_two_services_on_one_database_at_once(db: str) -> None:
    """No race is lost: numbers without gaps, every vote there once, and both know the same."""
    with running(db) as first, running(db) as second:
        arena, raters = an_arena(first, raters=8)

        def rate(k: int) -> int:
            mine = (first, second)[k % 2]
            ticket: Any = ticket_for(mine, arena, raters[k], "1")
            for n in range(6):
                ticket = (first, second)[(k + n) % 2].do(Vote(ticket.id, RANKED, next=True)).next
            return 6

        with ThreadPoolExecutor(8) as pool:
            voted = sum(pool.map(rate, range(8)))
        assert first.board(arena).answers == second.board(arena).answers == voted == 48
        assert first.digest(arena) == second.digest(arena)
        assert [event.number for event in first.events(arena)] == list(range(1, first.info(arena).events + 1))


def test_after_close_nothing_is_taken(tmp_path: Path) -> None:
    service = Service(connect(tmp_path / "a.db"))
    service.close()
    with pytest.raises(Unavailable, match="closed"):
        service.do(Create("x", Settings(), options(2)))
    assert not [writer for writer in service._writers._writers if writer.thread.is_alive()]


# ---- files


def test_votes_from_a_file_all_or_none_once(service: Service) -> None:
    arena, (rater, _) = an_arena(service)
    (sheet,) = service.do(PrintTickets(arena, 1, "p"))
    good = [
        VoteLine("1", {"rank": [0, 1]}, shown=["option 1", "o2"], rater="Ada", group="north"),
        VoteLine("2", {"rank": [1, 0, 2]}, ticket=sheet.id, rater="Bob"),
        VoteLine("1", {"rank": [0, 1]}, shown=["o1", "option 2"], rater="Ada", group="north"),
    ]
    bad = [
        VoteLine("3", {"rank": [0, 1]}, shown=["option 1", "nobody"]),
        VoteLine("4", {"rank": [0, 1]}, shown=["o1", "o1"]),
        VoteLine("5", {"best": 0}, shown=["o1", "o2"]),
        VoteLine("6", {"rank": [0, 1]}),
        VoteLine("7", {"rank": [0, 1]}, ticket=sheet.id),
        VoteLine("8", {"rank": [0, 1]}, ticket=f"{arena}-none"),
        VoteLine("1", {"rank": [1, 0]}, shown=["o1", "o2"], rater="Ada", group="north"),
        VoteLine("9", {"rank": [0, 1]}, shown=["o1", "o2"], context="what?"),
    ]
    events = service.info(arena).events
    report = service.do(ImportVotes(arena, good + bad))
    assert not report.accepted
    assert [line.result for line in report.lines] == ["new", "new", "already", *["refused"] * 8]
    assert all(line.problem for line in report.lines[3:])
    dry = service.do(ImportVotes(arena, good, dry_run=True))
    assert dry.accepted and dry.dry_run
    assert service.info(arena).events == events, "nothing was written so far"
    report = service.do(ImportVotes(arena, good))
    assert report.accepted and [line.counted for line in report.lines] == ["counted"] * 3
    assert answers(service, arena) == 2
    again = service.do(ImportVotes(arena, good))
    assert again.accepted and [line.result for line in again.lines] == ["already"] * 3
    assert answers(service, arena) == 2
    with pytest.raises(Conflict):
        service.do(Vote(sheet.id, {"rank": [0, 1, 2]}))
    assert service.do(Vote(sheet.id, {"rank": [1, 0, 2]})).counted == "counted", "a retry by the other door"
    lines = {line.label: line for line in service.raters(arena)}
    assert (lines["Ada"].votes, lines["Bob"].votes, lines["Ada"].group) == (1, 1, "north")
    assert rater == "r1"


def test_a_line_that_is_refused_does_not_use_up_its_ticket(service: Service) -> None:
    """The report blames the line that is wrong, not the next one on the same ticket."""
    arena, _ = an_arena(service, 3, unit="rater")
    (ticket,) = service.do(PrintTickets(arena, 1, "print"))
    ballot = {"rank": [[0], [1], [2]]}
    lines = [VoteLine("1", ballot, ticket=ticket.id), VoteLine("2", ballot, ticket=ticket.id, rater="Ada")]
    assert [line.result for line in service.do(ImportVotes(arena, lines)).lines] == ["refused", "new"]


def test_by_rater_a_line_must_say_whose_it_is(service: Service) -> None:
    arena, _ = an_arena(service, unit="rater")
    line = VoteLine("1", {"rank": [0, 1]}, shown=["o1", "o2"])
    report = service.do(ImportVotes(arena, [line]))
    assert "must name the rater" in report.lines[0].problem
    (sheet,) = service.do(PrintTickets(arena, 1, "p"))
    with pytest.raises(BadInput, match="whose vote"):
        service.do(Vote(sheet.id, RANKED))
    assert answers(service, arena) == 0


# ---- contents


def test_contents_never_change_and_names_do_not_leak_into_tickets(service: Service) -> None:
    arena, (rater, _) = an_arena(service, room=9)
    ticket = ticket_for(service, arena, rater, "1")
    before = [service.content(ticket.id, k) for k in range(3)]
    service.do(AddOptions(arena, options(2, 5)))
    assert [service.content(ticket.id, k) for k in range(3)] == before
    for content in before:
        assert content.sha256 in {one["sha256"] for option in service.info(arena).options for one in option["contents"]}


def test_settings_are_checked() -> None:
    for words in (
        {"slate_size": 1}, {"slate_size": 99}, {"question": "like"}, {"alpha": 0.0}, {"margin": 0.5}, {"unit": "vote"},
        {"room": 1}, {"expires": 0}, {"places": 0}, {"limit": 0}, {"policy": "none"}, {"policy": "doubler"},
        {"parameters": {"x": 1}}, {"parameters": {"closing": True}}, {"seed": -1}, {"go_on": 1}, {"board": "now"}, {"votes": 1.5},
    ):  # fmt: skip
        with pytest.raises(BadInput):
            Settings(**words)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="cannot serve an arena"):
        Settings(policy="doubler")
    with pytest.raises(BadInput, match="no 'slatesize'"):
        Settings.from_json({"slatesize": 3})


def test_snapshots_come_in_idle_moments_and_arenas_leave_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from multiduel.arena.service import service as module

    for name, value in (("SNAPSHOT_AFTER", 2), ("IDLE", 0.01), ("MOST_IN_MEMORY", 2)):
        monkeypatch.setattr(module, name, value)
    with running(tmp_path / "a.db") as service:
        arenas = [an_arena(service)[0] for _ in range(4)]
        digests = {arena: service.digest(arena) for arena in arenas}
        service.do(Open(arenas[0]))
        for _ in range(500):
            if len(service._live) <= 2:
                break
            threading.Event().wait(0.01)
        assert len(service._live) == 2, "the others are left to the journal"
        assert all(service.journal.load_snapshot(arena) is not None for arena in arenas)
        assert {arena: service.digest(arena) for arena in arenas} == digests
        rater = service.do(AdmitRater(arenas[1], "late"))
        assert isinstance(service.do(Ask(arenas[1], rater, "1")), Ticket)


def test_the_writer_outlives_a_snapshot_that_cannot_be_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from multiduel.arena.service import service as module

    def fails(state: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(module, "SNAPSHOT_ANYWAY", 1)
    monkeypatch.setattr(module, "save", fails)
    with running(tmp_path / "a.db") as service:
        arena, (rater, _) = an_arena(service)
        assert service.do(Vote(ticket_for(service, arena, rater, "1").id, RANKED), timeout=20).counted == "counted"
        assert service.journal.load_snapshot(arena) is None
