"""The last event of each arena that this process acknowledged or showed: the database must still hold it.

A database can go back in time beneath a running server: a backup is put back, or a lagging copy takes over. Whoever appends to
what is left confirms votes on top of votes that are gone. So an arena that has lost events is refused until the server is
started anew, which is for its operator to decide.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import NamedTuple

from multiduel.arena.domain.errors import RolledBack
from multiduel.arena.domain.events import START

LOG = logging.getLogger("multiduel.arena")


Row = tuple[int, str, str, str, str]  # number, kind, time, body and hash of an event, as they are stored


class Head(NamedTuple):
    number: int
    hash: str


NOTHING = Head(0, START)


class Heads:
    """What is known of every arena. Methods may be called from any thread."""

    def __init__(self) -> None:
        self._known: dict[str, Head] = {}
        self._lost: dict[str, str] = {}  # arena -> the sentence with which it is refused
        self._guard = threading.Lock()

    def of(self, arena: str) -> Head:
        """Return the last known event. Refuse an arena that has lost events."""
        lost = self._lost.get(arena)
        if lost is not None:
            raise RolledBack(lost)
        return self._known.get(arena, NOTHING)

    def saw(self, arena: str, head: Head) -> None:
        """Remember a committed event, unless a later one is known."""
        with self._guard:
            if head.number > self._known.get(arena, NOTHING).number:
                self._known[arena] = head

    def check(self, arena: str, head: Head, start: int, page: Sequence[Row]) -> None:
        """Refuse the events after ``start``, as stored, if ``head`` should be among them and is missing or another event."""
        if page and start < head.number <= page[-1][0]:
            found = next((hash for number, *_, hash in page if number == head.number), None)
            if found != head.hash:
                raise self.lost(arena, head, "it is missing" if found is None else "another event has its number")

    def lost(self, arena: str, head: Head, found: str) -> RolledBack:
        """Refuse this arena from now on. Returns what to raise."""
        sentence = (
            f"The database has lost events: event {head.number} of arena '{arena}' was acknowledged and is not there any more "
            f"({found}). Nothing is written to this arena until the server's operator has looked and started the server anew."
        )
        with self._guard:
            first = self._lost.setdefault(arena, sentence) is sentence
        if first:
            LOG.critical("%s Its hash was %s.", sentence, head.hash)
        return RolledBack(sentence)
