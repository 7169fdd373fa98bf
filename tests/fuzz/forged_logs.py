"""Forged logs: every field of every kind of event replaced by nonsense, all hashes computed anew.

    python tests/fuzz/forged_logs.py --every 1      all of them; 10: one of ten

Whoever writes a log can compute its hashes, so each of these is either refused with one sentence, or imported; and then
everything that can be asked of the arena works. Ends with 1 if one was neither.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

if __package__ in (None, ""):  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from multiduel.arena import (
    AddOptions,
    AdmitRater,
    Ask,
    BrokenLog,
    ChangeMargin,
    ChangePolicy,
    Close,
    ImportVotes,
    Open,
    Pause,
    PrintTickets,
    Quarantine,
    Refused,
    Release,
    RetireOption,
    Service,
    Ticket,
    Undo,
    Vote,
    VoteLine,
    connect,
)
from multiduel.arena.domain import events as log
from multiduel.arena.domain.commands import RecordNotice
from multiduel.arena.domain.events import Event
from multiduel.arena.files.exports import log_lines, log_table, read_log
from multiduel.arena.files.imports import import_log
from multiduel.arena.files.problems import problem_of
from multiduel.arena.files.replay import replay
from multiduel.arena.files.sheets import sheets_of
from multiduel.arena.files.verify import verify, verify_log
from multiduel.arena.service.snapshots import digest, load, save
from multiduel.arena.web.pages.event_text import Names, words
from multiduel.arena.web.pages.routes_board import board_words
from multiduel.inputs import BadInput
from tests.arena.folding import fold
from tests.arena.play import FROZEN, Clock, an_arena, frozen, lively, options, running

MISSING = object()
NONSENSE: tuple[Any, ...] = (
    MISSING,
    None,
    True,
    -1,
    10**30,
    2.5e300,
    "",
    "\ud800",
    "x" * 20_000,
    "\0\x1b[31m\n",
    "2026-13-45T99:99:99.999999Z",
    "9999-12-31T23:59:59.999999Z",
    "module.py:SPEC",
    [],
    [[]],
    {},
    {"o1": {"skip": True}},
)
SENTENCE = 600  # characters of a refusal, at most


def paths(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of every entry of a body; of lists, the first and the last."""
    if here:
        yield here
    if isinstance(value, dict):
        for name in value:
            yield from paths(value[name], (*here, name))
    elif isinstance(value, list):
        for place in sorted({0, len(value) - 1}) if value else ():
            yield from paths(value[place], (*here, place))


def replaced(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    body = copy.deepcopy(body)
    inner = body
    for step in path[:-1]:
        inner = inner[step]
    if value is MISSING:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return body


class Forgery(NamedTuple):
    what: str
    lines: Callable[[], list[str]]


def rechained(rows: list[dict[str, Any]]) -> list[str]:
    """The log of someone who altered events and knew how to make all hashes fit again."""
    before, lines = log.START, []
    for row in rows:
        text = json.dumps(row["body"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        before = log.chained(before, row["number"], row["kind"], row["at"], text)
        lines.append(json.dumps(row | {"hash": before}))
    return lines


def forged(what: str, rows: list[dict[str, Any]]) -> Forgery:
    return Forgery(what, lambda: rechained(rows))


def forgeries(events: list[Event]) -> Iterator[Forgery]:
    """One event altered, twice, left out or said of another kind."""
    rows = [{"number": e.number, "kind": e.kind, "at": e.at, "body": e.body} for e in events]
    seen: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for k, event in enumerate(events):
        form = (event.kind, tuple(sorted(event.body)))
        seen[form] += 1
        if seen[form] > 2:
            continue
        where = f"event {event.number}, {event.kind}"
        for path in paths(event.body):
            old: Any = event.body
            for step in path:
                old = old[step]
            near = [] if not isinstance(old, str) else [old + "9", old.upper()]
            near += [old + 1, old * 1.0] if isinstance(old, int) and not isinstance(old, bool) else []
            near += [old + old[:1], old[::-1]] if isinstance(old, list) else []
            for value in (*NONSENSE, *near):
                row = rows[k] | {"body": replaced(event.body, path, value)}
                said = "missing" if value is MISSING else repr(value)[:30]
                yield forged(f"{where}: {'.'.join(map(str, path))} = {said}", [*rows[:k], row, *rows[k + 1 :]])
        for at in ("", "2026-13-45T99:99:99.999999Z", "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00.000000Z", "\ud800"):
            yield forged(f"{where}: at = {at!r}", [*rows[:k], rows[k] | {"at": at}, *rows[k + 1 :]])
        for kind in log.KINDS:
            if kind != event.kind:
                yield forged(f"{where}: kind = {kind}", [*rows[:k], rows[k] | {"kind": kind}, *rows[k + 1 :]])
        for other, how in (([rows[k], rows[k]], "twice"), ([], "left out")):
            rest = [*rows[:k], *other, *rows[k + 1 :]]
            yield forged(f"{where}: {how}", [row | {"number": n} for n, row in enumerate(rest, 1)])
        yield forged(f"{where}: the last", rows[: k + 1])


@dataclass
class Found:
    refused: int = 0
    imported: int = 0
    problems: list[str] = field(default_factory=list)
    sentences: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return f"{self.refused:,} refused, {self.imported:,} imported and used, {len(self.problems)} PROBLEMS"


class Forger:
    """Tries forgeries, each in a journal where no other is."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.n, self.found = folder, 0, Found()
        self.service: Service | None = None

    def close(self) -> None:
        if self.service is not None:
            self.service.close()

    def _fresh(self) -> Service:
        self.close()
        self.n += 1
        self.service = Service(connect(self.folder / f"{self.n}.db"))
        return self.service

    def attempt(self, forgery: Forgery, contents: dict[str, bytes]) -> None:
        service = self.service or self._fresh()
        try:
            events, _ = read_log(forgery.lines())
            report = verify_log(events, contents)
            if report.first is not None:
                self._sentence(forgery, str(report).splitlines()[-1])
            for reader in (fold, lambda events: replay(events, "uniform")):
                try:
                    reader(events)
                except BrokenLog as broken:
                    self._sentence(forgery, str(broken))
            arena = import_log(service, events, contents).id
        except BadInput as refusal:
            self._sentence(forgery, str(refusal))
            self.found.refused += 1
            return
        except Exception:
            self.found.problems.append(f"{forgery.what}: {traceback.format_exc(limit=-3)}")
            return
        self.found.imported += 1
        try:
            use(service, arena)
        except Exception:
            self.found.problems.append(f"{forgery.what} was imported, and then: {traceback.format_exc(limit=-4)}")
        self._fresh()

    def _sentence(self, forgery: Forgery, said: str) -> None:
        if len(said) > SENTENCE or "\n" in said or "Error(" in said or "BadInput(" in said:
            self.found.problems.append(f"{forgery.what}: no sentence: {said[:300]!r}")
        self.found.sentences[said[:80]] += 1


def use(service: Service, arena: str) -> None:
    """Everything that can be asked of an arena: refusals are answers, anything else is a problem."""

    def do(command: Any) -> Any:
        try:
            return service.do(command, 60)
        except (Refused, BadInput):
            return None

    _look(service, arena)
    do(Open(arena))
    rater = do(AdmitRater(arena, "one more"))
    with service.look(arena) as state:
        raters, known = list(state.raters), [ticket.id for ticket in state.tickets.values()][-5:]
    for id in raters[:4]:
        ticket = do(Ask(arena, id, "forged"))
        if isinstance(ticket, Ticket):
            do(Vote(ticket.id, {"skip": True}))
            do(Undo(arena, id, "forged"))
            again = do(Ask(arena, id, "forged again"))
            question = service.info(arena).settings.question
            if isinstance(again, Ticket):
                do(Vote(again.id, {question: [0, 1] if question == "rank" else 0}, next=True))
        do(Quarantine(arena, id, "forged"))
        do(Release(arena, id))
    for id in known:
        do(Vote(id, {"skip": True}))
    bodies = [(event.kind, event.body) for event in service.events(arena)]
    undone = [(body["rater"], body["request"]) for kind, body in bodies if kind == "undo"]
    asked = [(body["rater"], body["request"]) for kind, body in bodies if kind == "ticket" and body.get("request")]
    for id, request in undone:
        do(Undo(arena, id, request))
    for id, request in asked[:5]:
        do(Ask(arena, id, request))
    sheets = do(PrintTickets(arena, 2, "forged"))
    if sheets:
        "".join(sheets_of(service, arena, sheets))
    do(ImportVotes(arena, [VoteLine("forged", {"skip": True}, shown=["o1", "o2"], rater="paper")]))
    do(ChangeMargin(arena, 0.1))
    do(ChangePolicy(arena, "multi-rucb"))
    do(AddOptions(arena, options(1, 50, max(1, len(service.info(arena).contexts)))))
    do(RetireOption(arena, "o1"))
    if rater is not None:
        do(Ask(arena, rater, "last"))
    _look(service, arena)
    for command in (Pause(arena), Close(arena)):
        do(command)
    with service.look(arena) as state:
        again = load(arena, save(state), state.past)
        assert again is not None and digest(again) == digest(state), "the snapshot is another state"


def _look(service: Service, arena: str) -> None:
    service.info(arena)
    board = service.board(arena)
    json.dumps(board.to_json()), json.dumps(board.rater_json())
    service.raters(arena)
    with suppress(BadInput), service.look(arena) as state:  # too few votes
        problem_of(state)
    events = service.events(arena)
    with service.look(arena) as state:
        names = Names(state, events)
    board_words(board, service.pace(arena))
    for event in events:
        words(event, names).encode("utf-8")
    "".join(log_table(events)).encode("utf-8")
    written = "".join(log_lines(events, lambda sha256: service.journal.get_content(arena, sha256)))
    assert [event.hash for event in read_log(written.encode("utf-8").decode().split("\n"))[0]] == [e.hash for e in events]
    with service.look(arena) as state:
        tickets = [ticket.id for ticket in list(state.tickets.values())[:20] if ticket.by != "import"]
    for ticket in tickets:
        service.ticket(ticket), service.content(ticket, 0)
    report = verify(service.journal, arena)
    assert report.first is None, f"verify: {report}"


def a_log(folder: Path, seed: int, **settings: Any) -> tuple[list[Event], dict[str, bytes]]:
    """A log with every kind of event, of this version."""
    clock = Clock()
    with running(folder / f"log{seed}.db", clock) as service:
        arena, raters = an_arena(
            service,
            3,
            raters=2,
            contexts=seed % 2 * 2,
            room=9,
            places=2,
            expires=60,
            shortlist={"by": "a judge", "of": 30, "first": 3},
            **settings,
        )
        service.do(AdmitRater(arena, "a judge", kind="judge"))
        service.do(PrintTickets(arena, 2, "printed", rater=raters[0] if settings.get("unit") != "rater" else None))
        lively(service, arena, clock, random.Random(seed), 40, churn=0.4)
        service.do(Quarantine(arena, raters[0], "too quick"))
        service.do(Release(arena, raters[0]))
        service.do(ChangeMargin(arena, 0.2))
        best = {"rank": {"rank": [0, 1]}, "best": {"best": 0}, "worst": {"worst": 1}}[service.info(arena).settings.question]
        others = [option["id"] for option in service.info(arena).options if option["id"] != "o2"]
        for k in range(40):  # until there is a verdict
            lines = [VoteLine(f"l{k} {other}", best, shown=["o2", other], rater=f"p{k}") for other in others]
            service.do(ImportVotes(arena, lines))
        service.do(RecordNotice(arena, "0" * 16, "webhook", "winner 9", True, 2))
        service.do(Pause(arena))
        service.do(Close(arena))
        events = service.events(arena)
        written = "".join(log_lines(events, lambda sha256: service.journal.get_content(arena, sha256)))
        return read_log(written.split("\n"))


def run(folder: Path, *, every: int, frozen_logs: bool = True) -> Found:
    """One forgery of ``every``, of the frozen logs and of logs of this version."""
    logs = [frozen(file) for file in FROZEN] if frozen_logs else []
    logs += [a_log(folder, 1), a_log(folder, 2, unit="rater", question="best"), a_log(folder, 3, question="worst", slate_size=2)]
    forger = Forger(folder)
    try:
        for which, (events, contents) in enumerate(logs):
            forger.attempt(Forgery("not forged", lambda events=events: [log.to_line(event) for event in events]), contents)
            assert forger.found.imported == which + 1, forger.found.sentences or forger.found.problems
        for events, contents in logs:
            for k, forgery in enumerate(forgeries(events)):
                if k % every == 0:
                    forger.attempt(forgery, contents)
    finally:
        forger.close()
    return forger.found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), every=given.every)
    for problem in found.problems[:40]:
        print(problem, flush=True)
    print(f"Forged logs, {time.perf_counter() - start:.0f} s: {found}")
    return 1 if found.problems else 0


if __name__ == "__main__":
    sys.exit(main())
