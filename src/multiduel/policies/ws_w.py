"""WS-W, Winner Stays for weak regret: the winner of a duel stays and meets the next arm.

Paper      Chen, Frazier. Dueling Bandits with Weak Regret. ICML 2017, Algorithm 1.
Assumes    a Condorcet winner; better constants with a total order.
Symbols    K arms, C_i wins minus losses of arm i.
Deviates   nothing.

    for t = 1, 2, ...
      i <- argmax C;            in a tie the last duel's first arm, else its second, else at random
      j <- argmax C without i;  in a tie the last duel's second arm, else its first, else at random
      play (i, j);  the winner's C + 1, the loser's C - 1

It never plays an arm against itself: the best arm is soon in every duel, so that weak regret stays bounded.

>>> from multiduel import make
>>> len(make("ws-w", n_arms=5, seed=0).ask().arms)
2
"""

from __future__ import annotations

from typing import NamedTuple

from multiduel.kernels.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import PolicySpec, ask, init, recommend, tell
from multiduel.kernels.winner_stays import Standings, count_duel, duel_of_leaders, leader, no_standings


class Params(NamedTuple):
    pass


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> Standings:
    return no_standings(n_arms)


@ask.implement(Params)
def choose(params: Params, state: Standings, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    n = duel_of_leaders(state, rng, slate)
    return n, (1 if n == 2 else limit)  # K = 1: nothing to learn


@tell.implement(Params)
def learn(params: Params, state: Standings, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    count_duel(state, slate, wins)


@recommend.implement(Params)
def bet(params: Params, state: Standings) -> int:
    return leader(state)


SPEC = PolicySpec(
    name="ws-w",
    title="WS-W",
    params=Params,
    cite="chen2017",
    slate="two",
    assumes="a Condorcet winner",
    regret="weak regret O(K^2), constant in T; average regret linear",
    use="When it is enough that the best option is one of the two shown, and the other costs nothing.",
)
