"""The tickets of an arena: those that are open in memory, those that closed in the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from sys import intern
from typing import Any

import msgspec

from multiduel.arena.domain import events as log
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.past import LINE, Past, rater_key, ticket_key
from multiduel.arena.domain.records import TicketRecord, VoteRecord

AT_ONCE = 1_000  # tickets of a rater that are looked up together


def context_of(context: str | None) -> int | None:
    """A context's place from its id."""
    return None if context is None else int(context[1:]) - 1


def vote_id(event: Event) -> str | None:
    """The id of the ticket that a vote or an undo is about, or of what stands for one; None for other events."""
    if event.kind not in ("vote", "undo"):
        return None
    id: str = event.body["ticket"] or f"{LINE}{event.body['line']}"
    return id


def ballot_text(ballot: dict[str, Any]) -> str:
    """A ballot as canonical JSON. There are few, and many votes: most are known."""
    try:
        return _known_ballot(msgspec.json.encode(ballot))
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):  # of an altered log
        return log.canonical(ballot)


@lru_cache(maxsize=4096)
def _known_ballot(text: bytes) -> str:
    return log.canonical(msgspec.json.decode(text))


def vote_record(event: Event) -> VoteRecord:
    """The vote that an event holds."""
    body = event.body
    said, counted = ballot_text(body["ballot"]), intern(body["counted"])
    return VoteRecord(event.number, event.at, said, counted, body["late"], body.get("aside", ""))


class Tickets:
    """All tickets. One that a rater voted on, or let expire, leaves the memory with ``trim``; then its events are looked up.

    Parameters
    ----------
    past
        The log, where it is stored; None: everything stays in memory.
    index
        Gives an option's place from its id.
    number
        Gives the number of the last event that was applied.
    """

    def __init__(self, past: Past | None, index: Callable[[str], int], number: Callable[[], int]) -> None:
        self.past, self._index, self._number = past, index, number
        self.memory: dict[str, TicketRecord] = {}
        self._closed: list[str] = []  # that may leave the memory

    def __getitem__(self, id: str) -> TicketRecord:
        ticket = self.get(id)
        if ticket is None:
            raise KeyError(id)
        return ticket

    def __contains__(self, id: object) -> bool:
        return self.get(id) is not None

    def get(self, id: object) -> TicketRecord | None:
        """A ticket with its vote, or None."""
        if not isinstance(id, str):
            return None
        ticket = self.memory.get(id)
        if ticket is None and self.past is not None:
            return self._made(id, self.past.about(ticket_key(id), self._number()))
        return ticket

    def hold(self, ticket: TicketRecord) -> None:
        """Keep a ticket in memory until it is closed."""
        self.memory[ticket.id] = ticket

    def close(self, ticket: TicketRecord) -> None:
        """Let a ticket, which may have been looked up and changed, leave the memory with the next ``trim``."""
        self.memory[ticket.id] = ticket
        self._closed.append(ticket.id)

    def trim(self) -> None:
        """Forget closed tickets. All events so far must be stored."""
        if self.past is not None:
            for id in self._closed:
                self.memory.pop(id, None)
            self._closed.clear()

    def issued(self, event: Event) -> TicketRecord:
        """The ticket that an event holds, without its vote."""
        body = event.body
        return TicketRecord(
            body["id"],
            event.number,
            body["rater"],
            context_of(body["context"]),
            body["stratum"],
            tuple(map(self._index, body["shown"])),
            intern(body["by"]),
            event.at,
            body["expires"],
            body.get("request"),
            "place" in body,
        )

    def shown_elsewhere(self, event: Event) -> TicketRecord:
        """What stands for a ticket where a vote is on none."""
        body = event.body
        shown, context = tuple(map(self._index, body["shown"])), context_of(body["context"])
        id, rater = f"{LINE}{body['line']}", body.get("rater")
        return TicketRecord(id, event.number, rater, context, body["stratum"], shown, "import", event.at, None)

    def _made(self, id: str, events: list[Event]) -> TicketRecord | None:
        """A ticket from the events about it."""
        ticket: TicketRecord | None = None
        for event in events:
            body = event.body
            if event.kind == "ticket" and body["id"] == id:
                ticket = self.issued(event)
            elif event.kind == "vote" and (body["ticket"] or f"{LINE}{body.get('line')}") == id:
                ticket = self.with_vote(ticket, event)
            elif event.kind == "undo" and body["ticket"] == id and ticket is not None and ticket.vote is not None:
                ticket.vote.undone = True
        if ticket is not None and not ticket.printed:  # one that a rater holds would be in memory
            ticket.lapsed = ticket.vote is None
        return ticket

    def with_vote(self, ticket: TicketRecord | None, event: Event) -> TicketRecord | None:
        """The ticket, or what stands for one, with the vote that an event holds."""
        if event.body["ticket"] is None:
            ticket = self.shown_elsewhere(event)
        if ticket is not None:
            ticket.vote = vote_record(event)
            ticket.rater = event.body.get("rater") or ticket.rater
        return ticket

    def of_rater(self, rater: str) -> list[TicketRecord]:
        """The tickets on which this rater has votes that were not undone, in the order of the votes."""
        found = {ticket.id: ticket for ticket in self.memory.values() if ticket.rater == rater}
        if self.past is not None:
            ids: dict[str, None] = {}
            for event in self.past.about(rater_key(rater), self._number()):
                body = event.body
                ids[body["id"] if event.kind == "ticket" else body["ticket"] or f"{LINE}{body['line']}"] = None
            wanted = [id for id in ids if id not in self.memory]
            for start in range(0, len(wanted), AT_ONCE):
                found |= self.many(wanted[start : start + AT_ONCE])
        voted = [(one.vote.event, one) for one in found.values() if one.vote is not None and not one.vote.undone]
        return [one for _, one in sorted(voted, key=lambda pair: pair[0]) if one.rater == rater]

    def many(self, ids: list[str]) -> dict[str, TicketRecord]:
        """These tickets, with their votes, by their ids. None of them may be open, but for printed ones."""
        assert self.past is not None
        about: dict[str, list[Event]] = {id: [] for id in ids}
        for event in self.past.about_all(map(ticket_key, ids), self._number()):
            body = event.body
            id = body["id"] if event.kind == "ticket" else vote_id(event)
            if id is not None and id in about:
                about[id].append(event)
        made = ((id, self._made(id, events)) for id, events in about.items())
        return {id: ticket for id, ticket in made if ticket is not None}

    def values(self) -> Iterator[TicketRecord]:
        """All tickets: those with votes first, in the order of the votes. It takes as long as reading the log."""
        if self.past is None:
            yield from self.memory.values()
            return
        number = last = self._number()
        undone = {event.body["ticket"] for event in self.past.events(number, "undo")}
        waiting: dict[str, TicketRecord] = {}
        last = 0
        for event in self.past.events(number):
            last = event.number
            if event.kind == "ticket":
                waiting[event.body["id"]] = self.issued(event)
            elif event.kind == "vote":
                ticket = self.with_vote(waiting.pop(event.body["ticket"] or "", None), event)
                assert ticket is not None and ticket.vote is not None
                ticket.vote.undone = ticket.id in undone
                yield self.memory.get(ticket.id, ticket)
        for ticket in waiting.values():
            yield self.memory.get(ticket.id, ticket)
        yield from [ticket for ticket in self.memory.values() if ticket.event > last]
