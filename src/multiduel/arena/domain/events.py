"""Events: what happened in an arena, numbered, and chained by hashes. Nothing is ever altered; what is undone is a new event."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from multiduel.arena.domain.errors import BrokenLog

SCHEMA = 1  # of the bodies; `created` carries it
START = "0" * 64  # the hash before the first event

KINDS = (
    "created",
    "opened",
    "paused",
    "closed",
    "option_added",
    "option_retired",
    "rater_admitted",
    "quarantined",
    "released",
    "policy_changed",
    "margin_changed",
    "epoch",
    "ticket",
    "vote",
    "undo",
    "verdict",
    "notified",
)


class Event(NamedTuple):
    number: int  # 1, 2, ... per arena
    kind: str
    at: str  # UTC, ISO 8601, microseconds; what the clock said: `clock.py`
    body: dict[str, Any]
    hash: str  # of the hash before it and of all the above
    text: str = ""  # the body as it is stored: canonical JSON


_KNOWN_KINDS = frozenset(KINDS)
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(body: Mapping[str, Any]) -> str:
    """One text per value: keys in order, no spaces, UTF-8."""
    return _CANONICAL.encode(body)


def decoded(text: str) -> Any:
    """The value of a JSON text, as ``json.loads`` gives it. Another decoder goes first: it refuses more, and is quicker."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return json.loads(text)


def chained(previous: str, number: int, kind: str, at: str, text: str) -> str:
    """The hash of an event whose body is the canonical ``text``: of canonical JSON of at, body, kind and number."""
    whole = f'{previous}{{"at":"{at}","body":{text},"kind":"{kind}","number":{number}}}'
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def next_event(previous: Event | None, kind: str, at: str, body: Mapping[str, Any]) -> Event:
    number, before = (previous.number + 1, previous.hash) if previous else (1, START)
    return sealed(number, before, kind, at, body)


def sealed(number: int, before: str, kind: str, at: str, body: Mapping[str, Any]) -> Event:
    text = canonical(body)
    return Event(number, kind, at, decoded(text), chained(before, number, kind, at, text), text)


def read(number: int, kind: str, at: str, text: str, hash: str) -> Event:
    """An event as a journal stored it; ``check`` says whether it is what was written."""
    try:
        body = decoded(text)
    except (ValueError, TypeError, RecursionError):
        raise BrokenLog(number, "its body is no JSON") from None
    if not isinstance(body, dict) or kind not in _KNOWN_KINDS:
        raise BrokenLog(number, f"it is of kind '{kind}', which this version does not know, or has no body")
    return Event(number, kind, at, body, hash, text)


def check(event: Event, number: int, before: str) -> None:
    """Is this the event that follows?"""
    if event.number != number:
        raise BrokenLog(number, f"it is missing, the next one is {event.number}")
    if event.hash != chained(before, event.number, event.kind, event.at, event.text):
        raise BrokenLog(number, "its hash does not fit what it says and the event before it")


def check_all(events: Iterable[Event], number: int = 0, hash: str = START) -> Iterable[Event]:
    """The events that follow event ``number``, each checked as it passes."""
    for event in events:
        check(event, number + 1, hash)
        number, hash = event.number, event.hash
        yield event


def upgrade(event: Event, schema: int) -> Event:
    """The event with a body of the present schema. Older logs stay as they were written; they are understood on reading."""
    if not 1 <= schema <= SCHEMA:
        raise BrokenLog(event.number, f"its log has schema {schema}, this version knows schemas 1 to {SCHEMA}")
    return event  # there has been one schema so far


def to_line(event: Event) -> str:
    """A line of an exported log. ``body`` is in its canonical form, so that anyone can check the chain."""
    head = json.dumps({"number": event.number, "kind": event.kind, "at": event.at, "hash": event.hash}, separators=(",", ":"))
    return f'{head[:-1]},"body":{event.text}}}'


def from_line(line: str) -> Event:
    try:
        row = decoded(line)
        number, words = row["number"], [row[name] for name in ("kind", "at", "hash")]
        if type(number) is not int or not all(isinstance(word, str) for word in words):
            raise TypeError
        return read(number, words[0], words[1], canonical(row["body"]), words[2])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BrokenLog(0, "a line of the log is no event") from None


def moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def time_of(at: str) -> datetime:
    return datetime.fromisoformat(at)
