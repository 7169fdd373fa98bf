"""A stranger attacks a real server on loopback, through every door; a table says what was tried and what came of it.

    python tests/fuzz/attack.py                    every attack on SQLite; on PostgreSQL too, where it is installed
    python tests/fuzz/attack.py --only roles       one of them (--list names all)

Ends with 1 if anything unexpected happened. Each attack is bounded in count and time; nothing but 127.0.0.0/8 is ever called.
Meanwhile an honest rater of another arena votes: how long that rater waited stands beside each attack.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import re
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

if __package__ in (None, ""):  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from multiduel.arena.domain.events import START, sealed, to_line
from tests.arena.a_postgres import a_postgres, why_not
from tests.arena.torture.server import ROOT, ServerProcess

LONGEST_WAIT = 5.0  # seconds that an honest rater may wait while somebody attacks
TEXTS = [
    {"name": name, "content": text} for name, text in (("mild", "Good morning."), ("sharp", "Morning!"), ("bitter", "What?"))
]
XSS = (
    '<img src=x onerror="mdxss()">',
    '"><script>mdxss()</script>',
    "javascript:mdxss()",
    "<svg onload=mdxss()>",
    "{{7*7}}mdxss",
)
UNESCAPED = ("<script>mdxss", '<img src=x onerror="mdxss', "<svg onload=mdxss", 'href="javascript:mdxss', "49mdxss")
NEW = {
    "action": "create",
    "name": "x",
    "pasted": "one\ntwo",
    "slate_size": "2",
    "question": "rank",
    "unit": "answer",
    "raters": "secret",
}
NONSENSE = (  # as JSON, so that what Python cannot say can be sent too
    r'"\ud800"', r'"a\u0000b"', r'"\u202egnp.exe"', '"' + "x" * 60_000 + '"', "1e400", "1" + "0" * 400, "[" * 50 + "]" * 50,
    "null", "true", "{}", '""', r'"\ufeff\u2028"',
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What was tried, what had to happen, what happened."""

    tried: str
    expected: str
    got: str
    good: bool


Attack = Callable[["World"], Iterator[Row]]
ATTACKS: dict[str, Attack] = {}


def attack(function: Attack) -> Attack:
    ATTACKS[function.__name__.replace("_", "-")] = function
    return function


def answered(tried: str, answer: httpx.Response | int | str, *statuses: int, other: bool = False) -> Row:
    """A row that is good if the status is one of these; with ``other``, if it is any below 500 that is none of them."""
    status = answer.status_code if isinstance(answer, httpx.Response) else answer
    words = f": {answer.text[:90]}" if isinstance(answer, httpx.Response) and answer.status_code >= 500 else ""
    good = status in statuses if not other else isinstance(status, int) and status not in statuses and status < 500
    expected = ("none of " if other else "") + ", ".join(map(str, statuses))
    return Row(tried, expected or "below 500", f"{status}{words}", good)


@dataclass
class Arena:
    id: str
    owner: str
    link: str
    raters: list[str] = field(default_factory=list)  # keys


class World:
    """A server, some arenas, and a key of every role. Each caller comes from an address of its own in 127.0.0.0/8."""

    def __init__(self, db: str, folder: Path) -> None:
        self.db, self.folder = db, folder
        self.server = ServerProcess(db)
        env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}"}
        words = [sys.executable, "-m", "multiduel", "arena", "keys", "new", "--create-db", "--db", db]
        made = subprocess.run(words, capture_output=True, text=True, env=env, check=True, cwd=folder)
        found = re.search(r"mdserver\S+", made.stdout + made.stderr)
        assert found is not None, made.stdout + made.stderr
        self.key = found[0]
        self._clients: dict[str, httpx.Client] = {}
        self.server.start()
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        for _ in range(600):
            with contextlib.suppress(httpx.HTTPError):
                if self("GET", "/health/ready").status_code == 200:
                    return
            time.sleep(0.2)
        raise AssertionError(f"The server is not ready: {self.server.said()}")

    def __call__(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, address: str = "127.0.0.2", **words: Any
    ) -> httpx.Response:
        headers = dict(words.pop("headers", {}))
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        if isinstance(body, bytes | str):
            words["content"] = body
        elif body is not None:
            words["json"] = body
        client = self._clients.get(address)
        if client is None:
            transport = httpx.HTTPTransport(local_address=address)
            client = self._clients[address] = httpx.Client(base_url=self.server.url, transport=transport, timeout=30.0)
        for _ in range(40):  # an honest number of attempts: rates are tried elsewhere
            answer = client.request(method, path, headers=headers, **words)
            if answer.status_code != 429:
                return answer
            time.sleep(0.5)
        return answer

    def good(self, method: str, path: str, body: Any = None, **words: Any) -> Any:
        answer = self(method, path, body, **words)
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text[:300]}"
        return answer.json()

    def arena(self, *, name: str = "taste", options: Any = TEXTS, raters: int = 2, contexts: Any = (), **settings: Any) -> Arena:
        body = {
            "name": name,
            "options": options,
            "contexts": list(contexts),
            "raters": "open",
            "settings": {"seed": 1, **settings},
        }
        made = self.good("POST", "/arenas", body, key=self.key)
        arena = Arena(made["arena"], made["owner_key"], made["link_key"])
        self.good("POST", f"/arenas/{arena.id}/open", key=arena.owner)
        for k in range(raters):
            arena.raters.append(self.good("POST", f"/arenas/{arena.id}/raters", {"label": f"r{k}"}, key=arena.owner)["key"])
        return arena

    def ask(self, arena: Arena, key: str, **body: Any) -> Any:
        return self.good("POST", f"/arenas/{arena.id}/tickets", body, key=key)

    def raw(self, data: bytes, *, address: str = "127.0.0.3", patience: float = 10.0) -> bytes:
        """What comes back to these very bytes, until the server hangs up or is silent for long."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=patience, source_address=(address, 0)) as line:
            line.sendall(data)
            came = b""
            with contextlib.suppress(TimeoutError, ConnectionError):
                while part := line.recv(65536):
                    came += part
                    if b"\r\n\r\n" in came and b"connection: close" not in came.lower():
                        break
        return came

    def page(self, path: str, role: str, key: str, **words: Any) -> httpx.Response:
        """A page, as a browser with this key's cookie asks for it."""
        return self("GET", path, headers={"Cookie": f"multiduel-{role}={key}", "Accept": "text/html"}, **words)

    def form(self, path: str, role: str, key: str, fields: dict[str, str], page: str = "") -> httpx.Response:
        """A form of a page of ours, with the page's token."""
        token = re.search(r'name="token" value="(\w+)"', self.page(page or path, role, key).text)
        headers = {"Cookie": f"multiduel-{role}={key}", "Origin": self.server.url}
        return self("POST", path, data={"token": token[1] if token else "", **fields}, headers=headers)


def status_of(came: bytes) -> int | str:
    found = re.match(rb"HTTP/1\.[01] (\d{3})", came)
    return int(found[1]) if found else "closed" if not came else repr(came[:40])


class Honest(threading.Thread):
    """A rater of an arena that nobody attacks: votes again and again, and writes down how long each vote took."""

    def __init__(self, world: World) -> None:
        super().__init__(daemon=True)
        self.world, self.arena = world, world.arena(name="honest", raters=1, go_on=True)
        self.waits: list[float] = []
        self.acknowledged, self.failures, self.since = 0, [], time.monotonic()
        self.stopped = threading.Event()

    def run(self) -> None:
        key, client = self.arena.raters[0], httpx.Client(base_url=self.world.server.url, timeout=60.0)
        headers = {"Authorization": f"Bearer {key}"}
        while not self.stopped.wait(0.05):
            self.since = time.monotonic()
            try:
                ticket = client.post(f"/arenas/{self.arena.id}/tickets", json={}, headers=headers)
                vote = client.put(f"/tickets/{ticket.json()['ticket']}/vote", json={"rank": [0, 1]}, headers=headers)
                if vote.status_code == 200:
                    self.acknowledged += 1
                else:
                    self.failures.append(f"{vote.status_code} {vote.text[:60]}")
            except (httpx.HTTPError, KeyError, ValueError) as error:
                self.failures.append(type(error).__name__)
            self.waits.append(time.monotonic() - self.since)

    def taken(self) -> tuple[list[float], list[str]]:
        """The waits and failures since the last time; one that still waits counts as long as it has waited."""
        waits, failures = self.waits, self.failures
        self.waits, self.failures = [], []
        return [*waits, time.monotonic() - self.since], failures


# ---- data that is no code


@attack
def policy_names_as_code(world: World) -> Iterator[Row]:
    """A stranger names a file or a module as policy, in requests and logs: it is never loaded, and the server goes on."""
    arena, marker = world.arena(room=9), world.folder / "it-ran"
    log = world("GET", f"/arenas/{arena.id}/log.jsonl", key=arena.owner).text
    path = f"/own/{arena.id}"
    made = {"name": "x", "options": TEXTS}
    doors: dict[str, Callable[[str], httpx.Response]] = {
        "PUT policy": lambda name: world("PUT", f"/arenas/{arena.id}/policy", {"policy": name}, key=arena.owner),
        "POST /arenas": lambda name: world("POST", "/arenas", made | {"settings": {"policy": name}}, key=world.key),
        "page policy": lambda name: world.form(f"{path}/policy", "owner", arena.owner, {"policy": name}, path),
        "page new": lambda name: world.form("/own/new", "server", world.key, NEW | {"policy": name}),
        "POST /import": lambda name: world("POST", "/import", renamed(log, name), key=world.key),
    }
    for kind in ("{}:SPEC", "unittest.__main__:X", "antigravity:X"):
        for door, call in doors.items():
            name = kind.format(plant(world, marker))
            try:
                got: httpx.Response | str = call(name)
            except httpx.HTTPError as error:
                got = type(error).__name__
            # A page says what is wrong; an import is refused for its name, or because its arena is there with another log.
            allowed = (200, 422) if door.startswith("page") else (409, 422) if door == "POST /import" else (422,)
            yield not_run(marker, answered(f"{door}: {name[-24:]}", got, *allowed))
            if got == "ReadTimeout":  # the writer is dead: all that follows would wait as long
                return
        forged = world.folder / "forged.jsonl"
        for words in (["verify", str(forged)], ["import", str(forged), "--db", str(world.folder / "other.db")]):
            name = kind.format(plant(world, marker).name)
            forged.write_text(renamed(log, name))
            done = command(world, *words)
            fine = "Traceback" not in done.stderr
            said = (done.stderr.strip() or done.stdout.strip())[-60:]
            yield not_run(marker, Row(f"arena {words[0]}: {name[-24:]}", "a sentence", said, fine))


def plant(world: World, marker: Path) -> Path:
    """A file of Python, new each time because a module is loaded once, that leaves a mark if it is run."""
    planted = world.folder / f"p{secrets.token_hex(3)}.py"
    planted.write_text(f"open({str(marker)!r}, 'w').write('x')\nSPEC = None\n")
    return planted


def not_run(marker: Path, row: Row) -> Row:
    """The row, which is bad if the planted file ran, whatever the answer was."""
    if not marker.exists():
        return row
    marker.unlink()
    return Row(row.tried, row.expected, f"{row.got}, and THE PLANTED FILE RAN", False)


def renamed(log: str, policy: str) -> str:
    """The log of an arena with another policy from its first event on, chained anew."""
    lines, before = [], START
    for line in log.splitlines():
        row = json.loads(line)
        if "number" not in row:
            lines.append(line)
            continue
        if "settings" in row["body"]:
            row["body"]["settings"]["policy"] = policy
        event = sealed(row["number"], before, row["kind"], row["at"], row["body"])
        before = event.hash
        lines.append(to_line(event))
    return "\n".join(lines) + "\n"


def command(world: World, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}"}
    whole = [sys.executable, "-m", "multiduel", "arena", *words]
    return subprocess.run(whole, capture_output=True, text=True, env=env, cwd=world.folder, timeout=60, check=False)


# ---- who may do what


def bodies(arena: Arena) -> dict[tuple[str, str], Any]:
    """A body that each route would take."""
    vote = "id,rater,rank\n" + secrets.token_hex(4) + ",Ada,mild>sharp\n"
    return {
        ("POST", "/arenas"): {"name": "x", "options": TEXTS},
        ("POST", "/import"): "{}\n",
        ("PUT", "/arenas/{arena}/policy"): {"policy": "challengers"},
        ("PUT", "/arenas/{arena}/margin"): {"margin": 0.0},
        ("POST", "/arenas/{arena}/votes"): vote,
        ("POST", "/arenas/{arena}/sheets"): {"number": 1},
        ("POST", "/arenas/{arena}/options"): {"options": [{"name": secrets.token_hex(4), "content": "x"}]},
        ("PUT", "/tickets/{ticket}/vote"): {"rank": [0, 1]},
        ("POST", "/arenas/{arena}/notices"): {"target": "https://elsewhere.example/told"},
    }


def may(role: str, method: str, path: str) -> bool | None:
    """Should this role be let in at this route? None: either is right."""
    if path.startswith(("/health", "/tickets/{ticket}/contents", "/openapi", "/docs")):
        return True
    if path == "/metrics":
        return None
    if path == "/head-key":
        return True
    if path.startswith("/tickets/"):
        if path.endswith("/vote") and role in ("owner", "server"):
            return None  # refused, or marked: votes-of-others looks
        return role in ("rater", "owner", "server")
    if path.endswith("/join"):
        return role == "link"
    if path.endswith(("/tickets", "/undo")):
        return role in ("rater", "second rater")
    if path.endswith("/head"):
        return role in ("rater", "second rater", "owner", "server")
    if path.endswith("/board"):
        return None if role in ("rater", "second rater") else role in ("owner", "server")
    if "{arena}" in path:
        return role in ("owner", "server")
    return role == "server"


@attack
def roles_and_routes(world: World) -> Iterator[Row]:
    """A key of every role at every route of the OpenAPI document: strangers are refused (401, 403, 404), no role meets a 500."""
    arena, other = world.arena(room=99, board="always"), world.arena()
    keys = {
        "nobody": None, "rater": arena.raters[0], "second rater": arena.raters[1], "other's rater": other.raters[0],
        "link": arena.link, "owner": arena.owner, "other's owner": other.owner, "server": world.key,
    }  # fmt: skip
    paths = world.good("GET", "/openapi.json")["paths"]
    for path, methods in paths.items():
        for method in (name.upper() for name in methods):
            if path.endswith(("/close", "/pause", "/retire", "/rotate", "/raters/{rater}/key")) or method == "DELETE":
                roles = [role for role in keys if may(role, method, path) is not True]  # what it would do is not wanted
            else:
                roles = list(keys)
            wrong, seen = [], []
            for role in roles:
                ticket = world.ask(arena, arena.raters[0], request=secrets.token_hex(8)).get("ticket", "x")
                place = path.replace("{arena}", arena.id).replace("{ticket}", ticket).replace("{rater}", "r1")
                place = place.replace("{notice}", "0" * 16)
                place = re.sub(r"\{position\}|\{option\}|\{\w+\}", "0", place)
                body = bodies(arena).get((method, path), {} if method in ("POST", "PUT") else None)
                status = world(method, place, body, key=keys[role]).status_code
                allowed = may(role, method, path)
                refused = status in (401, 403, 404)
                fine = status < 500 or path == "/health/ready"
                if not fine or (allowed is False and not refused) or (allowed is True and status in (401, 403)):
                    wrong.append(f"{role}: {status}")
                seen.append(str(status))
            yield Row(f"{method} {path}", "as its role may", "; ".join(wrong) or " ".join(seen), not wrong)


@attack
def votes_of_others(world: World) -> Iterator[Row]:
    """Raters, owners and strangers vote on another's ticket: refused; an owner's is refused, or the log names who did it."""
    arena, other = world.arena(), world.arena()
    for who, key in (("second rater", arena.raters[1]), ("other's rater", other.raters[0]), ("other's owner", other.owner)):
        ticket = world.ask(arena, arena.raters[0], request=secrets.token_hex(8))["ticket"]
        yield answered(f"{who} votes", world("PUT", f"/tickets/{ticket}/vote", {"rank": [0, 1]}, key=key), 403, 404)
        yield answered(f"{who} looks", world("GET", f"/tickets/{ticket}", key=key), 403, 404)
    for who, key in (("owner", arena.owner), ("server", world.key)):
        ticket = world.ask(arena, arena.raters[0], request=secrets.token_hex(8))["ticket"]
        voted = world("PUT", f"/tickets/{ticket}/vote", {"rank": [0, 1]}, key=key)
        log = world("GET", f"/arenas/{arena.id}/log.jsonl", key=arena.owner).text
        last = next((line for line in reversed(log.splitlines()) if '"kind":"vote' in line or '"kind":"told' in line), log[-300:])
        marked = voted.status_code in (403, 404, 409) or f'"{who}' in last or '"actor"' in last
        yield Row(f"{who} votes as the rater", "refused, or its actor in the log", f"{voted.status_code}", marked)
    ticket = world.ask(other, other.raters[0])["ticket"]
    headers = {"Cookie": f"multiduel-rater={arena.raters[0]}"}
    for path in (f"/vote/{arena.id}/tickets/{ticket}", f"/vote/{other.id}/tickets/{ticket}"):
        answer = world("POST", path, {"ballot": {"rank": [0, 1]}, "token": "x"}, headers=headers)
        yield answered("a ticket of another arena, by a page's script", answer, 401, 403, 404)


@attack
def replays(world: World) -> Iterator[Row]:
    """Requests sent again change nothing; with another content they are a conflict; another's request id is one's own."""
    arena = world.arena()
    first, second = arena.raters
    one = world.ask(arena, first, request="same-request")
    yield Row("ask again", "the same ticket", "", world.ask(arena, first, request="same-request")["ticket"] == one["ticket"])
    two = world.ask(arena, second, request="same-request")
    yield Row("another's request id", "another ticket", "", two.get("ticket") != one["ticket"])
    path = f"/tickets/{one['ticket']}/vote"
    vote = world.good("PUT", path, {"rank": [0, 1]}, key=first)
    again = world.good("PUT", path, {"rank": [0, 1]}, key=first)
    yield Row("vote again", "the same event", f"{again['event']}", again["event"] == vote["event"])
    yield answered("another vote on it", world("PUT", path, {"rank": [1, 0]}, key=first), 409)
    undone = world.good("POST", f"/arenas/{arena.id}/undo", {"request": "undo-once"}, key=first)
    twice = world("POST", f"/arenas/{arena.id}/undo", {"request": "undo-once"}, key=first)
    yield Row("undo again", "the same event", twice.text[:40], twice.json().get("event") == undone["event"])
    yield answered("undo by one who never voted", world("POST", f"/arenas/{arena.id}/undo", {}, key=second), 404, 409, 422)
    joined = {"label": "a", "request": "0123456789abcdef0123456789abcdef"}
    a, b = (world("POST", f"/arenas/{arena.id}/join", joined, key=arena.link) for _ in range(2))
    yield Row("join again", "the same rater", f"{a.status_code} {b.status_code}", a.json().get("rater") == b.json().get("rater"))
    short = world("POST", f"/arenas/{arena.id}/join", {"label": "a", "request": "1"}, key=arena.link)
    yield answered("join with a request id of one character", short, 422)
    form = {"key": arena.link, "label": "b", "request": "1"}
    yield answered("the same on the page", world("POST", "/k", data=form, headers={"Origin": world.server.url}), 422)


# ---- text


def vote(world: World, arena: Arena, key: str) -> None:
    """A vote of this rater, if there is a ticket for it."""
    ticket = world.ask(arena, key, request=secrets.token_hex(8)).get("ticket")
    if ticket:
        world("PUT", f"/tickets/{ticket}/vote", {"rank": [0, 1]}, key=key)


@attack
def nonsense_in_every_field(world: World) -> Iterator[Row]:
    """Half characters, zero bytes, huge numbers, deep and doubled JSON in every field of every route: never a 500."""
    arena = world.arena(room=60, go_on=True)
    rater = arena.raters[0]
    routes: list[tuple[str, str, Any, str]] = [
        ("POST", "/arenas", {"name": "x", "options": TEXTS, "contexts": [], "request": "r", "settings": {}}, world.key),
        ("PUT", f"/arenas/{arena.id}/policy", {"policy": "challengers", "parameters": {"x": 1}}, arena.owner),
        ("PUT", f"/arenas/{arena.id}/margin", {"margin": 0.0}, arena.owner),
        ("POST", f"/arenas/{arena.id}/options", {"options": [{"name": "n", "content": "c"}], "request": "q"}, arena.owner),
        ("POST", f"/arenas/{arena.id}/raters", {"label": "l", "group": "s", "limit": 1, "request": "q"}, arena.owner),
        ("POST", f"/arenas/{arena.id}/raters/r1/quarantine", {"reason": "because"}, arena.owner),
        ("POST", f"/arenas/{arena.id}/sheets", {"number": 1, "group": "s", "request": "q"}, arena.owner),
        ("POST", f"/arenas/{arena.id}/join", {"label": "l", "request": "0123456789abcdef0123456789abcdef"}, arena.link),
        ("POST", f"/arenas/{arena.id}/tickets", {"request": "q", "group": "s"}, rater),
        ("POST", f"/arenas/{arena.id}/undo", {"request": "q"}, rater),
    ]  # fmt: skip
    ticket = world.ask(arena, rater)["ticket"]
    routes.append(("PUT", f"/tickets/{ticket}/vote", {"rank": [0, 1]}, rater))
    for method, path, body, key in routes:
        wrong, count = [], 0
        for name in body:
            for nonsense in NONSENSE:
                text = json.dumps(body).replace(f'"{name}": {json.dumps(body[name])}', f'"{name}": {nonsense}')
                if path.endswith("/undo"):  # so that there is something to take back
                    vote(world, arena, rater)
                status = world(method, path, text, key=key, headers={"Content-Type": "application/json"}).status_code
                count += 1
                if status >= 500:
                    wrong.append(f"{name}={nonsense[:14]}: {status}")
        for text, kind in (
            ("[" * 20_000, "application/json"),
            (json.dumps(body)[:-1] + "," + json.dumps(body)[1:], "application/json"),
            (json.dumps(body), "text/xml"),
            ("\xff\xfe", "application/json; charset=utf-7"),
            ("", "multipart/form-data; boundary="),
        ):
            status = world(method, path, text.encode("latin-1"), key=key, headers={"Content-Type": kind}).status_code
            count += 1
            if status >= 500:
                wrong.append(f"{text[:10]!r} as {kind}: {status}")
        yield Row(
            f"{method} {path.replace(arena.id, 'A')[:40]}, {count} bodies", "below 500", "; ".join(wrong[:3]) or "so", not wrong
        )
    votes = f"/arenas/{arena.id}/votes"
    for what, text in (("id", "id,rank\n\ud800,mild>sharp\n"), ("zero", "id,rank\n\0,mild>sharp\n"), ("wide", "," * 60_000)):
        sent = world("POST", votes, text.encode("utf-8", "surrogatepass"), key=arena.owner, headers={"Content-Type": "text/csv"})
        yield answered(f"votes with {what}", sent, 200, 400, 413, 422)
    yield answered("a packed body", world("POST", votes, gzip.compress(b"x" * 10_000_000), key=arena.owner, headers={"Content-Encoding": "gzip"}), 400, 413, 415, 422)  # fmt: skip  # noqa: E501


@attack
def nonsense_in_every_form(world: World) -> Iterator[Row]:
    """The same in the fields of every form, in what the voting page's script sends, and in queries: never a 500."""
    arena = world.arena(room=60, board="always", go_on=True)
    own, rater = f"/own/{arena.id}", arena.raters[0]
    strange = (
        "a\0b",
        "\u202egnp",
        "x" * 50_000,
        "",
        "-1",
        "9" * 400,
        "1e400",
        "\ufeff",
        "١",
        "[]",
        "../..",
        "\r\nX: y",
        "\U0001f642" * 300,
    )
    forms: list[tuple[str, str, str, str, dict[str, str]]] = [
        (f"{own}/status", "owner", arena.owner, own, {"do": "open"}),
        (f"{own}/policy", "owner", arena.owner, own, {"policy": "challengers"}),
        (f"{own}/margin", "owner", arena.owner, own, {"margin": "0.01"}),
        (f"{own}/options", "owner", arena.owner, "", {"pasted": "one\ntwo", "request": "q"}),
        (f"{own}/options/retire", "owner", arena.owner, f"{own}/options", {"option": "none", "request": "q"}),
        (f"{own}/raters", "owner", arena.owner, "", {"labels": "Ada", "group": "s", "limit": "5", "request": "q"}),
        (
            f"{own}/raters/quarantine",
            "owner",
            arena.owner,
            f"{own}/raters",
            {"rater": "r1", "do": "quarantine", "reason": "x", "sure": "1"},
        ),
        (f"{own}/votes", "owner", arena.owner, "", {"pasted": "id,rank\n1,mild>sharp", "votes": "id,rank\n1,mild>sharp"}),
        (f"{own}/sheets", "owner", arena.owner, "", {"number": "1", "group": "s", "request": "q"}),
        (
            f"/vote/{arena.id}",
            "rater",
            rater,
            "",
            {"ticket": "x", "place-0": "1", "place-1": "2", "action": "vote", "request": "q"},
        ),
        (
            "/own/new",
            "server",
            world.key,
            "",
            {"name": "x", "pasted": "a\nb", "slate_size": "2", "action": "create", "request": "q"},
        ),
        ("/k", "owner", arena.owner, "/", {"key": arena.link, "label": "x", "request": "0123456789abcdef0123456789abcdef"}),
    ]
    for path, role, key, page, fields in forms:
        wrong = []
        for name in fields:
            for text in strange:
                status = world.form(path, role, key, {**fields, name: text}, page).status_code
                if status >= 500:
                    wrong.append(f"{name}={text[:8]!r}: {status}")
        for raw in (b"\xff=\xfe", b"a=%ff%fe", b"token=%ed%a0%80", b"&" * 5_000, b"token=x&" * 900):
            headers = {"Cookie": f"multiduel-{role}={key}", "Content-Type": "application/x-www-form-urlencoded"}
            status = world("POST", path, raw, headers=headers).status_code
            if status >= 500:
                wrong.append(f"{raw[:10]!r}: {status}")
        yield Row(f"form {path.replace(arena.id, 'A')}", "below 500", "; ".join(wrong[:3]) or "so", not wrong)
    found = re.search(r'data-token="(\w+)"|name="token" value="(\w+)"', world.page(f"/vote/{arena.id}", "rater", rater).text)
    token = (found[1] or found[2]) if found else ""
    for path in (f"/vote/{arena.id}/tickets/{world.ask(arena, rater)['ticket']}", f"/vote/{arena.id}/undo"):
        wrong = []
        for nonsense in NONSENSE:
            for name in ("ballot", "request", "token"):
                body = json.dumps({"token": token, "ballot": {"rank": [0, 1]}, "request": "q"})
                body = re.sub(rf'"{name}": ("[^"]*"|{{[^}}]*}})', lambda _, n=name, v=nonsense: f'"{n}": {v}', body)
                headers = {"Cookie": f"multiduel-rater={rater}", "Content-Type": "application/json", "X-Token": token}
                if path.endswith("/undo"):
                    vote(world, arena, rater)
                status = world("POST", path, body, headers=headers).status_code
                if status >= 500:
                    wrong.append(f"{name}={nonsense[:12]}: {status}")
        yield Row(f"script {path.replace(arena.id, 'A')[:24]}", "below 500", "; ".join(wrong[:3]) or "so", not wrong)
    wrong = []
    head = f"Host: 127.0.0.1:{world.server.port}\r\nConnection: close\r\nCookie: multiduel-owner={arena.owner}\r\n"
    for path in (
        f"{own}/journal?before=%00&kind=%ff&text=%00",
        f"{own}/journal?before={'9' * 12}&text={'(a*)*' * 30}",
        f"{own}/journal?text=%ed%a0%80",
        f"{own}/journal?before=0&verify", f"{own}/board/changes?after=%ff", f"{own}/sheets/%00",
        f"{own}/sheets/{'x' * 3000}", f"{own}/log.%00",
        f"{own}%00", "/own/%ff", "/own/..", f"/own/{'x' * 5000}", "/own/%F0%9F%99%82", f"{own}/sheets/%ed%a0%80/sheets.csv",
    ):  # fmt: skip
        with contextlib.suppress(httpx.InvalidURL):
            status = status_of(world.raw(f"GET {path} HTTP/1.1\r\n{head}\r\n".encode()))
            if not isinstance(status, int) or status >= 500:
                wrong.append(f"{path.replace(own, 'O')[:30]}: {status}")
    for path in ("votes?format=%00", "votes?format=csv&dry_run=%ff", "votes?dry_run=2"):
        status = world("POST", f"/arenas/{arena.id}/{path}", "id,rank\n1,mild>sharp\n", key=arena.owner).status_code
        if status >= 500:
            wrong.append(f"{path}: {status}")
    yield Row("queries and paths", "below 500", "; ".join(wrong[:4]) or "so", not wrong)


@attack
def scripts_in_pages(world: World) -> Iterator[Row]:
    """Scripts in names, contents, contexts, labels and reasons: no page holds one unescaped, and each forbids them besides."""
    for k, payload in enumerate(XSS):
        options = [{"name": f"{payload} {n}", "contents": [{"kind": kind, "content": payload}] * 2}
                   for n, kind in enumerate(("text", "markdown"))]  # fmt: skip
        arena = world.arena(name=payload, options=options, contexts=[payload, f"{payload} 2"], board="always")
        for group in (payload[:50], None):
            made = {"label": f"{payload}{group}"[:100], "group": group}
            rater = world.good("POST", f"/arenas/{arena.id}/raters", made, key=arena.owner)
        world("POST", f"/arenas/{arena.id}/raters/{rater['rater']}/quarantine", {"reason": payload}, key=arena.owner)
        ticket = world.ask(arena, arena.raters[0])["ticket"]
        world("PUT", f"/tickets/{ticket}/vote", {"rank": [0, 1]}, key=arena.raters[0])
        own = ("", "/board", "/raters", "/options", "/votes", "/sheets", "/journal", f"/journal?text={payload}")
        pages = [(f"/own/{arena.id}{tail}", "owner", arena.owner) for tail in own]
        pages += [(f"/vote/{arena.id}", "rater", arena.raters[1]), (f"/vote/{arena.id}/board", "rater", arena.raters[1])]
        pages += [("/own", "server", world.key), ("/own/new", "server", world.key), (f"/k/{payload}", "owner", "x")]
        bad = []
        for path, role, key in pages:
            answer = world.page(path, role, key)
            if answer.status_code >= 500 or any(text in answer.text for text in UNESCAPED):
                bad.append(f"{path} {answer.status_code}")
            policy = answer.headers.get("content-security-policy", "")
            if "default-src" not in policy or "script-src 'unsafe-inline'" in policy:
                bad.append(f"{path} CSP {policy[:40]}")
        yield Row(f"payload {k} in {len(pages)} pages", "escaped, CSP", "; ".join(bad)[:90] or "so", not bad)
        shown = world("GET", f"/tickets/{ticket}/contents/0")
        kind = shown.headers.get("content-type", "")
        safe = kind.startswith("text/plain") and shown.headers.get("x-content-type-options") == "nosniff"
        yield Row(f"payload {k} as a content", "text/plain, nosniff, sandbox", kind, safe and "sandbox" in shown.headers["content-security-policy"])  # fmt: skip  # noqa: E501
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>mdxss()</script></svg>'
    image = [
        {"name": n, "kind": "image", "base64": __import__("base64").b64encode(svg.encode() + n.encode()).decode()} for n in "ab"
    ]
    arena = world.arena(options=image)
    shown = world("GET", f"/tickets/{world.ask(arena, arena.raters[0])['ticket']}/contents/0")
    policy = shown.headers.get("content-security-policy", "")
    yield Row(
        "a script in an SVG", "sandbox, default-src 'none'", policy[:60], "sandbox" in policy and "default-src 'none'" in policy
    )


# ---- browsers


@attack
def forged_forms(world: World) -> Iterator[Row]:
    """Forms from elsewhere: without a token, with another's, from another origin or a sister site, under another host."""
    arena = world.arena()
    cookie, path = f"multiduel-owner={arena.owner}", f"/own/{arena.id}/status"
    page = world.page(f"/own/{arena.id}", "owner", arena.owner).text
    found = re.search(r'name="token" value="(\w+)"', page)
    token = found[1] if found else ""
    same = world.server.url
    for what, fields, headers, statuses in (
        ("no token", {"do": "pause"}, {"Origin": same}, (403,)),
        ("another token", {"do": "pause", "token": "0" * 32}, {"Origin": same}, (403,)),
        ("another origin", {"do": "pause", "token": token}, {"Origin": "http://evil.example"}, (403,)),
        ("no origin at all: null", {"do": "pause", "token": token}, {"Origin": "null"}, (403,)),
        ("same-site", {"do": "pause", "token": token}, {"Origin": same, "Sec-Fetch-Site": "same-site"}, (403,)),
        ("cross-site", {"do": "pause", "token": token}, {"Sec-Fetch-Site": "cross-site"}, (403,)),
        ("the other port", {"do": "pause", "token": token}, {"Origin": "http://127.0.0.1:1"}, (403,)),
    ):
        yield answered(what, world("POST", path, data=fields, headers={"Cookie": cookie, **headers}), *statuses)
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "", "127.0.0.1:80:80"):
        yield answered(f"Host: {host}", world("GET", "/", headers={"Host": host}), 400, 421)
    key = world("POST", "/k", data={"key": arena.owner}, headers={"Origin": same})
    flags = key.headers.get("set-cookie", "")
    good = "httponly" in flags.lower() and "samesite" in flags.lower() and f"Path=/own/{arena.id}" in flags
    yield Row("cookie of an owner", "HttpOnly, SameSite, its path", re.sub("=md[^;]*", "=...", flags)[:70], good)
    yield answered("a cookie at the JSON API", world("GET", f"/arenas/{arena.id}", headers={"Cookie": cookie}), 401, 403)


@attack
def paths_that_climb(world: World) -> Iterator[Row]:
    """Paths with .., encoded slashes, zero bytes and line ends: nothing beneath or beside is read."""
    arena = world.arena()
    ticket = world.ask(arena, arena.raters[0])["ticket"]
    for path in (
        "/static/x/../../../../etc/passwd", "/static/x/..%2f..%2f..%2fetc%2fpasswd", "/static/..%5c..%5cetc/passwd",
        "/static/x/%2e%2e/%2e%2e/app.py", f"/tickets/{ticket}/contents/..%2f0", f"/tickets/{ticket}/contents/-1",
        f"/tickets/{ticket}/contents/99999999999999999999", "/static/x/a%00b", f"/own/{arena.id}/log.exe", "//etc/passwd",
        f"/own/{arena.id}/sheets/..%2f../sheets.csv",
    ):  # fmt: skip
        came = world.raw(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{world.server.port}\r\n\r\n".encode())
        status = status_of(came)
        fine = isinstance(status, int) and 300 < status < 500 and b"root:" not in came and b"import " not in came
        yield Row(path[:50].replace(ticket, "T"), "4xx", str(status), fine)


# ---- the wire


@attack
def broken_http(world: World) -> Iterator[Row]:
    """Requests that two servers would read differently are refused and the connection closed; none cuts it without a word."""
    host = f"Host: 127.0.0.1:{world.server.port}\r\n"
    chunked = "Transfer-Encoding: chunked\r\n"
    for what, text, statuses in (
        ("length and chunks", f"POST /k HTTP/1.1\r\n{host}Content-Length: 4\r\n{chunked}\r\n0\r\n\r\n", (400,)),
        ("two lengths", f"POST /k HTTP/1.1\r\n{host}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd", (400,)),
        ("a negative length", f"POST /k HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n", (400, 413)),
        ("a length of 10^30", f"POST /k HTTP/1.1\r\n{host}Content-Length: {10**30}\r\n\r\n", (400, 413)),
        ("line ends in a path", f"GET /own/%0d%0aX-Evil:%201 HTTP/1.1\r\n{host}\r\n", (400, 401, 403, 404)),
        ("line ends in a link", f"GET /vote/a%0d%0aSet-Cookie:%20x=y/start/x HTTP/1.1\r\n{host}\r\n", (400, 401, 403, 404)),
        ("line ends in a key", f"GET /k/mdlink.a%0d%0aX:y.z HTTP/1.1\r\n{host}\r\n", (200, 303, 400, 403, 404)),
        ("two hosts", f"GET / HTTP/1.1\r\n{host}Host: evil\r\n\r\n", (400, 421)),
        ("no host", "GET / HTTP/1.1\r\n\r\n", (400, 421)),
        ("a head of 200 kB", f"GET / HTTP/1.1\r\n{host}X: {'y' * 200_000}\r\n\r\n", (400, 431)),
        ("an unknown method", f"BREW / HTTP/1.1\r\n{host}\r\n", (400, 404, 405, 501)),
        ("no HTTP", "\x16\x03\x01\x02\x00\x01", (400, "closed")),
        ("a wrong chunk", f"POST /k HTTP/1.1\r\n{host}{chunked}\r\nzz\r\n", (400, 408)),
        ("an upgrade", f"GET / HTTP/1.1\r\n{host}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n", (200, 303, 400, 403, 426)),
    ):
        with contextlib.suppress(ConnectionError):
            came = world.raw(text.encode("latin-1"))
        status = status_of(came)
        injected = b"x-evil: 1" in came.lower() or b"set-cookie: x=y" in came.lower()
        words = ", ".join(map(str, statuses))
        yield Row(what, words, f"{status}{' INJECTED' if injected else ''}", status in statuses and not injected)


@attack
def slow_clients(world: World) -> Iterator[Row]:
    """Hundreds of silent, half-sent and slow requests from one address: all others are served, and these are hung up on."""
    arena = world.arena()
    host = f"Host: 127.0.0.1:{world.server.port}\r\n"
    kinds = {
        "silent": b"",
        "half a head": f"GET / HTTP/1.1\r\n{host}".encode(),
        "half a body": f"POST /k HTTP/1.1\r\n{host}Content-Length: 1000\r\n\r\nx".encode(),
    }
    lines: dict[str, list[socket.socket]] = {kind: [] for kind in kinds}
    try:
        for kind, data in kinds.items():
            for _ in range(350):
                with contextlib.suppress(OSError):
                    line = socket.create_connection(
                        ("127.0.0.1", world.server.port), timeout=2.0, source_address=("127.0.0.66", 0)
                    )
                    lines[kind].append(line)
                    line.sendall(data)
        for _ in range(8):  # a byte now and then
            for line in lines["half a body"]:
                with contextlib.suppress(OSError):
                    line.sendall(b"x")
            time.sleep(0.5)
        try:
            answer: httpx.Response | str = world(
                "POST", f"/arenas/{arena.id}/tickets", {}, key=arena.raters[0], address="127.0.0.67"
            )
        except httpx.HTTPError as error:
            answer = type(error).__name__
        yield answered("a rater from elsewhere meanwhile", answer, 200)
        until = time.monotonic() + 40.0
        for kind, some in lines.items():
            gone = 0
            for line in some:
                line.settimeout(max(0.01, until - time.monotonic()) if gone == 0 else 0.5)
                with contextlib.suppress(OSError):
                    while line.recv(4096):
                        pass
                    gone += 1
                if gone == 0 and time.monotonic() > until:
                    break
            yield Row(f"{len(some)} connections, {kind}", "hung up within 40 s", f"{gone} were", gone >= 0.9 * len(some))
    finally:
        for some in lines.values():
            for line in some:
                line.close()


# ---- work


@attack
def much_work(world: World) -> Iterator[Row]:
    """Inputs that take a quadratic program seconds: each is answered soon, and others do not wait for it."""
    arena = world.arena(room=60)
    nested = {
        "brackets": "[" * 20_000,
        "quotes": "> " * 9_000 + "x",
        "stars": "*a" * 20_000,
        "lists": "- " * 9_000,
        "ticks": "`" * 40_000,
    }
    for what, text in nested.items():
        yield soon(f"Markdown of {what}", lambda text=text: rendered(world, text))
    pasted = {
        "newlines": "\n" * 50_000,
        "blanks": " \n" * 25_000,
        "rules": "---\n" * 12_000,
        "commas": "name,content\n" + ",\n" * 20_000,
    }
    for what, text in pasted.items():
        fields = {"pasted": f"a{text}b", "name": "x"}
        yield soon(f"pasted {what}", lambda fields=fields: world.form("/own/new", "server", world.key, fields))
    names = [f"r{k}" for k in range(200)]
    text = "id,rater,rank\n" + "".join(f"{k},{names[k % 200]},mild>sharp\n" for k in range(20_000))
    start = time.monotonic()
    sent = world("POST", f"/arenas/{arena.id}/votes", text, key=arena.owner, headers={"Content-Type": "text/csv"}, timeout=120.0)
    yield answered(f"20,000 votes in a file, {time.monotonic() - start:.1f} s", sent, 200)
    with ThreadPoolExecutor(12) as pool:
        start = time.monotonic()
        searches = [pool.submit(search, world, arena, k) for k in range(1, 13)]
        statuses = {one.result().status_code for one in searches}
    yield Row(
        "12 searches of the journal at once",
        "200, or 429",
        f"{statuses}, {time.monotonic() - start:.1f} s",
        statuses <= {200, 429, 503},
    )
    with ThreadPoolExecutor(4) as pool:
        logs = list(
            pool.map(
                lambda k: world("GET", f"/arenas/{arena.id}/log.jsonl", key=arena.owner, address=f"127.0.2.{k}"), range(1, 5)
            )
        )
    whole = all(json.loads(log.text.splitlines()[-1]) for log in logs)
    yield Row("4 exports meanwhile", "whole", f"{len(logs[0].text):,} characters", whole)


def soon(what: str, call: Callable[[], httpx.Response], most: float = 5.0) -> Row:
    """A row that is good if the answer came in time."""
    start = time.monotonic()
    try:
        status: int | str = call().status_code
    except httpx.HTTPError as error:
        status = type(error).__name__
    seconds = time.monotonic() - start
    good = isinstance(status, int) and status < 500 and seconds < most
    return Row(what, f"answered within {most:g} s", f"{status}, {seconds:.1f} s", good)


def rendered(world: World, text: str) -> httpx.Response:
    """The page with the options of an arena whose contents are this Markdown."""
    options = [{"name": f"option {n}", "kind": "markdown", "content": f"{text}{n}"} for n in range(2)]
    made = world("POST", "/arenas", {"name": "hard", "options": options}, key=world.key)
    if made.status_code >= 300:
        return made
    return world.page(f"/own/{made.json()['arena']}/options", "owner", made.json()["owner_key"])


def search(world: World, arena: Arena, number: int) -> httpx.Response:
    """For words that are in no event, from an address of its own."""
    path, address = f"/own/{arena.id}/journal?text=zzz{number}", f"127.0.1.{number}"
    return world.page(path, "owner", arena.owner, address=address, timeout=120.0)


# ---- keys


@attack
def wrong_keys(world: World) -> Iterator[Row]:
    """Guessing keys: limited by address before it costs anything, also across one address's IPv4 neighbours none the wiser."""
    arena = world.arena()
    statuses, times = [], []
    with httpx.Client(
        base_url=world.server.url, transport=httpx.HTTPTransport(local_address="127.0.0.9"), timeout=30.0
    ) as client:
        for k in range(40):
            guess = arena.owner[:-6] + f"{k:06d}"
            start = time.monotonic()
            statuses.append(client.get(f"/arenas/{arena.id}", headers={"Authorization": f"Bearer {guess}"}).status_code)
            times.append(time.monotonic() - start)
    yield Row("40 wrong owner's keys", "401, soon 429", f"{statuses.count(401)} times 401, then {statuses[-1]}", statuses[-1] == 429 and set(statuses) <= {401, 429})  # fmt: skip  # noqa: E501
    slow = statistics.median(times[:5]) * 1000
    yield Row("time of a wrong key", "reported only", f"{slow:.0f} ms", True)
    yield answered("the owner, from elsewhere", world("GET", f"/arenas/{arena.id}", key=arena.owner, address="127.0.0.10"), 200)
    for key in ("", "x", "mdowner", f"mdowner.{arena.id}", "mdowner." + "x" * 9_000, "md\udcff", f"{arena.owner}\u0000"):
        with contextlib.suppress(UnicodeError, httpx.HTTPError):
            answer = world("GET", f"/arenas/{arena.id}", headers={"Authorization": b"Bearer " + key.encode("utf-8", "replace")})
            yield answered(f"the key {key[:16]!r}", answer, 400, 401, 403, 431)
    yield answered("revoke the links", world("DELETE", f"/arenas/{arena.id}/links", key=arena.owner), 200)
    yield answered("join by a revoked link", world("POST", f"/arenas/{arena.id}/join", {}, key=arena.link), 401, 403)


# ---- fairness


@attack
def undo_after_the_verdict(world: World) -> Iterator[Row]:
    """A rater reads the verdict, takes a vote back that it counted, and votes the other way: refused."""
    arena = world.arena(options=TEXTS[:2], raters=1, alpha=0.5, board="verdict")
    rater = arena.raters[0]
    for _ in range(60):
        ticket = world.ask(arena, rater)
        if "done" in ticket:
            break
        shown = [world("GET", content["url"]).text for content in ticket["contents"]]
        first = shown.index(TEXTS[0]["content"])
        world.good("PUT", f"/tickets/{ticket['ticket']}/vote", {"rank": [first, 1 - first]}, key=rater)
    board = world("GET", f"/arenas/{arena.id}/board", key=rater)
    yield answered("the board after the verdict", board, 200)
    yield answered("undo of a vote that it counted", world("POST", f"/arenas/{arena.id}/undo", {}, key=rater), 403, 409, 422)


@attack
def what_raters_learn(world: World) -> Iterator[Row]:
    """The board does not tell raters who is quarantined; a group that the owner gave is not replaced; votes are blind."""
    arena = world.arena(board="always")
    given = world.good("POST", f"/arenas/{arena.id}/raters", {"label": "Mallory-7", "group": "owners"}, key=arena.owner)
    ticket = world("POST", f"/arenas/{arena.id}/tickets", {"group": "mine"}, key=given["key"])
    same = ticket.status_code >= 400 or ticket.json().get("group") == "owners"
    yield Row("a rater's own group", "the owner's stays", ticket.text[:60], same)
    ticket = world.ask(arena, given["key"], request=secrets.token_hex(8))
    if "ticket" in ticket:
        world("PUT", f"/tickets/{ticket['ticket']}/vote", {"rank": [0, 1]}, key=given["key"])
        blind = not any(option["name"] in json.dumps(ticket) for option in TEXTS)
        yield Row("names of options in a ticket", "none", "none" if blind else "some", blind)
    world.good("POST", f"/arenas/{arena.id}/raters/{given['rater']}/quarantine", {"reason": "bot"}, key=arena.owner)
    board = world("GET", f"/arenas/{arena.id}/board", key=arena.raters[0]).text
    leaks = [word for word in (given["rater"], "Mallory-7", "bot") if f'"{word}' in board]
    yield Row("who is quarantined, on a rater's board", "not said", ", ".join(leaks) or "not said", not leaks)
    for page in (f"/vote/{arena.id}/board",):
        text = world.page(page, "rater", arena.raters[0]).text
        leaks = [word for word in ("Mallory-7", f">{given['rater']}<") if word in text]
        yield Row("the same on the page", "not said", ", ".join(leaks) or "not said", not leaks)


# ---- ends


@attack
def killed_in_between(world: World) -> Iterator[Row]:
    """Killed amid votes (kill -9) and started again: what was acknowledged is there, and the log verifies."""
    arena = world.arena(raters=1, go_on=True)
    acknowledged, stop = [], threading.Event()

    def vote_on() -> None:
        while not stop.is_set():
            with contextlib.suppress(httpx.HTTPError, AssertionError, KeyError):
                ticket = world.ask(arena, arena.raters[0], request=secrets.token_hex(8))["ticket"]
                acknowledged.append(world.good("PUT", f"/tickets/{ticket}/vote", {"rank": [0, 1]}, key=arena.raters[0])["event"])

    thread = threading.Thread(target=vote_on, daemon=True)
    thread.start()
    time.sleep(2.0)
    world.server.kill(lambda: time.sleep(0.05))
    world.server.start()
    world.wait_until_ready()
    time.sleep(1.0)
    stop.set()
    thread.join(60.0)
    log = world("GET", f"/arenas/{arena.id}/log.jsonl", key=arena.owner).text.splitlines()
    numbers = {json.loads(line).get("number") for line in log}
    lost = [event for event in acknowledged if event not in numbers]
    yield Row(f"{len(acknowledged)} acknowledged votes", "all there", f"{len(lost)} lost", not lost and bool(acknowledged))
    yield answered("verify", world("GET", f"/arenas/{arena.id}/verify", key=arena.owner), 200)
    said = world.server.said()
    yield Row("the server's log", "no traceback", f"{said.count('Traceback')} tracebacks", "Traceback" not in said)


def run(world: World, honest: Honest, name: str) -> list[Row]:
    """One attack, how the honest rater fared meanwhile, and whether the server lives; if not, it is started again."""
    honest.taken()
    rows: list[Row] = []
    try:
        for row in ATTACKS[name](world):
            rows.append(row)  # those before an exception count too
    except Exception as error:
        rows.append(Row(name, "to be carried out", f"{type(error).__name__}: {str(error)[:150]}", False))
    waits, failures = honest.taken()
    restarts = name == "killed-in-between"
    middle, longest = statistics.median(waits) * 1000, max(waits)
    fared = f"p50 {middle:.0f} ms, max {longest:.1f} s, {len(failures)} of {len(waits)} failed {failures[:1] or ''}"
    rows.append(
        Row(
            "an honest rater meanwhile",
            f"max below {LONGEST_WAIT:g} s",
            fared,
            restarts or (longest < LONGEST_WAIT and not failures),
        )
    )
    try:
        world.arena(raters=0)
    except (httpx.HTTPError, AssertionError) as error:
        rows.append(Row("the server afterwards", "serves", f"{type(error).__name__}: started anew", False))
        world.server.kill(lambda: None)
        world.server.start()
        world.wait_until_ready()
    return rows


def attack_all(db: str, folder: Path, names: list[str]) -> int:
    """Every attack in turn; prints the table, returns how many rows were unexpected."""
    world, unexpected, tried = World(db, folder), 0, 0
    try:
        honest = Honest(world)
        honest.start()
        for name in names:
            start = time.monotonic()
            rows = run(world, honest, name)
            print(f"\n{name}: {ATTACKS[name].__doc__}  ({time.monotonic() - start:.0f} s)")
            for row in rows:
                print(
                    f"  {'ok ' if row.good else 'BAD'}  {row.tried:52.52}  expected {row.expected:30.30}  got {row.got[:100]}",
                    flush=True,
                )
            tried += len(rows)
            unexpected += sum(not row.good for row in rows)
        honest.stopped.set()
    finally:
        world.server.throw_away()
    print(f"\n{tried} rows, {unexpected} unexpected")
    return unexpected


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(ATTACKS))
    parser.add_argument("--db", choices=("sqlite", "postgres"))
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    if given.list:
        for name, function in ATTACKS.items():
            print(f"{name}: {function.__doc__}")
        return 0
    names, unexpected = given.only or list(ATTACKS), 0
    if given.db != "postgres":
        with tempfile.TemporaryDirectory() as folder:
            print("SQLite")
            unexpected += attack_all(f"{folder}/arena.db", Path(folder), names)
    if given.db != "sqlite":
        if why_not():
            print(f"PostgreSQL: SKIPPED, {why_not()}")
        else:
            with tempfile.TemporaryDirectory() as folder, a_postgres() as postgres:
                print("PostgreSQL")
                unexpected += attack_all(postgres.url, Path(folder), names)
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
