"""From a log to a decision: who beats whom, for which users, and whether it is settled.

Pages of one user hang together, so that by default a pair of rankers counts once per user: the first page that judged it (and,
where ties are dropped, the first that told the two apart). What is said then holds for people like these users;
``unit="impression"`` counts every page, and speaks of these users in this mix. Fractions of a win are counted in parts
(``matrix.in_parts``).

A tie says nothing of who is better, so that without a margin ties are dropped. With a margin they say that the two are alike, and
count half: rankers that always return the same would never be settled otherwise.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats
from multiduel.inference import Forecast, Tally, Verdict, forecast, verdict
from multiduel.inputs import BadInput, choice
from multiduel.rankers.judging import Judged, Rankers, judged
from multiduel.rankers.log import Faults, Log
from multiduel.rankers.multileaving import COUNTED

UNITS = ("user", "session", "impression")


class Moment(NamedTuple):
    """How things stood after so many pages."""

    pages: int
    users: int
    time: float
    kind: str  # of the verdict
    leader: int
    evidence: float  # the leader's least against another; ``needed`` names it winner
    needed: float


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a log says of its rankers.

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
    unknown: int  # pages of nobody known, each counted as a user of its own
    unit: str
    ties: str  # how they were counted
    alpha: float
    margin: float
    slate_size: int  # of the largest slate
    above: Floats  # f8[K, K]
    level: Floats  # f8[K, K]
    showings: Any  # i8[K]  pages with the ranker
    moments: tuple[Moment, ...]
    faults: Faults

    @cached_property
    def tally(self) -> Tally:
        """Counts of the judgements, for ``verdict`` and ``forecast``."""
        unit = "answer" if self.unit == "impression" else "rater"
        return Tally.of(self.above, self.level, answers=self.pages, showings=self._showings(), unit=unit)

    def _showings(self) -> Any:
        least = np.ceil((self.above + self.above.T + self.level).max(axis=1))
        return np.maximum(self.showings, least)

    @cached_property
    def verdict(self) -> Verdict:
        """Verdict on which ranker is best."""
        return verdict(self.tally, alpha=self.alpha, margin=self.margin, names=self.names)

    @cached_property
    def forecast(self) -> Forecast:
        """How many more users (or pages, by the unit) until it is settled."""
        return forecast(self.tally, slate_size=max(2, self.slate_size), alpha=self.alpha, margin=self.margin)

    @cached_property
    def settled(self) -> Moment | None:
        """When it was first settled which ranker is best, or that none is; None if it is open."""
        return next((moment for moment in self.moments if moment.kind in ("winner", "cycle")), None)

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
        low, high = self.verdict.intervals
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
            "ties": self.ties,
            "alpha": self.alpha,
            "margin": self.margin,
            "matrix": self.matrix.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "judgements": self.judgements.tolist(),
            "verdict": {"kind": self.verdict.kind, "winner": self.verdict.winner, "sentence": str(self.verdict)},
            "settled": None if settled is None else settled._asdict(),
            "still_needed": {
                "too_early": more.too_early,
                "low": _plain(more.low),
                "high": _plain(more.high),
                "sentence": str(more),
            },
            "left_out": self.faults._asdict(),
        }


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else value


def analyse(
    log: Log | str | os.PathLike[str],
    *,
    unit: str = "user",
    ties: str | None = None,
    alpha: float = 0.05,
    margin: float = 0.0,
    timeout: float = math.inf,
    bad: str = "refuse",
) -> Analysis:
    """Read a log and say which ranker wins. What the policy was told does not matter.

    Parameters
    ----------
    log
        The log, or its file.
    unit
        What counts as one piece of evidence: "user", or "impression" (every page, for these users in this mix).
    ties
        Half a win each with a ``margin`` and dropped without one, unless given.
    alpha, margin
        As for ``verdict``.
    timeout, bad
        As for ``Log.pages``.

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
    source = log if isinstance(log, Log) else Log(log)
    faults: list[Faults] = []
    rankers, counts = Rankers(), _Counts(unit)
    for portion in judged(source.pages(bad=bad, timeout=timeout, faults=faults), rankers, unit=unit, ties=ties):
        counts.add(portion, len(rankers.names))
    K = len(rankers.names)
    if K < 2:
        raise BadInput(f"'{source.path}' must hold pages of at least two rankers. Got {K}.")
    return Analysis(
        names=tuple(rankers.names),
        pages=counts.pages,
        users=len(counts.users),
        clicked=counts.clicked,
        clicks=counts.clicks,
        unknown=counts.unknown,
        unit=unit,
        ties=ties,
        alpha=alpha,
        margin=margin,
        slate_size=counts.largest,
        above=np.round(counts.above, 9),
        level=np.round(counts.level, 9),
        showings=counts.showings,
        moments=tuple(_moment(before, K, alpha, margin) for before in counts.before),
        faults=faults[0],
    )


def _moment(before: tuple[int, int, float, Floats, Floats], K: int, alpha: float, margin: float) -> Moment:
    """The verdict as it stood, over all K rankers: those that came later count as not yet judged."""
    pages, users, time, *tables = before
    above, level = (np.pad(table, (0, K - len(table))) for table in tables)
    now = verdict(Tally.of(above, level), alpha=alpha, margin=margin)
    L = now.evidence.copy()
    np.fill_diagonal(L, math.inf)
    least = L.min(axis=1)
    leader = int(least.argmax())
    return Moment(pages, users, time, now.kind, leader, float(least[leader]), now.needed)


class _Counts:
    """Judgements so far, the first of each unit and pair."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.users: dict[str, int] = {}
        self.above, self.level, self.showings = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0, np.int64)
        self.seen = np.zeros((0, 0), bool)  # unit x pair
        self.pages = self.clicked = self.clicks = self.unknown = self.largest = 0
        self.before: list[tuple[int, int, float, Floats, Floats]] = []

    def add(self, portion: Judged, K: int) -> None:
        self._grow(K)
        number = self.users
        user = np.array([number.setdefault(name, len(number)) for name in portion.users])
        self.unknown += sum(name.startswith("page ") for name in portion.users)
        self.pages = portion.shown
        self.clicked += int((portion.clicks > 0).sum())
        self.clicks += int(portion.clicks.sum())
        arms, wins = portion.arms, portion.wins
        self.largest = max(self.largest, int((arms >= 0).sum(axis=1).max()))
        np.add.at(self.showings, arms[arms >= 0], 1)
        a, b = np.triu_indices(arms.shape[1], 1)
        i, j, won, lost = arms[:, a].ravel(), arms[:, b].ravel(), wins[:, a, b].ravel(), wins[:, b, a].ravel()
        who = np.repeat(user, len(a))
        said = (i >= 0) & (j >= 0) & (won + lost > 0.0)
        i, j, won, lost, who = i[said], j[said], won[said], lost[said], who[said]
        if self.unit != "impression":
            first = self._first(who, np.minimum(i, j), np.maximum(i, j))
            i, j, won, lost = i[first], j[first], won[first], lost[first]
        total = won + lost
        np.add.at(self.above, (i, j), np.maximum(0.0, won - lost) / total)
        np.add.at(self.above, (j, i), np.maximum(0.0, lost - won) / total)
        even = 2.0 * np.minimum(won, lost) / total
        np.add.at(self.level, (i, j), even)
        np.add.at(self.level, (j, i), even)
        now = (self.pages, len(self.users), float(portion.times[-1]))
        self.before.append((*now, np.round(self.above, 9), np.round(self.level, 9)))

    def _first(self, who: Any, low: Any, high: Any) -> Any:
        """Which judgements are the first of their user and pair."""
        if len(self.seen) < len(self.users):
            more = np.zeros((max(1000, len(self.users), len(self.seen)), self.seen.shape[1]), bool)
            self.seen = np.concatenate([self.seen, more])
        pair = high * (high - 1) // 2 + low
        _, first = np.unique(who * self.seen.shape[1] + pair, return_index=True)
        first = first[~self.seen[who[first], pair[first]]]
        self.seen[who[first], pair[first]] = True
        return first

    def _grow(self, K: int) -> None:
        old = len(self.above)
        if old < K:
            self.above, self.level = (np.pad(table, (0, K - old)) for table in (self.above, self.level))
            self.showings = np.pad(self.showings, (0, K - old))
            self.seen = np.pad(self.seen, ((0, 0), (0, K * (K - 1) // 2 - self.seen.shape[1])))
