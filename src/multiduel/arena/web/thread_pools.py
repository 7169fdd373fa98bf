"""Threads for what may wait or take long: so many at a time for one arena, so that no arena takes the threads of all."""

from __future__ import annotations

import asyncio
import functools
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from multiduel.arena.domain.errors import TooOften
from multiduel.arena.service.writers import harmless

T = TypeVar("T")
WAIT = 2.0  # seconds after which one who was refused may try again


@dataclass
class Lane:
    """The work of one arena."""

    running: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)


class Lanes:
    """A pool of threads with a lane per arena. Called from the event loop only.

    Parameters
    ----------
    name
        Of the threads.
    threads
        In all.
    at_once
        For one arena at the same time.
    waiting
        Calls of one arena that may wait for their turn; more are refused.
    """

    def __init__(self, name: str, *, threads: int, at_once: int, waiting: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._at_once, self._waiting = at_once, waiting
        self._lanes: dict[str, Lane] = {}

    async def run(self, arena: str, function: Callable[..., T], /, *arguments: Any, patient: bool = False, **words: Any) -> T:
        """Call the function in a thread when it is this arena's turn. Who is ``patient`` is never refused."""
        lane = self._lanes.setdefault(arena, Lane())
        if lane.running >= self._at_once:
            if len(lane.waiting) >= self._waiting and not patient:
                raise TooOften("This arena has more to do than it can at the moment. Try again in a few seconds.", WAIT)
            await self._turn(lane)
        else:
            lane.running += 1
        loop = asyncio.get_running_loop()
        try:
            future = self._pool.submit(_safely, functools.partial(function, *arguments, **words))
        except BaseException:
            self._leave(arena, lane)
            raise
        future.add_done_callback(functools.partial(self._left, loop, arena, lane))
        return await asyncio.wrap_future(future)

    async def _turn(self, lane: Lane) -> None:
        """Wait until another leaves, who hands the turn over."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lane.waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on(lane)
            else:
                lane.waiting.remove(turn)
            raise

    def _left(self, loop: asyncio.AbstractEventLoop, arena: str, lane: Lane, future: Future[Any]) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(self._leave, arena, lane)

    def _leave(self, arena: str, lane: Lane) -> None:
        self._pass_on(lane)
        if not lane.running and self._lanes.get(arena) is lane:
            del self._lanes[arena]

    def _pass_on(self, lane: Lane) -> None:
        while lane.waiting:
            turn = lane.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        lane.running -= 1

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _safely(function: Callable[[], T]) -> T:
    """SystemExit from a thread, such as a plug-in's, would end the server."""
    try:
        return function()
    except Exception:
        raise
    except BaseException as error:
        raise harmless(error) from error
