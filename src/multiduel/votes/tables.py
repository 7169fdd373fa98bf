"""Tables of any origin, read by column: CSV, JSONL, JSON, Parquet, data frames, lists.

A column is numbers into its distinct cells. A table is looked at before it is read: ``sample`` holds its first rows, from which a
reader sees what kind it is and which columns it needs; only these are read then. So ten million rows take the memory of their
numbers, whatever else the file holds.
"""

from __future__ import annotations

import csv
import importlib.util
import itertools
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

import numpy as np

from multiduel.arrays import Floats
from multiduel.inputs import BadInput, install, shortened
from multiduel.spreadsheets import original
from multiduel.votes.open_files import opened_bytes, opened_text

SAMPLE = 100  # rows that are looked at
PORTION = 65_536  # rows read at once
MOST_ROWS = 100_000_000
MOST_CELL = 1_000_000  # characters; longer cells are no names


class Column(NamedTuple):
    """A column: ``values[codes[row]]`` is the text of a cell; "" where it is empty."""

    codes: Any  # i4[rows]
    values: list[str]

    def text(self, row: int) -> str:
        return self.values[int(self.codes[row])]

    @property
    def blank(self) -> Any:
        """bool[rows]: where the cell is empty."""
        return np.array([value == "" for value in self.values], bool)[self.codes]


class Table(Protocol):
    """What the readers of votes ask of a table."""

    names: tuple[str, ...]  # of its columns
    sample: list[tuple[str, ...]]  # the first rows, as text

    def read(self, wanted: Iterable[str]) -> dict[str, Column]: ...

    def where(self, row: int | None = None) -> str: ...


class Codes(dict[Any, int]):
    """Numbers for the distinct values of a column, in the order in which they come."""

    def __missing__(self, value: Any) -> int:
        number = self[value] = len(self)
        return number

    def column(self, parts: list[Any], text: Any) -> Column:
        """The column, with values as text: those that are equal as text become one."""
        merged, numbers = Codes(), []
        for value in self:
            numbers.append(merged[text(value)])
        codes = np.concatenate(parts) if parts else np.zeros(0, np.int32)
        table = np.array(numbers, np.int32)
        return Column(table[codes] if len(table) else codes, list(merged))

    def encode(self, cells: Iterable[Any]) -> Any:
        return np.fromiter(map(self.__getitem__, cells), np.int32)


def as_text(cell: Any) -> str:
    """A cell of a frame or of JSON as the text that it would have in a CSV file; "" for none."""
    if isinstance(cell, str):
        return cell.strip()
    if cell is None or (isinstance(cell, float) and math.isnan(cell)) or type(cell).__name__ in ("NaTType", "NAType"):
        return ""
    if isinstance(cell, list | tuple | dict):
        return json.dumps(cell, ensure_ascii=False)
    if isinstance(cell, float | np.floating) and float(cell).is_integer():  # pandas: whole numbers beside empty cells
        return str(int(cell))
    return str(cell).strip()


def number_of(text: str) -> float:
    """The number that a cell holds; NaN if it is none."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def numbers_of(table: Table, column: Column, name: str, expected: str, *, least: float = -math.inf) -> Floats:
    """A column of numbers; the first cell that is none, or is below ``least``, is named by its line."""
    values = np.array([number_of(value) for value in column.values])
    found: Floats = values[column.codes] if len(values) else np.zeros(0)
    bad = ~(found >= least)
    if bad.any():
        row = int(bad.argmax())
        raise BadInput(f"{table.where(row)}: '{name}' must be {expected}. Got {shortened(column.text(row))}.")
    return found


def seconds_of(text: str) -> float:
    """Seconds since 1970 of a number (of seconds or, if it is that large, milliseconds) or an ISO date; NaN if it is neither."""
    value = number_of(text)
    if not math.isnan(value):
        return value / 1000.0 if abs(value) > 1e11 else value
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return math.nan


# ---- text


class TextTable:
    """A CSV file, its cells cut at commas, semicolons, tabs or bars, whichever its first line has most of."""

    def __init__(self, path: str | os.PathLike[str], *, header: bool = True) -> None:
        self.path = path
        self.header = header
        self.cut = ","
        with opened_text(path) as file:
            first = next((line for line in file if line.strip() and not _says_separator(line)), "")
        if first:
            self.cut = max(",;\t|", key=lambda mark: (_cells(first, mark), -",;\t|".index(mark)))
        top = list(itertools.islice(self.rows(), SAMPLE + 1))
        if not top:
            raise BadInput(f"'{path}' must hold votes. Got an empty file.")
        names = top[0][1] if header else [f"column {k + 1}" for k in range(len(top[0][1]))]
        self.names = tuple(original(name.strip()) for name in names)
        self.sample = [tuple(original(cell.strip()) for cell in row) for _, row in top[1 if header else 0 :]]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """The rows that hold anything, the names of the columns first, with their lines."""
        with opened_text(self.path) as file:
            reader = csv.reader(_without_nul(self.path, file), delimiter=self.cut, strict=True)
            line = 0
            try:
                for row in reader:
                    line = reader.line_num
                    if any(row) and not (line == 1 and _says_separator(self.cut.join(row))):
                        yield line, row
            except csv.Error as error:
                raise BadInput(
                    f"'{self.path}', line {line + 1}: must be comma-separated text. {str(error).capitalize()}."
                ) from None

    def read(self, wanted: Iterable[str]) -> dict[str, Column]:
        places = {name: self.names.index(name) for name in wanted}
        codes, parts = {name: Codes() for name in places}, {name: [] for name in places}  # type: ignore[var-annotated]
        rows = iter(self.rows())
        if self.header:
            next(rows)
        count, width = 0, len(self.names)
        while portion := list(itertools.islice(rows, PORTION)):
            count += len(portion)
            if count > MOST_ROWS:
                raise BadInput(f"'{self.path}' must have at most {MOST_ROWS:,} rows. It has more.")
            for line, row in portion:
                if len(row) != width:
                    raise BadInput(
                        f"'{self.path}', line {line}: must have {width} cells, as the first line has. "
                        f"Got {len(row)}: {shortened(self.cut.join(row))}."
                    )
            for name, place in places.items():
                parts[name].append(codes[name].encode([row[place] for _, row in portion]))
        return {name: codes[name].column(parts[name], lambda cell: original(cell.strip())) for name in places}

    def where(self, row: int | None = None) -> str:
        if row is None:
            return f"'{self.path}'"
        line, _ = next(itertools.islice(self.rows(), row + self.header, None))
        return f"'{self.path}', line {line}"


def _cells(line: str, cut: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=cut)))
    except (csv.Error, StopIteration):
        return 0


def _says_separator(line: str) -> bool:
    """Is this the line by which Excel is told the separator?"""
    return line.strip().lower().startswith("sep=") and len(line.strip()) <= 5


def _without_nul(path: Any, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            raise BadInput(f"'{path}', line {number}: must be text. Got a zero byte.")
        yield line


# ---- JSON


def json_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file with their lines, or those of a file that is one JSON list of objects, numbered from 1."""
    with opened_text(path) as file:
        start = ""
        while not start.strip():
            start = file.read(1)
            if not start:
                return
        file.seek(0)
        if start == "[":
            yield from _json_list(path, file.read())
            return
        for number, line in enumerate(file, 1):
            if line.strip():
                record = _parsed(f"'{path}', line {number}", line)
                if not isinstance(record, dict):
                    raise BadInput(f"'{path}', line {number}: must be a JSON object. Got {shortened(line.strip())}.")
                yield number, record


def _json_list(path: Any, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, record in enumerate(_parsed(f"'{path}'", text), 1):
        if not isinstance(record, dict):
            raise BadInput(f"'{path}', record {number}: must be a JSON object. Got {shortened(record)}.")
        yield number, record


def _parsed(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput(f"{where}: must be JSON. Got {shortened(text.strip())}.") from None


class Records:
    """Rows that are mappings: of JSONL, of a JSON list, or in memory. A column is there if one of the first rows has it."""

    def __init__(self, rows: Any, place: str, one: str) -> None:
        self._rows, self._place, self._one = rows, place, one  # rows(): numbered mappings
        top = list(itertools.islice(self._rows(), SAMPLE))
        self.names = tuple(dict.fromkeys(str(name) for _, row in top for name in row))
        self.sample = [tuple(as_text(row.get(name)) for name in self.names) for _, row in top]

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> Records:
        return cls(lambda: json_lines(path), f"'{path}'", "line")

    @classmethod
    def of_list(cls, rows: Sequence[Mapping[str, Any]]) -> Records:
        return cls(lambda: enumerate(rows, 1), "The votes", "row")

    def read(self, wanted: Iterable[str]) -> dict[str, Column]:
        names = list(wanted)
        codes, parts = {name: Codes() for name in names}, {name: [] for name in names}  # type: ignore[var-annotated]
        rows, count = self._rows(), 0
        while portion := list(itertools.islice(rows, PORTION)):
            count += len(portion)
            if count > MOST_ROWS:
                raise BadInput(f"{self._place} must have at most {MOST_ROWS:,} rows. It has more.")
            for name in names:
                parts[name].append(codes[name].encode(as_text(row.get(name)) for _, row in portion))
        return {name: codes[name].column(parts[name], str) for name in names}

    def where(self, row: int | None = None) -> str:
        if row is None:
            return self._place
        number, _ = next(itertools.islice(self._rows(), row, None))
        return f"{self._place}, {self._one} {number}"


# ---- columns


class Columns:
    """Columns in memory: of a data frame (pandas, polars), of a dict of lists, or of tuples."""

    def __init__(self, columns: Mapping[str, Any], place: str = "The votes") -> None:
        self._columns, self._place = columns, place
        self.names = tuple(columns)
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise BadInput(f"Columns of votes must be of one length. Got {sorted(lengths)}.")
        tops = [[as_text(cell) for cell in _first(column)] for column in columns.values()]
        self.sample = list(zip(*tops, strict=True))

    def read(self, wanted: Iterable[str]) -> dict[str, Column]:
        return {name: _encoded(self._columns[name]) for name in wanted}

    def where(self, row: int | None = None) -> str:
        return self._place if row is None else f"{self._place}, row {row + 1}"


def _first(column: Any) -> list[Any]:
    part = column[:SAMPLE]
    return part.to_pylist() if hasattr(part, "to_pylist") else list(part)


def _encoded(column: Any) -> Column:
    if hasattr(column, "to_pylist"):
        return _encoded_arrow(column)
    if hasattr(column, "to_arrow") and importlib.util.find_spec("pyarrow"):  # of polars
        return _encoded_arrow(column.to_arrow())
    codes = Codes()
    try:
        if hasattr(column, "factorize"):  # of pandas, which numbers cells faster than Python can
            numbers, values = column.factorize()
            values = [*values.tolist(), None]
            codes.encode(range(len(values)))
            numbers = np.where(numbers < 0, len(values) - 1, numbers).astype(np.int32)
            return codes.column([numbers], lambda number: as_text(values[number]))
        cells = column.to_list() if hasattr(column, "to_list") else list(column)
        return codes.column([codes.encode(cells)], as_text)
    except TypeError:  # a list in a cell
        codes = Codes()
        return codes.column([codes.encode(map(as_text, column))], str)


def _encoded_arrow(column: Any) -> Column:
    """A column of Arrow, numbered by Arrow: fast."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_nested(column.type):
        codes = Codes()
        return codes.column([codes.encode(map(as_text, column.to_pylist()))], str)
    if not pa.types.is_dictionary(column.type):
        column = pc.dictionary_encode(column)
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    values: list[Any] = column.dictionary.to_pylist()
    numbers = column.indices
    if numbers.null_count:
        numbers = pc.fill_null(numbers, len(values))
        values.append(None)
    codes = Codes()
    codes.encode(range(len(values)))
    found = np.asarray(numbers.to_numpy(zero_copy_only=False)).astype(np.int32)
    return codes.column([found], lambda number: as_text(values[number]))


class ParquetTable:
    """A Parquet file; columns are read one by one, as they are needed."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        with _arrow(path) as parquet:
            self.names = tuple(str(name) for name in parquet.schema_arrow.names)
            self.rows = parquet.metadata.num_rows
            if self.rows > MOST_ROWS:
                raise BadInput(f"'{path}' must have at most {MOST_ROWS:,} rows. It has {self.rows:,}.")
            portion = next(parquet.iter_batches(SAMPLE), None)
            columns = [] if portion is None else [[as_text(cell) for cell in column.to_pylist()] for column in portion.columns]
            self.sample = list(zip(*columns, strict=True))

    def read(self, wanted: Iterable[str]) -> dict[str, Column]:
        names = list(wanted)
        with _arrow(self.path, names) as parquet:
            return {name: _encoded_arrow(parquet.read([name]).column(0)) for name in names}

    def where(self, row: int | None = None) -> str:
        return f"'{self.path}'" if row is None else f"'{self.path}', row {row + 1}"


class _arrow:
    """An open Parquet file; what it raises is a sentence."""

    def __init__(self, path: str | os.PathLike[str], encoded: Sequence[str] = ()) -> None:
        self.path, self.encoded = path, encoded

    def __enter__(self) -> Any:
        try:
            import pyarrow.parquet as pq
        except ImportError:
            raise BadInput(f"A Parquet file needs PyArrow: {install('lab')}.") from None
        self._bytes = opened_bytes(self.path)
        file = self._bytes.__enter__()
        try:
            return pq.ParquetFile(file, read_dictionary=list(self.encoded) or None)
        except Exception as error:
            self._bytes.__exit__(None, None, None)
            raise BadInput(f"'{self.path}' must be a whole Parquet file. {_one_line(error)}") from None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        import pyarrow as pa

        self._bytes.__exit__(None, None, None)
        if isinstance(error, pa.ArrowException | OSError):
            raise BadInput(f"'{self.path}' must be a whole Parquet file. {_one_line(error)}") from None


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
