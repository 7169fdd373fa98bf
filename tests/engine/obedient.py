"""A policy in plain Python that does as it is told and writes down all that it hears."""

from typing import Any, NamedTuple

from multiduel.kernels.contract import PolicySpec, ask, init, recommend, seats, tell, use_features


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


@init.implement(Params)
def start(params, n_arms, rng):
    return silent(((0, 1), 1))


@ask.implement(Params)
def obey(params, state, rng, round, limit, slate):
    state.asked.append((int(round), int(limit)))
    assert len(state.asked) <= 1000, "it is asked without end"
    arms, rounds, *taken = state.script.pop(0) if len(state.script) > 1 else state.script[0]
    slate[: len(arms)] = arms
    state.seated[:] = taken[0] if taken else [1] * len(arms)
    return len(arms), min(rounds, limit)


@seats.implement(Params)
def take_seats(params, state, place):
    return state.seated[place]


@tell.implement(Params)
def listen(params, state, rng, round, slate, wins):
    state.heard.append((round, slate.tolist(), wins.tolist()))


@recommend.implement(Params)
def bet(params, state):
    return state.bet[0]


@use_features.implement(Params)
def look(params, state, features):
    state.features.append(features.tolist())


def card(name: str = "obedient", **more: Any) -> PolicySpec:
    words = {"title": name, "cite": "", "slate": "any", "assumes": "", "regret": "", "use": "", "plain": True}
    return PolicySpec(**{"name": name, "params": Params, **words, **more})
