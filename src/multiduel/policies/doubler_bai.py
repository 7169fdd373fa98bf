"""DoublerBAI: in ever longer epochs, identify the arm that does best against the last epoch's arm, then play the two.

Paper      Du, Wang, Huang. Dueling Bandits: From Two-dueling to Multi-dueling. AAMAS 2020, Algorithm 1.
Assumes    utilities with a linear link, or a finite gamma of Property 1.
Symbols    K arms, S the best-arm-identification machine, epoch i of tau_i rounds ending at T_i = floor(a^(b^i)), xbar_i its
           left arm, xhat_i the arm it identifies.
Deviates   nothing. ``keep_last`` and ``reset = false`` are interpretations that would explain better curves than the literal one.

    T_i <- floor(a^(b^i));  tau_0 <- T_0;  tau_i <- T_i - T_{i-1}
    for i = 0, 1, ...
      xbar_i <- xhat_{i-1} if epoch i - 1 identified one, else an arm drawn uniformly
      Reset(S, delta_i), delta_i = 1 / tau_{i+1}
      for j = 1 .. tau_i
        if xhat_i is known:  play (xbar_i, xhat_i)
        else:                y <- Advance(S); play (xbar_i, y); Feedback(S, 1 if y won else 0)
                             if StopTest(S):  xhat_i <- Return(S)

Once xhat_i is known the rest of the epoch is one commitment, whatever its outcomes.

>>> from multiduel import make
>>> policy = make("doubler-bai", n_arms=5, seed=0, machine="kl-lucb", radius="t2")
>>> len(policy.ask().arms) <= 2
True
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import contract, validity
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import FOREVER, Parameter, PolicySpec, implement
from multiduel.kernels.random import below, uniform
from multiduel.machines import lucb
from multiduel.machines.contract import advance, allocate, answer, feedback, renew, reset, stopped

NONE = -1
EPOCH, FIRST, LAST, LEFT, FOUND, FALLBACK = 0, 1, 2, 3, 4, 5  # places in `epoch`


class Params(NamedTuple):
    machine: Any = lucb.LUCB()  # the BAIM
    a: float = 10.0
    b: float = 1.1
    keep_last: bool = False  # after a failed epoch, keep the last arm identified instead of a random one
    reset: bool = True  # erase the machine's memory at each epoch


class State(NamedTuple):
    S: Any  # machine state of 1 row
    epoch: Ints  # i8[6]  i, its first round, its last round, xbar_i, xhat_i or NONE, the last arm identified or NONE


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    return State(allocate(params.machine, 1, n_arms), np.array([-1, 0, 0, NONE, NONE, NONE]))


@kernel
def epoch_end(params: Params, i: int) -> int:
    """T_i; T_{-1} = 0."""
    if i < 0:
        return 0
    if i * math.log(params.b) > 50.0 or math.pow(params.b, float(i)) * math.log(params.a) > 43.0:  # T_i > 2^62
        return FOREVER
    T = math.pow(params.a, math.pow(params.b, float(i)))
    return int(T) if T < FOREVER else FOREVER


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    """Once an epoch has begun it has a left arm, and the machine samples to take."""
    epoch = state.epoch
    i, first, last = epoch[: LAST + 1].tolist()
    begun = i >= 0
    return {
        "S": contract.valid(params.machine, state.S, n_arms, round),
        "epoch": -1 <= i <= validity.MOST
        and 0 <= first <= last + 1
        and last == epoch_end(params, i)
        and (not isinstance(state.S, lucb.State) or begun == lucb.has_begun(state.S))
        and validity.arms(epoch[LEFT:], n_arms, none=True)
        and begun == (epoch[LEFT] != NONE),
    }


@kernel
def begin_epoch(params: Params, state: State, rng: Stream, round: int) -> None:
    epoch = state.epoch
    while epoch[LAST] < round:  # zero-length epochs (small a, b) pass unplayed
        epoch[EPOCH] += 1
        epoch[FIRST] = epoch[LAST] + 1
        epoch[LAST] = epoch_end(params, epoch[EPOCH])
    i = epoch[EPOCH]
    if epoch[FOUND] != NONE:
        epoch[LEFT] = epoch[FOUND]
    elif params.keep_last and epoch[FALLBACK] != NONE:
        epoch[LEFT] = epoch[FALLBACK]
    else:
        epoch[LEFT] = below(state.S.S.shape[1], rng)
    epoch[FOUND] = NONE
    delta = min(1.0 / max(epoch_end(params, i + 1) - epoch_end(params, i), 1), 0.5)
    if params.reset or i == 0:
        reset(params.machine, state.S, 0, delta, rng)
    else:
        renew(params.machine, state.S, 0, delta, rng)
    note_stop(params, state)


@kernel
def note_stop(params: Params, state: State) -> None:
    """if StopTest(S): xhat_i <- Return(S)"""
    if stopped(params.machine, state.S, 0):
        state.epoch[FOUND] = answer(params.machine, state.S, 0)
        state.epoch[FALLBACK] = state.epoch[FOUND]


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    epoch = state.epoch
    if round > epoch[LAST]:
        begin_epoch(params, state, rng, round)
    x = epoch[LEFT]
    y = epoch[FOUND]
    slate[0] = x
    rounds = 1
    if y != NONE:  # play (xbar_i, xhat_i) to the end of the epoch
        rounds = min(epoch[LAST] - round + 1, limit)
    else:
        y = advance(params.machine, state.S, 0, round, rng)
        if y == x:  # a self-duel: a fair coin
            heads = 1.0 if uniform(rng) < 0.5 else 0.0
            feedback(params.machine, state.S, 0, y, heads, 1.0 - heads, rng)
            note_stop(params, state)
    if y == x:
        return 1, rounds
    slate[1] = y
    return 2, rounds


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    if round < state.epoch[FIRST] or state.epoch[FOUND] != NONE:
        return  # another epoch's duel, or one played after the identification: ignored
    feedback(params.machine, state.S, 0, slate[1], wins[1, 0], wins[0, 1], rng)
    note_stop(params, state)


@implement(Params)
def recommend(params: Params, state: State) -> int:
    if state.epoch[FOUND] != NONE:
        return state.epoch[FOUND]
    if state.epoch[FALLBACK] != NONE:
        return state.epoch[FALLBACK]
    return answer(params.machine, state.S, 0)


SPEC = PolicySpec(
    name="doubler-bai",
    title="DoublerBAI",
    params=Params,
    cite="du2020",
    slate="two",
    assumes="utilities with a linear link, or a finite gamma of Property 1",
    regret="O(ln T)",
    use="Very long experiments, two options at a time: it explores in few, well separated phases and then plays one pair.",
    blind="a machine learns only from the arms that it advanced, against the left arm of its epoch",
    blocks=True,
    parameters={
        "machine": Parameter(meaning="the best-arm-identification machine", machines="identifier"),
        "a": Parameter(meaning="epochs end at floor(a^(b^i))", at_least=1.001),
        "b": Parameter(meaning="epochs end at floor(a^(b^i))", at_least=1.001),
        "keep_last": Parameter(meaning="after an epoch without identification, keep the last arm identified"),
        "reset": Parameter(meaning="erase the machine's memory at each epoch (published)"),
    },
)
