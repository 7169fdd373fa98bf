"""The world of rounds that differ: it shows the features of a round, knows what each arm costs in it, and answers slates."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import compare, meet, see
from multiduel.kernels.linear_utilities import logistic
from multiduel.kernels.random import chance, chance_of_pair, place

NOISE = 1 << 31  # numbers of the draws that rank a slate: apart from those of items (arms) and of coins (pairs)
CONTEXT = 1 << 30  # number of the draw of a round's context


class Contexts(NamedTuple):
    """A world of rounds that differ. Items, coins and noise are functions of (key, round, arm)."""

    rows: Floats  # f8[N, d] of items; or f8[N K, d], K rows for each context
    utilities: Floats  # f8[N], or f8[N K]
    grouped: bool  # a round draws one context, which has a row for every arm; else an item for each arm
    linear: bool  # link: P = 1/2 + (u_i - u_j) / 2, cut to [0, 1]; else logit
    rankings: bool  # a slate is ranked as a whole (Plackett, Luce); else one coin per pair
    chances: bool  # gaps are chances, P(best beats i) - 1/2; else utilities, u_best - u_i
    lies: int  # rounds whose answers are turned round, from the first on
    labels: Ints  # i8[K]     our number of each arm of the policy
    arms: Ints  # i8[K]     0 .. K-1
    shown: Floats  # f8[K, d]  scratch from here on: features of the round
    u: Floats  # f8[K]
    score: Floats  # f8[m]


@kernel
def chance_to_win(world: Contexts, apart: float) -> float:
    return min(max(0.5 + 0.5 * apart, 0.0), 1.0) if world.linear else logistic(apart)


@meet.implement(Contexts)
def present(world: Contexts, key: np.uint64, round: int, gaps: Floats, params: Any, state: Any) -> None:
    K, start, best = world.u.shape[0], place(key, round), -math.inf
    groups = world.utilities.shape[0] // K if world.grouped else 0
    first = int(chance(start, CONTEXT) * groups) * K
    for k in range(K):
        label = world.labels[k]
        item = first + label if world.grouped else int(chance(start, label) * world.utilities.shape[0])
        world.u[k] = world.utilities[item]
        best = max(best, world.u[k])
        for i in range(world.shown.shape[1]):
            world.shown[k, i] = world.rows[item, i]
    for k in range(K):
        apart = best - world.u[k]
        gaps[k] = chance_to_win(world, apart) - 0.5 if world.chances else apart
    see(params, state, world.arms, world.shown)


@compare.implement(Contexts)
def answer(world: Contexts, key: np.uint64, round: int, rounds: int, slate: Ints, wins: Floats) -> None:
    start = place(key, round)
    for a in range(slate.shape[0]):
        i = slate[a]
        draw = 1.0 - chance(start, NOISE + i)  # above 0, so that both logarithms are finite but for 1
        world.score[a] = world.u[i] - math.log(-math.log(draw)) if draw < 1.0 else math.inf
        wins[a, a] = 0.0
        for b in range(a):
            j = slate[b]
            if world.rankings:
                won = 1.0 if world.score[a] > world.score[b] else 0.0
            else:
                low, high = min(i, j), max(i, j)  # a pair's coin is the same from both sides
                above = chance_of_pair(start, i, j) < chance_to_win(world, world.u[low] - world.u[high])
                won = 1.0 if above == (i == low) else 0.0
            if round <= world.lies:
                won = 1.0 - won
            wins[a, b] = won
            wins[b, a] = 1.0 - won
