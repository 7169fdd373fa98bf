"""IndSelfSparring: m Thompson samplers spar with one another over one shared belief per arm.

Paper      Sui, Zhuang, Burdick, Yue. Multi-dueling Bandits with Dependent Arms. UAI 2017.
Assumes    approximate linearity of the preferences; a Condorcet winner.
Symbols    K arms, m seats, S_i and F_i duels won and lost, eta the weight of a duel, theta_i a draw from the belief in arm i.
Deviates   seats are drawn as in the paper, with replacement, but the world compares distinct arms: an arm drawn for several
           seats is in the slate once, and each pair of arms has one outcome, which counts once (to count it for every pair of
           seats, as the listing would, took one coin for up to (m/2)^2 coins, and most runs named a wrong arm). Public code also
           updates an arm that meets itself: ``self_duels = both``, a win and a loss. m > K plays as m = K.

    for t = 1, 2, ...
      for each seat q = 1 .. m:
        theta_i ~ Beta(S_i + 1, F_i + 1) for every arm i
        a_q <- argmax_i theta_i
      compare; for each ordered pair of seats (q, r) with an outcome:
        S_{a_q} <- S_{a_q} + eta if a_q won, else F_{a_q} <- F_{a_q} + eta

A run may lock in: once the best arm has lost its first duels, a lesser arm that wins every race learns nothing more, because
an arm does not duel itself. Look at quantiles over runs, not only at means.

How it is made fast. ``kernels.thompson`` holds the K m draws of a round lazily, and says how many of the coming races the
leader wins; m of these are a round in which nothing is compared, and all such rounds ahead are one commitment.
``draws = direct`` draws every theta in the order of the arms instead: the same law, some thousand times slower.

>>> from multiduel import make, ranking
>>> policy = make("ind-self-sparring", n_arms=5, slate_size=3, seed=0)
>>> slate = policy.ask()
>>> policy.tell(slate, ranking(slate.arms))
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import seat
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.race_validity import valid_race
from multiduel.kernels.thompson import (
    ALL_NEW,
    DRAWS,
    LAZY,
    LEADER,
    NEWS,
    Race,
    draw,
    draw_directly,
    favourite,
    new_race,
    skip,
    sure_races,
    update_belief,
)

NONE, BOTH = 0, 1


class Params(NamedTuple):
    slate_size: int = 2  # m
    eta: float = 1.0  # weight of a duel
    self_duels: int = NONE  # does an arm that meets itself win and lose a duel?
    draws: int = LAZY


class State(NamedTuple):
    race: Race  # a = S + 1, b = F + 1
    taken: Ints  # i8[K]  seats of each place of the last slate


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    return State(new_race(n_arms), np.ones(n_arms, np.int64))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    return {
        "race": valid_race(state.race),
        "taken": validity.counts(state.taken, params.slate_size),
    }


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    race, taken, m = state.race, state.taken, params.slate_size
    sure = sure_races(race, rng) if params.draws == LAZY else 0
    if sure >= m and params.self_duels == NONE:  # the leader takes all seats, in this round and maybe more
        rounds = min(sure // m, limit)
        skip(race, rounds * m)
        slate[0] = race.tally[LEADER]
        taken[0] = m
        return 1, rounds
    n = 0
    for _ in range(m):  # for each seat: theta_i ~ Beta(S_i + 1, F_i + 1), a_q <- argmax theta_i
        arm = draw(race, rng) if params.draws == LAZY else draw_directly(race, rng)
        n = seat(slate, taken, n, arm)
    if params.self_duels == BOTH:  # an arm in c seats meets itself in c (c - 1) / 2 pairs of seats
        for a in range(n):
            if taken[a] > 1:
                both = params.eta * 0.5 * taken[a] * (taken[a] - 1)
                update_belief(race, slate[a], both, both)
    return n, 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    for a in range(slate.shape[0]):
        won = 0.0
        lost = 0.0
        for b in range(slate.shape[0]):
            if a != b:
                won += params.eta * wins[a, b]
                lost += params.eta * wins[b, a]
        if won + lost > 0.0:
            update_belief(state.race, slate[a], won, lost)
    if round == 0:  # observed: lay tau anew, however many comparisons these were
        state.race.tally[NEWS] = ALL_NEW


@implement(Params)
def seats(params: Params, state: State, place: int) -> int:
    return state.taken[place]


@implement(Params)
def recommend(params: Params, state: State) -> int:
    return favourite(state.race)


SPEC = PolicySpec(
    name="ind-self-sparring",
    title="IndSelfSparring",
    params=Params,
    cite="sui2017",
    slate="any",
    assumes="approximate linearity, a Condorcet winner",
    regret="O(K ln T) asymptotically; no finite-time bound",
    use="Little regret when options have hidden qualities and seats are many; some runs settle on a wrong one for long.",
    parameters={
        "slate_size": Parameter(meaning="seats drawn in one round", at_least=1),
        "eta": Parameter(meaning="learning rate: the weight of a duel in the belief", above=0.0),
        "self_duels": Parameter(
            meaning="an arm in two seats learns nothing from itself, or wins and loses a duel",
            choices={"none": NONE, "both": BOTH},
        ),
        "draws": DRAWS,
    },
    exceptions={
        "naive-oracle": "lazy draws have the law of plain draws, not their order; draws=direct equals the oracle draw by draw",
    },
)
