"""The server: uvicorn around the application. On this machine only, unless it is told to be public."""

from __future__ import annotations

import json
import math
import os
import socket
import sys
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from multiduel.arena.limits import Limits, host_name
from multiduel.inputs import BadInput, whole

if TYPE_CHECKING:
    from multiduel.arena.http.gate import Gate

SETUP = "MULTIDUEL_ARENA_SETUP"  # how workers are told what to serve
MOST_WORKERS = 64


@dataclass(frozen=True)
class Setup:
    db: str
    host: str = "127.0.0.1"
    port: int = 8000
    public: bool = False
    hosts: tuple[str, ...] = ()  # names that requests may be addressed to, besides those of this machine
    workers: int = 1

    def checked(self) -> Setup:
        whole("port", self.port, 0, 65535, of="arena serve")
        whole("workers", self.workers, 1, MOST_WORKERS, of="arena serve")
        if self.workers > 1 and not is_postgres(self.db):
            raise BadInput(
                "Several workers need PostgreSQL (--db postgresql://...): SQLite has one writer at a time, so that more of them "
                "gain nothing."
            )
        if self.workers > 1 and self.port == 0:
            raise BadInput("Several workers need a port that is known. Give '--port'.")
        if not self.public and self.host not in ("127.0.0.1", "localhost", "::1"):
            raise BadInput(f"Without '--public' the server listens on this machine only. Got '--host {self.host}'.")
        if self.public and not self.hosts:
            raise BadInput("A public server must know its name: give '--name arena.example', as in the URLs that people open.")
        return replace(self, hosts=tuple(map(host_name, self.hosts)))

    def limits(self) -> Limits:
        """On this machine only wrong keys are counted: whoever can connect could as well keep it busy otherwise."""
        return Limits() if self.public else Limits(requests_per_second=math.inf)


def is_postgres(db: str) -> bool:
    return db.startswith(("postgresql://", "postgres://"))


def prepare(setup: Setup) -> list[str]:
    """Whatever must be so before the server starts; what there is to say to the one who starts it."""
    from multiduel.arena.access import Access
    from multiduel.arena.journal import connect

    journal = connect(setup.db)
    try:
        access = Access(journal.secrets)
        known = access.any("server")
        if setup.public:
            if not known:
                raise BadInput("A public server needs a key before it starts. Make one with: multiduel arena key --db DB.")
            limits = setup.limits()
            return [
                f"Public: listens on {setup.host}, answers to the names {', '.join(setup.hosts)} only,",
                f"at most {limits.requests_per_second:g} requests a second and {limits.wrong_keys_per_minute:g} wrong keys a "
                "minute from one address (by each worker),",
                f"bodies of at most {limits.small_body:,} bytes without an owner's key, /metrics with the server's key only.",
                "It speaks plain HTTP: put a proxy with TLS in front of it, or keys travel in the open.",
            ]
        if known:
            return []
        return [f"Server's key, shown once (more with 'multiduel arena key'): {access.new_key('server')}"]
    finally:
        journal.close()


def application() -> Gate:
    """What a worker serves."""
    from multiduel.arena.http.app import make_app
    from multiduel.arena.journal import connect
    from multiduel.arena.service import Service

    if SETUP not in os.environ:
        raise BadInput(f"{SETUP} is not set: start the server with 'multiduel arena serve'.")
    setup = Setup(**json.loads(os.environ[SETUP]))
    return make_app(Service(connect(setup.db)), hosts=setup.hosts, limits=setup.limits(), public=setup.public)


def serve(setup: Setup, say: Any = print) -> None:
    """Serve until told to stop (Ctrl-C, SIGTERM). Says where, once it listens."""
    try:
        import uvicorn
    except ImportError:
        raise BadInput("The server needs more packages: pip install 'multiduel[arena]'.") from None
    setup = setup.checked()
    for line in prepare(setup):
        say(line)
    os.environ[SETUP] = json.dumps(asdict(setup))
    words: dict[str, Any] = {
        "factory": True,
        "host": setup.host,
        "port": setup.port,
        "log_level": "warning",
        "access_log": False,  # its lines would hold ids of tickets, which are secrets
        "server_header": False,
        "date_header": False,
        "proxy_headers": setup.public,  # of a proxy on this machine only
        "limit_concurrency": 4_000,  # connections; more are answered 503
        "timeout_keep_alive": 75,
        "timeout_graceful_shutdown": 10,
        "h11_max_incomplete_event_size": 32_768,
        "loop": "asyncio",
        "http": "h11",
        "ws": "none",
    }
    if setup.workers > 1:
        say(f"http://{_shown(setup.host)}:{setup.port}, {setup.workers} workers (Ctrl-C stops it)")
        sys.stdout.flush()
        uvicorn.run("multiduel.arena.serve:application", workers=setup.workers, **words)
        return
    listening = _listen(setup.host, setup.port)
    say(f"http://{_shown(setup.host)}:{listening.getsockname()[1]} (Ctrl-C stops it)")
    sys.stdout.flush()
    server = uvicorn.Server(uvicorn.Config("multiduel.arena.serve:application", **words))
    server.run(sockets=[listening])


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else "127.0.0.1" if host == "0.0.0.0" else host


def _listen(host: str, port: int) -> socket.socket:
    """A socket that is ours before anything slow happens: who connects early is answered, not refused."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048)
    except OSError as error:
        raise BadInput(f"Port {port} of {host} cannot be used: {error.strerror or error}.") from None
