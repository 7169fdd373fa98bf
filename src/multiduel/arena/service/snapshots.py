"""A fold as bytes, to start quickly: JSON, compressed, arrays inside as text; nothing in it is ever executed.

It is a cache. Whatever is wrong with one, the log is folded instead; deleting it changes only the time.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
import zlib
from collections.abc import Iterable
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from multiduel.arena.domain.chooser import Chooser, Epoch
from multiduel.arena.domain.records import OptionRecord, RaterRecord, TicketRecord, VoteRecord
from multiduel.arena.domain.settings import Settings
from multiduel.arena.domain.state import State
from multiduel.arena.journal import Snapshot
from multiduel.engine.session.snapshots import pack, unpack
from multiduel.inference import Tally

FORMAT = "multiduel-arena-4"
PLAIN = (
    *("number", "hash", "at", "schema", "name", "status", "created", "contexts", "labels", "requests", "lines", "verdict"),
    *("settled_at", "voted_at", "notified", "rounds", "set_aside", "stale", "shortlist"),
)
ARRAYS = {"above": "f8", "ties": "f8", "showings": "i8", "held": "i8", "lengths": "i8", "judged": "i8"}  # of the tally
ROWS = {"first": "i2", "second": "i2", "placed": "i1", "sizes": "i8", "rater": "i4"}  # what its answers said; not in older ones
RATER = ("id", "label", "stratum", "limit", "kind", "quarantined", "reason", "open", "votes", "pairs")
TICKET_WORDS = ("id", "rater", "stratum", "by", "issued", "expires", "request")
TICKET_NUMBERS = ("event", "context", "printed")  # None is -1
VOTE_WORDS = ("at", "ballot", "counted", "aside")
VOTE_NUMBERS = ("event", "late", "undone", "answer")


def table(state: State) -> dict[str, Any]:
    """All that the fold knows, as JSON: two states are the same if their tables are. What follows from the rest is left out."""
    usable = state.epoch is not None and not state.stale and state.epoch.is_current()
    chooser = state.ready() if usable else None
    tally = state.tally.saved()
    tickets = list(state.tickets.values())
    votes = [ticket.vote for ticket in tickets if ticket.vote is not None]
    return {
        "arena": state.arena,
        "plain": {name: getattr(state, name) for name in PLAIN},
        "settings": state.settings.to_json(),
        "options": [[option.id, option.name, option.contents, option.retired, option.features] for option in state.options],
        "raters": [[[getattr(rater, name) for name in RATER], sorted(rater.contexts.items())] for rater in state.raters.values()],
        "tickets": _columns(tickets, TICKET_WORDS, TICKET_NUMBERS),
        "seats": _ints(len(ticket.shown) for ticket in tickets),
        "shown": _ints(option for ticket in tickets for option in ticket.shown),
        "voted": _ints(k for k, ticket in enumerate(tickets) if ticket.vote is not None),
        "votes": _columns(votes, VOTE_WORDS, VOTE_NUMBERS),
        "tally": tally | {name: pack(tally[name]) for name in ARRAYS | ROWS},
        "epoch": None if state.epoch is None else _epoch(state.epoch),
        "chooser": None if chooser is None else chooser.snapshot() | {"differs": chooser.differs},
    }


def _columns(records: list[Any], words: Iterable[str], numbers: Iterable[str]) -> dict[str, Any]:
    columns: dict[str, Any] = {name: [getattr(record, name) for record in records] for name in words}
    for name in numbers:
        values = [getattr(record, name) for record in records]
        columns[name] = _ints(-1 if value is None else int(value) for value in values)
    return columns


def _ints(values: Iterable[int]) -> list[Any]:
    return pack(np.fromiter(values, np.int64))


def _epoch(epoch: Epoch) -> dict[str, Any]:
    fields = {one.name: getattr(epoch, one.name) for one in dataclasses.fields(epoch)}
    return fields | {"wins": pack(epoch.wins)}


def digest(state: State) -> str:
    """The same for two folds of the same log, whichever way they came about."""
    return hashlib.sha256(json.dumps(table(state), sort_keys=True).encode()).hexdigest()


def save(state: State) -> Snapshot:
    text = json.dumps(table(state), separators=(",", ":"), ensure_ascii=False)
    return Snapshot(state.number, state.hash, FORMAT, zlib.compress(text.encode("utf-8"), 1))


def load(arena: str, snapshot: Snapshot | None) -> State | None:
    """None if it is of another format, or not whole."""
    if snapshot is None or snapshot.format != FORMAT:
        return None
    try:
        state = _state(arena, json.loads(zlib.decompress(snapshot.data)))
    except Exception:  # whatever is wrong with a cache, the log knows better
        return None
    return state if (state.number, state.hash) == (snapshot.number, snapshot.hash) else None


def _state(arena: str, saved: dict[str, Any]) -> State:
    if saved["arena"] != arena:
        raise ValueError("of another arena")
    state = State(arena)
    for name in PLAIN:
        setattr(state, name, saved["plain"][name])
    state.settings = Settings.from_json(saved["settings"], recorded=True)
    state.options = [OptionRecord(*option) for option in saved["options"]]
    for words, contexts in saved["raters"]:
        rater = RaterRecord(**dict(zip(RATER, words, strict=True)), contexts={int(k): n for k, n in contexts})
        state.raters[rater.id] = rater
    _restore_tickets(state, saved)
    tally = saved["tally"]
    kinds = ARRAYS | ROWS if "sizes" in tally else ARRAYS
    state.tally = Tally.restored(tally | {name: _array(tally[name], kind) for name, kind in kinds.items()})
    if not state.tally.knows_answers:
        state.recall_answers()
    if saved["epoch"] is not None:
        words = saved["epoch"]
        lists = {name: tuple(words[name]) for name in ("why", "options")}
        state.epoch = Epoch(**(words | lists | {"wins": _array(words["wins"], "f8")}))
    if state.epoch is not None and not state.stale and state.epoch.is_current():
        state.chooser = Chooser(state.epoch, state.settings)
        state.chooser.restore(saved["chooser"])  # missing, if another engine saved it: then the log is folded
        state.chooser.differs = saved["chooser"]["differs"]
    return state


def _restore_tickets(state: State, saved: dict[str, Any]) -> None:
    columns, votes, seats = saved["tickets"], saved["votes"], _array(saved["seats"], "i8").tolist()
    numbers = {name: _array(columns[name], "i8").tolist() for name in TICKET_NUMBERS}
    options = tuple(_array(saved["shown"], "i8").tolist())
    shown = [options[start:end] for start, end in pairwise(accumulate(seats, initial=0))]
    rows = zip(
        columns["id"],
        numbers["event"],
        map(_one, columns["rater"]),
        (None if context < 0 else context for context in numbers["context"]),
        map(_one, columns["stratum"]),
        shown,
        map(_one, columns["by"]),
        columns["issued"],
        columns["expires"],
        columns["request"],
        (flag == 1 for flag in numbers["printed"]),
        strict=True,
    )
    tickets = [TicketRecord(*row) for row in rows]
    said = {name: list(map(sys.intern, votes[name])) for name in ("ballot", "counted", "aside")}
    times = _shared(ticket.issued for ticket in tickets)
    state.tickets = {ticket.id: ticket for ticket in tickets}
    for ticket in tickets:
        state.remember_ask(ticket)
        if ticket.rater is not None and ticket.by != "import":
            state.remember_seen(state.raters[ticket.rater], ticket)
    numbers = {name: _array(votes[name], "i8").tolist() for name in VOTE_NUMBERS}
    flags = ([flag == 1 for flag in numbers[name]] for name in ("late", "undone"))
    late, undone = flags
    records = [
        VoteRecord(event, at, ballot, counted, was_late, aside, taken_back, None if answer < 0 else answer)
        for event, at, ballot, counted, was_late, aside, taken_back, answer in zip(
            numbers["event"], (times.get(at, at) for at in votes["at"]), said["ballot"], said["counted"], late, said["aside"],
            undone, numbers["answer"], strict=True,
        )
    ]  # fmt: skip
    voted = [tickets[k] for k in _array(saved["voted"], "i8").tolist()]
    for ticket, vote in zip(voted, records, strict=True):
        ticket.vote = vote
    standing = [(ticket.vote.event, ticket) for ticket in voted if ticket.vote is not None and not ticket.vote.undone]
    for _, ticket in sorted(standing, key=lambda pair: pair[0]):
        if ticket.rater is not None:
            state.raters[ticket.rater].voted.append(ticket.id)


def _one(text: str | None) -> str | None:
    """One text for all that are alike: JSON makes one for each."""
    return None if text is None else sys.intern(text)


def _shared(texts: Iterable[str]) -> dict[str, str]:
    return {text: text for text in texts}


def _array(packed: Any, kind: str) -> Any:
    if packed[0] != kind or not all(isinstance(n, int) and n >= 0 for n in packed[1]):
        raise ValueError("not this array")
    array = np.zeros(packed[1], kind)
    unpack(packed, array, "tally")
    return array
