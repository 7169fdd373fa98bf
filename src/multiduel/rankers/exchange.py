"""Logs from elsewhere and to elsewhere: tables of shown documents, OpenSearch's User Behavior Insights, Parquet.

A table (CSV, JSONL, or a data frame) has a row per document that was shown:

    impression   which page: any text
    position     slot on the page, from 1
    document     its id
    ranker       who put it there: a name; several, separated by |, if they share it; empty if nobody has credit for it
    clicked      1 or 0, true or false
    user, session, query, time      may be left out; time in seconds
    rankers      all rankers mixed on this page, separated by |; may be left out if each has a document on it

It is read as team draft: a ranker's credit is the clicks on its documents, more credit wins. That is fair if the page was made
so.

User Behavior Insights (UBI): lines of the two indices, ``ubi_queries`` and ``ubi_events``. UBI has no field for who put a
document where: store the impression in ``query_attributes.multileaving`` when the query is sent. A click is an event whose
``action_name`` is "click" (or others that are given), with ``event_attributes.object.object_id``; ``client_id`` is the user.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Any

from multiduel.files import file_name, read_text, whole_file
from multiduel.inputs import BadInput, shortened
from multiduel.rankers.impression import FORMAT, Impression, read_document
from multiduel.rankers.log import MOST_TIME, Log

NEEDED = ("impression", "position", "document", "ranker", "clicked")
MORE = ("user", "session", "query", "time", "rankers")
TRUE, FALSE = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no", "")
BATCH = 20_000  # rows written to Parquet at once


def import_table(source: Any, log: Log) -> int:
    """Append a table of shown documents to a log.

    A row that is refused is named by its line, and then nothing is appended.

    Parameters
    ----------
    source
        A file (.csv, .jsonl) or a data frame.
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
    ids: set[str] = set()
    with _known_log(log).all_or_nothing() as draft:
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


def _known_log(log: Any) -> Log:
    if not isinstance(log, Log):
        raise BadInput(f"'log' must be the Log to append to. Got {shortened(log)}.")
    return log


def _rows(source: Any) -> Iterator[tuple[str, Any]]:
    """The rows, each with words that say where it stands."""
    if isinstance(source, str | os.PathLike):
        text = read_text(source)
        if file_name(source).endswith((".jsonl", ".ndjson", ".json")):
            yield from ((f"'{source}', line {number}", record) for number, record in _lines(source, text))
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
            yield f"'{path}', line {reader.line_num}", row
    except csv.Error as error:
        raise BadInput(f"'{path}', line {reader.line_num + 1}: must be comma-separated text. Got other text: {error}.") from None


def _lines(path: Any, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
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
    return "" if missing else _utf8(name, str(value).strip(), where)


def _utf8(name: str, text: str, where: str) -> str:
    """The text, if it can be written: half a character, which JSON can spell, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{where}: '{name}' must be text that UTF-8 can hold. Got {shortened(text)}.") from None
    return text


def _write(log: Log, id: str, rows: list[tuple[str, dict[str, str]]]) -> None:
    where, first = rows[0]
    for place, row in rows:
        if not _is_whole(row["position"]):
            raise BadInput(f"{place}, page '{id}': positions must be whole numbers. Got {shortened(row['position'])}.")
        if row["clicked"].lower() not in TRUE + FALSE:
            raise BadInput(f"{place}, page '{id}': 'clicked' must be 1 or 0, true or false. Got {shortened(row['clicked'])}.")
    ordered = sorted(rows, key=lambda row: int(row[1]["position"]))
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
    time = _seconds(first.get("time", ""), f"{where}, page '{id}'")
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


def _seconds(value: Any, where: str) -> float:
    """A time as seconds; UBI and people write 2026-01-31T12:00:00Z too. 0 if nothing is said."""
    if value in ("", None):
        return 0.0
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        try:
            seconds = datetime.fromisoformat(str(value)).timestamp()
        except (ValueError, OverflowError, OSError):  # the last two: years that the system's clock does not reach
            seconds = math.nan
    if not abs(seconds) < MOST_TIME:
        raise BadInput(f"{where}: 'time' must be seconds or a date such as 2026-01-31T12:00:00Z. Got {shortened(value)}.")
    return seconds


def import_ubi(
    queries: str | os.PathLike[str], events: str | os.PathLike[str], log: Log, *, actions: Iterable[str] = ("click",)
) -> tuple[int, int, int]:
    """Append UBI's lines to a log.

    A line that is refused is named by its number, and then nothing is appended.

    Parameters
    ----------
    queries, events
        UBI's two files.
    log
        The log.
    actions
        Names of the actions that are clicks.

    Returns
    -------
    tuple of int
        How many pages, clicks, and queries without an impression, which are left out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> page = rankers.multileave([["x", "y"], ["y", "x"]], names=["old", "new"])
    >>> sent = {"query_id": "1", "client_id": "ada", "timestamp": 1.0, "query_attributes": {"multileaving": page}}
    >>> queries, events = (log.path.with_name(name) for name in ("ubi_queries.jsonl", "ubi_events.jsonl"))
    >>> _ = queries.write_text(json.dumps(sent)), events.write_text("")
    >>> rankers.import_ubi(queries, events, log)  # pages, clicks, queries without an impression
    (1, 0, 0)
    """
    clicking = _actions(actions)
    with _known_log(log).all_or_nothing() as draft:
        known, without = _import_queries(queries, draft)
        if not known:
            raise BadInput(f"'{queries}' must hold queries with 'query_attributes.multileaving'. Got none among {without}.")
        clicks = _import_events(events, draft, known, clicking)
    return len(known), clicks, without


def _actions(actions: Any) -> set[str]:
    if isinstance(actions, str) or not isinstance(actions, Iterable):
        raise BadInput(f"'actions' must be a list of action names. Got {shortened(actions)}.")
    names = list(actions)
    if not names or not all(isinstance(name, str) for name in names):
        raise BadInput(f"'actions' must be a list of action names. Got {shortened(names)}.")
    return set(names)


def _import_queries(queries: str | os.PathLike[str], log: Log) -> tuple[set[str], int]:
    """Append the pages; returns their ids, and how many queries have none."""
    known: set[str] = set()
    without = 0
    for number, record in _lines(queries, read_text(queries)):
        where = f"'{queries}', line {number}"
        attributes = record.get("query_attributes")
        page = attributes.get("multileaving") if isinstance(attributes, Mapping) else None
        id = _field(record, "query_id", where)
        if not id:
            raise BadInput(f"{where}: a query must have a 'query_id'. Got none.")
        if page is None:
            without += 1
            continue
        if id in known:
            raise BadInput(f"{where}: a query must come once. '{id}' came before.")
        known.add(id)
        try:
            impression = Impression(page if isinstance(page, Mapping) else json.loads(page))
            _utf8("multileaving", json.dumps(impression, ensure_ascii=False), where)
        except (BadInput, TypeError, ValueError, RecursionError):
            raise BadInput(
                f"{where}: 'query_attributes.multileaving' must be what 'multileave' returned. Got something else."
            ) from None
        fields = (("user", "client_id"), ("session", "session_id"), ("query", "user_query"))
        who: dict[str, Any] = {name: _field(record, key, where, numbers=True) for name, key in fields}
        log.shown(impression, id=id, time=_seconds(record.get("timestamp"), where), **who)
    return known, without


def _import_events(events: str | os.PathLike[str], log: Log, known: set[str], clicking: set[str]) -> int:
    """Append the clicks on known pages; returns how many."""
    clicks = 0
    for number, record in _lines(events, read_text(events)):
        where = f"'{events}', line {number}"
        action, id = _field(record, "action_name", where), _field(record, "query_id", where)
        if action not in clicking or id is None or id not in known:
            continue
        attributes = record.get("event_attributes")
        thing = attributes.get("object") if isinstance(attributes, Mapping) else None
        document = read_document(thing.get("object_id")) if isinstance(thing, Mapping) else None
        if document is None:
            raise BadInput(
                f"{where}: a click must name 'event_attributes.object.object_id', text or a whole number. "
                f"Got {shortened(attributes)}."
            )
        _utf8("object_id", str(document), where)
        log.clicked(id, document, time=_seconds(record.get("timestamp"), where))
        clicks += 1
    return clicks


def _field(record: Mapping[str, Any], name: str, where: str, *, numbers: bool = False) -> str | None:
    """A field of a line as text; None if it is empty. Ids of users may be numbers too."""
    value = record.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, str) or (numbers and isinstance(value, int | float) and not isinstance(value, bool)):
        return _utf8(name, str(value), where)
    raise BadInput(f"{where}: '{name}' must be text. Got {shortened(value)}.")


def export_parquet(log: Log, path: str | os.PathLike[str], *, bad: str = "refuse") -> int:
    """Write a log as a Parquet file: a row per page, with lists of rankers, documents and clicks.

    Parameters
    ----------
    log
        The log.
    path
        The file. Needs pyarrow (the extra ``lab``).
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
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise BadInput("Parquet needs pyarrow: install multiduel[lab].") from None

    texts = pa.list_(pa.string())
    kinds = {"id": pa.string(), "time": pa.float64(), "user": pa.string(), "session": pa.string(), "query": pa.string()}
    kinds |= {"method": pa.string(), "ties": pa.string(), "policy": pa.string(), "round": pa.int64(), "rankers": texts}
    kinds |= {
        "documents": texts,
        "clicked": texts,
        "weights": pa.list_(pa.float64()),
        "evidence": pa.list_(pa.list_(pa.float64())),
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
            rows.append(row | {"clicked": [str(document) for document in shown.clicks]})
            count += 1
            if len(rows) == BATCH:
                file.write_table(pa.Table.from_pylist(rows, schema=schema))
                rows = []
        file.write_table(pa.Table.from_pylist(rows, schema=schema))
    return count
