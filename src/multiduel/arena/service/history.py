"""The log behind a state: where a fold finds closed tickets, and how the whole of it is read without holding up votes."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.past import Past, ask_key, line_key, sheet_key, ticket_key, undo_key
from multiduel.arena.domain.state import State
from multiduel.arena.domain.ticket_store import Tickets
from multiduel.arena.journal import Journal


def past_in(journal: Journal, arena: str) -> Past:
    """The log of an arena in a journal."""
    return Past(
        lambda keys, last: journal.about(arena, keys, last),
        lambda kind: journal.of_kind(arena, kind) if kind else journal.stream(arena),
    )


def keys_ahead(state: State, commands: Iterable[Any]) -> Iterator[str]:
    """What these commands will look up: found together, they cost one question to the database. Commands are not checked yet."""
    for command in commands:
        if isinstance(command, c.Ask):
            yield ask_key(command.rater, f"{command.request}")
        elif isinstance(command, c.Undo):
            yield undo_key(f"{command.rater}", f"{command.request}")
        elif isinstance(command, c.PrintTickets):
            yield sheet_key(f"{command.request}")
        elif isinstance(command, c.Vote) and isinstance(command.ticket, str):
            ticket = state.tickets.memory.get(command.ticket)
            if ticket is None:
                yield ticket_key(command.ticket)
            elif command.next:
                yield ask_key(ticket.rater or command.rater, f"{command.next_request or f'after {ticket.event}'}")
        elif isinstance(command, c.ImportVotes):
            for line in command.lines:
                yield line_key(f"{line.id}")
                if isinstance(line.ticket, str):
                    yield ticket_key(line.ticket)


def reading(state: State, journal: Journal) -> State:
    """The state as it is now, to read all its tickets by, after the lock is given back. It must not be changed."""
    then = copy.copy(state)
    number, place = state.number, {option.id: k for k, option in enumerate(state.options)}
    then.options, then.raters = list(state.options), {rater.id: replace(rater) for rater in state.raters.values()}
    then.tickets = Tickets(past_in(journal, state.arena), place.__getitem__, lambda: number)
    return then
