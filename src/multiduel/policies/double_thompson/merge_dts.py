"""MergeDTS: Thompson sampling in batches that merge as their losers drop out, for very many arms.

Paper      Li, Markov, de Rijke, Zoghi. MergeDTS: A Method for Effective Large-Scale Online Ranker Evaluation. TOIS
           2020.
Assumes    a Condorcet winner.
Symbols    K arms, M batch size, alpha and C width of the bounds, W[i, j] wins of i over j, N_ij = W_ij + W_ji, u_ij =
           W_ij / N_ij + sqrt(alpha ln(t + C) / N_ij), theta a draw from the belief about a pair, S the stage.
Deviates   defaults are the paper's tuned ones, alpha = 0.8^6, M = 16, C = 4e5; its theorem is for alpha > 1/2, M = 4
           and C = ((4 alpha - 1) K^2 / ((2 alpha - 1) delta))^(1 / (2 alpha - 1)). Where the paper is open, batches
           are as in policies/merge_rucb.py; a batch whose arms all would drop (a cycle) keeps them.

    shuffle the arms into batches B_0, B_1, ... of about M;  S <- 1
    for t = 1, 2, ...
      b <- t mod number of batches
      drop from B_b every arm k with u_kl < 1/2 for some l in B_b
      if |B_b| = 1 and there are other batches:  merge B_b with the next
      theta_ij ~ Beta(W_ij + 1, W_ji + 1) within B_b;  a1 <- the arm that wins the most, ties at random
      g_i ~ Beta(W_i,a1 + 1, W_a1,i + 1) for i in B_b, i != a1;  a2 <- argmin g_i
      play (a1, a2);  update W
      if at most K / 2^S + 1 arms are left:  merge batches in pairs, small with large;  S <- S + 1

How it is computed. Of theta_ij only "above 1/2" matters, a coin of known chance (beliefs.py). One arm
left is one commitment.

>>> from multiduel import make
>>> len(make("merge-dts", n_arms=50, seed=0).ask().arms)
2
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.batches import Batches, drop_members, merge_in_pairs, merge_with_next, shuffle_into_batches, valid_batches
from multiduel.kernels.choice import argmax
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.random import beta, uniform
from multiduel.policies.double_thompson.beliefs import (
    DIRECT,
    DRAWS,
    LAZY,
    LAZY_EXCEPTIONS,
    Beliefs,
    fresh_beliefs,
    update,
    valid_beliefs,
)


class Params(NamedTuple):
    alpha: float = 0.262144  # 0.8^6
    batch_size: int = 16  # M
    C: float = 4e5
    draws: int = LAZY


class State(NamedTuple):
    beliefs: Beliefs
    batches: Batches
    drop: Ints  # i8[K]  scratch: 1 for a place of the batch that drops out
    score: Floats  # f8[K]  scratch: sampled duels won, by place in the batch


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    batches = shuffle_into_batches(n_arms, params.batch_size, rng)
    return State(fresh_beliefs(n_arms), batches, np.zeros(n_arms, np.int64), np.zeros(n_arms))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    return {
        "beliefs": valid_beliefs(state.beliefs),
        "batches": valid_batches(state.batches),
        "drop": validity.SCRATCH,
        "score": validity.SCRATCH,
    }


@kernel
def drop_losers(Z: Floats, batches: Batches, b: int, threshold: float, drop: Ints) -> None:
    """drop from B_b every arm k with u_kl < 1/2 for some l in B_b"""
    n = batches.size[b]
    members = batches.arms[batches.first[b] : batches.first[b] + n]
    for x in range(n):
        drop[x] = 0
        for y in range(n):
            drop[x] |= 1 if Z[members[x], members[y]] > threshold else 0
    drop_members(batches, b, drop)


@kernel
def sampled_winner(params: Params, beliefs: Beliefs, members: Ints, score: Floats, rng: Stream) -> int:
    """The place in the batch of the arm that wins the most sampled duels."""
    W, above = beliefs.W, beliefs.above
    n = members.shape[0]
    for x in range(n):
        score[x] = 0.0
    for x in range(n):
        i = members[x]
        for y in range(x + 1, n):
            j = members[y]
            if params.draws == DIRECT:
                wins = 1.0 if beta(W[i, j] + 1.0, W[j, i] + 1.0, rng) > 0.5 else 0.0
            else:
                wins = 1.0 if uniform(rng) < above[i, j] else 0.0
            score[x] += wins
            score[y] += 1.0 - wins
    return argmax(score[:n], rng)


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    beliefs, batches = state.beliefs, state.batches
    W = beliefs.W
    if batches.tally[0] == 1 and batches.size[0] == 1:  # one arm is left, for good
        slate[0] = batches.arms[batches.first[0]]
        return 1, limit
    b = round % batches.tally[0]
    drop_losers(beliefs.Z, batches, b, 4.0 * params.alpha * math.log(round + params.C), state.drop)
    if batches.size[b] == 1 and batches.tally[0] > 1:
        b = merge_with_next(batches, b)
    n = batches.size[b]
    members = batches.arms[batches.first[b] : batches.first[b] + n]
    a1 = members[0]
    if n > 1:
        place = sampled_winner(params, beliefs, members, state.score, rng)
        a1 = members[place]
        least = 2.0
        for x in range(n):  # a2: the arm most likely to be dropped by a1
            if x != place:
                i = members[x]
                g = beta(W[i, a1] + 1.0, W[a1, i] + 1.0, rng)
                if g < least:
                    least = g
                    slate[1] = i
    slate[0] = a1
    merge_in_pairs(batches, 1)  # if at most K / 2^S + 1 arms are left
    return min(n, 2), 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    if slate.shape[0] == 2 and wins[0, 1] + wins[1, 0] > 0.0:
        update(state.beliefs, slate[0], slate[1], wins[0, 1], wins[1, 0])


@implement(Params)
def recommend(params: Params, state: State) -> int:
    """Of the arms that are left, the one most likely to win all its duels."""
    batches, log_row = state.batches, state.beliefs.log_row
    best = batches.arms[batches.first[0]]
    for b in range(batches.tally[0]):
        for place in range(batches.first[b], batches.first[b] + batches.size[b]):
            best = batches.arms[place] if log_row[batches.arms[place]] > log_row[best] else best
    return best


SPEC = PolicySpec(
    name="merge-dts",
    title="MergeDTS",
    params=Params,
    cite="li2020",
    slate="two",
    assumes="a Condorcet winner",
    regret="O(K ln T) with high probability",
    use="Hundreds of options, two at a time, one of which beats every other; it drops options for good.",
    parameters={
        "alpha": Parameter(meaning="width of the confidence bounds; the theorem needs more than 1/2", above=0.0),
        "batch_size": Parameter(meaning="arms in a batch, about", at_least=2),
        "C": Parameter(meaning="rounds added to the time in the bounds: more is more careful", at_least=1.0),
        "draws": DRAWS,
    },
    exceptions=LAZY_EXCEPTIONS,
)
