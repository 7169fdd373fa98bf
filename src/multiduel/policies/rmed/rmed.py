"""RMED1, RMED2 and RMED2FH: every arm that may be the Condorcet winner meets an arm that is likely to refute it.

Paper      Komiyama, Honda, Kashima, Nakagawa. Regret Lower Bound and Optimal Algorithm in Dueling Bandit Problem.
           COLT 2015: Algorithm 1 is all three, with the opponents m of Algorithm 2 (RMED1) or 3 (RMED2, RMED2FH).
Assumes    a Condorcet winner, and no two arms of equal strength; RMED2FH the horizon T.
Symbols    K arms, P_ij share of duels that i won against j, N_ij their number, kl divergence from 1/2, O_l arms that
           beat l (P_lj <= 1/2), I_i = sum over O_i of N_ij kl(P_ij) the evidence against i, i* = argmin I,
           J_j: I_j - I_i* <= ln t + f(K), f(K) = 0.3 K^1.01, L_C arms of this sweep, L_R those still to come, L_N those
           of the next; alpha sets how often RMED2 and RMED2FH draw every pair at least, b_l is the opponent that refutes
           l at the least regret per evidence.
Deviates   nothing in RMED1. RMED2 and RMED2FH: the regret of a duel is counted as at least 0.01 in b_l, as in the authors'
           code: an estimate below zero would win every comparison. ln ln t is taken at t = 3 for smaller t. The
           "arbitrarily fixed order" of arms and pairs is drawn at random at the start.

    draw every pair once                                                                (RMED2FH: ceil(alpha ln ln T) times)
    find b_l for every l                                                                (RMED2FH only)
    L_C <- L_R <- all arms;  L_N <- empty
    repeat
      for each pair:  draw it until N_ij >= alpha ln ln t                               (RMED2 only)
      for l in L_C, in a fixed order
        find b_l                                                                        (RMED2 only)
        m <- the opponent of l
        play (l, m);  L_R <- L_R \\ {l};  L_N <- L_N and every j outside L_R with J_j(t)
      L_C <- L_R <- L_N;  L_N <- empty

    m of RMED1:           i* if i* is in O_l or O_l is empty, else argmin_{j != l} P_lj
    m of RMED2, RMED2FH:  b_l if b_l is in O_l and N_{l i*} >= N_{l b_l} / ln ln t, else RMED1's m       (RMED2FH: ln ln T)
    b_l                   argmin_{j != l} (P_{i* l} + P_{i* j} - 1) / kl(P_lj)  among j with P_lj < 1/2

How it is computed. A duel changes two of the sums I. When L_C = {i*} and nobody beats i*, (i*, i*) repeats, seeing
nothing, until ln t lets another arm back in: one commitment. Whether some pair is short of draws is asked by RMED2 only when
alpha ln ln t passes a whole number.

>>> from multiduel import make
>>> make("rmed1", n_arms=5, seed=0).ask().round, make("rmed2", n_arms=5, seed=0).ask().round
(1, 1)
>>> make("rmed2fh", n_arms=5, seed=0, horizon=1000).ask().round
1
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmin, random_order
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, ask, implement
from multiduel.kernels.quiet import quiet_through
from multiduel.policies.rmed.divergence import Duels, least_refuted, no_duels, record, valid_duels
from multiduel.policies.rmed.forced_draws import draws_due, lnln, rounds_before_due

NONE = -1
SWEEPING, ARM, LEFT, RIGHT, FILLED = 0, 1, 2, 3, 4  # places in `place`


class RMED1(NamedTuple):
    f_factor: float = 0.3
    f_exponent: float = 1.01


class RMED2(NamedTuple):
    alpha: float = 3.0
    f_factor: float = 0.3
    f_exponent: float = 1.01


class RMED2FH(NamedTuple):
    alpha: float = 3.0
    f_factor: float = 0.3
    f_exponent: float = 1.01
    horizon: int = 0  # T


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


@implement(RMED1)
@implement(RMED2)
@implement(RMED2FH)
def init(params: RMED1 | RMED2 | RMED2FH, n_arms: int, rng: Stream) -> Sweep:
    K = n_arms
    return Sweep(
        duels=no_duels(K),
        drawn=np.zeros((K, K), np.int64),
        order=random_order(K, rng),
        listed=np.ones(K, np.int64),
        next=np.zeros(K, np.int64),
        best=np.full(K, NONE),
        values=np.zeros(K),
        place=np.array([0, NONE, 0, 1, 0]),
    )


@implement(RMED1)
@implement(RMED2)
@implement(RMED2FH)
def valid(params: RMED1 | RMED2 | RMED2FH, state: Sweep, n_arms: int, round: int) -> dict[str, Any]:
    """There is always an arm to go on with: one of L_C after the last, or one that ``end_step`` will find."""
    K, place = len(state.order), state.place
    left, right = place[LEFT], place[RIGHT]
    goes_on = bool(state.listed.any()) if place[ARM] == NONE else place[SWEEPING] == 1 and 0 <= place[ARM] < K and round >= 1
    pair = 0 <= left < right < max(K, 2)
    return {
        "duels": valid_duels(state.duels),
        "drawn": validity.counts(state.drawn),
        "order": validity.order(state.order),
        "listed": validity.flags(state.listed),
        "next": validity.flags(state.next),
        "best": validity.arms(state.best, K, none=True),
        "values": validity.SCRATCH,
        "place": validity.flags(place[SWEEPING]) and goes_on and pair and validity.counts(place[FILLED]),
    }


@ask.implement(RMED1)
def ask_rmed1(params: RMED1, state: Sweep, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    if state.place[SWEEPING] == 0 and fill(state, 1.0, slate):  # draw every pair once
        return 2, 1
    f = allowance(params, state)
    end_step(state, f, round)
    l = next_arm(state)
    i_star = argmin(state.duels.I, rng)
    m = opponent(state, l, i_star, rng)
    return seat(state, l, m, f, round, limit, slate)


@ask.implement(RMED2)
def ask_rmed2(params: RMED2, state: Sweep, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    place = state.place
    f = allowance(params, state)
    fresh = place[SWEEPING] == 1 and end_step(state, f, round)  # a new sweep begins
    if place[SWEEPING] == 0 and place[FILLED] == 0:  # draw every pair once
        if fill(state, 1.0, slate):
            return 2, 1
        place[FILLED] = 1
        fresh = True
    if fresh and draws_due(params, round) > place[FILLED]:  # else no pair can be short
        place[SWEEPING] = 0
        place[FILLED] = int(math.ceil(draws_due(params, round)))
    if place[SWEEPING] == 0 and fill(state, draws_due(params, round), slate):
        return 2, 1
    l = next_arm(state)
    i_star = argmin(state.duels.I, rng)
    b = best_opponent(state, l, i_star, rng)
    m = cheap_opponent(state, l, i_star, b, lnln(float(round)), rng)
    n, rounds = seat(state, l, m, f, round, limit, slate)
    return n, min(rounds, rounds_before_due(params, place[FILLED], round, rounds))


@draws_due.implement(RMED2)
def draws_due_rmed2(params: RMED2, round: int) -> float:
    return params.alpha * lnln(float(round))


@ask.implement(RMED2FH)
def ask_rmed2fh(params: RMED2FH, state: Sweep, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    loglog = lnln(float(params.horizon))
    if state.place[SWEEPING] == 0:
        if fill(state, params.alpha * loglog, slate):  # draw every pair ceil(alpha ln ln T) times
            return 2, 1
        i_star = argmin(state.duels.I, rng)
        for l in range(state.best.shape[0]):
            state.best[l] = best_opponent(state, l, i_star, rng)
    f = allowance(params, state)
    end_step(state, f, round)
    l = next_arm(state)
    i_star = argmin(state.duels.I, rng)
    m = cheap_opponent(state, l, i_star, state.best[l], loglog, rng)
    return seat(state, l, m, f, round, limit, slate)


@kernel
def allowance(params: Any, sweep: Sweep) -> float:
    """f(K), the evidence against a candidate that is allowed beyond ln t."""
    return params.f_factor * math.pow(float(sweep.listed.shape[0]), params.f_exponent)


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


@implement(RMED1)
@implement(RMED2)
@implement(RMED2FH)
def tell(params: RMED1 | RMED2 | RMED2FH, state: Sweep, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    record(state.duels, slate[0], slate[1], wins[0, 1], wins[1, 0])


@implement(RMED1)
@implement(RMED2)
@implement(RMED2FH)
def recommend(params: RMED1 | RMED2 | RMED2FH, state: Sweep) -> int:
    return least_refuted(state.duels)


PARAMETERS = {
    "f_factor": Parameter(meaning="f(K) = f_factor K^f_exponent, evidence allowed beyond ln t", at_least=0.0),
    "f_exponent": Parameter(meaning="f(K) = f_factor K^f_exponent", at_least=0.0),
}

RMED1_SPEC = PolicySpec(
    name="rmed1",
    title="RMED1",
    params=RMED1,
    cite="komiyama2015",
    slate="two",
    assumes="a Condorcet winner, no ties",
    regret="O(K ln T), optimal in order",
    use="Two options at a time, one of which beats every other: steady and quick to simulate; D-TS often loses less.",
    parameters=PARAMETERS,
)

RMED2_SPEC = PolicySpec(
    name="rmed2",
    title="RMED2",
    params=RMED2,
    cite="komiyama2015",
    slate="two",
    assumes="a Condorcet winner, no ties",
    regret="O(K ln T), optimal constant",
    use="Very long experiments with few options, two at a time: its extra draws pay off late; else RMED1.",
    parameters={
        "alpha": Parameter(meaning="every pair is drawn at least alpha ln ln t times", above=0.0),
        **PARAMETERS,
    },
)

RMED2FH_SPEC = PolicySpec(
    name="rmed2fh",
    title="RMED2FH",
    params=RMED2FH,
    cite="komiyama2015",
    slate="two",
    assumes="a Condorcet winner, no ties",
    regret="O(K ln T), optimal constant",
    use="Experiments of a fixed, great length with few options, two at a time; else RMED1.",
    anytime=False,
    parameters={
        "alpha": Parameter(meaning="every pair is drawn ceil(alpha ln ln T) times first", above=0.0),
        **PARAMETERS,
        "horizon": Parameter(meaning="rounds to be played", at_least=1),
    },
)
