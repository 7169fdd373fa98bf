"""MDB: play every arm of a wide confidence set, until a narrow one holds a single arm.

Paper      Brost, Seldin, Cox, Lioma. Multi-Dueling Bandits and Their Application to Online Ranker Evaluation. CIKM 2016.
Assumes    a Condorcet winner.
Symbols    K arms, m seats, W[i, j] wins of i over j, N_ij = W_ij + W_ji, alpha the narrow bound, beta how much wider the other
           is, E and F the arms that may be the best by the narrow and the wide bound.
Deviates   the paper plays all of F; here at most m arms fit, and ``cap`` says which: m at random from F (default), or E
           first. With slate_size = n_arms nothing is capped. The values of alpha and beta in the paper's experiments were not
           verified; public codes use 0.51 with and without beta.

    for t = 1, 2, ...
      u_ij = W_ij / N_ij + sqrt(alpha ln t / N_ij);   v_ij = W_ij / N_ij + sqrt(alpha beta ln t / N_ij)
      E <- { i : u_ij >= 1/2 for all j };   F <- { i : v_ij >= 1/2 for all j };   a pair without duels passes
      if |E| = 1:  A <- E                          (nothing to observe)
      else:        A <- F, or all arms if F is empty
      compare all pairs of A; update W

How it is computed. As in MultiRUCB: with d = W_ji - W_ij > 0, u_ij >= 1/2 means d^2 / (4 alpha N_ij) <= ln t and v_ij >= 1/2
means that it is <= beta ln t. So one number per arm, Z[i], its largest value over j, serves both tests. While |E| = 1
the rounds until another arm's Z is reached are one commitment.

>>> from multiduel import make, ranking
>>> policy = make("mdb", n_arms=5, slate_size=3, seed=0)
>>> slate = policy.ask()
>>> policy.tell(slate, ranking(slate.arms))
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import draw_distinct, largest, most_winning
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.quiet import quiet_rounds

UNIFORM, NARROW = 0, 1
NONE = -1


class Params(NamedTuple):
    slate_size: int = 2  # m
    alpha: float = 0.51  # narrow bound
    beta: float = 1.5  # widening
    cap: int = UNIFORM  # who plays when F has more than m arms


class State(NamedTuple):
    W: Floats  # f8[K, K]  W[i, j] wins of i over j
    theta: Floats  # f8[K, K]  d^2 / (4 alpha N_ij) if d > 0, else 0
    Z: Floats  # f8[K]     max over j of theta_ij
    best: Ints  # i8[1]     the arm that was last alone in E, or NONE
    pool: Ints  # i8[K + 1] scratch


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    grid = (n_arms, n_arms)
    return State(np.zeros(grid), np.zeros(grid), np.zeros(n_arms), np.full(1, NONE), np.zeros(n_arms + 1, np.int64))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    theta = validity.deficits(state.W, params.alpha)
    return {
        "W": validity.tally(state.W),
        "theta": validity.close(state.theta, theta) and validity.counts(state.theta, np.inf),
        "Z": validity.close(state.Z, theta.max(axis=1)) and validity.counts(state.Z, np.inf),
        "best": validity.arms(state.best, state.W.shape[0], none=True),
        "pool": validity.SCRATCH,
    }


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    Z, pool, m = state.Z, state.pool, params.slate_size
    narrow = math.log(float(round))
    wide = params.beta * narrow

    in_E = 0
    in_F = 0  # F in pool[:in_F]
    only = 0  # the arm of E, if it is one
    nearest = math.inf  # the smallest Z outside E
    for i in range(Z.shape[0]):
        pool[in_F] = i
        in_F += 1 if Z[i] <= wide else 0
        inside = Z[i] <= narrow
        in_E += 1 if inside else 0
        only = i if inside else only
        nearest = min(nearest, math.inf if inside else Z[i])

    if in_E == 1:  # |E| = 1: A <- E, for as long as no other arm enters E
        state.best[0] = slate[0] = only
        return 1, quiet_rounds(nearest, round, limit)
    if in_F == 0:  # F empty: all arms
        in_F = Z.shape[0]
        for i in range(in_F):
            pool[i] = i
    if in_F <= m:
        for a in range(in_F):
            slate[a] = pool[a]
        return in_F, 1

    seated = 0
    if params.cap == NARROW:  # E first: all of it and a fill from F \ E, or m of it
        kept = 0
        for a in range(in_F):
            i = pool[a]
            inside = Z[i] <= narrow
            if inside and in_E <= m:
                slate[seated] = i
                seated += 1
            elif inside or in_E <= m:
                pool[kept] = i
                kept += 1
        in_F = kept
    draw_distinct(pool, in_F, m - seated, slate, seated, rng)
    return m, 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    W, theta, n = state.W, state.theta, slate.shape[0]
    for a in range(n):
        i = slate[a]
        for b in range(a + 1, n):
            j = slate[b]
            W[i, j] += wins[a, b]
            W[j, i] += wins[b, a]
            d = W[j, i] - W[i, j]
            N = W[i, j] + W[j, i]
            z = 0.25 / params.alpha * d * d / N if N > 0.0 else 0.0
            theta[i, j] = z if d > 0.0 else 0.0
            theta[j, i] = z if d < 0.0 else 0.0
    for a in range(n):
        state.Z[slate[a]] = largest(theta[slate[a]])


@implement(Params)
def recommend(params: Params, state: State) -> int:
    return state.best[0] if state.best[0] != NONE else most_winning(state.W)


SPEC = PolicySpec(
    name="mdb",
    title="MDB",
    params=Params,
    cite="brost2016",
    slate="any",
    assumes="a Condorcet winner",
    regret="none proved",
    use="Many rankers compared at once by multileaving, with no limit on how many; MultiRUCB is better when seats are few.",
    parameters={
        "slate_size": Parameter(meaning="arms compared in one round, at most", at_least=1),
        "alpha": Parameter(meaning="width of the narrow confidence bound: 0.5 in the paper", at_least=0.5),
        "beta": Parameter(meaning="the wide bound's exploration is alpha times beta", at_least=1.0),
        "cap": Parameter(
            meaning="when more than m arms may be the best: m of them at random, or those of the narrow set first",
            choices={"uniform": UNIFORM, "narrow": NARROW},
        ),
    },
)
