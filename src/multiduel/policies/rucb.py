"""RUCB: an arm that may beat every other meets the arm most likely to beat it.

Paper      Zoghi, Whiteson, Munos, de Rijke. Relative Upper Confidence Bound for the K-Armed Dueling Bandit Problem.
           ICML 2014, Algorithm 1.
Assumes    a Condorcet winner.
Symbols    K arms, alpha exploration, W[i, j] wins of i over j, N_ij = W_ij + W_ji, u_ij = W_ij / N_ij +
           sqrt(alpha ln t / N_ij) the optimistic chance of i against j, C the candidates, B the hypothesised best arm.
Deviates   nothing. x / 0 := 1 is read literally, so that u = 2 for a pair that never met.

    for t = 1, 2, ...
      u_ij as above, u_ii <- 1/2;  C <- { c : u_cj >= 1/2 for all j }
      if C is empty:   c uniformly from all arms
      B <- B intersect C
      if |C| = 1:      B <- C;  c its arm
      if |C| > 1:      c <- B's arm with probability 1/2, else uniformly from C \\ B  (from C if B is empty)
      d <- argmax_j u_jc; in a tie, d is not c
      play (c, d); update W

How it is computed. u_ij >= 1/2 means that i's deficit against j, d^2 / (4 alpha N_ij) with d = W_ji - W_ij > 0, is at
most ln t. Z[i] is the largest deficit of i, so C = { i : Z[i] <= ln t }. A lone candidate whose
opponents' deficits are all above it plays itself and sees nothing, until the first t that reaches one of them: one commitment.

>>> from multiduel import duels, make
>>> policy = make("rucb", n_arms=5, seed=0)
>>> slate = policy.ask()
>>> policy.tell(slate, duels([slate.arms]))
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmax, most_winning
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.quiet import quiet_rounds
from multiduel.kernels.random import below, uniform
from multiduel.kernels.tallies import count_duel

NONE = -1


class Params(NamedTuple):
    alpha: float = 0.51  # the experiments' value; the theorem needs more than 1


class State(NamedTuple):
    W: Floats  # f8[K, K]  wins of i over j
    lead: Floats  # f8[K, K]  d |d| / (4 alpha N_ij), d = W_ij - W_ji: i's lead over j, j's deficit; inf on the diagonal
    mean: Floats  # f8[K, K]  row c, place j: W_jc / N_jc, with 2 for pairs that never met
    root: Floats  # f8[K, K]  1 / sqrt(N_jc), with 0 for pairs that never met
    Z: Floats  # f8[K]     the largest deficit of each arm, 0 if none
    u: Floats  # f8[K]     scratch: u_jc
    pool: Ints  # i8[K + 1] scratch: the candidates
    B: Ints  # i8[1]     the hypothesised best arm, or NONE


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    K = n_arms
    lead = np.zeros((K, K))
    np.fill_diagonal(lead, np.inf)
    mean, root, pool = np.full((K, K), 2.0), np.zeros((K, K)), np.zeros(K + 1, np.int64)
    return State(np.zeros((K, K)), lead, mean, root, np.zeros(K), np.zeros(K), pool, np.full(1, NONE))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    W, K = state.W, state.W.shape[0]
    behind = validity.deficits(W, params.alpha)
    lead = behind.T - behind
    np.fill_diagonal(lead, np.inf)
    N = W + W.T
    return {
        "W": validity.tally(W),
        "lead": validity.close(state.lead, lead),
        "mean": validity.close(state.mean, validity.per_duel(W.T, N, 2.0)),
        "root": validity.close(state.root, validity.per_duel(np.sqrt(N), N, 0.0)),
        "Z": validity.close(state.Z, behind.max(axis=1)),
        "u": validity.SCRATCH,
        "pool": validity.SCRATCH,
        "B": validity.arms(state.B, K, none=True),
    }


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    Z, B, pool, u = state.Z, state.B, state.pool, state.u
    K = Z.shape[0]
    log_t = math.log(float(round))

    size = 0  # C <- { c : u_cj >= 1/2 for all j }, in pool[:size]
    nearest = math.inf  # the smallest Z outside C
    for i in range(K):
        inside = Z[i] <= log_t
        pool[size] = i
        size += 1 if inside else 0
        nearest = min(nearest, math.inf if inside else Z[i])
    if B[0] != NONE and Z[B[0]] > log_t:  # B <- B intersect C
        B[0] = NONE

    if size == 0:  # C empty: c from all arms
        c = below(K, rng)
    elif size == 1:  # |C| = 1: B <- C
        c = pool[0]
        B[0] = c
    elif B[0] == NONE:
        c = pool[below(size, rng)]
    elif uniform(rng) < 0.5:
        c = B[0]
    else:  # from C \ B
        place = below(size - 1, rng)
        c = pool[place] if pool[place] < B[0] else pool[place + 1]
    slate[0] = c

    if size <= 1:  # nobody else is a candidate: does c's lead over everybody leave only c itself?
        closest = math.inf
        for j in range(K):
            closest = min(closest, state.lead[c, j])
        if closest > log_t:
            return 1, (quiet_rounds(min(nearest, closest), round, limit) if size == 1 else 1)
    width = math.sqrt(params.alpha * log_t)
    for j in range(K):  # d <- argmax_j u_jc
        u[j] = state.mean[c, j] + state.root[c, j] * width
    u[c] = -1.0
    slate[1] = argmax(u, rng)
    return 2, 1


@kernel
def largest_deficit(row: Floats) -> float:
    """Of the arm whose leads are in ``row``."""
    z = 0.0
    for j in range(row.shape[0]):
        z = max(z, -row[j])
    return z


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    lead, Z = state.lead, state.Z
    i, j = slate[0], slate[1]
    before = lead[i, j]
    if not count_duel(state.W, lead, state.mean, state.root, params.alpha, i, j, wins[0, 1], wins[1, 0]):
        return
    after = lead[i, j]
    # A deficit that grew is a candidate for the maximum; one that shrank matters only if it was the maximum.
    Z[i] = largest_deficit(lead[i]) if -before == Z[i] and after > before else max(Z[i], -after)
    Z[j] = largest_deficit(lead[j]) if before == Z[j] and after < before else max(Z[j], after)


@implement(Params)
def recommend(params: Params, state: State) -> int:
    return state.B[0] if state.B[0] != NONE else most_winning(state.W)


SPEC = PolicySpec(
    name="rucb",
    title="RUCB",
    params=Params,
    cite="zoghi2014",
    slate="two",
    assumes="a Condorcet winner",
    regret="O(K ln T) + O(K^2)",
    use="A robust choice for two options at a time when one option beats every other; RMED1 usually learns faster.",
    parameters={
        "alpha": Parameter(meaning="exploration: more than 1/2 to work, more than 1 for the theorem", above=0.5),
    },
)
