"""Tables: as text, HTML, LaTeX and for the terminal; and columns of data as frames of pandas or polars, and as files.

``documents`` writes the same ``Table`` as Markdown and into pages. A cell is text, in which **bold** is bold.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from multiduel.files import write_whole
from multiduel.inputs import BadInput, choice, install
from multiduel.spreadsheets import harmless

if TYPE_CHECKING:
    from rich.table import Table as RichTable

LIBRARIES = ("pandas", "polars")
ENDINGS = (".csv", ".json", ".parquet")
BOLD = re.compile(r"\*\*([^*]+)\*\*")


@dataclass(frozen=True)
class Table:
    """Cells under their heads."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[int] = ()  # columns that are set flush right
    title: str = ""
    folded: str = ""  # in a page, a line to click on that unfolds the table; in Markdown a line above it
    marks: Mapping[str, str] = field(default_factory=dict)  # in a page, colours by the first word of a cell, up to its colon


def number(value: float) -> str:
    """Write a number for reading, with three or four digits.

    >>> [number(x) for x in (123456.0, 12.3456, 0.01234, float("inf"))]
    ['123,456', '12.35', '0.01234', 'infinite']
    """
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if math.isnan(value):
        return "-"
    if abs(value) >= 1e7:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def power_of_ten(value: int) -> str:
    """Write a count as a power of ten where it is one. Figures, pages and LaTeX set "10^6" as a power.

    >>> power_of_ten(10**6), power_of_ten(48_000)
    ('10^6', '48,000')
    """
    digits = str(value)
    return f"10^{len(digits) - 1}" if len(digits) > 4 and digits == f"1{'0' * (len(digits) - 1)}" else f"{value:,}"


def between(interval: tuple[float, float] | None) -> str:
    """Write an interval for reading; a dash where there is none.

    >>> between((1.0, 2500.0)), between(None)
    ('1 to 2,500', '-')
    """
    return "-" if interval is None else f"{number(interval[0])} to {number(interval[1])}"


def frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """A DataFrame of ``library``, or of the first that is installed."""
    names = LIBRARIES if library is None else (choice("library", library, LIBRARIES),)
    for name in names:
        if importlib.util.find_spec(name) is not None:
            return importlib.import_module(name).DataFrame(dict(columns))
    raise BadInput(f"A frame needs {' or '.join(names)}, not installed here. Try: pip install {names[0]}")


def save(columns: Mapping[str, Any], facts: Any, path: str | Path) -> None:
    """The columns as .csv or .parquet, or the main numbers as .json."""
    ending = Path(path).suffix
    if ending == ".json":
        write_whole(path, json.dumps(facts, allow_nan=False) + "\n")
    elif ending == ".csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        cells = (map(harmless, np.asarray(column).tolist()) for column in columns.values())
        writer.writerow(map(harmless, columns))
        writer.writerows(zip(*cells, strict=True))
        write_whole(path, text.getvalue())
    elif ending == ".parquet":
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise BadInput(f"A .parquet file needs PyArrow, which is not installed. Try: {install('lab')}.") from None
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({name: np.asarray(column) for name, column in columns.items()}), sink, compression="zstd")
        write_whole(path, sink.getvalue().to_pybytes())
    else:
        raise BadInput(f"The file of results must end in {', '.join(ENDINGS)}. Got '{path}'.")


def html_table(table: Table) -> str:
    """Write a table for a notebook. All that is in it is text, whatever it looks like."""
    from html import escape

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    title = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    body = "".join(line(row, "td") for row in table.rows)
    return f"<table>{title}<thead>{line(table.head, 'th')}</thead><tbody>{body}</tbody></table>"


def text_table(table: Table) -> str:
    """Write a table as text: columns as wide as they need to be, the last as it is."""
    lines = [table.head, *table.rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(table.head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)


def rich_table(table: Table) -> RichTable:
    """Return a table for the terminal. Heads of several words, and the first column, are broken where there is no room."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    shown = RichTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title=table.title or None, title_justify="left")
    for column, head in enumerate(table.head):
        numeric, least = column in table.numeric, None if column else 9
        shown.add_column(
            head, justify="right" if numeric else "left", no_wrap=numeric and " " not in head, overflow="fold", min_width=least
        )
    for row in table.rows:
        shown.add_row(*row)
    return shown


def latex_table(table: Table) -> str:
    """Write a table in LaTeX, with rules of booktabs and the title as its caption."""
    columns = "".join("r" if column in table.numeric else "l" for column in range(len(table.head)))
    rows = [" & ".join("--" if cell == "-" else _tex(cell) for cell in row) + r" \\" for row in table.rows]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            r"\setlength{\belowcaptionskip}{6pt}",  # article has none, for captions below figures
            rf"\caption{{{_tex(table.title)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(_tex(head) for head in table.head) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _tex(text: str) -> str:
    """Keep text as it is: LaTeX reads some letters as commands."""
    letters = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "−": "$-$", "–": "--"}
    safe = "".join(letters.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in text)
    powers = re.sub(r"\b(10|[A-Za-z])\\textasciicircum\{\}(\d+)", r"$\1^{\2}$", safe)
    return BOLD.sub(r"\\textbf{\1}", powers)
