"""A server as a process of its own, and a client as thin as can be: asyncio, prepared bytes, no library."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from multiduel.arena import Client

HERE = Path(__file__).resolve().parent
TICK = os.sysconf("SC_CLK_TCK")
CGROUPS = Path("/sys/fs/cgroup/cpu")  # as version 1 has them


class Server:
    """``multiduel arena serve`` on a free port.

    ``together`` is the most commands that share a transaction; ``code`` a checkout to run instead of this one.
    """

    def __init__(self, db: str, *, together: int | None = None, workers: int = 1, code: str | None = None) -> None:
        self._held: list[Path] = []
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self.port = listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        path = os.pathsep.join([f"{code}/src"] * bool(code) + sys.path)
        env = {**os.environ, "PYTHONPATH": path}
        self.key = subprocess.check_output([sys.executable, str(HERE / "arena_wire.py"), "key", db], env=env, text=True).strip()
        command = [sys.executable, str(HERE / "arena_wire.py"), str(together or 0), db, str(self.port), str(workers)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=env)
        self._until(lambda: self.get("/health/ready")["ready"])

    def _until(self, good) -> None:
        for _ in range(1200):
            try:
                if good():
                    return
            except OSError:
                assert self.process.poll() is None, "the server ended"
            time.sleep(0.1)
        raise AssertionError("the server is not ready")

    def get(self, path: str):
        with urllib.request.urlopen(f"{self.url}{path}", timeout=60) as answer:
            return json.loads(answer.read())

    def owner(self, options, **settings) -> Client:
        owner = Client(self.url, self.key).create("benchmark", options, **settings)
        owner.open()
        return owner

    def counters(self) -> dict[str, float]:
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[:1] not in ("#", ""))}

    def cpu(self) -> float:
        """CPU seconds of the server and its workers."""
        return sum(_cpu_of(pid) for pid in _family(self.process.pid))

    def hold(self, part: float) -> None:
        """Give each process this part of a core and no more, in turns of 5 ms. Needs root and the cpu controller of cgroups."""
        for pid in _family(self.process.pid):
            folder = CGROUPS / f"multiduel-{pid}"
            folder.mkdir()
            self._held.append(folder)
            (folder / "cpu.cfs_period_us").write_text("5000")
            (folder / "cpu.cfs_quota_us").write_text(f"{5000 * part:.0f}")
            (folder / "cgroup.procs").write_text(str(pid))

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)
        for folder in self._held:
            while (folder / "cgroup.procs").read_text():  # a helper of a worker may end a moment later
                time.sleep(0.05)
            folder.rmdir()


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in _family(int(child)))]


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Wire:
    """One connection, kept open."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def open(self) -> Wire:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def call(self, method: str, path: str, key: str, body=None) -> bytes:
        data = b"" if body is None else json.dumps(body).encode()
        kind = b"" if body is None else b"Content-Type: application/json\r\n"
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\nContent-Length: {len(data)}\r\n"
        self._writer.write(head.encode() + kind + b"\r\n" + data)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        at = answer.lower().index(b"content-length:") + 15
        came = await self._reader.readexactly(int(answer[at : answer.index(b"\r", at)]))
        if not answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
            raise AssertionError(f"{method} {path}: {answer[:60]!r} {came[:300]!r}")
        return came

    async def watch(self, path: str, cookie: str) -> None:
        """Open a stream that is read by nobody."""
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n".encode())
        answer = await self._reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200"), answer[:200]

    def close(self) -> None:
        self._writer.close()


if __name__ == "__main__":  # the server's process
    from multiduel.arena import connect
    from multiduel.arena.service import service
    from multiduel.arena.web import serve
    from multiduel.arena.web.access import Access

    if sys.argv[1] == "key":
        journal = connect(sys.argv[2])
        print(Access(journal.secrets).new_key("server"))
        journal.close()
    else:
        if int(sys.argv[1]):
            service.TOGETHER = int(sys.argv[1])
        serve.serve(serve.Setup(sys.argv[2], port=int(sys.argv[3]), workers=int(sys.argv[4])))
