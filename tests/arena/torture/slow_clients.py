"""What honest raters experience while slow, silent and broken-off connections hold the server.

``python -m tests.arena.torture.slow_clients`` runs every attack at full size against a server of its own.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from multiduel.arena.client import Client
from tests.arena.torture.killing import owner_of_an_arena
from tests.arena.torture.server import ServerProcess

HEAD = b"POST /arenas/a/join HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
BODY = HEAD + b"Content-Length: 1000\r\n\r\n{"  # of a request whose other 999 bytes come one by one
PATIENCE = 20.0  # seconds that an honest client waits for an answer


@dataclass
class Experience:
    """Of an honest rater: seconds per request, and how each request ended."""

    seconds: list[float] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)

    @property
    def errors(self) -> int:
        return sum(count for end, count in self.ends.items() if end != "200")

    def __str__(self) -> str:
        if not self.seconds:
            return "no request was finished"
        middle, most = statistics.median(self.seconds) * 1e3, max(self.seconds) * 1e3
        return f"{len(self.seconds)} requests, p50 {middle:.1f} ms, max {most:.0f} ms, errors {self.errors} {dict(self.ends)}"


class HonestRater:
    """Asks for tickets and votes, with a connection that is kept or a new one for every request."""

    def __init__(self, rater: Client, *, kept: bool, pause: float = 0.02) -> None:
        parts = urlsplit(rater.url)
        self._at, self._rater, self._kept, self._pause = (parts.hostname or "", parts.port), rater, kept, pause
        self._connection: http.client.HTTPConnection | None = None
        self.felt = Experience()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._rate, daemon=True)

    def _ask(self, method: str, path: str, body: object) -> dict[str, object]:
        """One request, its time and end written down. An empty answer if it failed."""
        connection = self._connection or http.client.HTTPConnection(*self._at, timeout=PATIENCE)
        self._connection = connection
        head = {"Authorization": f"Bearer {self._rater.key}", "Content-Type": "application/json"}
        start, answer = time.perf_counter(), b""
        try:
            connection.request(method, path, json.dumps(body), head)
            came = connection.getresponse()
            answer, end = came.read(), str(came.status)
        except (OSError, http.client.HTTPException) as error:
            end = type(error).__name__
        self.felt.seconds.append(time.perf_counter() - start)
        self.felt.ends[end] += 1
        if not self._kept or end != "200":
            connection.close()
            self._connection = None
        return json.loads(answer) if end == "200" else {}

    def _rate(self) -> None:
        ticket: dict[str, object] = {}
        while not self._stop.wait(self._pause):
            if "ticket" not in ticket:
                ticket = self._ask("POST", f"/arenas/{self._rater.arena}/tickets", {})
                continue
            order = list(range(int(str(ticket["positions"]))))
            voted = self._ask("PUT", f"/tickets/{ticket['ticket']}/vote?next=1", {"rank": order})
            following = voted.get("next")
            ticket = following if isinstance(following, dict) else {}

    def __enter__(self) -> HonestRater:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join(2 * PATIENCE)


class Attack:
    """``many`` connections: each sends ``first`` at once, then ``then`` every ``every`` seconds. With ``again``, connections that
    were closed are replaced half a second later."""

    def __init__(
        self, port: int, many: int, *, first: bytes = b"", then: bytes = b"", every: float = 12.0, again: bool = False
    ) -> None:
        self.port, self.many, self.first, self.then, self.every, self.again = port, many, first, then, every, again
        self.open = self.closed = self.failed = 0
        self.answers: Counter[str] = Counter()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    async def _run(self) -> None:
        tasks = [asyncio.create_task(self._hold(k)) for k in range(self.many)]
        while not self._stop.is_set():
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _hold(self, k: int) -> None:
        await asyncio.sleep(k * 0.0005)
        await self._once()
        while self.again:
            await asyncio.sleep(0.5)
            await self._once()

    async def _once(self) -> None:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            self.failed += 1
            return
        self.open += 1
        try:
            writer.write(self.first)
            dripping = asyncio.create_task(self._drip(writer))
            came = await reader.read(1000)  # until it is answered or closed
            self.answers[came.split(b"\r\n")[0].decode("latin-1")] += 1
            dripping.cancel()
        except OSError:
            pass
        finally:
            self.open -= 1
            self.closed += 1
            writer.close()

    async def _drip(self, writer: asyncio.StreamWriter) -> None:
        while self.then:
            await asyncio.sleep(self.every)
            writer.write(self.then)

    def __enter__(self) -> Attack:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join(30.0)

    def __str__(self) -> str:
        return f"{self.many} connections: {self.open} open, {self.closed} closed, {self.failed} refused {dict(self.answers)}"


@contextmanager
def a_server(
    *words: str, handles: int | None = None, workers: int = 1, db: str | None = None
) -> Iterator[tuple[ServerProcess, Client]]:
    """A server process with an arena, and the arena's owner."""
    with tempfile.TemporaryDirectory() as folder:
        db = db or str(Path(folder) / "arena.db")
        server = ServerProcess(db, handles=handles, workers=workers, options=words)
        try:
            yield server, owner_of_an_arena(server, db)
        finally:
            server.throw_away()


def measure(name: str, attack: Attack, owner: Client, seconds: float) -> tuple[Experience, Experience]:
    """Run an attack for some seconds. Returns what a rater with a kept connection felt, and one who connects anew each time."""
    kept = HonestRater(owner.admit(f"{name} kept"), kept=True)
    anew = HonestRater(owner.admit(f"{name} anew"), kept=False)
    with attack:
        time.sleep(3.0)  # until all are connected
        with kept, anew:
            time.sleep(seconds)
        print(f"{name}: {attack}\n  kept connection: {kept.felt}\n  new connections: {anew.felt}", flush=True)
    return kept.felt, anew.felt


def main(seconds: float = 20.0) -> None:
    with a_server() as (server, owner):
        measure("no attack", Attack(server.port, 0), owner, 5.0)
        measure("1,010 slow bodies", Attack(server.port, 1010, first=BODY, then=b" "), owner, seconds)
        measure("1,010 half heads", Attack(server.port, 1010, first=HEAD), owner, seconds)
        measure("after", Attack(server.port, 0), owner, 5.0)
    with a_server(handles=1024) as (server, owner):
        measure("1,100 silent, 1,024 handles", Attack(server.port, 1100), owner, seconds)
        measure("1,100 silent that come again, 1,024 handles", Attack(server.port, 1100, again=True), owner, seconds)
        print("  log:", len(server.said()), "characters; handles of the server:", len(os.listdir(f"/proc/{server.pid}/fd")))
        measure("after", Attack(server.port, 0), owner, 5.0)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
