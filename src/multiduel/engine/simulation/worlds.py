"""Worlds: what a policy plays against in a simulation. Each answers ``compare`` for a slate."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import compare
from multiduel.kernels.random import binomial, chance, chance_of_pair, pair_number, place, reseed


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
                reseed(world.scratch, start, pair_number(i, j))
                won = float(binomial(world.scratch, rounds, world.sides[min(i, j), max(i, j)]))
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
