"""RMED2: as RMED1, with opponents chosen to cost the least regret per evidence.

Paper      Komiyama, Honda, Kashima, Nakagawa. Regret Lower Bound and Optimal Algorithm in Dueling Bandit Problem.
           COLT 2015, Algorithms 1 and 3.
Assumes    a Condorcet winner, and no two arms of equal strength.
Symbols    those of RMED1; alpha sets how often every pair is drawn at least, b_l the cheapest opponent to refute l.
Deviates   the regret of a duel is counted as at least 0.01 in b_l, as in the authors' code: an estimate below zero
           would win every comparison. ln ln t is taken at t = 3 for smaller t.

    draw every pair once;  L_C <- L_R <- all arms;  L_N <- empty
    repeat
      for each pair:  draw it until N_ij >= alpha ln ln t
      for l in L_C, in a fixed order
        b_l <- argmin_{j != l} (P_{i* l} + P_{i* j} - 1) / kl(P_lj)  among j with P_lj < 1/2
        m <- b_l if b_l is in O_l and N_{l i*} >= N_{l b_l} / ln ln t, else RMED1's m
        play (l, m);  L_R <- L_R \\ {l};  L_N <- L_N and every j outside L_R with J_j(t)
      L_C <- L_R <- L_N;  L_N <- empty

How it is computed. As RMED1; whether some pair is short of draws is asked only when alpha ln ln t passes a whole
number.

>>> from multiduel import make
>>> make("rmed2", n_arms=5, seed=0).ask().round
1
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.choice import argmin
from multiduel.kernels.contract import Parameter, PolicySpec, ask, init, recommend, tell, valid
from multiduel.kernels.dispatch import kernel
from multiduel.policies.rmed.divergence import least_refuted, record
from multiduel.policies.rmed.minimum_divergence import (
    FILLED,
    PARAMETERS,
    SWEEPING,
    Sweep,
    best_opponent,
    cheap_opponent,
    end_step,
    fill,
    lnln,
    next_arm,
    seat,
    sound_sweep,
    start_filling,
)


class Params(NamedTuple):
    alpha: float = 3.0
    f_factor: float = 0.3
    f_exponent: float = 1.01


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> Sweep:
    return start_filling(n_arms, rng)


@valid.implement(Params)
def sound(params: Params, state: Sweep, n_arms: int, round: int) -> dict[str, Any]:
    return sound_sweep(state, round)


@kernel
def draws_due(params: Params, round: int) -> float:
    return params.alpha * lnln(float(round))


@ask.implement(Params)
def choose(params: Params, state: Sweep, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    place = state.place
    f = params.f_factor * math.pow(float(state.listed.shape[0]), params.f_exponent)
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
    return n, min(rounds, rounds_before_filling(params, place[FILLED], round, rounds))


@kernel
def rounds_before_filling(params: Params, filled: int, round: int, limit: int) -> int:
    """How many rounds, this one included, may pass before alpha ln ln t exceeds ``filled``, and at most ``limit``."""
    early = 1
    late = limit
    while early < late:  # by bisection: the largest r with draws_due(round + r - 1) <= filled, and 1 in any case
        middle = early + (late - early + 1) // 2
        if draws_due(params, round + middle - 1) > filled:
            late = middle - 1
        else:
            early = middle
    return early


@tell.implement(Params)
def learn(params: Params, state: Sweep, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    record(state.duels, slate[0], slate[1], wins[0, 1], wins[1, 0])


@recommend.implement(Params)
def bet(params: Params, state: Sweep) -> int:
    return least_refuted(state.duels)


SPEC = PolicySpec(
    name="rmed2",
    title="RMED2",
    params=Params,
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
