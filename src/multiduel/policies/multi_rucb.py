"""MultiRUCB: play all arms that may still be the best, and let them duel each other.

Paper      Du, Wang, Huang. Dueling Bandits: From Two-dueling to Multi-dueling. AAMAS 2020, Algorithm 4.
Assumes    a Condorcet winner.
Symbols    K arms, m seats, alpha exploration, W[i, j] wins of i over j, N_ij = W_ij + W_ji, u_ij = W_ij / N_ij +
           sqrt(alpha ln t / N_ij) the optimistic chance of i against j, C the candidates, B the hypothesised best arm.
Deviates   nothing. ``priority = always`` is the reading of the paper's prose, where B's arm is always seated.

    for t = 1, 2, ...
      C <- { c : u_cj >= 1/2 for all j }
      if C is empty:        A <- m arms, uniformly from all
      B <- B intersect C
      if |C| = 1:           B <- C;  A <- C
      if 1 < |C| <= m:      A <- C
      if |C| > m:
        if B is empty:      A <- m arms, uniformly from C
        else, a fair coin:  A <- B and m - 1 arms uniformly from C \\ B;   or   A <- m arms uniformly from C \\ B
      compare all pairs of A; update W

How it is computed. u_ij >= 1/2 means d <= 0 or ln t >= d^2 / (4 alpha N_ij), where d = W_ji - W_ij: no square root, and a
number per pair that changes only when the pair duels. Z[i] is its largest value over j, so C = { i : Z[i] <= ln t }. Nothing
is observed while |C| = 1, so the next round with news is the first t at which ln t reaches another arm's Z: all rounds before
it are one commitment.

>>> from multiduel import make, ranking
>>> policy = make("multi-rucb", n_arms=5, slate_size=3, seed=0)
>>> slate = policy.ask()
>>> policy.tell(slate, ranking(slate.arms))
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import draw_distinct, most_winning
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.quiet import quiet_rounds
from multiduel.kernels.random import uniform

COIN, ALWAYS = 0, 1
NONE = -1


class Params(NamedTuple):
    slate_size: int = 2  # m
    alpha: float = 0.51  # RUCB's experimental value; the theorem needs more than 1
    priority: int = COIN  # is B's arm seated by a coin (the listing) or always (the prose)?


class State(NamedTuple):
    W: Floats  # f8[K, K]  W[i, j] wins of i over j
    Z: Floats  # f8[K]     max over j of d^2 / (4 alpha N_ij) where d > 0; of a candidate, only as far as it matters (see learn)
    log_t: Floats  # f8[1]     ln t of the last ask
    B: Ints  # i8[1]     the hypothesised best arm, or NONE
    pool: Ints  # i8[K + 1] scratch: the candidates


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    W = np.zeros((n_arms, n_arms))
    return State(W, np.zeros(n_arms), np.zeros(1), np.full(1, NONE), np.zeros(n_arms + 1, np.int64))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    K = state.W.shape[0]
    most = validity.deficits(state.W, params.alpha).max(axis=1)
    return {
        "W": validity.tally(state.W),
        "Z": validity.between(state.Z, 0.0, most * (1.0 + 1e-9)),
        "log_t": validity.between(state.log_t, 0.0, math.log(max(round, 1)) + 1e-9),
        "B": validity.arms(state.B, K, none=True),
        "pool": validity.SCRATCH,
    }


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    Z, B, pool = state.Z, state.B, state.pool
    m = params.slate_size
    log_t = math.log(float(round))
    state.log_t[0] = log_t

    size = 0  # C <- { c : u_cj >= 1/2 for all j }, in pool[:size]
    for i in range(Z.shape[0]):
        pool[size] = i
        size += 1 if Z[i] <= log_t else 0
    if B[0] != NONE and Z[B[0]] > log_t:  # B <- B intersect C
        B[0] = NONE

    if size == 1:  # |C| = 1: B <- C, A <- C; nothing is observed
        B[0] = slate[0] = pool[0]
        nearest = math.inf  # the smallest Z outside C
        for i in range(Z.shape[0]):
            nearest = min(nearest, Z[i] if i != pool[0] else math.inf)
        return 1, quiet_rounds(nearest, round, limit)
    if 1 < size <= m:  # 1 < |C| <= m: A <- C
        for a in range(size):
            slate[a] = pool[a]
        return size, 1
    seated = 0
    if size == 0:  # C empty: m arms from all
        size = Z.shape[0]
        for i in range(size):
            pool[i] = i
    elif B[0] != NONE:  # |C| > m and B = {b}: the coin; either way the draw is from C \ B
        if params.priority == ALWAYS or uniform(rng) < 0.5:
            slate[0] = B[0]
            seated = 1
        kept = 0
        for a in range(size):
            pool[kept] = pool[a]
            kept += 1 if pool[a] != B[0] else 0
        size = kept
    draw_distinct(pool, size, m - seated, slate, seated, rng)
    return m, 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    # Every pair of a candidate passes its test now, and with t growing will pass for ever unless it duels again. So for
    # candidates Z may start anew from the pairs of this slate. An arm outside C (C was empty, or this tell is late)
    # needs its whole row.
    W, Z, log_t = state.W, state.Z, state.log_t[0]
    n = slate.shape[0]
    scale = 0.25 / params.alpha
    outside = False
    for a in range(n):
        outside |= Z[slate[a]] > log_t
        Z[slate[a]] = 0.0
    for a in range(n):
        i = slate[a]
        z_i = Z[i]
        for b in range(a + 1, n):
            j = slate[b]
            if wins[a, b] + wins[b, a] == 0.0:
                continue
            w_ij = W[i, j] + wins[a, b]
            w_ji = W[j, i] + wins[b, a]
            W[i, j] = w_ij
            W[j, i] = w_ji
            z = scale * (w_ji - w_ij) * abs(w_ji - w_ij) / (w_ij + w_ji)
            z_i = max(z_i, z)
            Z[j] = max(Z[j], -z)
        Z[i] = z_i
    if outside:
        for a in range(n):
            i = slate[a]
            for j in range(Z.shape[0]):
                d = W[j, i] - W[i, j]
                if d > 0.0:
                    Z[i] = max(Z[i], scale * d * d / (W[i, j] + W[j, i]))


@implement(Params)
def recommend(params: Params, state: State) -> int:
    return state.B[0] if state.B[0] != NONE else most_winning(state.W)


SPEC = PolicySpec(
    name="multi-rucb",
    title="MultiRUCB",
    params=Params,
    cite="du2020",
    slate="any",
    assumes="a Condorcet winner",
    regret="O(ln T), falling with m",
    use="Several options at once, one of which beats every other: runs differ little from each other; DueDuel loses less.",
    parameters={
        "slate_size": Parameter(meaning="arms compared in one round, at most", at_least=1),
        "alpha": Parameter(meaning="exploration: more than 1/2 to work, more than 1 for the theorem", above=0.5),
        "priority": Parameter(
            meaning="the hypothesised best arm is seated by a fair coin (the listing) or always (the prose)",
            choices={"coin": COIN, "always": ALWAYS},
        ),
    },
)
