"""WS-S, Winner Stays for strong regret: rounds of WS-W, each followed by a longer stretch of its winner alone.

Paper      Chen, Frazier. Dueling Bandits with Weak Regret. ICML 2017, Algorithm 2.
Assumes    a Condorcet winner; better constants with a total order.
Symbols    K arms, C_i wins minus losses of arm i, beta growth of the stretches, r number of the WS-W round, Z its
           winner.
Deviates   nothing.

    for r = 1, 2, ...
      play WS-W until all arms but one, Z, have C = -r
      play (Z, Z) floor(beta^r) times

The bound needs 1 < beta < p / (1 - p), p the smallest of the winning chances above 1/2. A stretch is one commitment.

>>> from multiduel import make
>>> len(make("ws-s", n_arms=5, seed=0).ask().arms)
2
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from multiduel.kernels.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import FOREVER, Parameter, PolicySpec, ask, init, recommend, tell
from multiduel.kernels.winner_stays import Standings, count_duel, duel_of_leaders, leader, no_standings

R, LEFT, Z = 0, 1, 2  # places in `stretch`


class Params(NamedTuple):
    beta: float = 1.1


class State(NamedTuple):
    standings: Standings
    stretch: Ints  # i8[3]  r, rounds left of the stretch of (Z, Z), Z


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> State:
    return State(no_standings(n_arms), np.array([1, 0, 0]))


@ask.implement(Params)
def choose(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
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


@tell.implement(Params)
def learn(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    count_duel(state.standings, slate, wins)


@recommend.implement(Params)
def bet(params: Params, state: State) -> int:
    return leader(state.standings)


SPEC = PolicySpec(
    name="ws-s",
    title="WS-S",
    params=Params,
    cite="chen2017",
    slate="two",
    assumes="a Condorcet winner",
    regret="O(K^2 + K ln T)",
    use="A very simple rule for two options at a time that still settles on the best option; as good as RMED1 with many options.",
    parameters={"beta": Parameter(meaning="the winner of round r is used floor(beta^r) times", above=1.0)},
)
