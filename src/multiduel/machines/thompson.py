"""Thompson: a singleton bandit machine that plays each arm as often as it believes it the best.

Paper      Agrawal, Goyal. Analysis of Thompson Sampling for the Multi-armed Bandit Problem. COLT 2012, Algorithm 1.
Symbols    S_k wins, F_k losses, theta_k a draw from the belief Beta(S_k + 1, F_k + 1).
Deviates   nothing; the paper's uniform prior Beta(1, 1) is a parameter.

    Advance       theta_k ~ Beta(S_k + 1, F_k + 1) for every arm; return argmax_k theta_k
    Feedback(b)   S_k <- S_k + 1 if b = 1, else F_k <- F_k + 1
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from multiduel.kernels.arrays import Floats, Stream
from multiduel.kernels.contract import MachineSpec, Parameter
from multiduel.kernels.random import beta
from multiduel.machines.contract import advance, allocate, answer, feedback, reset


class Params(NamedTuple):
    prior: float = 1.0  # Beta(prior, prior)


class State(NamedTuple):
    S: Floats  # f8[rows, K]  wins
    F: Floats  # f8[rows, K]  losses


@allocate.implement(Params)
def allocate_thompson(params: Params, rows: int, n_arms: int) -> State:
    return State(np.zeros((rows, n_arms)), np.zeros((rows, n_arms)))


@reset.implement(Params)
def forget(params: Params, state: State, row: int, delta: float, rng: Stream) -> None:
    for k in range(state.S.shape[1]):
        state.S[row, k] = 0.0
        state.F[row, k] = 0.0


@advance.implement(Params)
def choose(params: Params, state: State, row: int, round: int, rng: Stream) -> int:
    best = -1.0
    arm = 0
    for k in range(state.S.shape[1]):
        theta = beta(rng, state.S[row, k] + params.prior, state.F[row, k] + params.prior)
        if theta > best:
            best = theta
            arm = k
    return arm


@feedback.implement(Params)
def learn(params: Params, state: State, row: int, arm: int, won: float, lost: float, rng: Stream) -> None:
    state.S[row, arm] += won
    state.F[row, arm] += lost


@answer.implement(Params)
def name(params: Params, state: State, row: int) -> int:
    best = 0
    for k in range(1, state.S.shape[1]):
        if state.S[row, k] + state.F[row, k] > state.S[row, best] + state.F[row, best]:
            best = k
    return best


SPEC = MachineSpec(
    name="thompson",
    title="Thompson sampling",
    params=Params,
    cite="agrawal2012",
    kind="bandit",
    parameters={"prior": Parameter(meaning="the belief before any duel is Beta(prior, prior)", at_least=1.0)},
)
