"""KernelSelfSparring: IndSelfSparring whose arms may be alike, so that a duel of one says something about its kin.

Paper      Sui, Zhuang, Burdick, Yue. Multi-dueling Bandits with Dependent Arms. UAI 2017.
Assumes    the arms' chances of winning are a draw from a Gaussian process with the given kernel.
Symbols    K arms, m seats, mu and C the mean and covariance of the belief in all arms, f a draw from it, s^2 the noise variance.
Deviates   as IndSelfSparring: an arm drawn for several seats is in the slate once and does not duel itself; each pair of arms
           has one outcome. The paper leaves the kernel to the user. Here it is variance (correlation + (1 - correlation) k(i, j))
           with k(i, j) = exp(-|x_i - x_j|^2 / (2 length^2)) for features x of the arms. Without features no two arms are
           more alike than any others, so that k(i, j) = [i = j].

    mu <- 1/2;  C <- kernel
    for t = 1, 2, ...
      for each seat q = 1 .. m:
        f ~ Normal(mu, C) over all arms
        a_q <- argmax_i f_i
      compare; for each ordered pair of arms (i, j) with an outcome: condition mu, C on the datum  f_i + noise = [i won]

Cost. Data on one arm add up to one datum of their mean with noise variance s^2 / n, so a round conditions at most m times, each
O(K^2). A new Cholesky factor of C costs O(K^3) per round with news, and serves all seats; a draw is O(K^2). Nothing is committed
ahead. For K in the hundreds or long horizons take IndSelfSparring.

>>> from multiduel import make, ranking
>>> policy = make("kernel-self-sparring", n_arms=5, slate_size=3, seed=0)
>>> slate = policy.ask()
>>> policy.tell(slate, ranking(slate.arms))
>>> policy = make("kernel-self-sparring", n_arms=3, features=[[0.0], [0.1], [5.0]], length=0.5)  # the first two are alike
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import seat
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.linear_utilities import factor
from multiduel.kernels.random import normal

JITTER = 1e-8  # added to the diagonal of C before it is factored, which rounding may have left indefinite


class Params(NamedTuple):
    slate_size: int = 2  # m
    variance: float = 0.0625  # of an arm's chance of winning, a priori
    correlation: float = 0.0  # of two arms' chances that have nothing in common, a priori
    length: float = 1.0  # distance of features over which arms are alike
    noise: float = 0.25  # s^2: a fair coin's


class State(NamedTuple):
    mean: Floats  # f8[K]     mu
    C: Floats  # f8[K, K]
    L: Floats  # f8[K, K]  lower Cholesky factor of C + JITTER, when not stale
    stale: Ints  # i8[1]     1: C changed since it was factored
    taken: Ints  # i8[K]     seats of each place of the last slate
    scratch: Floats  # f8[K]


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    C = prior(params, np.eye(n_arms))
    taken = np.ones(n_arms, np.int64)
    return State(np.full(n_arms, 0.5), C, np.zeros((n_arms, n_arms)), np.ones(1, np.int64), taken, np.zeros(n_arms))


def prior(params: Params, alike: Floats) -> Floats:
    """The covariance of the arms' chances of winning before any duel, from k(i, j)."""
    return params.variance * (params.correlation + (1.0 - params.correlation) * alike)


@implement(Params)
def use_features(params: Params, state: State, features: Floats) -> None:
    apart = ((features[:, None, :] - features[None, :, :]) / params.length) ** 2
    state.C[...] = prior(params, np.exp(-0.5 * apart.sum(axis=2)))
    state.stale[0] = 1


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    C, most = state.C, 1e20  # any finite numbers will do: a draw compares them, and indexes nothing by them
    return {
        "mean": validity.between(state.mean, -most, most),
        "C": validity.between(C, -most, most) and validity.close(C, C.T) and validity.counts(C.diagonal() + JITTER),
        "L": validity.between(state.L, -most, most),
        "stale": validity.flags(state.stale),
        "taken": validity.counts(state.taken, params.slate_size),
        "scratch": validity.SCRATCH,
    }


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    if state.stale[0] == 1:
        factor(state.C, state.L, JITTER)
        state.stale[0] = 0
    n = 0
    for _ in range(params.slate_size):  # for each seat: f ~ Normal(mu, C), a_q <- argmax f
        n = seat(slate, state.taken, n, best_of_draw(state, rng))
    return n, 1


@kernel
def best_of_draw(state: State, rng: Stream) -> int:
    """The argmax of f = mu + L z, z standard normal."""
    z = state.scratch
    best = 0
    most = -math.inf
    for i in range(z.shape[0]):
        z[i] = normal(rng)
        f = state.mean[i]
        for k in range(i + 1):
            f += state.L[i, k] * z[k]
        if f > most:
            most = f
            best = i
    return best


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    for a in range(slate.shape[0]):
        won = 0.0
        n = 0.0
        for b in range(slate.shape[0]):
            if a != b:
                won += wins[a, b]
                n += wins[a, b] + wins[b, a]
        if n > 0.0:
            condition(state, slate[a], won / n, params.noise / n)


@kernel
def condition(state: State, arm: int, value: float, noise: float) -> None:
    """Condition on f_arm + noise = value: a rank-one update."""
    mean, C, g = state.mean, state.C, state.scratch
    scale = 1.0 / math.sqrt(C[arm, arm] + noise)
    surprise = (value - mean[arm]) * scale
    for i in range(g.shape[0]):
        g[i] = C[i, arm] * scale
    for i in range(g.shape[0]):
        mean[i] += g[i] * surprise
        for j in range(g.shape[0]):
            C[i, j] -= g[i] * g[j]
    state.stale[0] = 1


@implement(Params)
def seats(params: Params, state: State, place: int) -> int:
    return state.taken[place]


@implement(Params)
def recommend(params: Params, state: State) -> int:
    best = 0
    for i in range(1, state.mean.shape[0]):
        if state.mean[i] > state.mean[best]:
            best = i
    return best


SPEC = PolicySpec(
    name="kernel-self-sparring",
    title="KernelSelfSparring",
    params=Params,
    cite="sui2017",
    slate="any",
    assumes="a Gaussian process over the arms",
    regret="none proved",
    use="Options of known likeness, a hundred at most (a round costs O(K^3)); without features take IndSelfSparring.",
    features=True,
    parameters={
        "slate_size": Parameter(meaning="seats drawn in one round", at_least=1),
        "variance": Parameter(meaning="variance of an arm's chance of winning, before any duel", above=0.0),
        "correlation": Parameter(
            meaning="correlation of arms that have nothing in common, before any duel", at_least=0.0, below=1.0
        ),
        "length": Parameter(meaning="distance of features over which two arms are alike", above=0.0),
        "noise": Parameter(meaning="variance of an outcome around the chance of winning", above=0.0),
    },
)
