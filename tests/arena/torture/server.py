"""The server as a process of its own, to be killed."""

from __future__ import annotations

import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 120.0  # seconds until it listens, on a busy machine too


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


class ServerProcess:
    """``multiduel arena serve``, or one that is sabotaged (see ``sabotaged.py``), always on the same port."""

    def __init__(
        self,
        db: str,
        *,
        workers: int = 1,
        sabotage: str = "",
        file_limit: int | None = None,
        handles: int | None = None,
        options: Sequence[str] = (),
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        program = ["tests.arena.torture.sabotaged", sabotage] if sabotage else ["multiduel"]
        self._command = [sys.executable, "-m", *program, "arena", "serve", "--db", db, "--port", str(self.port)]
        self._command += ["--workers", str(workers), *options]
        self._workers, self._file_limit, self._handles = workers, file_limit, handles
        self._log = open(Path(os.environ.get("TMPDIR", "/tmp")) / f"arena-server-{self.port}.log", "w+")  # noqa: SIM115
        self.process: subprocess.Popen[bytes] | None = None
        self.kills: list[float] = []  # when, by time.time()

    def start(self) -> None:
        env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}

        def limit() -> None:
            if self._file_limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (self._file_limit, resource.RLIM_INFINITY))
            if self._handles is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (self._handles, self._handles))

        self.process = subprocess.Popen(
            self._command, stdout=self._log, stderr=self._log, env=env, start_new_session=True, preexec_fn=limit
        )
        self.wait_until_it_answers()

    def wait_until_it_answers(self) -> None:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/health/live", timeout=5.0):
                    return
            except OSError:
                assert self.process is not None
                if self.process.poll() is not None or time.monotonic() > until:
                    raise AssertionError(f"The server did not start: {self.said()}") from None
                time.sleep(0.05)

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def workers(self) -> list[int]:
        """Processes that serve (with several workers, children of the one that was started)."""
        if self._workers == 1:
            return [self.pid]
        children = [int(pid) for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]
        return [pid for pid in children if b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def kill(self, until_one_waits: Callable[[], None]) -> None:
        """All of it, at once (kill -9).

        It is stopped where it is, and killed once a request waits for it: a quick server might else have answered all that came.
        """
        assert self.process is not None
        os.killpg(self.pid, signal.SIGSTOP)
        until_one_waits()
        self.kills.append(time.time())
        os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()

    def kill_a_worker(self, rng: random.Random) -> None:
        """One of several; the others go on, and it is started anew by the one that watches."""
        alive = self.workers()
        self.kills.append(time.time())
        os.kill(rng.choice(alive), signal.SIGKILL)

    def stop(self) -> None:
        """As an owner stops it."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60.0)

    def raise_file_limit(self) -> None:
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def said(self) -> str:
        self._log.flush()
        return Path(self._log.name).read_text()[-4000:]

    def throw_away(self) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
            self.process.wait()
        self._log.close()
        os.unlink(self._log.name)
