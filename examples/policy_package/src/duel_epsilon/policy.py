"""EpsilonGreedy: now and then compare a random slate; otherwise use the arm that has won most.

Paper      none: the folklore of bandits, with duels instead of rewards.
Assumes    a Condorcet winner that also wins most often on average.
Symbols    K arms, m seats, epsilon how often to explore, W[i, j] wins of i over j, s_i the share of its duels that i won.
Deviates   nothing.

    for t = 1, 2, ...
      with probability epsilon, or before the first outcome:   A <- m arms, uniformly from all
      else:                                                    A <- { argmax_i s_i }, ties at random
      compare all pairs of A; update W and s

>>> from multiduel import make
>>> make("uniform", n_arms=5, slate_size=3, seed=0).ask().round
1
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.authoring import (
    Floats,
    Ints,
    Parameter,
    PolicySpec,
    Stream,
    argmax,
    draw_distinct,
    implement,
    most_winning,
    uniform,
    validity,
)


class Params(NamedTuple):
    slate_size: int = 2  # m
    epsilon: float = 0.1


class State(NamedTuple):
    W: Floats  # f8[K, K]  wins of i over j
    s: Floats  # f8[K]     share of its duels that i won; 0 before the first
    seen: Ints  # i8[1]    1 after the first outcome
    pool: Ints  # i8[K]    scratch


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:  # plain Python: the only place that allocates
    return State(np.zeros((n_arms, n_arms)), np.zeros(n_arms), np.zeros(1, np.int64), np.zeros(n_arms, np.int64))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:  # a snapshot is input: what may it hold?
    return {
        "W": validity.tally(state.W),
        "s": validity.between(state.s, 0.0, 1.0),
        "seen": validity.flags(state.seen),
        "pool": validity.SCRATCH,
    }


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    if state.seen[0] == 0 or uniform(rng) < params.epsilon:  # explore
        pool = state.pool
        for i in range(pool.shape[0]):
            pool[i] = i
        draw_distinct(pool, pool.shape[0], params.slate_size, slate, 0, rng)
        return params.slate_size, 1
    slate[0] = argmax(state.s, rng)  # exploit
    return 1, 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    W = state.W
    state.seen[0] = 1
    for a in range(slate.shape[0]):
        for b in range(slate.shape[0]):
            if a != b:
                W[slate[a], slate[b]] += wins[a, b]
    for a in range(slate.shape[0]):
        i = slate[a]
        won = 0.0
        lost = 0.0
        for j in range(W.shape[0]):
            won += W[i, j]
            lost += W[j, i]
        state.s[i] = won / (won + lost) if won + lost > 0.0 else 0.0


@implement(Params)
def recommend(params: Params, state: State) -> int:
    return most_winning(state.W)


SPEC = PolicySpec(
    name="epsilon-greedy",
    title="EpsilonGreedy",
    params=Params,
    cite="none",
    slate="any",
    assumes="a Condorcet winner that also wins most often on average",
    regret="linear",
    use="As the start of your own policy.",
    parameters={
        "slate_size": Parameter(meaning="arms compared in one round", at_least=1),
        "epsilon": Parameter(meaning="how often to explore", above=0.0, at_most=1.0),
    },
)
