"""A small policy of somebody else's, as the text of a file: round robin over pairs, and the most winning arm."""

TEXT = """
from typing import NamedTuple

import numpy as np

from multiduel.authoring import PolicySpec, ask, init, most_winning, recommend, tell, valid, validity


class Params(NamedTuple):
    pass


class State(NamedTuple):
    W: np.ndarray


@init.implement(Params)
def start(params, n_arms, rng):
    return State(np.zeros((n_arms, n_arms)))


@valid.implement(Params)
def sound(params, state, n_arms, round):
    return {"W": validity.tally(state.W)}


@ask.implement(Params)
def choose(params, state, rng, round, limit, slate):
    K = state.W.shape[0]
    slate[0] = round % K
    slate[1] = (round + 1) % K
    return 2, 1


@tell.implement(Params)
def learn(params, state, rng, round, slate, wins):
    for a in range(slate.shape[0]):
        for b in range(slate.shape[0]):
            state.W[slate[a], slate[b]] += wins[a, b]


@recommend.implement(Params)
def bet(params, state):
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
