"""The walk that MultiSBM and MultiSBM-Feedback share: one bandit per left arm, and yesterday's right arm is today's left."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Ints, Stream
from multiduel.kernels.contract import Parameter
from multiduel.kernels.dispatch import kernel
from multiduel.kernels.random import below, binomial, uniform
from multiduel.machines.contract import advance, allocate, answer, feedback, hold

TOSS, HALF = 0, 1


class State(NamedTuple):
    S: Any  # machine state of K rows: S_x, one per left arm x
    y: Ints  # i8[1]  the last right arm


def start(machine: Any, n_arms: int, rng: Stream) -> State:
    """y_0 is uniform: the paper says arbitrary."""
    return State(allocate(machine, n_arms, n_arms), np.full(1, below(rng, n_arms)))


@kernel
def step(machine: Any, coin: int, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    """x_t <- y_{t-1}; y_t <- Advance(S_x). A self-duel is a fair coin, tossed here; as many in a row as the machine holds
    are tossed as one binomial."""
    x = state.y[0]
    y = advance(machine, state.S, x, round, rng)
    slate[0] = x
    if y != x:
        slate[1] = y
        state.y[0] = y
        return 2, 1
    rounds = hold(machine, state.S, x, x, limit)
    heads = toss(coin, rounds, rng)
    feedback(machine, state.S, x, x, heads, rounds - heads, rng)
    return 1, rounds


@kernel
def toss(coin: int, rounds: int, rng: Stream) -> float:
    """What ``rounds`` self-duels feed back: heads of as many fair coins, or their mean."""
    if coin == HALF:
        return 0.5 * rounds
    if rounds == 1:
        return 1.0 if uniform(rng) < 0.5 else 0.0
    return float(binomial(rng, rounds, 0.5))


@kernel
def bet(machine: Any, state: State) -> int:
    """What the machine of the last right arm answers most: the end of the walk."""
    return answer(machine, state.S, state.y[0])


PARAMETERS = {
    "machine": Parameter(meaning="the singleton bandit machine", machines="bandit"),
    "coin": Parameter(
        meaning="a self-duel feeds back a fair coin (published) or its mean, 1/2", choices={"toss": TOSS, "half": HALF}
    ),
}
