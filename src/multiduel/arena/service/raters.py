"""What the owner sees of raters: how many votes, how quick, and how often they agree with the others.

The log is summed up in portions of ``PORTION`` events: what each changes in what is known of each rater, in columns. A portion
that is complete never changes. The journal stores it as it stores snapshots, as a cache, and a look adds the portions up.
"""

from __future__ import annotations

import json
import logging
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any, NamedTuple

import numpy as np

from multiduel.arena.domain.ballots import placed_above
from multiduel.arena.domain.clock import is_measurable
from multiduel.arena.domain.errors import Unavailable
from multiduel.arena.domain.events import Event, time_of
from multiduel.arena.domain.records import RaterRecord, TicketRecord
from multiduel.arena.domain.state import State
from multiduel.arena.domain.ticket_store import Tickets, vote_id
from multiduel.arena.journal import Journal, Snapshot
from multiduel.arrays import Floats
from multiduel.engine.session.snapshots import pack, unpack
from multiduel.inference.shares import Share, share_interval

LOG = logging.getLogger(__name__)
FORMAT = "multiduel-raters-1"
PORTION = 5_000  # events that are summed up together
AT_ONCE = 5_000_000  # judgements of pairs that are added up at once
NEVER = "~"  # later than all times
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


@lru_cache(maxsize=4096)  # of few options there are few rankings
def _pairs(ballot: str, shown: int) -> tuple[tuple[tuple[int, int], ...], int]:
    """The pairs of positions that a ballot puts in this order, and how many more of them keep the order shown than turn it."""
    above = placed_above(ballot, shown)
    return above, sum(1 if a < b else -1 for a, b in above)


class Portion(NamedTuple):
    """What some events in a row change in what is known of raters."""

    latest: str  # the latest time of an event, which a clock that was set back may be behind
    counts: Any  # i8[rows, 8]  rater, skips, late votes, votes that are no skips, of them beyond a limit, and COMPARED
    waits: Any  # f8[rows, 3]  rater, seconds from ticket to vote, 1 or, if the vote was undone, -1
    own: Any  # i8[rows, 2]  rater and pair as one number, how often the rater placed the first above the second; sorted
    aside: Any  # i8[rows, 2]  the same of votes beyond a limit


SKIPPED, LATE, SAID, ASIDE, LEVEL, FIRST, LATER = range(7)  # columns of counts; of the last three see is_first_preferred
SHAPES = {"counts": ("i8", 8), "waits": ("f8", 3), "own": ("i8", 2), "aside": ("i8", 2)}


class PortionMaker:
    """Sums up votes, and votes that were undone."""

    def __init__(self) -> None:
        self._last: Event | None = None
        self._latest = ""
        self._counts: dict[int, list[int]] = {}
        self._waits = array("d")
        self._codes = {(name, sign): array("q") for name in ("own", "aside") for sign in (1, -1)}

    def take(self, event: Event, ticket: TicketRecord | None, now: str = NEVER) -> None:
        """Take the next event. ``ticket`` is, with its vote, what a ``vote`` or an ``undo`` is about."""
        self._last = event
        self._latest = max(self._latest, event.at)
        if ticket is None or ticket.vote is None or ticket.rater is None:
            return
        sign, vote, shown = -1 if event.kind == "undo" else 1, ticket.vote, ticket.shown
        rater = int(ticket.rater[1:])
        mine = self._counts.get(rater)
        if mine is None:
            mine = self._counts[rater] = [0] * 7
        mine[LATE] += sign * vote.late
        if ticket.by != "import" and ticket.expires is not None and is_measurable(ticket.issued, vote.at, now):
            seconds = (time_of(vote.at) - time_of(ticket.issued)).total_seconds()
            self._waits.extend((rater, seconds, sign))
        if not vote.says:
            mine[SKIPPED] += sign
            return
        mine[SAID] += sign
        pairs, earlier = _pairs(vote.ballot, len(shown))
        codes = [rater * SQUARE + shown[a] * OPTIONS + shown[b] for a, b in pairs]
        self._codes["own", sign].extend(codes)
        if vote.aside:
            mine[ASIDE] += sign
            self._codes["aside", sign].extend(codes)
        if ticket.by != "import":  # an import does not say in which order
            mine[LEVEL if earlier == 0 else FIRST if earlier > 0 else LATER] += sign

    def made(self) -> Portion:
        counts = [(rater, *some) for rater, some in sorted(self._counts.items()) if any(some)]
        return Portion(
            self._latest,
            np.array(counts, np.int64).reshape(-1, 8),
            np.array(self._waits).reshape(-1, 3),
            *(_added([self._rows(name, 1), self._rows(name, -1)]) for name in ("own", "aside")),
        )

    def saved(self) -> Snapshot:
        """The portion as it is stored, for ``restored``."""
        assert self._last is not None
        portion = self.made()
        table = {"latest": portion.latest} | {name: pack(getattr(portion, name)) for name in SHAPES}
        data = json.dumps(table, separators=(",", ":")).encode("utf-8")
        return Snapshot(self._last.number, self._last.hash, FORMAT, data)

    def _rows(self, name: str, sign: int) -> Any:
        codes = np.array(self._codes[name, sign], np.int64)
        return np.stack([codes, np.full(len(codes), sign)], axis=1)


def _added(tables: Sequence[Any]) -> Any:
    """Rows of a code and how often, sorted, each code once."""
    rows = np.concatenate([np.zeros((0, 2), np.int64), *tables])
    codes, place = np.unique(rows[:, 0], return_inverse=True)
    times = np.bincount(place, rows[:, 1], len(codes)).astype(np.int64)
    return np.stack([codes, times], axis=1)[times != 0]


class Gathering:
    """Sums up events while an arena that is in memory applies them, so that complete portions need no second look at the log."""

    def __init__(self) -> None:
        self._number = -1  # of the last event
        self._maker: PortionMaker | None = None  # None: the portion began before anyone listened
        self.complete: list[Snapshot] = []

    def take(self, tickets: Tickets, events: Iterable[Event]) -> None:
        """Take events that were committed, in order, before their tickets leave the memory."""
        try:
            for event in events:
                self._take(tickets, event)
        except Exception:  # the events are stored, whatever is wrong with a cache
            LOG.warning("The statistics of raters are left to the next look.", exc_info=True)
            self._maker = None

    def _take(self, tickets: Tickets, event: Event) -> None:
        if event.number != self._number + 1:
            self._maker = None
        if event.number % PORTION == 1:
            self._maker = PortionMaker()
        self._number = event.number
        if self._maker is not None:
            about = vote_id(event)
            self._maker.take(event, None if about is None else tickets.memory[about])
            if event.number % PORTION == 0:
                self.complete.append(self._maker.saved())


def portion_name(number: int) -> str:
    """Under which the portion that ends with this event is stored."""
    return f"raters {number}"


def restored(snapshot: Snapshot | None, raters: int) -> Portion | None:
    """None if it is of another format, or not whole."""
    if snapshot is None or snapshot.format != FORMAT:
        return None
    try:
        table = json.loads(snapshot.data)
        columns = {}
        for name, (kind, width) in SHAPES.items():
            rows, wide = table[name][1]
            columns[name] = np.zeros((rows, wide), kind)
            unpack(table[name], columns[name], name)
            known = columns[name][:, 0] if name in ("counts", "waits") else columns[name][:, 0] // SQUARE
            if wide != width or not ((known >= 1) & (known <= raters)).all():
                return None
        return Portion(str(table["latest"]), **columns)
    except Exception:  # whatever is wrong with a cache, the log knows better
        return None


class RaterLog:
    """The log of an arena up to an event, as far as it is about raters."""

    def __init__(self, journal: Journal, state: State) -> None:
        self._journal, self._state = journal, state
        self._waiting: dict[str, TicketRecord] = {}  # tickets without a vote, as far as the log was read in a row
        self._read = 0

    def lines(self) -> list[RaterLine]:
        """A line for each rater."""
        state = self._state
        raters = list(state.raters.values())
        statistics = Statistics(len(raters))
        try:
            last = self._made(state.number // PORTION * PORTION, state.number, NEVER).made()
            statistics.add(lambda: self._portions(last))
            if statistics.latest > state.at:  # by a clock that was set back: what it dated ahead says nothing of times
                whole = self._made(0, state.number, state.at).made()
                statistics = Statistics(len(raters))
                statistics.add(lambda: iter([whole]))
        finally:
            self._waiting.clear()
        return statistics.lines(raters, [state.decides(rater) for rater in raters])

    def _portions(self, last: Portion) -> Iterator[Portion]:
        arena, raters = self._state.arena, len(self._state.raters)
        for end in range(PORTION, self._state.number + 1, PORTION):
            portion = restored(self._journal.load_snapshot(arena, portion_name(end)), raters)
            if portion is None:
                maker = self._made(end - PORTION, end, NEVER)
                portion = maker.made()
                with suppress(Unavailable):
                    self._journal.save_snapshot(arena, maker.saved(), portion_name(end))
            yield portion
        yield last

    def _made(self, since: int, last: int, now: str) -> PortionMaker:
        """Sum up the events after one, up to another."""
        if since != self._read:
            self._waiting.clear()
        maker, events = PortionMaker(), islice(self._journal.stream(self._state.arena, since), last - since)
        while page := list(islice(events, PORTION)):
            self._take(maker, page, now)
        self._read = last
        return maker

    def _take(self, maker: PortionMaker, page: Sequence[Event], now: str) -> None:
        tickets, waiting = self._state.tickets, self._waiting
        for event in page:
            if event.kind == "ticket":
                waiting[event.body["id"]] = tickets.issued(event)
        on_tickets = (event.body["ticket"] for event in page if event.kind == "vote" and event.body["ticket"] is not None)
        undone = [event.body["ticket"] for event in page if event.kind == "undo"]
        found = tickets.many([*(id for id in on_tickets if id not in waiting), *undone])
        for event in page:
            if event.kind == "vote":
                id = event.body["ticket"] or ""
                maker.take(event, tickets.with_vote(waiting.pop(id, None) or found.get(id), event), now)
            else:
                maker.take(event, found[event.body["ticket"]] if event.kind == "undo" else None, now)


class Statistics:
    """What is known of raters after some portions. Raters are r1, r2, ..."""

    def __init__(self, raters: int) -> None:
        self.latest = ""
        self._counts = np.zeros((raters + 1, 7), np.int64)
        self._waits: list[Any] = []
        self._rows = 0  # judgements of pairs, at most
        self._portions: Callable[[], Iterator[Portion]] = lambda: iter(())

    def add(self, portions: Callable[[], Iterator[Portion]]) -> None:
        """Add all portions up but for judgements. ``portions`` is called again for these: there may be very many."""
        self._portions = portions
        for portion in portions():
            self.latest = max(self.latest, portion.latest)
            self._counts[portion.counts[:, 0]] += portion.counts[:, 1:]  # a rater has one row
            self._waits.append(portion.waits)
            self._rows += len(portion.own)

    def lines(self, raters: Sequence[RaterRecord], decides: Sequence[bool]) -> list[RaterLine]:
        """A line for each rater; ``decides`` says whose votes decide. The agreement compares with the others' votes that count,
        one's own left out."""
        counting = np.zeros(len(raters) + 1, np.bool_)
        counting[1:] = [one and not rater.quarantined for rater, one in zip(raters, decides, strict=True)]
        counting &= self._counts[:, SAID] > self._counts[:, ASIDE]
        agree, judged = self._agreement(counting)
        waits = self._medians()
        return [
            _line(rater, self._counts[k].tolist(), int(agree[k]), int(judged[k]), waits.get(k))
            for k, rater in enumerate(raters, 1)
        ]

    def _medians(self) -> dict[int, float]:
        """The median of each rater's seconds, of votes that were not undone."""
        rows = np.concatenate([np.zeros((0, 3)), *self._waits])
        rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        new = np.ones(len(rows), np.bool_)
        new[1:] = (rows[1:, :2] != rows[:-1, :2]).any(axis=1)
        times = np.bincount(np.cumsum(new) - 1, rows[:, 2]).astype(np.int64)
        known = np.repeat(rows[new][:, :2], times, axis=0)
        whose, starts = np.unique(known[:, 0], return_index=True)
        ends = np.append(starts[1:], len(known))[: len(starts)]
        return {int(rater): float(np.median(known[start:end, 1])) for rater, start, end in zip(whose, starts, ends, strict=True)}

    def _agreement(self, counting: Any) -> tuple[Any, Any]:
        """(with the majority of the others, in all) of each rater's judgements of pairs that others decide."""
        total = np.zeros(SQUARE, np.int64)
        for portion in self._portions():
            for rows, sign in ((portion.own, 1), (portion.aside, -1)):
                rater, pair = np.divmod(rows[:, 0], SQUARE)
                here = counting[rater]
                np.add.at(total, pair[here], sign * rows[here, 1])
        parts = 1 + self._rows // AT_ONCE
        edges = np.linspace(1, len(counting), parts + 1).astype(np.int64)
        agree, judged = np.zeros(len(counting)), np.zeros(len(counting))
        for first, after in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            tables = []
            for portion in self._portions():
                start, end = np.searchsorted(portion.own[:, 0], (first * SQUARE, after * SQUARE))
                tables.append(portion.own[start:end])
            some = _agreement_of(_added(tables), total, counting)
            agree, judged = agree + some[0], judged + some[1]
        return agree, judged


def _agreement_of(own: Any, total: Any, counting: Any) -> tuple[Any, Any]:
    """The same for the raters of these judgements; ``total`` is those of all who count."""
    codes, times = own[:, 0], own[:, 1]
    rater, pair = np.divmod(codes, SQUARE)
    turned = pair % OPTIONS * OPTIONS + pair // OPTIONS
    wanted = rater * SQUARE + turned
    at = np.minimum(np.searchsorted(codes, wanted), max(0, len(codes) - 1))
    other_way = np.where(codes[at] == wanted, times[at], 0) if len(codes) else times
    more = total[pair] - total[turned] - np.where(counting[rater], times - other_way, 0)
    agree, judged = (np.bincount(rater[some], times[some], len(counting)) for some in (more > 0, more != 0))
    return agree, judged


def _line(rater: RaterRecord, counts: Sequence[int], agree: int, judged: int, seconds: float | None) -> RaterLine:
    level, first, later = counts[LEVEL], counts[FIRST], counts[LATER]
    share = share_interval(first, later, level)
    return RaterLine(
        rater.id,
        rater.label,
        rater.group,
        rater.limit,
        rater.votes,
        counts[SKIPPED],
        counts[LATE],
        counts[SAID] if rater.quarantined else counts[ASIDE],
        rater.quarantined,
        rater.reason,
        agree / judged if judged else None,
        judged,
        seconds,
        rater.kind,
        (share.value, share.low, share.high) if first + later + level else None,
    )
