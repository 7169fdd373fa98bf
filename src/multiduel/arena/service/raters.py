"""What the owner sees of raters: how many votes, how quick, and how often they agree with the others."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from multiduel.arena.domain.ballots import placed_above
from multiduel.arena.domain.clock import is_measurable
from multiduel.arena.domain.events import time_of
from multiduel.arena.domain.records import RaterRecord, TicketRecord
from multiduel.arrays import Floats
from multiduel.inference.shares import Share, share_interval

MANY = 1_000_000  # judgements that are held one by one


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
        self.skipped = self.late = self.aside = 0
        self.first = [0, 0, 0]  # votes that prefer what was shown earlier in as many pairs as not, in more, in fewer
        self.waits = array("d")
        self.counts = False  # some of the votes count


class Judgements:
    """How often each rater placed one option above another, in columns; equal ones are counted together now and then."""

    def __init__(self, options: int) -> None:
        self._square = options * options
        self._new, self._codes, self._times = array("q"), np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, rater: int, code: int) -> None:
        self._new.append(rater * self._square + code)
        if len(self._new) >= MANY:
            self._merge()

    def _merge(self) -> None:
        codes = np.concatenate((self._codes, np.frombuffer(self._new, np.int64)))
        times = np.concatenate((self._times, np.ones(len(self._new), np.int64)))
        self._codes, place = np.unique(codes, return_inverse=True)
        self._times, self._new = np.bincount(place, times, len(self._codes)).astype(np.int64), array("q")

    def agreement(self, total: Floats, counts: Any) -> tuple[Any, Any]:
        """(with the majority of the others, in all) of each rater's judgements of pairs that the others do not leave undecided.
        ``counts`` says whose own votes are in ``total`` and are to be left out."""
        self._merge()
        rater, pair = np.divmod(self._codes, self._square)
        i, j = np.divmod(pair, len(total))
        turned = rater * self._square + j * len(total) + i
        at = np.minimum(np.searchsorted(self._codes, turned), max(0, len(self._codes) - 1))
        other_way = np.where(self._codes[at] == turned, self._times[at], 0) if len(at) else at
        more = total[i, j] - total[j, i] - np.where(counts[rater], self._times - other_way, 0)
        sums = [np.bincount(rater[some], self._times[some], len(counts)).astype(int) for some in (more > 0, more != 0)]
        return sums[0], sums[1]


def rater_lines(
    raters: Sequence[RaterRecord], tickets: Iterable[TicketRecord], options: int, decides: Sequence[bool], now: str
) -> list[RaterLine]:
    """A line for each rater, from all tickets of the arena. The agreement compares with the others' votes that count, one's own
    left out. ``decides`` says of each rater whether the votes decide."""
    place = {rater.id: k for k, rater in enumerate(raters)}
    seen, judgements, total = [Seen() for _ in raters], Judgements(options), [0] * (options * options)
    for ticket in tickets:
        vote = ticket.vote
        if vote is None or vote.undone or ticket.rater is None:
            continue
        k = place[ticket.rater]
        rater, mine, shown = raters[k], seen[k], ticket.shown
        mine.late += vote.late
        if ticket.by != "import" and ticket.expires is not None and is_measurable(ticket.issued, vote.at, now):
            mine.waits.append((time_of(vote.at) - time_of(ticket.issued)).total_seconds())
        if not vote.says:
            mine.skipped += 1
            continue
        counts = decides[k] and not vote.aside and not rater.quarantined
        mine.counts |= counts
        mine.aside += bool(vote.aside) or rater.quarantined
        earlier = 0
        for a, b in placed_above(vote.ballot, len(shown)):
            earlier += 1 if a < b else -1
            code = shown[a] * options + shown[b]
            judgements.add(k, code)
            total[code] += counts
        if ticket.by != "import":  # an import does not say in which order
            mine.first[(earlier > 0) - (earlier < 0)] += 1
    table = np.array(total, float).reshape(options, options)
    agree, judged = judgements.agreement(table, np.array([one.counts for one in seen], bool))
    return [_line(*some) for some in zip(raters, seen, agree.tolist(), judged.tolist(), strict=True)]


def _line(rater: RaterRecord, seen: Seen, agree: int, judged: int) -> RaterLine:
    level, first, later = seen.first
    share = share_interval(first, later, level)
    return RaterLine(
        rater.id,
        rater.label,
        rater.stratum,
        rater.limit,
        rater.votes,
        seen.skipped,
        seen.late,
        seen.aside,
        rater.quarantined,
        rater.reason,
        agree / judged if judged else None,
        judged,
        float(np.median(seen.waits)) if seen.waits else None,
        rater.kind,
        (share.value, share.low, share.high) if first + later + level else None,
    )
