"""Tables for spreadsheets. A cell that a spreadsheet would take for a formula is written as text.

>>> to_csv(["name", "wins"], [["=1+1", 3], ["mild", -2]])
"name,wins\\r\\n'=1+1,3\\r\\nmild,-2\\r\\n"
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four: full width


def harmless(cell: Any) -> Any:
    """Text that begins like a formula gets an apostrophe in front. Numbers stay numbers."""
    if cell is None or isinstance(cell, int | float):
        return cell
    written = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False, sort_keys=True)
    written = written.replace("\0", "\ufffd")
    return f"'{written}" if written.lstrip(" ").startswith(_FORMULA) or written.startswith("'") else written


def original(cell: str) -> str:
    """What ``harmless`` was given, if it was text."""
    return cell[1:] if cell.startswith("'") else cell


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """A table line by line, its names first."""
    yield _line(columns)
    for row in rows:
        yield _line(row)


def to_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    return "".join(csv_lines(columns, rows))


def _line(row: Sequence[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerow([harmless(cell) for cell in row])
    return buffer.getvalue()
