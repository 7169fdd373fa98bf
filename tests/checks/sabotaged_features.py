"""Sabotaged, with features: a perceptron over features that change, with one fault of your choice built in.

Paper      none: a dummy for the tests of the checks.
Assumes    utilities linear in features.
Symbols    K arms, d features, theta the sum of (x_winner - x_loser).
Deviates   nothing, or as ``fault`` says.

    with probability 1/10: two arms at random; else the two arms of the largest <x_i, theta>
    theta <- theta + x_winner - x_loser

>>> SPEC.name
'sabotaged-features'
"""

from typing import NamedTuple

import numpy as np

from multiduel.authoring import Parameter, PolicySpec, draw_distinct, implement, uniform, validity

NONE, IGNORES, MISPLACES, STALE = range(4)
FAULTS = {
    "none": NONE,
    "ignores-features": IGNORES,
    "misplaces-rows": MISPLACES,
    "learns-from-the-last": STALE,
}


class Params(NamedTuple):
    dimension: int = 0
    fault: int = NONE


class State(NamedTuple):
    X: np.ndarray  # f8[d, K]
    theta: np.ndarray  # f8[d]
    pool: np.ndarray  # i8[K]


@implement(Params)
def init(params, n_arms, rng):
    d = params.dimension or n_arms
    X = np.zeros((d, n_arms)) if params.dimension else np.eye(n_arms)
    return State(X, np.zeros(d), np.zeros(n_arms, np.int64))


@implement(Params)
def valid(params, state, n_arms, round):
    return {
        "X": validity.between(state.X, -1e20, 1e20),
        "theta": validity.between(state.theta, -1e20, 1e20),
        "pool": validity.SCRATCH,
    }


@implement(Params)
def see(params, state, arms, rows):
    if params.fault == STALE and arms.shape[0] < state.X.shape[1]:
        return
    for a in range(arms.shape[0]):
        for i in range(rows.shape[1]):
            state.X[i, a if params.fault == MISPLACES else arms[a]] = rows[a, i]


@implement(Params)
def ask(params, state, rng, round, limit, slate):
    K = state.pool.shape[0]
    for i in range(K):
        state.pool[i] = i
    two = min(2, K)
    draw_distinct(state.pool, K, two, slate, 0, rng)
    if params.fault == IGNORES or uniform(rng) < 0.1:
        return two, 1
    for a in range(two):
        best = -1
        most = 0.0
        for k in range(K):
            u = 0.0
            for i in range(state.theta.shape[0]):
                u += state.X[i, k] * state.theta[i]
            if (a == 0 or k != slate[0]) and (best < 0 or u > most):
                best = k
                most = u
        slate[a] = best
    return two, 1


@implement(Params)
def tell(params, state, rng, round, slate, wins):
    for i in range(state.theta.shape[0]):
        state.theta[i] += (wins[0, 1] - wins[1, 0]) * (state.X[i, slate[0]] - state.X[i, slate[1]])


@implement(Params)
def recommend(params, state):
    best = 0
    most = 0.0
    for k in range(state.X.shape[1]):
        u = 0.0
        for i in range(state.theta.shape[0]):
            u += state.X[i, k] * state.theta[i]
        if k == 0 or u > most:
            best = k
            most = u
    return best


SPEC = PolicySpec(
    name="sabotaged-features",
    title="SabotagedFeatures",
    params=Params,
    cite="none",
    slate="two",
    assumes="utilities linear in features",
    regret="none proved",
    use="Never.",
    features=True,
    blind="it is a dummy",
    parameters={
        "dimension": Parameter(meaning="features of an arm", at_least=0, at_most=100),
        "fault": Parameter(meaning="what is wrong with it", choices=FAULTS),
    },
)
