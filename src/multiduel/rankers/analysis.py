"""From a log to a decision: who beats whom, for which users, and whether it is settled.

Pages of one user hang together, so that by default a pair of rankers counts once per user: the first page that judged it (and,
where ties are dropped, the first that told the two apart). What is said then holds for people like these users;
``unit="impression"`` counts every page, and speaks of these users only. Fractions of a win are counted in parts
(``matrix.in_parts``).

A tie says nothing of who is better, so that without a margin ties are dropped. With a margin they say that the two are alike, and
count half: rankers that always return the same would never be settled otherwise.

A verdict once reached stands (``inference.lasting``): it is followed judgement by judgement, so that a report made every day
never takes back what an earlier one said of the same pages.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.inference import Forecast, Lasting, Standings, Stood, Tally, Verdict, Votes, forecast, standings
from multiduel.inference.forecast import SHOWINGS
from multiduel.inference.unit_means import MOST_CELLS, MeansCourse, MeansVerdict
from multiduel.inference.words import listed
from multiduel.inputs import BadInput, choice
from multiduel.kernels.compiler.dispatch import entry
from multiduel.rankers.judgements import Growing, Judgements, read_judgements
from multiduel.rankers.log import CLICK, Faults, Log
from multiduel.rankers.multileaving import COUNTED

UNITS = ("user", "session", "impression")
MOMENTS = 150  # points of the figure
FEWEST = 100  # pages between two of them at least
BLOCK = 20_000  # pages whose judgements are collected at once
ROW_KINDS = (np.int64, np.int64, np.float64, np.int64)  # first, second, the first's part, page


class Moment(NamedTuple):
    """How things stood after so many pages."""

    pages: int
    users: int
    time: float
    least: Floats  # f8[K]  of each ranker, the least evidence against another that there was at some time


class Settled(NamedTuple):
    """When the verdict was reached."""

    pages: int
    users: int
    time: float
    kind: str
    leader: int


@dataclass(frozen=True, eq=False)
class Analysis:
    """The result of ``analyse``: the verdict on a log's rankers, and the numbers behind it.

    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> for user in "abc":
    ...     page = rankers.multileave([["x", "y"], ["y", "x"]], names=["old", "new"], seed=1)
    ...     log.clicked(log.shown(page, user=user), "x")
    >>> found = rankers.analyse(log)
    >>> found.names, found.users, found.verdict.kind
    (('old', 'new'), 3, 'open')
    """

    names: tuple[str, ...]
    pages: int
    users: int
    clicked: int  # pages with a click
    clicks: int
    unknown: int  # pages without a user, each counted as a user of its own
    unit: str
    metric: str
    ties: str  # how they were counted
    alpha: float
    margin: float
    slate_size: int  # of the largest slate
    methods: dict[str, int]  # pages of each
    showings: Any  # i8[K]  pages with the ranker
    together: Any  # i8[K, K]  pages with both
    stood: Stood  # the verdict that stands, and that of all pages alone
    moments: tuple[Moment, ...]
    settled: Settled | None
    faults: Faults
    rows: EveryRow = field(repr=False)  # every judgement of every page, made when they are needed
    where: dict[str, str] = field(default_factory=dict)

    @property
    def above(self) -> Floats:
        """Judgements that i won against j: ``above[i, j]``."""
        return self.stood.now.tally[0]

    @property
    def level(self) -> Floats:
        """Judgements that did not tell i and j apart, where ties count: ``level[i, j]``."""
        return self.stood.now.tally[1]

    @cached_property
    def tally(self) -> Tally:
        """Counts of the judgements, for ``verdict`` and ``forecast``."""
        unit = "answer" if self.unit == "impression" else "rater"
        return Tally.of(self.above, self.level, answers=self.pages, showings=self._showings(), unit=unit)

    def _showings(self) -> Any:
        least = np.ceil((self.above + self.above.T + self.level).max(axis=1))
        return np.maximum(self.showings, least)

    @property
    def verdict(self) -> Verdict:
        """Verdict on which ranker is best; once reached, it stands."""
        return self.stood.verdict

    @property
    def leader(self) -> int:
        """The winner, or the ranker that is nearest to winning."""
        if self.verdict.winner is not None:
            return self.verdict.winner
        L = self.verdict.evidence.copy()
        np.fill_diagonal(L, math.inf)
        return int(L.min(axis=1).argmax())

    @cached_property
    def intervals(self) -> tuple[Floats, Floats]:
        """Intervals (low, high) of every P[i, j] that agree with the verdict: a winner's begin at 1/2 or above."""
        low, high = (end.copy() for end in self.stood.now.intervals)
        for b in self.stood.winners:
            others = np.arange(len(low)) != b
            low[b, others] = np.maximum(low[b, others], 0.5 - self.margin)
            high[others, b] = np.minimum(high[others, b], 0.5 + self.margin)
            high[b, others] = np.maximum(high[b, others], low[b, others])
            low[others, b] = np.minimum(low[others, b], high[others, b])
        return low, high

    @cached_property
    def not_compared(self) -> str:
        """Why these pages cannot say which ranker is best, however many more there are; empty if they can."""
        name = [f"'{text}'" for text in self.names]
        if self.slate_size < 2:
            return (
                "No comparison: every page shows one ranker alone, as in an A/B test. Rankers are compared by pages that mix two "
                "or more of them (multileave); this report cannot judge an A/B test."
            )
        n = self.judgements
        if not n.any():
            return f"No comparison: no page tells two rankers apart. {int(self.together.max()):,} pages mixed the same two."
        group = np.arange(len(name))
        for _ in name:
            group = np.where(n > 0, group[None, :], len(name)).min(axis=1, initial=len(name)).clip(max=group)
        if len(set(group.tolist())) > 1:
            parts = [listed([name[arm] for arm in np.flatnonzero(group == one)]) for one in dict.fromkeys(group.tolist())]
            groups = " and ".join(f"({part})" for part in parts)
            return f"No comparison between {groups}: no page tells one of these from the others."
        here = self.verdict.still_in
        alike = [(i, j) for i in here for j in here if i < j and n[i, j] == 0 and self.together[i, j] >= SHOWINGS]
        if alike and not self.verdict.settled:
            i, j = alike[0]
            return (
                f"{name[i]} and {name[j]} are never told apart, on {int(self.together[i, j]):,} pages with both: a winner may "
                "never come. A margin lets them be equally good."
            )
        return ""

    @cached_property
    def forecast(self) -> Forecast | None:
        """How many more users (or pages, by the unit) a verdict needs; None if nothing was compared."""
        if self.not_compared:
            return None
        if self.verdict.settled:
            return Forecast(False, 0.0, 0.0, 0.0)
        return forecast(self.tally, slate_size=max(2, self.slate_size), alpha=self.alpha, margin=self.margin)

    @cached_property
    def standings(self) -> Standings | None:
        """All rankers in order, from every judgement of every page, clustered by the unit; None if nothing was compared.

        The intervals are approximate, for many users (asymptotic); the verdict is exact and is taken over.
        """
        if self.slate_size < 2:
            return None
        votes = self.rows.votes(self.names)
        by = "answer" if self.unit == "impression" else "rater"
        return standings(votes, by=by, alpha=self.alpha, verdict=self.verdict) if votes.answers else None

    @cached_property
    def means(self) -> MeansVerdict | None:
        """The verdict of the means of users' first 2, 4, 8, ... judgements (``inference.unit_means``); None if it does not apply.

        ``reached`` counts pages.
        """
        K = len(self.names)
        if self.unit == "impression" or self.margin > 0.0 or self.rows.n_units * (K * (K - 1) // 2) > MOST_CELLS:
            return None
        course, judged = MeansCourse(self.rows.n_units, K, alpha=self.alpha), False
        for part in self.rows.portions():
            course.add(part.unit, part.first, part.second, part.won, part.page)
            judged = judged or len(part.first) > 0
        return course.verdict() if judged else None

    @property
    def judgements(self) -> Floats:
        """Number of judgements of each pair."""
        return self.above + self.above.T + self.level

    @property
    def matrix(self) -> Floats:
        """P[i, j], ties half unless they are dropped; 1/2 for pairs that were never judged."""
        n = self.judgements
        return np.divide(self.above + 0.5 * self.level, n, out=np.full(n.shape, 0.5), where=n > 0)

    def to_json(self) -> dict[str, Any]:
        """Write the analysis as plain JSON."""
        from multiduel.rankers.report import headline

        low, high = self.intervals
        settled = self.settled
        more = self.forecast
        return {
            "rankers": list(self.names),
            "pages": self.pages,
            "users": self.users,
            "pages_with_a_click": self.clicked,
            "clicks": self.clicks,
            "pages_of_nobody_known": self.unknown,
            "unit": self.unit,
            "metric": self.metric,
            "where": dict(self.where),
            "methods": dict(self.methods),
            "ties": self.ties,
            "alpha": self.alpha,
            "margin": self.margin,
            "matrix": self.matrix.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "judgements": self.judgements.tolist(),
            "verdict": {
                "kind": self.verdict.kind,
                "winner": self.verdict.winner,
                "within_margin": list(self.stood.winners),
                "sentence": headline(self),
                "doubt": self.stood.doubt,
            },
            "settled": None if settled is None else settled._asdict(),
            "not_compared": self.not_compared,
            "standings": None if self.standings is None else self.standings.to_json(),
            "by_means_of_users": self.means
            and {
                "winner": self.means.winner,
                "pages": self.means.reached,
                "evidence": self.means.evidence.tolist(),
            },
            "still_needed": more and {"too_early": more.too_early, "low": _plain(more.low), "high": _plain(more.high)},
            "left_out": self.faults._asdict(),
        }


class Rows(NamedTuple):
    """Judgements in the order of their pages."""

    first: Ints
    second: Ints
    won: Floats
    page: Ints  # number among the pages that were chosen, from 0
    unit: Ints


class EveryRow(NamedTuple):
    """Every judgement of the chosen pages, a portion at a time: all at once would take more memory than the log's columns."""

    pairs: Pairs
    chosen: Ints
    n_units: int
    n_arms: int
    drop: bool

    def portions(self, *, by_unit: bool = False) -> Iterator[Rows]:
        """The judgements in the order of their pages, or unit after unit. A portion holds until the next one."""
        counts = _Counts(self.pairs, self.n_arms, self.drop, first_only=False)
        units = self.pairs.units
        pages = self.chosen[np.argsort(units[self.chosen], kind="stable")] if by_unit else self.chosen
        for start in range(0, len(pages), BLOCK):
            first, second, won, at = counts.rows(pages[start : start + BLOCK])
            at = at + start
            yield Rows(first, second, won, at, units[pages[at]])

    def votes(self, names: tuple[str, ...]) -> Votes:
        """The same as votes, unit after unit: a page is an answer, a unit a rater without a name."""
        first, second, outcome, sizes, unit = (Growing(kind) for kind in (np.int32, np.int32, np.int8, np.int64, np.int32))
        for part in self.portions(by_unit=True):
            begins = np.flatnonzero(np.diff(part.page, prepend=-1))
            first.add(part.first)
            second.add(part.second)
            outcome.add(np.sign(part.won - 0.5))
            sizes.add(np.diff(begins, append=len(part.page)))
            unit.add(part.unit[begins])
        starts = np.concatenate(([0], np.cumsum(sizes.take())))
        rater = unit.take()
        if len(rater):
            rater = np.cumsum(np.diff(rater, prepend=rater[0]) > 0, dtype=np.int32)
        columns = first.take(), second.take(), outcome.take(), starts
        return Votes(names, *columns, rater=rater)  # the log's reader has checked them; Votes.of would copy every column


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else value


def analyse(
    log: Log | str | os.PathLike[str] | Judgements,
    *,
    unit: str = "user",
    metric: str = CLICK,
    where: dict[str, str] | None = None,
    ties: str | None = None,
    alpha: float = 0.05,
    margin: float = 0.0,
    timeout: float = math.inf,
    bad: str = "refuse",
    state: str | os.PathLike[str] | None = None,
) -> Analysis:
    """Read a log and name the ranker that wins. Only the log counts, not what a policy was told.

    Parameters
    ----------
    log
        The log, its file, or what ``read_judgements`` made of it.
    unit
        What counts as one piece of evidence: "user", "session", or "impression" (every page; holds for these users only).
    metric
        What is counted: clicks, or another metric of the log. Name it before you look: the error is that of one metric.
    where
        Only pages whose fields have these values. Name them before you look, too; ``segments`` shares the error out.
    ties
        Half a win each with a ``margin`` and dropped without one, unless given.
    alpha, margin
        As for ``verdict``.
    timeout, bad
        As for ``Log.pages``.
    state
        As for ``read_judgements``: of a log that grew, only what is new is read.

    Returns
    -------
    Analysis
        With the verdict, the matrix and the counts.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> for user in "abc":
    ...     page = rankers.multileave([["x", "y"], ["y", "x"]], names=["old", "new"], seed=1)
    ...     log.clicked(log.shown(page, user=user), "x")
    >>> rankers.analyse(log).pages
    3
    """
    choice("unit", unit, UNITS)
    ties = ("half" if margin > 0.0 else "drop") if ties is None else choice("ties", ties, COUNTED)
    if not 0.0 < alpha < 1.0 or not 0.0 <= margin < 0.5:
        raise BadInput(f"'alpha' must lie between 0 and 1, 'margin' from 0 to below 0.5. Got {alpha} and {margin}.")
    if isinstance(log, Judgements):
        found, name = log, "These pages"
    else:
        source = log if isinstance(log, Log) else Log(log)
        found, name = read_judgements(source, bad=bad, timeout=timeout, state=state), f"'{source.path}'"
    K = len(found.rankers)
    if K < 2:
        raise BadInput(f"{name} must hold pages of at least two rankers. Got {K}.")
    if metric not in found.won:
        known = ", ".join(f"'{one}'" for one in found.won)
        raise BadInput(f"{name} must have the metric that is asked for: {known}. Got '{metric}'.")
    return _analysed(found, found.chosen(where or {}), dict(where or {}), unit, metric, ties, alpha, margin)


def _analysed(
    found: Judgements, mask: Any, where: dict[str, str], unit: str, metric: str, ties: str, alpha: float, margin: float
) -> Analysis:
    K = len(found.rankers)
    units, n_units, _ = found.units(unit)
    chosen = np.flatnonzero(mask)
    pairs = Pairs(found.arm_start, found.arms, found.pair_start, found.won[metric], units, np.zeros((1, 1), np.uint8))
    seen = np.zeros((n_units, (K * (K - 1) // 2 + 7) // 8), np.uint8) if unit != "impression" else pairs.seen
    counts = _Counts(pairs._replace(seen=seen), K, ties == "drop", first_only=unit != "impression")
    course = Lasting(K, alpha=alpha, margin=margin)
    moments: list[Moment] = []
    here = units[chosen]
    _, first = np.unique(here, return_index=True)
    first.sort()  # after which pages there is one unit more
    step = max(FEWEST, math.ceil(len(chosen) / MOMENTS))
    for start in range(0, len(chosen), step):
        portion = chosen[start : start + step]
        one, other, won, at = counts.rows(portion)
        course.add(one, other, won, at + start)
        last = start + len(portion)
        L = course.course.peak.copy()
        np.fill_diagonal(L, math.inf)
        moments.append(Moment(last, int(np.searchsorted(first, last)), float(found.time[portion[-1]]), L.min(axis=1)))
    sizes = found.sizes[chosen]
    seats = found.arms[np.repeat(mask, found.sizes)]
    stood = course.verdict(names=found.rankers.names, unit="answer" if unit == "impression" else "rater")
    settled = None
    if stood.reached is not None:
        pages = stood.reached
        leader = stood.winners[0] if stood.winners else moments[-1].least.argmax()
        when = float(found.time[chosen[pages - 1]])
        settled = Settled(pages, int(np.searchsorted(first, pages)), when, stood.verdict.kind, int(leader))
    clicks = found.clicks[chosen]
    nobody = found.user[chosen] == -1
    if unit == "session":
        nobody &= found.session[chosen] == -1
    numbers = np.bincount(found.method[chosen], minlength=len(found.methods))
    return Analysis(
        names=tuple(found.rankers.names),
        pages=len(chosen),
        users=len(first),
        clicked=int((clicks > 0).sum()),
        clicks=int(clicks.sum()),
        unknown=0 if unit == "impression" else int(nobody.sum()),
        unit=unit,
        metric=metric,
        ties=ties,
        alpha=alpha,
        margin=margin,
        slate_size=int(sizes.max(initial=0)),
        methods={name: int(number) for name, number in zip(found.methods.names, numbers, strict=True) if number},
        showings=np.bincount(seats, minlength=K),
        together=counts.together,
        stood=stood,
        moments=tuple(moments),
        settled=settled,
        faults=found.faults,
        rows=EveryRow(pairs, chosen, n_units, K, ties == "drop"),
        where=where,
    )


class Pairs(NamedTuple):
    """Columns of judgements, as compiled code takes them."""

    arm_start: Any  # i8[N + 1]
    arms: Any  # i4[seats]
    pair_start: Any  # i8[N + 1]
    won: Any  # f4[pairs]
    units: Any  # i8[N]
    seen: Any  # u1[units, pairs / 8]  bits: this unit has judged this pair


class _Counts:
    """The judgements that count, portion by portion of the pages."""

    def __init__(self, pairs: Pairs, n_arms: int, drop: bool, *, first_only: bool) -> None:
        self.pairs, self.drop, self.first_only = pairs, drop, first_only
        self.together = np.zeros((n_arms, n_arms), np.int64)
        self._rows = [np.zeros(0, kind) for kind in ROW_KINDS]

    def rows(self, pages: Ints) -> list[Any]:
        """First, second, the first's part, and which of these pages, of every judgement that counts."""
        most = int((self.pairs.pair_start[pages + 1] - self.pairs.pair_start[pages]).sum())
        if most > len(self._rows[0]):
            self._rows = [np.zeros(most, kind) for kind in ROW_KINDS]
        args = (self.pairs, pages, self.drop, self.first_only, self.together, *self._rows)
        run = entry(collect_rows, self.pairs, "judgements of a log")
        run.prepare(*args)
        count = run.call(*args)
        return [column[:count] for column in self._rows]


def collect_rows(
    pairs: Pairs, pages: Ints, drop: bool, first_only: bool, together: Ints, first: Ints, second: Ints, won: Floats, at: Ints
) -> int:
    count = 0
    for k in range(pages.shape[0]):
        page = pages[k]
        begin, end, row = pairs.arm_start[page], pairs.arm_start[page + 1], pairs.pair_start[page]
        for a in range(begin, end):
            for b in range(a + 1, end):
                i, j, part = pairs.arms[a], pairs.arms[b], pairs.won[row]
                row += 1
                together[i, j] += 1
                together[j, i] += 1
                if drop and part == 0.5:
                    continue
                if first_only:
                    low, high = (i, j) if i < j else (j, i)
                    pair = high * (high - 1) // 2 + low
                    bit = 1 << (pair & 7)
                    unit = pairs.units[page]
                    if pairs.seen[unit, pair >> 3] & bit:
                        continue
                    pairs.seen[unit, pair >> 3] |= bit
                first[count], second[count], won[count], at[count] = i, j, part, k
                count += 1
    return count
