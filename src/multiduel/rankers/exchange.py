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

from multiduel.files import read_text, whole_file
from multiduel.inputs import BadInput, shortened
from multiduel.rankers.impression import FORMAT, Impression
from multiduel.rankers.log import Log

NEEDED = ("impression", "position", "document", "ranker", "clicked")
TRUE, FALSE = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no", "")
BATCH = 20_000  # rows written to Parquet at once


def import_table(source: Any, log: Log) -> int:
    """Append a table of shown documents to a log; returns how many pages. ``source`` is a file (.csv, .jsonl) or a data frame.

    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> row = {"impression": "1", "position": 1, "document": "x", "ranker": "old", "clicked": 1, "rankers": "old|new"}
    >>> rankers.import_table([row], log)
    1
    """
    rows = _rows(source)
    where = f"'{source}'" if isinstance(source, str | os.PathLike) else "The table"
    ids: set[str] = set()
    count = 0
    for id, group in groupby(_numbered(rows, where), key=lambda row: row[1]["impression"]):
        if id in ids:
            raise BadInput(f"{where}: the rows of a page must stand together. Page '{id}' comes again.")
        ids.add(id)
        _write(log, id, list(group), where)
        count += 1
    if not count:
        raise BadInput(f"{where} must hold a row per document that was shown. Got none.")
    return count


def _rows(source: Any) -> Iterable[Mapping[str, Any]]:
    if hasattr(source, "to_dict") or hasattr(source, "to_dicts"):  # pandas, polars
        return source.to_dicts() if hasattr(source, "to_dicts") else source.to_dict("records")
    if not isinstance(source, str | os.PathLike):
        return source
    text = read_text(source)
    if os.fspath(source).endswith((".jsonl", ".ndjson", ".json")):
        return (record for _, record in _lines(source, text))
    return csv.DictReader(io.StringIO(text, newline=""))


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


def _numbered(rows: Iterable[Mapping[str, Any]], where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, row in enumerate(rows, 1):
        for name in NEEDED:
            if name not in row:
                raise BadInput(f"{where}, row {number}: must have columns {', '.join(NEEDED)}. '{name}' is missing.")
        yield number, {name: _plain(value) for name, value in row.items() if name is not None}


def _plain(value: Any) -> str:
    """As text; what is missing is empty."""
    missing = value is None or (isinstance(value, float) and math.isnan(value)) or str(value) in ("NaT", "<NA>")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if missing else str(value).strip()


def _write(log: Log, id: str, rows: list[tuple[int, dict[str, Any]]], where: str) -> None:
    number, first = rows[0]
    try:
        ordered = sorted(rows, key=lambda row: int(row[1]["position"]))
    except ValueError:
        raise BadInput(
            f"{where}, page '{id}': positions must be whole numbers. Got {shortened([row['position'] for _, row in rows])}."
        ) from None
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
        raise BadInput(f"{where}, page '{id}' (row {number}): a page must have a ranker. Got none.")
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
    who = {name: first.get(name) or None for name in ("user", "session", "query")}
    log.shown(page, id=id, time=time, **who)
    for _, row in ordered:
        word = row["clicked"].lower()
        if word not in TRUE + FALSE:
            raise BadInput(f"{where}, page '{id}': 'clicked' must be 1 or 0, true or false. Got '{row['clicked']}'.")
        if word in TRUE:
            log.clicked(id, row["document"], time=time)


def _seconds(value: Any, where: str) -> float:
    """A time as seconds; UBI and people write 2026-01-31T12:00:00Z too. 0 if nothing is said."""
    if value in ("", None):
        return 0.0
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        try:
            seconds = datetime.fromisoformat(str(value)).timestamp()
        except ValueError:
            raise BadInput(
                f"{where}: 'time' must be seconds or a date such as 2026-01-31T12:00:00Z. Got {shortened(value)}."
            ) from None
    if not math.isfinite(seconds):
        raise BadInput(f"{where}: 'time' must be finite. Got {shortened(value)}.")
    return seconds


def import_ubi(
    queries: str | os.PathLike[str], events: str | os.PathLike[str], log: Log, *, actions: Iterable[str] = ("click",)
) -> tuple[int, int, int]:
    """Append UBI's lines to a log; returns how many pages, clicks, and queries without an impression, which are left out.

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
    clicking = set(actions)
    known: set[str] = set()
    without = clicks = 0
    for number, record in _lines(queries, read_text(queries)):
        where = f"'{queries}', line {number}"
        attributes = record.get("query_attributes")
        page = attributes.get("multileaving") if isinstance(attributes, Mapping) else None
        id = record.get("query_id")
        if not isinstance(id, str) or not id:
            raise BadInput(f"{where}: a query must have a 'query_id'. Got {shortened(id)}.")
        if page is None:
            without += 1
            continue
        if id in known:
            raise BadInput(f"{where}: a query must come once. '{id}' came before.")
        known.add(id)
        try:
            impression = Impression(page if isinstance(page, Mapping) else json.loads(page))
        except (BadInput, TypeError, ValueError):
            raise BadInput(
                f"{where}: 'query_attributes.multileaving' must be what 'multileave' returned. Got something else."
            ) from None
        text = {
            name: _text(record.get(key))
            for name, key in (("user", "client_id"), ("session", "session_id"), ("query", "user_query"))
        }
        log.shown(impression, id=id, time=_seconds(record.get("timestamp"), where), **text)
    for number, record in _lines(events, read_text(events)):
        where = f"'{events}', line {number}"
        if record.get("action_name") not in clicking or record.get("query_id") not in known:
            continue
        attributes = record.get("event_attributes")
        thing = attributes.get("object") if isinstance(attributes, Mapping) else None
        document = thing.get("object_id") if isinstance(thing, Mapping) else None
        if document is None:
            raise BadInput(f"{where}: a click must name 'event_attributes.object.object_id'. Got none.")
        log.clicked(record["query_id"], document, time=_seconds(record.get("timestamp"), where))
        clicks += 1
    if not known:
        raise BadInput(f"'{queries}' must hold queries with 'query_attributes.multileaving'. Got none among {without}.")
    return len(known), clicks, without


def _text(value: Any) -> str | None:
    return None if value is None or value == "" else str(value)


def export_parquet(log: Log, path: str | os.PathLike[str], *, bad: str = "refuse") -> int:
    """A row per page, with lists of rankers, documents and clicks; returns how many. Needs pyarrow (the extra ``lab``).

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
    with whole_file(path) as draft, pq.ParquetWriter(draft, schema) as file:
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
