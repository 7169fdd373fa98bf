"""The sweeps that IF1 and IF2 share: a candidate duels everyone left, until all are out or one of them dethrones it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from multiduel.kernels.arrays import Floats, Ints, Stream
from multiduel.kernels.choice import draw_distinct
from multiduel.kernels.contract import Parameter
from multiduel.kernels.dispatch import kernel
from multiduel.kernels.elimination import duels_to_verdict, pick, verdict

SIZE, NEXT, NEWS, CANDIDATE = 0, 1, 2, 3  # places in `sweep`


class State(NamedTuple):
    W: Ints  # i8[K]  working set in W[:size], in a random order that stays
    inside: Ints  # i8[K]  1 for the arms of W
    won: Floats  # f8[K]  duels that the candidate won against x
    n: Floats  # f8[K]  duels of the candidate with x
    phat: Floats  # f8[K]  scratch: the candidate's share against those ahead of it
    sweep: Ints  # i8[4]  |W|; place of the next duel; 1 if some pair may be decided; the candidate b
    level: Floats  # f8[1]  the radius is sqrt(level / n)


def start(constant: float, horizon: int, n_arms: int, rng: Stream) -> State:
    """b is uniform, W the rest in random order. level = constant * ln(1 / delta) with delta = 1 / (T K^2)."""
    K = n_arms
    order = np.arange(K)
    draw_distinct(order, K, K, order, 0, rng)
    b = int(order[0])
    inside = np.ones(K, np.int64)
    inside[b] = 0
    level = constant * (math.log(float(max(horizon, 1))) + 2.0 * math.log(float(K)))
    return State(
        W=np.append(order[1:], 0),
        inside=inside,
        won=np.zeros(K),
        n=np.zeros(K),
        phat=np.zeros(K),
        sweep=np.array([K - 1, 0, 0, b]),
        level=np.full(1, level),
    )


@kernel
def step(state: State, prune: bool, rng: Stream, limit: int, slate: Ints) -> tuple[int, int]:
    """The next duel of the sweep; before a new sweep, the tests."""
    sweep = state.sweep
    if sweep[NEXT] >= sweep[SIZE]:
        sweep[NEXT] = 0
        if sweep[NEWS] == 1:
            review(state, prune, rng)
    slate[0] = sweep[CANDIDATE]
    if sweep[SIZE] == 0:  # W is empty: play (b, b) for good
        return 1, limit
    x = state.W[sweep[NEXT]]
    slate[1] = x
    sweep[NEXT] += 1
    if sweep[SIZE] > 1:
        return 2, 1
    certain = duels_to_verdict(2.0 * state.won[x] - state.n[x], state.n[x], state.level[0])
    return 2, min(certain, limit)  # the last pair: nothing can be decided sooner


@kernel
def review(state: State, prune: bool, rng: Stream) -> None:
    """After a sweep: remove whom b beat; if someone beat b, it takes over (IF2: and whoever was behind b goes)."""
    W, sweep, won, n = state.W, state.sweep, state.won, state.n
    sweep[NEWS] = 0
    kept = 0
    dethroned = False
    for a in range(sweep[SIZE]):
        x = W[a]
        outcome = verdict(2.0 * won[x] - n[x], n[x], state.level[0])
        dethroned |= outcome < 0
        state.inside[x] = 0 if outcome > 0 else 1
        W[kept] = x
        kept += state.inside[x]
    sweep[SIZE] = kept
    if not dethroned:
        return
    for a in range(kept):
        x = W[a]
        ahead = verdict(2.0 * won[x] - n[x], n[x], state.level[0]) < 0
        state.phat[x] = won[x] / n[x] if ahead else math.inf
    sweep[CANDIDATE] = pick(state.phat, W, kept, -1.0, rng)  # of those ahead of b, the one furthest
    remaining = 0
    for a in range(kept):
        x = W[a]
        out = x == sweep[CANDIDATE] or (prune and 2.0 * won[x] > n[x])
        state.inside[x] = 0 if out else 1
        won[x] = 0.0
        n[x] = 0.0
        W[remaining] = x
        remaining += state.inside[x]
    sweep[SIZE] = remaining


@kernel
def learn(state: State, slate: Ints, wins: Floats) -> None:
    """Count a duel of the candidate with an arm of W. Duels of a dethroned candidate told late are ignored."""
    b, x = slate[0], slate[1]
    if b != state.sweep[CANDIDATE] or state.inside[x] == 0:
        return
    state.won[x] += wins[0, 1]
    state.n[x] += wins[0, 1] + wins[1, 0]
    if verdict(2.0 * state.won[x] - state.n[x], state.n[x], state.level[0]) != 0:
        state.sweep[NEWS] = 1


@kernel
def bet(state: State) -> int:
    """The candidate, or, if some arm of W is ahead of it, the one furthest ahead."""
    best = state.sweep[CANDIDATE]
    share = 0.5
    for a in range(state.sweep[SIZE]):
        x = state.W[a]
        if state.n[x] > 0.0 and state.won[x] / state.n[x] < share:
            share = state.won[x] / state.n[x]
            best = x
    return best


PARAMETERS = {
    "horizon": Parameter(meaning="T, the number of rounds to be played", at_least=1),
    "constant": Parameter(
        meaning="the radius is sqrt(constant ln(T K^2) / n): 4 in the journal version, 1 in some codes", above=0.0
    ),
}
