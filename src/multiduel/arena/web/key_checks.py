"""Checks keys for the gate and for the page where a key is entered, a few costly ones at a time."""

from __future__ import annotations

import asyncio
import time

from multiduel.arena.domain.errors import Forbidden, TooOften, Unavailable
from multiduel.arena.web.access import Access, Grant
from multiduel.arena.web.limits import Limits, Rate


class KeyChecks:
    """A key whose check takes hard work (an owner's) counts as wrong from before it is hashed until it turned out to be good:
    many wrong keys sent at once are refused like many sent in a row. Requests with the same key wait for the same check."""

    def __init__(self, access: Access, limits: Limits) -> None:
        self._access, self._most = access, limits.key_checks + limits.key_checks_waiting
        self._wrong = Rate(limits.wrong_keys_per_minute / 60.0, limits.wrong_keys_per_minute)
        self._at_a_time = asyncio.Semaphore(limits.key_checks)
        self._running: dict[str, asyncio.Task[Grant]] = {}

    async def grant(self, key: str, address: str) -> Grant:
        """Return what a key is good for.

        Raises
        ------
        Forbidden
            If the key is not known.
        TooOften
            If its address sent too many wrong keys.
        Unavailable
            If too many checks wait, or the keys cannot be read.
        """
        if (known := self._access.remembered(key)) is not None:
            return known
        if not self._access.costly(key):
            return await asyncio.to_thread(self._access.check, key)
        task = self._running.get(key)
        if task is None:
            if len(self._running) >= self._most:
                raise Unavailable("Too many keys are being checked.")
            if wait := self._wrong.take(address, now=time.monotonic()):
                raise TooOften("Too many wrong keys. Try again later.", wait)
            task = self._running[key] = asyncio.create_task(self._checked(key, address))
            task.add_done_callback(lambda done: self._forget(key, done))
        return await asyncio.shield(task)  # whoever hangs up ends the check for nobody else

    async def _checked(self, key: str, address: str) -> Grant:
        try:
            async with self._at_a_time:
                grant = await asyncio.to_thread(self._access.check, key)
        except Forbidden:
            raise
        except BaseException:
            self._wrong.give_back(address, now=time.monotonic())
            raise
        self._wrong.give_back(address, now=time.monotonic())
        return grant

    def _forget(self, key: str, done: asyncio.Task[Grant]) -> None:
        del self._running[key]
        if not done.cancelled():
            done.exception()  # seen, if all who waited have hung up
