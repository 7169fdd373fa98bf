"""Beat-the-Mean (PAC): find an arm within epsilon of the best, with probability 1 - delta, and stay with it.

Paper      Yue, Joachims. Beat the Mean Bandit. ICML 2011, Algorithm 1 with the settings of its PAC version.
Assumes    a total order, relaxed stochastic transitivity (gamma), the stochastic triangle inequality.
Symbols    K arms, A the active ones, n_b comparisons that b initiated, w_b its wins in them, phat_b = w_b / n_b (1/2
           if none), N the smallest whole number with N >= 36 gamma^6 ln(K^3 N / delta) / epsilon^2, c(n) = constant
           gamma^2 sqrt(ln(K^3 N / delta) / n) the radius, c(0) = 1.
Deviates   having found its arm it plays it for good. The constant is 3 in the paper.

    A <- all arms
    while |A| > 1 and min n over A < N:  explore as BTM does
    return argmax phat over A, ties at random;  play it to the end

>>> from multiduel import make
>>> make("beat-the-mean-pac", n_arms=5, seed=0, epsilon=0.2).ask().round
1
"""

from __future__ import annotations

import math
from typing import NamedTuple

from multiduel.kernels import beat_the_mean
from multiduel.kernels.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import Parameter, PolicySpec, ask, init, recommend, tell


class Params(NamedTuple):
    epsilon: float = 0.1
    delta: float = 0.05
    gamma: float = 1.0
    constant: float = 3.0  # of the radius
    self_duels: bool = True


def comparisons_enough(params: Params, n_arms: int) -> float:
    """N. The right side grows like ln N, so that repeating N <- right side climbs to the smallest solution."""
    scale = 36.0 * params.gamma**6 / params.epsilon**2
    N = 1.0
    while True:
        needed = math.ceil(scale * math.log(n_arms**3 * N / params.delta))
        if needed <= N:
            return N
        N = float(needed)


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> beat_the_mean.State:
    N = comparisons_enough(params, n_arms)
    log_error = math.log(n_arms**3 * N / params.delta)
    return beat_the_mean.start(params.constant * params.gamma**2 * math.sqrt(log_error), N, n_arms)


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
    name="beat-the-mean-pac",
    title="Beat-the-Mean (PAC)",
    params=Params,
    cite="yue2011",
    slate="two",
    assumes="a total order with relaxed stochastic transitivity and the stochastic triangle inequality",
    regret="none: O(gamma^6 K / epsilon^2 ln(K N / delta)) comparisons to its choice",
    use="To pick one of few options that is good enough, with a stated error, at any cost of exploring.",
    exceptions={"beats-uniform": "with the paper's constants the first arm leaves only after the rounds of the check"},
    parameters={
        "epsilon": Parameter(meaning="how much worse than the best the choice may be", above=0.0, at_most=0.5),
        "delta": Parameter(meaning="probability of a worse choice", above=0.0, below=1.0),
        "constant": Parameter(meaning="the radius is constant gamma^2 sqrt(ln(K^3 N / delta) / n)", above=0.0),
        **beat_the_mean.PARAMETERS,
    },
)
