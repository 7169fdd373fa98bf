"""RMED1: every arm that may be the Condorcet winner meets the arm most likely to refute it.

Paper      Komiyama, Honda, Kashima, Nakagawa. Regret Lower Bound and Optimal Algorithm in Dueling Bandit Problem.
           COLT 2015, Algorithms 1 and 2.
Assumes    a Condorcet winner, and no two arms of equal strength.
Symbols    K arms, P_ij share of duels that i won against j, N_ij their number, kl divergence from 1/2, O_l arms that
           beat l (P_lj <= 1/2), I_i = sum over O_i of N_ij kl(P_ij) the evidence against i, i* = argmin I,
           J_j: I_j - I_i* <= ln t + f(K), f(K) = 0.3 K^1.01, L_C arms of this sweep, L_R those still to come, L_N those
           of the next.
Deviates   nothing. The "arbitrarily fixed order" of arms and pairs is drawn at random at the start.

    draw every pair once;  L_C <- L_R <- all arms;  L_N <- empty
    repeat
      for l in L_C, in a fixed order
        m <- i* if i* is in O_l or O_l is empty, else argmin_{j != l} P_lj
        play (l, m);  L_R <- L_R \\ {l};  L_N <- L_N and every j outside L_R with J_j(t)
      L_C <- L_R <- L_N;  L_N <- empty

How it is computed. A duel changes two of the sums I. When L_C = {i*} and nobody beats i*, (i*, i*) repeats, seeing
nothing, until ln t lets another arm back in: one commitment.

>>> from multiduel import make
>>> make("rmed1", n_arms=5, seed=0).ask().round
1
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.choice import argmin
from multiduel.kernels.contract import PolicySpec, ask, init, recommend, tell, valid
from multiduel.policies.rmed.divergence import least_refuted, record
from multiduel.policies.rmed.minimum_divergence import (
    PARAMETERS,
    SWEEPING,
    Sweep,
    end_step,
    fill,
    next_arm,
    opponent,
    seat,
    sound_sweep,
    start_filling,
)


class Params(NamedTuple):
    f_factor: float = 0.3
    f_exponent: float = 1.01


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> Sweep:
    return start_filling(n_arms, rng)


@valid.implement(Params)
def sound(params: Params, state: Sweep, n_arms: int, round: int) -> dict[str, Any]:
    return sound_sweep(state, round)


@ask.implement(Params)
def choose(params: Params, state: Sweep, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    if state.place[SWEEPING] == 0 and fill(state, 1.0, slate):  # draw every pair once
        return 2, 1
    f = params.f_factor * math.pow(float(state.listed.shape[0]), params.f_exponent)
    end_step(state, f, round)
    l = next_arm(state)
    i_star = argmin(state.duels.I, rng)
    m = opponent(state, l, i_star, rng)
    return seat(state, l, m, f, round, limit, slate)


@tell.implement(Params)
def learn(params: Params, state: Sweep, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    record(state.duels, slate[0], slate[1], wins[0, 1], wins[1, 0])


@recommend.implement(Params)
def bet(params: Params, state: Sweep) -> int:
    return least_refuted(state.duels)


SPEC = PolicySpec(
    name="rmed1",
    title="RMED1",
    params=Params,
    cite="komiyama2015",
    slate="two",
    assumes="a Condorcet winner, no ties",
    regret="O(K ln T), optimal in order",
    use="Two options at a time, one of which beats every other: steady and quick to simulate; D-TS often loses less.",
    parameters=PARAMETERS,
)
