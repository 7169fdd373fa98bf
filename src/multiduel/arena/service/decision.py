"""What the functions that decide commands share: the state, and the events that the commands add to it."""

from __future__ import annotations

import secrets
from typing import Any

from multiduel.arena.domain import events as log
from multiduel.arena.domain.actors import OPERATOR
from multiduel.arena.domain.clock import MARK
from multiduel.arena.domain.errors import Conflict, NotFound
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.records import RaterRecord
from multiduel.arena.domain.state import State
from multiduel.arena.service.board import verdict_body
from multiduel.inputs import BadInput, shortened

MOST_LABEL = 200


class Decision:
    """The state of one arena, and the events of one group of commands: applied at once, and collected to be appended.

    A command checks everything before its first event, so that one that is refused leaves nothing behind.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.events: list[Event] = []
        self.contents: dict[str, bytes] = {}  # of new options, by SHA-256
        self.at = state.at
        self.went_back = 0  # seconds by which the clock was set back since the last event, for the next one to say
        self.actor = OPERATOR

    def emit(self, kind: str, body: dict[str, Any]) -> int:
        """Append an event of this command's actor. Returns the event's number."""
        if self.went_back:
            body, self.went_back = body | {MARK: self.went_back}, 0
        # Raters get hashes. None may be found by trying what an event says: hence the salt.
        whole = body | {"actor": self.actor, "salt": secrets.token_hex(8)}
        event = log.sealed(self.state.number + 1, self.state.hash, kind, self.at, whole)
        self.state.apply(event, checked=True)
        self.events.append(event)
        return event.number

    def not_closed(self) -> None:
        """Refuse the command if the arena is closed."""
        if self.state.status == "closed":
            raise Conflict("This arena is closed, and stays so.")

    def rater(self, id: str) -> RaterRecord:
        """Find a rater by id, or refuse the command."""
        rater = self.state.raters.get(id) if isinstance(id, str) else None
        if rater is None:
            raise NotFound(f"There is no rater {shortened(id)} in this arena.")
        return rater

    def announce(self) -> None:
        """Emit a ``verdict`` event when votes settle what was open. A verdict once reached stands, whatever later votes say."""
        if not self.state.settled():
            self.revise()

    def revise(self) -> None:
        """Judge anew, from what counts now: the owner changed options, the margin, or whose votes count. Emit a ``verdict`` event
        when the winner changes, including from or to none."""
        state = self.state
        verdict = state.judge()
        before = state.verdict or {"kind": "open", "winner": None}
        kind = verdict.kind if verdict.settled else "open"
        winner = None if verdict.winner is None else state.options[verdict.winner].id
        if (kind, winner) != (before["kind"], before["winner"]):
            self.emit("verdict", verdict_body(state, verdict))


def request_id(request: Any, most: int = MOST_LABEL) -> str:
    """Check the id under which a command is carried out once."""
    if not isinstance(request, str) or not 1 <= len(request) <= most:
        raise BadInput(f"'request' must be text of 1 to {most} characters. Got {shortened(request)}.")
    return request


def label_of(label: Any) -> str:
    """Check a label, and strip blanks around it."""
    if not isinstance(label, str) or len(label) > MOST_LABEL or not label.isprintable():
        raise BadInput(f"A rater's label must be at most {MOST_LABEL} characters that print. Got {shortened(label)}.")
    return label.strip()


def group_of(group: Any) -> str | None:
    """Check a group, if there is one. An empty one is none."""
    return None if group is None else label_of(group) or None
