"""After the torture: is every promise kept? Counted here anew from the log, without the arena's own fold, and then against it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from multiduel.arena.client import Client
from multiduel.arena.domain.errors import BrokenLog
from multiduel.arena.domain.events import Event
from multiduel.arena.files.verify import verify
from multiduel.arena.journal import Journal
from multiduel.arena.service.board import Board, board, facts
from multiduel.inference import Forecast
from tests.arena.folding import fold
from tests.arena.torture.stream import Ledger

ELSEWHERE = ("arena", "forecast", "forecast_range", "margin_offer")  # not in the log, or guessed and kept for a while


def live_boards(owner: Client, looks: int) -> list[dict[str, Any]]:
    """The board as the server has it; several times, each by a new connection, to meet several workers."""
    boards = []
    for _ in range(looks):
        boards.append(Client(owner.url, owner.key).board())
    return boards


def sent(board: Board) -> dict[str, Any]:
    """The board as the API sends it: null for numbers that cannot be said."""
    plain: dict[str, Any] = json.loads(json.dumps(board.to_json()), parse_constant=lambda _: None)
    return plain


def audit(journal: Journal, arena: str, ledger: Ledger, boards: list[dict[str, Any]]) -> list[str]:
    """What is wrong; nothing, if all is well. ``boards`` are what the server showed last."""
    problems = list(ledger.problems)
    events = journal.events(arena)
    report = verify(journal, arena)
    if not report.good:
        problems.append(f"the log is not verified: {report}")
    problems += promises_broken(events, ledger)
    standing, above = recount(events)
    try:
        state = fold(events)
    except BrokenLog as broken:  # a server that writes what no arena may write is found out by this alone
        return [*problems, f"the log cannot be folded: {broken}"]
    if not np.array_equal(state.tally.above, above) or state.tally.answers != standing:
        problems.append(f"the fold counts {state.tally.answers} votes, the log has {standing}, or they fall otherwise")
    replayed = sent(board(facts(state), (Forecast(True, 0.0, 0.0, 0.0), None)))
    for live in boards:
        differing = [name for name in replayed if name not in ELSEWHERE and live.get(name) != replayed[name]]
        if differing:
            problems.append(f"the live board differs from the replay in {', '.join(differing)}")
    return problems


def promises_broken(events: list[Event], ledger: Ledger) -> list[str]:
    at = {event.number: event for event in events}
    votes = [event for event in events if event.kind == "vote"]
    lost = [promise for promise in ledger.votes if not _holds(at.get(promise.event), promise.ticket, promise.ballot)]
    twice = len(votes) - len({promise.ticket for promise in ledger.votes})
    unsaid = [
        ticket
        for ticket, number in ledger.undone.items()
        if number not in at or (at[number].kind, at[number].body.get("ticket")) != ("undo", ticket)
    ]
    undos = sum(event.kind == "undo" for event in events)
    return [
        sentence
        for wrong, sentence in (
            (lost, f"{len(lost)} acknowledged votes are lost, such as {lost[:1]}"),
            (twice > 0, f"{twice} votes were counted twice: the log has {len(votes)}"),
            (unsaid, f"{len(unsaid)} acknowledged undos are lost"),
            (undos != len(ledger.undone), f"the log has {undos} undos, {len(ledger.undone)} were acknowledged"),
            ([event.number for event in events] != list(range(1, len(events) + 1)), "event numbers have gaps"),
        )
        if wrong
    ]


def _holds(event: Event | None, ticket: str, ballot: dict[str, Any]) -> bool:
    return event is not None and event.kind == "vote" and event.body["ticket"] == ticket and event.body["ballot"] == ballot


def recount(events: list[Event]) -> tuple[int, Any]:
    """Votes that stand, and who was placed above whom by them."""
    shown: dict[str, list[int]] = {}
    standing: dict[str, dict[str, Any]] = {}
    options = 0
    for event in events:
        body = event.body
        if event.kind == "created":
            options = len(body["options"])
        elif event.kind == "ticket":
            shown[body["id"]] = [int(option[1:]) - 1 for option in body["shown"]]
        elif event.kind == "vote":
            standing[body["ticket"]] = body["ballot"]
        elif event.kind == "undo":
            del standing[body["ticket"]]
    above = np.zeros((options, options))
    for ticket, ballot in standing.items():
        order = [shown[ticket][place] for (place,) in ballot["rank"]]
        for a, better in enumerate(order):
            for worse in order[a + 1 :]:
                above[better, worse] += 1
    return len(standing), above
