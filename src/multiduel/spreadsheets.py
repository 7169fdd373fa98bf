"""Text in CSV files that a spreadsheet of any locale takes for text, and its way back.

A spreadsheet runs a cell that begins with =, +, - or @. Where the decimal sign is a comma, CSV files are cut at semicolons: our
commas and the quotes around a cell mean nothing there, so that a semicolon or a line break *within* a cell begins another cell.
Every place where a cell may begin, in any locale, gets an apostrophe if what follows looks like a formula.

>>> harmless("=1+1"), harmless("mild;=1+1"), harmless("1 - 2; 3")
("'=1+1", "mild;'=1+1", '1 - 2; 3')
>>> original(harmless("mild;=1+1"))
'mild;=1+1'
"""

from __future__ import annotations

import json
import re
from typing import Any

_SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20"  # the last four: full width
_CUTS = r";|\t\r\n\u061b\uff1b"  # what separates cells or lines in some locale, but for our comma; Arabic and full width too
_SKIPPED = "[ \u00a0\"']*"  # blanks and quotes, which spreadsheets drop before they look
_START = rf"{_SKIPPED}[{_SIGNS}\t\r\n]"
_INNER = rf"{_SKIPPED}[{_SIGNS}]"
_UNSAFE = re.compile(rf"\A(?={_START})|(?<=[{_CUTS}])(?={_INNER})")
_AT_START, _AFTER_CUT = re.compile(_START), re.compile(f"[{_CUTS}]{_INNER}")  # two quick looks, as most cells are safe
_MADE_SAFE = re.compile(rf"\A'(?={_START})|(?<=[{_CUTS}])'(?={_INNER})")


def harmless(cell: Any) -> Any:
    """Text with an apostrophe wherever a spreadsheet would begin a formula; what is no text as JSON. Numbers stay numbers."""
    if cell is None or isinstance(cell, int | float):
        return cell
    written = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False, sort_keys=True)
    if written.isalnum():  # no sign among letters and digits
        return written
    written = written.replace("\0", "\ufffd")
    if _AT_START.match(written) is None and _AFTER_CUT.search(written) is None:
        return written
    return _UNSAFE.sub("'", written)


def original(cell: str) -> str:
    """The text that ``harmless`` was given. Text of other origin keeps its apostrophes, but for those before a formula."""
    return _MADE_SAFE.sub("", cell)
