"""LinearSelfSparring: each of m seats draws a belief about the features' worth, and its arm is the best by that belief.

Paper      none: IndSelfSparring (Sui, Zhuang, Burdick, Yue. UAI 2017) with linear utilities in place of independent arms.
Assumes    utilities <x_i, theta>, the features x_i may be others in every round; answers that rank the slate by Plackett and
           Luce's law, or one logistic coin per pair.
Symbols    K arms, m seats, d features, H = lambda I + the curvature of all answers' losses, f a draw from the belief, v its
           spread.
Deviates   nothing: there is no paper to deviate from. With two seats it is double Thompson sampling in theta. An arm drawn
           for several seats is in the slate once and does not duel itself.

    for t = 1, 2, ...
      1  L L' <- H^-1
      2  for each seat q = 1 .. m:  f <- theta + v L xi, xi standard normal;  a_q <- argmax_i <x_i, f>
      3  compare;  theta, H <- the online step for the whole answer (slate_step.py): by Plackett and Luce's law, which counts a
         ranking as what it is; with answers=coins, as independent duels

An answer that is no ranking (a tie, a cycle, the worst of three) counts as n - 1 duels, shared out over its pairs.

Cost. O(d^3 / 3 + m (d^2 + K d)) a round.

>>> from multiduel import make, ranking
>>> policy = make("linear-self-sparring", n_arms=5, slate_size=3, dimension=2, seed=0)
>>> slate = policy.ask(features=[[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [0.9, 0.4], [0.3, 0.3]])
>>> policy.tell(slate, ranking(slate.arms))
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import seat
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.linear_utilities import best_of, factor, first_best, ridge_inverse, set_features, utilities
from multiduel.kernels.random import normal
from multiduel.policies.linear_duels.estimator import BLIND, MOST, PARAMETERS, sound_inverse
from multiduel.policies.linear_duels.slate_step import Room, make_room, slate_step

RANKINGS, COINS = 0, 1


class Params(NamedTuple):
    slate_size: int = 2  # m
    dimension: int = 0  # d
    ridge: float = 1.0  # lambda
    spread: float = 1.0  # v
    answers: int = RANKINGS


class State(NamedTuple):
    X: Floats  # f8[d, K]  features of the arms in the last round seen
    theta: Floats  # f8[d]
    H: Floats  # f8[d, d]  inverse
    taken: Ints  # i8[K]     seats of each place of the last slate
    L: Floats  # f8[d, d]  scratch from here on
    xi: Floats  # f8[d]
    f: Floats  # f8[d]
    u: Floats  # f8[K]
    room: Room


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    d = params.dimension or n_arms
    X = np.zeros((d, n_arms)) if params.dimension else np.eye(n_arms)
    room = make_room(params.slate_size, d)
    scratch = np.zeros((d, d)), np.zeros(d), np.zeros(d), np.zeros(n_arms), room
    return State(X, np.zeros(d), ridge_inverse(d, params.ridge), np.ones(n_arms, np.int64), *scratch)


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    kept = {name: validity.between(getattr(state, name), -MOST, MOST) for name in ("X", "theta")}
    own = {"H": sound_inverse(state.H), "taken": validity.counts(state.taken, params.slate_size)}
    scratch = dict.fromkeys(("L", "xi", "f", "u"), validity.SCRATCH)
    return kept | own | scratch | {"room": dict.fromkeys(Room._fields, validity.SCRATCH)}


@implement(Params)
def see(params: Params, state: State, arms: Ints, rows: Floats) -> None:
    set_features(state.X, arms, rows)


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    L, xi, f = state.L, state.xi, state.f
    factor(state.H, L, 0.0)  # step 1
    n = 0
    for _ in range(params.slate_size):  # step 2
        for i in range(xi.shape[0]):
            xi[i] = normal(rng)
            drawn = 0.0
            for k in range(i + 1):
                drawn += L[i, k] * xi[k]
            f[i] = state.theta[i] + params.spread * drawn
        utilities(state.X, f, state.u)
        n = seat(slate, state.taken, n, best_of(state.u, rng))
    return n, 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    slate_step(state.theta, state.H, state.X, slate, wins, params.answers == RANKINGS, state.room)  # step 3


@implement(Params)
def seats(params: Params, state: State, place: int) -> int:
    return state.taken[place]


@implement(Params)
def recommend(params: Params, state: State) -> int:
    utilities(state.X, state.theta, state.u)
    return first_best(state.u)


SPEC = PolicySpec(
    name="linear-self-sparring",
    title="LinearSelfSparring",
    params=Params,
    cite="none",
    slate="any",
    assumes="utilities linear in features, answers by Plackett and Luce's law or logistic coins",
    regret="none proved",
    use="Options described by features that change from round to round, two or more at a time.",
    features=True,
    blind=BLIND,
    parameters={"slate_size": Parameter(meaning="seats drawn in one round", at_least=1)}
    | PARAMETERS
    | {
        "spread": Parameter(meaning="v, how far a draw from the belief may be from its mean", above=0.0),
        "answers": Parameter(
            meaning="how an answer is read: as one ranking, or as one coin per pair",
            choices={"rankings": RANKINGS, "coins": COINS},
        ),
    },
)
