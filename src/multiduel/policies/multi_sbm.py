"""MultiSBM: a walk over the arms, each with a bandit of its own that looks for whoever beats it.

Paper      Ailon, Karnin, Joachims. Reducing Dueling Bandits to Cardinal Bandits. ICML 2014, Algorithm 2.
Assumes    utilities with a linear link, or a finite gamma of Property 1.
Symbols    K arms, S_x the singleton bandit machine of left arm x, x_t left arm, y_t right arm, b = 1 if y_t won.
Deviates   nothing. ``coin = half`` feeds a self-duel's mean, 1/2, in place of a coin.

    S_x <- new SBM for every arm x; Reset(S_x); y_0 <- arbitrary arm
    for t = 1, 2, ...
      x_t <- y_{t-1}
      y_t <- Advance(S_{x_t})
      play (x_t, y_t); observe b
      Feedback(S_{x_t}, b)

>>> from multiduel import make
>>> len(make("multi-sbm", n_arms=5, seed=0, machine="thompson").ask().arms) <= 2
True
"""

from __future__ import annotations

from typing import Any, NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.contract import PolicySpec, ask, init, recommend, tell, valid
from multiduel.machines import ucb, walk
from multiduel.machines.contract import feedback


class Params(NamedTuple):
    machine: Any = ucb.Params()  # the SBM
    coin: int = walk.TOSS  # what a self-duel feeds back


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> walk.State:
    return walk.start(params.machine, n_arms, rng)


@valid.implement(Params)
def sound(params: Params, state: walk.State, n_arms: int, round: int) -> dict[str, Any]:
    return {"S": valid(params.machine, state.S, n_arms, round), "y": validity.arms(state.y, n_arms)}


@ask.implement(Params)
def choose(params: Params, state: walk.State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    return walk.step(params.machine, params.coin, state, rng, round, limit, slate)


@tell.implement(Params)
def learn(params: Params, state: walk.State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    feedback(params.machine, state.S, slate[0], slate[1], wins[1, 0], wins[0, 1], rng)


@recommend.implement(Params)
def bet(params: Params, state: walk.State) -> int:
    return walk.bet(params.machine, state)


SPEC = PolicySpec(
    name="multi-sbm",
    title="MultiSBM",
    params=Params,
    cite="ailon2014",
    slate="two",
    assumes="utilities with a linear link, or a finite gamma of Property 1",
    regret="O(ln T)",
    use="To compare with the literature; MultiSBM-Feedback learns the same with fewer duels.",
    blind="a machine learns only from the arms that it advanced",
    commits="distribution",
    parameters=walk.PARAMETERS,
)
