"""Doubler: in epochs of doubling length, a bandit looks for the arm that beats the last epoch's choices.

Paper      Ailon, Karnin, Joachims. Reducing Dueling Bandits to Cardinal Bandits. ICML 2014, Algorithm 1.
Assumes    utilities with a linear link.
Symbols    K arms, S the singleton bandit machine, L the multiset of left arms, x_t left arm, y_t right arm, b = 1 if
           y_t won.
Deviates   nothing. L keeps its multiplicities; a public code that removes them is another algorithm.

    S <- new SBM;  L <- { an arbitrary arm }
    for i = 1, 2, ...
      Reset(S)
      for j = 1 .. 2^i
        x_t <- uniformly from L;  y_t <- Advance(S)
        play (x_t, y_t); observe b
        Feedback(S, b)
      L <- the multiset of arms played as y_t in this epoch

L is kept as running totals of its counts, and x_t is found in them by bisection. After a self-duel (y, y), as many more as the
machine holds y and x_t stays the same, which is a geometric draw, are one commitment; then comes an x_t other than y. A
duel of an earlier epoch that is told late is ignored, since the machine has been reset.

>>> from multiduel import make
>>> len(make("doubler", n_arms=5, seed=0, machine="thompson").ask().arms) <= 2
True
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import contract, validity
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import FOREVER, PolicySpec, implement
from multiduel.kernels.random import below, uniform
from multiduel.machines import ucb
from multiduel.machines.contract import advance, allocate, answer, feedback, hold, reset
from multiduel.policies.self_duels import PARAMETERS, TOSS, toss

EPOCH, FIRST, LAST = 0, 1, 2  # places in `epoch`
ARM, ROUNDS, OTHER = 0, 1, 2  # places in `held`
NONE = -1


class Params(NamedTuple):
    machine: Any = ucb.Params()  # the SBM
    coin: int = TOSS  # what a self-duel feeds back


class State(NamedTuple):
    S: Any  # machine state of 1 row
    L: Ints  # i8[K]  running totals of the left arms' counts
    played: Ints  # i8[K]  how often each arm was y_t in this epoch
    epoch: Ints  # i8[3]  i, its first round, its last round
    held: Ints  # i8[3]  the arm that the machine holds, for how many rounds still, and 1 if the next x_t is another arm


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    L = (np.arange(n_arms) >= below(n_arms, rng)).astype(np.int64)  # one arm, drawn uniformly
    return State(allocate(params.machine, 1, n_arms), L, np.zeros(n_arms, np.int64), np.zeros(3, np.int64), np.zeros(3, np.int64))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    i, first, last = state.epoch.tolist()
    return {
        "S": contract.valid(params.machine, state.S, n_arms, round),
        "L": validity.counts(state.L) and bool(np.all(np.diff(state.L) >= 0)),
        "played": validity.counts(state.played, validity.MOST_ROUNDS),
        "held": validity.arms(state.held[ARM], n_arms)
        and validity.counts(state.held[ROUNDS], FOREVER)
        and validity.flags(state.held[OTHER])
        and (state.held[OTHER] == 0 or share(state.L, int(state.held[ARM])) < 1.0),
        "epoch": 0 <= i <= 62 and 0 <= first <= last <= FOREVER and (i > 0) == (last > 0),
    }


@kernel
def begin_epoch(params: Params, state: State, rng: Stream, round: int) -> None:
    """L <- the y_t of the epoch that ended; Reset(S); the next epoch has 2^i rounds."""
    epoch = state.epoch
    total = 0
    if epoch[EPOCH] > 0:
        for k in range(state.L.shape[0]):
            total += state.played[k]
            state.L[k] = total
            state.played[k] = 0
    while epoch[LAST] < round:
        epoch[EPOCH] += 1
        epoch[FIRST] = epoch[LAST] + 1
        epoch[LAST] = min(epoch[LAST] + (1 << min(epoch[EPOCH], 61)), FOREVER)
    reset(params.machine, state.S, 0, 0.0, rng)
    state.held[ROUNDS] = 0
    state.held[OTHER] = 0


@kernel
def count_of(L: Ints, arm: int) -> int:
    return L[arm] - L[arm - 1] if arm > 0 else L[0]


@kernel
def share(L: Ints, arm: int) -> float:
    """How likely it is as x_t."""
    return count_of(L, arm) / L[L.shape[0] - 1] if L[L.shape[0] - 1] > 0 else 1.0


@kernel
def draw_left(L: Ints, without: int, rng: Stream) -> int:
    """An arm from the multiset with running totals L, one arm perhaps taken out: the first whose total exceeds a draw below the
    last total."""
    out = count_of(L, without) if without != NONE else 0
    drawn = below(L[L.shape[0] - 1] - out, rng)
    if without != NONE and drawn >= L[without] - out:
        drawn += out
    low = 0
    high = L.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if L[middle] > drawn:
            high = middle
        else:
            low = middle + 1
    return low


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    if round > state.epoch[LAST]:
        begin_epoch(params, state, rng, round)
    held = state.held
    fresh = held[ROUNDS] == 0
    x = draw_left(state.L, held[ARM] if held[OTHER] == 1 else NONE, rng)
    held[OTHER] = 0
    if fresh:
        held[ARM] = advance(params.machine, state.S, 0, round, rng)
        held[ROUNDS] = 1
    y = held[ARM]
    slate[0] = x
    rounds = 1
    if y == x:
        if limit > 1:
            if fresh:
                held[ROUNDS] = hold(params.machine, state.S, 0, y, state.epoch[LAST] - round + 1)
            rounds = repeats(state, y, min(limit, held[ROUNDS]), rng)
        heads = toss(params.coin, rounds, rng)
        feedback(params.machine, state.S, 0, y, heads, rounds - heads, rng)
    state.played[y] += rounds
    held[ROUNDS] -= rounds
    if y == x:
        return 1, rounds
    slate[1] = y
    return 2, 1


@kernel
def repeats(state: State, y: int, most: int, rng: Stream) -> int:
    """For how many rounds, this one included, x_t is y: a geometric draw. If fewer than ``most``, then it is another."""
    chance = share(state.L, y)
    if most == 1 or chance >= 1.0:
        return most
    further = math.log(1.0 - uniform(rng)) / math.log(chance)
    if further >= most - 1:
        return most
    state.held[OTHER] = 1
    return 1 + int(further)


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    if round >= state.epoch[FIRST]:
        feedback(params.machine, state.S, 0, slate[1], wins[1, 0], wins[0, 1], rng)


@implement(Params)
def recommend(params: Params, state: State) -> int:
    """The most frequent arm of L once an epoch is over: the machine has only just begun to learn anew."""
    L = state.L
    if state.epoch[EPOCH] <= 1:
        return answer(params.machine, state.S, 0)
    best = 0
    most = L[0]
    for k in range(1, L.shape[0]):
        if L[k] - L[k - 1] > most:
            most = L[k] - L[k - 1]
            best = k
    return best


SPEC = PolicySpec(
    name="doubler",
    title="Doubler",
    params=Params,
    cite="ailon2014",
    slate="two",
    assumes="utilities with a linear link",
    regret="O(ln^2 T)",
    use="To compare with the literature; MultiSBM-Feedback and RUCB learn faster.",
    blind="a machine learns only from the arms that it advanced, against the left arms of its epoch",
    commits="distribution",
    parameters=PARAMETERS,
)
