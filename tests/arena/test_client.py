"""The client, against a server that really listens: answers get lost, and nothing counts twice."""

from __future__ import annotations

import random
import threading
import time

import pytest
import uvicorn

from multiduel.arena import Client
from multiduel.arena.domain.errors import Conflict, Forbidden, NotFound, Unavailable
from multiduel.arena.journal import connect
from multiduel.arena.service.service import Service
from multiduel.arena.web.app import make_app
from multiduel.inputs import BadInput

OPTIONS = [{"name": name, "content": f"{name} text"} for name in ("mild", "sharp", "bitter")]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    app = make_app(Service(connect(str(tmp_path_factory.mktemp("client") / "arena.db"))))
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", loop="asyncio", http="h11", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Client(f"http://127.0.0.1:{port}", app.access.new_key("server"))
    server.should_exit = True
    thread.join(20)


class Unlucky(Client):
    """Requests get lost on the way there, answers on the way back."""

    def __init__(self, *args, **words):
        super().__init__(*args, **words)
        self.luck, self.lost = random.Random(1), [0, 0]

    def _once(self, *args):
        if self.luck.random() < 0.2:
            self.lost[0] += 1
            raise ConnectionResetError("the request was lost")
        answer = super()._once(*args)
        if self.luck.random() < 0.3:
            self.lost[1] += 1
            raise ConnectionResetError("the answer was lost")
        return answer


def test_the_example_of_the_docstring(server):
    owner = server.create("taste", OPTIONS, slate_size=3)
    owner.open()
    rater = owner.admit("Ada")
    ticket = rater.ask()
    for _ in range(5):
        texts = [rater.content(ticket, k) for k in range(ticket["positions"])]
        assert sorted(texts) == ["bitter text", "mild text", "sharp text"]
        best = texts.index("mild text")
        ticket = rater.vote(ticket, {"rank": [best, [k for k in range(3) if k != best]]}, next=True)["next"]
    board = owner.board()
    assert board["answers"] == 5 and board["lines"][0]["name"] == "mild"
    assert rater.undo()["counted"] == "undone" and owner.board()["answers"] == 4


def test_lost_answers_count_once(server, monkeypatch):
    monkeypatch.setattr("multiduel.arena.client.time.sleep", lambda seconds: None)
    owner = server.create("lost", OPTIONS, slate_size=3)
    owner.open()
    unlucky = Unlucky(server.url, owner.key)
    raters = [Unlucky(server.url, unlucky.admit(f"rater {k}").key) for k in range(3)]
    assert len(owner.raters()) == 3, "nobody was admitted twice"
    votes = 0
    for rater in raters:
        ticket = rater.ask()
        for _ in range(20):
            ticket = rater.vote(ticket, {"rank": [0, 1, 2]}, next=True)["next"]
            votes += 1
        rater.undo()
        votes -= 1
    assert all(rater.lost[0] > 2 and rater.lost[1] > 2 for rater in raters), "the luck was too good to say anything"
    assert owner.board()["answers"] == votes
    assert owner.verify()["good"]


def test_refusals_are_the_errors_of_the_library(server):
    owner = server.create("refusals", OPTIONS)
    owner.open()
    rater = owner.admit("Ada")
    ticket = rater.ask()
    rater.vote(ticket, {"rank": [0, 1]})
    with pytest.raises(Conflict, match="another vote"):
        rater.vote(ticket, {"rank": [1, 0]})
    with pytest.raises(BadInput, match="each position once"):
        rater.vote(rater.ask(), {"rank": [1, 1]})
    with pytest.raises(Forbidden, match="owner"):
        rater.pause()
    with pytest.raises(Forbidden, match="not known"):
        Client(server.url, owner.key[:-4] + "AAAA").info()
    with pytest.raises(NotFound):
        rater.content("nothing", 0)
    with pytest.raises(BadInput, match="Which arena"):
        server.info()
    with pytest.raises(BadInput, match="URL"):
        Client("ftp://x")


def test_patience_ends(server):
    nobody = Client("http://127.0.0.1:9", "mdrater.a.r1." + "x" * 43, patience=0.2)
    start = time.monotonic()
    with pytest.raises(Unavailable, match="gave no answer within"):
        nobody.ask()
    assert time.monotonic() - start < 10.0


def test_a_busy_server_is_asked_again(server, monkeypatch):
    slept = []
    monkeypatch.setattr("multiduel.arena.client.time.sleep", slept.append)
    owner = server.create("busy", OPTIONS)
    answers = [(503, b'{"error":"busy"}', {"content-type": "application/json", "retry-after": "3"}), (429, b"", {})]
    real = Client._once
    monkeypatch.setattr(Client, "_once", lambda self, *args: answers.pop(0) if answers else real(self, *args))
    assert owner.info()["name"] == "busy"
    assert slept[0] == 3.0 and len(slept) == 2


def test_all_that_an_owner_does(server):
    owner = server.create("owner", OPTIONS, raters="open", slate_size=3, room=5)
    assert owner.open()["status"] == "open"
    guest = Client(server.url, owner.link).join("Bo")
    assert guest.ask()["positions"] == 3
    assert len(owner.add_options([{"name": "salty", "content": "Ahoy"}])["options"]) == 4
    assert owner.retire("o1")["options"][0]["retired"]
    sheet = owner.sheets(2)
    report = owner.send_votes(sheet.replace(",,,\r\n", ",B>A,,Cy\r\n"))
    assert report["entered"] and report["new"] == 2
    assert not owner.send_votes(sheet, dry_run=True)["entered"]
    labels = {one["label"]: one["rater"] for one in owner.raters()}
    assert owner.quarantine(labels["Cy"], "why not")["counted"] == "aside" and owner.board()["set_aside"] == 2
    assert owner.release(labels["Cy"])["counted"] == "counted"
    assert owner.change_policy("ws-w")["settings"]["policy"] == "ws-w"
    assert owner.change_margin(0.1)["settings"]["margin"] == 0.1
    assert owner.log().startswith('{"number":1,"kind":"created"') and owner.log("csv").startswith("number,at,kind")
    assert owner.revoke_links() == {"revoked": 1}
    with pytest.raises(Forbidden):
        Client(server.url, owner.link).join()
    assert Client(server.url, owner.new_link()).join().ask()["positions"] == 2  # ws-w compares two, always
    assert owner.verify()["good"]
    assert owner.pause()["status"] == "paused" and owner.close()["status"] == "closed"


def test_an_owner_looks_after_keys(server):
    owner = server.create("keys", OPTIONS)
    mine = owner.key.split(".")[2]
    bo = owner.new_key("Bo")
    assert {row["label"] for row in bo.keys()["keys"]} == {"", "Bo"}
    old, new = owner.key, owner.rotate_key(mine)
    assert owner.key == new != old and owner.info()["arena"] == owner.arena, "it goes on with its new key"
    bo.revoke_key(mine)
    with pytest.raises(Forbidden):
        owner.info()
    with pytest.raises(Conflict, match="last key"):
        bo.revoke_key(bo.key.split(".")[2])
    rater = bo.admit("Ada")
    again = bo.new_rater_key(rater.rater)
    with pytest.raises(Forbidden):
        rater.ask()
    bo.open()
    ticket = again.ask()
    receipt = again.vote(ticket, {"rank": [0, 1]})
    head = again.head()
    assert head["number"] >= receipt["event"] and len(receipt["hash"]) == 64 and head["key"] == again.head_key()["key"]
    bo.revoke_rater_key(rater.rater)
    with pytest.raises(Forbidden):
        again.ask()
    zoe = server.new_server_key("Zoe")
    name = zoe.key.split(".")[2]
    zoe.rotate_server_key(name)
    assert name in {row["name"] for row in zoe.server_keys()["keys"]}
    server.revoke_server_key(name)
    with pytest.raises(Forbidden):
        zoe.server_keys()


def test_a_running_server_notes_when_keys_are_used(server):
    until = time.monotonic() + 60.0
    while time.monotonic() < until:
        (mine,) = (row for row in server.server_keys()["keys"] if row["yours"])
        if mine["last_used"]:
            break
        time.sleep(0.1)
    assert mine["last_used"] >= mine["created"]


def test_a_client_tells_no_secrets(server):
    key = "mdowner.arena.name." + "s" * 43
    assert key not in repr(Client(server.url, key)) and "sss" not in repr(Client(server.url, key))
