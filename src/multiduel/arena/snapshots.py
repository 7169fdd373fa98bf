"""A fold as bytes, to start quickly: JSON, compressed, arrays inside as text; nothing in it is ever executed.

It is a cache. Whatever is wrong with one, the log is folded instead; deleting it changes only the time.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zlib
from typing import Any

import numpy as np

from multiduel.arena.epochs import Chooser, Epoch, fingerprint
from multiduel.arena.journal import Snapshot
from multiduel.arena.records import OptionRecord, RaterRecord, TicketRecord, VoteRecord
from multiduel.arena.settings import Settings
from multiduel.arena.state import State
from multiduel.engine.snapshots import pack, unpack
from multiduel.inference import Tally

FORMAT = "multiduel-arena-1"
PLAIN = (
    *("number", "hash", "at", "schema", "name", "status", "created", "contexts", "labels", "requests", "lines", "verdict"),
    *("rounds", "set_aside", "stale"),
)
ARRAYS = {"above": "f8", "ties": "f8", "showings": "i8", "held": "i8", "judged": "i8"}
TICKET = [one.name for one in dataclasses.fields(TicketRecord) if one.name != "vote"]
VOTE = [one.name for one in dataclasses.fields(VoteRecord)]


def table(state: State) -> dict[str, Any]:
    """All that the fold knows, as JSON: two states are the same if their tables are."""
    usable = state.epoch is not None and not state.stale and state.epoch.fingerprint == fingerprint(state.epoch.policy)
    chooser = state.ready() if usable else None
    tally = state.tally.saved()
    tickets = list(state.tickets.values())
    votes = [ticket.vote for ticket in tickets if ticket.vote is not None]
    return {
        "arena": state.arena,
        "plain": {name: getattr(state, name) for name in PLAIN},
        "settings": state.settings.to_json(),
        "options": [dataclasses.asdict(option) for option in state.options],
        "raters": [dataclasses.asdict(rater) | {"contexts": sorted(rater.contexts.items())} for rater in state.raters.values()],
        "tickets": {name: [getattr(ticket, name) for ticket in tickets] for name in TICKET},
        "voted": [k for k, ticket in enumerate(tickets) if ticket.vote is not None],
        "votes": {name: [getattr(vote, name) for vote in votes] for name in VOTE},
        "tally": tally | {name: pack(tally[name]) for name in ARRAYS},
        "epoch": None if state.epoch is None else _epoch(state.epoch),
        "chooser": None if chooser is None else chooser.snapshot() | {"differs": chooser.differs},
    }


def _epoch(epoch: Epoch) -> dict[str, Any]:
    fields = {one.name: getattr(epoch, one.name) for one in dataclasses.fields(epoch)}
    return fields | {"wins": pack(epoch.wins)}


def digest(state: State) -> str:
    """The same for two folds of the same log, whichever way they came about."""
    return hashlib.sha256(json.dumps(table(state), sort_keys=True).encode()).hexdigest()


def save(state: State) -> Snapshot:
    data = zlib.compress(json.dumps(table(state), separators=(",", ":"), ensure_ascii=False).encode("utf-8"), 1)
    return Snapshot(state.number, state.hash, FORMAT, data)


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
    state.settings = Settings.from_json(saved["settings"])
    state.options = [OptionRecord(**option) for option in saved["options"]]  # before anyone asks which are present
    for rater in saved["raters"]:
        record = RaterRecord(**rater)
        record.contexts = {int(k): n for k, n in rater["contexts"]}
        state.raters[record.id] = record
    columns = saved["tickets"]
    columns["shown"] = map(tuple, columns["shown"])
    tickets = [TicketRecord(*row) for row in zip(*(columns[name] for name in TICKET), strict=True)]
    for k, row in zip(saved["voted"], zip(*(saved["votes"][name] for name in VOTE), strict=True), strict=True):
        tickets[k].vote = VoteRecord(*row)
    state.tickets = {ticket.id: ticket for ticket in tickets}
    tally = saved["tally"]
    state.tally = Tally.restored(tally | {name: _array(tally[name], kind) for name, kind in ARRAYS.items()})
    if saved["epoch"] is not None:
        words = saved["epoch"]
        lists = {name: tuple(words[name]) for name in ("why", "options")}
        state.epoch = Epoch(**(words | lists | {"wins": _array(words["wins"], "f8")}))
    if state.epoch is not None and saved["chooser"] is not None:
        if state.epoch.fingerprint != fingerprint(state.epoch.policy):
            return state  # of another engine: the next ticket begins an epoch
        state.chooser = Chooser(state.epoch, state.settings)
        state.chooser.restore(saved["chooser"])
        state.chooser.differs = saved["chooser"]["differs"]
    elif state.epoch is not None and not state.stale and state.epoch.fingerprint == fingerprint(state.epoch.policy):
        raise ValueError("its policy is missing")  # it was saved by another engine, and this one could go on
    return state


def _array(packed: Any, kind: str) -> Any:
    if packed[0] != kind or not all(isinstance(n, int) and n >= 0 for n in packed[1]):
        raise ValueError("not this array")
    array = np.zeros(packed[1], kind)
    unpack(packed, array, "tally")
    return array
