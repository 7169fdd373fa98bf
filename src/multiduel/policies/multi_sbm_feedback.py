"""MultiSBM-Feedback: MultiSBM in which every duel teaches both arms' machines.

Paper      Du, Wang, Huang. Dueling Bandits: From Two-dueling to Multi-dueling. AAMAS 2020, Algorithm 2.
Assumes    utilities with a linear link, or a finite gamma of Property 1.
Symbols    K arms, S_x the singleton bandit machine of left arm x, x_t left arm, y_t right arm, b = 1 if y_t won.
Deviates   nothing ("the right arm x_{t+1} is chosen to be y_t" is a slip of the paper for the left arm).
           ``coin = half`` feeds a self-duel's mean, 1/2, in place of a coin.

    S_x <- new SBM for every arm x; Reset(S_x); y_0 <- arbitrary arm
    for t = 1, 2, ...
      x_t <- y_{t-1}
      y_t <- Advance(S_{x_t})
      play (x_t, y_t); observe b
      Feedback(S_{x_t}, b)
      if x_t != y_t:  GetAdditionalFeedback(S_{y_t}): arm x_t, outcome 1 - b

The paper queues the additional feedback until S_{y_t} is next advanced. That is in round t + 1, since x_{t+1} = y_t, so
giving it at once is the same.

>>> from multiduel import duels, make
>>> policy = make("multi-sbm-feedback", n_arms=5, seed=0)
>>> slate = policy.ask()
>>> policy.tell(slate, duels([slate.arms]))
"""

from __future__ import annotations

from typing import Any, NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.contract import PolicySpec, ask, init, recommend, tell, valid
from multiduel.machines import ucb, walk
from multiduel.machines.contract import additional_feedback, feedback


class Params(NamedTuple):
    machine: Any = ucb.Params()  # the SBM
    coin: int = walk.TOSS  # what a self-duel feeds back


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> walk.State:
    return walk.start(params.machine, n_arms, rng)


@valid.implement(Params)
def sound(params: Params, state: walk.State, n_arms: int, round: int) -> dict[str, Any]:
    return {"S": valid(params.machine, state.S, n_arms, round), "y": validity.arms(state.y, n_arms)}


@ask.implement(Params)
def choose(params: Params, state: walk.State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    return walk.step(params.machine, params.coin, state, rng, round, limit, slate)


@tell.implement(Params)
def learn(params: Params, state: walk.State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    x, y = slate[0], slate[1]
    feedback(params.machine, state.S, x, y, wins[1, 0], wins[0, 1], rng)
    additional_feedback(params.machine, state.S, y, x, wins[0, 1], wins[1, 0], rng)


@recommend.implement(Params)
def bet(params: Params, state: walk.State) -> int:
    return walk.bet(params.machine, state)


SPEC = PolicySpec(
    name="multi-sbm-feedback",
    title="MultiSBM-Feedback",
    params=Params,
    cite="du2020",
    slate="two",
    assumes="utilities with a linear link, or a finite gamma of Property 1",
    regret="O(ln T)",
    use="Two options at a time, with hidden qualities behind the options; best with the Thompson machine.",
    blind="its machines keep clocks of their own, which move only when they advance an arm",
    commits="distribution",
    parameters=walk.PARAMETERS,
)
