"""MaxPairUCB: the pair of the largest optimistic sum of utilities; and RCDB, the same for judges of whom some may lie.

Paper      Di, Jin, Wu, Zhao, Farnoud, Gu. Variance-Aware Regret Bounds for Stochastic Contextual Dueling Bandits. ICLR 2024.
           Di, He, Gu. Nearly Optimal Algorithms for Contextual Dueling Bandits from Adversarial Feedback. ICML 2025.
Assumes    P(i beats j) = s(<x_i - x_j, theta>), s logistic; the features x_i may be others in every round. RCDB: but for C
           answers, which may be anything.
Symbols    K arms, d features, u_i = <x_i, theta>, V = lambda I + sum w z z' over the contrasts z of duels, |z| = sqrt(z' V^-1 z),
           w the weight of a duel, C the number of false answers to be prepared for, kappa the least slope of s.
Deviates   theta by one online step a duel in place of the maximum-likelihood estimate over all answers (estimator=exact has
           it, over the last duels): at most 10% more regret where that was measured (docs/contexts.md). MaxPairUCB is
           the single layer of the first paper's algorithm, with beta = sqrt(d). RCDB has alpha and beta of public code; its
           weight is computed when the answer comes. Scores that are equal but for rounding (1e-10) count as ties.

    for t = 1, 2, ...
      1  theta <- the estimate so far;  u_i <- <x_i, theta>
      2  (a, b) <- argmax over pairs, a = b included, of u_a + u_b + beta |x_a - x_b|.  Left and right by a coin
      3  compare a and b;  MaxPairUCB: w <- 1;  RCDB: w <- min(1, alpha / |z|);  V <- V + w z z', the duel counts w
      MaxPairUCB: beta = sqrt(d);  RCDB: alpha = sqrt(d / kappa) / C,  beta = sqrt(d) + alpha C

Cost. O(K^2 d + K d^2) a round.

>>> from multiduel import make, best
>>> policy = make("max-pair-ucb", n_arms=3, dimension=2, seed=0)
>>> slate = policy.ask(features=[[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
>>> slate.arms in ((0, 1), (1, 0))  # the two farthest apart
True
"""

from __future__ import annotations

import math
from typing import NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec
from multiduel.kernels.contract import ask as ask_generic
from multiduel.kernels.contract import tell as tell_generic
from multiduel.kernels.linear_utilities import own_variances, utilities, widths_to
from multiduel.policies.linear_duels.estimator import BLIND, ESTIMATOR_PARAMETERS, PARAMETERS, State, learn, share_state
from multiduel.policies.linear_duels.pairs import seat_best_pair


class MaxPairUCB(NamedTuple):
    dimension: int = 0  # d
    ridge: float = 1.0  # lambda
    beta: float = 0.0
    estimator: int = 0
    history: int = 10_000


class RCDB(NamedTuple):
    dimension: int = 0  # d
    ridge: float = 1.0  # lambda
    corruption: float = 100.0  # C
    kappa: float = 0.25
    estimator: int = 0
    history: int = 10_000


share_state(MaxPairUCB, pairs=True)
share_state(RCDB, pairs=True)


@kernel
def choose(state: State, rng: Stream, beta: float, slate: Ints) -> int:
    """Steps 1 and 2."""
    X, u, q, w, pairs = state.X, state.u, state.q, state.w, state.pairs
    utilities(X, state.theta, u)
    own_variances(X, state.V, q, w)
    for i in range(u.shape[0]):
        widths_to(X, state.V, q, i, state.z, state.y, w)
        for j in range(i + 1):
            pairs[i, j] = u[i] + u[j] + beta * w[j]
    return seat_best_pair(pairs, rng, slate)


@ask_generic.implement(MaxPairUCB)
def ask(params: MaxPairUCB, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    beta = params.beta if params.beta > 0.0 else math.sqrt(state.theta.shape[0])
    return choose(state, rng, beta, slate), 1


@ask_generic.implement(RCDB)
def ask_rcdb(params: RCDB, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    d = state.theta.shape[0]
    return choose(state, rng, math.sqrt(d) + math.sqrt(d / params.kappa), slate), 1  # alpha C = sqrt(d / kappa)


@tell_generic.implement(MaxPairUCB)
def tell(params: MaxPairUCB, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    learn(params, state, slate, wins, math.inf)  # step 3, and step 1 of the next round


@tell_generic.implement(RCDB)
def tell_rcdb(params: RCDB, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    learn(params, state, slate, wins, math.sqrt(state.theta.shape[0] / params.kappa) / params.corruption)


MAX_PAIR_UCB_SPEC = PolicySpec(
    name="max-pair-ucb",
    title="MaxPairUCB",
    params=MaxPairUCB,
    cite="di2024",
    slate="two",
    assumes="utilities linear in features, logistic duels",
    regret="none proved",
    use="Options described by features that change from round to round, two at a time.",
    features=True,
    blind=BLIND,
    parameters=PARAMETERS | {"beta": Parameter(meaning="exploration; 0: sqrt(d)", at_least=0.0)} | ESTIMATOR_PARAMETERS,
)
RCDB_SPEC = PolicySpec(
    name="rcdb",
    title="RCDB",
    params=RCDB,
    cite="di2025",
    slate="two",
    assumes="utilities linear in features, logistic duels but for C false answers",
    regret="O(d sqrt(T) + d C) up to logarithms",
    use="As MaxPairUCB, where up to C answers may be false on purpose.",
    features=True,
    blind=BLIND,
    parameters=PARAMETERS
    | {
        "corruption": Parameter(meaning="C, how many false answers to be prepared for", above=0.0),
        "kappa": Parameter(meaning="least slope of the logistic curve where it is used", above=0.0, at_most=0.25),
    }
    | ESTIMATOR_PARAMETERS,
)
