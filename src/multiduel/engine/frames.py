"""Tables that leave the house: pandas or polars where installed, and files that anyone can read."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from multiduel.files import write_whole
from multiduel.inputs import BadInput, choice

LIBRARIES = ("pandas", "polars")
ENDINGS = (".csv", ".json", ".parquet")


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
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True))
        write_whole(path, text.getvalue())
    elif ending == ".parquet":
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise BadInput("A .parquet file needs PyArrow, which is not installed. Try: pip install 'multiduel[lab]'") from None
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({name: np.asarray(column) for name, column in columns.items()}), sink, compression="zstd")
        write_whole(path, sink.getvalue().to_pybytes())
    else:
        raise BadInput(f"The file of results must end in {', '.join(ENDINGS)}. Got '{path}'.")


def html_table(head: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "") -> str:
    """A table for a notebook. All that is in it is text, whatever it looks like."""
    from html import escape

    def line(cells: Sequence[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead>{line(head, 'th')}</thead><tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"


def text_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The same for a terminal: columns as wide as they need to be, the last as it is."""
    cells = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)
