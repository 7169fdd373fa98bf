"""What RMED1, RMED2 and RMED2FH share: draws that fill up every pair, sweeps over the arms that may be the winner."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmin, random_order
from multiduel.kernels.contract import Parameter
from multiduel.kernels.dispatch import kernel
from multiduel.kernels.quiet import quiet_through
from multiduel.policies.rmed.divergence import Duels, no_duels, sound_duels

NONE = -1
SWEEPING, ARM, LEFT, RIGHT, FILLED = 0, 1, 2, 3, 4  # places in `place`

PARAMETERS = {
    "f_factor": Parameter(meaning="f(K) = f_factor K^f_exponent, evidence allowed beyond ln t", at_least=0.0),
    "f_exponent": Parameter(meaning="f(K) = f_factor K^f_exponent", at_least=0.0),
}


class Sweep(NamedTuple):
    duels: Duels
    drawn: Ints  # i8[K, K]  draws of a pair i < j asked for, answered or not
    order: Ints  # i8[K]     the order in which sweeps go through the arms; a place is an index into it
    listed: Ints  # i8[K]     by place: 1 if in L_C
    next: Ints  # i8[K]     by place: 1 if in L_N
    best: Ints  # i8[K]     b_l where it is fixed in advance, or NONE
    values: Floats  # f8[K]     scratch
    place: Ints  # i8[5]     sweeping or filling; l's place in the last step; those of the pair to look at; draws that
    #                       every pair has


def start_filling(n_arms: int, rng: Stream) -> Sweep:
    K = n_arms
    return Sweep(
        no_duels(K),
        np.zeros((K, K), np.int64),
        random_order(K, rng),
        np.ones(K, np.int64),
        np.zeros(K, np.int64),
        np.full(K, NONE),
        np.zeros(K),
        np.array([0, NONE, 0, 1, 0]),
    )


def sound_sweep(sweep: Sweep, round: int) -> dict[str, Any]:
    """There is always an arm to go on with: one of L_C after the last, or one that ``end_step`` will find."""
    K, place = len(sweep.order), sweep.place
    left, right = place[LEFT], place[RIGHT]
    goes_on = bool(sweep.listed.any()) if place[ARM] == NONE else place[SWEEPING] == 1 and 0 <= place[ARM] < K and round >= 1
    pair = 0 <= left < right < max(K, 2)
    return {
        "duels": sound_duels(sweep.duels),
        "drawn": validity.counts(sweep.drawn),
        "order": validity.order(sweep.order),
        "listed": validity.flags(sweep.listed),
        "next": validity.flags(sweep.next),
        "best": validity.arms(sweep.best, K, none=True),
        "values": validity.SCRATCH,
        "place": validity.flags(place[SWEEPING]) and goes_on and pair and validity.counts(place[FILLED]),
    }


@kernel
def lnln(t: float) -> float:
    """ln ln t, at t = 3 for smaller t, so that it is positive."""
    return math.log(math.log(max(t, 3.0)))


@kernel
def fill(sweep: Sweep, level: float, slate: Ints) -> bool:
    """Seat the next pair, in order, drawn fewer than ``level`` times; duels that were observed count as drawn. False once all
    pairs were looked at."""
    place = sweep.place
    K = sweep.listed.shape[0]
    while place[LEFT] < K - 1:
        i, j = sweep.order[place[LEFT]], sweep.order[place[RIGHT]]
        if sweep.drawn[min(i, j), max(i, j)] < level and sweep.duels.N[i, j] < level:
            draw(sweep, i, j, slate)
            return True
        place[RIGHT] += 1
        if place[RIGHT] == K:
            place[LEFT] += 1
            place[RIGHT] = place[LEFT] + 1
    place[LEFT] = 0
    place[RIGHT] = 1
    place[SWEEPING] = 1
    return False


@kernel
def draw(sweep: Sweep, i: int, j: int, slate: Ints) -> None:
    """Seat a pair of different arms and count it."""
    slate[0] = i
    slate[1] = j
    sweep.drawn[min(i, j), max(i, j)] += 1


@kernel
def end_step(sweep: Sweep, f: float, round: int) -> bool:
    """After (l, m) was played last round: L_R -= {l}; add to L_N every j outside L_R with J_j. True if L_C is done.

    J_j: I_j - min I <= ln t + f(K). L_R are the arms of L_C at later places than l.
    """
    order, listed, next, I = sweep.order, sweep.listed, sweep.next, sweep.duels.I
    last = sweep.place[ARM]
    if last == NONE:
        return False
    least = math.inf
    for j in range(I.shape[0]):
        least = min(least, I[j])
    log_t = math.log(round - 1.0)
    remaining = 0
    for k in range(order.shape[0]):
        waits = listed[k] if k > last else 0
        remaining += waits
        next[k] |= 1 - waits if I[order[k]] - least - f <= log_t else 0
    if remaining > 0:
        return False
    for k in range(order.shape[0]):  # L_C, L_R <- L_N; L_N <- empty
        listed[k] = next[k]
        next[k] = 0
    sweep.place[ARM] = NONE
    return True


@kernel
def next_arm(sweep: Sweep) -> int:
    """The next l of L_C."""
    k = sweep.place[ARM] + 1
    while sweep.listed[k] == 0:
        k += 1
    sweep.place[ARM] = k
    return sweep.order[k]


@kernel
def opponent(sweep: Sweep, l: int, i_star: int, rng: Stream) -> int:
    """RMED1's m: i* if it beat l, or if nobody beat l; else the arm that beat l most clearly."""
    P, values = sweep.duels.P, sweep.values
    if l != i_star and P[l, i_star] <= 0.5:
        return i_star
    lowest = math.inf
    for j in range(values.shape[0]):
        values[j] = P[l, j] if j != l else math.inf
        lowest = min(lowest, values[j])
    return argmin(values, rng) if lowest <= 0.5 else i_star


@kernel
def best_opponent(sweep: Sweep, l: int, i_star: int, rng: Stream) -> int:
    """b_l: the opponent whose duels with l cost least regret per evidence against l. NONE if nobody beat l."""
    P, kl, values = sweep.duels.P, sweep.duels.kl, sweep.values
    lowest = math.inf
    for j in range(values.shape[0]):
        beaten = j != l and P[l, j] < 0.5
        values[j] = max(P[i_star, l] + P[i_star, j] - 1.0, 0.01) / kl[l, j] if beaten else math.inf
        lowest = min(lowest, values[j])
    return argmin(values, rng) if lowest < math.inf else NONE


@kernel
def cheap_opponent(sweep: Sweep, l: int, i_star: int, b: int, loglog: float, rng: Stream) -> int:
    """RMED2's m: b_l, as long as l met i* often enough; else RMED1's."""
    N, P = sweep.duels.N, sweep.duels.P
    if b != NONE and P[l, b] <= 0.5 and N[l, i_star] >= N[l, b] / loglog:
        return b
    return opponent(sweep, l, i_star, rng)


@kernel
def seat(sweep: Sweep, l: int, m: int, f: float, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    """Play (l, m). If L_C = {l} and nobody beat l, (l, l) repeats until ln t lets another arm in: one commitment."""
    if l != m:
        draw(sweep, l, m, slate)
        return 2, 1
    slate[0] = l
    I = sweep.duels.I
    nearest = math.inf
    for k in range(I.shape[0]):
        j = sweep.order[k]
        if j != l:
            if sweep.listed[k] == 1:
                return 1, 1
            nearest = min(nearest, I[j])
    return 1, quiet_through(nearest - I[l] - f, round, limit)
