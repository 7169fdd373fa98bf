"""Decide the command that imports votes: all lines or none, each counted once however often the file is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from multiduel.arena.domain.ballots import normal
from multiduel.arena.domain.commands import ImportReport, ImportVotes, LineReport, VoteLine
from multiduel.arena.domain.errors import Refused
from multiduel.arena.domain.records import TicketRecord
from multiduel.arena.domain.state import State
from multiduel.arena.service.admission import admit_label
from multiduel.arena.service.decision import Decision
from multiduel.arena.service.votes import cast
from multiduel.inputs import BadInput, shortened, whole

MOST_LINES = 100_000
MOST_ID = 200
WEIGHED = 100  # new lines up to which the evidence is kept up to date line by line


@dataclass(frozen=True)
class Checked:
    """A line that is in order."""

    ticket: str | None
    shown: tuple[int, ...]
    ballot: dict[str, Any]  # in normal form
    rater: str | None  # label
    group: str | None
    context: int | None


def import_votes(decision: Decision, command: ImportVotes) -> ImportReport:
    """Record the votes of a file if all its lines are in order. Returns a report on every line."""
    state = decision.state
    whole("lines", len(command.lines), 1, MOST_LINES, of="a file of votes")
    decision.not_closed()
    places = _places(state)
    new: dict[str, Checked] = {}
    tickets: set[str] = set()
    reports = []
    for place, line in enumerate(command.lines, 1):
        try:
            checked = _check(state, line, places)
            known = state.line(line.id)
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
        if len(new) > WEIGHED:
            state.weigh_anew()  # once, at the end, and not after every line
        for id, checked in new.items():
            _cast(decision, id, checked)
        decision.announce()
        reports = [LineReport(one.id, one.line, one.result, _counted(state, one.id)) for one in reports]
    return ImportReport(good, command.dry_run, tuple(reports))


def _check(state: State, line: VoteLine, places: Mapping[str, int]) -> Checked:
    if not isinstance(line.id, str) or not 1 <= len(line.id) <= MOST_ID:
        raise BadInput(f"A line's id must be text of 1 to {MOST_ID} characters. Got {shortened(line.id)}.")
    if (line.ticket is None) == (not line.shown):
        raise BadInput("A line names the ticket that it answers, or the options that were shown: one of the two.")
    rater = _label(line.rater)
    if line.ticket is not None:
        ticket = state.tickets.get(line.ticket)
        if ticket is None or ticket.by == "import":
            raise BadInput(f"There is no ticket {shortened(line.ticket)} in this arena.")
        if not ticket.printed:
            raise BadInput(
                f"Ticket {shortened(line.ticket)} was not printed: only the rater to whom it was shown can vote on it."
            )
        owner = state.raters[ticket.rater].label if ticket.rater is not None else None
        if rater is not None and owner not in (None, rater):
            raise BadInput(f"Ticket {shortened(line.ticket)} is of {shortened(owner)}, not of {shortened(rater)}.")
        ballot = normal(line.ballot, state.settings.question, len(ticket.shown))
        return Checked(ticket.id, ticket.shown, ballot, rater or owner, ticket.group, ticket.context)
    shown = tuple(_option(places, name) for name in line.shown)
    if len(set(shown)) < len(shown) or not 2 <= len(shown) <= len(state.options):
        raise BadInput(f"Two or more different options must have been shown. Got {shortened(list(line.shown))}.")
    ballot = normal(line.ballot, state.settings.question, len(shown))
    return Checked(None, shown, ballot, rater, _label(line.group), _context(state, line.context))


def _as_checked(state: State, ticket: TicketRecord) -> Checked:
    """What a line that is in the log said."""
    assert ticket.vote is not None
    rater = state.raters[ticket.rater].label if ticket.rater is not None else None
    known = None if ticket.by == "import" else ticket.id
    return Checked(known, ticket.shown, json.loads(ticket.vote.ballot), rater, ticket.group, ticket.context)


def _check_new(state: State, checked: Checked, tickets: set[str]) -> None:
    if state.settings.unit == "rater" and checked.rater is None:
        raise BadInput("This arena counts a rater's first judgement of a pair: the line must name the rater.")
    if checked.ticket is not None:
        if state.tickets[checked.ticket].vote is not None or checked.ticket in tickets:
            raise BadInput(f"Ticket {shortened(checked.ticket)} has a vote already.")
        tickets.add(checked.ticket)


def _cast(decision: Decision, line: str, checked: Checked) -> None:
    state = decision.state
    rater = None
    if checked.rater is not None:
        rater = state.labels.get(checked.rater) or admit_label(decision, checked.rater, checked.group)
    more: dict[str, Any] = {"line": line, "rater": rater}
    if checked.ticket is None:
        more |= {
            "shown": [state.options[k].id for k in checked.shown],
            "context": None if checked.context is None else f"c{checked.context + 1}",
            "stratum": checked.group,
        }
    cast(decision, checked.ticket, checked.ballot, rater, more)


def _counted(state: State, line: str) -> str:
    ticket = state.line(line)
    vote = None if ticket is None else state.tickets[ticket].vote
    assert vote is not None
    return "undone" if vote.undone else vote.counted


def _label(value: Any) -> str | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, str) or len(value) > MOST_ID or not value.isprintable():
        raise BadInput(f"A label must be at most {MOST_ID} characters that print. Got {shortened(value)}.")
    return value.strip()


def _places(state: State) -> dict[str, int]:
    """Options by id and by name; a name goes first, and of two alike the first."""
    places = {option.id: k for k, option in enumerate(state.options)}
    return places | {option.name: k for k, option in reversed(list(enumerate(state.options)))}


def _option(places: Mapping[str, int], name: Any) -> int:
    if isinstance(name, str) and name in places:
        return places[name]
    raise BadInput(f"There is no option {shortened(name)} in this arena.")


def _context(state: State, value: Any) -> int | None:
    if value is None or value == "":
        return None
    for k, question in enumerate(state.contexts):
        if value in (question, f"c{k + 1}"):
            return k
    raise BadInput(f"There is no context {shortened(value)} in this arena.")
