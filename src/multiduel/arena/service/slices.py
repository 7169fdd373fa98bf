"""Parts of an arena's votes: those on one question (context), of one group of raters (stratum), of people or of judges.

Whoever looks at many parts finds something by chance in one of them, so they share one error between them, beside that of the
whole arena: a third of it goes to the questions, in equal parts, as their number is fixed; a third to the groups, of which the
k-th to appear gets 1 / (k (k + 1)), as nobody knows how many there will be; a third to people and judges. All results on parts
together are then wrong with a chance of at most the arena's error, whenever anyone looks. A vote's question, group and kind are
known before the vote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from multiduel.arena.domain.ballots import spoken
from multiduel.arena.domain.records import TicketRecord
from multiduel.arena.domain.state import State, case_of
from multiduel.inference import Tally

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
        return ticket.context == self.place if self.kind == "context" else ticket.stratum == self.label

    def counts(self, ticket: TicketRecord, state: State) -> bool:
        """Does the vote on this ticket count in this part? Votes of people and judges do, whoever decides."""
        vote = ticket.vote
        if vote is None or vote.undone or not vote.says or not self.holds(ticket, state):
            return False
        if self.kind == "kind":
            return not vote.aside and not (ticket.rater is not None and state.raters[ticket.rater].quarantined)
        return vote.answer is not None

    def unit(self, state: State) -> str:
        """Apart from people, a judge's questions count once: asking it again is no evidence."""
        return "case" if (self.kind, self.label) == ("kind", "judges") else state.settings.unit


class Counted(NamedTuple):
    """A vote that counts, as the tally takes it."""

    shown: tuple[int, ...]
    ballot: str
    rater: str | None
    unit: str | None  # who, or which case, counts once for each pair


@dataclass(frozen=True)
class Part:
    """What is known of a slice: its votes, and the error that its verdict may have."""

    tally: Tally
    alpha: float
    excluded: int
    raters: int
    kinds: str = ""  # people or judges, if it is their part


def slices_of(state: State) -> list[Slice]:
    """The parts that there are, where there are two at least of a kind. Those who decide alone are the result itself."""
    contexts = [Slice("context", k, text) for k, text in enumerate(state.contexts)]
    groups = [Slice("group", k, name) for k, name in enumerate(groups_of(state.tickets.values()))]
    known = {"judges" if rater.kind == "judge" else "people" for rater in state.raters.values()}
    kinds = [Slice("kind", k, name) for k, name in enumerate(KINDS) if name != state.settings.deciders]
    return [
        *(contexts if len(contexts) > 1 else ()),
        *(groups[:MOST_GROUPS] if len(groups) > 1 else ()),
        *(kinds if len(known) > 1 else ()),
    ]


def groups_of(tickets: Iterable[TicketRecord]) -> list[str]:
    """The groups that votes were given in, in the order of their first votes, which later votes do not change."""
    first: dict[str, int] = {}
    for ticket in tickets:
        if ticket.stratum is not None and ticket.vote is not None:
            first[ticket.stratum] = min(first.get(ticket.stratum, ticket.vote.event), ticket.vote.event)
    return sorted(first, key=first.__getitem__)


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


def votes_in(state: State, part: Slice) -> tuple[list[Counted], int]:
    """The votes of a part that count, and how many are excluded."""
    counted, excluded = [], 0
    for ticket in state.tickets.values():
        vote = ticket.vote
        if vote is None or vote.undone or not vote.says or not part.holds(ticket, state):
            continue
        if part.counts(ticket, state):
            unit = case_of(ticket.context) if part.unit(state) == "case" else ticket.rater
            counted.append(Counted(ticket.shown, vote.ballot, ticket.rater, unit))
        else:
            rater = None if ticket.rater is None else state.raters[ticket.rater]
            excluded += part.kind == "kind" or state.decides(rater)
    return counted, excluded


def tally_of(votes: Iterable[Counted], options: int, unit: str) -> Tally:
    """A tally of these votes alone."""
    tally = Tally(options, unit=unit)
    for vote in votes:
        tally.add(vote.shown, spoken(vote.ballot, len(vote.shown)), vote.unit)
    return tally
