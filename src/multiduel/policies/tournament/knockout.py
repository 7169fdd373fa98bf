"""KNOCKOUT: a tournament of matches long enough to trust, then its winner for good.

Paper      Falahatgar, Orlitsky, Pichapati, Suresh. Maximum Selection and Ranking under Noisy Comparisons. ICML 2017.
Assumes    strong stochastic transitivity (relaxed by gamma) and the stochastic triangle inequality.
Symbols    K arms, S the survivors, epsilon the gap allowed, delta the failure probability, gamma the relaxation, r
           duels of a match, p the left arm's share of them.
Deviates   a match that ends at p = 1/2 is decided by a coin (published: the right arm). The winner is played for
           good.

    S <- all arms
    for i = 1, 2, ... while |S| > 1
      pair S at random; an odd arm goes through
      each pair: Compare with eps_i = (2^(1/3) - 1) epsilon / (gamma 2^(i/3)), delta_i = delta / 2^i
      S <- the winners
    play the arm of S for good

    Compare: duel while |p - 1/2| <= sqrt(ln(4 r^2 / delta_i) / (2 r)) - eps_i and r <= ln(2 / delta_i) / (2 eps_i^2)
             the majority wins

For regret: delta = 1 / T, and epsilon below the smallest gap to the best arm.

>>> from multiduel import make
>>> len(make("knockout", n_arms=5, seed=0, epsilon=0.1).ask().arms)
2
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.random import uniform
from multiduel.policies.tournament.rounds import (
    EXCEPTIONS,
    MATCH,
    STAGE,
    Tournament,
    begin,
    best_left,
    close_match,
    count_duels,
    fresh_tournament,
    match_open,
    match_to_play,
    valid_tournament,
)

NONE = -1
LN2 = 0.6931471805599453


class Params(NamedTuple):
    epsilon: float = 0.05
    delta: float = 0.01
    gamma: float = 1.0


class State(NamedTuple):
    tournament: Tournament
    match: Floats  # f8[2]  the match being played: duels won by the left arm, duels
    since: Ints  # i8[1]  its first round, or NONE
    won: Floats  # f8[K]  all duels won
    lost: Floats  # f8[K]  and lost


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    return State(fresh_tournament(n_arms), np.zeros(2), np.full(1, NONE), np.zeros(n_arms), np.zeros(n_arms))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    """Before stage 1 all arms are there; duels are being played only of a match there is."""
    tournament, since = state.tournament, state.since[0]
    begun = tournament.at[STAGE] > 0
    return {
        "tournament": valid_tournament(tournament) | ({} if begun else {"order": validity.order(tournament.order)}),
        "match": validity.counts(state.match) and state.match[0] <= state.match[1],
        "since": since == NONE or (begun and 1 <= since <= round and match_to_play(tournament)),
        "won": validity.counts(state.won),
        "lost": validity.counts(state.lost),
    }


@kernel
def settle(params: Params, state: State, rng: Stream) -> None:
    """Compare's end: if the match is decided, the majority wins."""
    at, order, r = state.tournament.at, state.tournament.order, state.match[1]
    if r == 0.0:
        return
    i = float(at[STAGE])
    eps = (math.pow(2.0, 1.0 / 3.0) - 1.0) * params.epsilon / (params.gamma * math.pow(2.0, i / 3.0))
    log_delta = math.log(params.delta) - i * LN2
    p = state.match[0] / r
    radius = math.sqrt((math.log(4.0 * r * r) - log_delta) / (2.0 * r))
    if abs(p - 0.5) <= radius - eps and r <= (LN2 - log_delta) / (2.0 * eps * eps):
        return
    left = p > 0.5 or (p == 0.5 and uniform(rng) < 0.5)
    close_match(state.tournament, order[2 * at[MATCH] + (0 if left else 1)])
    state.since[0] = NONE


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    at, order = state.tournament.at, state.tournament.order
    if at[STAGE] == 0:
        begin(state.tournament, order.shape[0], rng)
    if state.since[0] != NONE:
        settle(params, state, rng)
    if not match_open(state.tournament, rng):
        slate[0] = order[0]
        return 1, limit
    if state.since[0] == NONE:
        state.since[0] = round
        state.match[:] = 0.0
    slate[0] = order[2 * at[MATCH]]
    slate[1] = order[2 * at[MATCH] + 1]
    return 2, 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    if slate.shape[0] != 2 or state.since[0] == NONE or round < state.since[0]:
        return  # of a match that is over
    count_duels(state.match, state.won, state.lost, slate, wins)


@implement(Params)
def recommend(params: Params, state: State) -> int:
    return best_left(state.tournament, state.won, state.lost)


SPEC = PolicySpec(
    name="knockout",
    title="KNOCKOUT",
    params=Params,
    cite="falahatgar2017",
    slate="two",
    assumes="strong stochastic transitivity and the stochastic triangle inequality",
    regret="none proved; O(gamma^4 K / epsilon^2 ln(1 / delta)) duels to be within epsilon of the best",
    use="When one nearly best option must be named with a guarantee, and then kept.",
    blind="only the match being played counts",
    parameters={
        "epsilon": Parameter(meaning="the winner may be this far from the best", above=0.0, below=0.5),
        "delta": Parameter(meaning="probability of a worse winner, at most", above=0.0, below=1.0),
        "gamma": Parameter(meaning="relaxation of transitivity; 1 is none", at_least=1.0),
    },
    exceptions=EXCEPTIONS,
)
