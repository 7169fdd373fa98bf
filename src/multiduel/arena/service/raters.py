"""What the owner sees of raters: how many votes, how quick, and how often they agree with the others."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass
from typing import Annotated

from multiduel.arena.domain.ballots import placed_above
from multiduel.arena.domain.clock import is_measurable
from multiduel.arena.domain.events import time_of
from multiduel.arena.domain.records import RaterRecord, TicketRecord
from multiduel.arena.domain.state import State

Counted = dict[tuple[int, int], int]  # how often the one was placed above the other


@dataclass(frozen=True)
class RaterLine:
    """A rater, as owners see one. The API's type is made from these fields and their descriptions."""

    rater: str
    label: str
    stratum: str | None
    limit: int | None
    votes: Annotated[int, "Votes that were not undone; skips do not count."]
    skipped: int
    late: int
    aside: Annotated[int, "Excluded votes."]
    quarantined: bool
    reason: str
    agreement: Annotated[
        float | None, "Share of judgements of pairs that go with the majority of the others; ties and undecided pairs left out."
    ]
    judgements: Annotated[int, "How many judgements the agreement rests on."]
    seconds: Annotated[float | None, "From ticket to vote, the median."]


def standing(state: State) -> list[tuple[RaterRecord, list[TicketRecord]]]:
    """Raters and the tickets with their votes that stand."""
    return [(rater, [state.tickets[one] for one in rater.voted]) for rater in state.raters.values()]


def rater_lines(raters: list[tuple[RaterRecord, list[TicketRecord]]], now: str) -> list[RaterLine]:
    """The agreement compares with the others' votes that count, one's own left out."""
    total: Counted = defaultdict(int)
    own: dict[str, Counted] = {}
    for rater, tickets in raters:
        mine: Counted = defaultdict(int)
        own[rater.id] = mine
        for ticket in tickets:
            vote = ticket.vote
            if vote is None or not vote.says:
                continue
            shown = ticket.shown
            for a, b in placed_above(vote.ballot, len(shown)):
                pair = shown[a], shown[b]
                mine[pair] += 1
                if vote.answer is not None:
                    total[pair] += 1
    return [_line(rater, tickets, own[rater.id], total, now) for rater, tickets in raters]


def _line(rater: RaterRecord, tickets: list[TicketRecord], own: Counted, total: Counted, now: str) -> RaterLine:
    with_others = judged = 0
    for (i, j), times in own.items():
        mine, other_way = (0, 0) if rater.quarantined else (times, own.get((j, i), 0))
        more = (total.get((i, j), 0) - mine) - (total.get((j, i), 0) - other_way)
        if more != 0:
            judged += times
            with_others += times if more > 0 else 0
    votes = [ticket.vote for ticket in tickets if ticket.vote is not None]
    waits = [
        (time_of(ticket.vote.at) - time_of(ticket.issued)).total_seconds()
        for ticket in tickets
        if ticket.vote is not None
        and ticket.by != "import"
        and ticket.expires is not None
        and is_measurable(ticket.issued, ticket.vote.at, now)
    ]
    return RaterLine(
        rater.id,
        rater.label,
        rater.stratum,
        rater.limit,
        rater.votes,
        sum(not vote.says for vote in votes),
        sum(vote.late for vote in votes),
        sum(vote.says and vote.answer is None for vote in votes),
        rater.quarantined,
        rater.reason,
        with_others / judged if judged else None,
        judged,
        statistics.median(waits) if waits else None,
    )
