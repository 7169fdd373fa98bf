"""The first thing that every request meets: is it meant for us, is it too much or too often, and what every answer carries."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.requests import ClientDisconnect

from multiduel.arena.domain.errors import Forbidden, TooOften, Unavailable
from multiduel.arena.web.access import Grant
from multiduel.arena.web.connections import Connections
from multiduel.arena.web.context import AppContext
from multiduel.arena.web.limits import Hosts, Limits, Rate, Shares, network_of
from multiduel.arena.web.request_bodies import BUSY, TOO_LARGE, Body, Message, Receive
from multiduel.arena.web.sessions import cookie_key

Scope = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

HEADERS = (  # unless an answer has its own
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)
log = logging.getLogger("multiduel.arena")
HUNG_UP = 499  # in the metrics only: whoever asked is not there to read a status


class Gate:
    """Around the application. ``scope["grant"]`` is what the caller's key is good for, or None without a key. The key comes from
    the header, or at pages from a cookie."""

    def __init__(self, app: Any, *, app_context: AppContext, hosts: Hosts) -> None:
        self.app, self.hosts, self.keys, self.access = app, hosts, app_context.keys, app_context.access
        self.limits, self.metrics = app_context.limits, app_context.metrics
        self.connections = Connections(self.limits)
        self._rates = Rates(self.limits)
        self._inside = Shares(self.limits.waiting, each=self.limits.waiting_per_address)
        self._slow = Shares(self.limits.connections, each=self.limits.slow_bodies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                scope.setdefault("state", {})["connections"] = self.connections  # where connections find it: see protocol.py
                await self.app(scope, receive, send)
            return
        answer = Answer(send)
        start = time.perf_counter()
        address = network_of((scope.get("client") or ("unknown", 0))[0])
        if not self._inside.take(address):
            self.metrics.refused("busy")
            await answer.refuse(503, BUSY, wait=1.0)
            return
        try:
            await self._enter(scope, receive, answer, address)
        finally:
            self._inside.give_back(address)
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.answered(route, _word(scope["method"]), answer.status, time.perf_counter() - start)

    async def _enter(self, scope: Scope, receive: Receive, answer: Answer, address: str) -> None:
        headers = dict(scope["headers"])
        many = sum(1 for name, _ in scope["headers"] if name == b"host")
        if many != 1 or not self.hosts.allows(headers[b"host"].decode("latin-1")):
            return await self._refuse(answer, "host", 421, "This server does not go by that name.")
        if not scope["path"].isprintable() and any(letter < " " or letter == "\x7f" for letter in scope["path"]):
            return await self._refuse(answer, "path", 400, "A path has no line breaks and no other control characters.")
        key, cookie = _key(headers.get(b"authorization")), None
        if key is None:
            key = cookie = cookie_key(scope["path"], headers.get(b"cookie"))
        known = self.access.remembered(key) if key is not None else None
        if wait := self._rates.take(address, key, known):
            return await self._refuse(answer, "rate", 429, "Too many requests. Try again later.", wait)
        try:
            scope["grant"] = known or (await self.keys.grant(key, address) if key is not None else None)
        except TooOften as error:
            return await self._refuse(answer, "key", 429, str(error), error.wait)
        except Forbidden as error:
            if cookie is None:
                return await self._refuse(answer, "key", 401, str(error))
            key, scope["grant"] = None, None  # a page says how to come in
        except Unavailable:
            return await answer.refuse(503, "The server cannot look keys up at the moment. Try again.", wait=1.0)
        scope["key"] = key
        await self._inside_limits(scope, receive, answer, headers, address)

    async def _inside_limits(
        self, scope: Scope, receive: Receive, answer: Answer, headers: dict[bytes, bytes], address: str
    ) -> None:
        grant: Grant | None = scope["grant"]
        owner = grant is not None and grant.role in ("server", "owner")
        most = self.limits.large_body if owner else self.limits.small_body
        stated = headers.get(b"content-length", b"0")
        if not stated.isdigit() or len(stated) > 18 or int(stated) > most:
            return await self._refuse(answer, "size", 413, TOO_LARGE.format(most))
        body = answer.body = Body(receive, address, most, self.limits, inside=self._inside, slow=self._slow)
        try:
            await self.app(scope, body, answer)
        except ClientDisconnect:
            if body.refusal is None:
                log.debug("A caller hung up before the end of its request.")
                answer.status = HUNG_UP
        except Exception:
            if body.refusal is None:
                if not answer.started:
                    await answer.refuse(500, "Something went wrong here. The server's log has it.")
                raise  # for the server's log
        finally:
            body.close()
        if body.refusal is not None:
            self.metrics.refused({413: "size", 408: "slow"}.get(body.refusal[0], "busy"))
            if not answer.started:
                await answer.refuse(*body.refusal, wait=1.0 if body.refusal[0] == 503 else 0.0)

    async def _refuse(self, answer: Answer, why: str, status: int, sentence: str, wait: float = 0.0) -> None:
        self.metrics.refused(why)
        await answer.refuse(status, sentence, wait=wait)


class Rates:
    """How often each caller asks. An owner's key has a rate of its own, so has a rater, whichever key and address are used; the
    raters of one address share another, and so do requests of one address without a known key."""

    def __init__(self, limits: Limits) -> None:
        self._callers = _rate(limits.requests_per_second)
        self._raters = _rate(limits.rater_requests_per_second)
        self._addresses = _rate(limits.raters_requests_per_second)

    def take(self, address: str, key: str | None, grant: Grant | None) -> float:
        """Return the seconds to wait, 0 if none."""
        now = time.monotonic()
        if grant is not None and grant.role == "rater":
            return self._rater(f"{grant.arena} {grant.rater}", address, now)
        if key is None or grant is None:
            return _taken(self._callers, address, now)
        return _taken(self._callers, hashlib.sha256(key.encode("utf-8", "replace")).hexdigest(), now)

    def _rater(self, rater: str, address: str, now: float) -> float:
        """The rater's own rate is first: what one rater asks too often is not taken from the others of an office."""
        if wait := _taken(self._raters, rater, now):
            return wait
        if (wait := _taken(self._addresses, address, now)) and self._raters is not None:
            self._raters.give_back(rater, now=now)
        return wait


def _rate(per_second: float) -> Rate | None:
    return Rate(per_second, 10.0 * per_second) if math.isfinite(per_second) else None


def _taken(rate: Rate | None, caller: str, now: float) -> float:
    return 0.0 if rate is None else rate.take(caller, now=now)


class Answer:
    """``send`` that adds the headers of every answer, and knows what was sent."""

    def __init__(self, send: Send) -> None:
        self._send, self.status, self.started = send, 500, False
        self.body: Body | None = None  # if it was refused, that takes the place of what the application says

    async def __call__(self, message: Message) -> None:
        if self.body is None or self.body.refusal is None:
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
