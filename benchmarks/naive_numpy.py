"""What a NumPy user would write from the paper: every bound recomputed in every round. The base of the speed ratios."""

from __future__ import annotations

import math

import numpy as np


def multi_rucb(P, horizon, slate_size, alpha=0.51, seed=0):
    """MultiRUCB, one run; returns its regret against arm 0."""
    rng = np.random.default_rng(seed)
    n_arms = len(P)
    wins = np.zeros((n_arms, n_arms))
    best, regret, gaps = None, 0.0, P[0] - 0.5
    for t in range(1, horizon + 1):
        played = wins + wins.T
        with np.errstate(divide="ignore", invalid="ignore"):
            upper = np.where(played > 0, wins / played + np.sqrt(alpha * math.log(t) / played), 1.0)
        np.fill_diagonal(upper, 0.5)
        candidates = np.flatnonzero((upper >= 0.5).all(axis=1))
        if best is not None and best not in candidates:
            best = None
        if len(candidates) == 0:
            slate = rng.choice(n_arms, slate_size, replace=False)
        elif len(candidates) == 1:
            best, slate = candidates[0], candidates
        elif len(candidates) <= slate_size:
            slate = candidates
        elif best is None:
            slate = rng.choice(candidates, slate_size, replace=False)
        else:
            others = candidates[candidates != best]
            if rng.random() < 0.5:
                slate = np.append(rng.choice(others, slate_size - 1, replace=False), best)
            else:
                slate = rng.choice(others, slate_size, replace=False)
        regret += gaps[slate].mean()
        size = len(slate)
        if size > 1:
            first = np.triu(rng.random((size, size)) < P[np.ix_(slate, slate)], 1)
            second = np.triu(~first, 1).T
            wins[np.ix_(slate, slate)] += first | second
    return regret


def multi_sbm_feedback(P, horizon, alpha=3.0, seed=0):
    """MultiSBM-Feedback, one run; returns its regret against arm 0."""
    rng = np.random.default_rng(seed)
    n_arms = len(P)
    total, count, tau = np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms)), np.ones(n_arms)
    y, regret, gaps = rng.integers(n_arms), 0.0, P[0] - 0.5
    for _ in range(horizon):
        x = y
        with np.errstate(divide="ignore", invalid="ignore"):
            n = count[x]
            index = np.where(n > 0, total[x] / n + np.sqrt((alpha + 2) * math.log(tau[x]) / (2 * n)), np.inf)
        y = index.argmax()
        regret += (gaps[x] + gaps[y]) / 2
        won = rng.random() < P[y, x]
        total[x, y] += won
        count[x, y] += 1
        tau[x] += 1
        if x != y:
            total[y, x] += not won
            count[y, x] += 1
    return regret
