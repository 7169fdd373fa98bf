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

from multiduel.arena.domain.chooser import Chooser, Epoch
from multiduel.arena.domain.pace import Pace
from multiduel.arena.domain.past import Past
from multiduel.arena.domain.records import OptionRecord, Printing, RaterRecord, TicketRecord
from multiduel.arena.domain.settings import Settings
from multiduel.arena.domain.state import State
from multiduel.arena.journal import Snapshot
from multiduel.engine.session.snapshots import pack, unpack
from multiduel.inference import RunningTally
from multiduel.inference.running_tally import COLUMNS, JUDGED, TABLES

FORMAT = "multiduel-arena-7"
PLAIN = (
    *("number", "hash", "at", "schema", "name", "status", "created", "contexts", "labels", "requests", "verdict"),
    *("settled_at", "quiet_from", "notified", "rounds", "set_aside", "stale", "shortlist", "issued", "groups", "waits"),
)
NO_ROWS = pack(np.zeros((0, 3), np.int64))  # packed once for all raters who have none
ARRAYS = TABLES | COLUMNS | JUDGED  # of a tally
RATER = ("id", "label", "group", "limit", "kind", "quarantined", "reason", "given", "last", "open", "votes", "pairs")
TICKET = tuple(one.name for one in dataclasses.fields(TicketRecord) if one.name != "vote")


def table(state: State) -> dict[str, Any]:
    """All that the fold knows, as JSON: two states are the same if their tables are. What is in the log only is left out."""
    usable = state.epoch is not None and not state.stale and state.epoch.is_current()
    chooser = state.ready() if usable else None
    return {
        "arena": state.arena,
        "plain": {name: getattr(state, name) for name in PLAIN},
        "settings": state.settings.to_json(),
        "options": [[option.id, option.name, option.contents, option.retired, option.features] for option in state.options],
        "raters": [
            [[getattr(rater, name) for name in RATER], sorted(rater.contexts.items()), _ints(rater.seen)]
            for rater in state.raters.values()
        ],
        "tickets": [[getattr(ticket, name) for name in TICKET] for ticket in open_tickets(state)],
        "printings": [[request, *dataclasses.astuple(one)] for request, one in state.printings.items()],
        "pace": state.pace.saved(),
        "tally": _packed(state.tally),
        "kinds": {name: _packed(tally) for name, tally in state.kinds.items()},
        "epoch": None if state.epoch is None else _epoch(state.epoch),
        "chooser": None if chooser is None else chooser.snapshot() | {"differs": chooser.differs},
    }


def open_tickets(state: State) -> list[TicketRecord]:
    """Tickets that raters hold, or that were printed and have no vote, in the order of their events."""
    held = {id for rater in state.raters.values() for id in rater.open}
    found = [one for one in state.tickets.memory.values() if one.vote is None and (one.printed or one.id in held)]
    return sorted(found, key=lambda one: one.event)


def _packed(tally: RunningTally) -> dict[str, Any]:
    saved = tally.saved()
    return saved | {name: pack(saved[name]) for name in ARRAYS}


def _ints(rows: set[tuple[int, int, int]]) -> list[Any]:
    return pack(np.array(sorted(rows), np.int64).reshape(-1, 3)) if rows else NO_ROWS


def _epoch(epoch: Epoch) -> dict[str, Any]:
    fields = {one.name: getattr(epoch, one.name) for one in dataclasses.fields(epoch)}
    return fields | {"wins": pack(epoch.wins)}


def digest(state: State) -> str:
    """The same for two folds of the same log, whichever way they came about."""
    return hashlib.sha256(json.dumps(table(state), sort_keys=True).encode()).hexdigest()


def save(state: State) -> Snapshot:
    text = json.dumps(table(state), separators=(",", ":"), ensure_ascii=False)
    return Snapshot(state.number, state.hash, FORMAT, zlib.compress(text.encode("utf-8"), 1))


def load(arena: str, snapshot: Snapshot | None, past: Past | None) -> State | None:
    """None if it is of another format, or not whole. ``past`` is the log, where the state finds what a snapshot does not hold."""
    if snapshot is None or snapshot.format != FORMAT:
        return None
    try:
        state = _state(arena, json.loads(zlib.decompress(snapshot.data)), past)
    except Exception:  # whatever is wrong with a cache, the log knows better
        return None
    return state if (state.number, state.hash) == (snapshot.number, snapshot.hash) else None


def _state(arena: str, saved: dict[str, Any], past: Past | None) -> State:
    if saved["arena"] != arena:
        raise ValueError("of another arena")
    state = State(arena, past)
    for name in PLAIN:
        setattr(state, name, saved["plain"][name])
    state.settings = Settings.from_json(saved["settings"], recorded=True)
    state.set_options([OptionRecord(*option) for option in saved["options"]])
    for words, contexts, seen in saved["raters"]:
        rater = RaterRecord(**dict(zip(RATER, words, strict=True)), contexts={int(k): n for k, n in contexts})
        rater.last = [(id, number) for id, number in rater.last]
        rater.seen = {(i, j, where) for i, j, where in _array(seen, "i8").tolist()}
        state.raters[rater.id] = rater
    for row in saved["tickets"]:
        ticket = TicketRecord(**dict(zip(TICKET, row, strict=True)))
        ticket.shown = tuple(ticket.shown)
        state.tickets.hold(ticket)
    state.printings = {request: Printing(*words) for request, *words in saved["printings"]}
    width, spans = saved["pace"]
    state.pace = Pace(width, [(span, votes) for span, votes in spans])
    state.tally = _unpacked(saved["tally"])
    state.kinds = {name: _unpacked(tally) for name, tally in saved["kinds"].items()}
    if saved["epoch"] is not None:
        words = saved["epoch"]
        lists = {name: tuple(words[name]) for name in ("why", "options")}
        state.epoch = Epoch(**(words | lists | {"wins": _array(words["wins"], "f8")}))
    if state.epoch is not None and not state.stale and state.epoch.is_current():
        state.chooser = Chooser(state.epoch, state.settings)
        state.chooser.restore(saved["chooser"])  # missing, if another engine saved it: then the log is folded
        state.chooser.differs = saved["chooser"]["differs"]
    return state


def _unpacked(saved: dict[str, Any]) -> RunningTally:
    return RunningTally.restored(saved | {name: _array(saved[name], kind) for name, kind in ARRAYS.items()})


def _array(packed: Any, kind: str) -> Any:
    if packed[0] != kind or not all(isinstance(n, int) and n >= 0 for n in packed[1]):
        raise ValueError("not this array")
    array = np.zeros(packed[1], kind)
    unpack(packed, array, "tally")
    return array
