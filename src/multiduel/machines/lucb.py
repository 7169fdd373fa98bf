"""LUCB and KL-LUCB: best-arm identification by sampling the leader and its strongest rival.

Paper      LUCB: Kalyanakrishnan, Tewari, Auer, Stone. PAC Subset Selection in Stochastic Multi-armed Bandits. ICML 2012.
           KL-LUCB, with confidence bounds of the Bernoulli relative entropy: Kaufmann, Kalyanakrishnan. Information
           Complexity in Bandit Subset Selection. COLT 2013. Both with one arm to find (m = 1).
Symbols    u_a samples of arm a, t the round of two samples, delta the error allowed, epsilon the tolerance.
Deviates   nothing in LUCB. The exploration rate is a parameter (``radius``), because DoublerBAI's paper leaves it open; it is
           KL-LUCB's too, whose theorem adds its logarithm.

    sample every arm once; t = 1
    repeat   level = ln(5 K t^4 / (4 delta))
             LUCB:      U_a = mean_a + sqrt(level / (2 u_a))   and   L_a = mean_a - sqrt(level / (2 u_a))
             KL-LUCB:   U_a = max{ q : u_a kl(mean_a, q) <= level }   and   L_a = min{ q : the same }
             h* = argmax mean_a;   l* = argmax over a != h* of U_a;   ties at random
             stop and return h* if U_l* - L_h* < epsilon
             sample h* and l*; t <- t + 1

A round is two samples, but a machine gives one at a time: it keeps a queue. First every arm once, in random order;
then, whenever the queue's samples are in, the plan names the next two. If outcomes are late the queue is gone through again;
if one never comes, that arm's bounds stay wide and the plan asks for it again.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmax, draw_distinct
from multiduel.kernels.compiler.dispatch import generic, kernel
from multiduel.kernels.confidence import kl_lower, kl_upper
from multiduel.kernels.contract import MachineSpec, Parameter
from multiduel.machines.contract import implement

K1 = 1.25  # k1 = 5/4 of the exploration rate
LENGTH, CURSOR, FED, ROUND, STOPPED, ANSWER = 0, 1, 2, 3, 4, 5  # columns of `progress`


class LUCB(NamedTuple):
    epsilon: float = 0.0  # tolerance
    radius: float = 4.0  # power of t in the exploration rate
    test: int = 0  # stop test after each round (0) or each sample (1)


class KLLUCB(NamedTuple):
    epsilon: float = 0.0
    radius: float = 4.0
    test: int = 0


class State(NamedTuple):
    S: Floats  # f8[rows, K]  wins of a
    N: Floats  # f8[rows, K]  u_a, samples of a
    mean: Floats  # f8[rows, K]  S / N; 0 before the first sample
    isn: Floats  # f8[rows, K]  1 / sqrt(N); inf before the first sample
    queue: Ints  # i8[rows, K]  samples to take
    progress: Ints  # i8[rows, 6]  queue length, next place, samples fed back, t, stopped, answer
    delta: Floats  # f8[rows]     error allowed
    value: Floats  # f8[K]        scratch


@implement(LUCB)
@implement(KLLUCB)
def allocate(params: LUCB | KLLUCB, rows: int, n_arms: int) -> State:
    grid = (rows, n_arms)
    queue, progress = np.zeros(grid, np.int64), np.zeros((rows, 6), np.int64)
    counts = (np.zeros(grid), np.zeros(grid), np.zeros(grid), np.full(grid, np.inf))
    return State(*counts, queue, progress, np.full(rows, 0.5), np.zeros(n_arms))


@implement(LUCB)
@implement(KLLUCB)
def valid(params: LUCB | KLLUCB, state: State, n_arms: int, round: int) -> dict[str, Any]:
    K, met = state.N.shape[1], state.N > 0.0
    length, cursor, _, clock, over, chosen = state.progress.T
    full = np.where(clock > 1, 2, K)  # all arms once, then two at a time
    reset = (length == 0) & (cursor == 0)
    return {
        "S": validity.between(state.S, 0.0, state.N),
        "N": validity.counts(state.N),
        "mean": validity.close(state.mean, validity.per_duel(state.S, state.N, 0.0)) and validity.between(state.mean, 0.0, 1.0),
        "isn": validity.close(state.isn[met], 1.0 / np.sqrt(state.N[met])) and bool(np.all(state.isn[~met] == np.inf)),
        "queue": validity.arms(state.queue, K),
        "progress": bool(np.all(reset | ((length == full) & (length <= K) & (cursor >= 0) & (cursor < length))))
        and validity.counts(state.progress)
        and validity.between(clock[~reset], 1, validity.MOST)
        and validity.flags(over)
        and (K > 1 or bool(over[~reset].all()))
        and validity.arms(chosen, K),
        "delta": bool(np.all((state.delta >= 1e-300) & (state.delta <= 0.5))),
        "value": validity.SCRATCH,
    }


def has_begun(state: State) -> bool:
    return bool(state.progress[0, LENGTH] > 0)


@implement(LUCB)
@implement(KLLUCB)
def reset(params: LUCB | KLLUCB, state: State, row: int, delta: float, rng: Stream) -> None:
    """Reset(S, delta): zero counts; queue all arms once, in random order; t = 1."""
    n_arms = state.S.shape[1]
    for a in range(n_arms):
        state.S[row, a] = 0.0
        state.N[row, a] = 0.0
        state.mean[row, a] = 0.0
        state.isn[row, a] = math.inf
        state.queue[row, a] = a
    draw_distinct(state.queue[row], n_arms, n_arms, state.queue[row], 0, rng)
    state.delta[row] = delta
    progress = state.progress[row]
    progress[LENGTH] = n_arms
    progress[CURSOR] = 0
    progress[FED] = 0
    progress[ROUND] = 1
    progress[STOPPED] = 1 if n_arms == 1 else 0
    progress[ANSWER] = state.queue[row, 0]


@implement(LUCB)
@implement(KLLUCB)
def advance(params: LUCB | KLLUCB, state: State, row: int, round: int, rng: Stream) -> int:
    """The head of the queue."""
    progress = state.progress[row]
    arm = state.queue[row, progress[CURSOR]]
    progress[CURSOR] = (progress[CURSOR] + 1) % progress[LENGTH]
    return arm


@implement(LUCB)
@implement(KLLUCB)
def feedback(params: LUCB | KLLUCB, state: State, row: int, arm: int, won: float, lost: float, rng: Stream) -> None:
    """Feedback(b): count it; once the queue's samples are in, plan; with ``test`` = sample, look at the stop test at once."""
    state.S[row, arm] += won
    state.N[row, arm] += won + lost
    state.mean[row, arm] = state.S[row, arm] / state.N[row, arm]
    state.isn[row, arm] = 1.0 / math.sqrt(state.N[row, arm])
    progress = state.progress[row]
    progress[FED] += 1
    complete = progress[FED] >= progress[LENGTH]
    if progress[STOPPED] == 0 and (complete or (params.test == 1 and progress[ROUND] > 1)):
        plan(params, state, row, complete, rng)


@kernel
def plan(params: Any, state: State, row: int, complete: bool, rng: Stream) -> None:
    """h* = argmax mean; l* = argmax over the rest of the upper bound; stop if they are apart. If the round is complete,
    the next one samples both."""
    value, progress = state.value, state.progress[row]
    level = math.log(K1 * value.shape[0] / state.delta[row]) + params.radius * math.log(float(progress[ROUND]))
    h = argmax(state.mean[row], rng)
    sampled = state.N[row, h] > 0.0
    floor = lower(params, state.mean[row, h], state.N[row, h], level) if sampled else -math.inf
    uppers(params, state, row, h, level)
    value[h] = -1.0
    rival = argmax(value, rng)
    progress[ANSWER] = h
    progress[STOPPED] = 1 if value[rival] - floor < params.epsilon else 0
    if complete:
        state.queue[row, 0] = h
        state.queue[row, 1] = rival
        progress[LENGTH] = 2
        progress[CURSOR] = 0
        progress[FED] = 0
        progress[ROUND] += 1


@generic
def uppers(params: Any, state: State, row: int, leader: int, level: float) -> None:
    """Write the upper confidence bound of every arm but the leader into ``state.value``: inf for an arm without a sample; -1
    will do where it cannot be the largest. ``level`` = ln(k1 K t^power / delta)."""


@uppers.implement(LUCB)
def uppers_lucb(params: LUCB, state: State, row: int, leader: int, level: float) -> None:
    c = math.sqrt(0.5 * level)
    for a in range(state.value.shape[0]):
        state.value[a] = state.mean[row, a] + c * state.isn[row, a]


@uppers.implement(KLLUCB)
def uppers_kl_lucb(params: KLLUCB, state: State, row: int, leader: int, level: float) -> None:
    # By Pinsker's inequality no bound exceeds Hoeffding's: where that falls short of the best so far, nothing is solved.
    c = math.sqrt(0.5 * level)
    best = -1.0
    for a in range(state.value.shape[0]):
        bound = state.mean[row, a] + c * state.isn[row, a]
        if a == leader or bound < best:
            bound = -1.0
        elif bound < math.inf:
            bound = kl_upper(state.mean[row, a], level / state.N[row, a])
        state.value[a] = bound
        best = max(best, bound)


@generic
def lower(params: Any, mean: float, n: float, level: float) -> float:
    """Lower confidence bound of a mean of n samples."""


@lower.implement(LUCB)
def lower_lucb(params: LUCB, mean: float, n: float, level: float) -> float:
    return mean - math.sqrt(0.5 * level / n)


@lower.implement(KLLUCB)
def lower_kl_lucb(params: KLLUCB, mean: float, n: float, level: float) -> float:
    return kl_lower(mean, level / n)


@implement(LUCB)
@implement(KLLUCB)
def renew(params: LUCB | KLLUCB, state: State, row: int, delta: float, rng: Stream) -> None:
    """A new delta, the counts kept: clear the stop and go on with the queue; the next plan decides."""
    state.delta[row] = delta
    if state.S.shape[1] > 1:
        state.progress[row, STOPPED] = 0


@implement(LUCB)
@implement(KLLUCB)
def stopped(params: LUCB | KLLUCB, state: State, row: int) -> bool:
    return bool(state.progress[row, STOPPED] == 1)


@implement(LUCB)
@implement(KLLUCB)
def answer(params: LUCB | KLLUCB, state: State, row: int) -> int:
    return state.progress[row, ANSWER]


PARAMETERS = {
    "epsilon": Parameter(meaning="tolerance of the stop test; 0 identifies exactly", at_least=0.0, below=1.0),
    "radius": Parameter(
        meaning="the exploration rate is ln(5K t^p / (4 delta)): p = 4 (published), 2, or 0 (delta alone)",
        choices={"t4": 4.0, "t2": 2.0, "delta": 0.0},
    ),
    "test": Parameter(
        meaning="when to look at the stop test: after each round of two samples (published) or after each sample",
        choices={"round": 0, "sample": 1},
    ),
}

LUCB_SPEC = MachineSpec(
    name="lucb", title="LUCB", params=LUCB, cite="kalyanakrishnan2012", kind="identifier", parameters=PARAMETERS
)

KL_LUCB_SPEC = MachineSpec(
    name="kl-lucb", title="KL-LUCB", params=KLLUCB, cite="kaufmann2013", kind="identifier", parameters=PARAMETERS
)
