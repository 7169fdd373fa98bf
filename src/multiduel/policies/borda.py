"""Borda: measure every arm against random opponents, drop the surely worse, then play the best average for good.

Paper      the reduction of Borda scores to a bandit: Jamieson, Katariya, Deshpande, Nowak. Sparse Dueling Bandits.
           AISTATS 2015; its learner here is successive elimination, cut short in the manner of explore-then-commit.
Assumes    nothing: a Borda winner always exists. Regret is against it: ``benchmark="borda"``.
Symbols    K arms, T rounds, b_i arm i's share of n_i duels against uniform opponents (an unbiased Borda score), S the
           arms still measured, E the most rounds of measuring, c the factor ``explore``.
Deviates   that no published algorithm has this exact form: it is the reduction with the standard learner.

    S <- all arms;  E <- c K^(1/3) T^(2/3) (ln T)^(1/3)
    repeat
      each i in S, in random order, duels an opponent drawn uniformly from the others
      drop i if b_i + r_i < b_j - r_j for some j in S, with r_i = sqrt(ln(4 K n_i^2 T) / (2 n_i))
    until |S| = 1, or E rounds are played
    play the arm of S with the largest b for good, ties at random

Measuring pairs arms with arbitrary opponents, which costs regret even when the best arm is measured, so it must end;
the last line is one commitment.

>>> from multiduel import make
>>> len(make("borda", n_arms=5, seed=0, horizon=1000).ask().arms)
2
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmax, draw_distinct
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.random import below

NONE = -1
LEFT, PLACE, CHOSEN = 0, 1, 2  # places in `at`


class Params(NamedTuple):
    horizon: int = 0  # T
    explore: float = 1.0  # c


class State(NamedTuple):
    won: Floats  # f8[K]  duels won against uniform opponents
    n: Floats  # f8[K]  duels against uniform opponents
    S: Ints  # i8[K]  the arms still measured, S[:LEFT]
    at: Ints  # i8[3]  |S|, the place in S of the arm to measure next, the arm played for good or NONE
    b: Floats  # f8[K]  scratch


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    return State(np.zeros(n_arms), np.zeros(n_arms), np.arange(n_arms), np.array([n_arms, n_arms, NONE]), np.zeros(n_arms))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    K, left = len(state.S), state.at[LEFT]
    here = 1 <= left <= K
    return {
        "won": validity.between(state.won, 0.0, state.n),
        "n": validity.counts(state.n),
        "S": here and validity.arms(state.S, K) and validity.distinct(state.S[:left], K),
        "at": here and 0 <= state.at[PLACE] <= left and validity.arms(state.at[CHOSEN], K, none=True),
        "b": validity.SCRATCH,
    }


@kernel
def radius(params: Params, K: int, n: float) -> float:
    return math.sqrt(math.log(max(4.0 * K * n * n * params.horizon, 1.0)) / (2.0 * n))  # n < 1: less than a duel


@kernel
def drop_worse(params: Params, state: State) -> None:
    """drop i if b_i + r_i < b_j - r_j for some j in S"""
    S, at = state.S, state.at
    K = S.shape[0]
    best = -math.inf
    for place in range(at[LEFT]):
        i = S[place]
        if state.n[i] > 0.0:
            best = max(best, state.won[i] / state.n[i] - radius(params, K, state.n[i]))
    kept = 0
    for place in range(at[LEFT]):
        i = S[place]
        S[kept] = i
        if state.n[i] == 0.0 or state.won[i] / state.n[i] + radius(params, K, state.n[i]) >= best:
            kept += 1
    at[LEFT] = kept


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    S, at, b = state.S, state.at, state.b
    K = S.shape[0]
    if at[CHOSEN] == NONE and at[PLACE] == at[LEFT]:  # every arm of S was measured once more
        drop_worse(params, state)
        draw_distinct(S, at[LEFT], at[LEFT], S, 0, rng)
        at[PLACE] = 0
    T = float(params.horizon)
    E = params.explore * math.pow(K * T * T * math.log(T), 1.0 / 3.0)
    if at[CHOSEN] == NONE and (at[LEFT] == 1 or round > E):
        for i in range(K):
            b[i] = -1.0
        for place in range(at[LEFT]):
            i = S[place]
            b[i] = state.won[i] / state.n[i] if state.n[i] > 0.0 else 0.0
        at[CHOSEN] = argmax(b, rng)
    if at[CHOSEN] != NONE:
        slate[0] = at[CHOSEN]
        return 1, limit
    i = S[at[PLACE]]
    at[PLACE] += 1
    j = below(K - 1, rng)
    slate[0] = i
    slate[1] = j if j < i else j + 1
    return 2, 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    if slate.shape[0] == 2:  # only the left arm met a uniform opponent
        state.won[slate[0]] += wins[0, 1]
        state.n[slate[0]] += wins[0, 1] + wins[1, 0]


@implement(Params)
def recommend(params: Params, state: State) -> int:
    if state.at[CHOSEN] != NONE:
        return state.at[CHOSEN]
    best = state.S[0]
    best_b = -1.0
    for place in range(state.at[LEFT]):
        i = state.S[place]
        b = state.won[i] / state.n[i] if state.n[i] > 0.0 else 0.0
        if b > best_b:
            best_b = b
            best = i
    return best


SPEC = PolicySpec(
    name="borda",
    title="Borda elimination",
    params=Params,
    cite="jamieson2015",
    slate="two",
    assumes="nothing",
    regret="O(K^(1/3) T^(2/3) (ln T)^(1/3)) against the Borda winner; O(K ln T / gap^2) when it identifies it sooner",
    use="When the best option is the one that does best on average against all others, not the one that beats each.",
    blind="its shares must come from duels against opponents drawn at random",
    anytime=False,
    parameters={
        "horizon": Parameter(meaning="rounds there will be", at_least=1),
        "explore": Parameter(meaning="measures for at most this times K^(1/3) T^(2/3) (ln T)^(1/3) rounds", above=0.0),
    },
)
