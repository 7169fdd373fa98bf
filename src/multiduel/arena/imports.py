"""Votes from files: all lines or none, each counted once however often the file is sent. And whole logs from elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from multiduel.arena.ballots import normal
from multiduel.arena.commands import ImportReport, ImportVotes, LineReport, VoteLine
from multiduel.arena.errors import Conflict, Refused
from multiduel.arena.events import Event
from multiduel.arena.options import MOST_OPTIONS, option_name
from multiduel.arena.records import TicketRecord
from multiduel.arena.replay import fold
from multiduel.arena.state import State
from multiduel.arena.verify import verify_log
from multiduel.inputs import BadInput, shortened, whole

if TYPE_CHECKING:
    from multiduel.arena.decisions import Decider

MOST_LINES = 100_000
MOST_ID = 200
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@dataclass(frozen=True)
class Checked:
    """A line that is in order."""

    ticket: str | None
    shown: tuple[int, ...]
    ballot: dict[str, Any]  # in normal form
    rater: str | None  # label
    stratum: str | None
    context: int | None


def import_votes(decider: Decider, command: ImportVotes) -> ImportReport:
    state = decider.state
    whole("lines", len(command.lines), 1, MOST_LINES, of="a file of votes")
    if state.status == "closed":
        raise Conflict("This arena is closed, and stays so.")
    new: dict[str, Checked] = {}
    tickets: set[str] = set()
    reports = []
    for place, line in enumerate(command.lines, 1):
        try:
            checked = _check(state, line)
            known = state.lines.get(line.id)
            before = new.get(line.id) if known is None else _as_checked(state, state.tickets[known])
            if before is not None and before != checked:
                raise BadInput("Another vote came under this line's id before.")
            if before is None:
                _check_new(state, checked, tickets)
                new[line.id] = checked
            reports.append(LineReport(line.id, place, "new" if before is None else "already"))
        except (BadInput, Refused) as problem:
            reports.append(LineReport(str(line.id)[:MOST_ID], place, "refused", problem=str(problem)))
    good = all(report.result != "refused" for report in reports)
    if good and not command.dry_run:
        for id, checked in new.items():
            _cast(decider, id, checked)
        decider.announce()
        reports = [LineReport(one.id, one.line, one.result, _counted(state, one.id)) for one in reports]
    return ImportReport(good, command.dry_run, tuple(reports))


def _check(state: State, line: VoteLine) -> Checked:
    if not isinstance(line.id, str) or not 1 <= len(line.id) <= MOST_ID:
        raise BadInput(f"A line's id must be text of 1 to {MOST_ID} characters. Got {shortened(line.id)}.")
    if (line.ticket is None) == (not line.shown):
        raise BadInput("A line names the ticket that it answers, or the options that were shown: one of the two.")
    rater = _label(line.rater)
    if line.ticket is not None:
        ticket = state.tickets.get(line.ticket)
        if ticket is None or ticket.by == "import":
            raise BadInput(f"There is no ticket {shortened(line.ticket)} in this arena.")
        owner = state.raters[ticket.rater].label if ticket.rater is not None else None
        if rater is not None and owner not in (None, rater):
            raise BadInput(f"Ticket {shortened(line.ticket)} is of {shortened(owner)}, not of {shortened(rater)}.")
        ballot = normal(line.ballot, state.settings.question, len(ticket.shown))
        return Checked(ticket.id, ticket.shown, ballot, rater or owner, ticket.stratum, ticket.context)
    shown = tuple(_option(state, name) for name in line.shown)
    if len(set(shown)) < len(shown) or not 2 <= len(shown) <= len(state.options):
        raise BadInput(f"Two or more different options must have been shown. Got {shortened(list(line.shown))}.")
    ballot = normal(line.ballot, state.settings.question, len(shown))
    return Checked(None, shown, ballot, rater, _label(line.stratum), _context(state, line.context))


def _as_checked(state: State, ticket: TicketRecord) -> Checked:
    """What a line that is in the log said."""
    assert ticket.vote is not None
    rater = state.raters[ticket.rater].label if ticket.rater is not None else None
    known = None if ticket.by == "import" else ticket.id
    return Checked(known, ticket.shown, json.loads(ticket.vote.ballot), rater, ticket.stratum, ticket.context)


def _check_new(state: State, checked: Checked, tickets: set[str]) -> None:
    if state.settings.unit == "rater" and checked.rater is None:
        raise BadInput("This arena counts a rater's first judgement of a pair: the line must name the rater.")
    if checked.ticket is not None:
        if state.tickets[checked.ticket].vote is not None or checked.ticket in tickets:
            raise BadInput(f"Ticket {shortened(checked.ticket)} has a vote already.")
        tickets.add(checked.ticket)


def _cast(decider: Decider, line: str, checked: Checked) -> None:
    state = decider.state
    rater = None
    if checked.rater is not None:
        rater = state.labels.get(checked.rater) or decider.admit_label(checked.rater, checked.stratum)
    more: dict[str, Any] = {"line": line, "rater": rater}
    if checked.ticket is None:
        more |= {
            "shown": [state.options[k].id for k in checked.shown],
            "context": None if checked.context is None else f"c{checked.context + 1}",
            "stratum": checked.stratum,
        }
    decider.cast(checked.ticket, checked.ballot, rater, more)


def _counted(state: State, line: str) -> str:
    vote = state.tickets[state.lines[line]].vote
    assert vote is not None
    return "undone" if vote.undone else vote.counted


def _label(value: Any) -> str | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, str) or len(value) > MOST_ID or not value.isprintable():
        raise BadInput(f"A label must be at most {MOST_ID} characters that print. Got {shortened(value)}.")
    return value.strip()


def _option(state: State, name: Any) -> int:
    for k, option in enumerate(state.options):
        if option.name == name:
            return k
    for k, option in enumerate(state.options):
        if option.id == name:
            return k
    raise BadInput(f"There is no option {shortened(name)} in this arena.")


def _context(state: State, value: Any) -> int | None:
    if value is None or value == "":
        return None
    for k, question in enumerate(state.contexts):
        if value in (question, f"c{k + 1}"):
            return k
    raise BadInput(f"There is no context {shortened(value)} in this arena.")


def check_log(events: Sequence[Event], contents: Mapping[str, bytes]) -> Event:
    """Refuse a log from elsewhere that is not one that an arena could have written. Its first event."""
    if not events:
        raise BadInput("A log must have events. Got none.")
    report = verify_log(events, contents)
    if report.first is not None:
        raise BadInput(f"This log cannot be taken: event {report.first[0]}, {report.first[1]}.")
    first, state = events[0], fold(events)
    if not re.fullmatch("[0-9a-f]{12}", str(first.body["arena"])):
        raise BadInput(f"An arena's id is 12 hexadecimal digits. Got {shortened(first.body['arena'])}.")
    option_name(state.name, "An arena")
    before = ""
    for event in events:
        if not MOMENT.fullmatch(event.at) or event.at < before:
            raise BadInput(f"Event {event.number} must have a time in UTC, not before the one before. Got {shortened(event.at)}.")
        before = event.at
    for option in state.options:
        option_name(option.name, f"Option {option.id}")
    if len(state.options) > MOST_OPTIONS or [one.id for one in state.options] != [f"o{k + 1}" for k in range(len(state.options))]:
        raise BadInput(f"An arena has at most {MOST_OPTIONS} options, numbered from o1. Got {len(state.options)}.")
    for ticket in state.tickets.values():
        if ticket.by != "import" and not ticket.id.startswith(f"{first.body['arena']}-"):
            raise BadInput(f"Ticket {shortened(ticket.id)} is not of this arena.")
        vote = ticket.vote
        said = json.loads(vote.ballot) if vote is not None else None
        if vote is not None and said != normal(said, state.settings.question, len(ticket.shown)):
            raise BadInput(f"Event {vote.event} has a ballot that is not in its normal form.")
    return first
