"""Servers that break a promise. The torture must find each of them out, or it proves nothing.

python -m tests.arena.torture.sabotaged HOW arena serve --db ...
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from multiduel.arena import service as services
from multiduel.arena.commands import Receipt, Undo, Vote
from multiduel.arena.decisions import _HANDLERS, Decider
from multiduel.arena.service import Service
from multiduel.arena.state import State

SLOW_DISK = 0.05  # seconds between the answer and the commit


def acknowledges_before_it_commits() -> None:
    def carry_out(self: Service, arena: str, group: list[Any]) -> None:
        if arena == "":
            honest(self, arena, group)
            return
        live = self._find(arena)
        with live.lock:
            state = self._folded(live)
            with self.journal.transaction(arena) as transaction:
                for event in transaction.since(state.number):
                    state.apply(event)
                decider = Decider(state, transaction.put_content)
                for command, future in group:
                    services._answer(future, *self._decide(decider, command))
                time.sleep(SLOW_DISK)
                transaction.append(decider.events)

    honest = Service._carry_out
    Service._carry_out = carry_out  # type: ignore[method-assign]


def counts_a_retry_twice() -> None:
    """As if it came on another ticket that shows the same: the log is in order."""

    def vote(self: Decider, command: Vote) -> Receipt:
        before = self.state.tickets.get(command.ticket)
        retried = before is not None and before.vote is not None and not before.vote.undone
        receipt = honest(self, command)
        if retried and before is not None:
            again = {"id": self._new_id(), "rater": before.rater, "context": None, "stratum": None, "by": "undo", "expires": None}
            self.emit("ticket", again | {"shown": [self.state.options[k].id for k in before.shown]})
            self.cast(str(again["id"]), dict(command.ballot), before.rater, {})
        return receipt

    honest = Decider.vote
    _HANDLERS[Vote] = vote


def forgets_an_undo() -> None:
    """It is in the log, but the vote still counts where it was counted."""

    def uncount(self: State, ticket: Any, vote: Any) -> None:
        vote.answer = None

    State._uncount = uncount  # type: ignore[method-assign]


def answers_an_undo_without_writing_it_down() -> None:
    def undo(self: Decider, command: Undo) -> Receipt:
        ticket = self._issue(self.rater(command.rater), None, None, {"request": f"{command.request} again"})
        return Receipt(self.state.number, "undone", ticket)

    _HANDLERS[Undo] = undo


HOW: dict[str, Callable[[], None]] = {
    "acknowledges-before-it-commits": acknowledges_before_it_commits,
    "counts-a-retry-twice": counts_a_retry_twice,
    "forgets-an-undo": forgets_an_undo,
    "answers-an-undo-without-writing-it-down": answers_an_undo_without_writing_it_down,
}


if __name__ == "__main__":
    from multiduel.cli import main

    HOW[sys.argv.pop(1)]()
    main()
