"""A lively arena for tests: every kind of command, at random but always alike."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from multiduel.arena import (
    AddOptions,
    AdmitRater,
    Ask,
    ChangePolicy,
    Create,
    Done,
    ImportVotes,
    Open,
    PrintTickets,
    Quarantine,
    Refused,
    Release,
    RetireOption,
    Service,
    Settings,
    Ticket,
    Undo,
    Vote,
    VoteLine,
    connect,
)
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.options import Option, make_content
from multiduel.arena.files.exports import read_log


@contextmanager
def full_disk(service: Service) -> Iterator[None]:
    """Nothing can be committed inside."""

    def no_commit(connection: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    journal: Any = service.journal
    journal._commit = no_commit
    try:
        yield
    finally:
        del journal._commit


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def options(n: int, first: int = 1, contexts: int = 1) -> list[Option]:
    return [
        Option(f"option {k}", tuple(make_content("text", f"content {k} in {c}") for c in range(contexts)))
        for k in range(first, first + n)
    ]


FROZEN = sorted((Path(__file__).parents[1] / "data/arena/v1").glob("*.jsonl"))


def frozen(file: Path) -> tuple[list[Event], dict[str, bytes]]:
    """A log of an earlier version, and the contents that it speaks of (they are not in the file)."""
    made = [content for option in options(12, contexts=2) for content in option.contents]
    return read_log(file.read_text(encoding="utf-8").split("\n"))[0], {content.sha256: content.data for content in made}


@contextmanager
def running(db: str | Path, clock: Any = None) -> Iterator[Service]:
    service = Service(connect(db), **({"clock": clock} if clock else {}))
    try:
        yield service
    finally:
        service.close()


def an_arena(service: Service, n: int = 4, *, raters: int = 2, contexts: int = 0, **settings: Any) -> tuple[str, list[str]]:
    """An open arena, and its raters."""
    questions = [f"question {c}" for c in range(contexts)]
    shortlist = settings.pop("shortlist", None)
    words = {"seed": 7, "slate_size": 3} | settings
    listed = options(n, contexts=max(1, contexts))
    arena = service.do(Create("an arena", Settings(**words), listed, questions, shortlist=shortlist)).id
    service.do(Open(arena))
    return arena, [service.do(AdmitRater(arena, f"rater {k}")) for k in range(raters)]


def ticket_for(service: Service, arena: str, rater: str, request: str) -> Ticket:
    ticket = service.do(Ask(arena, rater, request))
    assert isinstance(ticket, Ticket), ticket
    return ticket


def a_ballot(rng: random.Random, question: str, shown: int, quality: Any = None) -> dict[str, Any]:
    """An answer; by ``quality[position]``, noisily, if given."""
    if rng.random() < 0.05:
        return {"skip": True}
    places = list(range(shown))
    rng.shuffle(places)
    if quality is not None:
        places.sort(key=lambda p: -(quality[p] + rng.gauss(0.0, 1.0)))
    if question != "rank":
        return {question: places[0 if question == "best" else -1]}
    if rng.random() < 0.2 and shown > 2:
        return {"rank": [[places[0], places[1]], *[[p] for p in places[2:]]]}
    if rng.random() < 0.2 and shown > 2:
        return {"rank": [[p] for p in places[:-1]]}
    return {"rank": [[p] for p in places]}


def lively(service: Service, arena: str, clock: Clock, rng: random.Random, steps: int, churn: float = 0.12) -> None:
    """Ask, vote late, vote again, undo, add, retire, quarantine, release, print, import; refusals are part of life."""
    tickets: list[tuple[Ticket, dict[str, Any] | None]] = []
    settings = service.info(arena).settings

    def some_rater() -> str:
        with service.look(arena) as state:
            return rng.choice(list(state.raters))

    turn = rng.randrange(len(CHURN))
    mark = f"{rng.random():.9f}"
    for k in range(steps):
        step = f"{mark} {k}"
        clock.wait(rng.expovariate(1 / 20))
        try:
            if rng.random() < churn:
                turn += 1
                _churn(service, arena, rng, step, turn, some_rater)
            elif not tickets or rng.random() < 0.5:
                got = service.do(Ask(arena, some_rater(), f"ask {step}"))
                if not isinstance(got, Done):
                    tickets.append((got, None))
            else:
                which = rng.randrange(max(0, len(tickets) - 6), len(tickets))
                ticket, before = tickets[which]
                ballot = before or a_ballot(rng, settings.question, len(ticket.options), [-int(o[1:]) for o in ticket.options])
                receipt = service.do(Vote(ticket.id, ballot, next=ticket.rater is not None and rng.random() < 0.3))
                tickets[which] = (ticket, ballot)
                if isinstance(receipt.next, Ticket):
                    tickets.append((receipt.next, None))
        except Refused:
            pass


CHURN = ("undo", "quarantine", "add", "undo", "policy", "release", "admit", "retire", "import", "undo", "print")


def _churn(service: Service, arena: str, rng: random.Random, step: str, turn: int, some_rater: Any) -> None:
    """All kinds in turn; a release frees whoever is in quarantine."""
    info = service.info(arena)
    present = [option["id"] for option in info.options if not option["retired"]]
    kind = CHURN[turn % len(CHURN)]
    if kind == "undo":
        service.do(Undo(arena, some_rater(), f"undo {step}"))
    elif kind == "quarantine":
        service.do(Quarantine(arena, some_rater(), "too quick"))
    elif kind == "release":
        for line in service.raters(arena):
            if line.quarantined:
                service.do(Release(arena, line.rater))
    elif kind == "add":
        service.do(AddOptions(arena, options(1, len(info.options) + 1, max(1, len(info.contexts)))))
    elif kind == "retire":
        service.do(RetireOption(arena, rng.choice(present)))
    elif kind == "policy":
        other = {"challengers": "multi-rucb", "multi-rucb": "uniform"}.get(info.settings.policy, "challengers")
        service.do(ChangePolicy(arena, other))
    elif kind == "admit":
        service.do(AdmitRater(arena, f"late rater {step}"))
    elif kind == "print":
        service.do(PrintTickets(arena, 2, f"print {step}"))
    else:
        shown = rng.sample(present, 2)
        ballot = a_ballot(rng, info.settings.question, 2)
        service.do(ImportVotes(arena, [VoteLine(f"line {step}", ballot, shown=shown, rater=f"paper {turn % 3}")]))
