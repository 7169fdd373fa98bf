"""Sabotaged: explore, then commit, with one fault of your choice built in. Without a fault it passes every check.

Paper      none: a dummy for the tests of the checks.
Assumes    a Borda winner.
Symbols    K arms, m seats, W[i, j] wins of i over j, B the arm committed to.
Deviates   nothing, or as ``fault`` says.

    for t = 1 .. 300
      A <- m arms, uniformly from all; compare all pairs of A; update W
    B <- the arm with the largest share of wins; play B for ever

>>> SPEC.name
'sabotaged'
"""

from typing import NamedTuple

import numpy as np
from numpy import random as luck  # under another name, so that only playing shows it

from multiduel.kernels import validity
from multiduel.kernels.choice import draw_distinct, most_winning
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.random import uniform

NONE, REPEATS, OUT_OF_RANGE, IGNORES, CONSTANT, LOSERS, LOWEST, LEANS, WRAPS = range(9)
TOO_FAR, EXCEEDS, CHANGES, GLOBAL, UNSEEDED, CHOKES, ONE_ARM, TYPES, ORDER, HIDES = range(9, 19)
FAULTS = {
    "none": NONE,
    "repeats-an-arm": REPEATS,
    "arm-out-of-range": OUT_OF_RANGE,
    "ignores-outcomes": IGNORES,
    "recommends-a-constant": CONSTANT,
    "believes-losers": LOSERS,
    "lowest-first": LOWEST,
    "leans-to-low-numbers": LEANS,
    "wraps-integers": WRAPS,
    "commits-too-far": TOO_FAR,
    "exceeds-the-limit": EXCEEDS,
    "recommend-changes-state": CHANGES,
    "global-numpy-random": GLOBAL,
    "unseeded": UNSEEDED,
    "chokes-on-late-tells": CHOKES,
    "fails-at-one-arm": ONE_ARM,
    "types-depend-on-size": TYPES,
    "remembers-the-order": ORDER,
    "hides-a-field": HIDES,
}
EXPLORE = 300


class Params(NamedTuple):
    slate_size: int = 2
    fault: int = NONE


class State(NamedTuple):
    W: np.ndarray  # f8[K, K]
    pool: np.ndarray  # i8[K]
    B: np.ndarray  # i8[3]  the arm committed to or -1, the last round asked, recommendations so far
    recent: np.ndarray  # f8[5]


@implement(Params)
def init(params, n_arms, rng):
    if params.fault == GLOBAL:
        luck.random()
    kind = np.int32 if params.fault == TYPES and n_arms < 5 else np.int64
    return State(np.zeros((n_arms, n_arms)), np.zeros(n_arms, kind), np.array([-1, 0, 0]), np.zeros(5))


@implement(Params)
def valid(params, state, n_arms, round):
    fields = {
        "W": validity.tally(state.W),
        "pool": validity.SCRATCH,
        "B": validity.arms(state.B[0], n_arms, none=True) and validity.counts(state.B[1:]),
        "recent": validity.SCRATCH,
    }
    if params.fault == HIDES:
        del fields["pool"]
    return fields


@implement(Params)
def ask(params, state, rng, round, limit, slate):
    pool, B, fault = state.pool, state.B, params.fault
    K = pool.shape[0]
    m = params.slate_size
    B[1] = round
    if round > EXPLORE:
        if B[0] < 0:
            B[0] = most_winning(state.W)
        slate[0] = B[0]
        return 1, limit + 1 if fault == EXCEEDS else limit
    for i in range(K):
        pool[i] = i
    draw_distinct(pool, K, m, slate, 0, rng)
    low = (
        (fault == LOWEST and round == 1)
        or (fault == LEANS and round > 1 and uniform(rng) < 0.4)
        or (fault in (CHANGES, ORDER) and B[2] % 2 == 1)
        or (fault == UNSEEDED and luck.random() < 0.5)
        or (fault == WRAPS and (round << 61) < 0)
    )
    if low:
        for a in range(m):
            slate[a] = a
    if fault == REPEATS and m > 1:
        slate[1] = slate[0]
    if fault == OUT_OF_RANGE:
        slate[0] = K
    if fault == ONE_ARM and K == 1:
        slate[1] = 0
        return 2, 1
    return m, min(limit, 50) if fault == TOO_FAR else 1


@implement(Params)
def tell(params, state, rng, round, slate, wins):
    if params.fault == IGNORES:
        return
    if params.fault == CHOKES:
        state.recent[state.B[1] - round] += 1.0
    if params.fault == ORDER and round == 0:
        state.B[2] = slate[0]
    for a in range(slate.shape[0]):
        for b in range(slate.shape[0]):
            if params.fault == LOSERS:
                state.W[slate[b], slate[a]] += wins[a, b]
            else:
                state.W[slate[a], slate[b]] += wins[a, b]


@implement(Params)
def recommend(params, state):
    if params.fault == CONSTANT:
        return 0
    if params.fault == CHANGES:
        state.B[2] += 1
    return most_winning(state.W)


SPEC = PolicySpec(
    name="sabotaged",
    title="Sabotaged",
    params=Params,
    cite="none",
    slate="any",
    assumes="a Borda winner",
    regret="linear",
    use="Never: it tests the checks.",
    blocks=True,
    parameters={
        "slate_size": Parameter(meaning="arms compared in one round", at_least=1),
        "fault": Parameter(meaning="what is wrong with it", choices=FAULTS),
    },
)
