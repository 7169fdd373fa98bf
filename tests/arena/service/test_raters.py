"""The page of raters: what is stored of portions of the log gives the same numbers as all votes read anew, in plain Python."""

from __future__ import annotations

import json
import random
import sqlite3
import statistics
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import AdmitRater, Quarantine, Release, Service, Undo, Vote, connect
from multiduel.arena.domain.ballots import wins_of
from multiduel.arena.domain.events import time_of
from multiduel.arena.service import raters as module
from multiduel.arena.service.raters import RaterLine
from multiduel.inference.shares import share_interval
from tests.arena.play import Clock, an_arena, lively, running, ticket_for


def naive(service: Service, arena: str) -> list[RaterLine]:
    """All events, one after the other, and then all pairs of all votes that were not undone."""
    events, tickets, votes = service.events(arena), {}, {}
    for event in events:
        body = event.body
        if event.kind == "ticket":
            tickets[body["id"]] = (body["shown"], body["rater"], event.at, body["expires"] is not None)
        elif event.kind == "vote":
            shown, rater, issued, expires = tickets.get(body["ticket"]) or (body["shown"], None, event.at, False)
            imported = body["ticket"] is None
            votes[body["ticket"] or f"line:{body['line']}"] = (
                shown,
                body.get("rater") or rater,
                issued,
                expires,
                imported,
                event,
            )
        elif event.kind == "undo":
            del votes[body["ticket"]]
    now = events[-1].at
    said: dict[str, list[Any]] = defaultdict(list)
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    waits: dict[str, list[float]] = defaultdict(list)
    for shown, rater, issued, expires, imported, event in votes.values():
        if rater is None:
            continue
        late, aside = event.body["late"], "aside" in event.body
        counted[rater]["late"] += late
        if expires and issued <= event.at and (issued <= now) == (event.at <= now):
            waits[rater].append((time_of(event.at) - time_of(issued)).total_seconds())
        if "skip" in event.body["ballot"]:
            counted[rater]["skipped"] += 1
            continue
        wins = wins_of(event.body["ballot"], len(shown))
        places = range(len(shown))
        pairs = [(a, b) for a in places for b in places if wins[a, b] > wins[b, a]]
        said[rater] += [(shown[a], shown[b], aside) for a, b in pairs]
        counted[rater]["said"] += 1
        counted[rater]["aside"] += aside
        if not imported:
            balance = sum(1 if a < b else -1 for a, b in pairs)
            counted[rater]["first" if balance > 0 else "later" if balance < 0 else "level"] += 1
    with service.look(arena) as state:
        records = list(state.raters.values())
        decides = {rater.id: state.decides(rater) for rater in records}
    counts = {
        rater.id: decides[rater.id] and not rater.quarantined and counted[rater.id]["said"] > counted[rater.id]["aside"]
        for rater in records
    }
    total = Counter((i, j) for rater in records if counts[rater.id] for i, j, aside in said[rater.id] if not aside)
    lines = []
    for rater in records:
        own, number = Counter((i, j) for i, j, _ in said[rater.id]), counted[rater.id]
        agree = judged = 0
        for (i, j), times in own.items():
            more = total[i, j] - total[j, i] - (own[i, j] - own[j, i] if counts[rater.id] else 0)
            agree, judged = agree + times * (more > 0), judged + times * (more != 0)
        share = share_interval(number["first"], number["later"], number["level"])
        lines.append(
            RaterLine(
                *(rater.id, rater.label, rater.group, rater.limit, rater.votes, number["skipped"], number["late"]),
                *(number["said"] if rater.quarantined else number["aside"], rater.quarantined, rater.reason),
                *(agree / judged if judged else None, judged, statistics.median(waits[rater.id]) if waits[rater.id] else None),
                rater.kind,
                (share.value, share.low, share.high) if number["first"] + number["later"] + number["level"] else None,
            )
        )
    return lines


def forget(service: Service, arena: str) -> None:
    service._live[arena].raters = (0, [])


def stored(service: Service) -> dict[str, bytes]:
    rows = service.journal.query("SELECT arena, data FROM snapshots WHERE arena LIKE '% raters %'")
    return {name: bytes(data) for name, data in rows}


@pytest.mark.parametrize("seed", [4, 5, 6])
@pytest.mark.parametrize("portion", [7, 64, 5_000])
def test_portions_give_what_all_votes_give(
    service: Service, clock: Clock, seed: int, portion: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through undo, skips, late votes, votes beyond a limit, imports, exclusion, new options and raters, and a clock set back."""
    monkeypatch.setattr(module, "PORTION", portion)
    arena, _ = an_arena(service, 4, raters=3, room=9, places=2, expires=60, limit=6)
    met: Counter[str] = Counter()
    for part in range(8):
        lively(service, arena, clock, random.Random(10 * seed + part), 25, churn=0.3)
        if part == 3:
            service.do(AdmitRater(arena, "a judge", kind="judge"))
        if part == 4 and "r2" not in {line.rater for line in service.raters(arena) if line.quarantined}:
            service.do(Quarantine(arena, "r2", "too quick"))
        if part == 5:
            clock.wait(-86_400.0)
        if part == 6:
            clock.wait(2 * 86_400.0)
        lines = service.raters(arena)
        assert lines == naive(service, arena), part
        for name in ("agreement", "aside", "late", "skipped", "seconds", "quarantined"):
            met[name] += any(getattr(line, name) for line in lines)
    assert met.keys() == {name for name, times in met.items() if times} and len(met) == 6, met
    assert any(event.kind == "undo" for event in service.events(arena))
    if portion < 5_000:
        gathered = stored(service)
        assert len(gathered) == service.info(arena).events // portion
        service.journal.drop_snapshots()
        forget(service, arena)
        assert service.raters(arena) == lines, "portions made from the log"
        assert {name: json.loads(data) for name, data in stored(service).items()} == {
            name: json.loads(data) for name, data in gathered.items()
        }, "whoever makes a portion makes the same"


def test_a_vote_of_an_earlier_portion_can_be_undone(service: Service, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PORTION", 10)
    arena, raters = an_arena(service, 4, raters=2)
    for k in range(24):
        ticket = ticket_for(service, arena, raters[k % 2], f"ticket {k}")
        clock.wait(1.0 + k)
        service.do(Vote(ticket.id, {"rank": [[0], [1], [2]]}))
    for k in range(12):
        clock.wait(1.0)
        service.do(Undo(arena, raters[0], f"back {k}"))
        assert service.raters(arena) == naive(service, arena)


def test_damaged_portions_are_made_anew(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PORTION", 10)
    db = tmp_path / "a.db"
    with running(db, clock) as service:
        arena, _ = an_arena(service, 4, raters=3)
        lively(service, arena, clock, random.Random(2), 120)
        service.do(Quarantine(arena, "r1", "a test"))
        service.do(Release(arena, "r1"))
        lines = service.raters(arena)
        assert lines == naive(service, arena)
    with sqlite3.connect(db) as connection:  # one torn, one of another log, one of a later version, one lost, one without rows
        names = [name for (name,) in connection.execute("SELECT arena FROM snapshots WHERE arena LIKE '% raters %' LIMIT 5")]
        assert len(names) == 5
        connection.execute("UPDATE snapshots SET data = x'00' WHERE arena = ?", (names[0],))
        connection.execute("UPDATE snapshots SET hash = 'another' WHERE arena = ?", (names[1],))
        connection.execute("UPDATE snapshots SET format = 'later' WHERE arena = ?", (names[2],))
        connection.execute("DELETE FROM snapshots WHERE arena = ?", (names[3],))
    journal = connect(db)
    empty = journal.load_snapshot(arena, names[4].partition(" ")[2])
    assert empty is not None
    journal.save_snapshot(arena, empty._replace(data=b"{}"), names[4].partition(" ")[2])
    journal.close()
    with running(db, clock) as service:
        assert service.raters(arena) == lines
