"""The server: uvicorn around the application. On this machine only, unless it is told to be public."""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from multiduel.arena.domain.notices import Allowed
from multiduel.arena.web.limits import Limits, host_name
from multiduel.inputs import BadInput, install, whole

if TYPE_CHECKING:
    from multiduel.arena.web.accounts import Accounts
    from multiduel.arena.web.gate import Gate
    from multiduel.arena.web.notifier import Mail

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
    plugins: tuple[str, ...] = ()  # policies that arenas may name, besides those that come with multiduel
    changes: tuple[str, ...] = ()  # limits that are not the usual ones, as NAME=VALUE
    notify: tuple[str, ...] = ()  # where owners may be told of results: https://HOST, or @DOMAIN for mail
    smtp: str = ""  # the mail server, without its password
    mail_from: str = ""
    oidc_issuer: str = ""  # where people sign in with accounts, if anywhere
    oidc_client: str = ""
    oidc_admins: tuple[str, ...] = ()
    oidc_domains: tuple[str, ...] = ()
    oidc_hours: float = 12.0
    oidc_trust_mail: bool = False

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
        self.limits()  # refuses what is none
        self.notices()
        self.accounts()
        return replace(self, hosts=tuple(map(host_name, self.hosts)))

    def limits(self) -> Limits:
        """Return what callers may do here."""
        return (Limits() if self.public else Limits.local()).changed(self.changes)

    def notices(self) -> tuple[Allowed, Mail | None]:
        """Return where owners may be told of results, and by which mail server."""
        from multiduel.arena.web.notifier import Mail

        if bool(self.smtp) != bool(self.mail_from):
            raise BadInput("Mail needs both '--smtp' and '--mail-from'.")
        return Allowed(self.notify), Mail(self.smtp, self.mail_from) if self.smtp else None

    def accounts(self) -> Accounts | None:
        """Return the provider whose accounts may sign in; None if there is none."""
        from multiduel.arena.web.accounts import SECRET, Accounts, Provider

        if not self.oidc_issuer:
            if self.oidc_client or self.oidc_admins or self.oidc_domains:
                raise BadInput("Sign-in with accounts needs '--oidc-issuer', the provider's URL.")
            return None
        rights = (tuple(self.oidc_admins), tuple(self.oidc_domains), self.oidc_hours, self.oidc_trust_mail)
        return Accounts(Provider(self.oidc_issuer, self.oidc_client, *rights), os.environ.get(SECRET, ""))


def is_postgres(db: str) -> bool:
    return db.startswith(("postgresql://", "postgres://"))


def load_plugins(names: Iterable[str]) -> None:
    """Load the plug-ins that the operator typed. From then on arenas may use them, by the names that they register."""
    from multiduel.engine.registry.registry import load_plugin

    for name in names:
        load_plugin(name)


def prepare(setup: Setup) -> list[str]:
    """Whatever must be so before the server starts; what there is to say to the one who starts it."""
    from multiduel.arena.journal import connect
    from multiduel.arena.web.access import Access
    from multiduel.arena.web.account_rights import end_sessions_of_former_admins

    journal = connect(setup.db)
    try:
        access = Access(journal.secrets)
        end_sessions_of_former_admins(access, [one.lower() for one in setup.oidc_admins])
        known = access.any("server")
        if setup.public:
            if not known:
                raise BadInput("A public server needs a key before it starts. Make one with: multiduel arena keys new --db DB.")
            limits = setup.limits()
            return [
                f"Public: listens on {setup.host}, answers to the names {', '.join(setup.hosts)} only,",
                f"at most {limits.requests_per_second:g} requests a second from one address without a key or with an owner's,",
                f"{limits.rater_requests_per_second:g} from one rater, {limits.raters_requests_per_second:g} from all raters of "
                f"one address, {limits.wrong_keys_per_minute:g} wrong keys a minute from one address (by each worker),",
                f"at most {limits.connections_per_address:,} connections from one address (a proxy on this machine: "
                f"{limits.connections:,}),",
                f"bodies of at most {limits.small_body:,} bytes without an owner's key, /metrics with the server's key only.",
                "It speaks plain HTTP: put a proxy with TLS in front of it, or keys travel in the open.",
            ]
        if known:
            return []
        return [f"Server's key, shown once (more with 'multiduel arena keys new'): {access.new_key('server', by='first start')}"]
    finally:
        journal.close()


def application() -> Gate:
    """What a worker serves."""
    from multiduel.arena.journal import connect
    from multiduel.arena.service.service import Service
    from multiduel.arena.web.app import make_app
    from multiduel.arena.web.notifier import Notifier

    if SETUP not in os.environ:
        raise BadInput(f"{SETUP} is not set: start the server with 'multiduel arena serve'.")
    setup = Setup(**json.loads(os.environ[SETUP]))
    share_evenly()
    load_plugins(setup.plugins)
    service, (allowed, mail) = Service(connect(setup.db)), setup.notices()
    site = f"https://{setup.hosts[0]}" if setup.hosts else ""
    notifier = Notifier(service, allowed, mail, site=site) if setup.notify else None
    words: dict[str, Any] = {"public": setup.public, "notifier": notifier, "accounts": setup.accounts()}
    return make_app(service, hosts=setup.hosts, limits=setup.limits(), **words)


def share_evenly() -> None:
    """Let threads take short turns, and seldom look through all objects for garbage: both would stop everyone's votes."""
    sys.setswitchinterval(0.001)
    gc.set_threshold(50_000, 20, 100)


def serve(setup: Setup, say: Any = print) -> None:
    """Serve until told to stop (Ctrl-C, SIGTERM). Says where, once it listens."""
    try:
        import uvicorn

        from multiduel.arena.web.connections import raise_handles
        from multiduel.arena.web.protocol import server_words
    except ImportError:
        raise BadInput(f"The server needs more packages: {install('arena')}.") from None
    setup = setup.checked()
    load_plugins(setup.plugins)  # before any journal is read; what is wrong with one is said here
    for line in prepare(setup):
        say(line)
    os.environ[SETUP] = json.dumps(asdict(setup))
    raise_handles()  # workers inherit them
    words: dict[str, Any] = {
        **server_words(setup.limits()),
        "factory": True,
        "host": setup.host,
        "port": setup.port,
        "proxy_headers": setup.public,  # of a proxy on this machine only
        "timeout_graceful_shutdown": 10,
    }
    if setup.workers > 1:
        say(f"http://{_shown(setup.host)}:{setup.port}, {setup.workers} workers (Ctrl-C stops it)")
        sys.stdout.flush()
        # uvicorn replaces a worker that says nothing for so long: with its 5 s, one that starts on a busy machine is never ready
        words["timeout_worker_healthcheck"] = 60
        uvicorn.run("multiduel.arena.web.serve:application", workers=setup.workers, **words)
        return
    listening = _listen(setup.host, setup.port)
    say(f"http://{_shown(setup.host)}:{listening.getsockname()[1]} (Ctrl-C stops it)")
    sys.stdout.flush()
    server = uvicorn.Server(uvicorn.Config("multiduel.arena.web.serve:application", **words))
    server.run(sockets=[listening])


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else "127.0.0.1" if host == "0.0.0.0" else host


def _listen(host: str, port: int) -> socket.socket:
    """A socket that is ours before anything slow happens: who connects early is answered, not refused."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048)
    except OSError as error:
        raise BadInput(f"Port {port} of {host} cannot be used: {error.strerror or error}.") from None
