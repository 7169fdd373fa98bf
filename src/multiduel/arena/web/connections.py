"""The connections of this process: how many, how long they may be silent, and which are closed for a newcomer."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Literal, Protocol

from multiduel.arena.web.limits import Limits

try:
    import resource
except ImportError:  # a system without such limits
    resource = None  # type: ignore[assignment]

MOST_QUEUED = 2_048  # connections that the system keeps for us until they are accepted
FILES = 96  # handles kept for the database, files and pipes
ENDED_AT_ONCE = 25  # connections whose time is over
LEAST = 16  # connections, however few handles there are

Phase = Literal["head", "body", "busy", "rest", "idle", "leaving"]
"""What a connection is about: the head of a request is awaited or half there; its body is arriving; it is being answered; it was
answered, and the rest of its body is arriving; kept for the next request; closed once all is sent."""

_EVICTED: tuple[tuple[Phase, ...], ...] = (("leaving", "rest", "head", "idle"), ("body",))  # in this order


class Connection(Protocol):
    """What the register needs of a connection."""

    network: str
    trusted: bool  # a proxy of ours: its connections are many people's

    def expire(self, phase: str) -> None:
        """End it: its time is over."""

    def evict(self) -> None:
        """Close it at once: its place is needed."""


def raise_handles() -> None:
    """Allow this process, and those that it starts, as many file handles as the system lets it have."""
    if resource is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with contextlib.suppress(OSError, ValueError):  # some systems state more than they grant
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def handles() -> float:
    """Return how many file handles this process may have."""
    if resource is None:
        return float("inf")
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return float("inf") if soft == resource.RLIM_INFINITY else soft


def queue_length() -> int:
    """Return how many connections may wait to be accepted. All of them are accepted at once, before any of them can be closed."""
    return int(max(LEAST, min(MOST_QUEUED, (handles() - FILES) // 8)))


def most_connections(limits: Limits) -> int:
    """Return how many connections may be open, so that there are handles for files, and for connections that come and go: at any
    moment those of three turns of the event loop are accepted and not yet counted, or evicted and not yet closed."""
    return int(max(LEAST, min(limits.connections, handles() - FILES - 3 * queue_length())))


class Connections:
    """One per process. When it is full, a newcomer takes the place of the connection that has been silent longest, of the address
    that has the most."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.most = most_connections(limits)
        self._seconds: dict[str, float] = {
            "head": limits.head_seconds,
            "rest": limits.rest_seconds,
            "idle": limits.idle_seconds,
            "leaving": limits.rest_seconds,
            "stalled": limits.patience,
        }
        self._of: dict[str, OrderedDict[Connection, Phase]] = {}  # by address; the longest in its phase first
        self._since: dict[str, OrderedDict[Connection, float]] = {phase: OrderedDict() for phase in self._seconds}
        self._phase: dict[Connection, Phase] = {}
        self._every = max(0.01, min(1.0, *(seconds / 4.0 for seconds in self._seconds.values())))
        self._sweep: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._phase)

    def admit(self, connection: Connection) -> bool:
        """Make room for a new connection, at the cost of another if need be. Returns False if there is none."""
        here = self._of.get(connection.network, OrderedDict())
        if not connection.trusted and len(here) >= self.limits.connections_per_address:
            if not self._make_room([here]):
                return False
        elif len(self) >= self.most and not self._make_room(sorted(self._of.values(), key=len, reverse=True)):
            return False
        self._put(connection, "head")
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(self._every, self._look)
        return True

    def enter(self, connection: Connection, phase: Phase) -> None:
        """Write down that a connection is in this phase from now on."""
        before = self._phase.get(connection)
        if before is None or before == phase:  # the first: it was closed for another
            return
        if before in self._since:
            self._since[before].pop(connection, None)
        self._put(connection, phase)

    def _put(self, connection: Connection, phase: Phase) -> None:
        if phase in self._since:
            self._since[phase][connection] = time.monotonic()
        self._phase[connection] = phase
        here = self._of.setdefault(connection.network, OrderedDict())
        here[connection] = phase
        here.move_to_end(connection)

    def stall(self, connection: Connection, stalled: bool) -> None:
        """Write down whether the caller has stopped reading its answer."""
        if stalled and connection in self._phase:
            self._since["stalled"][connection] = time.monotonic()
        else:
            self._since["stalled"].pop(connection, None)

    def leave(self, connection: Connection) -> None:
        """Forget a connection that is closed."""
        if self._phase.pop(connection, None) is None:
            return
        for waiting in self._since.values():
            waiting.pop(connection, None)
        here = self._of[connection.network]
        del here[connection]
        if not here:
            del self._of[connection.network]

    def _make_room(self, addresses: Sequence[OrderedDict[Connection, Phase]]) -> bool:
        """Close the connection that is silent longest, of the first address that has one."""
        for phases in _EVICTED:
            for here in addresses:
                for connection, phase in here.items():
                    if phase in phases:
                        self.leave(connection)
                        connection.evict()
                        return True
        return False

    def _look(self) -> None:
        """End what has been silent too long: once in a while, and some at a time, for others wait meanwhile."""
        now, ended = time.monotonic(), 0
        for phase, waiting in self._since.items():
            while waiting and ended < ENDED_AT_ONCE:
                connection, since = next(iter(waiting.items()))  # the longest
                if now - since <= self._seconds[phase]:
                    break
                del waiting[connection]
                connection.expire(phase)
                ended += 1
        pause = self._every if ended < ENDED_AT_ONCE else 0.01
        self._sweep = asyncio.get_running_loop().call_later(pause, self._look) if self._phase else None
