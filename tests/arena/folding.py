"""The state after a log, worked out by itself."""

from __future__ import annotations

from collections.abc import Iterable

from multiduel.arena.domain.events import Event
from multiduel.arena.domain.log_check import LogCheck
from multiduel.arena.domain.state import State


def fold(events: Iterable[Event], arena: str = "") -> State:
    """Check every event of a log and apply it. Returns the state after the last one."""
    state, bodies = State(arena), LogCheck()
    for event in events:
        bodies.check(state, event)
        state.apply(event)
    return state
