"""What double Thompson samplers keep, and which arm of C its sampled duels speak for."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmax
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.confidence import kl
from multiduel.kernels.random import below
from multiduel.policies.double_thompson.beliefs import Beliefs, fresh_beliefs, valid_beliefs

NONE = -1


class DoubleThompson(NamedTuple):
    beliefs: Beliefs
    sample: Floats  # f8[K, K]  scratch: the sampled theta, or 1 and 0 for "above 1/2" and not
    score: Floats  # f8[K]     scratch: sampled duels won
    values: Floats  # f8[K]     scratch
    loud: Ints  # i8[1]     the arm L of a round already known not to be quiet, or NONE
    drawn: Ints  # i8[K, K]  when the bit "i wins against j" was drawn last, twice, and the bit
    serial: Ints  # i8[1]     how often bits were drawn
    strong: Ints  # i8[K]     the arms, roughly those who win most first: whose duels to draw first


def fresh_double_thompson(n_arms: int) -> DoubleThompson:
    """Nothing seen."""
    scratch = np.zeros((n_arms, n_arms))
    drawn, serial, strong = np.zeros((n_arms, n_arms), np.int64), np.zeros(1, np.int64), np.arange(n_arms)
    return DoubleThompson(
        fresh_beliefs(n_arms), scratch, np.zeros(n_arms), np.zeros(n_arms), np.full(1, NONE), drawn, serial, strong
    )


def valid_double_thompson(state: DoubleThompson) -> dict[str, Any]:
    return {
        "beliefs": valid_beliefs(state.beliefs),
        "sample": validity.SCRATCH,
        "score": validity.SCRATCH,
        "values": validity.SCRATCH,
        "loud": validity.arms(state.loud, len(state.score), none=True),
        "drawn": validity.counts(state.drawn, 2.0 * float(state.serial[0]) + 1.0),
        "serial": validity.counts(state.serial),
        "strong": validity.order(state.strong),
    }


@kernel
def best_of_C(state: DoubleThompson, rng: Stream) -> int:
    """The best-scoring arm of C = { i : up_i is largest }, ties at random."""
    up, score, values = state.beliefs.up, state.score, state.values
    top = 0
    for i in range(up.shape[0]):
        top = max(top, up[i])
    for i in range(up.shape[0]):
        values[i] = score[i] if up[i] == top else -1.0
    return argmax(values, rng)


@kernel
def best_score(state: DoubleThompson) -> tuple[float, int]:
    """The best score in C, and how many arms of C have it."""
    up, score = state.beliefs.up, state.score
    top = 0
    for i in range(up.shape[0]):
        top = max(top, up[i])
    best = -1.0
    tied = 0
    for i in range(up.shape[0]):
        if up[i] == top:
            tied = 1 if score[i] > best else tied + (1 if score[i] == best else 0)
            best = max(best, score[i])
    return best, tied


@kernel
def least_regret(state: DoubleThompson, best: float, tied: int, rng: Stream) -> int:
    """D-TS+: of the arms of C with the best score, the one whose duels promise the least regret per information.

    sum over j != i of (max score - (score_i + score_j) / 2) / kl(theta_ij, 1/2); exact ties at random.
    """
    up, score, sample, values = state.beliefs.up, state.score, state.sample, state.values
    K = up.shape[0]
    top = 0
    highest = 0.0
    for i in range(K):
        top = max(top, up[i])
        highest = max(highest, score[i])
    least = math.inf
    same = 0
    for i in range(K):
        values[i] = -1.0
        if up[i] == top and score[i] == best:
            total = 0.0
            if tied > 1:
                for j in range(K):
                    if j != i and sample[i, j] != 0.5:
                        total += (highest - (score[i] + score[j]) / 2.0) / kl(sample[i, j], 0.5)
            values[i] = total
            same = 1 if total < least else same + (1 if total == least else 0)
            least = min(least, total)
    skip = below(same, rng) if same > 1 else 0
    chosen = 0
    for i in range(K):
        if up[i] == top and score[i] == best and values[i] == least:
            if skip == 0:
                chosen = i
            skip -= 1
    return chosen
