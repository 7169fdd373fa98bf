"""Answers, counted for inference: who was placed above whom, how often; added to and undone from in any order."""

from __future__ import annotations

import math
import operator
from array import array
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.inference.votes import Votes
from multiduel.inputs import BadInput, choice, names_of, shortened, whole

UNITS = ("answer", "rater", "case")
MOST_ARMS = 10_000  # tables of as many squared
MOST_COUNT = 1e12  # up to here, tables of counts as different as 1 and this can be inverted: standings need that


class Answer(NamedTuple):
    """An answer that a tally holds, for ``undo``.

    >>> answer = Tally(3).add((2, 0), [[0, 1], [0, 0]])  # 2 above 0
    >>> answer.number, answer.arms
    (1, (2, 0))
    """

    number: int
    arms: tuple[int, ...]
    placed: Ints  # i8[n, n]  1: the one above the other, -1: below, 0: level, and where nothing was said
    said: Any  # bool[n, n]  something was said of the pair
    rater: Hashable


class _Rows:
    """The pairs of every answer, five bytes each: counts do not say which pairs are of one answer, or of one rater."""

    def __init__(self) -> None:
        self.numbers = array("q")  # of answers, ascending
        self.ends = array("q")  # where the rows of each answer end
        self.rater = array("i")
        self.counts = bytearray()  # 1 while an answer counts
        self.first, self.second, self.placed = array("h"), array("h"), array("b")
        self.raters: dict[Hashable, int] = {}

    def add(self, answer: Answer) -> None:
        said, placed = answer.said.tolist(), answer.placed.tolist()
        for a, i in enumerate(answer.arms):
            for b in range(a + 1, len(answer.arms)):
                if said[a][b]:
                    self.first.append(i)
                    self.second.append(answer.arms[b])
                    self.placed.append(placed[a][b])
        self.numbers.append(answer.number)
        self.ends.append(len(self.first))
        self.rater.append(self.raters.setdefault(answer.rater, len(self.raters)))
        self.counts.append(1)

    def forget(self, number: int) -> None:
        self.counts[bisect_left(self.numbers, number)] = 0

    def columns(self) -> dict[str, Any]:
        """The answers that count, as arrays; raters by number, in the order in which they first answered."""
        ends, here = np.array(self.ends, np.int64), np.array(self.counts, np.bool_)
        sizes = np.diff(ends, prepend=0)
        rows = np.repeat(here, sizes)
        names = list(self.raters)
        who, at, code = np.unique(np.array(self.rater, np.int32)[here], return_index=True, return_inverse=True)
        order = np.argsort(at)
        place = np.argsort(order).astype(np.int32)
        return {
            "first": np.array(self.first, np.int16)[rows],
            "second": np.array(self.second, np.int16)[rows],
            "placed": np.array(self.placed, np.int8)[rows],
            "sizes": sizes[here],
            "rater": place[code],
            "names": [names[k] for k in who[order].tolist()],
        }


class Counts:
    """What a verdict reads: who was placed above whom, how often, and how often each arm was shown."""

    def __init__(self, n_arms: int, unit: str) -> None:
        if isinstance(n_arms, bool) or not isinstance(n_arms, int | np.integer) or not 1 <= n_arms <= MOST_ARMS:
            raise BadInput(
                f"'n_arms' of a tally must be a whole number of at least 1 and at most {MOST_ARMS:,}. Got {shortened(n_arms)}."
            )
        self.unit = known_unit(unit)
        self.above: Floats = np.zeros((n_arms, n_arms))  # answers that placed i above j
        self.ties: Floats = np.zeros((n_arms, n_arms))  # answers that placed them level
        self.showings: Ints = np.zeros(n_arms, np.int64)  # answers to slates with this arm
        self.answers = 0

    @property
    def n_arms(self) -> int:
        """Number of arms K."""
        return len(self.above)

    def _grow(self, more: int) -> None:
        self.above, self.ties = (np.pad(table, (0, more)) for table in (self.above, self.ties))
        self.showings = np.pad(self.showings, (0, more))

    def _place(self, i: int, j: int, placing: int, change: int) -> None:
        if placing == 0:
            self.ties[i, j] += change
            self.ties[j, i] += change
        else:
            self.above[(i, j) if placing > 0 else (j, i)] += change


class Tally(Counts):
    """The answers so far, as counts. Their order does not matter, so that undoing an answer only changes counts.

    An answer counts at most 1 per pair. With ``unit="rater"`` only a rater's first judgement of a pair counts: then what is said
    holds for people like these raters, and not only for these raters and how often each of them answered. With ``unit="case"``
    only the first judgement of a pair on a case (a question, a prompt) counts: then it holds for cases like these.

    >>> tally = Tally(3)
    >>> answer = tally.add((2, 0, 1), [[0, 1, 1], [0, 0, 1], [0, 0, 0]])  # 2 above 0 above 1
    >>> tally.above.tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    >>> tally.undo(answer)
    >>> tally.answers, tally.above.sum()
    (0, np.float64(0.0))
    """

    def __init__(self, n_arms: int, *, unit: str = "answer") -> None:
        super().__init__(n_arms, unit)
        self._last = 0
        self._held: set[int] = set()
        self._judged: dict[Hashable, dict[tuple[int, int], dict[int, int]]] = {}  # by rater
        self._rows: _Rows | None = _Rows()  # None: made from counts

    def __repr__(self) -> str:
        pairs = int((np.triu(self.above + self.above.T + self.ties) > 0.0).sum())
        judged = float(self.above.sum() + 0.5 * self.ties.sum())
        shown = f", each shown {self.showings.min():,} to {self.showings.max():,} times" if self.answers else ""
        return (
            f"<Tally of {self.answers:,} answers by {self.unit}: {judged:,.10g} judgements of {pairs:,} pairs of "
            f"{self.n_arms:,} arms{shown}>"
        )

    @property
    def knows_answers(self) -> bool:
        """Whether the tally holds what each answer said, and not only counts."""
        return self._rows is not None

    def votes(self, names: Sequence[str] | None = None) -> Votes:
        """Return the answers that count, as votes.

        Parameters
        ----------
        names
            The arms' names.

        Returns
        -------
        Votes
            A row per pair that an answer judged, with the raters.

        Raises
        ------
        BadInput
            If the tally was made from counts, which do not say what each answer said.
        """
        if self._rows is None:
            raise BadInput("This tally was made from counts, which do not say what each answer said.")
        labels = tuple(f"option {k}" for k in range(self.n_arms)) if names is None else names_of(names, self.n_arms, of="votes")
        columns = self._rows.columns()
        sizes = columns["sizes"]
        said = sizes > 0  # an answer may judge nothing
        known = all(name is not None for name in columns["names"])
        whose: Any = columns["rater"][said] if known else None
        names_of_units: Any = tuple(str(name) for name in columns["names"]) if known else ()
        return Votes(
            labels,
            columns["first"].astype(np.int32),
            columns["second"].astype(np.int32),
            columns["placed"],
            starts=None if (sizes[said] == 1).all() else np.concatenate(([0], np.cumsum(sizes[said]))),
            ordered=True,
            **({"case": whose, "cases": names_of_units} if self.unit == "case" else {"rater": whose, "raters": names_of_units}),
        )

    def add(self, arms: Sequence[int], wins: Sequence[Sequence[float]] | Floats, rater: Hashable = None) -> Answer:
        """Count an answer.

        Parameters
        ----------
        arms
            The arms that were shown.
        wins
            ``wins[a][b]`` is the weight of "arms[a] beat arms[b]": the heavier side is above, equal weights are a tie, and 0
            and 0 says nothing of the pair.
        rater
            Who answered, for ``unit="rater"``; for ``unit="case"``, the case.

        Returns
        -------
        Answer
            To be undone by.
        """
        shown, weights = self._checked(arms, wins)
        if self.unit != "answer" and rater is None:
            whose = "whose answer it is" if self.unit == "rater" else "which case an answer is about"
            raise BadInput(f"A tally by {self.unit} must be told {whose}: give 'rater'.")
        _known_rater(rater)
        answer = self._answer(self._last + 1, shown, weights, rater)
        self._last = answer.number
        self._held.add(answer.number)
        self._count(answer, 1)
        if self._rows is not None:
            self._rows.add(answer)
        return answer

    @staticmethod
    def _answer(number: int, shown: tuple[int, ...], weights: Floats, rater: Hashable) -> Answer:
        said = (weights + weights.T) > 0.0
        return Answer(number, shown, np.sign(weights - weights.T).astype(np.int64), said, rater)

    def undo(self, answer: Answer) -> None:
        """Take an answer back, as if it had never come.

        Parameters
        ----------
        answer
            What ``add`` returned.
        """
        if not isinstance(answer, Answer) or answer.number not in self._held:
            raise BadInput(f"Only an answer that this tally holds can be undone. Got {shortened(answer)}.")
        self._held.remove(answer.number)
        self._count(answer, -1)
        if self._rows is not None:
            self._rows.forget(answer.number)

    def has_judged(self, rater: Hashable, i: int, j: int) -> bool:
        """Tell whether a judgement of a pair by a rater counts already.

        Parameters
        ----------
        rater
            Who answered, or with ``unit="case"`` the case. Not kept with ``unit="answer"``.
        i, j
            The pair.
        """
        for arm in (i, j):
            whole("arm", arm, 0, self.n_arms - 1, of="Tally.has_judged")
        return (min(i, j), max(i, j)) in self._judgements(_known_rater(rater))

    def grow(self, n_arms: int) -> None:
        """Add arms of which nothing is known yet.

        Parameters
        ----------
        n_arms
            How many arms there are then.
        """
        more = whole("n_arms", n_arms, 1, MOST_ARMS, of="Tally.grow") - self.n_arms
        if more < 0:
            raise BadInput(f"A tally of {self.n_arms} arms cannot shrink to {n_arms}.")
        self._grow(more)

    def _count(self, answer: Answer, sign: int) -> None:
        self.answers += sign
        for arm in answer.arms:
            self.showings[arm] += sign
        said, placed = answer.said.tolist(), answer.placed.tolist()  # an answer is small: loops are quicker than arrays
        for a, i in enumerate(answer.arms):
            for b in range(a + 1, len(answer.arms)):
                if said[a][b]:
                    self._count_pair(answer, i, answer.arms[b], placed[a][b], sign)

    def _count_pair(self, answer: Answer, i: int, j: int, placing: int, sign: int) -> None:
        if self.unit == "answer":
            self._place(i, j, placing, sign)
            return
        if i > j:
            i, j, placing = j, i, -placing
        pairs = self._judgements(answer.rater)
        judgements = pairs.setdefault((i, j), {})
        before = next(iter(judgements.values()), None)
        if sign > 0:
            judgements[answer.number] = placing
        else:
            del judgements[answer.number]
            if not judgements:
                del pairs[i, j]
        after = next(iter(judgements.values()), None)
        if before != after:  # only the first judgement counts, whichever is the first now
            for first, change in ((before, -1), (after, 1)):
                if first is not None:
                    self._place(i, j, first, change)

    def _judgements(self, rater: Hashable) -> dict[tuple[int, int], dict[int, int]]:
        """What counts, or would, of this rater: pair -> answer -> placing, in order."""
        return self._judged.setdefault(rater, {})

    def _checked(self, arms: Sequence[int], wins: Any) -> tuple[tuple[int, ...], Floats]:
        try:
            shown = tuple(operator.index(arm) for arm in arms)
            weights = np.array(wins, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise BadInput(
                f"An answer is the arms that were shown and a table of wins. Got {shortened(arms)} and {shortened(wins)}."
            ) from None
        n = len(shown)
        if len(set(shown)) < n or not all(0 <= arm < self.n_arms for arm in shown):
            raise BadInput(f"The arms of an answer must be different, from 0 to {self.n_arms - 1}. Got {shortened(shown)}.")
        good = weights.shape == (n, n) and (n == 0 or 0.0 <= weights.min() <= weights.max() < math.inf)
        if not good or weights.diagonal().any():
            raise BadInput(
                f"Wins must be {n} x {n} finite numbers of at least 0, the diagonal 0. Got {shortened(weights.tolist())}."
            )
        return shown, weights

    @classmethod
    def of(
        cls,
        above: Any,
        ties: Any = None,
        *,
        answers: int | None = None,
        showings: Any = None,
        unit: str = "answer",
    ) -> Tally:
        """Make a tally from counts made elsewhere.

        Parameters
        ----------
        above
            ``above[i][j]``: answers that placed i above j.
        ties
            ``ties[i][j]``: answers that placed them level.
        answers
            How many answers the counts came from.
        showings
            How often each arm was shown; if not given, the count of its most frequent pair, the least that it can be.
        unit
            "answer"; "rater" or "case" if only each rater's first judgement of a pair, or the first on each case, was counted.

        Returns
        -------
        Tally
            The counts.
        """
        D = counts("above", above)
        T = np.zeros_like(D) if ties is None else counts("ties", ties)
        if T.shape != D.shape or (T != T.T).any():
            raise BadInput(f"'ties' must be symmetric and of the shape of 'above', {D.shape}. Got shape {T.shape}.")
        tally = cls(len(D), unit=unit)
        tally.above, tally.ties, tally._rows = D, T, None
        judged = D + D.T + T
        least = judged.max(axis=1, initial=0.0)
        try:
            tally.showings = np.ceil(least).astype(np.int64) if showings is None else np.array(showings, np.int64)
            good = tally.showings.shape == (len(D),) and not (tally.showings < least).any()
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            raise BadInput(
                f"'showings' must have {len(D)} counts, none below its arm's most frequent pair. Got {shortened(showings)}."
            )
        shown = int(tally.showings.max(initial=0))
        tally.answers = shown if answers is None else whole("answers", answers, 0, of="Tally.of")
        return tally


def counts(name: str, values: Any) -> Floats:
    """A square table of counts, checked and copied."""
    try:
        table = np.array(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"'{name}' must be a square table of counts. Got {shortened(values)}.") from None
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) == 0:
        raise BadInput(f"'{name}' must be a square table of counts. Got shape {table.shape}.")
    if not ((table >= 0.0) & (table <= MOST_COUNT)).all() or table.diagonal().any():
        raise BadInput(
            f"'{name}' must hold finite counts of at least 0, with 0 on the diagonal, and none above {MOST_COUNT:g}. "
            f"Got {shortened(table.tolist())}."
        )
    return table


def known_unit(unit: str) -> str:
    return choice("unit", unit, UNITS)


def _known_rater(rater: Any) -> Hashable:
    try:
        hash(rater)
    except TypeError:
        raise BadInput(f"'rater' must be a name or number. Got {shortened(rater)}.") from None
    return rater  # type: ignore[no-any-return]
