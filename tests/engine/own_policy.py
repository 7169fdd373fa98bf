"""A small policy of somebody else's, as the text of a file: round robin over pairs, and the most winning arm."""

TEXT = """
from typing import NamedTuple

import numpy as np

from multiduel.authoring import implement, PolicySpec, most_winning, validity


class Params(NamedTuple):
    pass


class State(NamedTuple):
    W: np.ndarray


@implement(Params)
def init(params, n_arms, rng):
    return State(np.zeros((n_arms, n_arms)))


@implement(Params)
def valid(params, state, n_arms, round):
    return {"W": validity.tally(state.W)}


@implement(Params)
def ask(params, state, rng, round, limit, slate):
    K = state.W.shape[0]
    slate[0] = round % K
    slate[1] = (round + 1) % K
    return 2, 1


@implement(Params)
def tell(params, state, rng, round, slate, wins):
    for a in range(slate.shape[0]):
        for b in range(slate.shape[0]):
            state.W[slate[a], slate[b]] += wins[a, b]


@implement(Params)
def recommend(params, state):
    return most_winning(state.W)


SPEC = PolicySpec(
    name="round-robin",
    title="RoundRobin",
    params=Params,
    cite="none",
    slate="two",
    assumes="nothing",
    regret="linear",
    use="Never.",
)
"""
