"""Parts of an arena's votes: those on one question (context), or of one group of raters (stratum).

Whoever looks at many parts finds something by chance in one of them, so they share one error between them, beside that of the
whole arena: half of it goes to the questions, in equal parts, as their number is fixed; half to the groups, of which the k-th to
appear gets 1 / (k (k + 1)), as nobody knows how many there will be. All results on parts together are then wrong with a chance of
at most the arena's error, whenever anyone looks. A vote's question and group are known before the vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from multiduel.arena.domain.ballots import judged_pairs
from multiduel.arena.domain.pace import Pace
from multiduel.arena.domain.records import TicketRecord
from multiduel.arena.domain.state import State
from multiduel.inference import RunningTally

MOST_GROUPS = 200  # that are offered


@dataclass(frozen=True)
class Slice:
    """A part of the votes."""

    kind: Literal["context", "group"]
    place: int  # of the context, or of the group in the order in which groups appeared; from 0
    label: str  # the context's text, or the group's name

    def holds(self, ticket: TicketRecord) -> bool:
        return ticket.context == self.place if self.kind == "context" else ticket.stratum == self.label


@dataclass(frozen=True)
class Part:
    """What is known of a slice: its votes, and the error that its verdict may have."""

    tally: RunningTally
    alpha: float
    excluded: int
    raters: int
    pace: Pace


def slices_of(state: State) -> list[Slice]:
    """The parts that there are, where there are two at least of a kind."""
    contexts = [Slice("context", k, text) for k, text in enumerate(state.contexts)]
    groups = [Slice("group", k, name) for k, name in enumerate(groups_of(state))]
    return [*(contexts if len(contexts) > 1 else ()), *(groups[:MOST_GROUPS] if len(groups) > 1 else ())]


def groups_of(state: State) -> list[str]:
    """The groups that votes were given in, in the order of their first votes, which later votes do not change."""
    return sorted(state.groups, key=state.groups.__getitem__)


def alpha_of(part: Slice, alpha: float, contexts: int) -> float:
    """The error of one part.

    >>> round(alpha_of(Slice("context", 0, "q"), 0.05, 5), 4), round(alpha_of(Slice("group", 1, "g"), 0.05, 5), 5)
    (0.005, 0.00417)
    """
    if part.kind == "context":
        return 0.5 * alpha / contexts
    return 0.5 * alpha / ((part.place + 1) * (part.place + 2))


def part_of(state: State, part: Slice) -> Part:
    """The votes of a part that count, counted, and how many are excluded. It takes as long as reading the log."""
    tally, excluded, raters, pace = RunningTally(len(state.options), unit=state.settings.unit), 0, set(), Pace()
    for ticket in state.tickets.values():
        vote = ticket.vote
        if vote is None or vote.undone or not vote.says or not part.holds(ticket):
            continue
        if state.counts(ticket):
            tally.add(vote.event, ticket.shown, judged_pairs(vote.ballot, len(ticket.shown)), state.unit_of(ticket))
            raters.add(ticket.rater)
            pace.count(vote.at, 1)
        else:
            excluded += state.decides(None if ticket.rater is None else state.raters[ticket.rater])
    return Part(tally, alpha_of(part, state.settings.alpha, len(state.contexts)), excluded, len(raters), pace)
