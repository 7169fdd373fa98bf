"""The events of a log that are not in memory: what each mentions, and how a fold finds those that mention something.

A fold holds open tickets, and of those that closed only what counts. Whoever needs a closed ticket (a vote sent again, an undo, a
quarantine) looks its events up by a key: ``t`` a ticket, ``l`` a line of a file, ``a`` a request of a rater for a ticket, ``u``
one for an undo, ``s`` one for sheets, ``r`` a rater's tickets and votes. A journal stores the keys of every event with the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from multiduel.arena.domain.events import Event

Find = Callable[[Sequence[str], int], Iterable[Event]]
LINE = "line:"  # begins the id under which a vote on no ticket is known


def ticket_key(ticket: str) -> str:
    """The key of a ticket, or of the line that stands for one."""
    return f"l {ticket.removeprefix(LINE)}" if ticket.startswith(LINE) else f"t {ticket}"


def line_key(line: str) -> str:
    return f"l {line}"


def ask_key(rater: str | None, request: str) -> str:
    return f"a {rater} {request}"


def undo_key(rater: str, request: str) -> str:
    return f"u {rater} {request}"


def sheet_key(request: str) -> str:
    return f"s {request}"


def rater_key(rater: str) -> str:
    return f"r {rater}"


def keys_of(event: Event) -> list[str]:
    """What this event can be found by."""
    body, kind = event.body, event.kind
    if kind == "ticket":
        keys = [ticket_key(body["id"])]
        request = body.get("request")
        if "place" in body:
            keys.append(sheet_key(request or ""))
        elif request is not None:
            keys.append(ask_key(body["rater"], request))
        if body["rater"] is not None:
            keys.append(rater_key(body["rater"]))
        return keys
    if kind == "vote":
        keys = [] if body.get("ticket") is None else [ticket_key(body["ticket"])]
        if body.get("line") is not None:
            keys.append(line_key(body["line"]))
        if body.get("rater") is not None:
            keys.append(rater_key(body["rater"]))
        return keys
    return [ticket_key(body["ticket"]), undo_key(body["rater"], body["request"])] if kind == "undo" else []


class Past:
    """A log, as far as it is stored.

    Parameters
    ----------
    find
        Returns the stored events that have one of these keys, in order, up to an event's number.
    stream
        Returns all stored events, or those of one kind, in order.
    """

    def __init__(self, find: Find, stream: Callable[[str], Iterable[Event]]) -> None:
        self._find, self._stream = find, stream
        self._ahead: dict[str, list[Event]] = {}

    def look_ahead(self, keys: Iterable[str], number: int) -> None:
        """Look these keys up at once, up to event ``number``."""
        wanted = list(dict.fromkeys(keys))
        self.keep(wanted, self._find(wanted, number) if wanted else ())

    def keep(self, keys: Iterable[str], events: Iterable[Event]) -> None:
        """Keep what was looked up: all stored events that have one of these keys. What was found, and what was not, stays so
        until ``forget``: whoever adds events remembers them until then."""
        found: dict[str, list[Event]] = {key: [] for key in keys}
        for event in events:
            for key in keys_of(event):
                if key in found:
                    found[key].append(event)
        self._ahead.update(found)

    def forget(self) -> None:
        """Forget what was looked up ahead."""
        self._ahead.clear()

    def about(self, key: str, number: int) -> list[Event]:
        """The events with this key, in order, up to event ``number``."""
        events = self._ahead.get(key)
        if events is None:
            events = [event for event in self._find([key], number) if key in keys_of(event)]
        return [event for event in events if event.number <= number]

    def about_all(self, keys: Iterable[str], number: int) -> list[Event]:
        """The events with any of these keys, in order, up to event ``number``."""
        wanted = set(keys)
        found = self._find(sorted(wanted), number) if wanted else ()
        return [event for event in found if wanted.intersection(keys_of(event))]

    def events(self, number: int, kind: str = "") -> Iterator[Event]:
        """All events up to event ``number``, or those of one kind."""
        for event in self._stream(kind):
            if event.number > number:
                return
            yield event


def past_of(events: Sequence[Event]) -> Past:
    """A log that is in memory."""

    def find(keys: Sequence[str], last: int) -> Iterator[Event]:
        wanted = set(keys)
        return (event for event in events if event.number <= last and wanted.intersection(keys_of(event)))

    return Past(find, lambda kind: (event for event in events if kind in ("", event.kind)))
