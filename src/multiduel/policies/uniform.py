"""Uniform: compare m arms drawn at random, every round. It learns who wins, and never uses it: the yardstick.

Paper      none: random play.
Assumes    nothing.
Symbols    K arms, m seats, W[i, j] wins of i over j.
Deviates   nothing.

    for t = 1, 2, ...
      A <- m arms, uniformly from all; compare all pairs of A; update W

>>> from multiduel import make
>>> make("uniform", n_arms=5, slate_size=3, seed=0).ask().round
1
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import draw_distinct, most_winning
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.tallies import count_wins


class Params(NamedTuple):
    slate_size: int = 2  # m


class State(NamedTuple):
    W: Floats  # f8[K, K]  wins of i over j
    pool: Ints  # i8[K]     scratch


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    return State(np.zeros((n_arms, n_arms)), np.zeros(n_arms, np.int64))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    return {"W": validity.tally(state.W), "pool": validity.SCRATCH}


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    pool = state.pool
    for i in range(pool.shape[0]):
        pool[i] = i
    draw_distinct(pool, pool.shape[0], params.slate_size, slate, 0, rng)
    return params.slate_size, 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    count_wins(state.W, slate, wins)


@implement(Params)
def recommend(params: Params, state: State) -> int:
    return most_winning(state.W)


SPEC = PolicySpec(
    name="uniform",
    title="Uniform",
    params=Params,
    cite="none",
    slate="any",
    assumes="nothing",
    regret="linear",
    use="Only as a yardstick, or when every option must be measured equally well.",
    parameters={"slate_size": Parameter(meaning="arms compared in one round", at_least=1)},
    exceptions={"beats-uniform": "it is uniform play"},
)
