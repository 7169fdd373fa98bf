"""Logs from elsewhere: an exported log becomes an arena, if it is one that an arena could have written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from multiduel.arena.domain.commands import ArenaInfo
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.options import make_content
from multiduel.arena.files.verify import verify_log
from multiduel.arena.service.service import Service
from multiduel.inputs import BadInput


def import_log(service: Service, events: Sequence[Event], contents: Mapping[str, bytes]) -> ArenaInfo:
    """Check an exported log, and make it an arena of this service, under its own id.

    Parameters
    ----------
    service
        Whose journal keeps the log. The same log again changes nothing.
    events, contents
        As ``exports.read_log`` reads them from a file.

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
    check_log(events, contents)
    return service.add_checked_log(events, contents)


def check_log(events: Sequence[Event], contents: Mapping[str, bytes]) -> None:
    """Refuse a log from elsewhere that is not one that an arena could have written."""
    if not events:
        raise BadInput("A log must have events. Got none.")
    report = verify_log(events, contents)
    if report.first is not None:
        raise BadInput(f"This log cannot be taken: event {report.first[0]}, {report.first[1]}.")
    for event in events:
        if event.kind in ("created", "option_added"):
            _check_contents(event, contents)


def _check_contents(event: Event, contents: Mapping[str, bytes]) -> None:
    """Are the contents what the event says of them? Their type is what a browser is told."""
    for option in event.body["options"]:
        for said in option["contents"]:
            where = f"Event {event.number}: a content of option {option['id']}"
            made = make_content(said["kind"], contents[said["sha256"]], where).describe()
            if made != {name: said[name] for name in made}:
                raise BadInput(f"{where} is not what the event says of it.")
