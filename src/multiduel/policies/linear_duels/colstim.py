"""CoLSTIM: imitate the noise of the duels to choose the first arm, then its toughest competitor.

Paper      Bengs, Saha, Hullermeier. Stochastic Contextual Dueling Bandits under Linear Stochastic Transitivity Models.
           ICML 2022, Algorithm 1.
Assumes    P(i beats j) = s(<x_i - x_j, theta>), s logistic; the features x_i may be others in every round.
Symbols    K arms, d features, u_i = <x_i, theta>, V = lambda I + sum z z' over the contrasts z of duels, |z| = sqrt(z' V^-1 z),
           c_1 the width of the second choice, C the largest noise, p the chance that every arm has noise of its own.
Deviates   theta by one online step a duel in place of the maximum-likelihood estimate over all answers (estimator=exact has
           it, over the last duels): 2% to 10% more regret where that was measured (docs/contexts.md); t in place of T in c_1, C
           and p; a ridge lambda in place of tau random pairs at the start.
           |x_i| in step 3 changes if all rows of a round are shifted: centre rows that have a common part. Scores that are
           equal but for rounding (1e-10) count as ties.

    for t = 1, 2, ...
      1  theta <- the estimate so far;  u_i <- <x_i, theta>
      2  B ~ Bernoulli(p_t);  B = 1: e_i ~ Gumbel for every arm, B = 0: one e ~ Gumbel for all;  each cut to [-C, C]
      3  a <- argmax_i u_i + e_i |x_i|
      4  b <- argmax_i u_i - u_a + c_1 |x_i - x_a|;  i = a scores 0, so that b = a is possible: nothing to compare
      5  compare a and b;  V <- V + z z'
      with c_1 = C = sqrt(d ln(1 + t)),  p_t = min(1, sqrt(d ln(1 + d t) / t))

Cost. O(K d^2) a round.

>>> from multiduel import make, best
>>> policy = make("colstim", n_arms=3, dimension=2, seed=0)
>>> slate = policy.ask(features=[[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
>>> policy.tell(slate, best(slate.arms[0]))
>>> policy.recommend(features=[[0.3, 0.1], [0.2, 0.9], [0.0, 0.0]]) in range(3)
True
"""

from __future__ import annotations

import math
from typing import NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.linear_utilities import best_of, gumbel, own_variances, utilities, widths_to
from multiduel.kernels.random import uniform
from multiduel.policies.linear_duels.estimator import BLIND, ESTIMATOR_PARAMETERS, PARAMETERS, State, learn, share_state


class Params(NamedTuple):
    dimension: int = 0  # d
    ridge: float = 1.0  # lambda
    width: float = 0.0  # c_1
    cut: float = 0.0  # C
    coupled: bool = True
    alone: bool = True
    estimator: int = 0
    history: int = 10_000


share_state(Params)


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    X, u, q, w, score = state.X, state.u, state.q, state.w, state.score
    d = state.theta.shape[0]
    c = params.width if params.width > 0.0 else math.sqrt(d * math.log(1.0 + round))
    cut = params.cut if params.cut > 0.0 else c
    p = math.sqrt(d * math.log(1.0 + d * round) / round) if params.coupled else 1.0

    utilities(X, state.theta, u)  # step 1
    own_variances(X, state.V, q, w)
    shared = uniform(rng) >= p  # step 2
    e = 0.0
    for k in range(u.shape[0]):
        if k == 0 or not shared:
            e = min(max(gumbel(rng), -cut), cut)
        score[k] = u[k] + e * math.sqrt(max(q[k], 0.0))
    a = best_of(score, rng)  # step 3

    widths_to(X, state.V, q, a, state.z, state.y, w)  # step 4
    for k in range(u.shape[0]):
        score[k] = u[k] - u[a] + c * w[k]
    if not params.alone and u.shape[0] > 1:
        score[a] = -math.inf
    b = best_of(score, rng)
    slate[0] = a
    if b == a:
        return 1, 1
    slate[1] = b
    return 2, 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    learn(params, state, slate, wins, math.inf)  # step 5, and step 1 of the next round


SPEC = PolicySpec(
    name="colstim",
    title="CoLSTIM",
    params=Params,
    cite="bengs2022",
    slate="two",
    assumes="utilities linear in features, logistic duels",
    regret="O(sqrt(d T)) up to logarithms",
    use="Options described by features that change from round to round, two at a time, where weak regret counts.",
    features=True,
    blind=BLIND,
    parameters=PARAMETERS
    | {
        "width": Parameter(meaning="c_1, exploration of the second choice; 0: sqrt(d ln(1 + t))", at_least=0.0),
        "cut": Parameter(meaning="C, the largest noise of the first choice; 0: as c_1", at_least=0.0),
        "coupled": Parameter(meaning="may all arms share their noise? no: p = 1"),
        "alone": Parameter(meaning="may the first arm be its own toughest competitor? no: two arms are always compared"),
    }
    | ESTIMATOR_PARAMETERS,
)
