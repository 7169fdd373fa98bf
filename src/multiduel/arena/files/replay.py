"""Replay a log: what would another policy have shown?"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from multiduel.arena.domain.chooser import Asked, Chooser
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.log_check import LogCheck
from multiduel.arena.domain.settings import check_policy
from multiduel.arena.domain.state import State

LIMITS = (
    "It learned from the votes that were given, on what was shown then: there are none on what it would have shown, so that "
    "after its first other choice this is no picture of how it would have gone on. It says nothing about how many votes it would "
    "have needed: for that, simulate it on the problem that the log gives."
)


@dataclass(frozen=True)
class Replay:
    """Slates of another policy, beside those of the log."""

    policy: str
    tickets: int
    same: int  # tickets on which it would have shown the same options
    overlap: float  # mean share of a slate's options that are in the other's too
    shown: dict[str, int]  # option's name -> slates of the log with it
    would_show: dict[str, int]
    first: int | None  # the first ticket with another choice
    limits: str = LIMITS

    def __str__(self) -> str:
        width = max((len(name) for name in self.shown), default=6)
        rows = [f"{'option':{width}}  shown  {self.policy} would show"]
        rows += [f"{name:{width}}  {n:5d}  {self.would_show[name]:5d}" for name, n in self.shown.items()]
        head = f"On {self.same:,} of {self.tickets:,} tickets '{self.policy}' would have shown the same options"
        head += f"; on average {100 * self.overlap:.0f} % of them."
        return "\n".join([head, *rows, self.limits])


def replay(events: Iterable[Event], policy: str, parameters: Mapping[str, Any] | None = None) -> Replay:
    """Another policy asked at every ticket, and told every vote, in the order of the log."""
    words = check_policy(policy, parameters or {})
    state, bodies = State(""), LogCheck()
    other: Chooser | None = None
    tickets = same = 0
    overlap, first = 0.0, None
    shown: dict[int, int] = {}
    would: dict[int, int] = {}
    for event in events:
        bodies.check(state, event)
        state.apply(event)
        if event.kind == "epoch" and state.epoch is not None:
            other = Chooser(dataclasses.replace(state.epoch, policy=policy, parameters=words), state.settings)
        for step in state.steps if other is not None else ():
            assert other is not None
            if not isinstance(step, Asked):
                other.tell(step.arms, step.wins)
                continue
            mine, theirs = set(step.choice.arms), set(other.ask(step.number).arms)
            tickets += 1
            same += mine == theirs
            overlap += len(mine & theirs) / max(len(mine), len(theirs))
            if mine != theirs and first is None:
                first = step.number
            for table, arms in ((shown, mine), (would, theirs)):
                for arm in arms:
                    table[arm] = table.get(arm, 0) + 1
        state.steps.clear()
    names = [option.name for option in state.options]
    counts = [{name: table.get(k, 0) for k, name in enumerate(names)} for table in (shown, would)]
    return Replay(policy, tickets, same, overlap / tickets if tickets else 0.0, counts[0], counts[1], first)
