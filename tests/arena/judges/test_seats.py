"""Judges beside people: through a server, agreement with people, shortlists."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from typer.testing import CliRunner

import multiduel as md
from multiduel.arena import AdmitRater, Ask, Client, Service, Ticket, Vote, connect
from multiduel.arena.domain.options import read_options
from multiduel.arena.judges.budgets import Budget
from multiduel.arena.judges.calls import Calls
from multiduel.arena.judges.judging import opened
from multiduel.arena.judges.kinds import FunctionJudge
from multiduel.arena.judges.loop import Run
from multiduel.arena.judges.questions import Question
from multiduel.arena.judges.seats import LocalSeat, RemoteSeat
from multiduel.arena.judges.shortlists import keep, shortlist_of
from multiduel.arena.judges.worth import worth_of
from multiduel.arena.web.app import make_app
from multiduel.cli import app
from multiduel.inputs import BadInput
from tests.arena.play import an_arena, running


def last(question: Question) -> int:
    """Prefers the content that comes last in the alphabet."""
    return 0 if str(question.contents[0]) > str(question.contents[1]) else 1


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Client]:
    """The owner of an arena of a server."""
    service = Service(connect(tmp_path / "served.db"))
    site = make_app(service)
    server = uvicorn.Server(uvicorn.Config(site, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + 60
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    from multiduel.arena.web.access import Access

    client = Client(f"http://127.0.0.1:{port}", Access(service.journal.secrets).new_key("server"))
    options = [{"name": f"secret {k}", "contents": [{"kind": "text", "content": f"{k} {c}"} for c in range(8)]} for k in range(3)]
    made = client.create("letters", options, contexts=[f"question {c}" for c in range(8)], deciders="judges", unit="case")
    made.open()
    yield made
    server.should_exit = True
    thread.join()
    service.close()


def test_a_judge_votes_through_a_server_and_goes_on(owner: Client, tmp_path: Path) -> None:
    seen: list[str] = []

    def look(question: Question) -> int:
        seen.append(f"{question.case} {question.contents}")
        return last(question)

    calls = Calls(tmp_path / "judge.calls")
    judge = FunctionJudge(look, "alphabet")
    first = Run(RemoteSeat(owner, "alphabet"), [judge], calls, Budget(5), concurrency=3).go()
    assert first.stop == "budget" and len(seen) == 5
    done = Run(RemoteSeat(owner, "alphabet"), [judge], calls, concurrency=3).go()
    assert done.stop in ("settled", "judged") and len(set(seen)) == len(seen)
    rater = owner.raters()[0]
    assert rater["kind"] == "judge" and rater["votes"] == len(seen) and len(owner.raters()) == 1
    assert not any("secret" in one for one in seen)
    calls.close()


@pytest.mark.parametrize("agrees", [True, False])
def test_agreement_with_people(tmp_path: Path, agrees: bool) -> None:
    with running(tmp_path / "a.db") as service:
        arena, people = an_arena(service, 3, raters=2, contexts=6, slate_size=2, go_on=True)
        for k in range(60):
            ticket = service.do(Ask(arena, people[k % 2], f"{k}"))
            assert isinstance(ticket, Ticket)
            texts = [service.content(ticket.id, place).data for place in (0, 1)]
            service.do(Vote(ticket.id, {"rank": [0, 1] if texts[0] > texts[1] else [1, 0]}, rater=people[k % 2]))
        calls = Calls(tmp_path / "a.db.calls")
        judge = FunctionJudge(last if agrees else lambda question: 1 - last(question), "judge")
        Run(LocalSeat(service, arena, "judge"), [judge], calls).go()
        worth = worth_of(service, arena, calls).judges[0]
        assert worth.overlap >= 50 and worth.people_alpha == 1.0
        assert (
            (worth.kappa == 1.0 and worth.alpha == 1.0) if agrees else (worth.kappa < -0.5 and worth.alpha < worth.people_alpha)
        )
        board = service.board(arena)
        assert board.answers == 60, "people alone decide"
        ours, theirs = board.winner, {line.kind: line for line in board.kinds}["judges"].ranks[0].option
        assert (ours == theirs) == agrees
        calls.close()


def test_a_judge_and_a_person_have_different_names(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        arena, _ = an_arena(service)
        service.do(AdmitRater(arena, "Ada"))
        with pytest.raises(BadInput, match="There is a person 'Ada' among the raters"):
            LocalSeat(service, arena, "Ada")


def test_a_shortlist_begins_an_arena_of_people(tmp_path: Path) -> None:
    options = tmp_path / "options.csv"
    rows = [f"option {k},{k} {c},question {c}" for k in range(5) for c in range(40)]
    options.write_text("\n".join(["name,content,context", *rows]))
    judged = tmp_path / "judged.db"
    md.judge(options, judge=last, file=judged, margin=0.0, seed=1)
    with opened(judged) as (service, _):
        left = shortlist_of(service, service.arenas()[0].id, 2)
    assert "option 4" in left.names and left.said == {"by": "last", "of": 5, "first": 2, "rule": "possible"}
    with opened(judged) as (service, _):
        arena = service.arenas()[0].id
        likely = shortlist_of(service, arena, 2, "likely")
        assert "option 4" in likely.names and 2 <= len(likely.names) < len(left.names), "it leaves more out"
        with pytest.raises(BadInput, match=r"leaves 1 of 5 options, and people need 2"):
            shortlist_of(service, arena, 1, "likely")
        with pytest.raises(BadInput, match=r"'rule' must be one of possible, likely. Got 'most'"):
            shortlist_of(service, arena, 2, "most")
    listed, _ = read_options(options)
    assert {option.name for option in keep(listed, left)} == set(left.names)
    with pytest.raises(BadInput, match="A shortlist is of the options that the judge compared: 5"):
        keep(listed[:3], left)
    words = ["arena", "create", "people", "--options", str(options), "--shortlist", str(judged), "--first", "2"]
    made = CliRunner().invoke(app, [*words, "--db", str(tmp_path / "people.db")])
    assert made.exit_code == 0, made.output
    about = f"This result is about {len(left.names)} of 5 options"
    assert about in made.output
    assert about in CliRunner().invoke(app, ["arena", "board", "--db", str(tmp_path / "people.db")]).output
    made = CliRunner().invoke(app, [*words, "--rule", "likely", "--db", str(tmp_path / "fewer.db")])
    assert f"about {len(likely.names)} of 5 options: those that are likely to be among the first 2" in made.output, made.output
