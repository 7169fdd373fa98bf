"""Challengers: whoever has least against it meets the rivals that may yet beat it, until there is a verdict.

Paper      the idea of Russo. Simple Bayesian Algorithms for Best Arm Identification. COLT 2016: play the leader and a challenger.
Assumes    a Condorcet winner.
Symbols    K arms, m seats, W[i, j] wins of i over j, L[i, j] the evidence that i beats j (``kernels.evidence``), alpha the error
           of the verdict, b the leader, theta_j a draw from the belief in j against b.
Deviates   Russo draws the best arm of independent arms and draws anew until another one comes; here the beliefs are about duels
           with the leader, which is not drawn, and there are m - 1 challengers. A tie is half a win each way. m > K plays as
           m = K.

    for t = 1, 2, ...
      b <- argmin_h ln mean_{j != h} exp L[j, h], ties at random
      theta_j ~ Beta(W_jb + 1, W_bj + 1) for every j with L[b, j] < ln(K / alpha), in the order of the arms
      A <- b and the m - 1 of them with the largest theta; b alone if there are none
      compare all pairs of A; update W and L

It is made to reach a verdict with few answers, not to lose little on the way: the bound ln(K / alpha) is the verdict's, and
when b stands alone, the verdict says so. (To show the rival that is least certain instead of one that may
win would lock: a far weaker arm, seldom shown, stays uncertain for long.)

>>> from multiduel import make, ranking
>>> policy = make("challengers", n_arms=5, slate_size=3, seed=0)
>>> slate = policy.ask()
>>> policy.tell(slate, ranking(slate.arms))
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmin
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.evidence import weigh_anew, weighed
from multiduel.kernels.random import beta
from multiduel.kernels.tallies import count_wins

ROUNDING = 1e-9


class Params(NamedTuple):
    slate_size: int = 2  # m
    alpha: float = 0.05  # error of the verdict


class State(NamedTuple):
    W: Floats  # f8[K, K]  wins of i over j
    L: Floats  # f8[K, K]  evidence that i beats j
    against: Floats  # f8[K]     evidence against "it beats all others"
    theta: Floats  # f8[K]     scratch


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    return State(np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms)), np.zeros(n_arms), np.zeros(n_arms))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    L, against = weighed(state.W)
    return {
        "W": validity.tally(state.W),
        "L": validity.close(state.L, L),
        "against": validity.close(state.against, against),
        "theta": validity.SCRATCH,
    }


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    W, L, theta = state.W, state.L, state.theta
    K = theta.shape[0]
    least = state.against[favourite(state.against)]
    for h in range(K):
        more = state.against[h] - least
        theta[h] = more if more > ROUNDING else 0.0  # arms that stand equally tie, in whatever order sums were added up
    b = argmin(theta, rng)
    slate[0] = b
    open_rivals = 0
    for j in range(K):
        theta[j] = -1.0  # not this one
        if j != b and L[b, j] < math.log(K / params.alpha):
            theta[j] = beta(W[j, b] + 1.0, W[b, j] + 1.0, rng)
            open_rivals += 1
    n = min(1 + open_rivals, params.slate_size)
    for a in range(1, n):
        slate[a] = first_largest(theta)
        theta[slate[a]] = -1.0
    return n, limit if n == 1 else 1  # alone: nothing will change its mind


@kernel
def first_largest(theta: Floats) -> int:
    best = 0
    for j in range(theta.shape[0]):
        best = j if theta[j] > theta[best] else best
    return best


@kernel
def favourite(against: Floats) -> int:
    """The arm with the least against it."""
    best = 0
    for h in range(against.shape[0]):
        best = h if against[h] < against[best] else best
    return best


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    count_wins(state.W, slate, wins)
    weigh_anew(state.W, state.L, state.against, slate)


@implement(Params)
def recommend(params: Params, state: State) -> int:
    return favourite(state.against)


SPEC = PolicySpec(
    name="challengers",
    title="Challengers",
    params=Params,
    cite="russo2016",
    slate="any",
    assumes="a Condorcet winner",
    regret="none proved",
    use="When the winner must be certain with few answers, and what is shown on the way costs nothing.",
    parameters={
        "slate_size": Parameter(meaning="the leader and its challengers", at_least=1),
        "alpha": Parameter(meaning="error of the verdict that it works towards", above=0.0, below=1.0),
    },
)
