"""A policy in plain Python that does as it is told and writes down all that it hears."""

from typing import Any, NamedTuple

from multiduel.kernels.contract import PolicySpec, implement


class Params(NamedTuple):
    pass


class State(NamedTuple):
    """Lists, so that it cannot be saved."""

    script: list  # (arms, rounds) or (arms, rounds, seats) for each ask to come; the last one for all after it
    asked: list  # (round, limit)
    heard: list  # (round, arms, wins)
    seated: list  # of the last slate
    bet: list  # the arm that it recommends
    features: list


def silent(*script: Any) -> State:
    return State(list(script), [], [], [], [0], [])


@implement(Params)
def init(params, n_arms, rng):
    return silent(((0, 1), 1))


@implement(Params)
def ask(params, state, rng, round, limit, slate):
    state.asked.append((int(round), int(limit)))
    assert len(state.asked) <= 1000, "it is asked without end"
    arms, rounds, *taken = state.script.pop(0) if len(state.script) > 1 else state.script[0]
    slate[: len(arms)] = arms
    state.seated[:] = taken[0] if taken else [1] * len(arms)
    return len(arms), min(rounds, limit)


@implement(Params)
def seats(params, state, place):
    return state.seated[place]


@implement(Params)
def tell(params, state, rng, round, slate, wins):
    state.heard.append((round, slate.tolist(), wins.tolist()))


@implement(Params)
def recommend(params, state):
    return state.bet[0]


@implement(Params)
def use_features(params, state, features):
    state.features.append(features.tolist())


def card(name: str = "obedient", **more: Any) -> PolicySpec:
    words = {"title": name, "cite": "", "slate": "any", "assumes": "", "regret": "", "use": "", "plain": True}
    return PolicySpec(**{"name": name, "params": Params, **words, **more})
