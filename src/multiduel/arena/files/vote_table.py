"""The votes as a flat table, a row per vote, with names instead of ids: CSV for spreadsheets, Parquet for programs.

The log says what happened in its order; this table says what came of each vote, as of the last event that is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from multiduel.arena.domain.clock import is_measurable
from multiduel.arena.domain.events import Event, time_of
from multiduel.arena.domain.state import State
from multiduel.arena.files.exports import csv_lines
from multiduel.arena.journal import Journal
from multiduel.arena.service.service import Service
from multiduel.inputs import BadInput, install

BATCH = 10_000  # rows of a Parquet file that are written at once
PAGE = 2_000  # undo events read at once


class VoteRow(NamedTuple):
    """A vote. The names of the fields are the columns of the table."""

    vote: int  # number of its event in the log
    time: str  # UTC
    rater: str | None  # label
    kind: str | None  # of the rater
    group: str | None  # the rater's centre or team
    context: str | None
    shown: tuple[str, ...]  # in the order shown
    answer: str  # "mild>sharp=bitter", the one chosen, "skip", or weights as JSON
    seconds: float | None  # from ticket to vote; none on paper, from files, and where the clock jumped
    late: bool
    excluded: str  # why it does not count: "limit" or "quarantine"; empty if it does, or says nothing
    undone: bool


@dataclass(frozen=True)
class Names:
    """What an arena calls its options, contexts and raters, and which votes were undone, after event ``number``."""

    number: int
    at: str
    options: Mapping[str, str]
    contexts: Mapping[str, str]
    raters: Mapping[str, tuple[str, str, bool]]  # label, kind, whether the votes are excluded
    undone: frozenset[str]  # tickets

    @classmethod
    def of(cls, state: State, undone: Iterable[str]) -> Names:
        """Take the names from the state at one moment."""
        return cls(
            state.number,
            state.at,
            {option.id: option.name for option in state.options},
            {f"c{k}": text for k, text in enumerate(state.contexts, 1)},
            {one.id: (one.label, one.kind, one.quarantined) for one in state.raters.values()},
            frozenset(undone),
        )


class Issued(NamedTuple):
    """A ticket, until its vote comes."""

    rater: str | None
    group: str | None
    context: str | None
    shown: tuple[str, ...]
    at: str
    expires: str | None


def vote_rows(events: Iterable[Event], names: Names) -> Iterator[VoteRow]:
    """The votes among the events of a log, in their order."""
    tickets: dict[str, Issued] = {}
    called = names.options
    for event in events:
        body = event.body
        if event.number > names.number:
            return
        if event.kind == "ticket":
            shown = tuple(called[one] for one in body["shown"])
            tickets[body["id"]] = Issued(body["rater"], body["stratum"], body["context"], shown, event.at, body["expires"])
        elif event.kind == "vote":
            yield _row(event, body, tickets.pop(body["ticket"]) if body["ticket"] is not None else _elsewhere(event), names)


def _elsewhere(event: Event) -> Issued:
    """What was shown by another system, as its line says."""
    body = event.body
    return Issued(body.get("rater"), body["stratum"], body["context"], body["shown"], event.at, None)


def _row(event: Event, body: Mapping[str, Any], ticket: Issued, names: Names) -> VoteRow:
    shown = ticket.shown if body["ticket"] is not None else tuple(names.options[one] for one in ticket.shown)
    label, kind, quarantined = names.raters.get(body.get("rater") or ticket.rater or "", (None, None, False))
    says = "skip" not in body["ballot"]
    return VoteRow(
        event.number,
        event.at,
        label,
        kind,
        ticket.group,
        names.contexts.get(ticket.context or ""),
        shown,
        answer_text(body["ballot"], shown),
        _seconds(ticket, event.at, names.at),
        body["late"],
        "limit" if "aside" in body else "quarantine" if quarantined and says else "",
        (body["ticket"] if body["ticket"] is not None else f"line:{body['line']}") in names.undone,
    )


def _seconds(ticket: Issued, at: str, now: str) -> float | None:
    if ticket.expires is None or not is_measurable(ticket.at, at, now):
        return None
    return round((time_of(at) - time_of(ticket.at)).total_seconds(), 3)


def answer_text(ballot: Mapping[str, Any], shown: tuple[str, ...]) -> str:
    """A ballot in names, as a file of votes writes it.

    >>> answer_text({"rank": [[1], [0, 2]]}, ("mild", "sharp", "bitter")), answer_text({"best": 2}, ("mild", "sharp", "bitter"))
    ('sharp>mild=bitter', 'bitter')
    """
    ((kind, said),) = ballot.items()
    if kind == "rank":
        return ">".join(["=".join([shown[place] for place in group]) for group in said])
    if kind == "skip":
        return "skip"
    return json.dumps(said) if kind == "wins" else shown[said]


# ---- files


def rows_of(service: Service, arena: str) -> Iterator[VoteRow]:
    """The votes of an arena up to now."""
    undone = _undone(service.journal, arena)
    with service.look(arena) as state:
        names = Names.of(state, undone)
    return vote_rows(service.journal.stream(arena), names)  # in order: the state was folded from it


def _undone(journal: Journal, arena: str) -> list[str]:
    """The tickets whose votes were undone."""
    found: list[str] = []
    before = 2**62
    while page := journal.newest(arena, 1, before, PAGE, "undo"):
        found += [event.body["ticket"] for event in page]
        before = page[-1].number
    return found


def vote_table(rows: Iterable[VoteRow]) -> Iterator[str]:
    """The table as CSV, line by line. What was shown is separated by ``|``."""
    return csv_lines(VoteRow._fields, (_cells(row) for row in rows))


def _cells(row: VoteRow) -> tuple[Any, ...]:
    return (*row[:6], "|".join(row.shown), *row[7:9], "true" if row.late else "false", row[10], "true" if row.undone else "false")


def write_parquet(rows: Iterable[VoteRow], file: Any) -> int:
    """Write the table as Parquet. Returns how many votes it has."""
    arrow, parquet = _pyarrow()
    types = {"vote": arrow.int64(), "shown": arrow.list_(arrow.string()), "seconds": arrow.float64()}
    types |= dict.fromkeys(("late", "undone"), arrow.bool_())
    schema = arrow.schema([(name, types.get(name, arrow.string())) for name in VoteRow._fields])
    left, written = iter(rows), 0
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while batch := list(islice(left, BATCH)):
            columns = [arrow.array(column, kind) for column, kind in zip(zip(*batch, strict=True), schema.types, strict=True)]
            writer.write_batch(arrow.record_batch(columns, schema=schema))
            written += len(batch)
    return written


def format_of_votes(out: Path) -> str:
    """The format that a file's name asks for."""
    format = out.suffix.lower().removeprefix(".")
    if format not in ("csv", "parquet"):
        raise BadInput(f"A table of votes is a .csv or .parquet file. Got '{out}'.")
    return format


def write_votes(service: Service, arena: str, draft: Path, format: str) -> None:
    """Write the votes of an arena to a file."""
    rows = rows_of(service, arena)
    if format == "parquet":
        write_parquet(rows, draft)
    else:
        with draft.open("w", encoding="utf-8", newline="") as file:
            file.writelines(vote_table(rows))


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise BadInput(f"Parquet needs one more package: {install('lab')}.") from None
    return pyarrow, parquet
