"""MergeRUCB: RUCB in small batches that merge as their losers drop out, for many arms.

Paper      Zoghi, Whiteson, de Rijke. MergeRUCB: A Method for Large-Scale Online Ranker Evaluation. WSDM 2015.
Assumes    a Condorcet winner.
Symbols    K arms, p batch size, alpha exploration, delta failure probability,
           C(delta) = ((4 alpha - 1) K^2 / ((2 alpha - 1) delta))^(1 / (2 alpha - 1)), W[i, j] wins of i over j,
           N_ij = W_ij + W_ji, u_ij = W_ij / N_ij + sqrt(alpha ln(t + C) / N_ij), u_ii = 1/2, S the stage.
Deviates   where the paper is open: ceil(K / p) batches as equal as can be; an unplayed pair has u = 2; a batch whose
           arms all would drop (a cycle) keeps them; batches merge smallest with largest, the middle one of an odd
           number stays.

    shuffle the arms into batches B_0, B_1, ...;  S <- 1
    for t = 1, 2, ...
      b <- t mod number of batches
      drop from B_b every arm k with u_kl < 1/2 for some l in B_b
      if |B_b| = 1 and there are other batches:  merge B_b with the next
      c uniformly from B_b;  d <- argmax of u_jc over j in B_b, j != c;  play (c, d);  update W
      if at most K / 2^S arms are left:  merge batches in pairs, small with large;  S <- S + 1

How it is computed. u_kl < 1/2 means d^2 / N > 4 alpha ln(t + C) with d = W_lk - W_kl > 0. One arm left is one
commitment.

>>> from multiduel import make
>>> len(make("merge-rucb", n_arms=50, seed=0).ask().arms)
2
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.batches import Batches, drop_members, merge_in_pairs, merge_with_next, shuffle_into_batches, valid_batches
from multiduel.kernels.choice import argmax, share_won
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.random import below


class Params(NamedTuple):
    alpha: float = 1.01
    batch_size: int = 4  # p
    delta: float = 0.01


class State(NamedTuple):
    W: Floats  # f8[K, K]  wins of i over j
    batches: Batches
    drop: Ints  # i8[K]     scratch: 1 for a place of the batch that drops out
    u: Floats  # f8[K]     scratch: u_jc by place in the batch


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    batches = shuffle_into_batches(n_arms, params.batch_size, rng)
    return State(np.zeros((n_arms, n_arms)), batches, np.zeros(n_arms, np.int64), np.zeros(n_arms))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    return {
        "W": validity.tally(state.W),
        "batches": valid_batches(state.batches),
        "drop": validity.SCRATCH,
        "u": validity.SCRATCH,
    }


@kernel
def log_time(params: Params, n_arms: int, round: int) -> float:
    """ln(t + C(delta)), by ln C since C may exceed all numbers when alpha is near 1/2."""
    a = params.alpha
    log_C = math.log((4.0 * a - 1.0) * n_arms * n_arms / ((2.0 * a - 1.0) * params.delta)) / (2.0 * a - 1.0)
    return log_C + math.log1p(round * math.exp(-log_C))


@kernel
def drop_losers(W: Floats, batches: Batches, b: int, threshold: float, drop: Ints) -> None:
    """drop from B_b every arm k with u_kl < 1/2 for some l in B_b"""
    n = batches.size[b]
    members = batches.arms[batches.first[b] : batches.first[b] + n]
    for x in range(n):
        k = members[x]
        drop[x] = 0
        for y in range(n):
            d = W[members[y], k] - W[k, members[y]]
            if d > 0.0 and d * d / (W[members[y], k] + W[k, members[y]]) > threshold:
                drop[x] = 1
    drop_members(batches, b, drop)


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    W, batches, u = state.W, state.batches, state.u
    K = W.shape[0]
    if batches.tally[0] == 1 and batches.size[0] == 1:  # one arm is left, for good
        slate[0] = batches.arms[batches.first[0]]
        return 1, limit
    log_t = log_time(params, K, round)
    b = round % batches.tally[0]
    drop_losers(W, batches, b, 4.0 * params.alpha * log_t, state.drop)
    if batches.size[b] == 1 and batches.tally[0] > 1:
        b = merge_with_next(batches, b)
    n = batches.size[b]
    members = batches.arms[batches.first[b] : batches.first[b] + n]
    place = below(n, rng) if n > 1 else 0
    c = members[place]
    slate[0] = c
    if n > 1:
        for x in range(n):
            N = W[members[x], c] + W[c, members[x]]
            u[x] = W[members[x], c] / N + math.sqrt(params.alpha * log_t / N) if N > 0.0 else 2.0
        u[place] = -1.0
        slate[1] = members[argmax(u[:n], rng)]
    merge_in_pairs(batches)  # if at most K / 2^S arms are left
    return (2, 1) if n > 1 else (1, limit)


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    state.W[slate[0], slate[1]] += wins[0, 1]
    state.W[slate[1], slate[0]] += wins[1, 0]


@implement(Params)
def recommend(params: Params, state: State) -> int:
    """Of the arms that are left, the one with the largest share of its duels won."""
    W, batches = state.W, state.batches
    best = batches.arms[batches.first[0]]
    best_share = -1.0
    for b in range(batches.tally[0]):
        for place in range(batches.first[b], batches.first[b] + batches.size[b]):
            i = batches.arms[place]
            share = share_won(W, i)
            if share > best_share:
                best_share = share
                best = i
    return best


SPEC = PolicySpec(
    name="merge-rucb",
    title="MergeRUCB",
    params=Params,
    cite="zoghi2015merge",
    slate="two",
    assumes="a Condorcet winner",
    regret="O(K ln T) with probability 1 - delta",
    use="Hundreds of options, two at a time, one of which beats every other; it drops options for good.",
    parameters={
        "alpha": Parameter(meaning="exploration", above=0.5),
        "batch_size": Parameter(meaning="arms in a batch, about", at_least=2),
        "delta": Parameter(meaning="probability that the winner is dropped, at most", above=0.0, at_most=1.0),
    },
)
