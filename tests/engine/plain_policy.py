"""Policies of one's own for tests of what is around a policy: never compiled, and made of functions that the test gives."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from multiduel.authoring import PolicySpec, ask, init, recommend, tell
from multiduel.kernels.contract import extend, use_features

NAME = "plain"


class State(NamedTuple):
    W: np.ndarray  # f8[K, K]
    worth: np.ndarray  # f8[K]  the first feature of each arm


def round_robin(params: Any, state: State, round: int, limit: int, slate: np.ndarray) -> tuple[int, int]:
    """Neighbours, pair after pair."""
    K = len(state.worth)
    slate[:2] = round % K, (round + 1) % K
    return 2, 1


def plain_policy(
    choose: Callable[..., tuple[int, int]] = round_robin,
    bet: Callable[[State], int] = lambda state: int(state.W.sum(axis=1).argmax()),
    begins: Callable[[Any], None] = lambda params: None,
    goes_on: Callable[[Any, State], bool] | None = None,
    **card: Any,
) -> PolicySpec:
    """Its card. ``begins`` is called when a run is prepared; a policy that is not ``anytime`` has a horizon."""
    fields = () if card.get("anytime", True) else ("horizon",)
    Params = namedtuple("Params", fields, defaults=(0,) * len(fields))  # type: ignore[misc]

    @init.implement(Params)
    def start(params, n_arms, rng):
        begins(params)
        return State(np.zeros((n_arms, n_arms)), np.zeros(n_arms))

    @use_features.implement(Params)
    def look(params, state, features):
        state.worth[:] = features[:, 0]

    @ask.implement(Params)
    def show(params, state, rng, round, limit, slate):
        return choose(params, state, round, limit, slate)

    @tell.implement(Params)
    def learn(params, state, rng, round, slate, wins):
        state.W[np.ix_(slate, slate)] += wins[: len(slate), : len(slate)]

    @recommend.implement(Params)
    def name(params, state):
        return bet(state)

    if goes_on is not None:

        @extend.implement(Params)
        def later(params, state):
            return goes_on(params, state)

    words = {"title": "Plain", "cite": "none", "assumes": "nothing", "regret": "linear", "use": "Never."}
    return PolicySpec(**{"name": NAME, "params": Params, "slate": "two", "plain": True, **words, **card})
