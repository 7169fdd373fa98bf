"""What an owner is told of, once: a winner, a cycle, as many votes as wanted and no result, a day without votes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.events import time_of
from multiduel.arena.domain.state import State
from multiduel.arena.service.decision import Decision

QUIET = timedelta(days=1)


class Due(NamedTuple):
    """Something that its owner should know. ``about`` is the same for the same occasion, and another for the next."""

    about: str
    what: str  # winner, cycle, stall, quiet
    sentence: str


def due(state: State, now: datetime) -> list[Due]:
    """All that is so at present, told already or not."""
    if state.settled() and state.verdict is not None:
        return [Due(f"{state.verdict['kind']} {state.verdict['number']}", state.verdict["kind"], state.verdict["sentence"])]
    found: list[Due] = []
    wanted = state.settings.votes
    if wanted is not None and state.tally.answers >= wanted and state.status != "closed":
        sentence = f"{state.tally.answers:,} votes count, as many as you wanted to collect, and there is no winner yet."
        found.append(Due(f"stall {wanted}", "stall", sentence))
    if state.status == "open" and now - time_of(state.quiet_from) >= QUIET:
        found.append(Due(f"quiet {state.quiet_from}", "quiet", "Nobody has voted for a day, and there is no winner yet."))
    return found


def record(decision: Decision, command: c.RecordNotice) -> int:
    """Record that a notice was delivered, or given up. Returns the number of the event that says so."""
    known = decision.state.notified.get(f"{command.notice} {command.about}")
    if known is not None:
        return known
    body = {name: getattr(command, name) for name in ("notice", "kind", "about", "delivered", "attempts")}
    return decision.emit("notified", body)
