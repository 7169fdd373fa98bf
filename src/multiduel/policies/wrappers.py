"""Two policies around a policy: one that closes the matter for it, and one that watches until the matter is closed.

Both are Params like any other, so that they are compiled with the policy inside and simulated as they are served.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import multiduel.policies.challengers as challengers  # the module alone: all other policies are not behind it
from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.contract import ask, init, recommend, seats, see, tell, use_features, valid
from multiduel.kernels.evidence import beats_each, weigh_anew

REMEMBERED = 1024  # closing slates that are told apart from the policy's own, when told late
ROUND, ANSWERS, ARM, KIND = 0, 1, 2, 3  # places in `settled`
OPEN, WINNER, CYCLE = 0, 1, 2  # kinds


class Closing(NamedTuple):
    """A regret policy that has nothing left to compare shows one arm, though the verdict may be open: then challengers choose.

    What the challengers showed is told to them only: the policy inside need not understand slates that it did not ask for.
    """

    policy: Any
    closer: challengers.Params = challengers.Params()


class ClosingState(NamedTuple):
    policy: Any
    closer: challengers.State
    closed: Ints  # i8[REMEMBERED]  rounds whose slate the closer chose, each at its place modulo REMEMBERED
    last: Ints  # i8[1]  1 if the last slate was the closer's


@init.implement(Closing)
def init_closing(params: Closing, n_arms: int, rng: Stream) -> ClosingState:
    inner, closer = init(params.policy, n_arms, rng), init(params.closer, n_arms, rng)
    return ClosingState(inner, closer, np.zeros(REMEMBERED, np.int64), np.zeros(1, np.int64))


@valid.implement(Closing)
def valid_closing(params: Closing, state: ClosingState, n_arms: int, round: int) -> dict[str, Any]:
    return {
        "policy": valid(params.policy, state.policy, n_arms, round),
        "closer": valid(params.closer, state.closer, n_arms, round),
        "closed": validity.between(state.closed, 0, round),
        "last": validity.flags(state.last),
    }


@use_features.implement(Closing)
def use_features_closing(params: Closing, state: ClosingState, features: Floats) -> None:
    use_features(params.policy, state.policy, features)


@see.implement(Closing)
def see_closing(params: Closing, state: ClosingState, arms: Ints, rows: Floats) -> None:
    see(params.policy, state.policy, arms, rows)


@ask.implement(Closing)
def ask_closing(params: Closing, state: ClosingState, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    L = state.closer.L
    leader = recommend(params.closer, state.closer)
    is_open = not beats_each(L, leader, math.log(L.shape[0] / params.closer.alpha))
    state.last[0] = 0
    n, rounds = ask(params.policy, state.policy, rng, round, 1 if is_open else limit, slate)
    if n == 1 and is_open:
        n, rounds = ask(params.closer, state.closer, rng, round, 1, slate)
        state.closed[round % REMEMBERED] = round
        state.last[0] = 1
    return n, rounds


@tell.implement(Closing)
def tell_closing(params: Closing, state: ClosingState, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    if round < 1 or state.closed[round % REMEMBERED] != round:
        tell(params.policy, state.policy, rng, round, slate, wins)
    tell(params.closer, state.closer, rng, round, slate, wins)


@recommend.implement(Closing)
def recommend_closing(params: Closing, state: ClosingState) -> int:
    L = state.closer.L
    leader = recommend(params.closer, state.closer)
    if beats_each(L, leader, math.log(L.shape[0] / params.closer.alpha)):
        return leader
    return recommend(params.policy, state.policy)


@seats.implement(Closing)
def seats_closing(params: Closing, state: ClosingState, place: int) -> int:
    return 1 if state.last[0] == 1 else seats(params.policy, state.policy, place)


class Watched(NamedTuple):
    """A policy under watch: when the verdict falls it is written down, and from then on the winner is used."""

    policy: Any
    alpha: float
    stepping: bool  # for policies that commit to several arms for many rounds: every answer is looked at


class WatchedState(NamedTuple):
    policy: Any
    D: Floats  # f8[K, K]  answers that placed i above j
    L: Floats  # f8[K, K]
    against: Floats  # f8[K]
    settled: Ints  # i8[4]  rounds until the verdict, answers so far, the arm, the kind
    played: Ints  # i8[1]  rounds up to the end of the last commitment: a verdict falls after these, however late its answer is


@init.implement(Watched)
def init_watched(params: Watched, n_arms: int, rng: Stream) -> WatchedState:
    tables = (np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms)), np.zeros(n_arms))
    return WatchedState(init(params.policy, n_arms, rng), *tables, np.zeros(4, np.int64), np.zeros(1, np.int64))


@use_features.implement(Watched)
def use_features_watched(params: Watched, state: WatchedState, features: Floats) -> None:
    use_features(params.policy, state.policy, features)


@see.implement(Watched)
def see_watched(params: Watched, state: WatchedState, arms: Ints, rows: Floats) -> None:
    see(params.policy, state.policy, arms, rows)


@ask.implement(Watched)
def ask_watched(params: Watched, state: WatchedState, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    if state.settled[KIND] != OPEN:
        slate[0] = state.settled[ARM]
        return 1, limit
    n, rounds = ask(params.policy, state.policy, rng, round, 1 if params.stepping else limit, slate)
    state.played[0] = round + rounds - 1
    return n, rounds


@tell.implement(Watched)
def tell_watched(params: Watched, state: WatchedState, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    if state.settled[KIND] != OPEN:  # an answer that was under way
        return
    tell(params.policy, state.policy, rng, round, slate, wins)
    D, K, n = state.D, state.D.shape[0], slate.shape[0]
    for a in range(n):
        for b in range(n):
            if wins[a, b] > wins[b, a]:
                D[slate[a], slate[b]] += 1.0
    weigh_anew(D, state.L, state.against, slate)
    state.settled[ANSWERS] += 1
    for a in range(n):
        if beats_each(state.L, slate[a], math.log(K / params.alpha)):
            state.settled[KIND] = WINNER
            state.settled[ARM] = slate[a]
            state.settled[ROUND] = state.played[0]
    out = 0
    for h in range(K):
        out += 1 if state.against[h] >= -math.log(params.alpha) else 0
    if out == K:
        state.settled[KIND] = CYCLE
        state.settled[ARM] = recommend(params.policy, state.policy)
        state.settled[ROUND] = state.played[0]


@recommend.implement(Watched)
def recommend_watched(params: Watched, state: WatchedState) -> int:
    return state.settled[ARM] if state.settled[KIND] != OPEN else recommend(params.policy, state.policy)


@seats.implement(Watched)
def seats_watched(params: Watched, state: WatchedState, place: int) -> int:
    return 1 if state.settled[KIND] != OPEN else seats(params.policy, state.policy, place)
