"""Sparring: two bandits, one for the left arm and one for the right, play against each other.

Paper      Ailon, Karnin, Joachims. Reducing Dueling Bandits to Cardinal Bandits. ICML 2014, Algorithm 3.
Assumes    utilities with a linear link.
Symbols    K arms, S_L and S_R the singleton bandit machines, x_t left arm, y_t right arm.
Deviates   nothing. A self-duel is one coin: exactly one of the machines wins. ``coin = half`` feeds 1/2 to both.

    S_L, S_R <- two SBMs over all arms; Reset(S_L); Reset(S_R)
    for t = 1, 2, ...
      x_t <- Advance(S_L);  y_t <- Advance(S_R)
      play (x_t, y_t)
      Feedback(S_L, 1 if x_t won);  Feedback(S_R, 1 if y_t won)

A machine may hold: stay with its arm for a number of rounds, whatever their outcomes. While both hold the same arm
they play self-duels, so those rounds are one commitment and their coins one binomial.

>>> from multiduel import duels, make
>>> policy = make("sparring", n_arms=5, seed=0, machine="thompson")
>>> policy.ask().round
1
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import contract, validity
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import FOREVER, PolicySpec, implement
from multiduel.machines import ucb
from multiduel.machines.contract import advance, allocate, answer, feedback, hold
from multiduel.policies.self_duels import PARAMETERS, TOSS, toss

LEFT, RIGHT = 0, 1


class Params(NamedTuple):
    machine: Any = ucb.Params()  # the SBMs
    coin: int = TOSS  # what a self-duel feeds back


class State(NamedTuple):
    S: Any  # machine state of 2 rows: S_L and S_R
    arm: Ints  # i8[2]  the arm each machine advanced last
    held: Ints  # i8[2]  rounds for which it is still held


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    return State(allocate(params.machine, 2, n_arms), np.zeros(2, np.int64), np.zeros(2, np.int64))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    return {
        "S": contract.valid(params.machine, state.S, n_arms, round),
        "arm": validity.arms(state.arm, n_arms),
        "held": validity.counts(state.held, FOREVER),
    }


@kernel
def next_arm(params: Params, state: State, side: int, round: int, rng: Stream) -> int:
    """The arm held, or Advance(S) and the rounds it is held for."""
    if state.held[side] == 0:
        state.arm[side] = advance(params.machine, state.S, side, round, rng)
        state.held[side] = hold(params.machine, state.S, side, state.arm[side], FOREVER)
    return state.arm[side]


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    held = state.held
    x = next_arm(params, state, LEFT, round, rng)
    y = next_arm(params, state, RIGHT, round, rng)
    rounds = min(held[LEFT], held[RIGHT], limit) if x == y else 1
    held[LEFT] -= rounds
    held[RIGHT] -= rounds
    slate[0] = x
    if x == y:
        heads = toss(params.coin, rounds, rng)
        feedback(params.machine, state.S, LEFT, x, heads, rounds - heads, rng)
        feedback(params.machine, state.S, RIGHT, x, rounds - heads, heads, rng)
        return 1, rounds
    slate[1] = y
    return 2, 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    feedback(params.machine, state.S, LEFT, slate[0], wins[0, 1], wins[1, 0], rng)
    feedback(params.machine, state.S, RIGHT, slate[1], wins[1, 0], wins[0, 1], rng)


@implement(Params)
def recommend(params: Params, state: State) -> int:
    return answer(params.machine, state.S, LEFT)


SPEC = PolicySpec(
    name="sparring",
    title="Sparring",
    params=Params,
    cite="ailon2014",
    slate="two",
    assumes="utilities with a linear link",
    regret="none proved",
    use="Two options at a time when hidden qualities stand behind them; the strongest of its paper in practice.",
    blind="a machine learns only from the arms that it advanced, against those of the other machine",
    commits="distribution",
    parameters=PARAMETERS,
)
