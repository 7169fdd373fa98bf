"""Thompson: a singleton bandit machine that plays each arm as often as it believes it the best.

Paper      Agrawal, Goyal. Analysis of Thompson Sampling for the Multi-armed Bandit Problem. COLT 2012, Algorithm 1.
Symbols    S_k wins, F_k losses, theta_k a draw from the belief Beta(S_k + 1, F_k + 1).
Deviates   nothing; the paper's uniform prior Beta(1, 1) is a parameter.

    Advance       theta_k ~ Beta(S_k + 1, F_k + 1) for every arm; return argmax_k theta_k
    Feedback(b)   S_k <- S_k + 1 if b = 1, else F_k <- F_k + 1

``draws = lazy`` holds the race of the thetas by ``kernels.thompson``: the same law, from few draws.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Stream
from multiduel.kernels import validity
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import MachineSpec, Parameter
from multiduel.kernels.race_validity import valid_race
from multiduel.kernels.thompson import DIRECT, DRAWS, LAZY, Race, draw, draw_directly, forget_all, new_race, update_belief
from multiduel.machines.contract import implement


class Params(NamedTuple):
    prior: float = 1.0  # Beta(prior, prior)
    draws: int = DIRECT


class State(NamedTuple):
    races: Race  # a row for every machine: a = S + prior, b = F + prior


@implement(Params)
def allocate(params: Params, rows: int, n_arms: int) -> State:
    one = new_race(n_arms, params.prior)
    return State(one._replace(**{field: np.tile(array, (rows, 1)) for field, array in one._asdict().items()}))


@kernel
def race_of(state: State, row: int) -> Race:
    r = state.races
    return Race(
        r.a[row], r.b[row], r.log_B[row], r.hazard[row], r.slope[row], r.is_open[row], r.opened[row], r.tally[row], r.level[row]
    )


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    """Plain draws use a and b only."""
    races = state.races
    if params.draws == LAZY:
        every = [valid_race(race_of(state, row)) for row in range(len(races.a))]
        return {"races": {name: all(one[name] for one in every) for name in races._fields}}
    beliefs = validity.between(races.a, 1.0, validity.MOST) and validity.between(races.b, 1.0, validity.MOST)
    return {"races": dict.fromkeys(races._fields, beliefs)}


@implement(Params)
def reset(params: Params, state: State, row: int, delta: float, rng: Stream) -> None:
    forget_all(race_of(state, row), params.prior)


@implement(Params)
def advance(params: Params, state: State, row: int, round: int, rng: Stream) -> int:
    if params.draws == LAZY:
        return draw(race_of(state, row), rng)
    return draw_directly(race_of(state, row), rng)


@implement(Params)
def feedback(params: Params, state: State, row: int, arm: int, won: float, lost: float, rng: Stream) -> None:
    if params.draws == LAZY:
        update_belief(race_of(state, row), arm, won, lost)
    else:
        state.races.a[row, arm] += won
        state.races.b[row, arm] += lost


@implement(Params)
def answer(params: Params, state: State, row: int) -> int:
    a, b = state.races.a, state.races.b
    best = 0
    for k in range(1, a.shape[1]):
        if a[row, k] + b[row, k] > a[row, best] + b[row, best]:
            best = k
    return best


SPEC = MachineSpec(
    name="thompson",
    title="Thompson sampling",
    params=Params,
    cite="agrawal2012",
    kind="bandit",
    parameters={"prior": Parameter(meaning="the belief before any duel is Beta(prior, prior)", at_least=1.0), "draws": DRAWS},
)
