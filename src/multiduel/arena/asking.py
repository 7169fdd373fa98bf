"""Tickets: who is asked, and what is shown."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any

from multiduel.arena import commands as c
from multiduel.arena import events as log
from multiduel.arena.desk import Desk, request_id, stratum_of
from multiduel.arena.epochs import fingerprint, shuffled
from multiduel.arena.errors import Conflict
from multiduel.arena.records import RaterRecord, TicketRecord
from multiduel.arena.state import State
from multiduel.inputs import whole

MOST_PRINTED = 10_000
WHY = {
    "created": "This arena is not open yet.",
    "paused": "This arena is paused. Please come back later.",
    "closed": "This arena is closed. Thank you.",
    "settled": "It is settled: no more votes are needed. Thank you.",
    "limit": "You have given as many votes as one person may. Thank you.",
    "judged": "You have judged all there is to compare. Thank you.",
    "one_option": "There is only one option left: nothing to compare.",
}


class Asking(Desk):
    def ask(self, command: c.Ask) -> c.Ticket | c.Done:
        state, rater = self.state, self.rater(command.rater)
        known = state.asks.get(f"{rater.id}:{request_id(command.request)}")
        if known is not None:
            return self.shown(state.tickets[known[0]])
        stratum = stratum_of(command.stratum) or rater.stratum
        why = self._nothing_to_ask()
        if why is not None:
            return why
        held = [one for one in rater.open if not self._expired(state.tickets[one])]
        if len(held) >= state.settings.places:
            if state.settings.places == 1:
                return self.shown(state.tickets[held[-1]])
            raise Conflict(f"All {state.settings.places} places of this rater are taken. Vote, or wait until a ticket expires.")
        limit = self._limit(rater)
        if limit is not None and rater.votes + len(held) >= limit:
            return _done("limit")
        if self._judged_all(rater):
            return _done("judged")
        expires = log.moment(log.time_of(self.at) + timedelta(seconds=state.settings.expires))
        return self._issue(rater, stratum, expires, {"request": command.request})

    def _nothing_to_ask(self) -> c.Done | None:
        state = self.state
        if state.status != "open":
            return _done(state.status)
        if state.settled() and not state.settings.go_on:
            return _done("settled")
        return _done("one_option") if len(state.present) < 2 else None

    def _expired(self, ticket: TicketRecord) -> bool:
        return ticket.expires is not None and ticket.expires <= self.at

    def _limit(self, rater: RaterRecord) -> int | None:
        return rater.limit if rater.limit is not None else self.state.settings.limit

    def _judged_all(self, rater: RaterRecord) -> bool:
        """Where only the first judgement of a pair counts: is there none left for this rater?"""
        here = self.state.present
        if self.state.settings.unit != "rater" or rater.pairs < len(here) * (len(here) - 1) // 2:
            return False
        return not any(self._unjudged(rater, i, here) for i in here)

    def _unjudged(self, rater: RaterRecord, i: int, others: Any) -> list[int]:
        return [j for j in others if j != i and not self.state.tally.has_judged(rater.id, i, j)]

    def _issue(self, rater: RaterRecord | None, stratum: str | None, expires: str | None, more: dict[str, Any]) -> c.Ticket:
        state = self.state
        why = state.needs_epoch()
        if why:
            self._begin_epoch(why)
        choice = state.choose()
        number = state.number + 1
        arms, by = choice
        if rater is not None and state.settings.unit == "rater" and not any(self._unjudged(rater, i, arms) for i in arms):
            arms, by = self._unseen(rater, arms, number), "unseen"
        shown = shuffled(state.seed, number, "order", arms)
        context = self._context(rater, number)
        body = {
            "id": self._new_id(),
            "rater": rater.id if rater else None,
            "context": None if context is None else f"c{context + 1}",
            "stratum": stratum,
            "shown": [state.options[k].id for k in shown],
            "by": by,
            "chosen": {"options": [state.options[k].id for k in choice.arms], "by": choice.by},
            "expires": expires,
            **more,
        }
        self.emit("ticket", body)
        return self.shown(state.tickets[body["id"]])

    def _begin_epoch(self, why: list[str]) -> None:
        state, settings = self.state, self.state.settings
        body = {
            "why": why,
            "policy": settings.policy,
            "parameters": dict(settings.parameters),
            "options": [state.options[k].id for k in state.present],
            "fingerprint": fingerprint(settings.policy),
            "rounds": state.rounds,
        }
        self.emit("epoch", body)

    def _unseen(self, rater: RaterRecord, arms: tuple[int, ...], number: int) -> tuple[int, ...]:
        """The choice has nothing new for this rater: the first of its options that can meets others not yet judged."""
        here = self.state.present
        for i in (*arms, *shuffled(self.state.seed, number, "unseen", here)):
            rivals = self._unjudged(rater, i, here)
            if rivals:
                return (i, *shuffled(self.state.seed, number, "rivals", rivals)[: self.state.settings.slate_size - 1])
        raise AssertionError("a rater who has judged all is not asked")

    def _context(self, rater: RaterRecord | None, number: int) -> int | None:
        """One of those that this rater has seen least."""
        n = len(self.state.contexts)
        if n == 0:
            return None
        seen = rater.contexts if rater else {}
        least = min(seen.get(k, 0) for k in range(n))
        return shuffled(self.state.seed, number, "context", [k for k in range(n) if seen.get(k, 0) == least])[0]

    def _new_id(self) -> str:
        return f"{self.state.arena}-{secrets.token_urlsafe(16)}"

    def print_tickets(self, command: c.PrintTickets) -> tuple[c.Ticket, ...]:
        state = self.state
        known = state.asks.get(f"print:{request_id(command.request)}")
        if known is None:
            number = whole("number", command.number, 1, MOST_PRINTED, of="tickets to print")
            rater = self.rater(command.rater) if command.rater is not None else None
            stratum = stratum_of(command.stratum) or (rater.stratum if rater else None)
            why = self._nothing_to_ask()
            if why is not None:
                raise Conflict(why.sentence)
            if rater is not None and state.settings.unit == "rater":
                raise Conflict("Tickets printed for one rater would show pairs again, and they count once here. Name no rater.")
            for place in range(number):
                self._issue(rater, stratum, None, {"request": command.request, "place": place})
            known = state.asks[f"print:{command.request}"]
        return tuple(self.shown(state.tickets[one]) for one in known)

    def shown(self, ticket: TicketRecord) -> c.Ticket:
        return shown_ticket(self.state, ticket)


def _done(why: str) -> c.Done:
    return c.Done(why, WHY[why])


def shown_ticket(state: State, ticket: TicketRecord) -> c.Ticket:
    return c.Ticket(
        ticket.id,
        state.arena,
        ticket.rater,
        None if ticket.context is None else f"c{ticket.context + 1}",
        ticket.stratum,
        tuple(state.options[k].id for k in ticket.shown),
        ticket.by,
        ticket.issued,
        ticket.expires,
    )
