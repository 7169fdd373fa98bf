"""Votes: taken once, set aside, taken back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from multiduel.arena import commands as c
from multiduel.arena import events as log
from multiduel.arena.asking import Asking
from multiduel.arena.ballots import normal
from multiduel.arena.desk import request_id
from multiduel.arena.errors import Conflict, Forbidden, NotFound
from multiduel.inputs import BadInput


class Voting(Asking):
    def vote(self, command: c.Vote) -> c.Receipt:
        state = self.state
        ticket = state.tickets.get(command.ticket)
        if ticket is None or ticket.by == "import":
            raise NotFound("There is no such ticket.")
        if command.rater is not None and ticket.rater not in (None, command.rater):
            raise Forbidden("This ticket is another rater's.")
        rater = ticket.rater or command.rater
        request = request_id(command.next_request or f"after {ticket.event}")
        if command.next and rater is None:
            raise BadInput("Only a rater can be given a next ticket. This ticket belongs to none.")
        ballot = normal(command.ballot, state.settings.question, len(ticket.shown))
        if ticket.vote is None:
            self.not_closed()
            if command.rater is not None:
                self.rater(command.rater)
            self.cast(ticket.id, ballot, rater, {} if ticket.rater else {"rater": rater})
            if state.may_settle(ticket.shown):
                self.announce()
        elif ticket.vote.ballot != log.canonical(ballot):
            raise Conflict("This ticket has another vote already.")
        vote = state.tickets[command.ticket].vote
        assert vote is not None
        receipt = c.Receipt(vote.event, "undone" if vote.undone else vote.counted)
        if not command.next:
            return receipt
        assert rater is not None
        try:
            following = self.ask(c.Ask(state.arena, rater, request))
        except Conflict as places:
            following = c.Done("places", str(places))
        return c.Receipt(receipt.event, receipt.counted, following)

    def cast(self, ticket: str | None, ballot: dict[str, Any], rater_id: str | None, more: dict[str, Any]) -> None:
        """Append a vote that has been checked."""
        state = self.state
        rater = state.raters[rater_id] if rater_id is not None else None
        if rater is None and state.settings.unit == "rater" and "skip" not in ballot:
            raise BadInput("This arena counts a rater's first judgement of a pair: it must be told whose vote it is.")
        late = ticket is not None and self._expired(state.tickets[ticket])
        limit = self._limit(rater) if rater else None
        beyond = rater is not None and limit is not None and rater.votes >= limit and "skip" not in ballot
        body: dict[str, Any] = {"ticket": ticket, "ballot": ballot, "late": late, **more}
        if beyond:
            body["aside"] = "limit"
        aside = beyond or (rater is not None and rater.quarantined)
        body["counted"] = "skipped" if "skip" in ballot else "aside" if aside else "late" if late else "counted"
        self.emit("vote", body)

    def undo(self, command: c.Undo) -> c.Receipt:
        state, rater = self.state, self.rater(command.rater)
        known = state.requests.get(f"undo:{rater.id}:{request_id(command.request)}")
        if known is None:
            self.not_closed()
            if not rater.voted:
                raise Conflict("There is no vote of this rater to take back.")
            old = state.tickets[rater.voted[-1]]
            again = self._new_id()
            number = self.emit("undo", {"rater": rater.id, "ticket": old.id, "request": command.request, "again": again})
            expires = log.moment(log.time_of(self.at) + timedelta(seconds=state.settings.expires))
            body = {
                "id": again,
                "rater": rater.id,
                "context": None if old.context is None else f"c{old.context + 1}",
                "stratum": old.stratum,
                "shown": [state.options[k].id for k in old.shown],
                "by": "undo",
                "expires": expires,
            }
            self.emit("ticket", body)
            self.announce()
            known = [number, again]
        return c.Receipt(known[0], "undone", self.shown(state.tickets[known[1]]))
