"""Logs as files, and tables for spreadsheets. A cell that a spreadsheet would take for a formula is written as text.

>>> "".join(csv_lines(["name", "wins"], [["=1+1", 3], ["mild", -2]]))
"name,wins\\r\\n'=1+1,3\\r\\nmild,-2\\r\\n"
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from multiduel.arena.domain.errors import BrokenLog
from multiduel.arena.domain.events import Event, check_all, from_line, to_line
from multiduel.arena.journal import Journal
from multiduel.inputs import BadInput
from multiduel.spreadsheets import harmless


class _Line:
    """Where ``csv`` writes a row to: ``writerow`` returns what ``write`` does, the line itself."""

    def write(self, line: str) -> str:
        return line


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """A table line by line, its names first."""
    line: Callable[[Iterable[Any]], Any] = csv.writer(_Line()).writerow
    for row in chain((columns,), rows):
        yield line([harmless(cell) for cell in row])


# ---- logs


def log_lines(events: Iterable[Event], content: Callable[[str], bytes | None]) -> Iterator[str]:
    """A log as JSONL: a line per event, and a line per content, so that whoever has the file has the whole arena."""
    seen: dict[str, None] = {}
    for event in events:
        yield to_line(event) + "\n"
        if event.kind in ("created", "option_added"):
            seen.update((one["sha256"], None) for option in event.body["options"] for one in option["contents"])
    for sha256 in seen:
        data = content(sha256)
        if data is not None:
            yield json.dumps({"content": sha256, "base64": base64.b64encode(data).decode("ascii")}, separators=(",", ":")) + "\n"


def whole_events(journal: Journal, arena: str) -> Iterator[Event]:
    """The events of a log up to the first that is missing, altered or unknown: all of them, if none is."""
    try:
        yield from check_all(journal.stream(arena))
    except BrokenLog:
        return


def read_log(lines: Iterable[str]) -> tuple[list[Event], dict[str, bytes]]:
    """The events and contents of a file that ``log_lines`` wrote. Whether they are whole and in order is checked later."""
    events, contents = stream_log(lines)
    return list(events), contents


def stream_log(lines: Iterable[str]) -> tuple[Iterator[Event], dict[str, bytes]]:
    """The same, event by event. The contents, which come last in a file, are there when the events have been read."""
    contents: dict[str, bytes] = {}
    return _events_of(lines, contents), contents


def _events_of(lines: Iterable[str], contents: dict[str, bytes]) -> Iterator[Event]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if line.startswith('{"content"'):
                row = json.loads(line)
                data = base64.b64decode(row["base64"], validate=True)
                if hashlib.sha256(data).hexdigest() != row["content"]:
                    raise BadInput(f"Line {number}: this content is not what its hash says.")
                contents[row["content"]] = data
            else:
                yield from_line(line)
        except BrokenLog:
            raise BadInput(f"Line {number}: this is no event of an arena's log.") from None
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            if isinstance(error, BadInput):
                raise
            raise BadInput(f"Line {number}: this is no line of an arena's log.") from None


def log_table(events: Iterable[Event]) -> Iterator[str]:
    """A log as CSV, for people: one line per event, what it says as JSON in the last cell."""
    return csv_lines(
        ("number", "at", "kind", "actor", "rater", "ticket", "body", "hash"),
        (
            [e.number, e.at, e.kind, *(e.body.get(name) for name in ("actor", "rater")), _ticket(e), e.text, e.hash]
            for e in events
        ),
    )


def _ticket(event: Event) -> Any:
    return event.body.get("ticket") or event.body.get("id")
