"""SEEBS: find a nearly best arm, drop whom it surely beats, look closer; the last arm is played for good.

Paper      Ren, Liu, Shroff. The Sample Complexity of Best-k Items Selection from Pairwise Comparisons. ICML 2020,
           Algorithm 4 with Algorithms 1 to 3 for k = 1.
Assumes    strong stochastic transitivity and the stochastic triangle inequality.
Symbols    K arms, R those left, alpha_s the precision of stage s, v its anchor, delta the failure probability.
Deviates   ``epsilon`` above 0 stops at the first anchor known to be that near to the best (published: 0, the exact
           best). The arm found is played for good.

    R <- all arms
    for s = 1, 2, ... while |R| > 1
      alpha_s <- 2^-s;  delta_s <- 6 delta / (pi^2 s^2)
      v <- Tournament(R, alpha_s / 3, 2 delta_s / 3)
      for i in R, i != v:  drop i if Distribute(i, v, alpha_s / 3, shift alpha_s / 3, delta_s / 3) = down

    Tournament(R, e, d): while more than one is left, in round q = 1, 2, ...: pair them at random; in each pair v is one
      of the two at random, i the other; Distribute(i, v, e_q / 2, 0, d_q / 2) with e_q = (4/5)^q e / 4 and
      d_q = 6 d / (pi^2 q^2): up keeps i, down keeps v, middle either at random
    Distribute(i, v, e, shift, d): duel; after n duels with share p of i and b = sqrt(ln(pi^2 n^2 / (3 d)) / (2 n)):
      up if p - b > 1/2;  down if p + b < 1/2 - shift;  after 2 / e^2 ln(4 / d) duels: up if p > 1/2 + e / 2,
      down if p < 1/2 - e / 2 - shift, else middle

>>> from multiduel import make
>>> len(make("seebs", n_arms=5, seed=0).ask().arms)
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
from multiduel.kernels.random import below, uniform
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
    still_in,
    valid_tournament,
)

NONE = -1
LEFT, ALPHA, ANCHOR, PLACE, KEPT, SINCE, I, V = 0, 1, 2, 3, 4, 5, 6, 7  # places in `at`
MIDDLE, UP, DOWN, UNDECIDED = 0, 1, 2, 3
SQUARES = 9.869604401089358  # pi^2


class Params(NamedTuple):
    epsilon: float = 0.0
    delta: float = 0.01


class State(NamedTuple):
    tournament: Tournament
    R: Ints  # i8[K]  the arms left, R[:LEFT]
    at: Ints  # i8[8]  |R|, the stage s, its anchor or NONE, the next place of R to test, arms kept so far; first round
    #                  of the duels being played or NONE, their i and v
    duels: Floats  # f8[2]  won by i, played
    won: Floats  # f8[K]  all duels won
    lost: Floats  # f8[K]  and lost


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    at = np.array([n_arms, 0, NONE, 0, 0, NONE, NONE, NONE])
    return State(fresh_tournament(n_arms), np.arange(n_arms), at, np.zeros(2), np.zeros(n_arms), np.zeros(n_arms))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    """R holds who is kept and who is yet to be tested, the anchor among them; the tournament is among the arms of R."""
    tournament, R, K = state.tournament, state.R, len(state.R)
    left, stage, anchor, place, kept, since, i, v = state.at.tolist()
    inner = valid_tournament(tournament)
    testing = anchor != NONE
    here = 1 <= left <= K and 0 <= stage <= 1000 and all(inner.values()) and (not testing or 0 <= kept <= place <= left)
    there = np.concatenate([R[:kept], R[place:left]]) if testing and here else R[: max(left, 1)]
    if here and testing:
        here = anchor in there and tournament.at[STAGE] == 0
    elif here and tournament.at[STAGE] > 0:
        here = stage >= 1 and set(still_in(tournament).tolist()) <= set(R[:left].tolist())
    if here and since != NONE:
        pair = tournament.order[2 * tournament.at[MATCH] :][:2]
        others = (R[place], anchor) if testing and place < left else pair if not testing and match_to_play(tournament) else ()
        here = (
            1 <= since <= round
            and stage >= 1
            and (testing or tournament.at[STAGE] > 0)
            and i != v
            and {i, v} == {int(arm) for arm in others}
        )
    return {
        "tournament": inner,
        "R": validity.arms(R, K) and validity.distinct(there, K),
        "at": here and validity.arms(state.at[[ANCHOR, I, V]], K, none=True),
        "duels": validity.counts(state.duels) and state.duels[0] <= state.duels[1],
        "won": validity.counts(state.won),
        "lost": validity.counts(state.lost),
    }


@kernel
def next_duels(params: Params, state: State, rng: Stream, round: int) -> bool:
    """Who meets whom until decided: at[I] and at[V]. False: R[0] is the only arm left."""
    tournament, R, at = state.tournament, state.R, state.at
    while at[LEFT] > 1:
        if at[ANCHOR] == NONE:
            if tournament.at[STAGE] == 0:  # a new stage s
                at[ALPHA] += 1
                for x in range(at[LEFT]):
                    tournament.order[x] = R[x]
                begin(tournament, at[LEFT], rng)
                for x in range(at[LEFT]):
                    R[x] = tournament.order[x]  # tested in the same random order
            if match_open(tournament, rng):
                v = below(2, rng)  # v is one of the two at random
                pair = tournament.order[2 * tournament.at[MATCH] :]
                meet(state, pair[1 - v], pair[v], round)
                return True
            at[ANCHOR] = tournament.order[0]
            at[PLACE] = at[KEPT] = 0
            tournament.at[STAGE] = 0
            if alpha_of(at) / 3.0 <= params.epsilon:
                R[0] = at[ANCHOR]
                at[LEFT] = 1
                return False
        if at[PLACE] == at[LEFT]:
            at[LEFT] = at[KEPT]
            at[ANCHOR] = NONE
        elif R[at[PLACE]] == at[ANCHOR]:
            keep(state)
        else:
            meet(state, R[at[PLACE]], at[ANCHOR], round)
            return True
    return False


@kernel
def meet(state: State, i: int, v: int, round: int) -> None:
    state.at[I] = i
    state.at[V] = v
    state.at[SINCE] = round
    state.duels[:] = 0.0


@kernel
def keep(state: State) -> None:
    state.R[state.at[KEPT]] = state.R[state.at[PLACE]]
    state.at[KEPT] += 1
    state.at[PLACE] += 1


@kernel
def alpha_of(at: Ints) -> float:
    return math.pow(0.5, float(at[ALPHA]))


@kernel
def distribute(p: float, n: float, e: float, shift: float, d: float) -> int:
    b = math.sqrt(math.log(SQUARES * n * n / (3.0 * d)) / (2.0 * n))
    if p - b > 0.5:
        return UP
    if p + b < 0.5 - shift:
        return DOWN
    if n < 2.0 / (e * e) * math.log(4.0 / d):
        return UNDECIDED
    if p > 0.5 + 0.5 * e:
        return UP
    return DOWN if p < 0.5 - 0.5 * e - shift else MIDDLE


@kernel
def settle(params: Params, state: State, rng: Stream) -> None:
    """If the duels of i against v are decided, act on it."""
    at, tournament, n = state.at, state.tournament, state.duels[1]
    if n == 0.0:
        return
    p = state.duels[0] / n
    alpha = alpha_of(at)
    delta = 6.0 * params.delta / (SQUARES * at[ALPHA] * at[ALPHA])
    if at[ANCHOR] == NONE:
        q = float(tournament.at[STAGE])
        e = 0.25 * math.pow(0.8, q) * alpha / 3.0
        verdict = distribute(p, n, 0.5 * e, 0.0, 0.5 * 6.0 * (2.0 * delta / 3.0) / (SQUARES * q * q))
        if verdict != UNDECIDED:
            i_wins = verdict == UP or (verdict == MIDDLE and uniform(rng) < 0.5)
            close_match(tournament, at[I] if i_wins else at[V])
            at[SINCE] = NONE
    else:
        verdict = distribute(p, n, alpha / 3.0, alpha / 3.0, delta / 3.0)
        if verdict == DOWN:
            at[PLACE] += 1
        elif verdict != UNDECIDED:
            keep(state)
        if verdict != UNDECIDED:
            at[SINCE] = NONE


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    at = state.at
    if at[SINCE] != NONE:
        settle(params, state, rng)
    if at[SINCE] == NONE and not next_duels(params, state, rng, round):
        slate[0] = state.R[0]
        return 1, limit
    slate[0] = at[I]
    slate[1] = at[V]
    return 2, 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    if slate.shape[0] != 2 or state.at[SINCE] == NONE or round < state.at[SINCE]:
        return  # of duels already decided
    count_duels(state.duels, state.won, state.lost, slate, wins)


@implement(Params)
def recommend(params: Params, state: State) -> int:
    at = state.at
    if at[LEFT] == 1:
        return state.R[0]
    if at[ANCHOR] != NONE:
        return at[ANCHOR]
    return best_left(state.tournament, state.won, state.lost)


SPEC = PolicySpec(
    name="seebs",
    title="SEEBS",
    params=Params,
    cite="ren2020",
    slate="two",
    assumes="strong stochastic transitivity and the stochastic triangle inequality",
    regret="none proved; O(sum of D_i^-2 (ln ln 1/D_i + ln 1/delta)) duels to the best arm",
    use="When the very best option must be named with a guarantee, however long it takes, and then kept.",
    blind="only the duels being played count",
    parameters={
        "epsilon": Parameter(meaning="stop at an arm this near to the best; 0: find the best", at_least=0.0, below=0.5),
        "delta": Parameter(meaning="probability of another winner, at most", above=0.0, below=1.0),
    },
    exceptions=EXCEPTIONS,
)
