"""Decide the commands on votes: record one, undo the last one."""

from __future__ import annotations

from typing import Any

from multiduel.arena.domain import commands as c
from multiduel.arena.domain import events as log
from multiduel.arena.domain.actors import OWNERS, role_of
from multiduel.arena.domain.ballots import normal
from multiduel.arena.domain.errors import Conflict, Forbidden, NotFound
from multiduel.arena.service.decision import Decision, request_id
from multiduel.arena.service.tickets import ask, expiry, is_expired, limit_of, new_id, shown_ticket
from multiduel.inputs import BadInput

ANNOUNCED = "The result was announced with this vote in it, so it cannot be taken back."


def vote(decision: Decision, command: c.Vote) -> c.Receipt:
    """Record the vote on a ticket, once, and issue the next ticket if the command wants one."""
    state = decision.state
    ticket = state.tickets.get(command.ticket)
    if ticket is None or ticket.by == "import":
        raise NotFound("There is no such ticket.")
    if command.rater is not None and ticket.rater not in (None, command.rater):
        raise Forbidden("This ticket is another rater's.")
    if role_of(decision.actor) in OWNERS and (ticket.rater is not None or not ticket.printed):
        raise Forbidden("An owner's key votes only on printed tickets that belong to no rater. This one is a rater's.")
    rater = ticket.rater or command.rater
    request = request_id(command.next_request or f"after {ticket.event}")
    if command.next and rater is None:
        raise BadInput("Only a rater can be given a next ticket. This ticket belongs to none.")
    ballot = normal(command.ballot, state.settings.question, len(ticket.shown))
    if ticket.vote is None:
        decision.not_closed()
        if command.rater is not None:
            decision.rater(command.rater)
        cast(decision, ticket.id, ballot, rater, {} if ticket.rater else {"rater": rater})
        if state.may_settle(ticket.shown):
            decision.announce()
    elif ticket.vote.ballot != log.canonical(ballot):
        raise Conflict("This ticket has another vote already.")
    recorded = state.tickets[command.ticket].vote
    assert recorded is not None
    receipt = c.Receipt(recorded.event, "undone" if recorded.undone else recorded.counted)
    if not command.next:
        return receipt
    assert rater is not None
    try:
        following = ask(decision, c.Ask(state.arena, rater, request))
    except Conflict as places:
        following = c.Done("places", str(places))
    return c.Receipt(receipt.event, receipt.counted, following)


def cast(decision: Decision, ticket: str | None, ballot: dict[str, Any], rater_id: str | None, more: dict[str, Any]) -> None:
    """Append a vote that has been checked."""
    state = decision.state
    rater = state.raters[rater_id] if rater_id is not None else None
    if rater is None and state.settings.unit == "rater" and "skip" not in ballot:
        raise BadInput("This arena counts a rater's first judgement of a pair: it must be told whose vote it is.")
    late = ticket is not None and is_expired(decision, state.tickets[ticket])
    limit = limit_of(state, rater) if rater else None
    beyond = rater is not None and limit is not None and rater.votes >= limit and "skip" not in ballot
    body: dict[str, Any] = {"ticket": ticket, "ballot": ballot, "late": late, **more}
    if beyond:
        body["aside"] = "limit"
    aside = beyond or (rater is not None and rater.quarantined)
    body["counted"] = "skipped" if "skip" in ballot else "aside" if aside else "late" if late else "counted"
    decision.emit("vote", body)


def undo(decision: Decision, command: c.Undo) -> c.Receipt:
    """Undo the rater's last vote. Returns a receipt with a new ticket that shows the same options."""
    state, rater = decision.state, decision.rater(command.rater)
    known = state.undone(rater.id, request_id(command.request))
    if known is None:
        decision.not_closed()
        if not rater.last:
            raise Conflict("There is no vote of this rater to take back.")
        id, event = rater.last[-1]
        if state.announced(event):
            raise Conflict(ANNOUNCED)
        old = state.tickets[id]
        again = new_id(state)
        number = decision.emit("undo", {"rater": rater.id, "ticket": old.id, "request": command.request, "again": again})
        body = {
            "id": again,
            "rater": rater.id,
            "context": None if old.context is None else f"c{old.context + 1}",
            "stratum": old.group,
            "shown": [state.options[k].id for k in old.shown],
            "by": "undo",
            "expires": expiry(decision),
        }
        decision.emit("ticket", body)
        decision.announce()
        known = number, again
    return c.Receipt(known[0], "undone", shown_ticket(state, state.tickets[known[1]]))
