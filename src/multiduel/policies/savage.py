"""SAVAGE: duel all pairs in turn, drop those whose outcome no longer matters, and commit when none is left.

Paper      Urvoy, Clerot, Feraud, Naamane. Generic Exploration and K-armed Voting Bandits. ICML 2013, Algorithms 1 to
           3.
Assumes    a Condorcet winner (``variant = condorcet``) or nothing (``variant = copeland``); the horizon T.
Symbols    K arms, W[i, j] wins of i over j, n_ij their duels, phat_ij = W_ij / n_ij, delta the error allowed, c(n) =
           sqrt(ln(eta / delta) / (2 n)) the radius, eta = K (K - 1) T, u and l = phat +- c, Q the active pairs.
Deviates   nothing. delta = 0 stands for 1 / T, as in experiments on regret; ``union = samples`` takes the paper's eta
           without a horizon, pi^2 K (K - 1) n^2 / 6.

    Q <- all pairs
    while Q is not empty
      duel the pair of Q with the fewest duels, ties at random; update its bounds
      remove from Q every pair whose outcome no longer matters:
        condorcet   (i, j) if i or j was beaten: u_ik < 1/2 for some k
        copeland    (i, j) if u_ij < 1/2 or l_ij > 1/2, or if some arm's certain wins #{l > 1/2} exceed the possible
                    wins #{u > 1/2} of i, and some arm's those of j
    play (a, a) to the end: a is the arm not beaten; copeland: the arm with most certain wins, ties at random

The fewest duels with random ties is a sweep over Q in random order, drawn as it goes. A pair counts as dueled when
asked. With T fixed no bound moves without its duel, so a duel costs one test, and arms are counted only when a pair
is decided.

>>> from multiduel import make
>>> policy = make("savage", n_arms=5, seed=0, horizon=1000, variant="copeland")
>>> len(policy.ask().arms)
2
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmax, most_winning, random_order
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.elimination import verdict
from multiduel.kernels.random import below

CONDORCET, COPELAND = 0, 1
HORIZON, SAMPLES = 0, 1
SIZE, NEXT, WINNER = 0, 1, 2  # places in `sweep`
NONE = -1
APART = 1 << 16  # more than there are arms; a power of two, which is quick to divide by


class Params(NamedTuple):
    horizon: int = 0  # T
    variant: int = CONDORCET
    delta: float = 0.0  # error allowed; 0: 1 / T
    union: int = HORIZON  # the union bound is over the rounds up to T, or over the pair's samples


class State(NamedTuple):
    W: Floats  # f8[K, K]  wins of i over j
    decided: Ints  # i8[K, K]  1 if the pair's outcome is known
    out: Ints  # i8[K]     1 if the arm was beaten (condorcet) or cannot win any more (copeland)
    certain: Floats  # f8[K]     pairs known to be won
    possible: Floats  # f8[K]     pairs not known to be lost
    order: Ints  # i8[K]     all arms in random order: of two, the earlier is the left arm
    queue: Ints  # i8[K (K - 1) / 2 + 1]  the sweep: pairs as i APART + j
    sweep: Ints  # i8[3]     its length; the next place; the arm committed to, or NONE
    level: Floats  # f8[1]     ln(eta / delta) / 2, for ``samples`` without its n^2


def level_of(params: Params, K: int) -> float:
    log_T = math.log(float(max(params.horizon, 1)))
    log_eta = math.log(max(K * (K - 1.0), 1.0)) + (log_T if params.union == HORIZON else math.log(math.pi**2 / 6.0))
    log_error = math.log(params.delta) if params.delta > 0.0 else -log_T
    return 0.5 * (log_eta - log_error)


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    K = n_arms
    return State(
        W=np.zeros((K, K)),
        decided=np.zeros((K, K), np.int64),
        out=np.zeros(K, np.int64),
        certain=np.zeros(K),
        possible=np.full(K, K - 1.0),
        order=random_order(K, rng),
        queue=np.zeros(K * (K - 1) // 2 + 1, np.int64),
        sweep=np.array([0, 0, NONE]),
        level=np.full(1, level_of(params, K)),
    )


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    K, sweep = len(state.out), state.sweep
    size = int(sweep[SIZE])
    here = 0 <= sweep[NEXT] <= size <= K * (K - 1) // 2
    left, right = np.divmod(state.queue[:size] if here else state.queue, APART)
    return {
        "W": validity.tally(state.W),
        "decided": validity.flags(state.decided),
        "out": validity.flags(state.out),
        "certain": validity.counts(state.certain, K),
        "possible": validity.between(state.possible, -1.0, K),
        "order": validity.order(state.order),
        "queue": validity.arms(left, K) and validity.arms(right, K) and bool(np.all(left != right)),
        "sweep": here and validity.arms(sweep[WINNER], K, none=True),
        "level": validity.close(state.level, level_of(params, K)),
    }


@implement(Params)
def extend(params: Params, state: State) -> bool:
    """A later end means a wider radius: where no pair is decided, none would have been."""
    undecided = state.sweep[WINNER] == NONE and not state.decided.any()
    if undecided:
        state.level[0] = level_of(params, len(state.out))
    return bool(undecided)


@kernel
def active(params: Params, state: State, i: int, j: int) -> bool:
    """Is the pair in Q?"""
    if params.variant == CONDORCET:
        return state.out[i] + state.out[j] == 0
    return state.decided[i, j] == 0 and state.out[i] + state.out[j] < 2


@kernel
def begin_sweep(params: Params, state: State, rng: Stream) -> None:
    """All of Q once more; if Q is empty, commit."""
    K = state.out.shape[0]
    size = 0
    for a in range(K):
        i = state.order[a]
        if params.variant == CONDORCET and state.out[i] == 1:
            continue
        for b in range(a + 1, K):
            j = state.order[b]
            state.queue[size] = i * APART + j
            size += 1 if active(params, state, i, j) else 0
    state.sweep[SIZE] = size
    state.sweep[NEXT] = 0
    if size == 0:
        for i in range(K):  # `possible` has done its duty; now it holds whom to commit to
            beaten = params.variant == CONDORCET and state.out[i] == 1
            state.possible[i] = -1.0 if beaten else state.certain[i]
        state.sweep[WINNER] = argmax(state.possible, rng)


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    queue, sweep = state.queue, state.sweep
    while sweep[WINNER] == NONE:
        if sweep[NEXT] == sweep[SIZE]:
            begin_sweep(params, state, rng)
            continue
        place = sweep[NEXT]
        drawn = place + below(sweep[SIZE] - place, rng)  # the next in random order
        pair = queue[drawn]
        queue[drawn] = queue[place]
        queue[place] = pair
        sweep[NEXT] += 1
        slate[0] = pair // APART
        slate[1] = pair % APART
        if active(params, state, slate[0], slate[1]):  # it may have left Q since the sweep began
            return 2, 1
    slate[0] = sweep[WINNER]
    return 1, limit


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    W, i, j = state.W, slate[0], slate[1]
    if not active(params, state, i, j):
        return
    W[i, j] += wins[0, 1]
    W[j, i] += wins[1, 0]
    n = W[i, j] + W[j, i]
    level = state.level[0]
    if params.union == SAMPLES and n > 0.0:  # log1p: log would be computed in any case, for speed, and cost more than all else
        level += math.log1p(n - 1.0)
    outcome = verdict(W[i, j] - W[j, i], n, level)
    if outcome == 0:
        return
    state.decided[i, j] = state.decided[j, i] = 1
    winner, loser = (i, j) if outcome > 0 else (j, i)
    state.certain[winner] += 1.0
    state.possible[loser] -= 1.0
    if params.variant == CONDORCET:
        state.out[loser] = 1
        return
    best = 0.0
    for k in range(state.out.shape[0]):
        best = max(best, state.certain[k])
    for k in range(state.out.shape[0]):
        state.out[k] = 1 if best > state.possible[k] else 0


@implement(Params)
def recommend(params: Params, state: State) -> int:
    """Of the arms that may still win, the one with the largest share of its duels won."""
    if state.sweep[WINNER] != NONE:
        return state.sweep[WINNER]
    best = most_winning(state.W)
    share = -1.0
    for i in range(state.out.shape[0]):
        won = 0.0
        n = 0.0
        for j in range(state.out.shape[0]):
            won += state.W[i, j]
            n += state.W[i, j] + state.W[j, i]
        if state.out[i] == 0 and n > 0.0 and won / n > share:
            share = won / n
            best = i
    return best


SPEC = PolicySpec(
    name="savage",
    title="SAVAGE",
    params=Params,
    cite="urvoy2013",
    slate="two",
    assumes="a Condorcet winner, or with variant copeland nothing",
    regret="O(K^2 ln T)",
    use="A known number of rounds and no assumption about how the options relate; it pays for that with many duels.",
    blind="it decides pairs for good as answers arrive, so that their order matters",
    anytime=False,
    parameters={
        "horizon": Parameter(meaning="T, the number of rounds to be played", at_least=1),
        "variant": Parameter(
            meaning="what is looked for: the arm that beats all others, or the arm that beats most",
            choices={"condorcet": CONDORCET, "copeland": COPELAND},
        ),
        "delta": Parameter(meaning="error allowed; 0 stands for 1 / T", at_least=0.0, below=1.0),
        "union": Parameter(
            meaning="the union bound is over the rounds up to T, or over the samples of the pair",
            choices={"horizon": HORIZON, "samples": SAMPLES},
        ),
    },
)
