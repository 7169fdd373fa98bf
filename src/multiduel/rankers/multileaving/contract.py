"""What a multileaving method is: a way to lay out one list from several rankings, and a way to read clicks on it.

Documents of a query are 0 .. D-1. A slate of n rankers sits at places 0 .. n-1. What a ranker did not return stands at the end of
its list as padding, which it never shows and is never credited for: a ranker with nothing left passes, and a page ends early
when nobody has anything left.

Between laying out and judging nothing is kept but ``evidence``, one row per slot and perhaps some below: one number per place,
and one of the slot itself. So a search engine can send it along with the page and judge whenever the clicks come in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import generic, kernel

Positions = NDArray[np.int16]
Flags = NDArray[np.uint8]

NOWHERE = 1e9  # the rank, as evidence, of a document that a ranker did not return
EMPTY = 2e9  # the same for a ranker that returned nothing at all


class Lists(NamedTuple):
    """What the rankers of a slate return for one query."""

    order: Positions  # i2[rankers, D]  each ranker's documents, best first
    rank: Positions  # i2[rankers, D]  its inverse: where each document stands, from 0
    rows: Ints  # i8[n]  the ranker at each place
    own: Ints  # i8[n]  how many of its documents it returned; the rest is padding
    taken: Flags  # u1[D]  scratch: comes and goes all 0


@generic
def lay_out(method: Any, rng: Stream, lists: Lists, shown: Ints, evidence: Floats) -> int:
    """Write the documents to show into ``shown`` and the evidence of each slot; return how many are shown.

    The list is as long as ``shown``, or shorter when fewer documents were returned.
    ``evidence`` is f8[slots + n, n + 1]: below the page's rows a method may write some of documents that found no slot; they end
    with the array, or where the number of the slot itself is 0.
    """


@generic
def judge(method: Any, evidence: Floats, clicked: Floats, length: int, places: int, wins: Floats) -> None:
    """Add to ``wins[a, b]`` the chance that place a beat place b, given the clicks; a tie is 1/2, both ways make 1.

    ``clicked[k]`` is the weight of the click on slot k, 1 unless somebody says otherwise, and 0 without a click.
    """


@kernel
def top_free(ranking: Positions, at: int, own: int, taken: Flags) -> int:
    """The first position from ``at`` on whose document is not taken; ``own`` if the ranker has nothing left."""
    while at < own and taken[ranking[at]] != 0:
        at += 1
    return at


@kernel
def page_length(lists: Lists, slots: int) -> int:
    """How many documents can be shown: as many as there are slots, or all that anybody returned."""
    order, _, rows, own, taken = lists
    for a in range(rows.shape[0]):
        if own[a] >= slots:
            return slots
    count = 0
    for a in range(rows.shape[0]):
        for at in range(own[a]):
            count += 1 if taken[order[rows[a], at]] == 0 else 0
            taken[order[rows[a], at]] = 1
    for a in range(rows.shape[0]):
        for at in range(own[a]):
            taken[order[rows[a], at]] = 0
    return min(slots, count)


@kernel
def refresh(lists: Lists, next: Ints) -> int:
    """Move ``next`` to each place's best free document; return how many places have one."""
    order, _, rows, own, taken = lists
    able = 0
    for a in range(rows.shape[0]):
        next[a] = top_free(order[rows[a]], next[a], own[a], taken)
        able += 1 if next[a] < own[a] else 0
    return able


@kernel
def nth_able(next: Ints, own: Ints, n: int) -> int:
    """The place that is number ``n``, from 0, of those that have a document left."""
    place = -1
    while n >= 0:
        place += 1
        n -= 1 if next[place] < own[place] else 0
    return place


@kernel
def note_ranks(lists: Lists, document: int, row: Floats) -> None:
    """Write as evidence the rank, from 1, of the document in the ranking at each place."""
    for a in range(lists.rows.shape[0]):
        at = int(lists.rank[lists.rows[a], document])
        row[a] = at + 1.0 if at < lists.own[a] else (NOWHERE if lists.own[a] > 0 else EMPTY)


@kernel
def release(taken: Flags, shown: Ints, length: int) -> None:
    for k in range(length):
        taken[shown[k]] = 0


@kernel
def more_credit_wins(credit: Floats, evidence: Floats, clicked: Floats, length: int, places: int, wins: Floats) -> None:
    """A place's credit is its evidence summed over clicked slots, by weight; more wins, equal is a tie. ``credit`` is scratch."""
    for a in range(places):
        credit[a] = 0.0
        for k in range(length):
            credit[a] += clicked[k] * evidence[k, a]
        for b in range(a):
            more_wins(credit[a], credit[b], a, b, wins)


@kernel
def more_wins(of_a: float, of_b: float, a: int, b: int, wins: Floats) -> None:
    """The duel of two places: more wins, equal is a tie."""
    won = 1.0 if of_a > of_b else (0.5 if of_a == of_b else 0.0)
    wins[a, b] += won
    wins[b, a] += 1.0 - won
