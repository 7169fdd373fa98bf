"""Receipts and signed heads: a log that was cut or chained anew is noticed by whoever kept one."""

from __future__ import annotations

import itertools
import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from multiduel import cli
from multiduel.arena import Ask, Done, Quarantine, Service, Undo, Vote, connect
from multiduel.arena.domain import events as log
from multiduel.arena.files.exports import read_log
from multiduel.arena.files.signed_heads import Signer, key_id, look_for, read_kept
from multiduel.arena.files.verify import verify_log
from multiduel.inputs import BadInput
from tests.arena.calling import Caller
from tests.arena.play import running
from tests.arena.web.pages.visiting import Visitor, texts

pytest.importorskip("cryptography", reason="heads are signed with the package cryptography")


@pytest.fixture
def call(tmp_path):
    caller = Caller(tmp_path)
    yield caller
    caller.close()


def a_vote(call, arena, rater, **words):
    ticket = call.ask(arena, rater)
    return call.good("PUT", f"/tickets/{ticket['ticket']}/vote", {"rank": [0, 1]}, key=rater, **words)


def rechained(events, number, body):
    """The log with another body of one event, and all hashes after it made anew."""
    made, before = [], None
    for event in events:
        said = {**event.body, **body} if event.number == number else event.body
        before = log.next_event(before, event.kind, event.at, said)
        made.append(before)
    return made


# ---- receipts


def test_a_receipt_names_its_event_and_the_same_again_when_sent_again(call):
    arena, owner = call.arena()
    rater = call.rater(arena, owner)
    ticket = call.ask(arena, rater)["ticket"]
    path = f"/tickets/{ticket}/vote?next=1"
    receipt = call.good("PUT", path, {"rank": [0, 1]}, key=rater)
    stored = {event.number: event for event in call.service.events(arena)}
    assert stored[receipt["event"]].kind == "vote" and stored[receipt["event"]].hash == receipt["hash"]
    again = call.good("PUT", path, {"rank": [0, 1]}, key=rater)
    assert (again["event"], again["hash"]) == (receipt["event"], receipt["hash"])
    for made, kind in (
        (call.good("POST", f"/arenas/{arena}/undo", {"request": "u"}, key=rater), "undo"),
        (call.good("POST", f"/arenas/{arena}/undo", {"request": "u"}, key=rater), "undo"),
        (call.good("POST", f"/arenas/{arena}/raters/r1/quarantine", {}, key=owner), "quarantined"),
        (call.good("POST", f"/arenas/{arena}/raters/r1/release", key=owner), "released"),
    ):
        event = call.service.events(arena, made["event"] - 1, 1)[0]
        assert (event.kind, event.hash) == (kind, made["hash"])


def test_receipts_of_commands_that_share_a_transaction(tmp_path):
    with running(tmp_path / "arena.db") as service:
        from multiduel.arena import AdmitRater, Create, Open, Settings

        arena = service.do(Create("x", Settings(seed=1), texts(4))).id
        service.do(Open(arena))
        raters = [service.do(AdmitRater(arena, f"r{k}")) for k in range(8)]
        tickets = [service.do(Ask(arena, rater, "a")) for rater in raters]
        assert not any(isinstance(ticket, Done) for ticket in tickets)
        receipts = [future.result(60) for future in [service.submit(Vote(ticket.id, {"rank": [0, 1]})) for ticket in tickets]]
        receipts += [service.do(Undo(arena, raters[0], "u")), service.do(Quarantine(arena, raters[1]))]
        stored = {event.number: event.hash for event in service.events(arena)}
        assert [receipt.hash for receipt in receipts] == [stored[receipt.event] for receipt in receipts]


def test_the_script_of_a_page_gets_the_receipt(call):
    arena, owner = call.arena()
    visitor = Visitor(call)
    page = visitor.enter(call.rater(arena, owner)).text
    ticket = page.split('data-ticket="')[1].split('"')[0]
    headers = {"X-Token": visitor.token(page), "Content-Type": "application/json", "Accept": "application/json"}
    body = json.dumps({"ballot": {"rank": [0, 1]}}).encode()
    answer = visitor("POST", f"/vote/{arena}/tickets/{ticket}", body, headers=headers).json()
    assert call.service.events(arena, answer["event"] - 1, 1)[0].hash == answer["hash"]


def test_hashes_do_not_let_a_rater_find_what_an_event_says(call):
    """A rater knows all of a ticket's event but which option is at which place. With the hashes before and after it, trying the
    few possibilities would tell, were there no salt."""
    arena, owner = call.arena()
    rater = call.rater(arena, owner)
    receipt = a_vote(call, arena, rater, params={"next": "1"})
    event = call.service.events(arena, receipt["event"], 1)[0]
    head = call.good("GET", f"/arenas/{arena}/head", key=rater)
    assert event.kind == "ticket" and head["number"] == event.number

    def guesses(known):
        for shown in itertools.permutations(("o1", "o2", "o3"), 2):
            for chosen in itertools.permutations(("o1", "o2", "o3"), 2):
                body = {**known, "shown": list(shown), "chosen": {**known["chosen"], "options": list(chosen)}}
                yield log.sealed(event.number, receipt["hash"], event.kind, event.at, body).hash

    assert head["hash"] in set(guesses(event.body)), "whoever knows the salt finds it"
    known = {name: value for name, value in event.body.items() if name != "salt"}
    assert head["hash"] not in set(guesses(known)) and len(event.body["salt"]) == 16
    salts = [one.body["salt"] for one in call.service.events(arena)]
    assert len(set(salts)) == len(salts)


# ---- heads


def test_a_head_is_for_owners_and_raters_of_its_arena(call):
    arena, owner = call.arena(raters="open")
    _, stranger = call.arena()
    rater = call.rater(arena, owner)
    link = call.good("POST", f"/arenas/{arena}/links", key=owner)["key"]
    public = call.good("GET", "/head-key")
    for key in (owner, rater, call.server_key):
        head = call.good("GET", f"/arenas/{arena}/head", key=key)
        assert head["hash"] == call.service.info(arena).hash and head["key"] == public["key"] == key_id(public["public_key"])
    for key, status in ((stranger, 403), (link, 403), (None, 401)):
        assert call("GET", f"/arenas/{arena}/head", key=key).status_code == status


def test_all_processes_sign_with_the_same_key(db):
    one, other = connect(db), connect(db)
    try:
        assert Signer(one).public() == Signer(other).public() == Signer(one).public()
    finally:
        one.close()
        other.close()


def test_the_private_key_is_nowhere_but_in_its_table(call):
    arena, owner = call.arena()
    call.good("GET", f"/arenas/{arena}/head", key=owner)
    private = call.service.journal.signing_key("", "")
    assert len(bytes.fromhex(private)) == 32
    for path in (f"/arenas/{arena}/head", "/head-key", f"/arenas/{arena}/log.jsonl", f"/arenas/{arena}/keys"):
        assert private not in call("GET", path, key=owner).text


@pytest.fixture
def log_and_head(call):
    """(events, head as JSON, receipt as JSON, public key, arena) of a small arena that goes on after the head."""
    arena, owner = call.arena()
    rater = call.rater(arena, owner)
    receipt = a_vote(call, arena, rater)
    head = call.good("GET", f"/arenas/{arena}/head", key=rater)
    a_vote(call, arena, rater)
    events, _ = read_log(call.good("GET", f"/arenas/{arena}/log.jsonl", key=owner).split("\n"))
    return events, json.dumps(head), json.dumps(receipt), call.good("GET", "/head-key")["public_key"], arena


def found(events, written, arena, public=None):
    return look_for(read_kept(written), arena, len(events), {one.number: one.hash for one in events}.get, public=public)


def test_what_was_kept_is_in_the_log(log_and_head):
    events, head, receipt, public, arena = log_and_head
    assert found(events, head, arena, public).sentence.endswith("is in the log; its signature is good.")
    assert "not checked" in found(events, head, arena).sentence and found(events, head, arena).good
    number, hash = json.loads(receipt)["event"], json.loads(receipt)["hash"]
    for written in (receipt, f"{number}:{hash}", f" {number}:{hash.upper()}\n"):
        assert found(events, written, arena).sentence == f"Event {number} with hash {hash[:12]}... is in the log."


def test_a_truncated_log_verifies_and_lacks_what_was_kept(log_and_head):
    events, head, receipt, public, arena = log_and_head
    short = events[: json.loads(receipt)["event"] - 1]
    assert verify_log(short).good, "the chain alone says nothing"
    for written in (head, receipt):
        said = found(short, written, arena, public)
        assert not said.good and f"the log was cut, it ends with event {len(short)}" in said.sentence


def test_a_rechained_log_verifies_and_lacks_what_was_kept(log_and_head):
    events, head, receipt, public, arena = log_and_head
    number = json.loads(receipt)["event"]
    other = {"ballot": {"rank": [[1], [0]]}}
    forged = rechained(events, number, other)
    assert forged[number - 1].body["ballot"] != events[number - 1].body["ballot"]
    assert [one.hash for one in forged[: number - 1]] == [one.hash for one in events[: number - 1]]
    for written in (head, receipt):
        said = found(forged, written, arena, public)
        assert not said.good and "rewritten" in said.sentence


@pytest.mark.parametrize(
    "change",
    [
        {"number": 2},
        {"hash": "0" * 64},
        {"at": "2020-01-01T00:00:00.000000Z"},
        {"signature": "00" * 64},
        {"signature": "zz"},
        {"signature": ""},
    ],
)
def test_a_forged_head_is_refused(log_and_head, change):
    events, head, _, public, arena = log_and_head
    said = found(events, json.dumps({**json.loads(head), **change}), arena, public)
    assert not said.good and "forged" in said.sentence


def test_a_head_of_another_key_or_arena_is_refused(log_and_head, call, tmp_path):
    events, head, _, public, arena = log_and_head
    other = connect(str(tmp_path / "other.db"))
    stranger = Signer(other)
    mine = json.dumps(stranger.sign(arena, len(events), events[-1].hash).to_json())
    assert "another key" in found(events, mine, arena, public).sentence
    dressed = json.dumps({**json.loads(mine), "key": key_id(public)})
    assert "forged" in found(events, dressed, arena, public).sentence
    other.close()
    elsewhere, owner = call.arena()
    said = found(events, json.dumps(call.good("GET", f"/arenas/{elsewhere}/head", key=owner)), arena, public)
    assert not said.good and elsewhere in said.sentence
    moved = {**json.loads(head), "arena": elsewhere}
    assert "forged" in found(events, json.dumps(moved), elsewhere, public).sentence, "signed for its arena only"


@pytest.mark.parametrize(
    "written",
    ["", "x", "{", "[]", "{}", "0:" + "0" * 64, "1:abc", '{"number": 1}', '{"number": true, "hash": "' + "0" * 64 + '"}',
     '{"number": 1, "hash": "' + "0" * 64 + '", "signature": "00"}', "{" * 100_000, '{"number": 1, "hash": 5}',
     '{"number": 1, "hash": "' + "0" * 64 + '", "arena": 7}'],
)  # fmt: skip
def test_what_is_no_head_is_refused_in_words(written):
    with pytest.raises(BadInput, match="no head and no receipt"):
        read_kept(written)


# ---- the command


def run(*args: str):
    return CliRunner().invoke(cli.app, ["arena", *args])


def test_the_command_prints_heads_and_finds_them_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MULTIDUEL_ARENA_DB", raising=False)
    Path("options.csv").write_text("name,content\nmild,Good morning.\nsharp,Morning!\n")
    run("create", "greetings", "--options", "options.csv")
    public = run("head", "--public-key").stdout.strip()
    printed = run("head").stdout
    Path("head.json").write_text(printed)
    head = json.loads(printed)
    assert list(head) == ["arena", "number", "hash", "at", "key", "signature"] and head["key"] == key_id(public)
    run("pause")
    run("export", "log.jsonl")
    for args in (["verify", "--head", "head.json"], ["verify", "log.jsonl", "--head", "head.json", "--public-key", public]):
        result = run(*args)
        assert result.exit_code == 0 and "is in the log; its signature is good.\nVerified." in result.stdout, result.output
    assert run("verify", "--receipt", f"{head['number']}:{head['hash']}").exit_code == 0
    cut = run("verify", "--receipt", f"99:{head['hash']}")
    assert cut.exit_code == 2 and "NOT verified. Event 99 with hash" in cut.stdout and "\nVerified." not in cut.stdout
    Path("cut.jsonl").write_text("\n".join(Path("log.jsonl").read_text().splitlines()[:1]))
    assert "the log was cut" in run("verify", "cut.jsonl", "--head", "head.json").stdout
    assert "no head and no receipt" in run("verify", "--receipt", "x").stderr
    assert "64 hexadecimal digits" in run("verify", "--head", "head.json", "--public-key", "12").stderr


def test_a_database_rewritten_by_its_operator_is_noticed_by_a_rater(tmp_path):
    """Who has the database, the triggers' owner and the signing key can rewrite the past, but not what others kept."""
    path = tmp_path / "arena.db"
    caller = Caller(tmp_path)
    arena, owner = caller.arena()
    receipt = a_vote(caller, arena, caller.rater(arena, owner))
    events = caller.service.events(arena)
    caller.close()
    forged = rechained(events, receipt["event"], {"ballot": {"rank": [[1], [0]]}})
    with sqlite3.connect(path) as connection:
        for trigger in ("events_no_update", "events_no_delete"):
            connection.execute(f"DROP TRIGGER {trigger}")
        for event in forged:
            connection.execute(
                "UPDATE events SET body = ?, hash = ? WHERE arena = ? AND number = ?",
                (event.text, event.hash, arena, event.number),
            )
        connection.execute("DELETE FROM snapshots")
    connection.close()
    service = Service(connect(str(path)))
    signed = Signer(service.journal).sign(arena, len(forged), forged[-1].hash)
    service.close()
    assert look_for(read_kept(json.dumps(signed.to_json())), arena, len(forged), lambda n: forged[n - 1].hash).good
    result = run("verify", "--db", str(path), "--receipt", f"{receipt['event']}:{receipt['hash']}")
    assert result.exit_code == 2 and "rewritten" in result.stdout
