"""The compiled play loop, and single asks and tells: the entries that Python calls."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import ask, compare, recommend, seats, tell
from multiduel.kernels.dispatch import kernel
from multiduel.kernels.evidence import Counts, count_answer
from multiduel.kernels.random import binomial, chance_of_pair, pair_number, place, reseed

KINDS = ("average", "strong", "weak", "slots")  # rows of `regret`: mean, max, min over the slate; mean over the seats taken
ROUND, MARK, EVENTS, STRETCH = 0, 1, 2, 3  # places in `clock`
FAULT = -(1 << 62)  # in place of an arm

MOST_WEIGHT = 1e9  # of a duel that is told: even 10^9 of them sum to what every kernel can still count with
MOST_WINS = 1e15  # of one arm over another in a tally


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


class Opponent(NamedTuple):
    """What the policy plays against, and what its choices cost there."""

    world: Any  # who beats whom: what ``compare`` is dispatched on
    key: np.uint64  # of the world's randomness
    gaps: Floats  # f8[K]


class Pace(NamedTuple):
    """How far to play."""

    horizon: int
    stride: int  # commit ahead by at most this many rounds; 1 is stepping
    budget: int  # return to Python after this many events
    watched: bool  # look at every slate before it is used: the policy is not ours


class Record(NamedTuple):
    """What is written down on the way; call ``play`` again with it to go on."""

    checkpoints: Ints  # i8[C]     rounds, ascending
    clock: Ints  # i8[4]     round to play, next checkpoint, events so far, rounds at the current rate
    totals: Floats  # f8[2, 4]  regret before the current stretch; the rate of the current stretch
    regret: Floats  # f8[4, C]
    slate: Ints  # scratch
    wins: Floats  # scratch


@kernel
def faulty(slate: Ints, n: int, rounds: int, limit: int, most: int, n_arms: int) -> bool:
    """Is this no slate of 1 to ``most`` different arms, or no commitment of 1 to ``limit`` rounds?"""
    if n < 1 or n > most or rounds < 1 or rounds > limit:
        return True
    for a in range(n):
        if slate[a] < 0 or slate[a] >= n_arms:
            return True
        for b in range(a):
            if slate[a] == slate[b]:
                return True
    return False


def play(params: Any, state: Any, rng: Stream, opponent: Opponent, pace: Pace, record: Record) -> int:
    """Play to the horizon, or until the budget is spent; call again to go on. Returns the arm recommended by then; or FAULT,
    with what ``ask`` returned in place of mark and stretch, if a slate that is watched is none.

    Regret is summed as (rate) x (rounds) over stretches of equal rate, so that it is the same to the last bit whether a
    stretch was played as one event or in many.
    """
    checkpoints, clock, slate, wins = record.checkpoints, record.clock, record.slate, record.wins
    total, rate = record.totals[0], record.totals[1]
    K = opponent.gaps.shape[0]
    t = clock[ROUND]
    mark = clock[MARK]
    stretch = clock[STRETCH]
    events = 0
    while t <= pace.horizon and events < pace.budget:
        events += 1
        left = pace.horizon + 1 - t
        limit = left if left < pace.stride else pace.stride
        n, rounds = ask(params, state, rng, t, limit, slate)
        if pace.watched and faulty(slate, n, rounds, limit, min(wins.shape[0], K), K):
            clock[ROUND] = t
            clock[MARK] = n
            clock[STRETCH] = rounds
            return FAULT

        mean = 0.0
        worst = 0.0
        best = np.inf
        seated = 0.0
        taken = 0
        for a in range(n):
            gap = opponent.gaps[slate[a]]
            times = seats(params, state, a)
            mean += gap
            worst = gap if gap > worst else worst
            best = gap if gap < best else best
            seated += gap * times
            taken += times
        mean /= n
        seated = mean if taken == n else seated / taken
        if not (mean == rate[0] and worst == rate[1] and best == rate[2] and seated == rate[3]):
            for kind in range(4):
                total[kind] += rate[kind] * stretch
            rate[0] = mean
            rate[1] = worst
            rate[2] = best
            rate[3] = seated
            stretch = 0

        if n > 1:
            compare(opponent.world, opponent.key, t, rounds, slate[:n], wins)
            tell(params, state, rng, t, slate[:n], wins)

        while mark < checkpoints.shape[0] and checkpoints[mark] < t + rounds:
            for kind in range(4):
                record.regret[kind, mark] = total[kind] + rate[kind] * (stretch + (checkpoints[mark] - t + 1))
            mark += 1
        stretch += rounds
        t += rounds
    clock[ROUND] = t
    clock[MARK] = mark
    clock[EVENTS] += events
    clock[STRETCH] = stretch
    return recommend(params, state)


class Duel(NamedTuple):
    """Room for one pair of arms."""

    pair: Ints  # i8[2]
    wins: Floats  # f8[2, 2]


def ask_once(params: Any, state: Any, rng: Stream, round: int, slate: Ints) -> int:
    """One ask, committing to nothing. Returns how many arms it wrote into ``slate``."""
    n, _ = ask(params, state, rng, round, 1, slate)
    return n


@kernel
def sensible(wins: Floats, most: float) -> bool:
    """Are these weights of duels: from 0 to ``most``, and none of an arm against itself?"""
    n = wins.shape[0]
    good = True
    for a in range(n):
        good &= wins[a, a] == 0.0
        for b in range(n):
            good &= (wins[a, b] >= 0.0) & (wins[a, b] <= most)
    return good


@kernel
def count(slate: Ints, wins: Floats, tally: Counts) -> bool:
    """Count an answer in ``tally``, unless that is empty: what many answers gave is no answer. Was anything compared?"""
    compared = any_positive(wins)
    if compared and tally.above.shape[0] > 0:
        count_answer(tally, slate, wins)
    return compared


@kernel
def any_positive(wins: Floats) -> bool:
    for a in range(wins.shape[0]):
        for b in range(wins.shape[1]):
            if wins[a, b] > 0.0:
                return True
    return False


def tell_once(params: Any, state: Any, rng: Stream, round: int, slate: Ints, wins: Floats, tally: Counts) -> bool:
    """One tell, also counted in ``tally``. Wins that are not wins change nothing and give False."""
    if not sensible(wins, MOST_WEIGHT):
        return False
    if count(slate, wins, tally):
        tell(params, state, rng, round, slate, wins)
    return True


def observe_slate(params: Any, state: Any, rng: Stream, most: float, duel: Duel, arms: Ints, wins: Floats, tally: Counts) -> bool:
    """A comparison, or a whole tally, that the policy did not ask for, told as one slate."""
    if not sensible(wins, most):
        return False
    if count(arms, wins, tally):
        tell(params, state, rng, 0, arms, wins)
    return True


def observe_pairs(params: Any, state: Any, rng: Stream, most: float, duel: Duel, arms: Ints, wins: Floats, tally: Counts) -> bool:
    """The same, told pair by pair: a two-dueling kernel looks at two arms only."""
    if not sensible(wins, most):
        return False
    count(arms, wins, tally)
    for a in range(arms.shape[0]):
        for b in range(a + 1, arms.shape[0]):
            if wins[a, b] + wins[b, a] > 0.0:
                duel.pair[0] = arms[a]
                duel.pair[1] = arms[b]
                duel.wins[0, 1] = wins[a, b]
                duel.wins[1, 0] = wins[b, a]
                tell(params, state, rng, 0, duel.pair, duel.wins)
    return True


def recommend_once(params: Any, state: Any) -> int:
    return recommend(params, state)
