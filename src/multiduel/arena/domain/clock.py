"""The time of day, which can be set. Events are in the order of their numbers; their times are what the clock said.

A clock that jumped ahead and is set right dates the next events earlier than those before. The first of them says so.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from multiduel.arena.domain.events import Event, moment, time_of

LOG = logging.getLogger("multiduel.arena")
JUMP = 60.0  # seconds: by less, clocks are set right every day, and those of two machines differ
MARK = "clock_went_back"  # in the body of an event: by how many seconds

MOST_SECONDS = 10**12  # more than all dates span


def _steady() -> float:
    """Seconds on a clock that nobody can set, and that goes on while the machine sleeps where there is such a clock."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class WallClock:
    """The machine's time of day. A jump is said in the server's log.

    >>> WallClock()().tzinfo
    datetime.timezone.utc
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = _steady) -> None:
        self._clocks = (wall, steady)
        self._last = (wall(), steady())

    def __call__(self) -> datetime:
        wall, steady = (clock() for clock in self._clocks)
        before, self._last = self._last, (wall, steady)
        jumped = (wall - before[0]) - (steady - before[1])
        if abs(jumped) > JUMP:
            LOG.warning("The clock of this machine jumped %s by %s.", "forward" if jumped > 0 else "back", span(abs(jumped)))
        return datetime.fromtimestamp(wall, UTC)


def dated(now: datetime, before: str) -> tuple[str, int]:
    """The time of the event after one at ``before``, and by how many seconds the clock jumped back; 0 if it did not.

    A small step back is no jump: time stands still until the clock has caught up.

    >>> dated(datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:01.000000Z")
    ('2026-01-01T00:00:01.000000Z', 0)
    >>> dated(datetime(2026, 1, 1, tzinfo=UTC), "2036-01-01T00:00:00.000000Z")
    ('2026-01-01T00:00:00.000000Z', 315532800)
    """
    at = moment(now)
    if at >= before:
        return at, 0
    back = (time_of(before) - now).total_seconds()
    return (at, round(back)) if back > JUMP else (before, 0)


def went_back(body: Mapping[str, Any]) -> int:
    """By how many seconds the clock had jumped back at the event with this body; 0 if it had not."""
    seconds = body.get(MARK)
    return seconds if type(seconds) is int and 0 < seconds < MOST_SECONDS else 0


def in_order(event: Event, before: str) -> bool:
    """Whether an event may follow one at ``before``: not dated before it, unless it says that the clock went back."""
    return event.at >= before or went_back(event.body) > 0


def is_measurable(issued: str, voted: str, now: str) -> bool:
    """Whether the clock can have been right at both times: it was not set back in between, nor did it jump ahead."""
    return issued <= voted and (voted <= now) == (issued <= now)


def span(seconds: float) -> str:
    """A duration in words.

    >>> span(315532800), span(7200), span(90)
    ('3,652 days', '2 hours', '2 minutes')
    """
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size or unit == "minutes":
            return f"{max(1, round(seconds / size)):,} {unit}"
    raise AssertionError
