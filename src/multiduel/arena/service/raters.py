"""What the owner sees of raters: how many votes, how quick, and how often they agree with the others."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from multiduel.arena.domain.ballots import placed_above
from multiduel.arena.domain.clock import is_measurable
from multiduel.arena.domain.events import time_of
from multiduel.arena.domain.records import RaterRecord, TicketRecord
from multiduel.arena.domain.state import State
from multiduel.arrays import Floats
from multiduel.inference.shares import Share, share_interval

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
    kind: Annotated[str, "person, or judge: a model or a program."]
    first: Annotated[
        tuple[float, float, float] | None,
        "Share of votes that prefer what was shown earlier, low, high: the interval holds while one looks. One half is to be "
        "expected, because the order is drawn at random.",
    ]


def standing(state: State) -> list[tuple[RaterRecord, list[TicketRecord]]]:
    """Raters and the tickets with their votes that stand."""
    return [(rater, [state.tickets[one] for one in rater.voted]) for rater in state.raters.values()]


def is_first_preferred(wins: Floats) -> int:
    """1: what was shown earlier was preferred in most pairs of this vote; -1: in fewer than half; 0: in half. ``wins`` are in the
    order shown.

    The order is drawn at random, and the reverse of an order is as likely: who looks at contents only is at 1 as often as at -1.
    """
    return int(np.sign(np.triu(wins - wins.T, 1).sum()))


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def first_share(said: Sequence[int]) -> Share:
    """The share of votes that prefer what was shown earlier, with its interval."""
    return share_interval(said.count(1), said.count(-1), said.count(0))


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
    counts = any(ticket.vote is not None and ticket.vote.answer is not None for ticket in tickets)  # excluded, or no decider
    for (i, j), times in own.items():
        mine, other_way = (times, own.get((j, i), 0)) if counts else (0, 0)
        more = (total.get((i, j), 0) - mine) - (total.get((j, i), 0) - other_way)
        if more != 0:
            judged += times
            with_others += times if more > 0 else 0
    votes = [ticket.vote for ticket in tickets if ticket.vote is not None]
    said = [
        _sign(sum(1 if a < b else -1 for a, b in placed_above(ticket.vote.ballot, len(ticket.shown))))
        for ticket in tickets
        if ticket.vote is not None and ticket.vote.says and ticket.by != "import"  # an import does not say in which order
    ]
    share = first_share(said)
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
        sum(bool(vote.aside) or rater.quarantined for vote in votes if vote.says),
        rater.quarantined,
        rater.reason,
        with_others / judged if judged else None,
        judged,
        statistics.median(waits) if waits else None,
        rater.kind,
        (share.value, share.low, share.high) if said else None,
    )
