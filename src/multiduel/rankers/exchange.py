"""Logs from elsewhere and to elsewhere: tables of shown documents, and Parquet. OpenSearch's events are read by ``ubi.py``.

A table (CSV, JSONL, or a data frame) has a row per document that was shown:

    impression   which page: any text
    position     slot on the page, from 1
    document     its id
    ranker       who put it there: a name; several, separated by |, if they share it; empty if nobody has credit for it
    clicked      1 or 0, true or false
    user, session, query, time      may be left out; time in seconds, or a date
    rankers      all rankers mixed on this page, separated by |; may be left out if each has a document on it

It is read as team draft: a ranker's credit is the clicks on its documents, more credit wins. That is fair if the page was made
so. A Parquet file that ``export_parquet`` wrote is read back as the log that it came from.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Any

from multiduel.files import file_name, read_text, readable_name, whole_file
from multiduel.inputs import BadInput, shortened
from multiduel.rankers.impression import FORMAT, Impression
from multiduel.rankers.log import CLICK, MOST_TIME, Log

NEEDED = ("impression", "position", "document", "ranker", "clicked")
MORE = ("user", "session", "query", "time", "rankers")
TRUE, FALSE = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no", "")
BATCH = 20_000  # rows written to Parquet at once
PARQUET = (".parquet", ".pq")


def import_table(source: Any, log: Log) -> int:
    """Append a table of shown documents to a log.

    A row that is refused is named by its line, and then nothing is appended.

    Parameters
    ----------
    source
        A file (.csv, .jsonl, or a .parquet that ``export_parquet`` wrote) or a data frame.
    log
        The log.

    Returns
    -------
    int
        How many pages were appended.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> row = {"impression": "1", "position": 1, "document": "x", "ranker": "old", "clicked": 1, "rankers": "old|new"}
    >>> rankers.import_table([row], log)
    1
    """
    where = f"'{source}'" if isinstance(source, str | os.PathLike) else "The table"
    if isinstance(source, str | os.PathLike) and file_name(source).endswith(PARQUET):
        return _import_parquet(source, known_log(log))
    ids: set[str] = set()
    with known_log(log).all_or_nothing() as draft:
        for id, group in groupby(_plain_rows(_rows(source)), key=lambda row: row[1]["impression"]):
            rows = list(group)
            if not id or id in ids:
                said = f"Page '{id}' comes again" if id else "Got none"
                raise BadInput(f"{rows[0][0]}: a page must have an 'impression', and its rows must stand together. {said}.")
            ids.add(id)
            _write(draft, id, rows)
        if not ids:
            raise BadInput(f"{where} must hold a row per document that was shown. Got none.")
    return len(ids)


def known_log(log: Any) -> Log:
    if not isinstance(log, Log):
        raise BadInput(f"'log' must be the Log to append to. Got {shortened(log)}.")
    return log


def _rows(source: Any) -> Iterator[tuple[str, Any]]:
    """The rows, each with words that say where it stands."""
    if isinstance(source, str | os.PathLike):
        text = read_text(source)
        if file_name(source).endswith((".jsonl", ".ndjson", ".json")):
            yield from ((f"'{source}', line {number}", record) for number, record in json_lines(source, text))
        else:
            yield from _csv_rows(source, text)
        return
    rows = source
    if hasattr(source, "to_dict") or hasattr(source, "to_dicts"):  # pandas, polars
        rows = source.to_dicts() if hasattr(source, "to_dicts") else source.to_dict("records")
    if not isinstance(rows, Iterable):
        raise BadInput(f"A table must be a file, a data frame or a list of rows. Got {shortened(source)}.")
    yield from ((f"The table, row {number}", row) for number, row in enumerate(rows, 1))


def _csv_rows(path: Any, text: str) -> Iterator[tuple[str, Any]]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        for row in reader:
            if None in row or None in row.values():
                cells = f"{len(reader.fieldnames or ())} cells, as the first line has"
                raise BadInput(f"'{path}', line {reader.line_num}: must have {cells}. Got {'more' if None in row else 'fewer'}.")
            yield f"'{path}', line {reader.line_num}", row
    except csv.Error as error:
        raise BadInput(f"'{path}', line {reader.line_num + 1}: must be comma-separated text. Got other text: {error}.") from None


def json_lines(path: Any, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                raise BadInput(f"'{path}', line {number}: must be JSON. Got {shortened(line)}.") from None
            if not isinstance(record, dict):
                raise BadInput(f"'{path}', line {number}: must be an object. Got {shortened(line)}.")
            yield number, record


def _plain_rows(rows: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows with all that is needed, as text."""
    for where, row in rows:
        if not isinstance(row, Mapping):
            raise BadInput(f"{where}: must be a row with columns {', '.join(NEEDED)}. Got {shortened(row)}.")
        for name in NEEDED:
            if name not in row:
                raise BadInput(f"{where}: must have columns {', '.join(NEEDED)}. '{name}' is missing.")
        yield where, {name: _plain(name, row[name], where) for name in (*NEEDED, *MORE) if name in row}


def _plain(name: str, value: Any, where: str) -> str:
    """As text; what is missing is empty."""
    if isinstance(value, Mapping | list | tuple | set | bytes):
        raise BadInput(f"{where}: '{name}' must be text or a number. Got {shortened(value)}.")
    missing = value is None or (isinstance(value, float) and math.isnan(value)) or str(value) in ("NaT", "<NA>")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if missing else utf8(name, str(value).strip(), where)


def utf8(name: str, text: str, where: str) -> str:
    """The text, if it can be written: half a character, which JSON can spell, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{where}: '{name}' must be text that UTF-8 can hold. Got {shortened(text)}.") from None
    return text


def _write(log: Log, id: str, rows: list[tuple[str, dict[str, str]]]) -> None:
    where, first = rows[0]
    for place, row in rows:
        if not _is_whole(row["position"]) or int(row["position"]) < 1:
            raise BadInput(f"{place}, page '{id}': positions must be whole numbers from 1. Got {shortened(row['position'])}.")
        if row["clicked"].lower() not in TRUE + FALSE:
            raise BadInput(f"{place}, page '{id}': 'clicked' must be 1 or 0, true or false. Got {shortened(row['clicked'])}.")
    ordered = sorted(rows, key=lambda row: int(row[1]["position"]))
    for (_, row), (place, after) in itertools.pairwise(ordered):
        if int(row["position"]) == int(after["position"]):
            raise BadInput(f"{place}, page '{id}': a position holds one document. Position {after['position']} comes again.")
    documents = [row["document"] for _, row in ordered]
    if len(set(documents)) < len(documents):
        raise BadInput(f"{where}, page '{id}': a page shows a document once. Got {shortened(documents)}.")
    teams = [[name for name in row["ranker"].split("|") if name] for _, row in ordered]
    named = [name for name in first.get("rankers", "").split("|") if name]
    names = named or sorted({name for team in teams for name in team})
    for team in teams:
        for name in team:
            if name not in names:
                raise BadInput(f"{where}, page '{id}': 'rankers' must name all. '{name}' is missing.")
    if not names:
        raise BadInput(f"{where}, page '{id}': a page must have a ranker. Got none.")
    if len(set(names)) < len(names):
        raise BadInput(f"{where}, page '{id}': 'rankers' must name each once. Got {shortened(first['rankers'])}.")
    page = Impression(
        {
            "format": FORMAT,
            "method": "team-draft",
            "ties": "drop",
            "seed": 0,
            "round": None,
            "policy": None,
            "slate": list(range(len(names))),
            "rankers": names,
            "documents": documents,
            "evidence": [[*(float(name in team) for name in names), 0.0] for team in teams],
        }
    )
    time = seconds(first.get("time", ""), f"{where}, page '{id}'")
    who: dict[str, Any] = {name: first.get(name) or None for name in ("user", "session", "query")}
    log.shown(page, id=id, time=time, **who)
    for _, row in ordered:
        if row["clicked"].lower() in TRUE:
            log.clicked(id, row["document"], time=time)


def _is_whole(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True


def seconds(value: Any, where: str, *, milliseconds: bool = False) -> float:
    """A time as seconds; people write 2026-01-31T12:00:00Z too. 0 if nothing is said. Numbers too large for seconds are refused,
    or read as milliseconds where these are usual."""
    if value in ("", None):
        return 0.0
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)
        if milliseconds and MOST_TIME <= abs(seconds) < 1000.0 * MOST_TIME:
            seconds /= 1000.0
    except (TypeError, ValueError, OverflowError):
        try:
            seconds = datetime.fromisoformat(str(value)).timestamp()
        except (ValueError, OverflowError, OSError):  # the last two: years that the system's clock does not reach
            seconds = math.nan
    if not abs(seconds) < MOST_TIME:
        raise BadInput(
            f"{where}: 'time' must be seconds or a date such as 2026-01-31T12:00:00Z, below 10^11 (milliseconds are above). "
            f"Got {shortened(value)}."
        )
    return seconds


def export_parquet(log: Log, path: str | os.PathLike[str], *, bad: str = "refuse") -> int:
    """Write a log as a Parquet file: a row per page, with lists of rankers, documents and clicks. ``import_table`` reads it back.

    Parameters
    ----------
    log
        The log.
    path
        The file, whose name ends in .parquet. Needs pyarrow (the extra ``lab``).
    bad
        As for ``Log.pages``.

    Returns
    -------
    int
        How many pages were written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> for user in "abc":
    ...     page = rankers.multileave([["x", "y"], ["y", "x"]], names=["old", "new"], seed=1)
    ...     log.clicked(log.shown(page, user=user), "x")
    >>> rankers.export_parquet(log, log.path.with_name("log.parquet"))
    3
    """
    if not file_name(path).endswith(PARQUET):
        raise BadInput(f"A log is exported as Parquet, to a name that ends in .parquet. Got '{path}'.")
    pa, pq = _pyarrow()
    texts = pa.list_(pa.string())
    kinds = {"id": pa.string(), "time": pa.float64(), "user": pa.string(), "session": pa.string(), "query": pa.string()}
    kinds |= {"method": pa.string(), "ties": pa.string(), "policy": pa.string(), "round": pa.int64(), "rankers": texts}
    kinds |= {
        "documents": texts,
        "clicked": texts,
        "weights": pa.list_(pa.float64()),
        "evidence": pa.list_(pa.list_(pa.float64())),
        "fields": pa.string(),
        "events": pa.string(),  # of metrics other than clicks
        "page": pa.string(),  # the whole impression
    }
    schema = pa.schema(list(kinds.items()))
    count = 0
    with whole_file(path) as draft, open(draft, "wb") as sink, pq.ParquetWriter(sink, schema) as file:  # names of any bytes
        rows: list[dict[str, Any]] = []
        for shown in log.pages(bad=bad):
            page = shown.page
            row = {name: getattr(shown, name) for name in ("id", "time", "user", "session", "query")}
            row |= {name: page.get(name) for name in ("method", "ties", "policy", "round", "rankers", "evidence")}
            row |= {"documents": [str(document) for document in page["documents"]], "weights": list(shown.clicks.values())}
            row |= {"fields": json.dumps(shown.fields), "page": json.dumps(page)}
            row |= {"events": json.dumps([[metric, *click] for metric, of in shown.others.items() for click in of.items()])}
            rows.append(row | {"clicked": [str(document) for document in shown.clicks]})
            count += 1
            if len(rows) == BATCH:
                file.write_table(pa.Table.from_pylist(rows, schema=schema))
                rows = []
        file.write_table(pa.Table.from_pylist(rows, schema=schema))
    return count


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise BadInput("Parquet needs pyarrow: install multiduel[lab].") from None
    return pa, pq


def _import_parquet(source: str | os.PathLike[str], log: Log) -> int:
    """A log that ``export_parquet`` wrote. Clicks get the time of their page, since a row has one time."""
    pa, pq = _pyarrow()
    count = 0
    needed = {"id", "time", "user", "session", "query", "clicked", "weights", "fields", "events", "page"}
    try:
        with open(readable_name(source), "rb") as opened, log.all_or_nothing() as draft:
            file = pq.ParquetFile(opened)
            missing = sorted(needed - set(file.schema_arrow.names))
            if missing:
                raise BadInput(f"'{source}' must be what 'rankers export' wrote. '{missing[0]}' is missing.")
            for batch in file.iter_batches(BATCH, columns=sorted(needed)):
                for row in batch.to_pylist():
                    count += 1
                    _write_row(draft, row, f"'{source}', row {count}")
    except (OSError, pa.ArrowException) as error:
        raise BadInput(f"'{source}' cannot be read as Parquet: {shortened(str(error))}.") from None
    if not count:
        raise BadInput(f"'{source}' must hold a row per page. Got none.")
    return count


def _write_row(log: Log, row: dict[str, Any], where: str) -> None:
    try:
        page = Impression(json.loads(row["page"]))
        by_text = {str(document): document for document in page["documents"]}
        clicks = [(CLICK, by_text[name], weight) for name, weight in zip(row["clicked"], row["weights"], strict=True)]
        clicks += [(metric, document, weight) for metric, document, weight in json.loads(row["events"])]
        who = {name: row[name] for name in ("user", "session", "query")}
        log.shown(page, id=row["id"], time=row["time"], fields=json.loads(row["fields"]), **who)
        for metric, document, weight in clicks:
            log.clicked(row["id"], document, weight=weight, time=row["time"], metric=metric)
    except (KeyError, TypeError, ValueError, RecursionError):
        raise BadInput(f"{where}: must be a page that 'rankers export' wrote. Got something else.") from None
