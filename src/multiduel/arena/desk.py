"""Where commands on one arena are decided: events are applied at once, and collected to be appended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from multiduel.arena import events as log
from multiduel.arena.errors import Conflict, NotFound
from multiduel.arena.events import Event
from multiduel.arena.records import RaterRecord
from multiduel.arena.state import State
from multiduel.arena.statements import verdict_body
from multiduel.inputs import BadInput, shortened

MOST_LABEL = 200


class Desk:
    """The state, and the events of one group of commands. A command checks everything before its first event, so that one that
    is refused leaves nothing behind."""

    def __init__(self, state: State, put_content: Callable[[str, bytes], None]) -> None:
        self.state, self.put_content = state, put_content
        self.events: list[Event] = []
        self.at = state.at

    def emit(self, kind: str, body: dict[str, Any]) -> int:
        event = log.sealed(self.state.number + 1, self.state.hash, kind, self.at, body)
        self.state.apply(event)
        self.events.append(event)
        return event.number

    def not_closed(self) -> None:
        if self.state.status == "closed":
            raise Conflict("This arena is closed, and stays so.")

    def rater(self, id: str) -> RaterRecord:
        rater = self.state.raters.get(id) if isinstance(id, str) else None
        if rater is None:
            raise NotFound(f"There is no rater {shortened(id)} in this arena.")
        return rater

    def announce(self) -> None:
        """An event, if it has become settled who is best, or who, or is so no longer."""
        state = self.state
        verdict = state.judge()
        before = state.verdict or {"kind": "open", "winner": None}
        kind = verdict.kind if verdict.settled else "open"
        winner = None if verdict.winner is None else state.options[verdict.winner].id
        if (kind, winner) != (before["kind"], before["winner"]):
            self.emit("verdict", verdict_body(state, verdict))


def request_id(request: Any) -> str:
    if not isinstance(request, str) or not 1 <= len(request) <= MOST_LABEL:
        raise BadInput(f"'request' must be text of 1 to {MOST_LABEL} characters. Got {shortened(request)}.")
    return request


def label_of(label: Any) -> str:
    if not isinstance(label, str) or len(label) > MOST_LABEL or not label.isprintable():
        raise BadInput(f"A rater's label must be at most {MOST_LABEL} characters that print. Got {shortened(label)}.")
    return label.strip()


def stratum_of(stratum: Any) -> str | None:
    return None if stratum is None else label_of(stratum) or None
