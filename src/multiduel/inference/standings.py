"""Standings: all options in order, with strengths, rank ranges and shares won that hold while one looks.

The verdict needs no model but says only which option is best. The standings order all options and say how sure that order is,
also where the slates were chosen along the way.

**Strengths** theta are Bradley-Terry strengths (``strengths``), relative to their mean weighted by how often each option was
compared (``strengths.centring`` says why). With K options (or ``room``), an option's
interval is theta_i +- s_i z(n_i, alpha / K): s_i the larger of the robust and the model's standard error, n_i the units of
evidence (answers, raters or cases) that showed it, z the width that holds at all times (``strengths.at_all_times``). All
intervals hold together with confidence 1 - alpha, if the model does. That is asymptotic: an option with fewer than 20 units has
no interval.

**Ranks.** i is ahead of j if the interval of theta_i - theta_j, with error alpha / (K (K - 1)), lies above 0, or if the pair's
own evidence, which needs no model, reaches ln(2 K (K - 1) / alpha). Two-sided intervals of K (K - 1) / 2 pairs use up alpha / 2,
evidence of K (K - 1) ordered pairs the other half. The rank is from 1 + (options ahead of i) to K - (options behind i). Where a
pair's evidence contradicts the strengths, the evidence counts; where the claims form a cycle, they fit no order, and none of them
counts. The verdict's statements, which have an alpha of their own, are
taken over: a winner has rank 1 and all others at least 2; an option that is out cannot be first. With a margin, a winner may
be slightly behind another option, so that its range only begins at 1.

**Won** is the share of its comparisons that an option won as observed, ties half; its interval is for what was to be expected of
these comparisons, needs no model, and holds at all times for all options together: ``bounded``, where a unit that may compare
the option k times is one observation of range k.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from multiduel.arrays import Flags, Floats, Ints
from multiduel.inference.bounded import bounded_radius
from multiduel.inference.evidence import evidence
from multiduel.inference.running_tally import RunningTally
from multiduel.inference.strengths import (
    Rows,
    Spread,
    at_all_times,
    centring,
    cluster_sums,
    duel_sums,
    fit,
    fit_rows,
    groups,
    spread,
)
from multiduel.inference.tally import Counts, Tally
from multiduel.inference.verdict import MOST_ROOM, Verdict, verdict
from multiduel.inference.votes import MOST_OPTIONS, UNITS, Votes
from multiduel.inference.words import listed, percent
from multiduel.inputs import BadInput, choice, names_of, share, shortened, truth, whole

LEAST_SHOWN = 20  # units of evidence that an interval needs
MOST_COVARIATES = 50
Status = Literal["best", "still in", "out", "retired"]


class Line(NamedTuple):
    """One option of the standings. Numbers that cannot be said yet are nan."""

    option: int
    name: str
    rank_from: int  # 0 for an option that retired
    rank_to: int
    strength: float  # relative to the mean; 0.69 more doubles the odds against an equal opponent
    low: float
    high: float
    won: float  # share of its comparisons, ties half
    won_low: float
    won_high: float
    comparisons: float
    shown: int  # units of evidence (answers, raters or cases) that compared it
    too_early: bool  # fewer than 20 units: no interval yet
    status: Status


class Top(NamedTuple):
    """Which options are among the best k."""

    k: int
    certain: tuple[int, ...]  # these are
    possible: tuple[int, ...]  # no others are


class Style(NamedTuple):
    """Effects of covariates, and the strengths at equal style."""

    names: tuple[str, ...]
    effect: Floats  # f8[d]  in the same unit as strengths, per unit of the covariate
    low: Floats  # f8[d]
    high: Floats  # f8[d]
    strength: Floats  # f8[K]
    strength_low: Floats  # f8[K]
    strength_high: Floats  # f8[K]


@dataclass(frozen=True, eq=False, repr=False)
class Standings:
    """All options in order, with intervals and rank ranges. Print it to read sentences and a table.

    >>> found = standings([[0, 60, 70], [20, 0, 45], [10, 35, 0]], names=["tea", "coffee", "milk"])
    >>> [(line.name, line.rank_from, line.rank_to) for line in found.lines]
    [('tea', 1, 1), ('coffee', 2, 3), ('milk', 2, 3)]
    """

    names: tuple[str, ...]
    by: str  # the unit of evidence: "answer", "rater" or "case"
    alpha: float
    answers: int
    units: int
    order: tuple[int, ...]  # best first, those that retired last
    strength: Floats  # f8[K]
    low: Floats  # f8[K]  nan where it is too early
    high: Floats  # f8[K]
    error: Floats  # f8[K]  standard errors
    group: Ints  # i8[K]  options of different groups were never compared, not even by way of others
    ahead: Flags  # bool[K, K]  i is ahead of j for certain
    rank_from: Ints  # i8[K]
    rank_to: Ints  # i8[K]
    above: Floats  # f8[K, K]  comparisons that placed i above j
    ties: Floats  # f8[K, K]
    shown: Floats  # f8[K]
    won: Floats  # f8[K]
    won_low: Floats  # f8[K]
    won_high: Floats  # f8[K]
    verdict: Verdict
    contradictions: tuple[tuple[int, int], ...]  # i beats j for certain, and yet has the lower strength
    assumed: float  # by how much variances were raised because only counts of rankings are known; 1 where it was measured
    style: Style | None = None

    @property
    def present(self) -> tuple[int, ...]:
        """Options that have not retired."""
        return self.verdict.present

    @cached_property
    def comparisons(self) -> Floats:
        """How often each option was compared: f8[K]."""
        total: Floats = (self.above + self.above.T + self.ties).sum(axis=1)
        return total

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """A line per option, best first, those that retired last."""
        here = set(self.present)
        return tuple(self._line(k, k in here) for k in self.order)

    def _line(self, k: int, here: bool) -> Line:
        status: Status = "still in" if here else "retired"
        if k == self.verdict.winner:
            status = "best"
        elif k in self.verdict.out:
            status = "out"
        return Line(
            option=k,
            name=self.names[k],
            rank_from=int(self.rank_from[k]) if here else 0,
            rank_to=int(self.rank_to[k]) if here else 0,
            strength=float(self.strength[k]),
            low=float(self.low[k]),
            high=float(self.high[k]),
            won=float(self.won[k]),
            won_low=float(self.won_low[k]),
            won_high=float(self.won_high[k]),
            comparisons=float(self.comparisons[k]),
            shown=int(self.shown[k]),
            too_early=bool(np.isnan(self.low[k])),
            status=status,
        )

    def top(self, k: int) -> Top:
        """Tell which options are among the best k.

        Parameters
        ----------
        k
            How many.

        Returns
        -------
        Top
            Those that are for certain, and those that may be.

        Examples
        --------
        >>> found = standings([[0, 60, 70], [20, 0, 45], [10, 35, 0]])
        >>> found.top(1).possible, found.top(2).possible
        ((0,), (0, 1, 2))
        """
        size = whole("k", k, 1, len(self.present), of="top")
        here = [arm for arm in self.order if arm in set(self.present)]
        certain = tuple(arm for arm in here if self.rank_to[arm] <= size)
        return Top(size, certain, tuple(arm for arm in here if self.rank_from[arm] <= size))

    def sentences(self) -> list[str]:
        """Describe the standings in sentences: the verdict, the best options, the fit of the model."""
        said = [str(self.verdict)]
        here = len(self.present)
        sure = percent(1.0 - self.alpha)
        for k in (1, 3, 5, 10):
            if k >= here or (k == 1 and self.verdict.winner is not None):
                continue
            top = self.top(k)
            if k == 1 and set(top.possible) == set(self.verdict.still_in):
                continue  # the verdict says so already
            if k <= len(top.possible) < here:  # fewer than k: the statements do not fit one order
                names = listed([f"'{self.names[arm]}'" for arm in top.possible])
                among = f"among these {len(top.possible)}: " if len(top.possible) > k else ""
                said.append(f"By strengths, the best {f'{k} are' if k > 1 else 'is'} {among}{names} ({sure}).")
                break
        early = [k for k in self.present if np.isnan(self.low[k])]
        if early:
            most = f"fewer than {LEAST_SHOWN} {UNIT_WORDS[self.by]}"
            said.append(
                f"It is too early for intervals of strengths: {most} compared each option."
                if len(early) == here
                else f"Too early for an interval of {listed([repr(self.names[k]) for k in early])}: {most}."
            )
        apart = len({int(self.group[k]) for k in self.present if self.comparisons[k] > 0})
        if apart > 1:
            said.append(
                f"The options fall into {apart} groups that were never compared with each other, not even by way of others: "
                "strengths are relative to the mean of each group."
            )
        if self.contradictions:
            pairs = listed([f"'{self.names[i]}' beats '{self.names[j]}'" for i, j in self.contradictions])
            said.append(
                f"Strengths do not explain that {pairs}: take them as a summary, and the comparisons of pairs and the verdict as "
                "the statement."
            )
        elif self.verdict.kind == "cycle":
            said.append(
                "There is a cycle, which strengths cannot show: take them as a summary, and the verdict as the statement."
            )
        if self.assumed > 1.0:
            said.append(
                f"Only counts of the rankings are known: variances are {self.assumed:.3g} times those of single pairs, as for "
                "Plackett-Luce judges. Give the votes themselves to have this measured."
            )
        return said

    def __str__(self) -> str:
        return "\n".join([*self.sentences(), *(_words(line) for line in self.lines)])

    def __repr__(self) -> str:
        return f"<Standings of {len(self.names)} options from {self.answers:,} answers: {self.verdict}>"

    def to_json(self, *, pairs: bool = False) -> dict[str, Any]:
        """Write the standings as plain JSON, null for numbers that cannot be said.

        Parameters
        ----------
        pairs
            Whether to add the tables of counts of all pairs.

        Returns
        -------
        dict
            Sentences, and a line per option, best first.
        """
        judged = self.verdict
        table: dict[str, Any] = {
            "sentences": self.sentences(),
            "by": self.by,
            "confidence": 1.0 - self.alpha,
            "answers": self.answers,
            "units": self.units,
            "verdict": {
                "kind": judged.kind,
                "winner": None if judged.winner is None else self.names[judged.winner],
                "still_in": [self.names[k] for k in judged.still_in],
                "cycle": [self.names[k] for k in judged.cycle],
                "cycle_is_certain": judged.cycle_is_certain,
                "margin": judged.margin,
            },
            "options": [{name: _plain(value) for name, value in line._asdict().items()} for line in self.lines],
            "contradictions": [[self.names[i], self.names[j]] for i, j in self.contradictions],
            "assumed": self.assumed,
        }
        if self.style is not None:
            s = self.style
            effects = zip(s.names, s.effect, s.low, s.high, strict=True)
            table["style"] = {
                "effects": [
                    {"name": name, "effect": _plain(e), "low": _plain(a), "high": _plain(b)} for name, e, a, b in effects
                ],
                "at_equal_style": [
                    {
                        "option": k,
                        "name": self.names[k],
                        "strength": _plain(s.strength[k]),
                        "low": _plain(s.strength_low[k]),
                        "high": _plain(s.strength_high[k]),
                    }
                    for k in self.order
                ],
            }
        return table | ({"above": self.above.tolist(), "ties": self.ties.tolist()} if pairs else {})


UNIT_WORDS = {"answer": "answers", "rater": "raters", "case": "cases"}


def _words(line: Line) -> str:
    rank = (
        "-"
        if line.rank_from == 0
        else f"{line.rank_from}"
        if line.rank_from == line.rank_to
        else f"{line.rank_from}-{line.rank_to}"
    )
    ends = "too early" if line.too_early else f"{line.low:+z.2f} to {line.high:+z.2f}"
    return f"{rank:>7}  {line.name}  {line.strength:+z.2f} ({ends})"


def _plain(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return None if not math.isfinite(value) else float(value)
    return value


class Known(NamedTuple):
    """What the arithmetic needs of votes, whichever way they came."""

    names: tuple[str, ...]
    by: str
    above: Floats
    ties: Floats
    answers: int
    units: int
    rows: Rows | None  # None: every pair is a unit of its own, so that counts are enough
    shown: Floats | None  # if the rows do not say
    seats: float  # how many options an answer compared, where only counts are known; otherwise 2
    counted: Callable[[], Counts]  # what the verdict counts
    styled: tuple[Rows, Rows] | None = None  # with covariates: by cluster, and with the counts of rows
    single: tuple[Floats, Floats] | None = None  # above and ties by answers of one pair, which are not among the rows
    most: Floats | None = None  # f8[K]  the most others that an answer compared with each option, if the rows do not say

    @property
    def assumed(self) -> float:
        """By how much variances are raised where only counts are known. The pairs of a ranking of m options by a Plackett-Luce
        judge hang together so that, for options alike, the variance of an option's score is (m + 1) / 3 times that of single
        pairs; where only the best of m is named, m / 2 times, which is never less."""
        return self.seats / 2.0


def standings(
    votes: Votes | Counts | Any,
    ties: Any = None,
    *,
    names: Sequence[str] | None = None,
    alpha: float = 0.05,
    by: str | None = None,
    margin: float = 0.0,
    room: int | None = None,
    retired: Iterable[int] = (),
    covariates: Mapping[str, Any] | None = None,
    position: bool = False,
    slate_size: int | None = None,
    verdict: Verdict | None = None,
) -> Standings:
    """Order all options by strength, and say how sure that order is. Ask at any time, as often as you like.

    Parameters
    ----------
    votes
        ``Votes``; a ``Tally`` or ``RunningTally``; or a table of wins of duels, ``votes[i][j]`` placed i above j.
    ties
        For a table of wins: ``ties[i][j]`` placed them level.
    names
        The options' names, if the votes do not have them.
    alpha
        The largest chance that an interval of a strength misses at any time; likewise that a rank range does.
    by
        The unit of evidence. "answer": for these raters. "rater", "case": for people, or cases, like these. If not
        given, by answer; for a tally, as it counts.
    margin, room, retired
        As for ``verdict``.
    covariates
        For style control, by name: what the first option of each row of the votes has more than the second, such as log length.
    position
        Whether to take the effect of being shown first into account; the votes must be ``ordered``.
    slate_size
        Of counts: how many options an answer compared at most. If not given, a table is of duels, and a tally as it says.
    verdict
        The verdict of these votes, if it is known; ``margin``, ``room`` and ``retired`` are then taken from it.

    Returns
    -------
    Standings
        Print it: sentences and a line per option.

    Raises
    ------
    BadInput
        If the votes do not say what ``by``, ``position`` or ``covariates`` need, or an argument is out of its range.

    Examples
    --------
    >>> votes = Votes.of(["tea", "coffee", "milk"], first=[0, 0, 1] * 40, second=[1, 2, 2] * 40, outcome=[1, 1, 0] * 40)
    >>> found = standings(votes)
    >>> found.lines[0].name, found.lines[0].rank_from, found.lines[0].rank_to
    ('tea', 1, 1)
    """
    share("alpha", alpha, of="standings")
    by = (votes.unit if isinstance(votes, Counts) else "answer") if by is None else choice("by", by, UNITS)
    x, effects = _covariates(votes, covariates, position)
    known = _read(votes, ties, names, by, x, slate_size)
    K = len(known.names)
    judged = _judged(known, by, verdict, alpha, margin, room, retired)
    many = max(K, 1 if room is None else whole("room", room, 1, MOST_ROOM, of="standings"))
    found = estimate(known, alpha / many)
    theta, group, shown, error, wide = found.theta, found.group, found.shown, found.error, found.wide
    ahead, contradictions = _ahead(found, judged, alpha, many)
    rank_from, rank_to = _ranks(ahead, judged)
    won, won_low, won_high = _won(known, found.squares, alpha / many)
    gone = sorted(set(range(K)) - set(judged.present))
    first = [judged.winner] if judged.winner is not None else []
    rest = sorted(set(judged.present) - set(first), key=lambda k: (shown[k] == 0, -theta[k], k))
    return Standings(
        names=known.names,
        by=by,
        alpha=alpha,
        answers=known.answers,
        units=known.units,
        order=(*first, *rest, *gone),
        strength=theta,
        low=theta - wide,
        high=theta + wide,
        error=error,
        group=group,
        ahead=ahead,
        rank_from=rank_from,
        rank_to=rank_to,
        above=known.above,
        ties=known.ties,
        shown=shown,
        won=won,
        won_low=won_low,
        won_high=won_high,
        verdict=judged,
        contradictions=contradictions,
        assumed=known.assumed,
        style=_style(known, effects, found, alpha, many) if effects else None,
    )


# ---- what is given


def _read(votes: Any, ties: Any, names: Sequence[str] | None, by: str, x: Floats | None, slate_size: int | None) -> Known:
    if isinstance(votes, Votes):
        if ties is not None:
            raise BadInput("'ties' of 'standings' go with a table of wins: votes hold theirs.")
        labels = votes.options if names is None else names_of(names, len(votes.options), of="standings")
        return _read_votes(votes, labels, by, x)
    if isinstance(votes, Counts) and ties is not None:
        raise BadInput("'ties' of 'standings' go with a table of wins: a tally holds its own.")
    if isinstance(votes, RunningTally):
        return read_running(votes, names, by)
    if isinstance(votes, Tally):
        tally, duels = votes, False
        if tally.unit == "rater" and by != "rater":
            raise BadInput(f"'by' must be 'rater' for a tally that counts by rater. Got '{by}'.")
        if tally.knows_answers:
            given = tally.votes(names)
            known = _read_votes(given, given.options, by, x)
            return known._replace(counted=lambda: tally) if by == tally.unit else known
    else:
        tally, duels = Tally.of(votes, ties), True
    if by != "answer" or tally.unit != "answer":
        raise BadInput("Counts do not say which judgements are of one rater or case. Give 'standings' the votes, as Votes.")
    labels = tuple(f"option {k}" for k in range(tally.n_arms)) if names is None else names_of(names, tally.n_arms, of="standings")
    N = tally.above + tally.above.T + tally.ties
    pairs, shown = 0.5 * float(N.sum()), tally.showings.astype(float)
    seats = float(shown.sum()) / max(1, tally.answers)
    if slate_size is not None:
        seats = whole("slate_size", slate_size, 2, MOST_OPTIONS, of="standings")
    elif duels or (shown.sum() <= 2.0 * pairs + 0.5 and pairs <= tally.answers + 0.5):
        seats = 2.0
    if seats <= 2.0:
        return Known(labels, by, tally.above, tally.ties, round(pairs), round(pairs), None, None, 2.0, lambda: tally)
    return Known(labels, by, tally.above, tally.ties, tally.answers, tally.answers, None, shown, seats, lambda: tally)


def read_running(tally: RunningTally, names: Sequence[str] | None, by: str) -> Known:
    """What the standings read from a running tally."""
    if by != tally.unit:
        raise BadInput(f"'by' of 'standings' must be '{tally.unit}', as this tally counts. Got '{by}'.")
    K = tally.n_arms
    labels = tuple(f"option {k}" for k in range(K)) if names is None else names_of(names, K, of="standings")
    no_x, ones = np.zeros((0, 0)), np.ones(1)
    if by == "answer":
        kept = tally.kept()
        rows = Rows(kept.first, kept.second, kept.placed, ones, np.zeros(0, np.int64), kept.edges, kept.weight, no_x)
        several = tally.met.shape[1] - np.argmax(tally.met[:, ::-1] > 0, axis=1)
        most = np.where(tally.met.any(axis=1), several, 0).astype(float)
        shown, single = tally.met.sum(axis=1).astype(float), (tally.single_above, tally.single_ties)
        units = tally.judging
        return Known(labels, by, tally.above, tally.ties, units, units, rows, shown, 2.0, lambda: tally, None, single, most)
    said = tally.judged()
    rows = Rows(said.first, said.second, said.placed, ones, np.zeros(0, np.int64), said.edges, ones, no_x)
    above, ties = Votes(labels, said.first, said.second, said.placed).tables
    return Known(labels, by, above, ties, tally.judging, len(said.edges) - 1, rows, None, 2.0, lambda: tally)


def _read_votes(votes: Votes, names: tuple[str, ...], by: str, x: Floats | None) -> Known:
    above, ties = votes.tables
    n = votes.answers if votes.counts is None else round(float(votes.counts.sum()))
    duels = by == "answer" and votes.starts is None
    counted: Callable[[], Tally]
    rows: Rows | None = None
    if by == "answer":
        units = n
        counted = functools.partial(Tally.of, above, ties, answers=n)
        rows = None if duels and x is None else _rows_by_answer(votes)
    else:
        cluster, _ = votes.clusters(by)
        units = len(np.unique(cluster))  # of all that are named, those who answered
        counted = functools.partial(_first_judgements, votes, cluster)
        rows = rows_by(votes, cluster)
    styled = None
    if x is not None and rows is not None:
        weight = np.ones(1) if votes.counts is None else votes.row_counts
        styled = rows._replace(x=x), rows._replace(x=x, weight=weight)
    return Known(names, by, above, ties, n, units, None if duels else rows, None, 2.0, counted, styled)


def _rows_by_answer(votes: Votes) -> Rows:
    edges = np.arange(len(votes.first) + 1) if votes.starts is None else votes.starts
    repeats = np.ones(1) if votes.counts is None else votes.counts
    no_x = np.zeros((len(votes.first), 0))
    return Rows(votes.first, votes.second, votes.outcome, np.ones(1), np.zeros(0, np.int64), edges, repeats, no_x)


def rows_by(votes: Votes, cluster: Ints) -> Rows:
    """The rows of votes, cluster by cluster; ``cluster`` is that of each answer."""
    weight = np.ones(1) if votes.counts is None else votes.row_counts
    no_x = np.zeros((len(votes.first), 0))
    if len(cluster) and bool((cluster[1:] >= cluster[:-1]).all()):  # nothing to sort: millions of rows need no column of order
        begins = np.searchsorted(cluster, np.arange(int(cluster[-1]) + 2))
        edges = begins if votes.starts is None else votes.starts[begins]
        order = np.zeros(0, np.int64)
    else:
        of_row = cluster if votes.starts is None else np.repeat(cluster, np.diff(votes.starts))
        order = np.argsort(of_row, kind="stable")
        edges = np.concatenate(([0], np.cumsum(np.bincount(of_row))))
    return Rows(votes.first, votes.second, votes.outcome, weight, order, edges, np.ones(1), no_x)


def _first_judgements(votes: Votes, cluster: Ints) -> Tally:
    """What the verdict counts: of each rater or case the first judgement of a pair."""
    K = len(votes.options)
    of_row = cluster if votes.starts is None else np.repeat(cluster, np.diff(votes.starts))
    low, high = np.minimum(votes.first, votes.second).astype(np.int64), np.maximum(votes.first, votes.second).astype(np.int64)
    _, at = np.unique((of_row * K + low) * K + high, return_index=True)
    few = Votes(votes.options, votes.first[at], votes.second[at], votes.outcome[at])
    return Tally.of(*few.tables, answers=votes.answers, unit="rater")


def _covariates(votes: Any, given: Mapping[str, Any] | None, position: bool) -> tuple[Floats | None, tuple[str, ...]]:
    """Columns of differences, first minus second, with their names."""
    truth("position", position)
    if given is not None and not isinstance(given, Mapping):
        raise BadInput(f"'covariates' of 'standings' must be columns by name. Got {shortened(given)}.")
    if not given and not position:
        return None, ()
    if not isinstance(votes, Votes):
        raise BadInput("Covariates need the votes themselves, as Votes: counts do not say what was shown.")
    columns: dict[str, Any] = {}
    if position:
        if not votes.ordered:
            raise BadInput("'position' of 'standings' needs votes that say which option was shown first ('ordered').")
        columns["shown first"] = np.ones(len(votes.first))
    for name, values in (given or {}).items():
        try:
            column = np.asarray(values, float)
        except (TypeError, ValueError):
            column = np.zeros(0)
        if column.shape != votes.first.shape or not np.isfinite(column).all():
            raise BadInput(
                f"Covariate '{name}' must be {len(votes.first):,} finite numbers, one a row of votes. Got {shortened(values)}."
            )
        columns[str(name)] = column
    if len(columns) > MOST_COVARIATES:
        raise BadInput(f"'covariates' of 'standings' must be at most {MOST_COVARIATES}. Got {len(columns)}.")
    return np.column_stack(list(columns.values())), tuple(columns)


def _judged(
    known: Known, by: str, given: Verdict | None, alpha: float, margin: float, room: int | None, retired: Iterable[int]
) -> Verdict:
    if given is None:
        made = verdict(known.counted(), alpha=alpha, margin=margin, room=room, retired=retired, names=known.names)
        return replace(made, unit=by)
    if not isinstance(given, Verdict) or len(given.names) != len(known.names):
        raise BadInput(f"'verdict' of 'standings' must be that of these {len(known.names)} options. Got {shortened(given)}.")
    return given


# ---- what follows


class Estimate(NamedTuple):
    """Strengths and how far they may be off."""

    theta: Floats  # f8[K]  relative to the mean of its group
    centre: Floats  # f8[K, K]  that takes the mean
    group: Ints  # i8[K]
    shown: Floats  # f8[K]  units of evidence that compared each option
    squares: Floats  # f8[K]  sum, over units, of squares of how often each compared an option
    covariance: Spread
    error: Floats  # f8[K]
    wide: Floats  # f8[K]  half-widths of intervals; nan where it is too early


def estimate(known: Known, error: float) -> Estimate:
    """The strengths, each with an interval that ever misses with a chance of ``error`` at most."""
    N = known.above + known.above.T + known.ties
    theta, J = fit(known.above + 0.5 * known.ties)
    group = groups(N)
    if known.rows is None:
        M, shown = duel_sums(known.above, known.ties, theta), N.sum(axis=1) if known.shown is None else known.shown
        squares = N.sum(axis=1) * (known.seats - 1.0)  # no answer compared an option more often
    else:
        M, seen = cluster_sums(known.rows, theta)
        if known.single is not None and known.shown is not None:
            wins, level = known.single
            several = known.shown - (wins + wins.T + level).sum(axis=1)  # answers for which those that are kept must stand
            scale = np.sqrt(np.divide(several, seen.shown, out=np.ones_like(several), where=seen.shown > 0.0))
            M = M * scale[:, None] * scale[None, :] + duel_sums(wins, level, theta)
        shown, most = seen.shown if known.shown is None else known.shown, seen.most if known.most is None else known.most
        # an answer that names the best compares it with all others, and each of these once: how often depends on the outcome
        squares = N.sum(axis=1) * most if known.by == "answer" else seen.squares
    centre = centring(group, N.sum(axis=1))
    covariance = spread(J, M * known.assumed, group, centre, _correction(known, len(theta)), known.assumed)
    off = np.sqrt(covariance.variance())
    wide = np.full(len(theta), math.nan)
    enough = shown >= LEAST_SHOWN
    wide[enough] = off[enough] * at_all_times(shown[enough], error)
    return Estimate(centre @ theta, centre, group, shown, squares, covariance, off, wide)


def _correction(known: Known, K: int) -> float:
    """Residuals are smaller than errors, because the strengths were fitted to them."""
    G, n = max(2, known.units), max(known.answers, K + 1)
    return G / (G - 1.0) * n / (n - K)


def ahead_by_strength(found: Estimate, error: float) -> Flags:
    """Whose interval of the difference to whom lies above 0; each pair's ever misses with a chance of ``error`` at most."""
    n = np.minimum(found.shown[:, None], found.shown[None, :])
    apart = found.theta[:, None] - found.theta[None, :]
    off = np.sqrt(np.maximum(found.covariance.of_differences(), 0.0))
    sure: Flags = (apart > off * at_all_times(np.maximum(n, LEAST_SHOWN), error)) & (n >= LEAST_SHOWN)
    sure &= found.group[:, None] == found.group[None, :]
    return sure


def _ahead(found: Estimate, judged: Verdict, alpha: float, many: int) -> tuple[Flags, tuple[tuple[int, int], ...]]:
    """Who is ahead of whom for certain; and the pairs whose own evidence contradicts the strengths."""
    theta, group = found.theta, found.group
    apart = theta[:, None] - theta[None, :]
    ahead = ahead_by_strength(found, alpha / max(1.0, many * (many - 1.0)))
    L = judged.evidence if judged.margin == 0.0 else evidence(*judged.tally)[0]
    sure = judged.pairs <= L
    np.fill_diagonal(sure, False)
    ahead &= ~sure.T  # the pair's own evidence counts
    ahead |= judged.pairs + math.log(2.0) <= L
    here = np.zeros(len(theta), np.bool_)
    here[list(judged.present)] = True
    wrong = np.argwhere(sure & (apart < 0.0) & (group[:, None] == group[None, :]) & here[:, None] & here[None, :])
    b = judged.winner
    if b is not None:
        ahead[:, b] = False
        if judged.margin == 0.0:
            ahead[b] = True
    np.fill_diagonal(ahead, False)
    ahead &= here[:, None] & here[None, :]
    ahead &= ~_in_cycles(ahead)
    worst = sorted(((int(i), int(j)) for i, j in wrong), key=lambda pair: (apart[pair], pair))
    return ahead, tuple(worst)


def _in_cycles(ahead: Flags) -> Flags:
    """Pairs of which each is ahead of the other, if only by way of others: what is said of them does not fit one order."""
    left = np.arange(len(ahead))
    while len(left):  # whoever has nobody ahead, or nobody behind, is in no cycle
        inner = ahead[np.ix_(left, left)]
        kept = inner.any(axis=0) & inner.any(axis=1)
        if kept.all():
            break
        left = left[kept]
    mutual = np.zeros_like(ahead)
    if len(left):
        reach = ahead[np.ix_(left, left)]
        for _ in range(len(left).bit_length()):
            reach = reach | ((reach.astype(np.float32) @ reach.astype(np.float32)) > 0.0)
        mutual[np.ix_(left, left)] = reach & reach.T
    return mutual


def _ranks(ahead: Flags, judged: Verdict) -> tuple[Ints, Ints]:
    rank_from = 1 + ahead.sum(axis=0)
    rank_to = len(judged.present) - ahead.sum(axis=1)
    if judged.kind != "cycle":  # in a cycle there is no first
        out = list(judged.out)
        rank_from[out] = np.maximum(rank_from[out], 2)
    return rank_from, np.maximum(rank_from, rank_to)


def _won(known: Known, squares: Floats, error: float) -> tuple[Floats, Floats, Floats]:
    n = (known.above + known.above.T + known.ties).sum(axis=1)
    W = (known.above + 0.5 * known.ties).sum(axis=1)
    won = np.divide(W, n, out=np.full(len(n), math.nan), where=n > 0)
    radius = np.array(
        [bounded_radius(float(s), error) * float(s) / float(k) if k > 0 else math.nan for s, k in zip(squares, n, strict=True)]
    )
    return won, np.clip(won - radius, 0.0, 1.0), np.clip(won + radius, 0.0, 1.0)


def _style(known: Known, effects: tuple[str, ...], raw: Estimate, alpha: float, many: int) -> Style:
    assert known.styled is not None
    rows, counted = known.styled
    K, d = len(raw.group), len(effects)
    theta, beta, J = fit_rows(counted, K)
    M, _ = cluster_sums(rows, theta, beta)
    off = np.sqrt(np.maximum(spread(J, M, raw.group, raw.centre, _correction(known, K)).variance(), 0.0))
    theta = raw.centre @ theta
    wide = off[:K] * at_all_times(np.maximum(raw.shown, 1.0), alpha / many)
    wide[np.isnan(raw.wide)] = math.nan
    apart = off[K:] * float(at_all_times(max(1, known.units), alpha / d))
    if known.units < LEAST_SHOWN:
        apart[:] = math.nan
    return Style(effects, beta, beta - apart, beta + apart, theta, theta - wide, theta + wide)
