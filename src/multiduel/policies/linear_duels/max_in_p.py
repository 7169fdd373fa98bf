"""MaxInP: compare the two arms about which least is known, among those that may still be best.

Paper      Saha. Optimal Algorithms for Stochastic Contextual Preference Bandits. NeurIPS 2021.
Assumes    P(i beats j) = s(<x_i - x_j, theta>), s logistic; the features x_i may be others in every round.
Symbols    K arms, d features, u_i = <x_i, theta>, V = lambda I + sum z z' over the contrasts z of duels, |z| = sqrt(z' V^-1 z).
Deviates   theta by one online step a duel in place of the maximum-likelihood estimate over all answers (estimator=exact has
           it, over the last duels; docs/contexts.md has what that costs CoLSTIM and MaxPairUCB); eta = sqrt(d ln(1 + t)), where
           theory has a factor 1/kappa that public codes leave out; a ridge lambda in place of t0 random pairs at the start.
           Scores that are equal but for rounding (1e-10) count as ties.

    for t = 1, 2, ...
      1  theta <- the estimate so far;  u_i <- <x_i, theta>
      2  C <- { i : u_i - u_j + eta |x_i - x_j| >= 0 for all j }
      3  (a, b) <- argmax over pairs of C of |x_i - x_j|;  one arm in C: nothing to compare.  Left and right by a coin
      4  compare a and b;  V <- V + z z'

Cost. O(K^2 d + K d^2) a round.

>>> from multiduel import make, best
>>> policy = make("max-in-p", n_arms=3, dimension=2, seed=0)
>>> slate = policy.ask(features=[[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
>>> slate.arms in ((0, 1), (1, 0))  # the two farthest apart
True
"""

from __future__ import annotations

import math
from typing import NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.linear_utilities import own_variances, utilities, widths_to
from multiduel.policies.linear_duels.estimator import BLIND, ESTIMATOR_PARAMETERS, PARAMETERS, State, learn, share_state
from multiduel.policies.linear_duels.pairs import UNFIT, seat_best_pair


class Params(NamedTuple):
    dimension: int = 0  # d
    ridge: float = 1.0  # lambda
    eta: float = 0.0
    estimator: int = 0
    history: int = 10_000


share_state(Params, pairs=True)


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    X, u, q, w, fit, pairs = state.X, state.u, state.q, state.w, state.score, state.pairs
    K, d = u.shape[0], state.theta.shape[0]
    eta = params.eta if params.eta > 0.0 else math.sqrt(d * math.log(1.0 + round))
    utilities(X, state.theta, u)  # step 1
    own_variances(X, state.V, q, w)
    for i in range(K):  # step 2
        widths_to(X, state.V, q, i, state.z, state.y, w)
        fit[i] = 1.0
        for j in range(K):
            pairs[i, j] = w[j]
            if u[i] - u[j] + eta * w[j] < 0.0:
                fit[i] = 0.0
    last = 0
    members = 0
    for i in range(K):
        if fit[i] > 0.0:
            members += 1
            last = i
        pairs[i, i] = UNFIT
        for j in range(i):
            if fit[i] == 0.0 or fit[j] == 0.0:
                pairs[i, j] = UNFIT
    if members < 2:
        slate[0] = last
        return 1, 1
    return seat_best_pair(pairs, rng, slate), 1  # step 3


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    learn(params, state, slate, wins, math.inf)  # step 4, and step 1 of the next round


SPEC = PolicySpec(
    name="max-in-p",
    title="MaxInP",
    params=Params,
    cite="saha2021",
    slate="two",
    assumes="utilities linear in features, logistic duels",
    regret="O(d sqrt(T)) up to logarithms",
    use="To compare with: the first algorithm for options described by features. MaxPairUCB and CoLSTIM lose less.",
    features=True,
    blind=BLIND,
    parameters=PARAMETERS | {"eta": Parameter(meaning="exploration; 0: sqrt(d ln(1 + t))", at_least=0.0)} | ESTIMATOR_PARAMETERS,
)
