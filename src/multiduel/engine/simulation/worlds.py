"""Worlds: what a policy plays against in a simulation. Each answers ``compare`` for a slate."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import compare, meet, see
from multiduel.kernels.linear_utilities import logistic
from multiduel.kernels.random import binomial, chance, chance_of_pair, pair_number, place, reseed

NOISE = 1 << 31  # numbers of the draws that rank a slate: apart from those of items (arms) and of coins (pairs)
CONTEXT = 1 << 30  # number of the draw of a round's context


class Matrix(NamedTuple):
    """A world given by a preference matrix: one independent coin per pair and round.

    The coin of a pair in a round is a function of (key, round, pair), whoever else is in the slate and wherever the two sit:
    policies that compare the same two arms in the same round of the same run see the same outcome.
    """

    sides: Floats  # f8[K, K]  see ``sides``


def sides(P: Floats) -> Floats:
    """P[i, j] where i < j, and -P[j, i] where i > j: the sign tells from which side a pair's coin is seen, that of -0.0 too."""
    return np.ascontiguousarray(np.where(np.triu(np.ones(P.shape, bool)), P, -P.T))


@kernel
def beats(side: float, draw: float) -> float:
    """1 if the arm on this side of a pair won the draw, else 0. Of two arms one wins (but for one draw in 2^53)."""
    return 1.0 if math.copysign(draw, side) < side else 0.0


@compare.implement(Matrix)
def toss(world: Matrix, key: np.uint64, round: int, rounds: int, slate: Ints, wins: Floats) -> None:
    n = slate.shape[0]
    start = place(key, round)
    for a in range(n):
        i = slate[a]
        for b in range(a + 1, n):
            j = slate[b]
            won = beats(world.sides[i, j], chance_of_pair(start, i, j))
            for later in range(1, rounds):
                won += beats(world.sides[i, j], chance_of_pair(place(key, round + later), i, j))
            wins[a, b] = won
            wins[b, a] = rounds - won


class BlockMatrix(NamedTuple):
    """The same world for policies that commit to several arms for many rounds: a pair's coins are one binomial.

    A world of its own because the binomial takes a second to compile, and few policies need it.
    """

    sides: Floats  # f8[K, K]
    scratch: Stream


@compare.implement(BlockMatrix)
def toss_blocks(world: BlockMatrix, key: np.uint64, round: int, rounds: int, slate: Ints, wins: Floats) -> None:
    n = slate.shape[0]
    start = place(key, round)
    for a in range(n):
        i = slate[a]
        for b in range(a + 1, n):
            j = slate[b]
            if rounds == 1:
                won = beats(world.sides[i, j], chance_of_pair(start, i, j))
            else:
                reseed(start, pair_number(i, j), world.scratch)
                won = float(binomial(rounds, world.sides[min(i, j), max(i, j)], world.scratch))
                won = won if i < j else rounds - won
            wins[a, b] = won
            wins[b, a] = rounds - won


class PlackettLuce(NamedTuple):
    """Every answer ranks the slate: by strength plus Gumbel noise, which is Plackett and Luce's law."""

    strength: Floats  # f8[K]
    score: Floats  # f8[n]  scratch


@compare.implement(PlackettLuce)
def rank(world: PlackettLuce, key: np.uint64, round: int, rounds: int, slate: Ints, wins: Floats) -> None:
    n = slate.shape[0]
    for a in range(n):
        for b in range(n):
            wins[a, b] = 0.0
    for t in range(round, round + rounds):
        start = place(key, t)
        for a in range(n):
            u = 1.0 - chance(start, slate[a])  # above 0, so that both logarithms are finite but for u = 1
            world.score[a] = world.strength[slate[a]] - math.log(-math.log(u)) if u < 1.0 else math.inf
        for a in range(n):
            for b in range(n):
                wins[a, b] += 1.0 if world.score[a] > world.score[b] else 0.0


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
