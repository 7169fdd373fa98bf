"""IF1: a candidate duels all others in turn; losers leave, and whoever beats it takes its place.

Paper      Yue, Broder, Kleinberg, Joachims. The K-armed Dueling Bandits Problem. JCSS 78, 2012 (COLT 2009), Algorithm
           1.
Assumes    a total order, strong stochastic transitivity, the stochastic triangle inequality; the horizon T.
Symbols    K arms, b the candidate, W the working set, phat_x the share of duels that b won against x, n_x their
           number, delta = 1 / (T K^2), c = sqrt(constant ln(1 / delta) / n_x) the radius.
Deviates   nothing. If several arms dethrone b, the one furthest ahead does, ties at random: the paper says "exists".
           The constant is 4 in the journal version; public codes also use 1.

    b <- an arm drawn uniformly;  W <- the others
    while W is not empty
      for x in W:  duel (b, x); update phat_x, n_x
      remove from W every x with phat_x - c > 1/2
      if some x' in W has phat_x' + c < 1/2:
        b <- x';  W <- W \\ { x' };  forget all phat, n
    play (b, b) to the end

The final self-duels are one commitment. While W holds a single arm, so are all duels that cannot yet decide it.

>>> from multiduel import make
>>> policy = make("if1", n_arms=5, seed=0, horizon=1000)
>>> len(policy.ask().arms)
2
"""

from __future__ import annotations

from typing import NamedTuple

from multiduel.kernels import interleaved_filter
from multiduel.kernels.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import PolicySpec, ask, init, recommend, tell


class Params(NamedTuple):
    horizon: int = 0  # T
    constant: float = 4.0  # of the radius


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> interleaved_filter.State:
    return interleaved_filter.start(params.constant, params.horizon, n_arms, rng)


@ask.implement(Params)
def choose(
    params: Params, state: interleaved_filter.State, rng: Stream, round: int, limit: int, slate: Ints
) -> tuple[int, int]:
    return interleaved_filter.step(state, False, rng, limit, slate)


@tell.implement(Params)
def learn(params: Params, state: interleaved_filter.State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    interleaved_filter.learn(state, slate, wins)


@recommend.implement(Params)
def bet(params: Params, state: interleaved_filter.State) -> int:
    return interleaved_filter.bet(state)


SPEC = PolicySpec(
    name="if1",
    title="IF1 (Interleaved Filter)",
    params=Params,
    cite="yue2012",
    slate="two",
    assumes="a total order with strong stochastic transitivity and the stochastic triangle inequality",
    regret="O(K log K ln T)",
    use="To compare with the literature; IF2 does the same with fewer duels.",
    anytime=False,
    commits="distribution",
    blocks=True,
    parameters=interleaved_filter.PARAMETERS,
)
