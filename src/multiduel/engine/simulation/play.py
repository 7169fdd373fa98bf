"""The compiled play loop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.engine.simulation.delays import answer, arrive
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import ask, meet, recommend, seats

KINDS = ("average", "strong", "weak", "slots")  # rows of `regret`: mean, max, min over the slate; mean over the seats taken
ROUND, MARK, EVENTS, STRETCH = 0, 1, 2, 3  # places in `clock`
FAULT = -(1 << 62)  # in place of an arm


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
    while True:
        quiet = arrive(opponent.world, opponent.key, t, opponent.gaps, wins, params, state, rng)
        if t > pace.horizon or events >= pace.budget:
            break
        events += 1
        left = pace.horizon + 1 - t
        limit = left if left < pace.stride else pace.stride
        limit = quiet if quiet < limit else limit  # a choice may change when an answer arrives
        meet(opponent.world, opponent.key, t, opponent.gaps, params, state)
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
            answer(opponent.world, opponent.key, t, rounds, slate[:n], wins, params, state, rng)

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
