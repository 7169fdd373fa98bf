"""Winner Stays, WS-W and WS-S: the winner of a duel stays and meets the next arm.

Paper      Chen, Frazier. Dueling Bandits with Weak Regret. ICML 2017, Algorithms 1 (WS-W, for weak regret) and 2 (WS-S,
           for strong regret).
Assumes    a Condorcet winner; better constants with a total order.
Symbols    K arms, C_i wins minus losses of arm i; WS-S: r number of the WS-W round, Z its winner, beta growth of the
           stretches.
Deviates   nothing.

    WS-W   for t = 1, 2, ...
             i <- argmax C;            in a tie the last duel's first arm, else its second, else at random
             j <- argmax C without i;  in a tie the last duel's second arm, else its first, else at random
             play (i, j);  the winner's C + 1, the loser's C - 1

    WS-S   for r = 1, 2, ...
             play WS-W until all arms but one, Z, have C = -r
             play (Z, Z) floor(beta^r) times

WS-W never plays an arm against itself: the best arm is soon in every duel, so that weak regret stays bounded. WS-S needs
1 < beta < p / (1 - p), p the smallest of the winning chances above 1/2; a stretch is one commitment.

>>> from multiduel import make
>>> len(make("ws-w", n_arms=5, seed=0).ask().arms), len(make("ws-s", n_arms=5, seed=0).ask().arms)
(2, 2)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import FOREVER, Parameter, PolicySpec, ask, init, recommend, tell, valid
from multiduel.kernels.random import below

NONE = -1
R, LEFT, Z = 0, 1, 2  # places in `stretch`


class WSW(NamedTuple):
    pass


class WSS(NamedTuple):
    beta: float = 1.1


class Standings(NamedTuple):
    C: Floats  # f8[K]  wins minus losses
    last: Ints  # i8[2]  the arms of the last duel, or NONE


class Stretches(NamedTuple):
    standings: Standings
    stretch: Ints  # i8[3]  r, rounds left of the stretch of (Z, Z), Z


def no_standings(n_arms: int) -> Standings:
    return Standings(np.zeros(n_arms), np.full(2, NONE))


def valid_standings(standings: Standings) -> dict[str, Any]:
    C = standings.C
    return {"C": validity.counts(np.abs(C)), "last": validity.arms(standings.last, len(C), none=True)}


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
    skip = below(tied, rng) if tied > 1 else 0
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


# WS-W


@init.implement(WSW)
def init_ws_w(params: WSW, n_arms: int, rng: Stream) -> Standings:
    return no_standings(n_arms)


@valid.implement(WSW)
def valid_ws_w(params: WSW, state: Standings, n_arms: int, round: int) -> dict[str, Any]:
    return valid_standings(state)


@ask.implement(WSW)
def ask_ws_w(params: WSW, state: Standings, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    n = duel_of_leaders(state, rng, slate)
    return n, (1 if n == 2 else limit)  # K = 1: nothing to learn


@tell.implement(WSW)
def tell_ws_w(params: WSW, state: Standings, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    count_duel(state, slate, wins)


@recommend.implement(WSW)
def recommend_ws_w(params: WSW, state: Standings) -> int:
    return leader(state)


# WS-S


@init.implement(WSS)
def init_ws_s(params: WSS, n_arms: int, rng: Stream) -> Stretches:
    return Stretches(no_standings(n_arms), np.array([1, 0, 0]))


@valid.implement(WSS)
def valid_ws_s(params: WSS, state: Stretches, n_arms: int, round: int) -> dict[str, Any]:
    r, left, z = state.stretch.tolist()
    return {
        "standings": valid_standings(state.standings),
        "stretch": 1 <= r <= validity.MOST and 0 <= left <= FOREVER and validity.arms(z, len(state.standings.C)),
    }


@ask.implement(WSS)
def ask_ws_s(params: WSS, state: Stretches, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    C, stretch = state.standings.C, state.stretch
    if stretch[LEFT] == 0:
        beaten = 0
        for i in range(C.shape[0]):
            beaten += 1 if C[i] <= -stretch[R] else 0
        if beaten < C.shape[0] - 1:
            return duel_of_leaders(state.standings, rng, slate), 1
        length = stretch[R] * math.log(params.beta)  # its logarithm
        stretch[LEFT] = FOREVER if length > 42.0 else int(math.pow(params.beta, float(stretch[R])))
        stretch[Z] = leader(state.standings)
        stretch[R] += 1
    rounds = min(stretch[LEFT], limit)
    stretch[LEFT] -= rounds
    slate[0] = stretch[Z]
    return 1, rounds


@tell.implement(WSS)
def tell_ws_s(params: WSS, state: Stretches, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    count_duel(state.standings, slate, wins)


@recommend.implement(WSS)
def recommend_ws_s(params: WSS, state: Stretches) -> int:
    return leader(state.standings)


WSW_SPEC = PolicySpec(
    name="ws-w",
    title="WS-W",
    params=WSW,
    cite="chen2017",
    slate="two",
    assumes="a Condorcet winner",
    regret="weak regret O(K^2), constant in T; average regret linear",
    use="When it is enough that the best option is one of the two shown, and the other costs nothing.",
)

WSS_SPEC = PolicySpec(
    name="ws-s",
    title="WS-S",
    params=WSS,
    cite="chen2017",
    slate="two",
    assumes="a Condorcet winner",
    regret="O(K^2 + K ln T)",
    use="A very simple rule for two options at a time that still settles on the best option; as good as RMED1 with many options.",
    parameters={"beta": Parameter(meaning="the winner of round r is used floor(beta^r) times", above=1.0)},
)
