"""Writers: the threads that carry out commands. Commands of one arena keep their order; no arena waits for another's."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from multiduel.arena.domain.errors import Unavailable

LOG = logging.getLogger(__name__)
WRITERS = 8  # arenas that are written at the same time, at most
LONG = 3  # of them with long commands, such as imports: the other writers are there for votes
AT_ONCE = 2  # short groups that have just begun, at most: more would share out the votes, and each costs a transaction
SLOW = 0.005  # seconds after which a group probably waits for the database, so that another one may begin
NO_WRITER = 10.0  # seconds that an arena may wait for its turn, before the server counts as stuck
NO_END = 60.0  # seconds that a writer may spend on one group of commands, before the server counts as stuck
ENDED = "A writer thread has ended, which must not happen: the server's log says why. Restart the server."

Waiting = tuple[Any, "Future[Any]"]  # a command, and where its answer goes
More = Callable[[], list[Waiting]]  # commands that came meanwhile, for the same group


class Queued(NamedTuple):
    command: Any
    future: Future[Any]
    since: float
    long: bool


@dataclass(eq=False)
class Writer:
    """A thread, and what it does at the moment."""

    thread: threading.Thread | None = None
    arena: str | None = None
    group: list[Waiting] = field(default_factory=list)
    long: bool = False
    began: float = 0.0


class Writers:
    """Started when they are needed. An arena is served by one of them at a time, and then goes to the end of the line.

    Parameters
    ----------
    carry_out
        Called with an arena, commands of it, and a function that returns those that came meanwhile, if they may join; answers
        their futures. Whatever it raises is the answer to those still open.
    rest
        Called while no command waits, ``pause`` seconds after the last one.
    together
        Commands that are carried out at once, at most.
    is_long
        Whether a command may take seconds. Such commands are carried out one by one.
    """

    def __init__(
        self,
        carry_out: Callable[[str, list[Waiting], More], None],
        rest: Callable[[], None],
        *,
        pause: float,
        together: int,
        is_long: Callable[[Any], bool],
    ) -> None:
        self._carry_out, self._rest, self._is_long = carry_out, rest, is_long
        self._pause, self._together = pause, together
        self._news = threading.Condition()
        self._queues: dict[str, deque[Queued]] = {}  # by arena
        self._ready: OrderedDict[str, None] = OrderedDict()  # arenas that wait for a writer, the longest waiting first
        self._writers: list[Writer] = []
        self._idle = 0
        self._watched = False  # whether a writer wakes up by itself when another group may begin
        self._rested = True
        self._closed = False
        self._ended = ""  # why a thread ended that should not have

    def submit(self, arena: str, command: Any) -> Future[Any]:
        """Queue a command. Refusals and failures are the future's exception."""
        future: Future[Any] = Future()
        long = self._is_long(command)
        with self._news:
            if self._closed:
                raise Unavailable("The service is closed.")
            if self._ended:
                raise Unavailable(ENDED)
            self._queues.setdefault(arena, deque()).append(Queued(command, future, time.monotonic(), long))
            if not any(writer.arena == arena for writer in self._writers):  # who is at work there goes on with it
                self._ready.setdefault(arena)
                self._wake()
        return future

    def waits(self) -> bool:
        """Does any arena wait for a writer?"""
        with self._news:
            return bool(self._ready)

    def stuck(self) -> str:
        """Why commands are not carried out as they should be; empty if all is well."""
        now = time.monotonic()
        with self._news:
            if self._ended or any(writer.thread is None or not writer.thread.is_alive() for writer in self._writers):
                return ENDED
            waited = max((now - self._queues[arena][0].since for arena in self._ready), default=0.0)
            busy = max((now - writer.began for writer in self._writers if writer.arena is not None), default=0.0)
        if waited > NO_WRITER:
            return f"A command has been waiting for a writer for {waited:.0f} seconds."
        return f"A command has been in work for {busy:.0f} seconds." if busy > NO_END else ""

    def close(self) -> None:
        """Carry out what waits, and end."""
        with self._news:
            self._closed = True
            self._news.notify_all()
            threads = [writer.thread for writer in self._writers if writer.thread is not None]
        for thread in threads:
            thread.join()

    # ---- inside the threads

    def _wake(self) -> None:
        """Have someone take what is ready, as soon as it may begin. Called with the lock held."""
        if self._watched and self._crowded():
            return
        if self._idle < len(self._ready) and len(self._writers) < WRITERS:
            writer = Writer()
            writer.thread = threading.Thread(target=self._run, args=(writer,), name="arena-writer", daemon=True)
            try:
                writer.thread.start()
            except RuntimeError:  # there may be no more threads: those that are there must do
                if not self._writers:
                    raise
            else:
                self._writers.append(writer)
        self._news.notify()

    def _run(self, writer: Writer) -> None:
        why = "it came to its end"
        try:
            while self._take(writer):
                self._work(writer)
            return
        except BaseException as error:
            why = repr(error)
        self._give_up(writer, why)

    def _take(self, writer: Writer) -> bool:
        """Give a writer the next group, or the time to rest. False at the end."""
        with self._news:
            while (arena := self._next()) is None:
                if self._closed:
                    return False
                watch = bool(self._ready) and self._crowded() and not self._watched
                self._idle += 1
                self._watched |= watch
                try:
                    news = self._news.wait(SLOW if watch else None if self._rested else self._pause)
                finally:
                    self._idle -= 1
                    self._watched &= not watch
                if not (news or watch or self._rested or self._ready):
                    self._rested = True
                    return True
            del self._ready[arena]
            writer.arena, writer.began, writer.long = arena, time.monotonic(), self._queues[arena][0].long
            self._fill(writer)
            if self._ready:
                self._wake()
        return True

    def _fill(self, writer: Writer) -> list[Waiting]:
        """Put commands of the writer's arena into its group, and return them. Called with the lock held."""
        assert writer.arena is not None
        queue, before = self._queues[writer.arena], len(writer.group)
        while queue and len(writer.group) < (1 if writer.long else self._together) and not (writer.group and queue[0].long):
            writer.group.append(queue.popleft()[:2])
        return writer.group[before:]

    def _more(self, writer: Writer) -> list[Waiting]:
        with self._news:
            more = self._fill(writer)
        return _running(more)

    def _next(self) -> str | None:
        """The arena whose turn it is. Called with the lock held."""
        if self._crowded():
            return None
        if sum(writer.long for writer in self._writers) < LONG:
            return next(iter(self._ready), None)
        return next((arena for arena in self._ready if not self._queues[arena][0].long), None)

    def _crowded(self) -> bool:
        """Are so many groups at work that another one would only make them slower? Called with the lock held."""
        since = time.monotonic() - SLOW
        return sum(writer.arena is not None and not writer.long and writer.began > since for writer in self._writers) >= AT_ONCE

    def _work(self, writer: Writer) -> None:
        if writer.arena is None:
            self._guarded([], self._rest)
            return
        running = _running(writer.group)
        if running:
            self._guarded(writer.group, self._carry_out, writer.arena, running, lambda: self._more(writer))
        with self._news:
            arena = writer.arena
            writer.arena, writer.group, writer.long, self._rested = None, [], False, False
            if self._queues[arena]:  # for this writer, or for whoever is on the way to an arena that it takes instead
                self._ready[arena] = None  # at the end: other arenas come first
            else:
                del self._queues[arena]

    def _guarded(self, group: list[Waiting], function: Callable[..., None], *arguments: Any) -> None:
        """A writer lives on, whatever a command or a plug-in raises: SystemExit too."""
        try:
            function(*arguments)
        except BaseException as error:
            LOG.exception("A writer met an error.")
            for _, future in group:
                answer(future, None, harmless(error))

    def _give_up(self, writer: Writer, why: str) -> None:
        """A thread ends that should not: nobody must wait for it for ever."""
        LOG.critical("A writer thread has ended: %s.", why)
        with self._news:
            self._ended = why
            left = [*writer.group, *((command, future) for queue in self._queues.values() for command, future, *_ in queue)]
            self._queues = {other.arena: deque() for other in self._writers if other.arena is not None}
            self._ready.clear()
            self._news.notify_all()
        for _, future in left:
            answer(future, None, Unavailable(ENDED))


def _running(group: list[Waiting]) -> list[Waiting]:
    """Those that nobody has cancelled."""
    return [one for one in group if one[1].set_running_or_notify_cancel()]


def harmless(error: BaseException) -> Exception:
    """An error that may be raised elsewhere: SystemExit there would end the server."""
    if isinstance(error, Exception):
        return error
    return RuntimeError(f"It ended with {type(error).__name__}.")


def answer(future: Future[Any], result: Any, failure: Exception | None) -> None:
    """Answer, unless it was answered or given up before."""
    with suppress(Exception):
        if failure is None:
            future.set_result(result)
        else:
            future.set_exception(failure)
