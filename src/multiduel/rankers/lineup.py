"""Rankers as arms: any way to score the documents of a query, and what they make of a collection."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multiduel.arrays import Floats, Ints
from multiduel.inputs import BadInput
from multiduel.rankers.corpus import Query
from multiduel.rankers.letor import each
from multiduel.rankers.multileaving.contract import Positions
from multiduel.rankers.trec import run_scores

DIRECTIONS = ("descending", "ascending", "both")


class Ranker(NamedTuple):
    """A name, and a function from a query to one score per document, larger first.

    >>> Ranker("longest", lambda query: [len(name) for name in query.documents]).name
    'longest'
    """

    name: str
    score: Callable[[Query], Any]


def feature(number: int, *, ascending: bool = False) -> Ranker:
    """Rank documents by one feature.

    Parameters
    ----------
    number
        The feature's number, from 1.
    ascending
        Smallest first instead of largest first.

    Examples
    --------
    >>> feature(2, ascending=True).name
    'f2-asc'
    """
    if number < 1:
        raise BadInput(f"Features are numbered from 1. Got {number}.")
    sign = -1.0 if ascending else 1.0

    def score(query: Query) -> Floats:
        numbers = query.columns()
        at = int(np.searchsorted(numbers, number))
        if at == len(numbers) or numbers[at] != number:
            return np.zeros(len(query.grades))
        return sign * query.features[:, at]

    return Ranker(f"f{number}-asc" if ascending else f"f{number}", score)


def run_file(source: Any, *, name: str = "") -> Ranker:
    """Rank documents by a TREC run. Documents that the run did not retrieve are not returned.

    Parameters
    ----------
    source
        A file, {query: {document: score}}, or ranx's.
    name
        The ranker's name.

    Examples
    --------
    >>> run_file({"cats": {"a": 2.0, "b": 1.0}}, name="bm25").name
    'bm25'
    """
    scores = run_scores(source)

    def score(query: Query) -> Floats:
        of_query = scores.get(query.id, {})
        return np.array([of_query.get(document, -np.inf) for document in query.documents])

    named = Path(source).name if isinstance(source, str | os.PathLike) else getattr(source, "name", None)
    return Ranker(name or named or "run", score)


@dataclass(frozen=True, eq=False, repr=False)
class Lineup:
    """K rankers and the rankings that each gives to Q queries with N documents in all. Made by ``line_up``.

    >>> from multiduel.rankers import generate
    >>> line_up(generate(queries=3, documents=10, features=2)).names
    ('f1', 'f2')
    """

    names: tuple[str, ...]
    queries: tuple[str, ...]
    offset: Ints  # i8[Q + 1]  the documents of query q are offset[q] .. offset[q + 1] - 1
    grade: Ints  # i8[N]
    order: Positions  # i2[K, N]   per query, the ranker's documents, best first, numbered within the query
    rank: Positions  # i2[K, N]   per query, each document's position with the ranker, from 0
    returned: (
        Positions  # i2[K, Q]   how many documents of the query the ranker returned; those after them in its order it did not
    )

    def __repr__(self) -> str:
        return f"Lineup({self.n_arms} rankers, {len(self.queries)} queries, {len(self.grade)} documents)"

    @property
    def n_arms(self) -> int:
        """Number of rankers."""
        return len(self.names)

    @property
    def longest(self) -> int:
        """Number of documents of the longest query."""
        return int(np.diff(self.offset).max())

    @cached_property
    def digest(self) -> str:
        """Hash that tells two line-ups apart."""
        parts = (self.offset, self.grade, self.order, self.returned)
        return hashlib.sha256("\0".join(self.names).encode() + b"".join(p.tobytes() for p in parts)).hexdigest()

    def take(self, arms: Sequence[int] | Ints) -> Lineup:
        """Keep some of the rankers, in this order.

        Parameters
        ----------
        arms
            Their numbers.
        """
        rows = [int(arm) for arm in arms]
        if not rows or len(set(rows)) < len(rows) or not all(0 <= row < self.n_arms for row in rows):
            raise BadInput(f"'arms' must be different numbers from 0 to {self.n_arms - 1}. Got {rows}.")
        names = tuple(self.names[row] for row in rows)
        return Lineup(names, self.queries, self.offset, self.grade, self.order[rows], self.rank[rows], self.returned[rows])

    def join(self, other: Lineup) -> Lineup:
        """Join the rankers of two line-ups, which ranked the same queries.

        Parameters
        ----------
        other
            The other line-up.
        """
        same = np.array_equal(self.offset, other.offset) and np.array_equal(self.grade, other.grade)
        if self.queries != other.queries or not same:
            raise BadInput("Line-ups can be joined when they rank the same queries with the same documents.")
        names = (*self.names, *other.names)
        _check_names(names)
        pairs = ((self.order, other.order), (self.rank, other.rank), (self.returned, other.returned))
        return Lineup(names, self.queries, self.offset, self.grade, *(np.concatenate(pair) for pair in pairs))

    @property
    def answered(self) -> Ints:
        """Count for how many queries each ranker returned a document."""
        return (self.returned > 0).sum(axis=1)

    def ndcg(self, cutoff: int = 10) -> Floats:
        """Average each ranker's NDCG over queries with a relevant document: gain 2^grade - 1, discount log2(1 + rank).

        Parameters
        ----------
        cutoff
            How many documents count.
        """
        total, count = np.zeros(self.n_arms), 0
        discount = 1.0 / np.log2(np.arange(2.0, cutoff + 2.0))
        for q, (lo, hi) in enumerate(itertools.pairwise(self.offset)):
            gain = 2.0 ** self.grade[lo:hi] - 1.0
            if gain.any():
                top = min(cutoff, int(hi - lo))
                gained = gain[self.order[:, lo : lo + top]] * (np.arange(top) < self.returned[:, q, None])
                total += gained @ discount[:top] / (np.sort(gain)[::-1][:top] @ discount[:top])
                count += 1
        return total / count if count else np.full(self.n_arms, np.nan)


def line_up(
    queries: Iterable[Query],
    rankers: Sequence[Ranker | Callable[[Query], Any]] | None = None,
    *,
    direction: str = "descending",
    seed: int = 0,
) -> Lineup:
    """Rank every query's documents by every ranker.

    Documents of equal score are ordered at random, by one order per query that all rankers share: so a constant
    feature is a random ranker, two constant features are the same one, and the order of a file, which may tell the
    grades, never counts. A document of score -inf is not returned: the ranker never shows it, nor has credit for it.

    Parameters
    ----------
    queries
        The judged queries.
    rankers
        The rankers; without them, each feature is one.
    direction
        That of the features: "descending" (largest first), "ascending", or "both" for two rankers each.
    seed
        Of the order of equal scores.

    Returns
    -------
    Lineup
        For ``click_problem``, or to compare rankers by NDCG.

    Examples
    --------
    >>> from multiduel.rankers import generate
    >>> line_up(generate(queries=3, documents=10, features=2))
    Lineup(2 rankers, 3 queries, 39 documents)
    """
    if direction not in DIRECTIONS:
        raise BadInput(f"'direction' must be one of {', '.join(DIRECTIONS)}. Got {direction!r}.")
    named = None if rankers is None else [_named(k, ranker) for k, ranker in enumerate(rankers)]
    if named is not None and not named:
        raise BadInput("At least one ranker is needed. Got none.")
    ids: list[str] = []
    first = ""  # a document's name
    grades: list[Ints] = []
    orders: list[Positions] = []
    ties: list[NDArray[np.int64]] = []
    columns: list[Ints] = []
    returned: list[Ints] = []
    for q, query in enumerate(each(queries)):
        shuffled = np.random.default_rng([seed, q]).permutation(len(query.grades))
        scores = query.features.T if named is None else np.array([_scores(ranker, query) for ranker in named])
        returned.append((scores > -np.inf).sum(axis=1))
        best_first = np.argsort(-scores[:, shuffled], axis=1, kind="stable")
        columns.append(query.columns() if named is None else np.arange(len(scores)))
        first = first or query.documents[0]
        ids.append(query.id)
        grades.append(np.asarray(query.grades, np.int64))
        orders.append(shuffled[best_first].astype(np.int16))
        if named is None and direction != "descending":
            upward = shuffled[np.argsort(scores[:, shuffled], axis=1, kind="stable")].astype(np.int16)
            orders[-1] = upward if direction == "ascending" else np.stack([orders[-1], upward], 1)
        ties.append(shuffled)
    if not ids:
        raise BadInput("At least one query is needed. Got none.")
    present = np.unique(np.concatenate(columns))
    if len(present) == 0:
        raise BadInput("At least one feature is needed. Got documents without any.")
    for q, order in enumerate(orders):
        if len(order) < len(present):  # features that this query does not mention are 0: constant
            orders[q] = np.empty((len(present), *order.shape[1:]), np.int16)
            orders[q][...] = ties[q]
            orders[q][np.searchsorted(present, columns[q])] = order
    order = np.concatenate([order.reshape(-1, order.shape[-1]) for order in orders], axis=1)
    offset = np.concatenate([[0], np.cumsum([len(g) for g in grades])])
    names = tuple(r.name for r in named) if named is not None else _feature_names(present, direction)
    _check_names(names)
    sizes = np.diff(offset)
    counts = np.stack(returned, 1) if named is not None else np.broadcast_to(sizes, (len(names), len(sizes)))
    for name, count in zip(names, counts.max(axis=1), strict=True):
        if count == 0:
            raise BadInput(
                f"Ranker '{name}' must return a document of at least one of the {len(ids)} queries. It returned none: do its "
                f"query ids look like '{ids[0]}', and its documents like '{first}'?"
            )
    return Lineup(names, tuple(ids), offset, np.concatenate(grades), order, _inverse(order, offset), counts.astype(np.int16))


def _check_names(names: tuple[str, ...]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadInput(f"Rankers must have different names. Got '{name}' twice.")
        seen.add(name)


def _inverse(order: Positions, offset: Ints) -> Positions:
    rank = np.empty_like(order)
    for lo, hi in itertools.pairwise(offset):
        places = np.broadcast_to(np.arange(hi - lo, dtype=np.int16), (len(order), hi - lo))
        np.put_along_axis(rank[:, lo:hi], order[:, lo:hi].astype(np.int64), places, axis=1)
    return rank


def _feature_names(present: Ints, direction: str) -> tuple[str, ...]:
    ends = {"descending": ("",), "ascending": ("-asc",), "both": ("", "-asc")}[direction]
    return tuple(f"f{f}{end}" for f in present for end in ends)


def _named(k: int, ranker: Ranker | Callable[[Query], Any]) -> Ranker:
    if isinstance(ranker, Ranker):
        return ranker
    if not callable(ranker):
        raise BadInput(f"Ranker {k} must be a Ranker or a function from a query to scores. Got {ranker!r}.")
    name = getattr(ranker, "__name__", "")
    return Ranker(name if name and name != "<lambda>" else f"ranker {k}", ranker)


def _scores(ranker: Ranker, query: Query) -> Floats:
    try:
        scores = np.asarray(ranker.score(query), np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"Ranker '{ranker.name}' must return numbers for query '{query.id}'. {error}.") from None
    if scores.shape != (len(query.grades),) or np.isnan(scores).any():
        raise BadInput(
            f"Ranker '{ranker.name}' must return one number per document, {len(query.grades)} for query '{query.id}'. "
            f"Got shape {scores.shape}{' with nan' if np.isnan(scores).any() else ''}."
        )
    return scores
