"""BTM (Beat the Mean): every arm meets the average of those left, and whoever falls behind leaves.

Paper      Yue, Joachims. Beat the Mean Bandit. ICML 2011, Algorithm 1 with the settings for regret.
Assumes    a total order, relaxed stochastic transitivity (gamma), the stochastic triangle inequality; the horizon T.
Symbols    K arms, A the active ones, n_b comparisons that b initiated, w_b its wins in them, phat_b = w_b / n_b (1/2
           if none), delta = 1 / (2 T K), c(n) = constant gamma^2 sqrt(ln(1 / delta) / n) the radius, c(0) = 1.
Deviates   nothing. constant = 0 stands for the paper's: 3, or 1 where gamma = 1. Public codes drop the 3 at other
           gammas too, and some exclude the arm itself from its mean (``self_duels = false``).

    A <- all arms
    while |A| > 1
      b <- argmin n_b over A, ties at random;  b' <- uniformly from A
      duel (b, b');  n_b <- n_b + 1;  w_b <- w_b + 1 if b won
      c* <- c(min n over A)
      if min phat + c* <= max phat - c*:
        drop the arm z with the smallest phat, ties at random; delete all comparisons with z
    play (a, a) to the end, A = { a }

Fewest comparisons are counted as asked, so that late answers do not pile up on one arm. The end is one commitment.

>>> from multiduel import make
>>> make("btm", n_arms=5, seed=0, horizon=1000, gamma=1.2).ask().round
1
"""

from __future__ import annotations

import math
from typing import NamedTuple

from multiduel.kernels import beat_the_mean
from multiduel.kernels.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import Parameter, PolicySpec, ask, init, recommend, tell


class Params(NamedTuple):
    horizon: int = 0  # T
    gamma: float = 1.0
    constant: float = 0.0  # of the radius; 0: 3 if gamma > 1, else 1
    self_duels: bool = True


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> beat_the_mean.State:
    constant = params.constant if params.constant > 0.0 else (3.0 if params.gamma > 1.0 else 1.0)
    log_error = math.log(2.0) + math.log(float(max(params.horizon, 1))) + math.log(float(n_arms))
    return beat_the_mean.start(constant * params.gamma**2 * math.sqrt(log_error), math.inf, n_arms)


@ask.implement(Params)
def choose(
    params: Params, state: beat_the_mean.State, rng: Stream, round: int, limit: int, slate: Ints
) -> tuple[int, int]:
    return beat_the_mean.step(state, params.self_duels, rng, limit, slate)


@tell.implement(Params)
def learn(params: Params, state: beat_the_mean.State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    beat_the_mean.learn(state, slate[0], slate[1], wins[0, 1], wins[1, 0], rng)


@recommend.implement(Params)
def bet(params: Params, state: beat_the_mean.State) -> int:
    return beat_the_mean.bet(state)


SPEC = PolicySpec(
    name="btm",
    title="BTM (Beat the Mean)",
    params=Params,
    cite="yue2011",
    slate="two",
    assumes="a total order with relaxed stochastic transitivity and the stochastic triangle inequality",
    regret="O(gamma^7 K ln T)",
    use="A known number of rounds and options in a roughly clear order; it settles for good on one of them.",
    anytime=False,
    parameters={
        "horizon": Parameter(meaning="T, the number of rounds to be played", at_least=1),
        "constant": Parameter(
            meaning="the radius is constant gamma^2 sqrt(ln(2 T K) / n); 0 stands for 3, or 1 where gamma = 1",
            at_least=0.0,
        ),
        **beat_the_mean.PARAMETERS,
    },
)
