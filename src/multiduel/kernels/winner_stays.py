"""The duel of Winner Stays: the two arms with the most net wins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from multiduel.kernels.arrays import Floats, Ints, Stream
from multiduel.kernels.dispatch import kernel
from multiduel.kernels.random import below

NONE = -1


class Standings(NamedTuple):
    C: Floats  # f8[K]  wins minus losses
    last: Ints  # i8[2]  the arms of the last duel, or NONE


def no_standings(n_arms: int) -> Standings:
    return Standings(np.zeros(n_arms), np.full(2, NONE))


@kernel
def _top(C: Floats, without: int, first: int, second: int, rng: Stream) -> int:
    """argmax of C over the arms but ``without``; in a tie ``first``, else ``second``, else at random."""
    best = -np.inf
    for i in range(C.shape[0]):
        best = C[i] if C[i] > best and i != without else best
    if first != NONE and first != without and C[first] == best:
        return first
    if second != NONE and second != without and C[second] == best:
        return second
    tied = 0
    for i in range(C.shape[0]):
        tied += 1 if C[i] == best and i != without else 0
    skip = below(rng, tied) if tied > 1 else 0
    for i in range(C.shape[0]):
        if i != without and C[i] == best:
            if skip == 0:
                return i
            skip -= 1
    return 0


@kernel
def duel_of_leaders(standings: Standings, rng: Stream, slate: Ints) -> int:
    """Seat the two arms with the highest C; in ties the arms of the last duel. Returns how many: 1 only if K = 1."""
    C, last = standings.C, standings.last
    i = _top(C, NONE, last[0], last[1], rng)
    slate[0] = i
    if C.shape[0] == 1:
        return 1
    j = _top(C, i, last[1], last[0], rng)
    slate[1] = j
    last[0] = i
    last[1] = j
    return 2


@kernel
def count_duel(standings: Standings, slate: Ints, wins: Floats) -> None:
    net = wins[0, 1] - wins[1, 0]
    standings.C[slate[0]] += net
    standings.C[slate[1]] -= net


@kernel
def leader(standings: Standings) -> int:
    best = 0
    for i in range(standings.C.shape[0]):
        best = i if standings.C[i] > standings.C[best] else best
    return best
