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
    """Make an arena. It takes votes once it is opened."""

    name: str
    settings: Settings
    options: Sequence[Option]
    contexts: Sequence[str] = ()
    request: str | None = None
    shortlist: Mapping[str, Any] | None = None  # by whose standings, of how many, among the first so many, by which rule


@dataclass(frozen=True)
class Open:
    """Let raters vote: for the first time, or after a pause."""

    arena: str


@dataclass(frozen=True)
class Pause:
    """Give out no new tickets. Votes on tickets that raters hold are still taken."""

    arena: str


@dataclass(frozen=True)
class Close:
    """Close the arena permanently: no more tickets, no more votes."""

    arena: str


@dataclass(frozen=True)
class AddOptions:
    """Add options to an arena that has room for them."""

    arena: str
    options: Sequence[Option]
    request: str | None = None


@dataclass(frozen=True)
class RetireOption:
    """Retire an option: it is shown no more. Votes about it stay in the log."""

    arena: str
    option: str  # its id
    request: str | None = None


@dataclass(frozen=True)
class AdmitRater:
    """Add a rater. The answer is the new rater's id."""

    arena: str
    label: str
    group: str | None = None
    limit: int | None = None
    request: str | None = None
    kind: str = "person"  # or "judge"


@dataclass(frozen=True)
class Ask:
    """Ask for a ticket for a rater.

    A rater who holds as many tickets as the setting ``places`` allows gets the open one again (with several: is refused).
    """

    arena: str
    rater: str
    request: str
    group: str | None = None  # used only where the owner assigned none to this rater


@dataclass(frozen=True)
class Vote:
    """Answer a ticket. With ``next``, the receipt has the rater's next ticket, from the same transaction."""

    ticket: str
    ballot: Mapping[str, Any]
    next: bool = False
    next_request: str | None = None
    rater: str | None = None  # if given, it must be the ticket's


@dataclass(frozen=True)
class Undo:
    """Undo the rater's last vote, unless a result was announced since.

    The ticket stays used. The receipt has a new ticket with the same options.
    """

    arena: str
    rater: str
    request: str


@dataclass(frozen=True)
class Quarantine:
    """Exclude all votes of a rater, past and future, until the rater is released."""

    arena: str
    rater: str
    reason: str = ""


@dataclass(frozen=True)
class Release:
    """Count the votes of a quarantined rater again."""

    arena: str
    rater: str


@dataclass(frozen=True)
class ChangePolicy:
    """Choose slates by another policy from now on, with the votes so far."""

    arena: str
    policy: str
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ChangeMargin:
    """Change how close to the best an option may be to count as best.

    Allowed at any time: evidence against a wider margin's null is evidence against every narrower one's.
    """

    arena: str
    margin: float


@dataclass(frozen=True)
class VoteLine:
    """A vote from a file: on a printed ticket, or on options that were shown elsewhere."""

    id: str  # the line's own: a file sent twice counts once
    ballot: Mapping[str, Any]  # in positions on the ticket, or in ``shown``
    ticket: str | None = None
    shown: Sequence[str] = ()  # ids or names of options, where there is no ticket
    rater: str | None = None  # label; a new one is admitted
    group: str | None = None
    context: str | None = None  # id or text


@dataclass(frozen=True)
class ImportVotes:
    """Import votes from a file: all of its lines, or none if one is wrong."""

    arena: str
    lines: Sequence[VoteLine]
    dry_run: bool = False


@dataclass(frozen=True)
class PrintTickets:
    """Make tickets for printed sheets. They never expire, and belong to no rater unless one is named."""

    arena: str
    number: int
    request: str
    rater: str | None = None
    group: str | None = None


@dataclass(frozen=True)
class RecordNotice:
    """Record that somebody was told of something, or could not be reached. The same again changes nothing."""

    arena: str
    notice: str
    kind: str  # webhook, mail
    about: str
    delivered: bool
    attempts: int


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
    | RecordNotice
)


@dataclass(frozen=True)
class ArenaInfo:
    """An arena as its owner sees it: settings, options, contexts, and where its log ends."""

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
    """A question to a rater. ``options`` holds ids in the order shown; raters see positions only."""

    id: str
    arena: str
    rater: str | None
    context: str | None  # id
    group: str | None
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
    """The outcome of a vote or an undo."""

    event: int  # the number under which it stands
    counted: str  # counted, late (counted too), aside, skipped; undone
    next: Ticket | Done | None = None
    hash: str = ""  # of that event: who keeps it can tell later whether the log still contains it


@dataclass(frozen=True)
class LineReport:
    """The outcome of one line of a file of votes."""

    id: str
    line: int  # from 1
    result: str  # new, already, refused
    counted: str = ""  # as in a receipt
    problem: str = ""


@dataclass(frozen=True)
class ImportReport:
    """The outcome of a file of votes."""

    accepted: bool  # all lines were in order (and, but for a dry run, are in the log now)
    dry_run: bool
    lines: tuple[LineReport, ...]


def arena_of(ticket: str) -> str:
    """The arena that a ticket says it is of."""
    return ticket.partition("-")[0]
