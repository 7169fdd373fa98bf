"""Votes: who was placed above whom, in columns, with the names of the options. Everything that takes votes takes this type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.inputs import BadInput, choice, shortened

UNITS = ("answer", "rater", "case")
MOST_OPTIONS = 10_000  # tables of as many squared
PORTION = 1_000_000  # rows counted at once


@dataclass(frozen=True, eq=False)
class Votes:
    """Answers to "which is better?", one row per compared pair; the rows of an answer stand together.

    Columns instead of objects: ten million battles take 100 MB. Build one with ``Votes.of``, which checks every column.

    Parameters
    ----------
    options
        Names; rows refer to them by number.
    first, second
        The two options of each row. Where ``ordered``, the first was shown before, or to the left of, the second.
    outcome
        1: the first was placed above the second; -1: below; 0: a tie.
    starts
        Rows ``starts[k]`` to ``starts[k + 1] - 1`` are answer k. None: every row is an answer of its own, as in battles.
    counts
        How many equal answers each answer stands for (tables of counts). None: one each.
    rater, case
        Who answered, and about what (a prompt, a query), as numbers into ``raters`` and ``cases``. None: not known.
    raters, cases
        Their names.
    time
        Seconds since 1970, an answer each. None: not known; answers are in their order anyhow.
    ordered
        Whether the order of ``first`` and ``second`` is that in which they were shown.

    Examples
    --------
    >>> votes = Votes.of(["tea", "coffee", "milk"], first=[0, 0], second=[1, 2], outcome=[1, 0])
    >>> votes.answers, votes.above.tolist()
    (2, [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    """

    options: tuple[str, ...]
    first: Ints  # i4[rows]
    second: Ints  # i4[rows]
    outcome: Any  # i1[rows]
    starts: Ints | None = None  # i8[answers + 1]
    counts: Floats | None = None  # f8[answers]
    rater: Ints | None = None  # i4[answers]
    case: Ints | None = None  # i4[answers]
    raters: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    time: Floats | None = None  # f8[answers]
    ordered: bool = False

    @classmethod
    def of(
        cls,
        options: Sequence[str],
        *,
        first: Any,
        second: Any,
        outcome: Any,
        starts: Any = None,
        counts: Any = None,
        rater: Any = None,
        case: Any = None,
        raters: Sequence[str] = (),
        cases: Sequence[str] = (),
        time: Any = None,
        ordered: bool = False,
    ) -> Self:
        """Check the columns and make votes of them.

        Parameters
        ----------
        options, first, second, outcome, starts, counts, rater, case, raters, cases, time, ordered
            As described for the class.

        Returns
        -------
        Votes
            With columns of compact types.

        Raises
        ------
        BadInput
            When a column has another length than the others, or names something that does not exist.
        """
        names = _names("options", options)
        K = len(names)
        if not 1 <= K <= MOST_OPTIONS:
            raise BadInput(f"Votes must have at least 1 and at most {MOST_OPTIONS:,} options. Got {K:,}.")
        one = _column("first", first, 0, K - 1)
        two = _column("second", second, 0, K - 1, len(one))
        result = _column("outcome", outcome, -1, 1, len(one)).astype(np.int8)
        same = np.flatnonzero(one == two)
        if len(same):
            raise BadInput(
                "A row of votes must compare two different options. "
                f"Row {same[0] + 1} compares {names[one[same[0]]]!r} with itself."
            )
        edges = None if starts is None else _edges(starts, len(one))
        n = len(one) if edges is None else len(edges) - 1
        who, whose = _coded("rater", rater, raters, n)
        what, whats = _coded("case", case, cases, n)
        return cls(
            names,
            first=one,
            second=two,
            outcome=result,
            starts=edges,
            counts=_numbers("counts", counts, n, 0.0),
            rater=who,
            case=what,
            raters=whose,
            cases=whats,
            time=_numbers("time", time, n),
            ordered=bool(ordered),
        )

    @property
    def answers(self) -> int:
        """Number of answers in the columns; a counted one counts once."""
        return len(self.first) if self.starts is None else len(self.starts) - 1

    @property
    def answer_of_row(self) -> Ints:
        """The answer that each row belongs to: i8[rows]."""
        if self.starts is None:
            return np.arange(len(self.first))
        return np.repeat(np.arange(self.answers), np.diff(self.starts))

    @property
    def row_counts(self) -> Floats:
        """How many equal answers each row stands for: f8[rows]."""
        if self.counts is None:
            return np.ones(len(self.first))
        return self.counts if self.starts is None else np.repeat(self.counts, np.diff(self.starts))

    @cached_property
    def tables(self) -> tuple[Floats, Floats]:
        """The tables ``above`` and ``ties``, both at once.

        Counted portion by portion, so that ten million rows need no second copy of themselves.
        """
        K = len(self.options)
        above, level = np.zeros(K * K), np.zeros(K * K)
        step = max(PORTION, K * K)
        for start in range(0, len(self.first), step):
            rows = slice(start, start + step)
            one, two, outcome = self.first[rows].astype(np.int64), self.second[rows], self.outcome[rows]
            weights = None if self.counts is None else self.row_counts[rows]
            for sign, table, code in ((1, above, one * K + two), (-1, above, two * np.int64(K) + one), (0, level, one * K + two)):
                said = outcome == sign
                table += np.bincount(code[said], None if weights is None else weights[said], K * K)
        half = level.reshape(K, K)
        return above.reshape(K, K), half + half.T

    @property
    def above(self) -> Floats:
        """Answers that placed option i above option j: f8[K, K]."""
        return self.tables[0]

    @property
    def ties(self) -> Floats:
        """Answers that placed options i and j level: f8[K, K], symmetric."""
        return self.tables[1]

    def clusters(self, by: str) -> tuple[Ints, int]:
        """Number the units of evidence.

        Parameters
        ----------
        by
            "answer", "rater" or "case".

        Returns
        -------
        tuple
            The unit of each answer (i8[answers]), and how many units there are.
        """
        choice("by", by, UNITS)
        codes, names = {"answer": (None, ()), "rater": (self.rater, self.raters), "case": (self.case, self.cases)}[by]
        if by == "answer":
            return np.arange(self.answers), self.answers
        if codes is None:
            raise BadInput(f"These votes do not say which {by} each answer belongs to. Give a column for it, or count by answer.")
        return codes.astype(np.int64), len(names)

    def take(self, chosen: Any) -> Votes:
        """Choose answers.

        Parameters
        ----------
        chosen
            A mask or numbers of answers.

        Returns
        -------
        Votes
            Of the same options, raters and cases, with these answers only.
        """
        numbers = np.arange(self.answers)[np.asarray(chosen)]
        if self.starts is None:
            rows, starts = numbers, None
        else:
            sizes = np.diff(self.starts)[numbers]
            starts = np.concatenate(([0], np.cumsum(sizes)))
            rows = np.repeat(self.starts[numbers] - starts[:-1], sizes) + np.arange(starts[-1])
        chosen_columns: dict[str, Any] = {
            name: None if (column := getattr(self, name)) is None else column[numbers]
            for name in ("counts", "rater", "case", "time")
        }
        pairs = {name: getattr(self, name)[rows] for name in ("first", "second", "outcome")}
        return replace(self, starts=starts, **pairs, **chosen_columns)


def _names(what: str, given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise BadInput(f"'{what}' of votes must be a list of names. Got the text {shortened(given)}.")
    names = tuple(str(name) for name in given)
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise BadInput(f"'{what}' of votes must differ. {shortened(twice)} stands there twice.")
    return names


def _column(what: str, given: Any, low: int, high: int, length: int | None = None) -> Ints:
    column = np.asarray(given)
    if column.ndim != 1 or (column.size and column.dtype.kind not in "iub"):
        raise BadInput(
            f"'{what}' of votes must be one column of whole numbers. Got an array of {column.dtype} with shape {column.shape}."
        )
    if length is not None and len(column) != length:
        raise BadInput(f"'{what}' of votes must have {length:,} numbers, as the other columns have. Got {len(column):,}.")
    if column.size and not (low <= column.min() and column.max() <= high):
        raise BadInput(f"'{what}' of votes must be from {low} to {high}. Got {column.min()} to {column.max()}.")
    return column.astype(np.int32)


def _coded(what: str, given: Any, names: Sequence[str], n: int) -> tuple[Ints | None, tuple[str, ...]]:
    known = _names(f"{what}s", names)
    return (None, known) if given is None else (_column(what, given, 0, len(known) - 1, n), known)


def _edges(given: Any, rows: int) -> Ints:
    edges = np.asarray(given)
    if (
        edges.ndim != 1
        or edges.dtype.kind not in "iu"
        or not len(edges)
        or edges[0] != 0
        or edges[-1] != rows
        or (np.diff(edges) < 1).any()
    ):
        raise BadInput(
            f"'starts' of votes must begin at 0, end at the number of rows ({rows:,}), and grow. Got {shortened(given)}."
        )
    return edges.astype(np.int64)


def _numbers(what: str, given: Any, n: int, above: float = -np.inf) -> Floats | None:
    if given is None:
        return None
    column = np.asarray(given, float)
    if column.shape != (n,) or not np.isfinite(column).all() or not (column > above).all():
        limit = f" above {above:g}" if above > -np.inf else ""
        raise BadInput(f"'{what}' of votes must be {n:,} finite numbers{limit}, one an answer. Got {shortened(given)}.")
    return column
