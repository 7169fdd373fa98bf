"""What may be asked of an arena, and what it answers. Commands that carry a ``request`` may be sent again under the same one:
they are carried out once, and answered alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from multiduel.arena.domain.options import Option
from multiduel.arena.domain.settings import Settings


@dataclass(frozen=True)
class Create:
    name: str
    settings: Settings
    options: Sequence[Option]
    contexts: Sequence[str] = ()
    request: str | None = None
    shortlist: Mapping[str, Any] | None = None  # by: whose standings left these options; of: how many; first: the ranks asked for


@dataclass(frozen=True)
class Open:
    arena: str


@dataclass(frozen=True)
class Pause:
    """No new tickets. Votes on those that are out are still taken."""

    arena: str


@dataclass(frozen=True)
class Close:
    """For good: no tickets, no votes."""

    arena: str


@dataclass(frozen=True)
class AddOptions:
    arena: str
    options: Sequence[Option]
    request: str | None = None


@dataclass(frozen=True)
class RetireOption:
    arena: str
    option: str  # its id
    request: str | None = None


@dataclass(frozen=True)
class AdmitRater:
    arena: str
    label: str
    stratum: str | None = None
    limit: int | None = None
    request: str | None = None
    kind: str = "person"  # or "judge"


@dataclass(frozen=True)
class Ask:
    """A ticket for this rater. One who holds as many as there are places gets the last one again (of several: is refused)."""

    arena: str
    rater: str
    request: str
    stratum: str | None = None  # used only where the owner assigned none to this rater


@dataclass(frozen=True)
class Vote:
    """What was said of a ticket. With ``next``, the answer brings the next ticket, from the same transaction."""

    ticket: str
    ballot: Mapping[str, Any]
    next: bool = False
    next_request: str | None = None
    rater: str | None = None  # if given, it must be the ticket's


@dataclass(frozen=True)
class Undo:
    """Take the rater's last vote back, unless a result was announced since. Its ticket stays used; the receipt brings a new one
    that shows the same."""

    arena: str
    rater: str
    request: str


@dataclass(frozen=True)
class Quarantine:
    """Set all votes of a rater aside, those to come too, until they are released."""

    arena: str
    rater: str
    reason: str = ""


@dataclass(frozen=True)
class Release:
    arena: str
    rater: str


@dataclass(frozen=True)
class ChangePolicy:
    arena: str
    policy: str
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ChangeMargin:
    """Allowed at any time: evidence against a wider margin's null is evidence against every narrower one's."""

    arena: str
    margin: float


@dataclass(frozen=True)
class VoteLine:
    """A vote from a file: on a ticket that was printed, or on options that were shown elsewhere."""

    id: str  # the line's own: a file sent twice counts once
    ballot: Mapping[str, Any]  # in positions on the ticket, or in ``shown``
    ticket: str | None = None
    shown: Sequence[str] = ()  # ids or names of options, where there is no ticket
    rater: str | None = None  # label; a new one is admitted
    stratum: str | None = None
    context: str | None = None  # id or text


@dataclass(frozen=True)
class ImportVotes:
    arena: str
    lines: Sequence[VoteLine]
    dry_run: bool = False


@dataclass(frozen=True)
class PrintTickets:
    """Tickets ahead, for sheets: they belong to no rater and do not expire, unless a rater is named (it still never expires)."""

    arena: str
    number: int
    request: str
    rater: str | None = None
    stratum: str | None = None


Command = (
    Create
    | Open
    | Pause
    | Close
    | AddOptions
    | RetireOption
    | AdmitRater
    | Ask
    | Vote
    | Undo
    | Quarantine
    | Release
    | ChangePolicy
    | ChangeMargin
    | ImportVotes
    | PrintTickets
)


@dataclass(frozen=True)
class ArenaInfo:
    id: str
    name: str
    status: str  # created, open, paused, closed
    settings: Settings  # as they are now
    options: tuple[dict[str, Any], ...]  # id, name, retired, contents
    contexts: tuple[dict[str, Any], ...]  # id, text
    created: str
    events: int
    hash: str  # of the last event: who notes it down can tell later whether the log was written anew


@dataclass(frozen=True)
class Ticket:
    """A question put to a rater. ``options`` (ids, in the order shown) are the owner's business: raters get positions."""

    id: str
    arena: str
    rater: str | None
    context: str | None  # id
    stratum: str | None
    options: tuple[str, ...]
    by: str  # who chose: policy, challengers, uniform, unseen, undo, import
    issued: str
    expires: str | None


@dataclass(frozen=True)
class Done:
    """There is nothing to ask this rater."""

    why: str  # a word: settled, paused, closed, limit, judged, one_option, created
    sentence: str


@dataclass(frozen=True)
class Receipt:
    event: int  # the number under which it stands
    counted: str  # counted, late (counted too), aside, skipped; undone
    next: Ticket | Done | None = None
    hash: str = ""  # of that event: who keeps it can tell later whether the log still contains it


@dataclass(frozen=True)
class LineReport:
    id: str
    line: int  # from 1
    result: str  # new, already, refused
    counted: str = ""  # as in a receipt
    problem: str = ""


@dataclass(frozen=True)
class ImportReport:
    accepted: bool  # all lines were in order (and, but for a dry run, are in the log now)
    dry_run: bool
    lines: tuple[LineReport, ...]


def arena_of(ticket: str) -> str:
    """The arena that a ticket says it is of."""
    return ticket.partition("-")[0]
