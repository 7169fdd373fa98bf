"""Every event names its actor, nobody votes as somebody else, and raters learn nothing about other raters."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import AdmitRater, Ask, Forbidden, ImportVotes, PrintTickets, Quarantine, Service, Undo, Vote, VoteLine
from multiduel.arena.domain.actors import actor_words, check_actor
from multiduel.arena.files.exports import log_table
from multiduel.arena.files.imports import import_log
from multiduel.arena.files.verify import verify, verify_log
from multiduel.arena.service.board import FOR_RATERS, Board
from multiduel.inputs import BadInput
from tests.arena.calling import Caller
from tests.arena.play import FROZEN, an_arena, frozen, ticket_for
from tests.arena.web.pages.visiting import Visitor


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Caller]:
    caller = Caller(tmp_path)
    yield caller
    caller.close()


def logged(call: Caller, arena: str, owner: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in call.good("GET", f"/arenas/{arena}/log.jsonl", key=owner).splitlines()]
    return [row for row in rows if "kind" in row]


def key_name(key: str) -> str:
    return key.split(".")[2]


# ---- who may vote


@pytest.mark.parametrize("whose", ["owner", "server"])
def test_owner_cannot_vote_on_a_raters_ticket(call: Caller, whose: str) -> None:
    arena, owner = call.arena()
    ada = call.rater(arena, owner, "Ada")
    key = owner if whose == "owner" else call.server_key
    ticket = call.ask(arena, ada)["ticket"]
    before = logged(call, arena, owner)
    for ballot in ({"rank": [0, 1]}, {"skip": True}):
        answer = call("PUT", f"/tickets/{ticket}/vote", ballot, key=key)
        assert answer.status_code == 403
        assert answer.json()["error"] == (
            "An owner's key votes only on printed tickets that belong to no rater. This one is a rater's."
        )
    assert logged(call, arena, owner) == before, "nothing is written"
    assert call.good("PUT", f"/tickets/{ticket}/vote", {"rank": [0, 1]}, key=ada)["counted"] == "counted"
    again = call("PUT", f"/tickets/{ticket}/vote", {"rank": [0, 1]}, key=key)
    assert again.status_code == 403, "nor is the rater's vote confirmed to the owner"


@pytest.mark.parametrize("whose", ["owner", "server"])
def test_owner_votes_on_a_printed_ticket_of_nobody(call: Caller, whose: str) -> None:
    arena, owner = call.arena()
    key = owner if whose == "owner" else call.server_key
    sheets = list(csv.DictReader(io.StringIO(call.good("POST", f"/arenas/{arena}/sheets", {"number": 2}, key=owner))))
    for _ in range(2):  # sent again, the same answer
        assert call.good("PUT", f"/tickets/{sheets[0]['ticket']}/vote", {"rank": [0, 1]}, key=key)["counted"] == "counted"
    (vote,) = [row for row in logged(call, arena, owner) if row["kind"] == "vote"]
    assert vote["body"]["actor"] == f"{whose}:{key_name(key)}" and vote["body"]["rater"] is None
    ada = call.rater(arena, owner, "Ada")
    call.good("PUT", f"/tickets/{sheets[1]['ticket']}/vote", {"rank": [0, 1]}, key=ada)
    taken = call("PUT", f"/tickets/{sheets[1]['ticket']}/vote", {"rank": [0, 1]}, key=key)
    assert taken.status_code == 403, "it is Ada's now"


def test_owner_cannot_vote_on_a_ticket_printed_for_a_rater(service: Service) -> None:
    arena, (rater, _) = an_arena(service)
    (sheet,) = service.do(PrintTickets(arena, 1, "p", rater=rater))
    with pytest.raises(Forbidden):
        service.do(Vote(sheet.id, {"rank": [0, 1, 2]}), actor="owner:k")


def test_files_of_votes_cannot_answer_a_ticket_that_a_rater_was_shown(service: Service) -> None:
    arena, (rater, _) = an_arena(service)
    ticket = ticket_for(service, arena, rater, "1")
    for label in ("rater 0", None):
        line = VoteLine("1", {"rank": [0, 1, 2]}, ticket=ticket.id, rater=label)
        report = service.do(ImportVotes(arena, [line]), actor="owner:k")
        assert not report.accepted and "was not printed" in report.lines[0].problem
    assert service.do(Vote(ticket.id, {"rank": [0, 1, 2]}, rater=rater), actor=f"rater:{rater}").counted == "counted"


# ---- every event names its actor


def test_every_event_names_its_actor(call: Caller) -> None:
    arena, owner = call.arena(room=5)
    link = call.good("POST", f"/arenas/{arena}/links", key=owner)["key"]
    joined = call.good("POST", f"/arenas/{arena}/join", {"label": "Bo", "request": "x" * 16}, key=link)
    ada = call.rater(arena, owner, "Ada")
    ticket = call.ask(arena, ada)["ticket"]
    call.good("PUT", f"/tickets/{ticket}/vote", {"rank": [0, 1]}, key=ada)
    call.good("POST", f"/arenas/{arena}/undo", {}, key=ada)
    call.good("POST", f"/arenas/{arena}/raters/r2/quarantine", {"reason": "x"}, key=owner)
    call.good("POST", f"/arenas/{arena}/raters/r2/release", key=call.server_key)
    call.good("POST", f"/arenas/{arena}/votes?format=csv", "id,rater,rank\n1,Cy,mild>sharp\n", key=owner)
    call.service.do(AdmitRater(arena, "Dan"))
    server, owners = f"server:{key_name(call.server_key)}", f"owner:{key_name(owner)}"
    said = [(row["kind"], row["body"]["actor"]) for row in logged(call, arena, owner)]
    assert said == [
        ("created", server),
        ("opened", owners),
        ("rater_admitted", f"link:{key_name(link)}"),
        ("rater_admitted", owners),
        ("epoch", "rater:r2"),  # what follows from a command has the command's actor
        ("ticket", "rater:r2"),
        ("vote", "rater:r2"),
        ("undo", "rater:r2"),
        ("ticket", "rater:r2"),
        ("quarantined", owners),
        ("released", server),
        ("rater_admitted", owners),
        ("vote", owners),  # beside the rater whom the line names
        ("rater_admitted", "operator"),
    ]
    imported = logged(call, arena, owner)[-2]["body"]
    assert imported["rater"] == "r3" and joined["rater"] == "r1"
    assert verify(call.service.journal, arena).good


def test_verdicts_name_the_actor_whose_vote_settles(service: Service) -> None:
    arena, (rater, _) = an_arena(service, 2, slate_size=2)
    for k in range(100):
        ticket = service.do(Ask(arena, rater, f"{k}"), actor=f"rater:{rater}")
        if not hasattr(ticket, "options"):
            break
        first = ticket.options.index("o1")
        service.do(Vote(ticket.id, {"rank": [first, 1 - first]}, rater=rater), actor=f"rater:{rater}")
    (verdict,) = [event for event in service.events(arena) if event.kind == "verdict"]
    assert verdict.body["actor"] == f"rater:{rater}"


def test_pages_name_the_actor_too(call: Caller) -> None:
    arena, owner = call.arena(raters="open", slate_size=2)
    link = call.good("POST", f"/arenas/{arena}/links", key=owner)["key"]
    rater, keeper = Visitor(call), Visitor(call)
    page = rater.enter(link, label="Bo", request="0123456789abcdef0123456789abcdef").text
    ticket = re.search(r'name="ticket" value="([^"]+)"', page)[1]
    fields = {"token": rater.token(page), "ticket": ticket, "place-0": "1", "place-1": "2", "action": "vote"}
    assert rater("POST", f"/vote/{arena}", fields).status_code == 200
    page = keeper.enter(owner).text
    keeper("POST", f"/own/{arena}/status", {"token": keeper.token(page), "do": "pause"})
    by = {row["kind"]: row["body"]["actor"] for row in logged(call, arena, owner)}
    assert by["rater_admitted"] == f"link:{key_name(link)}" and by["vote"] == "rater:r1"
    assert by["paused"] == f"owner:{key_name(owner)}"
    journal = keeper("GET", f"/own/{arena}/journal").text
    assert f"Paused: no new tickets. By owner key ‘{key_name(owner)}’." in journal
    assert re.search(r"above ‘[a-z]+’\. By rater Bo \([0-9a-f]{6}\)\.", journal)
    assert f"By link key ‘{key_name(link)}’." in journal
    table = list(csv.DictReader(io.StringIO(call.good("GET", f"/arenas/{arena}/log.csv", key=owner))))
    assert {row["actor"] for row in table if row["kind"] == "vote"} == {"rater:r1"}


@pytest.mark.parametrize("file", FROZEN, ids=lambda file: file.stem)
def test_logs_without_actors_are_verified_and_shown(file: Path, call: Caller) -> None:
    events, contents = frozen(file)
    assert not any("actor" in event.body for event in events)
    assert verify_log(events, contents).good
    arena = import_log(call.service, events, contents).id
    keeper = Visitor(call)
    keeper.enter(call.access.new_key("owner", arena=arena))
    shown = keeper("GET", f"/own/{arena}/journal").text
    assert "was created" in keeper("GET", f"/own/{arena}/journal?kind=created").text and "By " not in shown
    assert all(row["actor"] == "" for row in csv.DictReader(io.StringIO("".join(log_table(events)))))


@pytest.mark.parametrize("actor", ["", "rater", "rater:", "king:x", "owner:a b", "owner:" + "x" * 65, None, 3, "operator:x"])
def test_an_actor_of_another_form_is_refused(service: Service, actor: Any) -> None:
    with pytest.raises(BadInput, match="An actor is"):
        check_actor(actor)
    arena, _ = an_arena(service)
    events = service.info(arena).events
    with pytest.raises(BadInput):
        service.do(AdmitRater(arena, "x"), actor=actor)
    assert service.info(arena).events == events


def test_actors_in_plain_words() -> None:
    assert actor_words("operator", {}) == "the operator"
    assert actor_words("server:ab", {}) == "server key ‘ab’" and actor_words("link:ab", {}) == "link key ‘ab’"
    assert actor_words("rater:r9", {"r1": "Ada"}) == "rater r9"


# ---- what raters see of each other


KINDS = ("deciders", "kinds")  # of what judges find owners are told


def test_raters_see_only_the_boards_fields_that_are_for_them(call: Caller) -> None:
    arena, owner = call.arena(board="always")
    ada, bo = call.rater(arena, owner, "Ada Quick"), call.rater(arena, owner, "Bo")
    for rater in (ada, bo):
        call.good("PUT", f"/tickets/{call.ask(arena, rater)['ticket']}/vote", {"rank": [0, 1]}, key=rater)
    call.good("POST", f"/arenas/{arena}/raters/r1/quarantine", {"reason": "too quick"}, key=owner)
    mine = call.good("GET", f"/arenas/{arena}/board", key=owner)
    theirs = call.good("GET", f"/arenas/{arena}/board", key=bo)
    assert set(theirs) == set(FOR_RATERS)
    assert set(mine) - set(theirs) == {"result", "set_aside", "quarantined", "raters", "tickets", "margin_offer", "notes", *KINDS}
    assert mine["quarantined"] == ["Ada Quick"] and "excluded" in mine["sentence"]
    assert (
        theirs["sentence"] == mine["result"] and "excluded" not in json.dumps(theirs) and "quarantine" not in json.dumps(theirs)
    )
    visitor = Visitor(call)
    visitor.enter(bo)
    for path in (f"/vote/{arena}/board", f"/vote/{arena}/board?fragment=1"):
        page = visitor("GET", path).text
        for word in ("uarantine", "set aside", "xcluded", "Ada"):
            assert word not in page, (path, word)
        assert "Votes so far" in page and ">1</td></tr></tbody></table></details>" in page, "only votes that count are drawn"
    keeper = Visitor(call)
    keeper.enter(owner)
    assert "those of 1 excluded rater" in keeper("GET", f"/own/{arena}/board").text


def test_a_new_field_of_the_board_is_not_for_raters() -> None:
    fields = set(Board.__dataclass_fields__)
    assert set(FOR_RATERS) <= fields
    assert fields - set(FOR_RATERS) == {
        "result",
        "set_aside",
        "quarantined",
        "raters",
        "tickets",
        "margin_offer",
        "notes",
        *KINDS,
    }


def test_the_owners_group_comes_before_the_raters_own(call: Caller) -> None:
    arena, owner = call.arena()
    assigned, free = call.rater(arena, owner, "Ada", group="north"), call.rater(arena, owner, "Bo")
    assert call.ask(arena, assigned, group="south")["group"] == "north"
    assert call.ask(arena, free, group="south")["group"] == "south", "where the owner assigned none"
    bad = call("POST", f"/arenas/{arena}/tickets", {"group": "\n"}, key=assigned)
    assert bad.status_code == 422, "it is checked all the same"


# ---- counts that nothing else notices


def test_undo_of_a_vote_beyond_the_limit_is_no_longer_an_excluded_vote(service: Service) -> None:
    arena, (rater, _) = an_arena(service, limit=1, places=2)
    (sheet,) = service.do(PrintTickets(arena, 1, "p"))
    service.do(Vote(ticket_for(service, arena, rater, "1").id, {"rank": [0, 1, 2]}))
    assert service.do(Vote(sheet.id, {"rank": [0, 1, 2]}, rater=rater)).counted == "aside"
    assert (service.board(arena).set_aside, service.board(arena).answers) == (1, 1)
    service.do(Undo(arena, rater, "oops"))
    assert (service.board(arena).set_aside, service.board(arena).answers) == (0, 1)
    assert "excluded" not in service.board(arena).sentence
    assert service.raters(arena)[0].votes == 1


def test_agreement_compares_with_the_others_votes_only(service: Service) -> None:
    """Ada says o1 three times, Bo o2 once: without her own votes, nobody agrees with Ada."""
    arena, _ = an_arena(service, 2, slate_size=2, raters=0)
    lines = [VoteLine(f"a{k}", {"rank": [[0], [1]]}, shown=["o1", "o2"], rater="Ada") for k in range(3)]
    lines.append(VoteLine("b", {"rank": [[1], [0]]}, shown=["o1", "o2"], rater="Bo"))
    service.do(ImportVotes(arena, lines))
    found = {line.label: (line.agreement, line.judgements) for line in service.raters(arena)}
    assert found == {"Ada": (0.0, 3), "Bo": (0.0, 1)}
    service.do(ImportVotes(arena, [VoteLine("c", {"rank": [[0], [1]]}, shown=["o1", "o2"], rater="Cy")]))
    found = {line.label: (line.agreement, line.judgements) for line in service.raters(arena)}
    assert found == {"Ada": (None, 0), "Bo": (0.0, 1), "Cy": (1.0, 1)}, "with Bo and Cy undecided there is nothing to agree with"
    service.do(Quarantine(arena, "r1"))
    found = {line.label: (line.agreement, line.judgements) for line in service.raters(arena)}
    assert found == {"Ada": (None, 0), "Bo": (0.0, 1), "Cy": (0.0, 1)}, "whose votes do not count is compared, and not with"
