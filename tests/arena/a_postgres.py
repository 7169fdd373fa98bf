"""A PostgreSQL of one's own for a test: Debian's package, started as an unprivileged user in a folder that is thrown away."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))


def why_not() -> str:
    """Why there is no PostgreSQL here, for those who skip and say so; empty if there is one."""
    if not PROGRAMS:
        return "PostgreSQL is not installed (Debian: apt-get install postgresql)"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed (pip install 'multiduel[postgres]')"
    return ""


class Postgres:
    """Listens on a socket in its folder only; many may run side by side."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path must be short
        self._bin = PROGRAMS[-1].parent
        self._as: list[str] = []
        if os.getuid() == 0:  # it refuses to run as root
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]
        self._run("initdb", "-D", f"{self.folder}/data", "-U", "arena", "--auth=trust", "--no-sync", "--encoding=UTF8")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://arena@/postgres?host={self.folder}"

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c max_connections=100"
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-t", "120", "-l", f"{self.folder}/log", "-o", options, "start")

    def crash(self) -> None:
        """At once, nothing tidied up: what it called committed must be there after a recovery."""
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", "immediate", "stop")

    def keep(self, name: str) -> None:
        """Stop, copy the data directory, and go on: a backup, or a copy that lags from now on."""
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", "fast", "stop")
        shutil.rmtree(self.folder / name, ignore_errors=True)
        self._run("/bin/cp", "-a", f"{self.folder}/data", f"{self.folder}/{name}")
        self.start()

    def put_back(self, name: str) -> None:
        """Let the copy take over."""
        self.crash()
        shutil.rmtree(self.folder / "data")
        self._run("/bin/cp", "-a", f"{self.folder}/{name}", f"{self.folder}/data")
        self.start()

    def throw_away(self) -> None:
        self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *words: str) -> None:
        command = [*self._as, str(self._bin / program), *words]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd="/", check=False)
        if done.returncode != 0:
            log = self.folder / "log"
            raise RuntimeError(f"{program} failed: {done.stderr} {log.read_text() if log.exists() else ''}")


@contextmanager
def a_postgres() -> Iterator[Postgres]:
    postgres = Postgres()
    try:
        yield postgres
    finally:
        postgres.throw_away()
