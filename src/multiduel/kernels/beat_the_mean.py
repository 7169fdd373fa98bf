"""The exploration that BTM and its PAC version share: every arm against the mean of those left; the worst leaves."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from multiduel.kernels.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import Parameter
from multiduel.kernels.dispatch import kernel
from multiduel.kernels.elimination import pick
from multiduel.kernels.random import below, uniform

SIZE, WINNER = 0, 1  # places in `progress`
NONE = -1


class State(NamedTuple):
    A: Ints  # i8[K]     active arms, ascending, in A[:size]
    active: Ints  # i8[K]     1 for the arms of A
    asked: Floats  # f8[K]     comparisons that b initiated; those told are n
    n: Floats  # f8[K]     n_b
    w: Floats  # f8[K]     w_b, wins of b among them
    phat: Floats  # f8[K]     w_b / n_b, 1/2 if n_b = 0
    asked_with: Floats  # f8[K, K]  the same split by opponent, to be deleted with it
    n_with: Floats  # f8[K, K]
    w_with: Floats  # f8[K, K]
    progress: Ints  # i8[2]     |A|; the arm committed to, or NONE
    radius: Floats  # f8[2]     c(n) = radius[0] / sqrt(n); stop when min n reaches radius[1]


def start(scale: float, enough: float, n_arms: int) -> State:
    """c(n) = scale / sqrt(n). Every active arm's n reaching ``enough`` ends the exploration."""
    K = n_arms
    progress = np.array([K, 0 if K == 1 else NONE])
    return State(
        A=np.arange(K),
        active=np.ones(K, np.int64),
        asked=np.zeros(K),
        n=np.zeros(K),
        w=np.zeros(K),
        phat=np.full(K, 0.5),
        asked_with=np.zeros((K, K)),
        n_with=np.zeros((K, K)),
        w_with=np.zeros((K, K)),
        progress=progress,
        radius=np.array([scale, enough]),
    )


@kernel
def step(state: State, self_duels: bool, rng: Stream, limit: int, slate: Ints) -> tuple[int, int]:
    """b <- the active arm with the fewest comparisons; b' <- uniformly from A."""
    A, progress = state.A, state.progress
    if progress[WINNER] != NONE:
        slate[0] = progress[WINNER]
        return 1, limit
    size = progress[SIZE]
    b = pick(state.asked, A, size, -1.0, rng)
    if self_duels:
        other = A[below(rng, size)]
    else:
        place = below(rng, size - 1)
        other = A[place] if A[place] < b else A[place + 1]
    state.asked[b] += 1.0
    state.asked_with[b, other] += 1.0
    slate[0] = b
    if other == b:  # the mean includes b itself: a fair coin
        heads = 1.0 if uniform(rng) < 0.5 else 0.0
        learn(state, b, b, heads, 1.0 - heads, rng)
        return 1, 1
    slate[1] = other
    return 2, 1


@kernel
def learn(state: State, b: int, other: int, won: float, lost: float, rng: Stream) -> None:
    """Only b's record changes. Then the test, and the end."""
    n, w, phat = state.n, state.w, state.phat
    if state.active[b] == 0 or state.active[other] == 0 or state.progress[WINNER] != NONE or won + lost == 0.0:
        return
    n[b] += won + lost
    w[b] += won
    state.n_with[b, other] += won + lost
    state.w_with[b, other] += won
    phat[b] = w[b] / n[b]
    least = math.inf
    low = math.inf
    high = -math.inf
    for a in range(state.progress[SIZE]):
        k = state.A[a]
        least = min(least, n[k])
        low = min(low, phat[k])
        high = max(high, phat[k])
    c = state.radius[0] / math.sqrt(least) if least > 0.0 else 1.0
    if low + c <= high - c:
        least = drop(state, pick(phat, state.A, state.progress[SIZE], -1.0, rng))
    if state.progress[SIZE] == 1 or least >= state.radius[1]:
        state.progress[WINNER] = pick(phat, state.A, state.progress[SIZE], 1.0, rng)


@kernel
def drop(state: State, z: int) -> float:
    """z leaves; all comparisons with it are deleted. Returns the smallest n left."""
    kept = 0
    least = math.inf
    state.active[z] = 0
    for a in range(state.progress[SIZE]):
        k = state.A[a]
        if k == z:
            continue
        state.A[kept] = k
        kept += 1
        state.asked[k] -= state.asked_with[k, z]
        state.n[k] -= state.n_with[k, z]
        state.w[k] -= state.w_with[k, z]
        state.phat[k] = state.w[k] / state.n[k] if state.n[k] > 0.0 else 0.5
        least = min(least, state.n[k])
    state.progress[SIZE] = kept
    return least


@kernel
def bet(state: State) -> int:
    """The arm committed to, or the one with the largest share."""
    if state.progress[WINNER] != NONE:
        return state.progress[WINNER]
    best = state.A[0]
    for a in range(state.progress[SIZE]):
        best = state.A[a] if state.phat[state.A[a]] > state.phat[best] else best
    return best


PARAMETERS = {
    "gamma": Parameter(meaning="relaxation of stochastic transitivity; 1 is the strong kind", at_least=1.0),
    "self_duels": Parameter(meaning="the mean includes the arm itself, by a fair coin (published)"),
}
