"""What a multileaving method is: a way to lay out one list from several rankings, and a way to read clicks on it.

Documents of a query are 0 .. D-1. ``order[i]`` is ranker i's list, best first; ``rank[i]`` its inverse, from 0. A
slate of n rankers sits at places 0 .. n-1; ``rows[a]`` is the ranker at place a.

Between laying out and judging nothing is kept but ``evidence``, one row per slot and one number per place, so that a
search engine can send it along with the page and judge whenever the clicks come in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.dispatch import generic, kernel

Positions = NDArray[np.int16]
Flags = NDArray[np.uint8]


@generic
def lay_out(
    method: Any, rng: Stream, order: Positions, rank: Positions, rows: Ints, taken: Flags, shown: Ints, evidence: Floats
) -> int:
    """Write the documents to show into ``shown`` and the evidence of each slot; return how many are shown.

    ``taken`` (u1[D]) comes and goes all 0. The list is as long as ``shown``, or shorter when there are fewer documents.
    """


@generic
def judge(method: Any, evidence: Floats, clicked: Flags, length: int, places: int, wins: Floats) -> None:
    """Add to ``wins[a, b]`` the chance that place a beat place b, given the clicks; a tie is 1/2, both ways make 1."""


@kernel
def top_free(ranking: Positions, at: int, taken: Flags) -> int:
    """The first position from ``at`` on whose document is not taken; one always is."""
    while taken[ranking[at]] != 0:
        at += 1
    return at


@kernel
def release(taken: Flags, shown: Ints, length: int) -> None:
    for k in range(length):
        taken[shown[k]] = 0


@kernel
def more_credit_wins(credit: Floats, evidence: Floats, clicked: Flags, length: int, places: int, wins: Floats) -> None:
    """A place's credit is its evidence summed over clicked slots; more wins, equal is a tie. ``credit`` is scratch."""
    for a in range(places):
        credit[a] = 0.0
        for k in range(length):
            if clicked[k] != 0:
                credit[a] += evidence[k, a]
        for b in range(a):
            won = 1.0 if credit[a] > credit[b] else (0.5 if credit[a] == credit[b] else 0.0)
            wins[a, b] += won
            wins[b, a] += 1.0 - won
