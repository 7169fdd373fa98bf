"""What the owner sees of raters: how many votes, how quick, and how often they agree with the others."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from multiduel.arena.domain.ballots import placed_above
from multiduel.arena.domain.clock import is_measurable, went_back
from multiduel.arena.domain.events import Event, time_of
from multiduel.arena.domain.records import RaterRecord, TicketRecord
from multiduel.arena.domain.ticket_store import Tickets
from multiduel.arrays import Floats
from multiduel.inference.shares import Share, share_interval

MANY = 1_000_000  # judgements that are held one by one
MOST_KEPT = 5_000_000  # raters' judgements of pairs, of which 16 bytes each are kept for the next look
OPTIONS = 1 << 10  # more than there may be: a pair of them is one number
SQUARE = OPTIONS * OPTIONS


@dataclass(frozen=True)
class RaterLine:
    """A rater, as owners see one. The API's type is made from these fields and their descriptions."""

    rater: str
    label: str
    group: str | None
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


def is_first_preferred(wins: Floats) -> int:
    """1: what was shown earlier was preferred in most pairs of this vote; -1: in fewer than half; 0: in half. ``wins`` are in the
    order shown.

    The order is drawn at random, and the reverse of an order is as likely: who looks at contents only is at 1 as often as at -1.
    """
    return int(np.sign(np.triu(wins - wins.T, 1).sum()))


def first_share(said: Sequence[int]) -> Share:
    """The share of votes that prefer what was shown earlier, with its interval."""
    return share_interval(said.count(1), said.count(-1), said.count(0))


class Seen:
    """What is known of one rater's votes that were not undone."""

    def __init__(self) -> None:
        self.skipped = self.late = self.said = self.aside = 0  # said: those that are no skips; aside: of them, beyond a limit
        self.first = [0, 0, 0]  # votes that prefer what was shown earlier in as many pairs as not, in more, in fewer
        self.waits = array("d")


class Judgements:
    """How often each rater placed one option above another, in columns; equal ones are counted together now and then."""

    def __init__(self) -> None:
        self._new, self._gone = array("q"), array("q")
        self._codes, self._times = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def change(self, code: int, sign: int) -> None:
        """Count a judgement, or take one back."""
        (self._new if sign > 0 else self._gone).append(code)
        if len(self._new) >= MANY:
            self.columns()

    def columns(self) -> tuple[Any, Any, Any]:
        """(rater, pair, how often), sorted."""
        if self._new or self._gone:
            parts = [(self._codes, self._times)]
            parts += [(np.array(some, np.int64), np.full(len(some), sign)) for some, sign in ((self._new, 1), (self._gone, -1))]
            codes, place = np.unique(np.concatenate([some for some, _ in parts]), return_inverse=True)
            times = np.bincount(place, np.concatenate([some for _, some in parts]), len(codes)).astype(np.int64)
            self._codes, self._times = codes[times != 0], times[times != 0]
            self._new, self._gone = array("q"), array("q")
        return *np.divmod(self._codes, SQUARE), self._times


class RaterStatistics:
    """What the page of raters needs of all votes up to an event. It goes on from there when the log has grown."""

    def __init__(self) -> None:
        self.number = 0
        self._seen: dict[str, Seen] = {}
        self._waiting: dict[str, TicketRecord] = {}  # tickets without a vote
        self._own, self._aside = Judgements(), Judgements()

    def read(self, tickets: Tickets, events: Iterable[Event], now: str) -> bool:
        """Take the events that follow. False if the clock was set back on the way, which changes what is known of times."""
        goes_on = self.number > 0
        for event in events:
            if goes_on and went_back(event.body):
                return False
            if event.kind == "ticket":
                self._waiting[event.body["id"]] = tickets.issued(event)
            elif event.kind == "vote":
                ticket = tickets.with_vote(self._waiting.pop(event.body["ticket"] or "", None), event)
                assert ticket is not None
                self._take(ticket, now, 1)
            elif event.kind == "undo":
                self._take(tickets[event.body["ticket"]], now, -1)
            self.number = event.number
        return True

    def _take(self, ticket: TicketRecord, now: str, sign: int) -> None:
        vote, shown = ticket.vote, ticket.shown
        if vote is None or ticket.rater is None:
            return
        mine = self._seen.setdefault(ticket.rater, Seen())
        mine.late += sign * vote.late
        if ticket.by != "import" and ticket.expires is not None and is_measurable(ticket.issued, vote.at, now):
            seconds = (time_of(vote.at) - time_of(ticket.issued)).total_seconds()
            if sign > 0:
                mine.waits.append(seconds)
            elif seconds in mine.waits:
                mine.waits.remove(seconds)
        if not vote.says:
            mine.skipped += sign
            return
        mine.said += sign
        mine.aside += sign * bool(vote.aside)
        rater, earlier = int(ticket.rater[1:]) * SQUARE, 0
        for a, b in placed_above(vote.ballot, len(shown)):
            earlier += 1 if a < b else -1
            code = rater + shown[a] * OPTIONS + shown[b]
            self._own.change(code, sign)
            if vote.aside:
                self._aside.change(code, sign)
        if ticket.by != "import":  # an import does not say in which order
            mine.first[(earlier > 0) - (earlier < 0)] += sign

    def is_small(self) -> bool:
        """Is it worth the memory to go on from here?"""
        return len(self._own.columns()[0]) <= MOST_KEPT

    def lines(self, raters: Sequence[RaterRecord], decides: Sequence[bool]) -> list[RaterLine]:
        """A line for each rater; ``decides`` says whose votes decide. The agreement compares with the others' votes that count,
        one's own left out."""
        seen = [self._seen.get(rater.id, Seen()) for rater in raters]
        counting = np.zeros(len(raters) + 1, np.bool_)  # raters are r1, r2, ...
        for k, (rater, mine) in enumerate(zip(raters, seen, strict=True), 1):
            counting[k] = decides[k - 1] and not rater.quarantined and mine.said > mine.aside
        agree, judged = self._agreement(counting)
        return [_line(rater, seen[k], int(agree[k + 1]), int(judged[k + 1])) for k, rater in enumerate(raters)]

    def _agreement(self, counting: Any) -> tuple[Any, Any]:
        """(with the majority of the others, in all) of each rater's judgements of pairs that others decide."""
        total = np.zeros(SQUARE, np.int64)
        for judgements, sign in ((self._own, 1), (self._aside, -1)):
            rater, pair, times = judgements.columns()
            here = counting[rater]
            total += sign * np.bincount(pair[here], times[here], SQUARE).astype(np.int64)
        rater, pair, times = self._own.columns()
        turned = pair % OPTIONS * OPTIONS + pair // OPTIONS
        codes, wanted = rater * SQUARE + pair, rater * SQUARE + turned
        at = np.minimum(np.searchsorted(codes, wanted), max(0, len(codes) - 1))
        other_way = np.where(codes[at] == wanted, times[at], 0) if len(codes) else times
        more = total[pair] - total[turned] - np.where(counting[rater], times - other_way, 0)
        agree, judged = (np.bincount(rater[some], times[some], len(counting)) for some in (more > 0, more != 0))
        return agree, judged


def _line(rater: RaterRecord, seen: Seen, agree: int, judged: int) -> RaterLine:
    level, first, later = seen.first
    share = share_interval(first, later, level)
    return RaterLine(
        rater.id,
        rater.label,
        rater.group,
        rater.limit,
        rater.votes,
        seen.skipped,
        seen.late,
        seen.said if rater.quarantined else seen.aside,
        rater.quarantined,
        rater.reason,
        agree / judged if judged else None,
        judged,
        float(np.median(seen.waits)) if seen.waits else None,
        rater.kind,
        (share.value, share.low, share.high) if first + later + level else None,
    )
