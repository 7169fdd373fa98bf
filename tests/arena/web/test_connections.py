"""Connections, by real sockets: slow, silent, too many, broken off, and heads that are in doubt."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import struct
import threading
import time
from contextlib import ExitStack, contextmanager

import h11
import pytest
import uvicorn

from multiduel.arena.journal import connect
from multiduel.arena.service.service import Service
from multiduel.arena.web.app import make_app
from multiduel.arena.web.connections import Connections, most_connections, queue_length
from multiduel.arena.web.limits import Limits
from multiduel.arena.web.protocol import MOST_HEAD, Head, server_words
from multiduel.arena.web.serve import Setup
from multiduel.inputs import BadInput
from tests.arena.conftest import new_database
from tests.arena.torture.slow_clients import BODY, HEAD, Attack, HonestRater, a_server

pytestmark = pytest.mark.xdist_group("connections")
HOST = b"Host: 127.0.0.1\r\n"
GET = b"GET /health/live HTTP/1.1\r\n" + HOST + b"\r\n"
POST = b"POST /arenas/a/join HTTP/1.1\r\n" + HOST
SLOW = ("slow_bodies=5", "quick_body=0.3", "body_seconds=2", "head_seconds=1", "rest_seconds=1", "waiting=30", "patience=2")


def limits(*settings: str) -> list[str]:
    return [word for setting in settings for word in ("--limit", setting)]


@pytest.fixture(scope="module")
def server():
    """A server for this machine, with small limits, and an arena's owner."""
    with a_server(*limits(*SLOW)) as made:
        yield made


def connected(port: int, address: str = "127.0.0.1", buffer: int | None = None) -> socket.socket:
    made = socket.socket()
    if buffer is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    made.bind((address, 0))
    made.settimeout(30.0)  # only against hanging
    made.connect(("127.0.0.1", port))
    return made


def rest_of(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    came = b""
    try:
        while part := connection.recv(65_536):
            came += part
    except ConnectionError:
        pass
    return came


def answered(connection: socket.socket, sent: bytes = GET) -> int:
    """The status of the next answer, whose body is read too."""
    connection.sendall(sent)
    came = b""
    while b"\r\n\r\n" not in came:
        part = connection.recv(65_536)
        assert part, f"closed after {came!r}"
        came += part
    head, _, body = came.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    while length and len(body) < int(length[1]):
        body += connection.recv(65_536)
    return int(came.split()[1])


@contextmanager
def many(number: int, port: int, sent: bytes, address: str = "127.0.0.1"):
    with ExitStack() as opened:
        made = []
        for _ in range(number):
            made.append(opened.enter_context(connected(port, address)))
            made[-1].sendall(sent)
        yield made


def test_slow_bodies_keep_nobody_out(server):
    """As many as may wait, and as many again, send their bodies byte by byte; a rater notices nothing."""
    process, owner = server
    with (
        Attack(process.port, 60, first=BODY, then=b" ", every=0.5) as attack,
        HonestRater(owner.admit("Ada"), kept=False) as rater,
    ):
        until = time.monotonic() + 60.0
        while (attack.closed < 60 or len(rater.felt.seconds) < 30) and time.monotonic() < until:
            time.sleep(0.05)
    assert set(attack.answers) == {"HTTP/1.1 408 Request Timeout"} and attack.closed == 60, "none stays for ever"
    assert rater.felt.errors == 0 and len(rater.felt.seconds) >= 30, str(rater.felt)


def test_a_body_that_is_slow_and_honest_arrives(server):
    """A part now and then, as over a bad line, is waited for."""
    process, owner = server
    rater = owner.admit("Ben")
    with connected(process.port) as connection:
        head = f"POST /arenas/{rater.arena}/tickets HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {rater.key}\r\n"
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n".encode())
        time.sleep(0.6)
        connection.sendall(b"{")
        time.sleep(0.6)
        assert answered(connection, b"}") == 200


@pytest.mark.parametrize("sent", [b"", HEAD, b"G", GET + HEAD], ids=["silent", "half", "one byte", "half on a kept connection"])
def test_heads_that_do_not_come_are_not_waited_for(server, sent):
    with connected(server[0].port) as connection:
        connection.sendall(sent)
        came = rest_of(connection)
    answers = re.findall(rb"HTTP/1.1 (\d+)", came)
    assert answers == [*([b"200"] if sent.startswith(GET) else []), *([b"408"] if sent else [])]


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(server):
    with connected(server[0].port) as connection:
        stop = threading.Event()

        def drip():
            while not stop.wait(0.1):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

        connection.sendall(b"GET /")
        dripping = threading.Thread(target=drip, daemon=True)
        dripping.start()
        assert b"408 Request Timeout" in rest_of(connection)
        stop.set()
        dripping.join(10)


def test_the_rest_of_a_refused_body_is_not_waited_for(server):
    """The answer is there before the body; who goes on sending it slowly is cut off."""
    with connected(server[0].port) as connection:
        head = POST + b"Authorization: Bearer mdrater.a.b.c\r\nContent-Length: 1000\r\n\r\n"
        assert answered(connection, head) == 401
        for _ in range(100):
            try:
                connection.sendall(b" ")
            except OSError:
                return
            time.sleep(0.1)
    raise AssertionError("the connection was kept")


def test_an_answer_that_is_not_read_is_not_kept(server):
    """Large answers are asked for, one after the other, and never read."""
    process, _ = server
    with connected(process.port, buffer=4096) as connection:
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\n%s\r\n" % HOST * 500)
        until = time.monotonic() + 60.0
        while f":{connection.getsockname()[1]:04X} " in open_to(process.port) and time.monotonic() < until:
            time.sleep(0.1)
        assert f":{connection.getsockname()[1]:04X} " not in open_to(process.port)


def open_to(port: int) -> str:
    """The lines of the system's table of connections that a server on this port holds."""
    with open("/proc/net/tcp") as table:
        return "".join(line for line in table if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "01")


def test_silent_connections_leave_handles_for_those_who_are_served():
    """More of them than the server has handles."""
    with a_server(*limits("head_seconds=60"), handles=256) as (process, owner):
        with Attack(process.port, 400) as attack:
            until = time.monotonic() + 60.0
            while attack.open + attack.closed < 400 and time.monotonic() < until:
                time.sleep(0.05)
            with HonestRater(owner.admit("Ada"), kept=False) as anew, HonestRater(owner.admit("Ben"), kept=True) as kept:
                while min(len(anew.felt.seconds), len(kept.felt.seconds)) < 20 and time.monotonic() < until:
                    time.sleep(0.05)
            assert len(os.listdir(f"/proc/{process.pid}/fd")) < 200, "the others wait in the system's queue, or were closed"
        assert anew.felt.errors == kept.felt.errors == 0, f"{anew.felt}; {kept.felt}"
        assert len(anew.felt.seconds) >= 20 and "Too many open files" not in process.said()


def test_an_address_has_its_share_and_a_proxy_more():
    """Connections by where they come from, requests by the address that the proxy forwards."""
    public = ["--public", "--host", "127.0.0.1", "--name", "arena.example"]
    settings = limits("connections_per_address=10", "slow_bodies=5", "quick_body=0.3", "body_seconds=20", "head_seconds=30")
    with a_server(*public, *settings) as (process, _):
        with many(10, process.port, GET, "127.0.0.2") as others, many(30, process.port, GET) as proxys:
            assert [answered(one, b"") for one in (*others, *proxys)] == [200] * 40
            with connected(process.port, "127.0.0.2") as eleventh:
                assert answered(eleventh) == 200
                assert rest_of(others[0]) == b"", "the longest idle one made room"
                assert [answered(one) for one in others[1:]] == [200] * 9
            assert [answered(one) for one in proxys] == [200] * 30
        slow = BODY.replace(b"Content-Length", b"X-Forwarded-For: 192.0.2.%d\r\nContent-Length")
        with many(8, process.port, slow % 1) as many_of_one, many(4, process.port, slow % 2) as of_another:
            refused, until = 0, time.monotonic() + 15.0
            while refused < 3 and time.monotonic() < until:
                refused = sum(is_closed(one) for one in many_of_one)
                time.sleep(0.1)
            assert refused == 3 and not any(map(is_closed, of_another))


def is_closed(connection: socket.socket) -> bool:
    connection.settimeout(0.01)
    try:
        return b"408" in connection.recv(1000, socket.MSG_PEEK)
    except TimeoutError:
        return False


def test_workers_have_the_same_limits(postgres):
    with a_server(*limits(*SLOW), workers=2, db=new_database(postgres)) as (process, _):
        with many(6, process.port, HEAD) as halves:
            assert all(b"408 Request Timeout" in rest_of(one) for one in halves)
        with connected(process.port) as connection:
            assert answered(connection, POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n") == 400


@pytest.mark.parametrize("proto", [0, socket.IPPROTO_TCP])
def test_small_answers_are_sent_at_once(tmp_path, proto):
    """TCP_NODELAY, which asyncio sets only for sockets that were made with IPPROTO_TCP."""
    app = make_app(Service(connect(str(tmp_path / "arena.db"))))
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, proto)
    listening.bind(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(app, **server_words(Limits.local()), timeout_graceful_shutdown=1))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not running.started:
            assert thread.is_alive()
            time.sleep(0.01)
        with connected(listening.getsockname()[1]) as connection:
            assert answered(connection) == 200
            (served,) = running.server_state.connections
            accepted = served.transport.get_extra_info("socket")
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    finally:
        running.should_exit = True
        thread.join(20)


DOUBTFUL = {
    "length and encoding": (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "encoding and length": (POST + b"Transfer-Encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n", 400),
    "two lengths": (POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400),
    "two lengths that differ": (POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
    "a list of lengths": (POST + b"Content-Length: 2, 2\r\n\r\n{}", 400),
    "a signed length": (POST + b"Content-Length: +2\r\n\r\n{}", 400),
    "two encodings": (POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "another encoding": (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
    "an encoding in HTTP/1.0": (POST.replace(b"1.1", b"1.0", 1) + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "a folded header": (b"GET /health/live HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n", 400),
    "a folded encoding": (POST + b"Transfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n", 400),
    "lines that end with LF": (b"GET /health/live HTTP/1.1\nHost: 127.0.0.1\n\n", 400),
    "a space before the colon": (POST + b"Content-Length : 2\r\n\r\n{}", 400),
    "CR in a path": (b"GET /k/a\rb HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "CR LF in a path": (b"GET /k/a\r\nX: b HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "no host": (b"GET /health/live HTTP/1.1\r\n\r\n", 400),
    "two hosts": (b"GET /health/live HTTP/1.1\r\n" + HOST + HOST + b"\r\n", 400),
    "HTTP/1.0 without host": (b"GET /health/live HTTP/1.0\r\n\r\n", 421),
    "HTTP/0.9": (b"GET /health/live\r\n\r\n", 400),
    "HTTP/2.0": (b"GET /health/live HTTP/2.0\r\n" + HOST + b"\r\n", 505),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    "a long path": (b"GET /k/" + b"a" * 40_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 431),
    "many headers": (b"GET / HTTP/1.1\r\n" + HOST + b"".join(b"x%d: 1\r\n" % k for k in range(200)) + b"\r\n", 431),
    "a chunk that is none": (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", 400),
}


@pytest.mark.parametrize("case", DOUBTFUL)
def test_doubtful_requests_are_refused_and_the_connection_is_closed(server, case):
    """What follows on the same connection is not read: a proxy may have meant it as part of the first request."""
    sent, status = DOUBTFUL[case]
    with connected(server[0].port) as connection:
        connection.sendall(sent + GET)
        came = rest_of(connection)
    assert re.findall(rb"HTTP/1.1 (\d+)", came) == [b"%d" % status], came
    head, _, body = came.partition(b"\r\n\r\n")
    assert b"connection: close" in head.lower() and b'"error": ' in body and b"nosniff" in head


@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        (GET * 4, [200] * 5),
        (b"GET http://evil.example/health/live HTTP/1.1\r\n" + HOST + b"\r\n", [404, 200]),
        (b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", [404, 200]),
        (b"GET /k/" + b"a" * 30_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", [403, 200]),
        (POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}", [422, 200]),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n2;x=1\r\n{}\r\n0\r\nHost: evil\r\n\r\n", [422, 200]),
        (GET.replace(b"\r\n\r\n", b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), [200, 200]),
    ],
)
def test_unusual_requests_are_answered_one_by_one(server, sent, statuses):
    with connected(server[0].port) as connection:
        connection.sendall(sent + GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        came = rest_of(connection)
    assert [int(status) for status in re.findall(rb"HTTP/1.1 ([2-5]\d\d)", came)] == statuses, came


def test_line_breaks_in_paths_are_refused_everywhere(server):
    """Also where a path's part would become part of a header: Location, Content-Disposition, Set-Cookie."""
    process, owner = server
    arena, key = owner.arena, owner.key
    broken = "%0d%0aX-Planted:%201"
    paths = [
        f"/k/{broken}",
        f"/k/{key}{broken}",
        f"/vote/{arena}{broken}",
        f"/vote/{arena}/start/{broken}",
        f"/own/{arena}{broken}",
    ]
    paths += [
        f"/own/{arena}/log.csv{broken}",
        f"/own/{arena}/log.{broken}",
        f"/own/{arena}/sheets/{broken}",
        f"/static/{broken}/x",
    ]
    paths += [f"/arenas/{arena}{broken}", f"/tickets/{broken}", "/own/%00", "/own/%7f", f"/{broken}"]
    for path in paths:
        with connected(process.port) as connection:
            cookie = f"Cookie: multiduel-owner={key}\r\nAuthorization: Bearer {key}\r\n"
            assert answered(connection, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{cookie}\r\n".encode()) == 400, path
            assert answered(connection) == 200, "the connection goes on"


def test_a_log_has_two_formats(server):
    process, owner = server
    for format, status in (("csv", 200), ("jsonl", 200), ("exe", 404), ('csv"; x="', 404)):
        with connected(process.port) as connection:
            path = f"/own/{owner.arena}/log.{format.replace(' ', '%20')}"
            sent = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: multiduel-owner={owner.key}\r\nConnection: close\r\n\r\n"
            connection.sendall(sent.encode())
            assert rest_of(connection).split()[1] == b"%d" % status, path


@pytest.mark.parametrize("reset", [False, True])
def test_whoever_hangs_up_leaves_no_traceback_in_the_log(server, reset):
    process, owner = server
    key, arena = owner.key.encode(), owner.arena.encode()
    half = b"\r\nContent-Length: 100\r\n\r\n{"
    begun = [b"", b"GET /hea", POST + half[2:], b"POST /k HTTP/1.1\r\n" + HOST + half[2:]]
    for path in (b"open", b"votes?format=jsonl", b"options"):
        begun.append(b"POST /arenas/%s/%s HTTP/1.1\r\n%sAuthorization: Bearer %s%s" % (arena, path, HOST, key, half))
    for path in (b"votes", b"sheets", b"raters"):
        begun.append(b"POST /own/%s/%s HTTP/1.1\r\n%sCookie: multiduel-owner=%s%s" % (arena, path, HOST, key, half))
    for path in (b"board", b"board/changes", b"log.jsonl"):
        begun.append(b"GET /own/%s/%s HTTP/1.1\r\n%sCookie: multiduel-owner=%s\r\n\r\n" % (arena, path, HOST, key))
    for sent in begun:
        for pause in (0.0, 0.2):
            connection = connected(process.port)
            connection.sendall(sent)
            time.sleep(pause)
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
    with connected(process.port) as connection:
        assert answered(connection) == 200
    time.sleep(0.5)
    assert "Traceback" not in process.said() and "Exception" not in process.said()


@pytest.mark.parametrize(("end", "workers"), [(signal.SIGTERM, 1), (signal.SIGINT, 1), (signal.SIGTERM, 2)])
def test_watched_boards_end_with_the_server(request, tmp_path, end, workers):
    """At once and without a word in the log; a vote that is half sent is still counted and answered."""
    db = str(tmp_path / "arena.db") if workers == 1 else new_database(request.getfixturevalue("postgres"))
    with a_server(db=db, workers=workers) as (process, owner), connected(process.port) as voting, ExitStack() as opened:
        rater = owner.admit("Eve")
        ticket, body = rater.ask()["ticket"], json.dumps({"rank": [0, 1, 2]}).encode()
        head = f"PUT /tickets/{ticket}/vote HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {rater.key}\r\n"
        voting.sendall(head.encode() + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:5])
        boards = [opened.enter_context(connected(process.port)) for _ in range(20)]
        for board in boards:
            path, cookie = f"/own/{owner.arena}/board/changes", f"Cookie: multiduel-owner={owner.key}\r\n"
            assert answered(board, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{cookie}\r\n".encode()) == 200
        said, start = process.said(), time.monotonic()
        os.kill(process.pid, end)
        assert all(rest_of(board).endswith(b"0\r\n\r\n") for board in boards), "the last chunk: proxies see no broken answer"
        assert process.process.poll() is None, "the vote is waited for"
        assert answered(voting, body[5:]) == 200
        code = process.process.wait(60)
        assert time.monotonic() - start < 8.0, "uvicorn's patience, 10 s, was not needed"
        assert code == (0 if workers > 1 else 130 if end == signal.SIGINT else -signal.SIGTERM)
        assert process.said() == said + "Stopped.\n" * (end == signal.SIGINT)
    journal = connect(db)
    assert [event.kind for event in Service(journal).events(owner.arena)].count("vote") == 1
    journal.close()


def test_a_stream_that_begins_while_the_server_ends_is_ended_too():
    arrived, told = threading.Event(), []

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            scope["state"]["connections"] = Connections(Limits.local())
            for kind in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{kind}.complete"})
            return
        await receive()
        arrived.set()
        await asyncio.sleep(0.5)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        told.append((await receive())["type"])

    listening = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(app, **server_words(Limits.local()), timeout_graceful_shutdown=60))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    with connected(listening.getsockname()[1]) as connection:
        connection.sendall(GET)
        assert arrived.wait(30)
        running.should_exit = True
        assert rest_of(connection).endswith(b"data: 1\n\n\r\n0\r\n\r\n")
    thread.join(30)
    assert not thread.is_alive() and told == ["http.disconnect"]


class Fake:
    """A connection as the register sees it."""

    def __init__(self, network: str, trusted: bool = False) -> None:
        self.network, self.trusted, self.evicted = network, trusted, False

    def expire(self, phase: str) -> None: ...

    def evict(self) -> None:
        self.evicted = True


def test_the_longest_silent_of_the_fullest_address_makes_room(monkeypatch):
    monkeypatch.setattr(Connections, "_look", lambda self: None)
    register = Connections(Limits(connections=20, connections_per_address=20))
    register._sweep = object()  # no loop here
    full = [Fake("a") for _ in range(16)]
    few = [Fake("b") for _ in range(4)]
    assert all(map(register.admit, (*few, *full)))
    register.enter(full[0], "busy")
    register.enter(full[1], "busy")
    register.enter(full[1], "idle")  # silent since just now
    for _ in range(2):
        assert register.admit(Fake("c"))
    assert [one.evicted for one in full[:5]] == [False, False, True, True, False] and not any(one.evicted for one in few)
    for one in (*full, *few):
        register.enter(one, "busy")
    register.enter(full[9], "body")
    assert register.admit(Fake("d")), "newcomers that are silent go before a body that arrives"
    assert not full[9].evicted and len(register) == 20


def test_without_room_a_newcomer_is_refused():
    register = Connections(Limits(connections=16))
    register._sweep = object()
    held = [Fake("a") for _ in range(16)]
    assert all(map(register.admit, held))
    for one in held:
        register.enter(one, "busy")
    assert not register.admit(Fake("b"))
    register.enter(held[3], "body")
    assert register.admit(Fake("b")) and held[3].evicted


def test_handles_are_kept_for_files_and_for_those_who_come(monkeypatch):
    for handles, queue, most in (
        (1024, 116, 580),
        (256, 20, 100),
        (64, 16, 16),
        (20_000, 2_048, 4_000),
        (float("inf"), 2_048, 4_000),
    ):
        monkeypatch.setattr("multiduel.arena.web.connections.handles", lambda handles=handles: handles)
        assert (queue_length(), most_connections(Limits())) == (queue, most)


def sent_pieces(*events, method="GET"):
    """What a connection writes for these events of an answer."""
    head = Head(h11.SERVER, MOST_HEAD)
    head.receive_data(f"{method} / HTTP/1.1\r\nHost: here\r\n\r\n".encode())
    head.next_event(), head.next_event()
    return [bytes(head.send(event)) for event in events]


def test_an_answer_of_known_length_is_one_piece():
    start = h11.Response(status_code=200, headers=[("Content-Length", "2")], reason="OK")
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    assert sent_pieces(start, h11.Data(data=b"ok"), h11.EndOfMessage()) == [b"", whole, b""]
    assert sent_pieces(start, h11.Data(data=b"o"), h11.Data(data=b"k")) == [b"", whole[:-1], b"k"]
    assert sent_pieces(start, h11.Data(data=b""), h11.EndOfMessage(), method="HEAD") == [b"", whole[:-2], b""]
    assert sent_pieces(start, h11.EndOfMessage(), method="HEAD") == [b"", whole[:-2]]
    stream = h11.Response(status_code=200, headers=[("Content-Type", "text/event-stream")])
    assert sent_pieces(stream)[0].endswith(b"\r\n\r\n"), "the first event may come much later"


@pytest.mark.parametrize("setting", ["waiting", "waiting=0", "waiting=x", "waiting=1.5", "patience=nan", "nothing=1", "=1"])
def test_a_limit_that_is_none_is_refused(setting):
    with pytest.raises(BadInput, match="must be"):
        Setup("arena.db", changes=(setting,)).checked()
