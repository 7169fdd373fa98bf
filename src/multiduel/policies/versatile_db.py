"""Versatile-DB: two Tsallis-INF learners duel each other, in stochastic and in adversarial worlds.

Paper      Saha, Gaillard. Versatile Dueling Bandits: Best-of-both World Analyses for Learning from Relative
           Preferences. ICML 2022; the learner is Zimmert, Seldin, AISTATS 2019.
Assumes    a Condorcet winner for the logarithmic bound; nothing for the other.
Symbols    K arms, players + and -, L[p, i] estimated loss of arm i for player p, w_i the player's chance to play i,
           eta_t its learning rate, o the share of the duel won by +.
Deviates   nothing. ``shared`` is the paper's remark: both players learn from one L.

    for t = 1, 2, ...
      eta_t <- eta / sqrt(t)
      for both players: w_i <- 4 / (eta_t (L_i - x))^2 with x < min L such that sum w = 1; draw k from w
      play (k+, k-)                                   (k+ = k-: a fair coin)
      L[+, k+] <- L[+, k+] + (1 - o) / w[+, k+];   L[-, k-] <- L[-, k-] + o / w[-, k-]

How x is found. sum w is convex and rising in x, and at least 1 at min L - 2 / eta_t. So Newton's steps from there
fall to the root; the last round's x is a better start, and if it is left of the root one step lands right of it. An
outcome is weighted by the chances of its own round, remembered for the last 1024 rounds; an older one by the present
chances.

>>> from multiduel import make
>>> policy = make("versatile-db", n_arms=5, seed=0)
>>> len(policy.ask().arms) <= 2
True
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.random import uniform

MEMORY = 1024  # rounds whose chances are remembered


class Params(NamedTuple):
    eta: float = 2.0  # eta_t = eta / sqrt(t)
    shared: bool = False  # one L for both players


class State(NamedTuple):
    L: Floats  # f8[2, K]  estimated losses
    x: Floats  # f8[2]     where sum w = 1 was found last
    w: Floats  # f8[2, K]  the chances
    asked: Ints  # i8[MEMORY]  the rounds remembered
    chance: Floats  # f8[MEMORY, 2]  w of their k+ and k-


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    shape = (2, n_arms)
    x = np.full(2, -math.sqrt(n_arms))
    return State(np.zeros(shape), x, np.full(shape, 1.0 / n_arms), np.zeros(MEMORY, np.int64), np.ones((MEMORY, 2)))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    most = 1e100  # losses are divided by chances, which may be tiny
    return {
        "L": validity.counts(state.L, most),
        "x": validity.between(state.x, -most, most),
        "w": validity.between(state.w, 0.0, 1.0),
        "asked": validity.counts(state.asked, round),
        "chance": validity.between(state.chance, 1.0 / most, 1.0),
    }


@kernel
def solve(L: Floats, w: Floats, x: float, eta: float) -> float:
    """w_i = 4 / (eta (L_i - x))^2 with sum w = 1; returns x."""
    least = L[0]
    for i in range(L.shape[0]):
        least = L[i] if L[i] < least else least
    rightmost = least - 2.0 / eta
    x = min(x, rightmost)
    total = 1.0
    for _ in range(100):
        total = 0.0
        slope = 0.0
        for i in range(L.shape[0]):
            root = 2.0 / (eta * (L[i] - x))
            w[i] = root * root
            total += w[i]
            slope += w[i] * root
        if abs(total - 1.0) < 1e-12:
            break
        moved = min(x - (total - 1.0) / (eta * slope), rightmost)
        if moved == x:
            break
        x = moved
    for i in range(L.shape[0]):
        w[i] /= total
    return x


@kernel
def draw(w: Floats, rng: Stream) -> int:
    u = uniform(rng)
    for i in range(w.shape[0] - 1):
        u -= w[i]
        if u < 0.0:
            return i
    return w.shape[0] - 1


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    if state.L.shape[1] == 1:
        slate[0] = 0
        return 1, limit
    eta = params.eta / math.sqrt(float(round))
    for player in range(1 if params.shared else 2):
        state.x[player] = solve(state.L[player], state.w[player], state.x[player], eta)
    other = 0 if params.shared else 1
    plus = draw(state.w[0], rng)
    minus = draw(state.w[other], rng)
    slate[0] = plus
    if plus == minus:
        o = 1.0 if uniform(rng) < 0.5 else 0.0
        charge(params, state, plus, minus, o, state.w[0, plus], state.w[other, minus])
        return 1, 1
    slate[1] = minus
    place = round % MEMORY
    state.asked[place] = round
    state.chance[place, 0] = state.w[0, plus]
    state.chance[place, 1] = state.w[other, minus]
    return 2, 1


@kernel
def charge(params: Params, state: State, plus: int, minus: int, o: float, w_plus: float, w_minus: float) -> None:
    """Each player's loss, by importance; to a shared L half of each."""
    if params.shared:
        state.L[0, plus] += 0.5 * (1.0 - o) / w_plus
        state.L[0, minus] += 0.5 * o / w_minus
    else:
        state.L[0, plus] += (1.0 - o) / w_plus
        state.L[1, minus] += o / w_minus


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    if slate.shape[0] < 2 or wins[0, 1] + wins[1, 0] == 0.0:
        return
    o = wins[0, 1] / (wins[0, 1] + wins[1, 0])
    place = round % MEMORY
    if state.asked[place] == round:
        charge(params, state, slate[0], slate[1], o, state.chance[place, 0], state.chance[place, 1])
    else:
        charge(params, state, slate[0], slate[1], o, state.w[0, slate[0]], state.w[0 if params.shared else 1, slate[1]])


@implement(Params)
def recommend(params: Params, state: State) -> int:
    best = 0
    for i in range(state.L.shape[1]):
        if state.L[0, i] + state.L[1, i] < state.L[0, best] + state.L[1, best]:
            best = i
    return best


SPEC = PolicySpec(
    name="versatile-db",
    title="Versatile-DB",
    params=Params,
    cite="saha2022",
    slate="two",
    assumes="a Condorcet winner, or an adversary",
    regret="O(sum of ln T / D_i), and O(sqrt(K T)) against an adversary",
    use="When tastes may drift or somebody may be gaming the votes; otherwise others learn faster.",
    blind="it divides a loss by the chance with which it chose the arm, and here it chose nothing",
    parameters={
        "eta": Parameter(meaning="the learning rate in round t is eta / sqrt(t)", above=0.0),
        "shared": Parameter(meaning="both players learn from one table of losses"),
    },
)
