"""Logs from elsewhere: an exported log becomes an arena, if it is one that an arena could have written.

A log may be longer than the memory: it is written to a database of its own, checked there, and then copied in one transaction.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import chain, islice

from multiduel.arena.domain import events as log
from multiduel.arena.domain.commands import ArenaInfo
from multiduel.arena.domain.errors import BrokenLog
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.options import make_content
from multiduel.arena.files.verify import Verifier
from multiduel.arena.journal import ArenaRow, Journal, connect
from multiduel.arena.service.history import past_in
from multiduel.arena.service.service import Service
from multiduel.inputs import BadInput

NAME = "log"  # of the arena in the database that a log is checked in
PAGE = 5_000  # events that are stored together


def import_log(service: Service, events: Iterable[Event], contents: Mapping[str, bytes]) -> ArenaInfo:
    """Check an exported log, and make it an arena of this service, under its own id.

    Parameters
    ----------
    service
        Whose journal keeps the log. The same log again changes nothing.
    events, contents
        As ``exports.stream_log`` or ``read_log`` reads them from a file. The contents need not be there before the last event is.

    Returns
    -------
    ArenaInfo
        The arena after the last event.

    Raises
    ------
    BadInput
        If no arena could have written this log, or a content is missing or altered.
    Conflict
        If the service has an arena of this id with another log.
    """
    with checked_log(events, contents) as checked:
        return service.add_checked_log(checked, contents)


def check_log(events: Iterable[Event], contents: Mapping[str, bytes]) -> None:
    """Refuse a log from elsewhere that is not one that an arena could have written."""
    with checked_log(events, contents):
        pass


@contextmanager
def checked_log(events: Iterable[Event], contents: Mapping[str, bytes]) -> Iterator[Iterator[Event]]:
    """The events of this log again, after all checks, for ``Service.add_checked_log``."""
    with tempfile.TemporaryDirectory() as folder, closing(connect(os.path.join(folder, "log.db"))) as journal:
        broken = _store(journal, events)
        stored = journal.stream(NAME)
        report = Verifier("", contents.get, None, past_in(journal, NAME)).check(chain(stored, broken))
        if report.events == 0 and report.first is None:
            raise BadInput("A log must have events. Got none.")
        if broken and report.first is None:
            report.first = (broken[0].number, "it cannot be stored")
        if report.first is not None:
            raise BadInput(f"This log cannot be taken: event {report.first[0]}, {report.first[1]}.")
        for kind in ("created", "option_added"):
            for event in journal.of_kind(NAME, kind):
                _check_contents(event, contents)
        yield journal.stream(NAME)


def _store(journal: Journal, events: Iterable[Event]) -> list[Event]:
    """Store the events up to the first that does not follow the one before it, or is no text. Returns that one, if there is
    one: checking it will tell."""
    broken: list[Event] = []
    left = _following(events, broken)
    row: ArenaRow | None = ArenaRow(NAME, NAME, None, "")
    while page := list(islice(left, PAGE)):
        with journal.transaction(NAME, row) as transaction:
            transaction.append(page)
        row = None
    return broken


def _following(events: Iterable[Event], broken: list[Event]) -> Iterator[Event]:
    number, hash = 0, log.START
    for event in events:
        try:
            log.check(event, number + 1, hash)
            f"{event.at}{event.text}".encode()
        except (BrokenLog, UnicodeEncodeError):
            broken.append(event)
            return
        number, hash = event.number, event.hash
        yield event


def _check_contents(event: Event, contents: Mapping[str, bytes]) -> None:
    """Are the contents what the event says of them? Their type is what a browser is told."""
    for option in event.body["options"]:
        for said in option["contents"]:
            where = f"Event {event.number}: a content of option {option['id']}"
            made = make_content(said["kind"], contents[said["sha256"]], where).describe()
            if made != {name: said[name] for name in made}:
                raise BadInput(f"{where} is not what the event says of it.")
