"""RUCB that is told every duel the wrong way round: a policy that must come last, and end wrong.

Paper      Zoghi et al. 2014, with the winner and the loser of every duel exchanged.
Assumes    nothing that would help.
Symbols    as in multiduel's rucb.
Deviates   in every answer, on purpose.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.authoring import Floats, Ints, Parameter, PolicySpec, Stream, implement, validity
from multiduel.kernels import contract
from multiduel.policies import rucb


class Params(NamedTuple):
    alpha: float = 0.51


class State(NamedTuple):
    inner: rucb.State
    turned: Floats  # f8[2, 2]  scratch


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    return State(contract.init(rucb.Params(params.alpha), n_arms, rng), np.zeros((2, 2)))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    return {"inner": contract.valid(rucb.Params(params.alpha), state.inner, n_arms, round), "turned": validity.SCRATCH}


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    return contract.ask(rucb.Params(params.alpha), state.inner, rng, round, limit, slate)


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    turned = state.turned
    turned[0, 1] = wins[1, 0]
    turned[1, 0] = wins[0, 1]
    contract.tell(rucb.Params(params.alpha), state.inner, rng, round, slate, turned)


@implement(Params)
def recommend(params: Params, state: State) -> int:
    return contract.recommend(rucb.Params(params.alpha), state.inner)


SPEC = PolicySpec(
    name="inverted-rucb",
    title="InvertedRUCB",
    params=Params,
    cite="none",
    slate="two",
    assumes="nothing",
    regret="linear",
    use="Never: to see that a benchmark finds it out.",
    parameters={"alpha": Parameter(meaning="width of the confidence bounds", above=0.5)},
)
