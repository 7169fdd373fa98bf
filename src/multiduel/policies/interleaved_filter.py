"""Interleaved Filter, IF1 and IF2: a candidate duels all others in turn; losers leave, and whoever beats it takes its place.

Paper      Yue, Broder, Kleinberg, Joachims. The K-armed Dueling Bandits Problem. JCSS 78, 2012 (COLT 2009), Algorithms
           1 and 2.
Assumes    a total order, strong stochastic transitivity, the stochastic triangle inequality; the horizon T.
Symbols    K arms, b the candidate, W the working set, phat_x the share of duels that b won against x, n_x their
           number, delta = 1 / (T K^2), c = sqrt(constant ln(1 / delta) / n_x) the radius.
Deviates   nothing. If several arms dethrone b, the one furthest ahead does, ties at random: the paper says "exists".
           The constant is 4 in the journal version; public codes also use 1.

    b <- an arm drawn uniformly;  W <- the others
    while W is not empty
      for x in W:  duel (b, x); update phat_x, n_x
      remove from W every x with phat_x - c > 1/2
      if some x' in W has phat_x' + c < 1/2:
        remove from W every x with phat_x > 1/2                                (IF2 only)
        b <- x';  W <- W \\ { x' };  forget all phat, n
    play (b, b) to the end

The final self-duels are one commitment. While W holds a single arm, so are all duels that cannot yet decide it.

>>> from multiduel import make
>>> policy = make("if2", n_arms=5, seed=0, horizon=1000)
>>> len(policy.ask().arms)
2
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import draw_distinct
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, ask, implement
from multiduel.kernels.elimination import duels_to_verdict, pick, verdict

SIZE, NEXT, NEWS, CANDIDATE = 0, 1, 2, 3  # places in `sweep`


class IF1(NamedTuple):
    horizon: int = 0  # T
    constant: float = 4.0  # of the radius


class IF2(NamedTuple):
    horizon: int = 0
    constant: float = 4.0


class State(NamedTuple):
    W: Ints  # i8[K]  working set in W[:size], in a random order that stays
    inside: Ints  # i8[K]  1 for the arms of W
    won: Floats  # f8[K]  duels that the candidate won against x
    n: Floats  # f8[K]  duels of the candidate with x
    phat: Floats  # f8[K]  scratch: the candidate's share against those ahead of it
    sweep: Ints  # i8[4]  |W|; place of the next duel; 1 if some pair may be decided; the candidate b
    level: Floats  # f8[1]  the radius is sqrt(level / n)


def level_of(params: IF1 | IF2, K: int) -> float:
    """constant * ln(1 / delta) with delta = 1 / (T K^2)"""
    return params.constant * (math.log(float(max(params.horizon, 1))) + 2.0 * math.log(float(K)))


@implement(IF1)
@implement(IF2)
def init(params: IF1 | IF2, n_arms: int, rng: Stream) -> State:
    """b is uniform, W the rest in random order."""
    K = n_arms
    order = np.arange(K)
    draw_distinct(order, K, K, order, 0, rng)
    b = int(order[0])
    inside = np.ones(K, np.int64)
    inside[b] = 0
    return State(
        W=np.append(order[1:], 0),
        inside=inside,
        won=np.zeros(K),
        n=np.zeros(K),
        phat=np.zeros(K),
        sweep=np.array([K - 1, 0, 0, b]),
        level=np.full(1, level_of(params, K)),
    )


@implement(IF1)
@implement(IF2)
def valid(params: IF1 | IF2, state: State, n_arms: int, round: int) -> dict[str, Any]:
    K, sweep = len(state.W), state.sweep
    size = int(sweep[SIZE])
    here = 0 <= size < K
    inside = np.flatnonzero(state.inside == 1)
    return {
        "W": here and validity.arms(state.W, K) and sorted(state.W[:size].tolist()) == inside.tolist(),
        "inside": validity.flags(state.inside),
        "won": validity.between(state.won, 0.0, state.n),
        "n": validity.counts(state.n),
        "phat": validity.SCRATCH,
        "sweep": here
        and 0 <= sweep[NEXT] <= K
        and validity.flags(sweep[NEWS])
        and validity.arms(sweep[CANDIDATE], K)
        and state.inside[sweep[CANDIDATE]] == 0,
        "level": validity.close(state.level, level_of(params, K)),
    }


@ask.implement(IF1)
def ask_if1(params: IF1, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    return step(state, False, rng, limit, slate)


@ask.implement(IF2)
def ask_if2(params: IF2, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    return step(state, True, rng, limit, slate)


@implement(IF1)
@implement(IF2)
def extend(params: IF1 | IF2, state: State) -> bool:
    """A later end means a wider radius: where nothing is decided, nothing would have been."""
    undecided = state.sweep[SIZE] == len(state.W) - 1 > 1 and state.sweep[NEWS] == 0
    if undecided:
        state.level[0] = level_of(params, len(state.W))
    return bool(undecided)


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


@implement(IF1)
@implement(IF2)
def tell(params: IF1 | IF2, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    """Count a duel of the candidate with an arm of W. Duels of a dethroned candidate told late are ignored."""
    b, x = slate[0], slate[1]
    if b != state.sweep[CANDIDATE] or state.inside[x] == 0:
        return
    state.won[x] += wins[0, 1]
    state.n[x] += wins[0, 1] + wins[1, 0]
    if verdict(2.0 * state.won[x] - state.n[x], state.n[x], state.level[0]) != 0:
        state.sweep[NEWS] = 1


@implement(IF1)
@implement(IF2)
def recommend(params: IF1 | IF2, state: State) -> int:
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

IF1_SPEC = PolicySpec(
    name="if1",
    title="IF1 (Interleaved Filter)",
    params=IF1,
    cite="yue2012",
    slate="two",
    assumes="a total order with strong stochastic transitivity and the stochastic triangle inequality",
    regret="O(K log K ln T)",
    use="To compare with the literature; IF2 does the same with fewer duels.",
    blind="it counts only the duels of its candidate, from when it became one",
    anytime=False,
    commits="distribution",
    blocks=True,
    parameters=PARAMETERS,
)

IF2_SPEC = PolicySpec(
    name="if2",
    title="IF2 (Interleaved Filter)",
    params=IF2,
    cite="yue2012",
    slate="two",
    assumes="a total order with strong stochastic transitivity and the stochastic triangle inequality",
    regret="O(K ln T)",
    use="A known number of rounds, options in a clear order, and the wish to settle for good on one of them.",
    blind="it counts only the duels of its candidate, from when it became one",
    anytime=False,
    commits="distribution",
    blocks=True,
    parameters=PARAMETERS,
)
