"""Notices: told once, signed, tried again, in the log; and nothing is sent where the operator allows nothing."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import Close, Service, Settings, Vote
from multiduel.arena.domain.notices import Allowed, Target
from multiduel.arena.files.verify import verify
from multiduel.arena.journal import Notice, connect
from multiduel.arena.service.notices import due
from multiduel.arena.web import notifier as under_test
from multiduel.arena.web.notifier import Mail, Notifier, letter, signature
from multiduel.inputs import BadInput
from tests.arena.a_postgres import a_postgres, why_not
from tests.arena.calling import Caller
from tests.arena.play import an_arena, running, ticket_for


class Receiver:
    """A web server that keeps what it is sent, and answers as it is told."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.status, self.headers = 200, {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append((self.path, dict(self.headers), body))
                self.send_response(outer.status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    there = Receiver()
    yield there
    there.server.shutdown()
    there.server.server_close()


def settled(service: Service, **settings: Any) -> str:
    """An arena with a winner."""
    arena, (rater, _) = an_arena(service, 2, slate_size=2, alpha=0.5, **settings)
    for k in range(60):
        if service.board(arena).settled:
            return arena
        ticket = ticket_for(service, arena, rater, f"{k}")
        service.do(Vote(ticket.id, {"rank": sorted(range(2), key=lambda p: ticket.options[p])}))
    raise AssertionError


def told(service: Service, arena: str) -> list[dict[str, Any]]:
    return [event.body for event in service.events(arena) if event.kind == "notified"]


def test_a_winner_is_told_once_and_signed(service: Service, receiver: Receiver) -> None:
    arena = settled(service)
    notifier = Notifier(service, Allowed([receiver.origin]), site="https://arena.example")
    notice = notifier.add(arena, f"{receiver.origin}/hooks/secret-path?x=1", by="owner:k")
    for _ in range(3):
        notifier.check()
    ((path, headers, body),) = receiver.got
    said = json.loads(body)
    assert path == "/hooks/secret-path?x=1" and said["what"] == "winner" and "option 1" in said["sentence"]
    assert said["board"] == f"https://arena.example/own/{arena}/board" and said["id"] == headers["Multiduel-Id"]
    at = int(headers["Multiduel-Signature"].split(",")[0][2:])
    assert headers["Multiduel-Signature"] == signature(notice.secret, at, body) != signature("another", at, body)
    (recorded,) = told(service, arena)
    assert recorded["delivered"] is True and recorded["attempts"] == 1 and recorded["notice"] == notice.id
    assert "secret-path" not in json.dumps([event.body for event in service.events(arena)]) and notice.secret not in str(recorded)
    assert verify(service.journal, arena).good
    Notifier(service, Allowed([receiver.origin])).check()  # a process that starts anew
    assert len(receiver.got) == 1


def test_a_receiver_that_fails_is_tried_again_and_then_given_up(
    service: Service, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    arena = settled(service)
    service.do(Close(arena))
    notifier, now = Notifier(service, Allowed([receiver.origin])), [0.0]
    notifier._clock = lambda: now[0]
    notifier.add(arena, f"{receiver.origin}/secret-path", by="operator")
    receiver.status = 500
    with caplog.at_level(logging.DEBUG):
        for pause in under_test.AGAIN:
            notifier.check()
            before = len(receiver.got)
            now[0] += pause - 1
            notifier.check()
            assert len(receiver.got) == before, "not before its time"
            now[0] += 2
        assert told(service, arena) == []
        notifier.check()
    assert (
        len(receiver.got) == 1 + len(under_test.AGAIN) and len({headers["Multiduel-Id"] for _, headers, _ in receiver.got}) == 1
    )
    (recorded,) = told(service, arena)
    assert recorded["delivered"] is False and recorded["attempts"] == 1 + len(under_test.AGAIN)
    assert "secret-path" not in caplog.text and "not delivered" in caplog.text
    notifier.check()
    assert len(receiver.got) == 1 + len(under_test.AGAIN), "given up"
    assert verify(service.journal, arena).good


def test_a_redirect_is_not_followed(service: Service, receiver: Receiver) -> None:
    arena = settled(service)
    inner = Receiver()
    try:
        receiver.status, receiver.headers = 302, {"Location": f"{inner.origin}/inside"}
        notifier = Notifier(service, Allowed([receiver.origin]))
        notifier.add(arena, receiver.origin, by="operator")
        notifier.check()
        assert len(receiver.got) == 1 and inner.got == [] and told(service, arena) == []
    finally:
        inner.server.shutdown()
        inner.server.server_close()


@pytest.mark.parametrize(
    "written",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:5432/",
        "http://localhost/",
        "http://[::1]/",
        "http://0x7f.1/",
        "https://hooks.example.evil.example/",
        "https://hooks.example:8443/",
        "http://hooks.example/",
        "https://hooks.example@evil.example/",
        "https://user:pw@hooks.example/",
        "https://hooks.example\\@evil.example/",
        "https://evil.example/https://hooks.example",
        "https://hooks.example /",
        "https://hooks.example/\r\nHost: evil.example",
        "https://hooks.example/#x",
        "file:///etc/passwd",
        "gopher://hooks.example/",
        "//hooks.example/",
        "javascript:alert(1)",
        "ada@evil.example",
        "ada@example.com.evil.example",
        "ada@example.com\nBcc: all@evil.example",
        "ada@example.com, eve@evil.example",
        '"a b"@example.com',
        "@example.com",
        "",
        "x" * 5000,
        None,
        7,
    ],
)
def test_what_the_operator_did_not_allow_is_refused(service: Service, written: Any) -> None:
    arena, _ = an_arena(service)
    mail = Mail("smtp://127.0.0.1:1", "arena@example.com")
    notifier = Notifier(service, Allowed(["https://hooks.example", "@example.com"]), mail)
    with pytest.raises(BadInput):
        notifier.add(arena, written, by="operator")
    assert service.journal.notices.get() == []


def test_what_is_allowed_no_more_is_not_sent(service: Service, receiver: Receiver) -> None:
    """Also what somebody wrote into the database by hand."""
    arena = settled(service)
    service.journal.notices.add(Notice(arena, "0" * 16, "webhook", f"{receiver.origin}/x", "s", "2026", "operator"), 10)
    Notifier(service, Allowed(["https://hooks.example"])).check()
    assert receiver.got == []


def test_places_that_the_operator_types_are_checked() -> None:
    assert Allowed(["https://hooks.example/", "@Example.com"]).places == {"https://hooks.example", "@example.com"}
    for wrong in (
        "hooks.example",
        "*",
        "https://*.example",
        "https://hooks.example/path",
        "https://",
        "@",
        "@com",
        "https://a b",
    ):
        with pytest.raises(BadInput, match="--notify"):
            Allowed([wrong])
    for url in ("mail.example", "smtp://user:password@mail.example", "http://mail.example", "smtp://"):
        with pytest.raises(BadInput, match="--smtp") as refused:
            Mail(url, "a@example.com")
        assert "password@" not in str(refused.value)
    assert Target.of("HTTPS://Hooks.Example:443/x").allowed_as == "https://hooks.example"


def test_mail_goes_to_one_address_in_plain_text(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    arena = settled(service)
    sent: list[Any] = []
    monkeypatch.setattr(Mail, "send", lambda self, message: sent.append(message))
    notifier = Notifier(service, Allowed(["@example.com"]), Mail("smtp://mail.example", "arena@example.com"))
    notice = notifier.add(arena, "ada@example.com", by="operator")
    notifier.check()
    (message,) = sent
    assert message["To"] == "ada@example.com" and message["Subject"] == "an arena: winner"
    assert "option 1" in message.get_content() and message.get_content_type() == "text/plain"
    assert [body["kind"] for body in told(service, arena)] == ["mail"]
    name = "Grüße\u2028x"
    odd = under_test.Message("id", arena, name, under_test.Due("a", "winner", "s"), "now", "")
    assert b"\nBcc" not in bytes(letter(notice, odd, "arena@example.com"))


def test_mail_by_a_real_smtp_server(service: Service) -> None:
    """Word by word, with a server of our own on a socket."""
    import socket

    lines: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, connection.makefile("rwb", 0) as file:
                file.write(b"220 test\r\n")
                data = False
                for raw in file:
                    line = raw.decode().rstrip("\r\n")
                    lines.append(line)
                    if data and line != ".":
                        continue
                    answers = {"ehlo": b"250 test", "data": b"354 go", "QUIT": b"221 bye"}
                    data = line == "data"
                    file.write(answers.get(line[:4], b"250 ok") + b"\r\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        arena = settled(service)
        mail = Mail(f"smtp://127.0.0.1:{listening.getsockname()[1]}", "arena@example.com")
        notifier = Notifier(service, Allowed(["@example.com"]), mail)
        notifier.add(arena, "ada@example.com", by="operator")
        notifier.check()
        thread.join(10)
    assert "rcpt TO:<ada@example.com>" in lines and "Subject: an arena: winner" in lines
    assert told(service, arena)[0]["delivered"] is True


def test_a_cycle_is_told(service: Service, receiver: Receiver) -> None:
    arena, (rater, _) = an_arena(service, 3, slate_size=2)
    for k in range(400):
        if service.board(arena).settled:
            break
        ticket = ticket_for(service, arena, rater, f"{k}")
        first, second = (int(option[1:]) for option in ticket.options)
        service.do(Vote(ticket.id, {"rank": [0, 1] if (second - first) % 3 == 1 else [1, 0]}))
    notifier = Notifier(service, Allowed([receiver.origin]))
    notifier.add(arena, receiver.origin, by="operator")
    notifier.check()
    ((*_, body),) = receiver.got
    said = json.loads(body)
    assert said["what"] == "cycle" and said["sentence"].startswith("No option beats all others")


def test_stalls_and_quiet_days_are_due(service: Service) -> None:
    arena, (rater, _) = an_arena(service, votes=1)
    with service.look(arena) as state:
        opened = datetime.fromisoformat(state.quiet_from)
        assert due(state, opened + timedelta(hours=23)) == []
        assert [one.what for one in due(state, opened + timedelta(hours=25))] == ["quiet"], "opened, and nobody came"
    service.do(Vote(ticket_for(service, arena, rater, "1").id, {"rank": [0, 1, 2]}))
    with service.look(arena) as state:
        now = datetime.fromisoformat(state.at)
        assert [one.what for one in due(state, now)] == ["stall"]
        assert [one.what for one in due(state, now + timedelta(hours=25))] == ["stall", "quiet"]
        assert {one.about for one in due(state, now + timedelta(days=3))} == {"stall 1", f"quiet {state.quiet_from}"}, "told once"
    service.do(Close(arena))
    with service.look(arena) as state:
        assert due(state, now + timedelta(days=9)) == []
    assert Settings(votes=5).votes == 5


def test_one_of_several_processes_delivers(tmp_path: Path, receiver: Receiver) -> None:
    if why_not():
        pytest.skip(why_not())
    with a_postgres() as server, running(server.url) as one, running(server.url) as other:
        arena = settled(one)
        both = [Notifier(service, Allowed([receiver.origin])) for service in (one, other)]
        both[0].add(arena, receiver.origin, by="operator")
        threads = [threading.Thread(target=notifier.check) for notifier in both for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(receiver.got) == 1 and len(told(one, arena)) == 1


def test_owners_manage_their_notices_and_nobody_elses(tmp_path: Path) -> None:
    call = Caller(tmp_path)
    try:
        (arena, owner), (_, other) = call.arena(), call.arena()
        rater = call.rater(arena, owner)
        path = f"/arenas/{arena}/notices"
        answer = call("POST", path, {"target": "https://hooks.example/secret"}, key=owner)
        assert answer.status_code == 422 and "operator has not allowed" in answer.json()["error"], "off unless allowed"
        call.app.app.pages.state.app_context.notifier.allowed = Allowed(["https://hooks.example"])
        made = call.good("POST", path, {"target": "https://hooks.example/secret"}, key=owner)
        assert len(made["secret"]) > 40 and made["target"] == "https://hooks.example"
        listed = call.good("GET", path, key=owner)["notices"]
        assert [one["id"] for one in listed] == [made["id"]] and "secret" not in json.dumps(listed)
        for key, status in ((other, 403), (rater, 403), (None, 401)):
            assert call("GET", path, key=key).status_code == status
            assert call("POST", path, {"target": "https://hooks.example/x"}, key=key).status_code == status
            assert call("DELETE", f"{path}/{made['id']}", key=key).status_code == status
        assert "hooks.example" not in call.good("GET", f"/arenas/{arena}/log.jsonl", key=owner)
        for _ in range(under_test.MOST - 1):
            call.good("POST", path, {"target": "https://hooks.example/x"}, key=owner)
        assert call("POST", path, {"target": "https://hooks.example/x"}, key=owner).status_code == 409
        call.good("DELETE", f"{path}/{made['id']}", key=owner)
        assert call("DELETE", f"{path}/{made['id']}", key=owner).status_code == 404
        assert connect(str(tmp_path / "arena.db")).notices.get(arena)
    finally:
        call.close()
