"""Servers that break a promise. The torture must find each of them out, or it proves nothing.

python -m tests.arena.torture.sabotaged HOW arena serve --db ...
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from multiduel.arena.domain import events as log
from multiduel.arena.domain.clock import WallClock
from multiduel.arena.domain.commands import Receipt, Undo, Vote
from multiduel.arena.domain.state import State
from multiduel.arena.journal.known_heads import Heads
from multiduel.arena.service import handlers
from multiduel.arena.service import service as services
from multiduel.arena.service.decision import Decision
from multiduel.arena.service.handlers import HANDLERS
from multiduel.arena.service.service import Service
from multiduel.arena.service.tickets import issue
from multiduel.arena.service.votes import cast

CLOCK = "MULTIDUEL_TORTURE_CLOCK"
SLOW_DISK = 0.05  # seconds between the answer and the commit


def acknowledges_before_it_commits() -> None:
    def carry_out(self: Service, arena: str, group: list[Any], more: Any) -> None:
        if arena in ("", services.HEART):
            honest(self, arena, group, more)
            return
        live = self._find(arena)
        with live.lock:
            state = self._folded(live)
            with self.journal.transaction(arena) as transaction:
                for event in transaction.since(state.number):
                    state.apply(event)
                decision = Decision(state)
                for order, future in group:
                    services.answer(future, *self._decide(decision, order))
                time.sleep(SLOW_DISK)
                services._append(transaction, decision)

    honest = Service._carry_out
    Service._carry_out = carry_out  # type: ignore[method-assign]


def counts_a_retry_twice() -> None:
    """As if it came on another ticket: the log is in order."""

    def vote(decision: Decision, command: Vote) -> Receipt:
        before = decision.state.tickets.get(command.ticket)
        retried = before is not None and before.vote is not None and not before.vote.undone
        receipt = honest(decision, command)
        if retried and before is not None and before.rater is not None:
            more = {"request": f"again {decision.state.number}"}
            again = issue(decision, decision.rater(before.rater), None, before.expires, more)
            cast(decision, again.id, dict(command.ballot), before.rater, {})
        return receipt

    honest = HANDLERS[Vote]
    HANDLERS[Vote] = vote


def forgets_an_undo() -> None:
    """It is in the log, but the vote still counts where it was counted."""

    def uncount(self: State, ticket: Any, vote: Any) -> None:
        """Not at all."""

    State._uncount = uncount  # type: ignore[method-assign]


def answers_an_undo_without_writing_it_down() -> None:
    def undo(decision: Decision, command: Undo) -> Receipt:
        ticket = issue(decision, decision.rater(command.rater), None, None, {"request": f"{command.request} again"})
        return Receipt(decision.state.number, "undone", ticket)

    HANDLERS[Undo] = undo


def has_a_clock_that_jumps() -> None:
    """No sabotage: the clock is ahead by as many seconds as the file says that CLOCK names."""

    def ahead() -> float:
        return time.time() + float(Path(os.environ[CLOCK]).read_text() or 0)

    services.WallClock = lambda: WallClock(ahead)  # type: ignore[misc, assignment]


def dates_no_event_before_the_last() -> None:
    """Ten years ahead once, ten years ahead for good."""
    has_a_clock_that_jumps()
    handlers.dated = lambda now, before: (max(log.moment(now), before), 0)  # type: ignore[assignment]


def ignores_that_the_database_went_back() -> None:
    Heads.saw = lambda self, arena, event: None  # type: ignore[method-assign]


HOW: dict[str, Callable[[], None]] = {
    "acknowledges-before-it-commits": acknowledges_before_it_commits,
    "counts-a-retry-twice": counts_a_retry_twice,
    "forgets-an-undo": forgets_an_undo,
    "answers-an-undo-without-writing-it-down": answers_an_undo_without_writing_it_down,
    "has-a-clock-that-jumps": has_a_clock_that_jumps,
    "dates-no-event-before-the-last": dates_no_event_before_the_last,
    "ignores-that-the-database-went-back": ignores_that_the_database_went_back,
}


if __name__ == "__main__":
    from multiduel.cli import main

    HOW[sys.argv.pop(1)]()
    main()
