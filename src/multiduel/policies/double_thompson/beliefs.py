"""Beliefs about duels, theta_ij ~ Beta(W_ij + 1, W_ji + 1), and what double Thompson samplers ask of them, lazily.

Most of their draws are only compared with 1/2. So the chance that a draw lies above 1/2 is kept per pair, renewed
when the pair duels, and a Beta variate is made only where its value decides, from its half of [0, 1]. The joint law
is the literal one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter
from multiduel.kernels.random import beta, uniform

LAZY, DIRECT = 0, 1
DRAWS = Parameter(  # of every policy that samples from these beliefs
    meaning="draw only what decides (same law, far fewer draws), or everything", choices={"lazy": LAZY, "direct": DIRECT}
)
LAZY_EXCEPTIONS = {"naive-oracle": "draws are lazy: the oracle's law, not its draws (draws=direct has them; both are tested)"}

MANY = 1e8  # duels of a pair
DIRTY = -2.0  # below every threshold: the row must be looked at again


class Beliefs(NamedTuple):
    W: Floats  # f8[K, K]  wins of i over j
    Z: Floats  # f8[K, K]  d^2 / N_ij where i lost d > 0 duels more than it won, else -1; u_ij > 1/2 is Z < 4 alpha ln t
    above: Floats  # f8[K, K]  P(theta_ij > 1/2)
    log_above: Floats  # f8[K, K]  its logarithm; 0 on the diagonal
    log_row: Floats  # f8[K]     sum of log_above over j: the chance that i wins every sampled duel
    up: Ints  # i8[K]     how many j have u_ij > 1/2
    wake: Floats  # f8[K]     the smallest Z_ij that fails u_ij > 1/2, or DIRTY


def fresh_beliefs(n_arms: int) -> Beliefs:
    """Nothing seen: every theta is uniform."""
    shape = (n_arms, n_arms)
    off = 1.0 - np.eye(n_arms)
    log_above = math.log(0.5) * off
    up = np.full(n_arms, n_arms - 1, np.int64)
    wake = np.full(n_arms, DIRTY)
    W, Z, above = np.zeros(shape), np.full(shape, -1.0), np.full(shape, 0.5)
    return Beliefs(W, Z, above, log_above, log_above.sum(axis=1), up, wake)


def valid_beliefs(beliefs: Beliefs) -> dict[str, Any]:
    """Chances are those of W, if not to the last bit: a draw given its side of 1/2 must not wait for what never comes."""
    W, K = beliefs.W, len(beliefs.up)
    N = W + W.T
    behind = np.where(W < W.T, validity.per_duel((W - W.T) ** 2, N, 0.0), -1.0)
    normal = np.array([0.5 + 0.5 * math.erf(z) for z in ((W - W.T) / np.sqrt(2.0 * (N + 1.0))).flat]).reshape(K, K)
    with np.errstate(divide="ignore"):
        logs = np.log(beliefs.above) * (1.0 - np.eye(K))
    chances = validity.between(beliefs.above, 0.0, 1.0) and validity.close(beliefs.above + beliefs.above.T, 1.0)
    logs = np.where(np.isnan(logs), 0.0, logs)
    return {
        "W": validity.tally(W),
        "Z": validity.close(beliefs.Z, behind),
        "above": chances and bool(np.all(np.abs(beliefs.above - normal) < 0.05)),
        "log_above": validity.close(beliefs.log_above, logs) and validity.between(beliefs.log_above, -np.inf, 0.0),
        "log_row": validity.close(beliefs.log_row, beliefs.log_above.sum(axis=1)),
        "up": validity.arms(beliefs.up, K),
        "wake": validity.between(beliefs.wake, DIRTY, np.inf),
    }


@kernel
def update(beliefs: Beliefs, i: int, j: int, won: float, lost: float) -> None:
    """Arm i won ``won`` and lost ``lost`` duels against arm j."""
    W, Z = beliefs.W, beliefs.Z
    W[i, j] += won
    W[j, i] += lost
    d = W[j, i] - W[i, j]
    z = d * d / (W[i, j] + W[j, i])
    Z[i, j] = z if d > 0.0 else -1.0
    Z[j, i] = z if d < 0.0 else -1.0
    behind, ahead = (i, j) if d > 0.0 else (j, i)
    small = beta_above_half(W[behind, ahead] + 1.0, W[ahead, behind] + 1.0)
    beliefs.above[behind, ahead] = small
    beliefs.above[ahead, behind] = 1.0 - small
    beliefs.log_above[behind, ahead] = math.log(small) if small > 0.0 else -math.inf
    beliefs.log_above[ahead, behind] = math.log1p(-small)
    for k in (i, j):
        total = 0.0
        for other in range(W.shape[0]):
            total += beliefs.log_above[k, other]
        beliefs.log_row[k] = total
        beliefs.wake[k] = DIRTY


@kernel
def refresh(beliefs: Beliefs, threshold: float) -> None:
    """up_i = #{ j != i : u_ij > 1/2 } at threshold = 4 alpha ln t, looking only at rows in which something changed."""
    Z, wake = beliefs.Z, beliefs.wake
    for i in range(wake.shape[0]):
        if wake[i] >= threshold:
            continue
        count = -1  # not the diagonal
        nearest = math.inf
        for j in range(wake.shape[0]):
            passes = Z[i, j] < threshold or Z[i, j] < 0.0
            count += 1 if passes else 0
            nearest = min(nearest, math.inf if passes else Z[i, j])
        beliefs.up[i] = count
        wake[i] = nearest


@kernel
def best_so_far(beliefs: Beliefs) -> int:
    """The arm that leads in the most duels; of several, the one most likely to win them all."""
    W = beliefs.W
    best = 0
    best_score = -1.0
    for i in range(W.shape[0]):
        score = 0.0
        for j in range(W.shape[0]):
            score += 1.0 if W[i, j] > W[j, i] else 0.5 if W[i, j] == W[j, i] else 0.0
        if score > best_score or (score == best_score and beliefs.log_row[i] > beliefs.log_row[best]):
            best_score = score
            best = i
    return best


@kernel
def beta_above_half(a: float, b: float) -> float:
    """P(Beta(a, b) > 1/2) for a, b > 0: the regularised incomplete beta function I_{1/2}(b, a).

    Lentz's evaluation of its continued fraction (Numerical Recipes, 6.4), on the side of the smaller tail, where it
    converges in O(sqrt(a + b)) steps and keeps its relative accuracy.
    """
    if a > b:
        return 1.0 - beta_above_half_tail(b, a)
    return beta_above_half_tail(a, b)


@kernel
def beta_above_half_tail(a: float, b: float) -> float:
    if a == b:
        return 0.5
    n = a + b
    if n > MANY:
        return many_above_half(n, (b - a) / n)
    c = 1.0
    d = 1.0 / (1.0 - 0.5 * n / (b + 1.0))
    fraction = d
    for m in range(1, 100000):
        even = 0.5 * m * (a - m) / ((b - 1.0 + 2 * m) * (b + 2 * m))
        d = 1.0 / (1.0 + even * d)
        c = 1.0 + even / c
        fraction *= d * c
        odd = -0.5 * (b + m) * (n + m) / ((b + 2 * m) * (b + 1.0 + 2 * m))
        d = 1.0 / (1.0 + odd * d)
        c = 1.0 + odd / c
        fraction *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    # 2^-(a + b) / B(a, b), by Loader's saddle point: no difference of large logarithms of gamma functions
    deviance = a * math.log(2.0 * a / n) + b * math.log(2.0 * b / n)
    error = stirling_error(n) - stirling_error(a) - stirling_error(b)
    scale = math.sqrt(a * b / (6.283185307179586 * n)) * math.exp(error - deviance)
    return min(scale * fraction / b, 0.5)


@kernel
def many_above_half(n: float, d: float) -> float:
    """The same for n = a + b so large that the fraction would take 10^4 steps and more: Temme's expansion (1982), whose first
    two terms leave an error of the order 1 / n; d = (b - a) / n."""
    if d >= 1.0:
        return 0.0
    h = math.sqrt((1.0 + d) * math.log1p(d) + (1.0 - d) * math.log1p(-d))
    correction = math.sqrt(1.0 - d * d) / d - 1.0 / h if d > 1e-3 else -5.0 / 12.0 * d
    return 0.5 * math.erfc(h * math.sqrt(0.5 * n)) + correction * math.exp(-0.5 * n * h * h) / math.sqrt(6.283185307179586 * n)


@kernel
def stirling_error(x: float) -> float:
    """ln Gamma(x + 1) - ((x + 1/2) ln x - x + ln(2 pi) / 2) for x > 0."""
    error = 0.0
    while x < 12.0:
        error += (x + 0.5) * math.log1p(1.0 / x) - 1.0
        x += 1.0
    y = x * x
    return error + (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / y) / y) / y) / y) / x


@kernel
def draw_above_half(a: float, b: float, chance: float, rng: Stream) -> float:
    """Beta(a, b) given that it lies above 1/2, which has probability ``chance``; a, b >= 1.

    Rejection from the whole law where that is likely, else from the exponential that touches the density at 1/2, which
    lies above it: the density is log-concave.
    """
    if chance > 0.2:
        while True:
            x = beta(a, b, rng)
            if x > 0.5:
                return x
    rate = 2.0 * (b - a)
    while True:
        step = -math.log(1.0 - uniform(rng)) / rate
        x = 0.5 + step
        if x < 1.0:
            bound = (a - 1.0) * math.log(2.0 * x) + (b - 1.0) * math.log(2.0 - 2.0 * x) + rate * step
            if math.log(1.0 - uniform(rng)) <= bound:
                return x


@kernel
def draw_theta(beliefs: Beliefs, i: int, j: int, beats: bool, rng: Stream) -> float:
    """theta_ij given on which side of 1/2 it lies."""
    a, b = beliefs.W[i, j] + 1.0, beliefs.W[j, i] + 1.0
    if beats:
        return draw_above_half(a, b, beliefs.above[i, j], rng)
    return 1.0 - draw_above_half(b, a, beliefs.above[j, i], rng)
