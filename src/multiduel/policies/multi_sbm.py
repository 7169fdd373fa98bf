"""MultiSBM and MultiSBM-Feedback: a walk over the arms, each with a bandit of its own that looks for whoever beats it.

Paper      MultiSBM: Ailon, Karnin, Joachims. Reducing Dueling Bandits to Cardinal Bandits. ICML 2014, Algorithm 2.
           MultiSBM-Feedback, in which every duel teaches both arms' machines: Du, Wang, Huang. Dueling Bandits: From
           Two-dueling to Multi-dueling. AAMAS 2020, Algorithm 2.
Assumes    utilities with a linear link, or a finite gamma of Property 1.
Symbols    K arms, S_x the singleton bandit machine of left arm x, x_t left arm, y_t right arm, b = 1 if y_t won.
Deviates   nothing ("the right arm x_{t+1} is chosen to be y_t" is a slip of the second paper for the left arm).
           ``coin = half`` feeds a self-duel's mean, 1/2, in place of a coin.

    S_x <- new SBM for every arm x; Reset(S_x); y_0 <- arbitrary arm
    for t = 1, 2, ...
      x_t <- y_{t-1}
      y_t <- Advance(S_{x_t})
      play (x_t, y_t); observe b
      Feedback(S_{x_t}, b)
      if x_t != y_t:  GetAdditionalFeedback(S_{y_t}): arm x_t, outcome 1 - b                     (MultiSBM-Feedback only)

The second paper queues the additional feedback until S_{y_t} is next advanced. That is in round t + 1, since x_{t+1} = y_t, so
giving it at once is the same.

>>> from multiduel import duels, make
>>> len(make("multi-sbm", n_arms=5, seed=0, machine="thompson").ask().arms) <= 2
True
>>> policy = make("multi-sbm-feedback", n_arms=5, seed=0)
>>> slate = policy.ask()
>>> policy.tell(slate, duels([slate.arms]))
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import contract, validity
from multiduel.kernels.contract import PolicySpec, implement, tell
from multiduel.kernels.random import below
from multiduel.machines import ucb
from multiduel.machines.contract import additional_feedback, advance, allocate, answer, feedback, hold
from multiduel.policies.self_duels import PARAMETERS, TOSS, toss


class MultiSBM(NamedTuple):
    machine: Any = ucb.Params()  # the SBM
    coin: int = TOSS  # what a self-duel feeds back


class MultiSBMFeedback(NamedTuple):
    machine: Any = ucb.Params()
    coin: int = TOSS


class State(NamedTuple):
    S: Any  # machine state of K rows: S_x, one per left arm x
    y: Ints  # i8[1]  the last right arm


@implement(MultiSBM)
@implement(MultiSBMFeedback)
def init(params: MultiSBM | MultiSBMFeedback, n_arms: int, rng: Stream) -> State:
    """y_0 is uniform: the papers say arbitrary."""
    return State(allocate(params.machine, n_arms, n_arms), np.full(1, below(n_arms, rng)))


@implement(MultiSBM)
@implement(MultiSBMFeedback)
def valid(params: MultiSBM | MultiSBMFeedback, state: State, n_arms: int, round: int) -> dict[str, Any]:
    return {"S": contract.valid(params.machine, state.S, n_arms, round), "y": validity.arms(state.y, n_arms)}


@implement(MultiSBM)
@implement(MultiSBMFeedback)
def ask(params: MultiSBM | MultiSBMFeedback, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    """x_t <- y_{t-1}; y_t <- Advance(S_x). A self-duel is a fair coin, tossed here; as many in a row as the machine holds
    are tossed as one binomial."""
    machine = params.machine
    x = state.y[0]
    y = advance(machine, state.S, x, round, rng)
    slate[0] = x
    if y != x:
        slate[1] = y
        state.y[0] = y
        return 2, 1
    rounds = hold(machine, state.S, x, x, limit)
    heads = toss(params.coin, rounds, rng)
    feedback(machine, state.S, x, x, heads, rounds - heads, rng)
    return 1, rounds


@tell.implement(MultiSBM)
def tell_multi_sbm(params: MultiSBM, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    feedback(params.machine, state.S, slate[0], slate[1], wins[1, 0], wins[0, 1], rng)


@tell.implement(MultiSBMFeedback)
def tell_multi_sbm_feedback(params: MultiSBMFeedback, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    x, y = slate[0], slate[1]
    feedback(params.machine, state.S, x, y, wins[1, 0], wins[0, 1], rng)
    additional_feedback(params.machine, state.S, y, x, wins[0, 1], wins[1, 0], rng)


@implement(MultiSBM)
@implement(MultiSBMFeedback)
def recommend(params: MultiSBM | MultiSBMFeedback, state: State) -> int:
    """What the machine of the last right arm answers most: the end of the walk."""
    return answer(params.machine, state.S, state.y[0])


MULTI_SBM_SPEC = PolicySpec(
    name="multi-sbm",
    title="MultiSBM",
    params=MultiSBM,
    cite="ailon2014",
    slate="two",
    assumes="utilities with a linear link, or a finite gamma of Property 1",
    regret="O(ln T)",
    use="To compare with the literature; MultiSBM-Feedback learns the same with fewer duels.",
    blind="a machine learns only from the arms that it advanced",
    commits="distribution",
    parameters=PARAMETERS,
)

MULTI_SBM_FEEDBACK_SPEC = PolicySpec(
    name="multi-sbm-feedback",
    title="MultiSBM-Feedback",
    params=MultiSBMFeedback,
    cite="du2020",
    slate="two",
    assumes="utilities with a linear link, or a finite gamma of Property 1",
    regret="O(ln T)",
    use="Two options at a time, with hidden qualities behind the options; best with the Thompson machine.",
    blind="its machines keep clocks of their own, which move only when they advance an arm",
    commits="distribution",
    parameters=PARAMETERS,
)
