"""Parts of an arena's votes: those on one question (context), of one group of raters, of people or of judges.

Whoever looks at many parts finds something by chance in one of them, so they share one error between them, beside that of the
whole arena: a third of it goes to the questions, in equal parts, as their number is fixed; a third to the groups, of which the
k-th to appear gets 1 / (k (k + 1)), as nobody knows how many there will be; a third to people and judges. All results on parts
together are then wrong with a chance of at most the arena's error, whenever anyone looks. A vote's question, group and kind are
known before the vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from multiduel.arena.domain.ballots import judged_pairs
from multiduel.arena.domain.pace import Pace
from multiduel.arena.domain.records import TicketRecord
from multiduel.arena.domain.state import State, case_of
from multiduel.inference import RunningTally

MOST_GROUPS = 200  # that are offered
KINDS = ("people", "judges")
FAMILIES = 3  # of parts: questions, groups, kinds


@dataclass(frozen=True)
class Slice:
    """A part of the votes."""

    kind: Literal["context", "group", "kind"]
    place: int  # of the context, of the group in the order in which groups appeared, or of the kind among KINDS; from 0
    label: str  # the context's text, the group's name, or the kind's

    def holds(self, ticket: TicketRecord, state: State) -> bool:
        if self.kind == "kind":
            rater = None if ticket.rater is None else state.raters[ticket.rater]
            return (rater is not None and rater.kind == "judge") == (self.label == "judges")
        return ticket.context == self.place if self.kind == "context" else ticket.group == self.label

    def counts(self, ticket: TicketRecord, state: State) -> bool:
        """Does the vote on this ticket count in this part? Votes of people and judges do, whoever decides."""
        vote = ticket.vote
        if vote is None or vote.undone or not vote.says or not self.holds(ticket, state):
            return False
        if self.kind == "kind":
            return not vote.aside and not (ticket.rater is not None and state.raters[ticket.rater].quarantined)
        return state.counts(ticket)

    def unit(self, state: State) -> str:
        """Apart from people, a judge's questions count once: asking it again is no evidence."""
        return "case" if (self.kind, self.label) == ("kind", "judges") else state.settings.unit


@dataclass(frozen=True)
class Part:
    """What is known of a slice: its votes, and the error that its verdict may have."""

    tally: RunningTally
    alpha: float
    excluded: int
    raters: int
    pace: Pace
    kinds: str = ""  # people or judges, if it is their part


def slices_of(state: State) -> list[Slice]:
    """The parts that there are, where there are two at least of a kind. Those who decide alone are the result itself."""
    contexts = [Slice("context", k, text) for k, text in enumerate(state.contexts)]
    groups = [Slice("group", k, name) for k, name in enumerate(groups_of(state))]
    known = {"judges" if rater.kind == "judge" else "people" for rater in state.raters.values()}
    kinds = [Slice("kind", k, name) for k, name in enumerate(KINDS) if name != state.settings.deciders]
    return [
        *(contexts if len(contexts) > 1 else ()),
        *(groups[:MOST_GROUPS] if len(groups) > 1 else ()),
        *(kinds if len(known) > 1 else ()),
    ]


def groups_of(state: State) -> list[str]:
    """The groups that votes were given in, in the order of their first votes, which later votes do not change."""
    return sorted(state.groups, key=state.groups.__getitem__)


def alpha_of(part: Slice, alpha: float, contexts: int) -> float:
    """The error of one part.

    >>> round(alpha_of(Slice("context", 0, "q"), 0.05, 5), 5), round(alpha_of(Slice("group", 1, "g"), 0.05, 5), 5)
    (0.00333, 0.00278)
    """
    if part.kind == "kind":
        return alpha / FAMILIES / len(KINDS)
    if part.kind == "context":
        return alpha / FAMILIES / contexts
    return alpha / FAMILIES / ((part.place + 1) * (part.place + 2))


def part_of(state: State, part: Slice) -> Part:
    """The votes of a part that count, counted, and how many are excluded. It takes as long as reading the log."""
    unit_name = part.unit(state)
    tally, excluded, raters, pace = RunningTally(len(state.options), unit=unit_name), 0, set(), Pace()
    for ticket in state.tickets.values():
        vote = ticket.vote
        if vote is None or vote.undone or not vote.says or not part.holds(ticket, state):
            continue
        if part.counts(ticket, state):
            unit = case_of(ticket.context) if unit_name == "case" else ticket.rater
            tally.add(vote.event, ticket.shown, judged_pairs(vote.ballot, len(ticket.shown)), unit)
            raters.add(ticket.rater)
            pace.count(vote.at, 1)
        else:
            rater = None if ticket.rater is None else state.raters[ticket.rater]
            excluded += part.kind == "kind" or state.decides(rater)
    kinds = part.label if part.kind == "kind" else ""
    return Part(tally, alpha_of(part, state.settings.alpha, len(state.contexts)), excluded, len(raters), pace, kinds)
