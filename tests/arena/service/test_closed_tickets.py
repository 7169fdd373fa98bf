"""Closed tickets are in the log and not in memory: whatever needs one finds it there, as if it had never left."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import (
    AdmitRater,
    Ask,
    Conflict,
    ImportVotes,
    PrintTickets,
    Quarantine,
    Release,
    Service,
    Undo,
    Vote,
    VoteLine,
    connect,
)
from multiduel.arena.domain import state as fold_of
from multiduel.arena.files.verify import verify
from multiduel.arena.journal.sql import key_hash
from multiduel.arena.service import service as module
from multiduel.arena.service.snapshots import digest
from tests.arena.folding import fold
from tests.arena.play import Clock, a_ballot, an_arena, lively, running, ticket_for

RANKED = {"rank": [[0], [1], [2]]}


def votes(service: Service, arena: str, rater: str, number: int, clock: Clock, name: str = "") -> list[str]:
    """Vote so often. Returns the tickets."""
    ticket, ids = ticket_for(service, arena, rater, f"first {name}"), []
    for _ in range(number):
        clock.wait(5.0)
        ids.append(ticket.id)
        ticket = service.do(Vote(ticket.id, RANKED, next=True)).next
    return ids


def in_memory(service: Service, arena: str) -> int:
    with service.look(arena) as state:
        return len(state.tickets.memory)


def test_memory_holds_open_tickets_only(service: Service, clock: Clock) -> None:
    arena, raters = an_arena(service, raters=3, places=2, expires=60)
    for rater in raters:
        votes(service, arena, rater, 40, clock)
    assert in_memory(service, arena) == 3, "one open ticket each"
    clock.wait(61.0)
    for k in range(20):  # tickets that nobody answers expire, and go
        ticket_for(service, arena, raters[0], f"left {k}")
        clock.wait(61.0)
    service.do(ImportVotes(arena, [VoteLine(f"l{k}", {"rank": [0, 1]}, shown=["o1", "o2"], rater="paper") for k in range(50)]))
    assert in_memory(service, arena) <= 4
    assert service.digest(arena) == digest(fold(service.events(arena), arena))


def test_a_vote_sent_again_is_answered_alike_after_its_ticket_left(service: Service, clock: Clock) -> None:
    arena, (rater, other) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "one")
    first = service.do(Vote(ticket.id, RANKED, next=True))
    votes(service, arena, other, 5, clock)
    assert service.do(Vote(ticket.id, RANKED, next=True)) == first
    with pytest.raises(Conflict, match="another vote already"):
        service.do(Vote(ticket.id, {"skip": True}))
    assert service.do(Ask(arena, rater, "one")) == ticket == service.ticket(ticket.id)
    assert verify(service.journal, arena).good


def test_a_late_vote_on_a_ticket_that_left(service: Service, clock: Clock) -> None:
    arena, (rater, _) = an_arena(service, places=2, expires=60)
    old = ticket_for(service, arena, rater, "old")
    clock.wait(61.0)
    ticket_for(service, arena, rater, "new")
    with service.look(arena) as state:
        assert old.id not in state.tickets.memory
    assert service.do(Vote(old.id, RANKED)).counted == "late"
    assert service.do(Undo(arena, rater, "u")).counted == "undone"
    assert service.digest(arena) == digest(fold(service.events(arena), arena))


def test_a_rater_may_undo_further_back_than_memory_reaches(service: Service, clock: Clock, monkeypatch: Any) -> None:
    monkeypatch.setattr(fold_of, "LATEST", 3)
    arena, (rater, other) = an_arena(service, places=60)
    ids = votes(service, arena, rater, 11, clock)
    votes(service, arena, other, 4, clock)
    receipts = [service.do(Undo(arena, rater, f"u{k}")) for k in range(11)]
    with pytest.raises(Conflict, match="no vote of this rater"):
        service.do(Undo(arena, rater, "one more"))
    assert service.do(Undo(arena, rater, "u4")) == receipts[4]
    undone = [event.body["ticket"] for event in service.events(arena) if event.kind == "undo"]
    assert undone == ids[::-1]
    assert service.board(arena).answers == 4
    assert service.digest(arena) == digest(fold(service.events(arena), arena)) and verify(service.journal, arena).good


@pytest.mark.parametrize("unit", ["answer", "rater", "case"])
def test_quarantine_and_release_find_all_votes_of_a_rater(service: Service, clock: Clock, unit: str) -> None:
    arena, (rater, other) = an_arena(service, 9, raters=2, contexts=4, unit=unit, slate_size=3)
    votes(service, arena, rater, 6, clock)
    votes(service, arena, other, 5, clock)
    printed = service.do(PrintTickets(arena, 2, "sheets"))
    service.do(ImportVotes(arena, [VoteLine("p", RANKED, ticket=printed[0].id, rater="rater 0")]))
    service.do(ImportVotes(arena, [VoteLine("e", {"rank": [0, 1]}, shown=["o1", "o2"], rater="rater 0", context="c1")]))
    before = service.board(arena)
    service.do(Quarantine(arena, rater))
    assert (service.board(arena).answers, service.board(arena).set_aside) == (5, 8)
    service.do(Release(arena, rater))
    after = service.board(arena)
    assert after.answers == before.answers == 13
    if unit != "case":  # there the votes of others count first by now
        assert after.above.tolist() == before.above.tolist()
    assert service.digest(arena) == digest(fold(service.events(arena), arena)) and verify(service.journal, arena).good


def test_people_are_counted_apart_from_the_first_judge_on(service: Service, clock: Clock) -> None:
    arena, (rater, _) = an_arena(service, deciders="all")
    votes(service, arena, rater, 12, clock)
    assert service.board(arena).kinds == ()
    judge = service.do(AdmitRater(arena, "M", kind="judge"))
    votes(service, arena, judge, 3, clock)
    lines = {line.kind: line.answers for line in service.board(arena).kinds}
    assert lines == {"people": 12, "judges": 3}
    assert service.digest(arena) == digest(fold(service.events(arena), arena))


def test_a_file_sent_again_is_known_long_after(service: Service, clock: Clock) -> None:
    arena, (rater, _) = an_arena(service)
    lines = [VoteLine(f"l{k}", {"rank": [0, 1]}, shown=["o1", "o2"], rater="paper") for k in range(30)]
    service.do(ImportVotes(arena, lines))
    votes(service, arena, rater, 5, clock)
    again = service.do(ImportVotes(arena, [*lines, VoteLine("new", {"rank": [0, 1]}, shown=["o1", "o2"], rater="paper")]))
    assert [one.result for one in again.lines] == ["already"] * 30 + ["new"]
    other = [VoteLine("l3", {"rank": [1, 0]}, shown=["o1", "o2"], rater="paper")]
    assert not service.do(ImportVotes(arena, other)).accepted


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_state_that_trims_after_every_event_is_the_same(tmp_path: Path, clock: Clock, seed: int, monkeypatch: Any) -> None:
    """With a snapshot, without one, and folded from the log without ever letting anything go."""
    monkeypatch.setattr(module, "TRIM", 1)
    monkeypatch.setattr(fold_of, "LATEST", 2)
    monkeypatch.setattr(fold_of, "MOST_STEPS", 3)
    with running(tmp_path / "a.db", clock) as service:
        arena, _ = an_arena(service, 4, raters=3, room=9, places=2, expires=60, contexts=2 * (seed % 2))
        lively(service, arena, clock, random.Random(seed), 150, churn=0.3)
        known = digest(fold(service.events(arena), arena))
        assert service.digest(arena) == known
    with running(tmp_path / "a.db", clock) as service:
        assert service.digest(arena) == known
        service.journal.drop_snapshots()
    with running(tmp_path / "a.db", clock) as service:
        assert service.digest(arena) == known and verify(service.journal, arena).good


def test_a_database_of_an_earlier_version_gets_the_keys_of_its_events(tmp_path: Path, clock: Clock) -> None:
    with running(tmp_path / "a.db", clock) as service:
        arena, (rater, _) = an_arena(service)
        ids = votes(service, arena, rater, 4, clock)
        keys = service.journal.key_rows()
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.executescript("DROP TABLE event_keys; PRAGMA user_version=5")
    with running(tmp_path / "a.db", clock) as service:
        assert service.journal.key_rows() == keys
        assert service.do(Vote(ids[0], RANKED)).counted == "counted"
        assert service.do(Undo(arena, rater, "u")).counted == "undone"


def test_events_are_found_by_what_they_mention(db: str, clock: Clock) -> None:
    """On both databases, and each arena by itself, though requests are alike."""
    with running(db, clock) as service:
        arenas = [an_arena(service) for _ in range(2)]
        ids = [votes(service, arena, raters[0], 3, clock) for arena, raters in arenas]
        service.do(Undo(arenas[0][0], arenas[0][1][0], "u"))
        (arena, (rater, _)), tickets = arenas[0], ids[0]
        journal = service.journal
        about = journal.about(arena, [f"t {tickets[-1]}"], 10**6)
        assert [event.kind for event in about] == ["ticket", "vote", "undo"]
        assert [event.kind for event in journal.about(arena, [f"t {tickets[-1]}"], about[1].number)] == ["ticket", "vote"]
        assert [e.number for e in journal.about(arena, [f"a {rater} first ", f"u {rater} u"], 10**6)] == sorted(
            [event.number for event in service.events(arena) if event.kind == "undo"]
            + [next(event.number for event in service.events(arena) if event.kind == "ticket")]
        )
        assert journal.about(arenas[1][0], [f"t {tickets[0]}"], 10**6) == []
        assert [event.kind for event in journal.of_kind(arena, "undo")] == ["undo"]
        many = [f"t {arena}-{k}" for k in range(1_200)] + [f"t {one}" for one in tickets]
        assert len(journal.about(arena, many, 10**6)) == 7
    journal = connect(db)
    assert journal.key_rows() > 0
    journal.close()


def test_a_ballot_is_read_the_same_in_pairs_and_in_wins() -> None:
    from multiduel.arena.domain import events as log
    from multiduel.arena.domain.ballots import judged_pairs, normal, spoken

    rng = random.Random(4)
    for _ in range(200):
        text = log.canonical(normal(a_ballot(rng, "rank", 4), "rank", 4))
        wins = spoken(text, 4)
        found = {(a, b): placing for a, b, placing in judged_pairs(text, 4)}
        for a in range(4):
            for b in range(a + 1, 4):
                more = int(wins[a, b] > wins[b, a]) - int(wins[a, b] < wins[b, a])
                assert found.get((a, b)) == (more if wins[a, b] + wins[b, a] > 0 else None)


def test_verify_finds_a_key_that_is_missing(db: str, clock: Clock) -> None:
    """Without its key, a closed ticket would be unknown, and a line of a file new."""
    with running(db, clock) as service:
        journal = service.journal
        arena, (rater, _) = an_arena(service)
        votes(service, arena, rater, 5, clock)
        service.do(ImportVotes(arena, [VoteLine("a line", {"rank": [0, 1]}, shown=["o1", "o2"])]))
        other, (somebody, _) = an_arena(service)
        votes(service, other, somebody, 5, clock)
        assert verify(journal, arena).good and verify(journal, other).good
        (line,) = journal.about(arena, ["l a line"], 10**6)
        journal.change("DELETE FROM event_keys WHERE number = ? AND key = ?", (line.number, key_hash(arena, "l a line")))
        report = verify(journal, arena)
        assert not report.good and report.first is not None and report.first[0] == line.number
        assert "table of keys" in str(report)
        journal.change("UPDATE event_keys SET number = number + 1000000 WHERE key = ?", (key_hash(arena, f"r {rater}"),))
        report = verify(journal, arena)
        first = next(event.number for event in service.events(arena) if event.kind == "ticket")
        assert report.first is not None and report.first[0] == first
        assert verify(journal, other).good, "the other arena's keys are all there"
