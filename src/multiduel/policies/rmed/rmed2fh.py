"""RMED2FH: RMED2 for a known horizon, with the cheapest opponents fixed at the start.

Paper      Komiyama, Honda, Kashima, Nakagawa. Regret Lower Bound and Optimal Algorithm in Dueling Bandit Problem.
           COLT 2015, Algorithms 1 and 3.
Assumes    a Condorcet winner, and no two arms of equal strength.
Symbols    those of RMED2; T the horizon.
Deviates   as RMED2: a duel's regret counts as at least 0.01 in b_l, and ln ln T is taken at T = 3 for smaller T.

    draw every pair ceil(alpha ln ln T) times
    b_l <- argmin_{j != l} (P_{i* l} + P_{i* j} - 1) / kl(P_lj)  among j with P_lj < 1/2, for every l
    L_C <- L_R <- all arms;  L_N <- empty
    repeat
      for l in L_C, in a fixed order
        m <- b_l if b_l is in O_l and N_{l i*} >= N_{l b_l} / ln ln T, else RMED1's m
        play (l, m);  L_R <- L_R \\ {l};  L_N <- L_N and every j outside L_R with J_j(t)
      L_C <- L_R <- L_N;  L_N <- empty

How it is computed. As RMED1.

>>> from multiduel import make
>>> make("rmed2fh", n_arms=5, seed=0, horizon=1000).ask().round
1
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.choice import argmin
from multiduel.kernels.contract import Parameter, PolicySpec, ask, init, recommend, tell, valid
from multiduel.policies.rmed.divergence import least_refuted, record
from multiduel.policies.rmed.minimum_divergence import (
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
    horizon: int = 0  # T


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> Sweep:
    return start_filling(n_arms, rng)


@valid.implement(Params)
def sound(params: Params, state: Sweep, n_arms: int, round: int) -> dict[str, Any]:
    return sound_sweep(state, round)


@ask.implement(Params)
def choose(params: Params, state: Sweep, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    loglog = lnln(float(params.horizon))
    if state.place[SWEEPING] == 0:
        if fill(state, params.alpha * loglog, slate):  # draw every pair ceil(alpha ln ln T) times
            return 2, 1
        i_star = argmin(state.duels.I, rng)
        for l in range(state.best.shape[0]):
            state.best[l] = best_opponent(state, l, i_star, rng)
    f = params.f_factor * math.pow(float(state.listed.shape[0]), params.f_exponent)
    end_step(state, f, round)
    l = next_arm(state)
    i_star = argmin(state.duels.I, rng)
    m = cheap_opponent(state, l, i_star, state.best[l], loglog, rng)
    return seat(state, l, m, f, round, limit, slate)


@tell.implement(Params)
def learn(params: Params, state: Sweep, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    record(state.duels, slate[0], slate[1], wins[0, 1], wins[1, 0])


@recommend.implement(Params)
def bet(params: Params, state: Sweep) -> int:
    return least_refuted(state.duels)


SPEC = PolicySpec(
    name="rmed2fh",
    title="RMED2FH",
    params=Params,
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
