"""The estimate of theta that the two-dueling linear policies share: from one duel, or from all that are kept.

Model      P(a beats b) = s(<x_a - x_b, theta>) with s(v) = 1 / (1 + e^-v): Bradley and Terry's, with linear utilities.
Symbols    z = x_a - x_b the contrast of a duel, won of n; V = ridge I + sum n z z'; H = ridge I + sum n s' z z', each kept as its
           inverse; lambda (the ridge) in both.

    online  r <- the root of r = won - n s(<z, theta> + r z' H^-1 z);  theta <- theta + r H^-1 z;  H <- H + n s' z z'
            This is the exact minimum of |. - theta|_H^2 / 2 + the loss of this duel (an implicit online mirror step).
    exact   theta <- argmin |. - anchor|_P^2 / 2 + the loss of the last N duels, by Newton's method. Duels before them are in
            (anchor, P) by the online step. While there are at most N duels, this is the penalised maximum-likelihood
            estimate over all of them, which the papers use.
    gram    V <- V + n z z';  theta <- theta + V^-1 z (won - n s(<z, theta>)): the step of public code. V lacks the factor
            s' <= 1/4, so that the step is at most a quarter of what it should be. Here to measure what that costs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, init, recommend, see, valid
from multiduel.kernels.linear_utilities import (
    add_contrast,
    contrast,
    dot,
    factor,
    first_best,
    logistic,
    ridge_inverse,
    set_features,
    softplus,
    solve,
    surprise,
    times,
    utilities,
)

ONLINE, EXACT, GRAM = 0, 1, 2
ESTIMATORS = {"online": ONLINE, "exact": EXACT, "gram": GRAM}
MOST_DIMENSION = 1000
MOST = 1e20  # no number of a State is larger: any finite ones will do, since none is an index
BLIND = "its estimate depends on the order of the answers"

PARAMETERS = {
    "dimension": Parameter(
        meaning="numbers that describe an option; 0: each option is a dimension of its own", at_least=0, at_most=MOST_DIMENSION
    ),
    "ridge": Parameter(meaning="lambda, the penalty on |theta|^2, which is also what is known before the first duel", above=0.0),
}
ESTIMATOR_PARAMETERS = {
    "estimator": Parameter(
        meaning="of theta: one online step a duel, the exact optimum over the last duels, or the step of public code",
        choices=dict(ESTIMATORS),
    ),
    "history": Parameter(meaning="duels that the exact estimator keeps", at_least=1, at_most=1_000_000),
}


class History(NamedTuple):
    """The duels that the exact estimator keeps, in a ring, and what is known from those before. Empty for the others."""

    anchor: Floats  # f8[d]     theta by the duels that left
    P: Floats  # f8[d, d]  ridge I + sum n s' z z' over them
    Z: Floats  # f8[N, d]  contrasts
    won: Floats  # f8[N]
    n: Floats  # f8[N]
    stored: Ints  # i8[1]     duels so far


class State(NamedTuple):
    """Of a two-dueling linear policy."""

    X: Floats  # f8[d, K]  features of the arms in the last round seen
    theta: Floats  # f8[d]
    V: Floats  # f8[d, d]  inverse
    H: Floats  # f8[d, d]  inverse; of the exact estimator, that of P
    history: History
    L: Floats  # f8[d, d]  scratch from here on
    z: Floats  # f8[d]
    y: Floats  # f8[d]
    u: Floats  # f8[K]     utilities
    q: Floats  # f8[K]     x' V^-1 x
    w: Floats  # f8[K]
    score: Floats  # f8[K]
    pairs: Floats  # f8[K, K], or of no size


def fresh_state(params: Any, n_arms: int, pairs: bool) -> State:
    """A State that has seen nothing. With ``pairs``, it has room for a number per pair of arms."""
    d = params.dimension or n_arms
    X = np.zeros((d, n_arms)) if params.dimension else np.eye(n_arms)
    N, D = (params.history, d) if params.estimator == EXACT else (0, 0)
    history = History(np.zeros(D), np.eye(D) * params.ridge, np.zeros((N, D)), np.zeros(N), np.zeros(N), np.zeros(1, np.int64))
    u, q, w, score = (np.zeros(n_arms) for _ in range(4))
    room = np.zeros((n_arms, n_arms) if pairs else (0, 0))
    V, H = ridge_inverse(d, params.ridge), ridge_inverse(d, params.ridge)
    return State(X, np.zeros(d), V, H, history, np.zeros((d, d)), np.zeros(d), np.zeros(d), u, q, w, score, room)


def valid_state(state: State) -> dict[str, Any]:
    """What a State may hold: finite numbers. Only ``stored`` is ever used as an index, modulo the size of the ring."""
    kept = {name: validity.between(getattr(state, name), -MOST, MOST) for name in ("X", "theta")}
    inverses = {name: sound_inverse(getattr(state, name)) for name in ("V", "H")}
    history = state.history
    ring = {
        "anchor": validity.between(history.anchor, -MOST, MOST),
        "P": validity.between(history.P, -MOST, MOST),
        "Z": validity.between(history.Z, -MOST, MOST),
        "won": validity.counts(history.won),
        "n": validity.counts(history.n),
        "stored": validity.counts(history.stored),
    }
    scratch = dict.fromkeys(("L", "z", "y", "u", "q", "w", "score", "pairs"), validity.SCRATCH)
    return kept | inverses | {"history": ring} | scratch


def sound_inverse(A: Floats) -> bool:
    """May this be the inverse of a matrix that only grew? It is symmetric, with nothing below 0 on its diagonal."""
    return validity.between(A, -MOST, MOST) and validity.close(A, A.T) and validity.counts(A.diagonal())


def share_state(params: type[Any], *, pairs: bool = False) -> None:
    """Implement ``init``, ``valid``, ``see`` and ``recommend`` for the Params of a policy that has this State."""

    @init.implement(params)
    def begin(params: Any, n_arms: int, rng: Stream) -> State:
        return fresh_state(params, n_arms, pairs)

    @valid.implement(params)
    def check(params: Any, state: State, n_arms: int, round: int) -> dict[str, Any]:
        return valid_state(state)

    see.implement(params)(look)
    recommend.implement(params)(bet)


def look(params: Any, state: State, arms: Ints, rows: Floats) -> None:
    set_features(state.X, arms, rows)


def bet(params: Any, state: State) -> int:
    utilities(state.X, state.theta, state.u)
    return first_best(state.u)


@kernel
def learn(params: Any, state: State, slate: Ints, wins: Floats, alpha: float) -> None:
    """Learn from one duel. It counts as min(1, alpha / |z|_V) of itself: with alpha = inf, in full."""
    n = wins[0, 1] + wins[1, 0]
    if n <= 0.0:
        return
    z, y, theta = state.z, state.y, state.theta
    contrast(state.X, slate[0], slate[1], z)
    won = wins[0, 1]
    q = times(state.V, z, y)
    if alpha * alpha < q:
        won *= alpha / np.sqrt(q)
        n *= alpha / np.sqrt(q)
    if params.estimator == GRAM:
        rest = (won - n * logistic(dot(z, theta))) / (1.0 + n * q)
        for i in range(theta.shape[0]):
            theta[i] += rest * y[i]
    add_contrast(state.V, y, q, n)
    if params.estimator == ONLINE:
        online_step(theta, state.H, z, y, won, n)
    elif params.estimator == EXACT:
        remember(state.history, state.H, z, y, won, n)
        refit(state.history, theta, state.L, y)


@kernel
def online_step(theta: Floats, H: Floats, z: Floats, y: Floats, won: float, n: float) -> float:
    """The online step. Returns what H grew by, as a weight of z z'."""
    v = dot(z, theta)
    q = times(H, z, y)
    r = surprise(v, q, won, n)
    p = logistic(v + r * q)
    weight = n * p * (1.0 - p)
    for i in range(theta.shape[0]):
        theta[i] += r * y[i]
    add_contrast(H, y, q, weight)
    return weight


@kernel
def remember(history: History, H: Floats, z: Floats, y: Floats, won: float, n: float) -> None:
    """Keep a duel; the oldest, if there is no room, leaves by the online step."""
    place = history.stored[0] % history.won.shape[0]
    if history.stored[0] >= history.won.shape[0]:
        leaving = history.Z[place]
        weight = online_step(history.anchor, H, leaving, y, history.won[place], history.n[place])
        for i in range(z.shape[0]):
            for j in range(z.shape[0]):
                history.P[i, j] += weight * (leaving[i] * leaving[j])
    history.stored[0] += 1
    history.won[place] = won
    history.n[place] = n
    for i in range(z.shape[0]):
        history.Z[place, i] = z[i]


@kernel
def kept(history: History) -> int:
    return min(history.stored[0], history.won.shape[0])


@kernel
def loss(history: History, theta: Floats) -> float:
    """|theta - anchor|_P^2 / 2 + the loss of the duels that are kept."""
    total = 0.0
    for i in range(theta.shape[0]):
        for j in range(theta.shape[0]):
            total += 0.5 * history.P[i, j] * (theta[i] - history.anchor[i]) * (theta[j] - history.anchor[j])
    for t in range(kept(history)):
        v = dot(history.Z[t], theta)
        total += history.n[t] * softplus(v) - history.won[t] * v
    return total


@kernel
def refit(history: History, theta: Floats, L: Floats, step: Floats) -> None:
    """theta <- the minimum of ``loss``, by Newton's method from where it is. A step that does not pay is halved."""
    d = theta.shape[0]
    value = loss(history, theta)
    for _ in range(50):
        for i in range(d):
            step[i] = 0.0
            for j in range(d):
                step[i] -= history.P[i, j] * (theta[j] - history.anchor[j])
                L[i, j] = history.P[i, j]
        for t in range(kept(history)):
            p = logistic(dot(history.Z[t], theta))
            rest = history.won[t] - history.n[t] * p
            bend = history.n[t] * p * (1.0 - p)
            for i in range(d):
                step[i] += rest * history.Z[t, i]
                for j in range(i + 1):
                    L[i, j] += bend * (history.Z[t, i] * history.Z[t, j])
        factor(L, L, 0.0)
        solve(L, step)
        size = 0.0
        for i in range(d):
            size = max(size, abs(step[i]))
            theta[i] += step[i]
        after = loss(history, theta)
        for _halving in range(30):
            if after <= value + 1e-12 * (1.0 + abs(value)):
                break
            for i in range(d):
                step[i] *= 0.5
                theta[i] -= step[i]
            size *= 0.5
            after = loss(history, theta)
        value = after
        if size < 1e-10:
            break
