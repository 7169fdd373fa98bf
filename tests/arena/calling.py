"""Calling the application without a network: one event loop in a thread, plain calls outside."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx

from multiduel.arena.journal import connect
from multiduel.arena.service.service import Service
from multiduel.arena.web.app import make_app
from multiduel.arena.web.limits import Limits

THREE = [
    {"name": name, "content": text} for name, text in (("mild", "Good morning."), ("sharp", "Morning!"), ("bitter", "What?"))
]


class Caller:
    """An application on a database in ``folder``, or at a URL. Answers are those of httpx; ``key`` says who calls.

    Without other limits nobody is told to wait: how many requests a test sends in a second depends on the machine.
    """

    def __init__(self, folder: Any, *, limits: Limits | None = None, **words: Any) -> None:
        self.service = Service(connect(folder if isinstance(folder, str) else str(folder / "arena.db")))
        self.app = make_app(self.service, limits=limits or Limits.local(), **words)
        self.access = self.app.access
        self.server_key = self.access.new_key("server")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="multiduel-test-loop", daemon=True)
        self._thread.start()
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000")

    def __call__(self, method: str, path: str, body: Any = None, *, key: str | None = None, **words: Any) -> httpx.Response:
        headers = dict(words.pop("headers", {}))
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        if isinstance(body, bytes | str):
            words["content"] = body
        elif body is not None:
            words["json"] = body
        asked = self._client.request(method, path, headers=headers, **words)
        answer = asyncio.run_coroutine_threadsafe(asked, self._loop).result(60)
        self._client.cookies.clear()  # visitors keep their own
        return answer

    def good(self, method: str, path: str, body: Any = None, **words: Any) -> Any:
        answer = self(method, path, body, **words)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.headers["content-type"].startswith("application/json") else answer.text

    def arena(self, options: Any = THREE, *, raters: str = "secret", contexts: Any = (), **settings: Any) -> tuple[str, str]:
        """A new one, open: its id and its owner's key."""
        body = {
            "name": "taste",
            "options": options,
            "contexts": list(contexts),
            "raters": raters,
            "settings": {"seed": 1, **settings},
        }
        made = self.good("POST", "/arenas", body, key=self.server_key)
        self.good("POST", f"/arenas/{made['arena']}/open", key=made["owner_key"])
        return made["arena"], made["owner_key"]

    def rater(self, arena: str, owner: str, label: str = "", **words: Any) -> str:
        return str(self.good("POST", f"/arenas/{arena}/raters", {"label": label, **words}, key=owner)["key"])

    def ask(self, arena: str, key: str, **body: Any) -> Any:
        return self.good("POST", f"/arenas/{arena}/tickets", body, key=key)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.service.close()
