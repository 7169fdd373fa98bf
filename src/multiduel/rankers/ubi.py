"""OpenSearch's User Behavior Insights (UBI) as a log: queries and events as the plug-in stores them.

Two files, ``ubi_queries`` and ``ubi_events``: JSON lines, one record each, bare or as search results hold them (``_source``), or
the whole answer of a search (``hits.hits``). UBI has no field for which ranker put a document where: store the impression in
``query_attributes.multileaving`` when the query is sent. ``query_attributes`` and the impression may be objects or JSON text.

    client_id, session_id, user_query     user, session and query of the page
    timestamp                             milliseconds since 1970, as the plug-in writes them, seconds, or a date
    other query_attributes                free fields of the page, if they are text, numbers, true or false
    the same query_id again               the page was continued, if the longer page begins with the first
    action_name                           "click", and others that are named, each with a weight or as a metric of its own
    event_attributes.object.object_id     the document; object_id_field is not needed
    no query_id                           a purchase on another page, say: it belongs to the last page of that client that showed
                                          the document, if that was not too long before
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from multiduel.files import read_text
from multiduel.inputs import BadInput, finite, shortened
from multiduel.rankers.exchange import json_lines, known_log, seconds, utf8
from multiduel.rankers.impression import Document, Impression, is_weight, read_document
from multiduel.rankers.log import CLICK, MOST_FIELDS, Log

JOIN_WITHIN = 7 * 86_400.0  # seconds between a page and an event without a query


class Imported(NamedTuple):
    """How many pages and events were imported, and how many were left out.

    >>> Imported(1, 2, 0, 0, 0).pages
    1
    """

    pages: int
    events: int
    without: int  # queries without an impression
    joined: int  # of the events: those that named no query, and were joined by client and document
    left_out: int  # events of named actions on queries or documents that are not there


class _Shown(NamedTuple):
    id: str
    time: float
    documents: dict[str, Document]  # by their text


def import_ubi(
    queries: str | os.PathLike[str],
    events: str | os.PathLike[str],
    log: Log,
    *,
    actions: Iterable[str] | Mapping[str, float] = (CLICK,),
    metrics: Iterable[str] = (),
    join_within: float = JOIN_WITHIN,
) -> Imported:
    """Append UBI's queries and events to a log.

    A record that is refused is named by its line, and then nothing is appended.

    Parameters
    ----------
    queries, events
        UBI's two files.
    log
        The log.
    actions
        Names of the actions that are clicks; with weights, if it is a dict.
    metrics
        Names of the actions that are metrics of their own, such as "purchase".
    join_within
        For how many seconds after a page an event without a query may belong to it.

    Returns
    -------
    Imported
        How many pages and events were appended, and what was left out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> page = rankers.multileave([["x", "y"], ["y", "x"]], names=["old", "new"])
    >>> sent = {"query_id": "1", "client_id": "ada", "timestamp": 1.0, "query_attributes": {"multileaving": page}}
    >>> queries, events = (log.path.with_name(name) for name in ("ubi_queries.jsonl", "ubi_events.jsonl"))
    >>> _ = queries.write_text(json.dumps(sent)), events.write_text("")
    >>> rankers.import_ubi(queries, events, log).pages
    1
    """
    weights = _actions(actions)
    named = _names("metrics", metrics)
    if not finite("join_within", join_within, of="import_ubi") >= 0.0:
        raise BadInput(f"'join_within' of 'import_ubi' must be seconds of at least 0. Got {shortened(join_within)}.")
    counting = {name: (CLICK, weight) for name, weight in weights.items()} | {name: (name, 1.0) for name in named}
    with known_log(log).all_or_nothing() as draft:
        pages, clients, without = _queries(queries, draft)
        if not pages:
            raise BadInput(f"'{queries}' must hold queries with 'query_attributes.multileaving'. Got none among {without}.")
        counts = _events(events, draft, pages, clients, counting, join_within)
    return Imported(len(pages), counts[0], without, counts[1], counts[2])


def _actions(actions: Any) -> dict[str, float]:
    if isinstance(actions, Mapping):
        names = _names("actions", actions.keys())
        for name in names:
            if not is_weight(actions[name]):
                raise BadInput(f"The weight of action '{name}' must be a finite number above 0. Got {shortened(actions[name])}.")
        return {name: float(actions[name]) for name in names}
    return dict.fromkeys(_names("actions", actions), 1.0)


def _names(what: str, given: Any) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise BadInput(f"'{what}' must be a list of action names. Got {shortened(given)}.")
    names = list(given)
    if (what == "actions" and not names) or not all(isinstance(name, str) and name for name in names):
        raise BadInput(f"'{what}' must be a list of action names. Got {shortened(names)}.")
    return names


def _records(path: str | os.PathLike[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each record, with words that say where it stands."""
    text = read_text(path)
    whole = _answer(text)
    if whole is not None:
        rows = [(f"'{path}', hit {number}", hit) for number, hit in enumerate(whole, 1)]
    else:
        rows = [(f"'{path}', line {number}", record) for number, record in json_lines(path, text)]
    for where, record in rows:
        source = record.get("_source", record) if isinstance(record, Mapping) else record
        if not isinstance(source, Mapping):
            raise BadInput(f"{where}: must be an object, or hold one in '_source'. Got {shortened(source)}.")
        yield where, dict(source)


def _answer(text: str) -> list[Any] | None:
    """The hits of a whole search result, or None for lines."""
    try:
        found = json.loads(text)
        hits = found["hits"]["hits"]
        return hits if isinstance(hits, list) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _object(value: Any) -> Any:
    """What a text of JSON says; anything else as it is."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value


def _queries(queries: str | os.PathLike[str], log: Log) -> tuple[dict[str, _Shown], dict[str, list[_Shown]], int]:
    """Append the pages; returns them by id and by client, and how many queries have none."""
    pages: dict[str, _Shown] = {}
    first: dict[str, Impression] = {}
    clients: dict[str, list[_Shown]] = {}
    without = 0
    for where, record in _records(queries):
        attributes = _object(record.get("query_attributes"))
        page = attributes.get("multileaving") if isinstance(attributes, Mapping) else None
        id = _field(record, "query_id", where)
        if not id:
            raise BadInput(f"{where}: a query must have a 'query_id'. Got none.")
        if page is None:
            without += 1
            continue
        impression = _impression(page, where)
        time = seconds(record.get("timestamp"), where, milliseconds=True)
        shown = _Shown(id, time, {str(document): document for document in impression["documents"]})
        if id in pages:
            begun = first[id]["documents"]
            if impression["documents"][: len(begun)] != begun or impression["slate"] != first[id]["slate"]:
                raise BadInput(f"{where}: a query must come once, or continue its page. '{id}' came before with another page.")
            log.continued(id, impression, time=time)
        else:
            fields = (("user", "client_id"), ("session", "session_id"), ("query", "user_query"))
            who: dict[str, Any] = {name: _field(record, key, where, numbers=True) for name, key in fields}
            log.shown(impression, id=id, time=time, fields=_fields(attributes, where), **who)
        client = _field(record, "client_id", where, numbers=True)
        if client is not None:
            mine = clients.setdefault(client, [])
            if id in pages:
                mine[:] = [one for one in mine if one.id != id]
            mine.append(shown)
        pages[id], first[id] = shown, impression
    for mine in clients.values():
        mine.sort(key=lambda one: one.time)
    return pages, clients, without


def _impression(page: Any, where: str) -> Impression:
    try:
        impression = Impression(_object(page))
        utf8("multileaving", json.dumps(impression, ensure_ascii=False), where)
    except (BadInput, TypeError, ValueError, RecursionError):
        raise BadInput(
            f"{where}: 'query_attributes.multileaving' must be what 'multileave' returned. Got something else."
        ) from None
    return impression


def _fields(attributes: Any, where: str) -> dict[str, Any] | None:
    """Scalars beside the impression."""
    if not isinstance(attributes, Mapping):
        return None
    plain = {
        utf8("query_attributes", name, where): utf8(name, value, where) if isinstance(value, str) else value
        for name, value in attributes.items()
        if name and name != "multileaving" and isinstance(value, str | int | float | bool)
        and not (isinstance(value, float) and not math.isfinite(value))
    }  # fmt: skip
    return dict(list(plain.items())[:MOST_FIELDS]) or None


def _events(
    events: str | os.PathLike[str],
    log: Log,
    pages: dict[str, _Shown],
    clients: dict[str, list[_Shown]],
    counting: dict[str, tuple[str, float]],
    join_within: float,
) -> tuple[int, int, int]:
    """Append the events on known pages; returns how many, how many of them were joined, and how many were left out."""
    appended = joined = left_out = 0
    for where, record in _records(events):
        action, id = _field(record, "action_name", where), _field(record, "query_id", where)
        if action not in counting:
            continue
        when = seconds(record.get("timestamp"), where, milliseconds=True)
        client = _field(record, "client_id", where, numbers=True)
        document = None
        if id in pages or (id is None and client in clients):
            document = _document(record, where)
        shown = pages.get(id) if id is not None else _last_page(clients, client, str(document), when, join_within)
        if shown is None or str(document) not in shown.documents:
            left_out += 1
            continue
        metric, weight = counting[action]
        when = when if record.get("timestamp") not in (None, "") else shown.time
        log.clicked(shown.id, shown.documents[str(document)], weight=weight, time=max(when, shown.time), metric=metric)
        appended += 1
        joined += id is None
    return appended, joined, left_out


def _last_page(
    clients: dict[str, list[_Shown]], client: str | None, document: str, when: float, join_within: float
) -> _Shown | None:
    """The last page of this client that showed the document before the event."""
    for shown in reversed(clients.get(client, []) if client is not None else []):
        if shown.time <= when <= shown.time + join_within and document in shown.documents:
            return shown
    return None


def _document(record: Mapping[str, Any], where: str) -> Document:
    attributes = _object(record.get("event_attributes"))
    thing = attributes.get("object") if isinstance(attributes, Mapping) else None
    document = read_document(thing.get("object_id")) if isinstance(thing, Mapping) else None
    if document is None:
        raise BadInput(
            f"{where}: a click must name 'event_attributes.object.object_id', text or a whole number. "
            f"Got {shortened(attributes)}."
        )
    utf8("object_id", str(document), where)
    return document


def _field(record: Mapping[str, Any], name: str, where: str, *, numbers: bool = False) -> str | None:
    """A field of a record as text; None if it is empty. Ids of users may be numbers too."""
    value = record.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, str) or (numbers and isinstance(value, int | float) and not isinstance(value, bool)):
        return utf8(name, str(value), where)
    raise BadInput(f"{where}: '{name}' must be text. Got {shortened(value)}.")
