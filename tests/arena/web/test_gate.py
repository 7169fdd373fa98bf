"""The gate: who is spoken to, by whom, how much and how often; and what no answer ever says."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from multiduel.arena.web import access
from multiduel.arena.web import gate as gates
from multiduel.arena.web.api import routes_owner
from multiduel.arena.web.limits import Limits, Shares
from multiduel.arena.web.request_bodies import Body
from tests.arena.calling import THREE, Caller


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    caller = Caller(tmp_path_factory.mktemp("security"))
    yield caller
    caller.close()


@pytest.fixture
def strict(tmp_path):
    """A public server with small limits."""
    limits = Limits(small_body=1_000, large_body=5_000, requests_per_second=2.0, wrong_keys_per_minute=3.0, joins_per_minute=2.0)
    caller = Caller(tmp_path, hosts=["arena.example"], limits=limits, public=True)
    yield caller
    caller.close()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost:80:80", "arena.example"])
def test_other_hosts_are_refused(call, host):
    answer = call("GET", "/health/live", headers={"Host": host})
    assert answer.status_code == 421 and answer.json() == {"error": "This server does not go by that name."}


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:8000"])
def test_this_machine_is_ours(call, host):
    assert call("GET", "/health/live", headers={"Host": host}).status_code == 200


def test_every_answer_is_kept_by_nobody_and_framed_nowhere(call):
    arena, owner = call.arena()
    ticket = call.ask(arena, call.rater(arena, owner))
    paths = (
        "/health/live",
        "/nothing",
        f"/arenas/{arena}",
        ticket["contents"][0]["url"],
        "/openapi.json",
        f"/arenas/{arena}/log.csv",
    )
    for path in paths:
        headers = call("GET", path, key=owner).headers
        assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"] and headers["referrer-policy"] == "no-referrer"
        assert not {"etag", "last-modified", "server", "set-cookie", "access-control-allow-origin"} & set(headers)


def test_contents_cannot_run(call):
    attack = "<script>alert(1)</script>"
    svg = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    import base64

    image = {"name": "b", "kind": "image", "base64": base64.b64encode(svg.encode()).decode()}
    arena, owner = call.arena([{"name": "a", "content": attack}, image])
    ticket = call.ask(arena, call.rater(arena, owner))
    for one in ticket["contents"]:
        answer = call("GET", one["url"])
        assert (
            "sandbox" in answer.headers["content-security-policy"]
            and "script-src" not in answer.headers["content-security-policy"]
        )
        assert answer.headers["content-type"] == ("image/svg+xml" if one["kind"] == "image" else "text/plain; charset=utf-8")
        assert answer.headers["content-disposition"] == "inline"


def test_without_a_key_nothing_but_contents_and_health(call):
    """Every operation of the document, without a key, with a wrong one, and with one of another arena."""
    arena, owner = call.arena()
    rater = call.rater(arena, owner)
    ticket = call.ask(arena, rater)["ticket"]
    other_arena, other_owner = call.arena()
    others = (other_owner, call.rater(other_arena, other_owner))
    before = call.service.digest(arena)
    free = {
        ("/health/live", "get"),
        ("/health/ready", "get"),
        ("/metrics", "get"),
        ("/head-key", "get"),
        ("/tickets/{ticket}/contents/{position}", "get"),
    }
    bodies = {
        "/arenas": {"name": "x", "options": THREE},
        "/arenas/{arena}/options": {"options": [{"name": "n", "content": "x"}]},
        "/arenas/{arena}/policy": {"policy": "dts"},
        "/arenas/{arena}/margin": {"margin": 0.1},
        "/arenas/{arena}/sheets": {"number": 1},
        "/arenas/{arena}/notices": {"target": "https://hooks.example/x"},
        "/tickets/{ticket}/vote": {"rank": [0, 1]},
    }
    tried = 0
    for path, entry in call.good("GET", "/openapi.json")["paths"].items():
        for method in entry:
            if (path, method) in free:
                continue
            real = path.format(
                arena=arena, ticket=ticket, option="o1", rater="r1", position=0, name=owner.split(".")[2], notice="0" * 16
            )
            body = bodies.get(path, {}) if method in ("post", "put") else None
            for key, statuses in ((None, {401}), ("mdowner.x.y.z", {401}), *((one, {403}) for one in others)):
                answer = call(method.upper(), real, body, key=key)
                assert answer.status_code in statuses, (method, path, key, answer.text)
                assert set(answer.json()) == {"error"}
                tried += 1
    assert tried > 80
    for path in ("", "/log.jsonl", "/log.csv", "/votes.csv", "/votes.parquet", "/verify", "/raters", "/board", "/keys"):
        assert call("GET", f"/arenas/{arena}{path}", key=rater).status_code == 403, "a rater is no owner"
    for path in ("open", "pause", "close", "links"):
        assert call("POST", f"/arenas/{arena}/{path}", key=rater).status_code == 403
    assert call("POST", "/arenas", bodies["/arenas"], key=owner).status_code == 403, "an owner makes no arenas"
    assert call("GET", "/arenas", key=owner).status_code == 403
    assert call.service.digest(arena) == before


def test_a_ticket_is_its_raters(call):
    arena, owner = call.arena()
    mine, yours = call.rater(arena, owner), call.rater(arena, owner)
    ticket = call.ask(arena, mine)["ticket"]
    assert call("GET", f"/tickets/{ticket}", key=yours).status_code == 403
    assert call("PUT", f"/tickets/{ticket}/vote", {"rank": [0, 1]}, key=yours).status_code == 403
    assert call.good("GET", f"/tickets/{ticket}", key=mine)["ticket"] == ticket
    assert call.good("PUT", f"/tickets/{ticket}/vote", {"rank": [0, 1]}, key=mine)["counted"] == "counted"
    assert call("GET", f"/tickets/{arena}-nothing", key=mine).status_code == 404
    assert call("GET", f"/tickets/{arena}-nothing/contents/0").status_code == 404
    assert call("GET", f"/tickets/{ticket}/contents/7").status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/tickets/..%2f..%2fetc/contents/0", "/arenas/%2e%2e", "/tickets/x/contents/..%2f..%2f..", "/arenas/a%00"],
)
def test_no_path_leads_anywhere(call, path):
    assert call("GET", path, key=call.server_key).status_code in (400, 404, 405, 422)


def test_answers_do_not_echo_nor_leak(call, monkeypatch, caplog):
    secret = "PASSWORD-IN-A-TRACEBACK"

    def broken(*args):
        raise RuntimeError(secret)

    arena, owner = call.arena()
    monkeypatch.setattr(routes_owner, "arena_out", broken)
    with caplog.at_level(logging.ERROR):
        answer = call("GET", f"/arenas/{arena}", key=owner)
    assert answer.status_code == 500 and secret not in answer.text and "Traceback" not in answer.text
    huge = call("POST", "/arenas", {"name": secret * 20, "options": []}, key=call.server_key)
    assert huge.status_code == 422 and len(huge.text) < 600
    for text in ("{", "[" * 50_000, "NaN", '"\\ud800"', '{"name": "x", "name": "y"}'):
        answer = call("POST", "/arenas", text, key=call.server_key, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422) and set(answer.json()) == {"error"}


def test_half_characters_and_zeros_are_refused_before_the_journal(call):
    arena, owner = call.arena()
    for body in ('{"label": "\\ud800"}', '{"label": "a\\u0000b"}', '{"request": "\\u0000"}', '{"request": "é"}'):
        answer = call("POST", f"/arenas/{arena}/raters", body, key=owner, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422, body
    lines = '{"id":"1","rank":["mild","sharp"],"rater":"\\ud800"}'
    answer = call("POST", f"/arenas/{arena}/votes?format=jsonl", lines, key=owner)
    assert answer.status_code == 422 and call.good("GET", f"/arenas/{arena}/verify", key=owner)["good"]


@pytest.mark.parametrize("text", ["é", "a", "!!!!", ""])
def test_bytes_that_are_no_base64(call, text):
    option = {"name": "a", "kind": "image", "base64": text}
    answer = call("POST", "/arenas", {"name": "x", "options": [option, THREE[0]]}, key=call.server_key)
    assert answer.status_code == 422, answer.text


def test_bodies_have_a_size(strict):
    big, huge = b"x" * 2_000, b"x" * 6_000
    assert strict("POST", "/arenas/a/join", big).status_code == 413, "who has no key may send little"
    assert strict("POST", "/import", big, key=strict.server_key).status_code == 422, "an owner more"
    assert strict("POST", "/import", huge, key=strict.server_key).status_code == 413

    async def pieces():
        for _ in range(60):
            yield b"x" * 100

    answer = strict("POST", "/import", key=strict.server_key, content=pieces())
    assert answer.status_code == 413, "also without a stated length"


def test_a_body_that_does_not_come_is_not_waited_for(tmp_path):
    caller = Caller(tmp_path, limits=Limits(patience=0.2))
    came, sent = [], []

    try:

        async def receive():
            await asyncio.sleep(0.0 if not came else 5.0)
            came.append(1)
            return {"type": "http.request", "body": b"{", "more_body": True}

        async def send(message):
            sent.append(message)

        headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {caller.server_key}".encode())]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/import",
            "raw_path": b"/import",
            "query_string": b"",
            "root_path": "",
        }
        asyncio.run(caller.app({**scope, "scheme": "http", "headers": headers, "client": ("127.0.0.1", 1)}, receive, send))
        assert sent[0]["status"] == 408 and b"did not come" in sent[1]["body"]
    finally:
        caller.close()


@pytest.mark.parametrize(("each", "whole"), [(300, True), (50, False)])
def test_a_large_body_may_take_its_time_at_a_fair_rate(each, whole):
    """Parts every 0.1 s, for longer than ``body_seconds``: at three times the least rate, or at half of it."""
    limits = Limits(body_seconds=0.5, least_rate=1_000.0, quick_body=0.2)
    inside, slow = Shares(10, each=10), Shares(10, each=10)
    inside.add("a")
    left = 20

    async def receive():
        nonlocal left
        await asyncio.sleep(0.1)
        left -= 1
        return {"type": "http.request", "body": b"x" * each, "more_body": left > 0}

    async def read():
        body = Body(receive, "a", 1_000_000, limits, inside=inside, slow=slow)
        while left and body.refusal is None:
            await body()
            assert slow.all <= 1 and inside.all == (body.refusal is None), "one that timed out is outside until it is closed"
        body.close()
        assert inside.all == 1
        return body.refusal

    assert asyncio.run(read()) == (None if whole else (408, "The rest of the request did not come."))
    assert (left == 0) is whole and slow.all == 0


def test_bodies_that_time_out_at_once_keep_nobody_out():
    """However long the application takes to notice that the bodies of many requests did not come."""
    limits = Limits(body_seconds=0.05, quick_body=0.02, waiting=3)
    inside, slow = Shares(3, each=3), Shares(10, each=10)

    async def silent():
        await asyncio.sleep(60.0)

    async def quick():
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def noticed(body):
        inside.add("a")
        await body()
        await asyncio.sleep(0.2)  # the application: a handler in a thread, say
        body.close()
        inside.give_back("a")

    async def play():
        late = [Body(silent, "a", 100, limits, inside=inside, slow=slow) for _ in range(20)]
        waiting = [asyncio.create_task(noticed(body)) for body in late]
        await asyncio.sleep(0.15)  # all have timed out, none has been answered
        assert all(body.refusal == (408, "The rest of the request did not come.") for body in late)
        assert inside.take("a"), "a rater who comes now finds a place"
        honest = Body(quick, "a", 100, limits, inside=inside, slow=slow)
        assert (await honest())["body"] == b"{}" and honest.refusal is None
        honest.close()
        inside.give_back("a")
        await asyncio.gather(*waiting)
        assert inside.all == slow.all == 0

    asyncio.run(play())


def test_rates_by_key_and_address(strict, monkeypatch):
    now = time.monotonic()
    monkeypatch.setattr(gates.time, "monotonic", lambda: now)
    statuses = [strict("GET", "/health/live").status_code for _ in range(25)]
    assert statuses == [200] * 20 + [429] * 5
    answer = strict("GET", "/health/live")
    assert answer.headers["retry-after"] == "1" and answer.json()["error"].startswith("Too many requests")
    monkeypatch.setattr(gates.time, "monotonic", lambda: now + 30.0)
    strict.good("GET", "/arenas", key=strict.server_key)
    monkeypatch.setattr(gates.time, "monotonic", lambda: now + 30.0)
    for _ in range(30):
        strict("GET", "/health/live")
    assert strict("GET", "/health/live").status_code == 429
    assert strict("GET", "/arenas", key=strict.server_key).status_code == 200, "a known key has a rate of its own"


def test_wrong_keys_are_counted(strict, monkeypatch):
    now = time.monotonic()
    monkeypatch.setattr(gates.time, "monotonic", lambda: now)
    good = strict.server_key
    wrong = good[:-6] + "AAAAAA"
    assert strict("GET", "/arenas", key=good).status_code == 200
    assert [strict("GET", "/arenas", key=wrong).status_code for _ in range(5)] == [401, 401, 401, 429, 429]
    assert strict("GET", "/arenas", key=good).status_code == 200, "who is known already goes on"
    monkeypatch.setattr(gates.time, "monotonic", lambda: now + 21.0)
    assert strict("GET", "/arenas", key=wrong).status_code == 401


def test_wrong_keys_sent_at_once_are_counted_before_they_are_hashed(strict, monkeypatch):
    """Three are allowed: no more may be hashed, however many come before the first is refused."""
    hashed, at_a_time, most, lock = [], 0, 0, threading.Lock()
    real = access._verified

    def slow(*words):
        nonlocal at_a_time, most
        with lock:
            hashed.append(words)
            at_a_time += 1
            most = max(most, at_a_time)
        time.sleep(0.2)
        with lock:
            at_a_time -= 1
        return real(*words)

    monkeypatch.setattr(access, "_verified", slow)
    wrong = [f"{strict.server_key[:-6]}AAAA{k:02}" for k in range(12)]
    pages = [lambda key=key: strict("POST", "/k", key=None, data={"key": key}).status_code for key in wrong[:6]]
    routes = [lambda key=key: strict("GET", "/arenas", key=key).status_code for key in wrong[6:]]
    with ThreadPoolExecutor(12) as threads:
        statuses = [answer.result() for answer in [threads.submit(one) for one in (*pages, *routes)]]
    assert len(hashed) == 3 and sum(status in (401, 403) for status in statuses) == 3 and statuses.count(429) == 9
    assert most <= Limits().key_checks


def test_one_good_key_sent_at_once_is_hashed_once(strict, monkeypatch):
    """A browser that opens a page asks for many things at the same time."""
    hashed, real = [], access._verified

    def counted(*words):
        hashed.append(words)
        time.sleep(0.2)
        return real(*words)

    monkeypatch.setattr(access, "_verified", counted)
    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(strict, "GET", "/arenas", key=strict.server_key) for _ in range(8)]
        assert [answer.result().status_code for answer in answers] == [200] * 8
    assert len(hashed) == 1
    wrong = strict.server_key[:-6] + "AAAAAA"
    assert [strict("GET", "/arenas", key=wrong).status_code for _ in range(4)] == [401, 401, 401, 429], "a good key costs nothing"


def test_key_checks_have_a_queue(tmp_path, monkeypatch):
    monkeypatch.setattr(access, "_verified", lambda *words: time.sleep(0.3) or False)
    caller = Caller(tmp_path, limits=Limits(wrong_keys_per_minute=1000, key_checks=1, key_checks_waiting=1))
    try:
        wrong = [f"{caller.server_key[:-6]}AAAA{k:02}" for k in range(5)]
        with ThreadPoolExecutor(5) as threads:
            statuses = [answer.status_code for answer in threads.map(lambda key: caller("GET", "/arenas", key=key), wrong)]
        assert sorted(statuses) == [401, 401, 503, 503, 503]
    finally:
        caller.close()


def _from(caller, address, *, key=None, path="/health/live", method="GET"):
    """The status of a request from an address."""
    headers = [(b"host", b"127.0.0.1")] + ([(b"authorization", f"Bearer {key}".encode())] if key else [])
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": ""}
    scope |= {"scheme": "http", "headers": headers, "client": (address, 1), "http_version": "1.1"}
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message):
        sent.append(message)

    asyncio.run_coroutine_threadsafe(caller.app(scope, receive, send), caller._loop).result(30)
    return sent[0]["status"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
    ],
)
def test_addresses_are_counted_by_network(strict, monkeypatch, one, other, same):
    now = time.monotonic()
    monkeypatch.setattr(gates.time, "monotonic", lambda: now)
    wrong = strict.server_key[:-6] + "AAAAAA"
    assert [_from(strict, one, key=wrong) for _ in range(4)] == [401, 401, 401, 429]
    assert _from(strict, other, key=wrong) == (429 if same else 401)
    for _ in range(30):
        _from(strict, one)
    assert _from(strict, one) == 429
    assert _from(strict, other) == (429 if same else 200)


def test_a_rater_has_a_rate_from_wherever_and_an_address_one_for_its_raters(tmp_path, monkeypatch):
    limits = Limits(rater_requests_per_second=1.0, raters_requests_per_second=3.0)
    caller = Caller(tmp_path, limits=limits, public=True)
    try:
        arena, owner = caller.arena()
        keys = [caller.rater(arena, owner) for _ in range(5)]
        for key in keys:
            _from(caller, "192.0.2.1", key=key)  # known from now on
        now = time.monotonic()
        monkeypatch.setattr(gates.time, "monotonic", lambda: now)
        assert [_from(caller, f"192.0.2.{k}", key=keys[0]) for k in range(1, 13)] == [200] * 10 + [429] * 2, (
            "one key, many addresses"
        )
        office = [_from(caller, "192.0.2.99", key=key) for key in keys[1:] for _ in range(10)]
        assert office == [200] * 30 + [429] * 10, "many keys, one address"
        assert _from(caller, "192.0.2.99") == 200, "who has no key has another rate"
        assert _from(caller, "192.0.2.50", key=keys[4]) == 200, "who was refused for the address goes on from another"
    finally:
        caller.close()


def test_one_raters_excess_is_not_its_offices(tmp_path, monkeypatch):
    caller = Caller(tmp_path, limits=Limits(rater_requests_per_second=1.0, raters_requests_per_second=3.0), public=True)
    try:
        arena, owner = caller.arena()
        keys = [caller.rater(arena, owner) for _ in range(2)]
        for key in keys:
            _from(caller, "192.0.2.1", key=key)
        now = time.monotonic()
        monkeypatch.setattr(gates.time, "monotonic", lambda: now)
        assert [_from(caller, "192.0.2.9", key=keys[0]) for _ in range(60)].count(200) == 10
        assert [_from(caller, "192.0.2.9", key=keys[1]) for _ in range(10)] == [200] * 10
    finally:
        caller.close()


def test_one_address_takes_not_all_places(tmp_path):
    """Requests that wait, of one address; another's are answered."""
    caller = Caller(tmp_path, limits=Limits(waiting=10, waiting_per_address=4))
    try:
        gate, done = caller.app, threading.Event()

        async def held(scope, receive, send):
            await asyncio.to_thread(done.wait, 30)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        site, gate.app = gate.app, held
        with ThreadPoolExecutor(6) as threads:
            waiting = [threads.submit(_from, caller, "192.0.2.1") for _ in range(4)]
            while gate._inside.all < 4:
                time.sleep(0.01)
            assert _from(caller, "192.0.2.1") == 503
            gate.app = site
            assert _from(caller, "192.0.2.2") == 200
            done.set()
            assert [one.result() for one in waiting] == [200] * 4
        assert gate._inside.all == 0
    finally:
        done.set()
        caller.close()


def test_joining_has_a_rate_in_public(strict):
    made = strict.good("POST", "/arenas", {"name": "x", "options": THREE, "raters": "open"}, key=strict.server_key)
    statuses = [strict("POST", f"/arenas/{made['arena']}/join", {}, key=made["link_key"]).status_code for _ in range(4)]
    assert statuses == [201, 201, 429, 429]


def test_metrics_of_a_public_server_need_its_key(strict):
    assert strict("GET", "/metrics").status_code == 401
    assert strict("GET", "/metrics", key=strict.server_key).status_code == 200


def test_a_busy_server_says_so(tmp_path):
    caller = Caller(tmp_path, limits=Limits(waiting=0))
    try:
        answer = caller("GET", "/health/live")
        assert answer.status_code == 503 and answer.headers["retry-after"] == "1"
    finally:
        caller.close()


def test_keys_are_nowhere_but_in_their_answer(call, tmp_path):
    arena, owner = call.arena()
    rater = call.rater(arena, owner, "Ada")
    stored = json.dumps([[event.kind, event.body] for event in call.service.events(arena)])
    for key in (owner, rater):
        assert key.split(".")[-1] not in stored
    assert "mdowner" not in stored and "argon2" not in stored
