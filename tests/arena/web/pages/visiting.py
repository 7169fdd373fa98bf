"""Visiting the pages: an application without a network for what needs no browser, a real server with chromium for the rest."""

from __future__ import annotations

import re
import shutil
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from multiduel.arena import AdmitRater, Create, Open, Service, Settings, connect
from multiduel.arena.domain.notices import Allowed
from multiduel.arena.domain.options import Option, make_content
from multiduel.arena.web.access import Access
from multiduel.arena.web.app import make_app
from multiduel.arena.web.notifier import Notifier
from multiduel.arena.web.pages.demo import Demo
from tests.arena.calling import Caller

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
NAMES = ("mild", "sharp", "bitter", "sweet", "salty")


def texts(n: int) -> list[Option]:
    return [Option(NAMES[k], (make_content("text", f"This is answer number {k}."),)) for k in range(n)]


def enter(page: Any, link: str) -> None:
    """In a real browser: follow a link, and press its button."""
    page.goto(link)
    page.locator("main button.main").click()


class Visitor:
    """A browser without scripts: keeps cookies, follows links, fills in forms."""

    def __init__(self, call: Caller) -> None:
        self.call, self.cookies = call, dict[str, tuple[str, str]]()
        ready = call.app.app.pages.state.app_context.ready
        if not ready.is_set():
            call.service.warm()  # however long that takes: calls have a limit
            ready.set()

    def __call__(self, method: str, path: str, fields: Any = None, *, headers: Any = (), follow: bool = True) -> httpx.Response:
        sent = "; ".join(f"{name}={value}" for name, (value, under) in self.cookies.items() if path.startswith(under))
        heads = {"Cookie": sent, **dict(headers)} if sent else dict(headers)
        words = {"data": fields} if fields is not None and not isinstance(fields, bytes) else {"content": fields or b""}
        answer = self.call(method, path, headers=heads, **words)
        for line in answer.headers.get_list("set-cookie"):
            name, value = line.split(";")[0].split("=", 1)
            self.cookies[name] = (value, re.search(r"Path=([^;]+)", line)[1])
        if follow and answer.status_code == 303:
            return self("GET", answer.headers["location"])
        return answer

    def enter(self, key: str, **fields: str) -> httpx.Response:
        return self("POST", "/k", {"key": key, "request": "one-and-only-one", **fields})

    def token(self, page: str) -> str:
        return re.search(r'name="token" value="([0-9a-f]+)"', page)[1]


class House:
    """A server on a free port of this machine, and how to furnish it."""

    def __init__(self, folder: Path, notify: Iterable[str] = (), accounts: Any = None, demo: bool = False) -> None:
        import uvicorn

        self.service = Service(connect(str(folder / "arena.db")))
        self.access = Access(self.service.journal.secrets)
        self.notifier = Notifier(self.service, Allowed(notify))
        self.demo = Demo(self.service) if demo else None
        self.app = make_app(self.service, notifier=self.notifier if notify else None, accounts=accounts, demo=self.demo)
        self.app_context = self.app.app.pages.state.app_context
        listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        words = {"log_level": "warning", "access_log": False, "timeout_graceful_shutdown": 1, "loop": "asyncio", "http": "h11"}
        self._server = uvicorn.Server(uvicorn.Config(self.app, **words))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]}, daemon=True)
        self._thread.start()
        assert self.app_context.ready.wait(300), "the kernels were not loaded"

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)

    def arena(self, options: Any = 3, *, name: str = "taste", contexts: Any = (), **settings: Any) -> str:
        listed = texts(options) if isinstance(options, int) else options
        made = self.service.do(Create(name, Settings(**{"seed": 3, "slate_size": 3} | settings), listed, contexts))
        self.service.do(Open(made.id))
        return made.id

    def rater(self, arena: str, label: str = "") -> tuple[str, str]:
        """Its id, and the link that it is given."""
        rater = self.service.do(AdmitRater(arena, label))
        return rater, f"{self.url}/k/{self.access.new_key('rater', arena=arena, rater=rater)}"

    def link(self, arena: str, role: str = "owner") -> str:
        return f"{self.url}/k/{self.access.new_key(role, arena=arena)}"

    def votes(self, arena: str) -> list[dict[str, Any]]:
        """Bodies of the votes in the log."""
        return [event.body for event in self.service.events(arena) if event.kind == "vote"]

    def said(self, arena: str) -> list[Any]:
        """Each vote's order, in words: the names of the options, best first."""
        with self.service.look(arena) as state:
            shown = {ticket.id: [state.options[k].name for k in ticket.shown] for ticket in state.tickets.values()}
        return [
            [[shown[vote["ticket"]][p] for p in group] for group in vote["ballot"].get("rank", [])] for vote in self.votes(arena)
        ]


@contextmanager
def a_house(folder: Path, notify: Iterable[str] = (), accounts: Any = None, demo: bool = False) -> Iterator[House]:
    house = House(folder, notify, accounts, demo)
    try:
        yield house
    finally:
        house.close()
