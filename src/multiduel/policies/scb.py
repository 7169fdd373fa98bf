"""SCB (Scalable Copeland Bandits): in rounds of squared budgets, find the arm that beats most others, then play it.

Paper      Zoghi, Karnin, Whiteson, de Rijke. Copeland Dueling Bandits. NIPS 2015, Algorithms 2 to 4.
Assumes    no ties between arms (p_ij = 1/2).
Symbols    K arms, r the outer round, B = 2^(2^r) its budget, delta = ln(B) / B, W[i, j] wins of i over j, n their
           duels, s the clock of the solver, mean_i the share of opponents that i was seen to beat, kl the Bernoulli
           relative entropy.
Deviates   with epsilon = 0 the listed stop test can never be met; as in public codes the solver also stops when one
           arm is active, or when every pair of an active arm is decided (then the largest Copeland score wins, ties
           at random). A pair decided once is not dueled again in the same outer round. The paper leaves open how a
           pair is decided.

    for r = 1, 2, ...
      run the solver, cut after B duels; play (a, a) with the arm a that it returned for the rest of the budget
    solver:
      s <- 2
      repeat
        for every active i
          j <- uniformly from the others
          duel (i, j) until |phat - 1/2| > sqrt(ln(4 n^2 K^2 / delta) / (2 n));  total_i <- total_i + 1 if i won
        mean_i <- total_i / s;  I_i <- { q : s kl(mean_i, q) <= ln(4 s K / delta) + 2 ln ln s }
        remove i if its upper end is below some active lower end
        return the arm with the largest lower end if (1 - max lower) / (1 - max upper) <= 1 + epsilon
        s <- s + 1

All duels of a pair that cannot yet decide it are one commitment, and so is the unused budget.

>>> from multiduel import make
>>> make("scb", n_arms=5, seed=0).ask().round
1
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmax, draw_distinct
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.confidence import kl_lower, kl_upper
from multiduel.kernels.contract import FOREVER, Parameter, PolicySpec, implement
from multiduel.kernels.elimination import duels_to_verdict, verdict
from multiduel.kernels.random import below

FIXED, ANYTIME = 0, 1
R, FIRST, LAST, CLOCK, CURSOR, LEFT, RIGHT, WINNER, BEFORE = range(9)  # places in `run`
NONE = -1


class Params(NamedTuple):
    epsilon: float = 0.0  # of the stop test
    rule: int = ANYTIME  # how a pair is decided: with the union bound over n, or without
    carry: bool = False  # keep the duels of earlier outer rounds


class State(NamedTuple):
    W: Floats  # f8[K, K]  wins of i over j
    ever: Floats  # f8[K, K]  the same over all outer rounds, for ``recommend`` alone
    decided: Ints  # i8[K, K]  1 if i beats j, -1 if j beats i, 0 if open
    active: Ints  # i8[K]
    order: Ints  # i8[K]     in which the arms are gone through, random
    total: Floats  # f8[K]     rewards
    upper: Floats  # f8[K]     ends of the intervals
    lower: Floats  # f8[K]
    run: Ints  # i8[9]     r; its first, last round; s; the arm at work; its duel or NONE; arm found now, before
    log_error: Floats  # f8[1]     ln delta


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    K = n_arms
    run = np.array([0, 0, 0, 2, 0, NONE, NONE, NONE, NONE])
    return State(
        W=np.zeros((K, K)),
        ever=np.zeros((K, K)),
        decided=np.zeros((K, K), np.int64),
        active=np.ones(K, np.int64),
        order=np.zeros(K, np.int64),
        total=np.zeros(K),
        upper=np.zeros(K),
        lower=np.zeros(K),
        run=run,
        log_error=np.zeros(1),
    )


@kernel
def log_delta(r: int) -> float:
    log_budget = math.log(2.0) * 2.0 ** min(r, 6)
    return math.log(log_budget) - log_budget


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    run, K = state.run, len(state.active)
    begun = run[R] > 0
    at_work = run[LEFT] == NONE or (validity.distinct(run[[LEFT, RIGHT]], K) and run[CURSOR] < K)
    return {
        "W": validity.tally(state.W),
        "ever": validity.tally(state.ever),
        "decided": validity.between(state.decided, -1, 1) and bool(np.all(state.decided == -state.decided.T)),
        "active": validity.flags(state.active) and bool(state.active.any()),
        "order": validity.order(state.order) if begun else not state.order.any(),
        "total": validity.counts(state.total, max(run[CLOCK], 0)),
        "upper": validity.SCRATCH,
        "lower": validity.SCRATCH,
        "run": 0 <= run[R] <= 6
        and 0 <= run[FIRST] <= run[LAST] <= FOREVER
        and (run[LAST] > 0) == begun
        and 2 <= run[CLOCK] <= validity.MOST
        and 0 <= run[CURSOR] <= K
        and at_work
        and (K > 1 or not begun or run[WINNER] != NONE)
        and validity.arms(run[LEFT:], K, none=True),
        "log_error": not begun or validity.close(state.log_error, log_delta(int(run[R]))),
    }


@kernel
def begin_run(params: Params, state: State, rng: Stream, round: int) -> None:
    """The next outer round: a new budget, a new delta, a new solver."""
    run = state.run
    if run[WINNER] != NONE:
        run[BEFORE] = run[WINNER]
    while run[LAST] < round:
        run[R] += 1
        run[FIRST] = run[LAST] + 1
        run[LAST] = run[LAST] + (1 << (1 << run[R])) if run[R] < 6 else FOREVER
    state.log_error[0] = log_delta(run[R])
    K = state.active.shape[0]
    for i in range(K):
        state.active[i] = 1
        state.order[i] = i
        state.total[i] = 0.0
        for j in range(K):
            state.decided[i, j] = 0
            state.W[i, j] = state.W[i, j] if params.carry else 0.0
    draw_distinct(state.order, K, K, state.order, 0, rng)
    run[CLOCK], run[CURSOR], run[LEFT] = 2, 0, NONE
    run[WINNER] = 0 if K == 1 else NONE


@kernel
def level(params: Params, state: State, n: float) -> float:
    """A pair is decided when |phat - 1/2| > sqrt(level / n)."""
    union = 2.0 * math.log(max(n, 1.0)) if params.rule == ANYTIME else 0.0
    return 0.5 * (math.log(4.0 * state.active.shape[0] ** 2) + union - state.log_error[0])


@kernel
def settle(params: Params, state: State, i: int, j: int) -> None:
    n = state.W[i, j] + state.W[j, i]
    outcome = verdict(state.W[i, j] - state.W[j, i], n, level(params, state, n))
    state.decided[i, j] = outcome
    state.decided[j, i] = -outcome


@kernel
def seek(params: Params, state: State, rng: Stream) -> None:
    """Go through the listing until there is a pair to duel, or an arm to return."""
    run, decided = state.run, state.decided
    K = state.active.shape[0]
    while run[WINNER] == NONE:
        if run[LEFT] != NONE:
            outcome = decided[run[LEFT], run[RIGHT]]
            if outcome == 0:
                return
            state.total[run[LEFT]] += 1.0 if outcome > 0 else 0.0
            run[LEFT] = NONE
            run[CURSOR] += 1
        while run[CURSOR] < K and state.active[state.order[run[CURSOR]]] == 0:
            run[CURSOR] += 1
        if run[CURSOR] == K:
            end_pass(params, state, rng)
        else:
            i = state.order[run[CURSOR]]
            j = below(K - 1, rng)  # uniformly from the others
            run[LEFT], run[RIGHT] = i, j if j < i else j + 1
            if decided[i, run[RIGHT]] == 0:
                settle(params, state, i, run[RIGHT])  # duels carried over may be enough


@kernel
def end_pass(params: Params, state: State, rng: Stream) -> None:
    """Intervals, eliminations, the stop tests."""
    run, active, upper, lower = state.run, state.active, state.upper, state.lower
    K = active.shape[0]
    s = float(run[CLOCK])
    width = (math.log(4.0 * s * K) - state.log_error[0] + 2.0 * math.log(math.log(s))) / s
    best_lower = 0.0
    best_upper = 0.0
    for i in range(K):
        if active[i] == 1:
            upper[i] = kl_upper(state.total[i] / s, width)
            lower[i] = kl_lower(state.total[i] / s, width)
            best_lower = max(best_lower, lower[i])
    remaining = 0
    open_pairs = 0
    for i in range(K):
        if active[i] == 1 and upper[i] < best_lower:
            active[i] = 0
        if active[i] == 0:
            lower[i] = -1.0
            continue
        remaining += 1
        best_upper = max(best_upper, upper[i])
        for j in range(K):
            open_pairs += 1 if j != i and state.decided[i, j] == 0 else 0
    run[CLOCK] += 1
    run[CURSOR] = 0
    if remaining == 1 or 1.0 - best_lower <= (1.0 + params.epsilon) * (1.0 - best_upper):
        run[WINNER] = argmax(lower, rng)
    elif open_pairs == 0:
        for i in range(K):  # `lower` now holds Copeland scores
            lower[i] = 0.0 if active[i] == 1 else -1.0
            for j in range(K):
                lower[i] += 1.0 if active[i] == 1 and state.decided[i, j] > 0 else 0.0
        run[WINNER] = argmax(lower, rng)


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    run = state.run
    if round > run[LAST]:
        begin_run(params, state, rng, round)
    seek(params, state, rng)
    budget = min(run[LAST] - round + 1, limit)
    if run[WINNER] != NONE:  # the unused budget
        slate[0] = run[WINNER]
        return 1, budget
    i, j = run[LEFT], run[RIGHT]
    slate[0] = i
    slate[1] = j
    n = state.W[i, j] + state.W[j, i]
    return 2, min(duels_to_verdict(state.W[i, j] - state.W[j, i], n, level(params, state, n)), budget)


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    i, j = slate[0], slate[1]
    state.ever[i, j] += wins[0, 1]
    state.ever[j, i] += wins[1, 0]
    if round < state.run[FIRST] and not params.carry:
        return  # a duel of an earlier outer round
    state.W[i, j] += wins[0, 1]
    state.W[j, i] += wins[1, 0]
    if state.decided[i, j] == 0:
        settle(params, state, i, j)


@implement(Params)
def recommend(params: Params, state: State) -> int:
    """The arm found, in this outer round or the last that found one. Before that, the arm that seems to beat most others.

    An opponent counts z / (1 + |z|), from -1 to 1, where z = d / sqrt(n) says how clearly it was beaten; 0 if never met.
    """
    if state.run[WINNER] != NONE:
        return state.run[WINNER]
    if state.run[BEFORE] != NONE:
        return state.run[BEFORE]
    ever = state.ever
    best = 0
    best_score = -math.inf
    for i in range(ever.shape[0]):
        score = 0.0
        for j in range(ever.shape[0]):
            n = ever[i, j] + ever[j, i]
            d = ever[i, j] - ever[j, i]
            score += d / (math.sqrt(n) + abs(d)) if n > 0.0 else 0.0
        if score > best_score:
            best_score = score
            best = i
    return best


SPEC = PolicySpec(
    name="scb",
    title="SCB (Scalable Copeland Bandits)",
    params=Params,
    cite="zoghi2015copeland",
    slate="two",
    assumes="no two options are equally good against each other",
    regret="O(K ln K ln T), Copeland",
    use="Very many options and very many rounds, when no option beats every other.",
    blind="it decides pairs for good as answers arrive, in outer rounds that each start afresh",
    commits="distribution",
    blocks=True,
    exceptions={
        "beats-uniform": "its fourth outer round has a budget of 65536 duels and spends thousands on each close pair",
        "late-tells": "after the rounds of the check about half of the pairs have not met, at times all those of the winner",
    },
    parameters={
        "epsilon": Parameter(meaning="slack of the stop test; 0 looks for the best arm itself", at_least=0.0),
        "rule": Parameter(
            meaning="a pair is decided by Hoeffding's bound for any n (n^2 in the logarithm) or a fixed n (without)",
            choices={"anytime": ANYTIME, "fixed": FIXED},
        ),
        "carry": Parameter(meaning="keep the duels of earlier outer rounds (the paper starts afresh)"),
    },
)
