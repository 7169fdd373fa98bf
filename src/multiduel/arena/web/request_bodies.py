"""The body of a request as it arrives: how large, how slow, and how many slow ones from one address."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from multiduel.arena.web.limits import Limits, Shares

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

BUSY = "The server is busy. Try again in a moment."
TOO_LARGE = "A request body may have at most {:,} bytes here."
_GONE: Message = {"type": "http.disconnect"}


class Body:
    """``receive`` of one request, within limits. ``refusal`` is the status and sentence with which it ended, if it did.

    A request gives its place among those that wait (``inside``) back while it waits for its body, and takes it again only when a
    part has come: callers who send slowly keep nobody else out, not even when many of them are refused at once.
    """

    def __init__(self, receive: Receive, address: str, most: int, limits: Limits, *, inside: Shares, slow: Shares) -> None:
        self._receive, self._address, self._most, self._limits = receive, address, most, limits
        self._inside, self._slow = inside, slow
        self._came, self._whole, self._is_slow, self._start = 0, False, False, time.monotonic()
        self._outside = False
        self.refusal: tuple[int, str] | None = None

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()  # until the caller hangs up
        self._leave()
        try:
            message = await self._next()
        except TimeoutError:
            self.refusal = self.refusal or (408, "The rest of the request did not come.")
            return _GONE  # still outside: the application may take a while to notice
        self._return()
        self._came += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._came > self._most:
            self.refusal = 413, TOO_LARGE.format(self._most)  # whatever the application makes of a body that ends here
        elif self._whole and self._inside.full(self._address):
            self.refusal = 503, BUSY
        return message if self.refusal is None else _GONE

    async def _next(self) -> Message:
        """The next part, or TimeoutError. A body that is not whole soon takes a place among the slow ones of its address."""
        limits, now = self._limits, time.monotonic()
        until = min(now + limits.patience, self._start + limits.body_seconds + self._came / limits.least_rate)
        if not self._is_slow:
            soon = min(until, self._start + limits.quick_body)
            try:
                return await asyncio.wait_for(self._receive(), max(soon - now, 0.0))
            except TimeoutError:
                if soon == until or not self._slow.take(self._address):
                    raise
                self._is_slow = True
        return await asyncio.wait_for(self._receive(), max(until - time.monotonic(), 0.0))

    def _leave(self) -> None:
        if not self._outside:
            self._inside.give_back(self._address)
            self._outside = True

    def _return(self) -> None:
        if self._outside:
            self._inside.add(self._address)
            self._outside = False

    def close(self) -> None:
        """Give back the place among slow bodies, and take the one among those that wait again: the gate gives that back."""
        self._return()
        if self._is_slow:
            self._slow.give_back(self._address)
            self._is_slow = False
