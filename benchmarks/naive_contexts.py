"""What a NumPy user would write from the paper: CoLSTIM with the online step, features drawn anew in every round."""

from __future__ import annotations

import math

import numpy as np


def colstim(items, theta_star, n_arms, horizon, marks, seed=0):
    """CoLSTIM, one run with random numbers of its own; returns the regret u* - (u_a + u_b) / 2 at the marks."""
    rng = np.random.default_rng(seed)
    d = items.shape[1]
    theta, V, H = np.zeros(d), np.eye(d), np.eye(d)  # inverses
    utilities = items @ theta_star
    regret, seen = 0.0, []
    for t in range(1, horizon + 1):
        drawn = rng.integers(0, len(items), n_arms)
        X, worth = items[drawn], utilities[drawn]
        u = X @ theta
        XV = X @ V
        q = np.einsum("ij,ij->i", XV, X)
        c = math.sqrt(d * math.log(1 + t))
        together = rng.random() >= math.sqrt(d * math.log(1 + d * t) / t)
        e = np.clip(rng.gumbel(size=1 if together else n_arms), -c, c)
        a = int(np.argmax(u + e * np.sqrt(q)))
        b = int(np.argmax(u - u[a] + c * np.sqrt(np.maximum(q + q[a] - 2.0 * XV @ X[a], 0.0))))
        regret += worth.max() - 0.5 * (worth[a] + worth[b])
        if a != b:
            z = X[a] - X[b]
            won = float(rng.random() < 1.0 / (1.0 + math.exp(worth[b] - worth[a])))
            y = H @ z
            v, q_z, r = float(z @ theta), float(z @ y), 0.0
            for _ in range(50):
                p = 1.0 / (1.0 + math.exp(-(v + r * q_z)))
                step = (won - p - r) / (1.0 + p * (1.0 - p) * q_z)
                r = min(max(r + step, won - 1.0), won)
                if abs(step) < 1e-10:
                    break
            p = 1.0 / (1.0 + math.exp(-(v + r * q_z)))
            theta = theta + r * y
            w = p * (1.0 - p)
            H = H - w / (1.0 + w * q_z) * np.outer(y, y)
            y = V @ z
            V = V - np.outer(y, y) / (1.0 + z @ y)
        if t in marks:
            seen.append(regret)
    return seen
