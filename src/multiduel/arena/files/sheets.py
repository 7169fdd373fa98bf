"""Tickets printed ahead, as a table: a line per ticket, the owner's instructions if there are any, a column per place, and room
for the answer.

Filled in, the same file is a file of votes (see batches). Nothing on it says which option is which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from multiduel.arena.domain.commands import Ticket
from multiduel.arena.domain.options import Content
from multiduel.arena.files.batches import letter
from multiduel.arena.files.exports import csv_lines
from multiduel.arena.service.service import Service

MOST_SHEETS = 1_000  # at once


def sheets_of(service: Service, arena: str, tickets: Sequence[Ticket]) -> Iterator[str]:
    """The lines of the CSV for these tickets of an arena."""
    info = service.info(arena)
    contexts = {context["id"]: context["text"] for context in info.contexts}

    def content(ticket: Ticket, position: int) -> Content:
        return service.content(ticket.id, position)

    settings = info.settings
    return sheet_lines(tickets, content, question=settings.question, contexts=contexts, instructions=settings.instructions)


def sheet_lines(
    tickets: Sequence[Ticket],
    content: Callable[[Ticket, int], Content],
    *,
    question: str,
    contexts: Mapping[str, str],
    instructions: str = "",
) -> Iterator[str]:
    """The lines of the CSV. An image or a sound is named by where the server shows it for this ticket only."""
    places = max((len(ticket.options) for ticket in tickets), default=0)
    told = {"instructions": instructions} if instructions.strip() else {}
    columns = ["ticket", "group", "context", *told, *map(letter, range(places)), question, "skip", "rater"]

    def rows() -> Iterator[list[object]]:
        for ticket in tickets:
            shown = [describe(ticket, position, content(ticket, position)) for position in range(len(ticket.options))]
            shown += [""] * (places - len(shown))
            context = contexts.get(ticket.context or "", "")
            yield [ticket.id, ticket.group or "", context, *told.values(), *shown, "", "", ""]

    return csv_lines(columns, rows())


def describe(ticket: Ticket, position: int, content: Content) -> str:
    if content.kind in ("image", "audio"):
        return f"({content.kind}: /tickets/{ticket.id}/contents/{position})"
    return content.data.decode("utf-8")
