"""The first thing that every request meets: is it meant for us, is it too much or too often, and what every answer carries."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from multiduel.arena.access import Access, Grant
from multiduel.arena.errors import Forbidden, Unavailable
from multiduel.arena.http.metrics import Metrics
from multiduel.arena.limits import Hosts, Limits, Rate
from multiduel.arena.pages.sessions import cookie_key

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

HEADERS = (  # unless an answer has its own
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)
_TOO_LARGE = "A request body may have at most {:,} bytes here."


class Gate:
    """Around the application. ``scope["grant"]`` is what the caller's key is good for, or None without a key. The key comes from
    the header, or at pages from a cookie."""

    def __init__(self, app: Any, *, access: Access, hosts: Hosts, limits: Limits, metrics: Metrics) -> None:
        self.app, self.access, self.hosts, self.limits, self.metrics = app, access, hosts, limits, metrics
        rates = limits.requests_per_second
        self._rate = Rate(rates, 10.0 * rates) if math.isfinite(rates) else None
        self._wrong = Rate(limits.wrong_keys_per_minute / 60.0, limits.wrong_keys_per_minute)
        self.joins = Rate(limits.joins_per_minute / 60.0, limits.joins_per_minute)
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        answer = Answer(send)
        start = time.perf_counter()
        if self._inside >= self.limits.waiting:
            self.metrics.refused("busy")
            await answer.refuse(503, "The server is busy. Try again in a moment.", wait=1.0)
            return
        self._inside += 1
        try:
            await self._enter(scope, receive, answer)
        finally:
            self._inside -= 1
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.answered(route, _word(scope["method"]), answer.status, time.perf_counter() - start)

    async def _enter(self, scope: Scope, receive: Receive, answer: Answer) -> None:
        headers = dict(scope["headers"])
        many = sum(1 for name, _ in scope["headers"] if name == b"host")
        if many != 1 or not self.hosts.allows(headers[b"host"].decode("latin-1")):
            return await self._refuse(answer, "host", 421, "This server does not go by that name.")
        address = (scope.get("client") or ("unknown", 0))[0]
        caller, now, costly = address, time.monotonic(), False
        key, cookie = _key(headers.get(b"authorization")), None
        if key is None:
            key = cookie = cookie_key(scope["path"], headers.get(b"cookie"))
        if key is not None:
            grant = self.access.remembered(key)
            costly = self.access.costly(key)
            if costly and (wait := self._wrong.wait(address, now=now)):
                return await self._refuse(answer, "key", 429, "Too many wrong keys. Try again later.", wait)
            if grant is not None:
                caller = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
        if self._rate is not None and (wait := self._rate.take(caller, now=now)):
            return await self._refuse(answer, "rate", 429, "Too many requests. Try again later.", wait)
        try:
            scope["grant"] = await self._grant(key)
        except Forbidden as error:
            if costly:
                self._wrong.take(address, now=now)
            if cookie is None:
                return await self._refuse(answer, "key", 401, str(error))
            key, scope["grant"] = None, None  # a page says how to come in
        except Unavailable:
            return await answer.refuse(503, "The server cannot look keys up at the moment. Try again.", wait=1.0)
        scope["key"] = key
        await self._inside_limits(scope, receive, answer, headers)

    async def _grant(self, key: str | None) -> Grant | None:
        if key is None:
            return None
        return self.access.remembered(key) or await asyncio.to_thread(self.access.check, key)

    async def _inside_limits(self, scope: Scope, receive: Receive, answer: Answer, headers: dict[bytes, bytes]) -> None:
        grant: Grant | None = scope["grant"]
        owner = grant is not None and grant.role in ("server", "owner")
        most = self.limits.large_body if owner else self.limits.small_body
        stated = headers.get(b"content-length", b"0")
        if not stated.isdigit() or len(stated) > 18 or int(stated) > most:
            return await self._refuse(answer, "size", 413, _TOO_LARGE.format(most))
        came, whole = 0, False

        async def counted() -> Message:
            nonlocal came, whole
            if whole:
                return await receive()  # until the caller hangs up
            try:
                message = await asyncio.wait_for(receive(), self.limits.patience)
            except TimeoutError:
                answer.instead = 408, "The rest of the request did not come."
                return {"type": "http.disconnect"}
            came += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if came > most:
                answer.instead = 413, _TOO_LARGE.format(most)  # whatever the application makes of a body that ends here
                return {"type": "http.disconnect"}
            return message

        try:
            await self.app(scope, counted, answer)
        except Exception:
            if answer.instead is None:
                if not answer.started:
                    await answer.refuse(500, "Something went wrong here. The server's log has it.")
                raise  # for the server's log
        if answer.instead is not None:
            self.metrics.refused("size" if answer.instead[0] == 413 else "slow")
            if not answer.started:
                await answer.refuse(*answer.instead)

    async def _refuse(self, answer: Answer, why: str, status: int, sentence: str, wait: float = 0.0) -> None:
        self.metrics.refused(why)
        await answer.refuse(status, sentence, wait=wait)


class Answer:
    """``send`` that adds the headers of every answer, and knows what was sent."""

    def __init__(self, send: Send) -> None:
        self._send, self.status, self.started = send, 500, False
        self.instead: tuple[int, str] | None = None  # status and sentence that take the place of what the application says

    async def __call__(self, message: Message) -> None:
        if self.instead is None:
            await self._pass(message)

    async def _pass(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started, self.status = True, message["status"]
            headers = list(message.get("headers", ()))
            present = {name.lower() for name, _ in headers}
            message["headers"] = [*headers, *((name, value) for name, value in HEADERS if name not in present)]
        await self._send(message)

    async def refuse(self, status: int, sentence: str, *, wait: float = 0.0) -> None:
        body = json.dumps({"error": sentence}).encode("utf-8")
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if wait:
            headers.append((b"retry-after", str(math.ceil(wait)).encode()))
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        if status in (408, 413, 421):
            headers.append((b"connection", b"close"))  # the rest of the body is not read
        await self._pass({"type": "http.response.start", "status": status, "headers": headers})
        await self._pass({"type": "http.response.body", "body": body})


def _key(header: bytes | None) -> str | None:
    """The key of "Authorization: Bearer KEY"."""
    if header is None:
        return None
    kind, _, key = header.decode("latin-1").partition(" ")
    return key.strip() if kind.lower() == "bearer" else ""


def _word(method: str) -> str:
    return method if method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS") else "other"
