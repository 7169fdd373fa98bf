"""KL-UCB: a singleton bandit machine with the confidence bound of the Bernoulli relative entropy.

Paper      Garivier, Cappe. The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond. COLT 2011, Algorithm 1.
Symbols    mu_k mean outcome of arm k, n_k its feedbacks, tau 1 + advances, c weight of the ln ln term.
Deviates   nothing.

    Advance       play every arm once; then argmax_k max{ q : n_k kl(mu_k, q) <= ln tau + c ln ln tau }, ties at random
    Feedback(b)   mu_k <- (mu_k n_k + b) / (n_k + 1)

By Pinsker's inequality mu_k + sqrt(level / (2 n_k)) is never below the index, so an index is solved for only where that
bound reaches the best index so far; the most played arm is solved first.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmax
from multiduel.kernels.confidence import kl_upper
from multiduel.kernels.contract import MachineSpec, Parameter
from multiduel.machines.contract import implement


class Params(NamedTuple):
    c: float = 0.0  # 3 in the theorem, 0 in the paper's experiments


class State(NamedTuple):
    S: Floats  # f8[rows, K]  wins of k
    N: Floats  # f8[rows, K]  n_k
    tau: Ints  # i8[rows]     1 + advances
    lead: Ints  # i8[rows]     the arm played most
    indices: Floats  # f8[K]        scratch


@implement(Params)
def allocate(params: Params, rows: int, n_arms: int) -> State:
    grid = (rows, n_arms)
    return State(np.zeros(grid), np.zeros(grid), np.ones(rows, np.int64), np.zeros(rows, np.int64), np.zeros(n_arms))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    return {
        "S": validity.between(state.S, 0.0, state.N),
        "N": validity.counts(state.N),
        "tau": validity.between(state.tau, 1, validity.MOST),
        "lead": validity.arms(state.lead, state.N.shape[1]),
        "indices": validity.SCRATCH,
    }


@implement(Params)
def reset(params: Params, state: State, row: int, delta: float, rng: Stream) -> None:
    for k in range(state.S.shape[1]):
        state.S[row, k] = 0.0
        state.N[row, k] = 0.0
    state.tau[row] = 1
    state.lead[row] = 0


@implement(Params)
def advance(params: Params, state: State, row: int, round: int, rng: Stream) -> int:
    tau = float(state.tau[row])
    state.tau[row] += 1
    level = math.log(tau)
    if params.c != 0.0 and level > 1.0:  # ln ln tau counts only once it is positive
        level += params.c * math.log(level)
    lead = state.lead[row]
    best = 0.0
    if state.N[row, lead] > 0.0:
        best = kl_upper(state.S[row, lead] / state.N[row, lead], level / state.N[row, lead])
    lead_index = best
    index = state.indices
    for k in range(index.shape[0]):
        n = state.N[row, k]
        if k == lead and n > 0.0:
            index[k] = lead_index
            continue
        if n == 0.0:
            index[k] = math.inf
            best = math.inf
            continue
        mean = state.S[row, k] / n
        index[k] = -1.0
        if mean + math.sqrt(0.5 * level / n) >= best:
            index[k] = kl_upper(mean, level / n)
            best = max(best, index[k])
    return argmax(index, rng)


@implement(Params)
def feedback(params: Params, state: State, row: int, arm: int, won: float, lost: float, rng: Stream) -> None:
    state.S[row, arm] += won
    state.N[row, arm] += won + lost
    if state.N[row, arm] > state.N[row, state.lead[row]]:
        state.lead[row] = arm


@implement(Params)
def answer(params: Params, state: State, row: int) -> int:
    return state.lead[row]


SPEC = MachineSpec(
    name="kl-ucb",
    title="KL-UCB",
    params=Params,
    cite="garivier2011",
    kind="bandit",
    parameters={"c": Parameter(meaning="weight of the ln ln tau term: 3 in the theorem, 0 in practice", at_least=0.0)},
)
