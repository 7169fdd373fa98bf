"""Bradley-Terry strengths from pairs, and how far they may be off: Newton's method on counts, sums over clusters compiled.

Model      the chance that i is placed above j is p_ij = 1 / (1 + exp(theta_j - theta_i - beta' x)); a tie counts half each way.
Symbols    W[i, j] wins of i over j, ties half; N = W + W'; x covariates of a pair (shown first, difference in length), beta
           their effect; lambda = 1/2 a ridge, so that an option that won everything has a finite strength.
Estimate   theta maximises sum W_ij ln p_ij - (lambda / 2) sum theta^2. A ranking of m gives m (m - 1) / 2 pairs, which hang
           together; for rankings from Plackett-Luce judges this composite likelihood is consistent.
Spread     J = Laplacian of N_ij p_ij (1 - p_ij); U_c = the score of cluster c, the sum of its residuals; then
               C_robust = J^+ (sum_c U_c U_c') J^+ G / (G - 1) n / (n - K),        C_model = H (J + lambda I)^-1 H,
           n answers in G clusters; H takes out the mean. The larger of the two counts: an option shown five times and never
           placed first has residuals near 0, so that the robust form alone would be far too sure of it.

Options that were never compared with each other, not even by way of others, form groups; strengths are relative to the mean of
a group (``centring``), and nothing is said across groups.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.kernels.compiler.dispatch import entry

RIDGE = 0.5  # lambda
STEPS = 1000  # strengths far apart take many: no step is above 1
CLOSE = 1e-9
LEAST, LEAST_SHARE = 1e-6, 1e-14  # two options compared by less weight than that, or that share of the largest, were not compared
TRACE = 1e-6  # a ridge on effects of covariates, so that one that says nothing is merely uncertain


class Rows(NamedTuple):
    """Compared pairs, the rows of a cluster one after the other."""

    first: Any  # i4[rows]
    second: Any  # i4[rows]
    outcome: Any  # i1[rows]  1: the first was placed above the second; 0: level; -1: below
    weight: Floats  # f8[rows] or f8[1]: how much a row counts within its cluster
    order: Ints  # i8[rows], or i8[0] where rows stand in order already
    edges: Ints  # i8[clusters + 1]
    repeats: Floats  # f8[clusters] or f8[1]: how many equal clusters each stands for
    x: Floats  # f8[rows, d]  covariates of the first minus those of the second


class Scratch(NamedTuple):
    """Of one cluster at a time."""

    mark: Ints  # i8[K]  the last cluster that touched an option, from 1
    touched: Ints  # i8[K]  the options of this cluster
    u: Floats  # f8[K + d]  its score
    met: Floats  # f8[K]  how often it compared an option


class Seen(NamedTuple):
    """How clusters compared each option."""

    shown: Floats  # f8[K]  clusters that did
    squares: Floats  # f8[K]  sum of squares of how often each did
    most: Floats  # f8[K]  the most others that one of them compared


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def fit(W: Floats, ridge: float = RIDGE) -> tuple[Floats, Floats]:
    """(theta, J): the strengths of a table of wins, and the information in it there, without the ridge. Newton's method.

    >>> theta, _ = fit(np.array([[0.0, 3.0], [1.0, 0.0]]), ridge=1e-9)
    >>> round(float(np.exp(theta[0] - theta[1])), 3)  # three to one
    3.0
    """
    K = len(W)
    N = W + W.T
    theta: Floats = np.zeros(K)
    wins = W.sum(axis=1)
    diagonal = np.arange(K)
    for _ in range(STEPS):
        p = sigmoid(theta[:, None] - theta[None, :])
        expected = N * p
        slope = wins - expected.sum(axis=1) - ridge * theta
        J = -expected * p.T
        J[diagonal, diagonal] -= J.sum(axis=1)
        J[diagonal, diagonal] += ridge
        step = np.linalg.solve(J, slope)
        largest = float(np.abs(step).max())
        theta = theta + step / max(1.0, largest)  # far out the curvature says little
        if largest < CLOSE:
            break
    J[diagonal, diagonal] -= ridge
    return theta, J


def fill_slopes(rows: Rows, theta: Floats, beta: Floats, slope: Floats, J: Floats) -> None:
    """Slope and information of strengths and covariates together."""
    K, d = theta.shape[0], beta.shape[0]
    for k in range(rows.first.shape[0]):
        i, j = rows.first[k], rows.second[k]
        y = theta[i] - theta[j]
        for q in range(d):
            y += beta[q] * rows.x[k, q]
        p = 1.0 / (1.0 + math.exp(-y))
        w = rows.weight[k] if rows.weight.shape[0] > 1 else rows.weight[0]
        e, v = w * (0.5 + 0.5 * rows.outcome[k] - p), w * p * (1.0 - p)
        slope[i] += e
        slope[j] -= e
        J[i, i] += v
        J[j, j] += v
        J[i, j] -= v
        J[j, i] -= v
        for q in range(d):
            x = rows.x[k, q]
            slope[K + q] += e * x
            J[i, K + q] += v * x
            J[K + q, i] += v * x
            J[j, K + q] -= v * x
            J[K + q, j] -= v * x
            for r in range(d):
                J[K + q, K + r] += v * x * rows.x[k, r]


def fill_sums(rows: Rows, theta: Floats, beta: Floats, scratch: Scratch, M: Floats, seen: Seen) -> None:
    """Sum U U' over the clusters, and count how they compared each option."""
    K, d = theta.shape[0], beta.shape[0]
    mark, touched, u, met = scratch.mark, scratch.touched, scratch.u, scratch.met
    for c in range(rows.edges.shape[0] - 1):
        n = 0
        for q in range(d):
            u[K + q] = 0.0
        for r in range(rows.edges[c], rows.edges[c + 1]):
            k = rows.order[r] if rows.order.shape[0] > 0 else r
            i, j = rows.first[k], rows.second[k]
            if mark[i] != c + 1:
                mark[i] = c + 1
                touched[n] = i
                n += 1
                u[i] = 0.0
                met[i] = 0.0
            if mark[j] != c + 1:
                mark[j] = c + 1
                touched[n] = j
                n += 1
                u[j] = 0.0
                met[j] = 0.0
            y = theta[i] - theta[j]
            for q in range(d):
                y += beta[q] * rows.x[k, q]
            w = rows.weight[k] if rows.weight.shape[0] > 1 else rows.weight[0]
            e = w * (0.5 + 0.5 * rows.outcome[k] - 1.0 / (1.0 + math.exp(-y)))
            u[i] += e
            u[j] -= e
            met[i] += w
            met[j] += w
            for q in range(d):
                u[K + q] += e * rows.x[k, q]
        times = rows.repeats[c] if rows.repeats.shape[0] > 1 else rows.repeats[0]
        for a in range(n):
            i = touched[a]
            seen.shown[i] += times
            seen.squares[i] += times * met[i] * met[i]
            seen.most[i] = max(seen.most[i], n - 1.0)
            for b in range(n):
                M[i, touched[b]] += times * u[i] * u[touched[b]]
            for q in range(d):
                M[i, K + q] += times * u[i] * u[K + q]
                M[K + q, i] += times * u[i] * u[K + q]
        for q in range(d):
            for s in range(d):
                M[K + q, K + s] += times * u[K + q] * u[K + s]


def cluster_sums(rows: Rows, theta: Floats, beta: Floats | None = None) -> tuple[Floats, Seen]:
    """What ``fill_sums`` sums up."""
    K = len(theta)
    effects = np.zeros(0) if beta is None else beta
    M, seen = np.zeros((K + len(effects),) * 2), Seen(np.zeros(K), np.zeros(K), np.zeros(K))
    scratch = Scratch(np.zeros(K, np.int64), np.zeros(K, np.int64), np.zeros(len(M)), np.zeros(K))
    _run(fill_sums, rows, theta, effects, scratch, M, seen)
    return M, seen


def fit_rows(rows: Rows, K: int, start: Floats | None = None, ridge: float = RIDGE) -> tuple[Floats, Floats, Floats]:
    """(theta, beta, J) with covariates. The ridge holds for the strengths only, but for a trace that keeps J regular."""
    d = rows.x.shape[1]
    at = np.zeros(K + d)
    if start is not None:
        at[:K] = start
    penalty = np.concatenate([np.full(K, ridge), np.full(d, TRACE)])
    for _ in range(STEPS):
        slope, J = np.zeros(K + d), np.zeros((K + d, K + d))
        _run(fill_slopes, rows, at[:K].copy(), at[K:].copy(), slope, J)
        step = np.linalg.solve(J + np.diag(penalty), slope - penalty * at)
        largest = float(np.abs(step).max())
        at = at + step / max(1.0, largest)
        if largest < CLOSE:
            break
    return at[:K], at[K:], J


def duel_sums(above: Floats, ties: Floats, theta: Floats) -> Floats:
    """sum U U' where every pair is a cluster of its own: it follows from the counts."""
    p = sigmoid(theta[:, None] - theta[None, :])
    q = p.T
    M: Floats = -(above * q * q + above.T * p * p + ties * (0.5 - p) ** 2)
    diagonal = np.arange(len(theta))
    M[diagonal, diagonal] = 0.0
    M[diagonal, diagonal] = -M.sum(axis=1)
    return M


def groups(N: Floats) -> Ints:
    """The group of each option: options in one group were compared, if only by way of others. Numbered as they come."""
    K = len(N)
    group = np.full(K, -1)
    least = max(LEAST, LEAST_SHARE * float(N.max()))
    linked = least < N
    number = 0
    for k in range(K):
        if group[k] < 0:
            reach = np.zeros(K, np.bool_)
            new = np.zeros(K, np.bool_)
            new[k] = True
            while new.any():
                reach |= new
                new = linked[new].any(axis=0) & ~reach
            group[reach] = number
            number += 1
    return group


class Spread(NamedTuple):
    """Both forms of the covariance of strengths (and, behind them, of the effects of covariates)."""

    robust: Floats  # f8[K + d, K + d]
    model: Floats  # f8[K + d, K + d]

    def variance(self) -> Floats:
        """The larger variance of each strength."""
        return np.maximum(self.robust.diagonal(), self.model.diagonal())

    def of_differences(self) -> Floats:
        """The larger variance of each difference of two strengths."""
        one, other = (C.diagonal()[:, None] + C.diagonal()[None, :] - 2.0 * C for C in self)
        return np.maximum(one, other)


def centring(group: Ints, compared: Floats) -> Floats:
    """The matrix that takes the mean of its group from each strength, options weighted by how often they were compared.

    Not the plain mean. A policy that looks for the best stops showing options after bad luck, so that the rarely shown are,
    together, estimated too low. In a plain mean their errors weigh as much as all others and add up, and shift every strength:
    the intervals of well-known options then miss too often where options are alike. In the weighted mean their errors weigh
    little, and what is uncertain about an option is mostly its own. docs/standings.md has both, measured.
    """
    weights = np.where(group[:, None] == group[None, :], np.maximum(compared, 1e-12)[None, :], 0.0)
    centre: Floats = np.eye(len(group)) - weights / weights.sum(axis=1, keepdims=True)
    return centre


def spread(
    J: Floats, M: Floats, group: Ints, centre: Floats, correction: float, inflated: float = 1.0, ridge: float = RIDGE
) -> Spread:
    """The covariances of the module's text. ``inflated``: by how much the model's is too small because pairs hang together."""
    K, size = len(centre), len(J)
    H = np.eye(size)
    H[:K, :K] = centre
    same = (group[:, None] == group[None, :]).astype(float)
    means = np.zeros((size, size))
    means[:K, :K] = same / same.sum(axis=1, keepdims=True)
    trace = np.full(size, TRACE)
    trace[:K] = 0.0
    inverse = H @ np.linalg.inv(J + means + np.diag(trace))
    trace[:K] = ridge
    shrunk = H @ np.linalg.inv(J + np.diag(trace)) @ H.T
    return Spread(correction * (inverse @ M @ inverse.T), inflated * shrunk)


def at_all_times(n: Any, error: float) -> Any:
    """Half-width in standard errors, after n observations, of an interval that ever misses with a chance of ``error`` at most.

    The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024) mixes over a normal of
    variance rho^2 and takes the spread as known:

        sqrt( 2 (n rho^2 + 1) / (n rho^2) ln( sqrt(n rho^2 + 1) / error ) ).

    With 20 to 100 observations the spread is not known. The same mixture with the spread unknown gives Student's form (the
    scale-invariant likelihood ratio; Wang and Ramdas, Anytime-valid t-tests, 2024): with c = 1 / rho^2, g = c / (n + c) and
    R = (sqrt((n + c) / c) / error)^(2 / n),

        sqrt( (n - 1) (R - 1) / (1 - R g) ),    infinite where R g >= 1.

    It is a third wider after 20 observations, 3 % after 100, and the first form in the limit. rho is tightest near 100.
    """
    count = np.asarray(n, float)
    rho2 = (math.log(-2.0 * math.log(error)) - 2.0 * math.log(error) + 1.0) / 100.0
    c = 1.0 / rho2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        growth = np.expm1(2.0 / count * (0.5 * np.log1p(count / c) - math.log(error)))  # R - 1
        room = 1.0 - (1.0 + growth) * c / (count + c)
        wide = np.sqrt((count - 1.0) * growth / room)
    return np.where((count > 1.0) & (room > 0.0), wide, math.inf)


def _run(function: Any, rows: Rows, *arguments: Any) -> None:
    kernel = entry(function, rows, "sums over clusters of answers")
    kernel.prepare(rows, *arguments)
    kernel.call(rows, *arguments)
