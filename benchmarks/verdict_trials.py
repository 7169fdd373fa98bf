"""Trials of the verdict and of the intervals, compiled: thousands of experiments in worlds where the truth is known.

Evidence is kept as products here, one factor an answer, and not by the package's formula from counts: a second way to the same
numbers. ``verdicts.py`` compares the two at the end of trials.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from multiduel.kernels.choice import draw_distinct
from multiduel.kernels.compiler.dispatch import OPTIONS
from multiduel.kernels.contract import ask, init, tell
from multiduel.kernels.evidence import SHARES
from multiduel.kernels.random import below, uniform
from multiduel.policies import challengers

CLAIM, ARM, OUT_WRONG, MISSED, ALL_OUT = range(5)  # places in a result; the first, third, fourth and fifth are answers, or 0


@numba.njit(**OPTIONS)
def trial(
    params,
    state,
    rng,
    tastes,
    P,
    best,
    rankings,
    adaptive,
    by_rater,
    m,
    T,
    alpha,
    b,
    D,
    E,
    C,
    M,
    seen,
    score,
    pool,
    slate,
    wins,
    out,
):
    """One experiment of T answers. P is the truth that intervals must hold, ``best`` the option that beats all others, or -1."""
    R, K = tastes.shape
    G = b.shape[0]
    for t in range(1, T + 1):
        rater = below(R, rng)
        if adaptive:
            n, _ = ask(params, state, rng, t, 1, slate)
        else:
            n = m
            for k in range(K):
                pool[k] = k
            draw_distinct(pool, K, m, slate, 0, rng)
        if n < 2:
            break
        for a in range(n):
            score[a] = tastes[rater, slate[a]] - math.log(-math.log(1.0 - uniform(rng)))
        for a in range(n):
            wins[a, a] = 0.0
            for c in range(a + 1, n):
                first = score[a] > score[c] if rankings else uniform(rng) < P[slate[a], slate[c]]
                wins[a, c] = 1.0 if first else 0.0
                wins[c, a] = 1.0 - wins[a, c]
                if by_rater:
                    i, j = min(slate[a], slate[c]), max(slate[a], slate[c])
                    if seen[rater, i, j] == 1:
                        wins[a, c] = 0.0
                        wins[c, a] = 0.0
                    seen[rater, i, j] = 1
        if adaptive:
            tell(params, state, rng, t, slate[:n], wins)
        for a in range(n):
            for c in range(n):
                if wins[a, c] == 1.0:
                    i, j = slate[a], slate[c]
                    D[i, j] += 1.0
                    up, down, true_up, true_down = 0.0, 0.0, 0.0, 0.0
                    for g in range(G):
                        E[i, j, g] *= 1.0 + b[g]
                        E[j, i, g] *= 1.0 - b[g]
                        C[i, j, g] *= 1.0 - b[g] + b[g] / P[i, j]
                        C[j, i, g] *= 1.0 - b[g]
                        up += E[i, j, g]
                        down += E[j, i, g]
                        true_up += C[i, j, g]
                        true_down += C[j, i, g]
                    M[i, j] = up / G
                    M[j, i] = down / G
                    if out[MISSED] == 0.0 and max(true_up, true_down) / G >= K * (K - 1) / alpha:
                        out[MISSED] = t
        for a in range(n):
            h = slate[a]
            least = math.inf
            mean = 0.0
            for j in range(K):
                if j != h:
                    least = min(least, M[h, j])
                    mean += M[j, h]
            if out[CLAIM] == 0.0 and least >= K / alpha:
                out[CLAIM] = t
                out[ARM] = h
            if mean / (K - 1) >= 1.0 / alpha and h == best and out[OUT_WRONG] == 0.0:
                out[OUT_WRONG] = t
            pool[K + h] = 1 if mean / (K - 1) >= 1.0 / alpha else 0
        gone = 0
        for h in range(K):
            gone += pool[K + h]
        if gone == K and out[ALL_OUT] == 0.0:
            out[ALL_OUT] = t


def fresh(R, K):
    """Everything that a trial writes into."""
    grids = np.ones((2, K, K, len(SHARES)))
    scratch = (np.zeros(K), np.zeros(2 * K, np.int64), np.zeros(K, np.int64), np.zeros((K, K)))
    return np.zeros((K, K)), grids[0], grids[1], np.ones((K, K)), np.zeros((R, K, K), np.int8), *scratch


def run(seed, tastes, P, best, *, rankings, adaptive, by_rater, m, T, alpha):
    """(result, counts) of one trial."""
    R, K = tastes.shape
    rng = np.random.SeedSequence(seed).generate_state(4, np.uint64).astype(np.uint64)
    params = challengers.Params(m, alpha)
    out = np.zeros(5)
    D, *rest = fresh(R, K)
    trial(
        params, init(params, K, rng), rng, tastes, P, best, rankings, adaptive, by_rater, m, T, alpha, SHARES, D, *rest, out
    )  # fmt: skip
    return out, D
