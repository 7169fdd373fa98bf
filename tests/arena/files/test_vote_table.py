"""The votes as a flat table: every vote once, in names, with what came of it; for the owner only."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from multiduel.arena import ImportVotes, Quarantine, Service, Undo, Vote, VoteLine
from multiduel.arena.files.vote_table import VoteRow, rows_of, vote_table, write_parquet
from multiduel.cli import app
from multiduel.spreadsheets import original
from tests.arena.calling import Caller
from tests.arena.play import FROZEN, Clock, an_arena, frozen, lively, ticket_for


def expected(service: Service, arena: str) -> dict[int, dict[str, Any]]:
    """What the fold knows of each vote, by the number of its event."""
    rows: dict[int, dict[str, Any]] = {}
    with service.look(arena) as state:
        for ticket in state.tickets.values():
            vote = ticket.vote
            if vote is None:
                continue
            rater = state.raters[ticket.rater] if ticket.rater is not None else None
            counts = state.counts(ticket)
            rows[vote.event] = {
                "time": vote.at,
                "rater": rater and rater.label,
                "context": None if ticket.context is None else state.contexts[ticket.context],
                "shown": tuple(state.options[k].name for k in ticket.shown),
                "late": vote.late,
                "undone": vote.undone,
                "counts": counts,
                "says": vote.says,
            }
    return rows


@pytest.mark.parametrize("unit", ["answer", "rater"])
def test_every_vote_is_a_row_with_what_came_of_it(service: Service, clock: Clock, unit: str) -> None:
    arena, _ = an_arena(service, 5, raters=4, room=9, expires=60, contexts=2, unit=unit, limit=9)
    lively(service, arena, clock, random.Random(3), 200)
    there = {row.vote: row for row in rows_of(service, arena)}
    known = expected(service, arena)
    assert there.keys() == known.keys() and len(known) > 40
    for number, row in there.items():
        said = known[number]
        for name in ("time", "rater", "context", "shown", "late", "undone"):
            assert getattr(row, name) == said[name], (number, name)
        if not row.undone:
            assert (row.excluded == "") == (said["counts"] or not said["says"]), row
        assert (row.answer == "skip") == (not said["says"])
    assert {"limit", "quarantine", ""} >= {row.excluded for row in there.values()}
    assert any(row.undone for row in there.values()) and any(row.seconds for row in there.values())


def test_csv_and_parquet_say_the_same(service: Service, clock: Clock, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    arena, _ = an_arena(service, 5, raters=3, room=9, contexts=2)
    lively(service, arena, clock, random.Random(1), 80)
    rows = list(rows_of(service, arena))
    assert write_parquet(rows, tmp_path / "votes.parquet") == len(rows)
    typed = pandas.read_parquet(tmp_path / "votes.parquet")
    written = list(csv.DictReader(io.StringIO("".join(vote_table(rows)))))
    assert list(typed.columns) == list(VoteRow._fields) == list(written[0])
    assert typed["late"].dtype == bool and typed["seconds"].dtype == float
    for row, line, (_, cells) in zip(rows, written, typed.iterrows(), strict=True):
        assert tuple(cells["shown"]) == row.shown == tuple(line["shown"].split("|"))
        assert cells["answer"] == row.answer == original(line["answer"])
        assert (line["undone"], line["vote"]) == (str(cells["undone"]).lower(), str(cells["vote"]))


def test_lines_of_files_and_names_like_others(service: Service) -> None:
    """A line with the id 'None' that is undone says nothing about votes that came without a line."""
    arena, (rater, _) = an_arena(service, 3)
    ticket = ticket_for(service, arena, rater, "1")
    service.do(Vote(ticket.id, {"rank": [0, 1, 2]}))
    line = VoteLine("None", {"rank": [[0], [1]]}, shown=("o1", "o2"), rater="paper")
    service.do(ImportVotes(arena, [line]))
    service.do(Undo(arena, "r3", "u"))
    assert [(row.rater, row.undone, row.seconds is None) for row in rows_of(service, arena)] == [
        ("rater 0", False, False),
        ("paper", True, True),
    ]
    service.do(Quarantine(arena, rater, "too quick"))
    assert [row.excluded for row in rows_of(service, arena)] == ["quarantine", ""]


def test_logs_of_earlier_versions_have_a_table(service: Service) -> None:
    from multiduel.arena.files.imports import import_log

    for file in FROZEN:
        arena = import_log(service, *frozen(file)).id
        assert len(list(rows_of(service, arena))) == sum(event.kind == "vote" for event in service.events(arena))


def test_owners_get_the_table_and_raters_do_not(tmp_path: Path) -> None:
    call = Caller(tmp_path)
    try:
        arena, owner = call.arena([{"name": "=cmd()|mild", "content": "a"}, {"name": "-sharp", "content": "b"}])
        key = call.rater(arena, owner, "=Ada")
        ticket = call.ask(arena, key)
        call.good("PUT", f"/tickets/{ticket['ticket']}/vote", {"rank": [1, 0]}, key=key)
        (line,) = csv.DictReader(io.StringIO(call.good("GET", f"/arenas/{arena}/votes.csv", key=owner)))
        assert line["rater"] == "'=Ada" and all(cell[:1] not in "=+-@" for cell in line.values() if cell)
        assert original(line["answer"]) in ("=cmd()|mild>-sharp", "-sharp>=cmd()|mild")
        answer = call("GET", f"/arenas/{arena}/votes.parquet", key=owner)
        assert answer.status_code == 200 and answer.content[:4] == b"PAR1"
        for kind in ("csv", "parquet"):
            assert call("GET", f"/arenas/{arena}/votes.{kind}", key=key).status_code == 403
            assert call("GET", f"/arenas/{arena}/votes.{kind}").status_code == 401
            assert call("GET", f"/own/{arena}/votes.{kind}").status_code == 401
        assert call("GET", f"/arenas/{arena}/votes.exe", key=owner).status_code == 404
    finally:
        call.close()


def test_the_command_writes_the_table(service: Service, tmp_path: Path) -> None:
    arena, (rater, _) = an_arena(service, 3)
    service.do(Vote(ticket_for(service, arena, rater, "1").id, {"rank": [0, 1, 2]}))
    db = service.journal.path  # type: ignore[attr-defined]
    out = tmp_path / "votes.csv"
    run = CliRunner().invoke(app, ["arena", "export", str(out), "--votes", "--db", db])
    assert run.exit_code == 0, run.output
    (line,) = csv.DictReader(io.StringIO(out.read_bytes().decode()))
    assert line["rater"] == "rater 0" and json.loads(line["vote"]) > 1
    wrong = CliRunner().invoke(app, ["arena", "export", str(tmp_path / "votes.txt"), "--votes", "--db", db])
    assert wrong.exit_code == 2 and ".csv or .parquet" in wrong.output
