"""What the oracles of linear policies share, from the formulas: nothing incremental, nothing inverted in place."""

import numpy as np


def s(v):
    return 1.0 / (1.0 + np.exp(-v))


def minimum(theta, H, loss, gradient, hessian):
    """argmin |. - theta|_H^2 / 2 + loss, by Newton's method with halved steps."""

    def value(x):
        return 0.5 * (x - theta) @ H @ (x - theta) + loss(x)

    x = theta.copy()
    for _ in range(200):
        step = np.linalg.solve(H + hessian(x), -(H @ (x - theta) + gradient(x)))
        while value(x + step) > value(x) + 1e-12 and np.abs(step).max() > 1e-13:
            step = step / 2.0
        x = x + step
        if np.abs(step).max() < 1e-13:
            break
    return x


class Duels:
    """Features, duels told so far, and an estimate of theta from them."""

    def __init__(self, n_arms, dimension=0, ridge=1.0, estimator="online", history=10_000):
        self.K, self.d = n_arms, dimension or n_arms
        self.x = np.zeros((n_arms, dimension)) if dimension else np.eye(n_arms)
        self.theta, self.ridge, self.estimator, self.history = np.zeros(self.d), ridge, estimator, history
        self.V, self.H = ridge * np.eye(self.d), ridge * np.eye(self.d)
        self.anchor, self.kept = np.zeros(self.d), []

    def see(self, rows):
        self.x = np.array(rows)

    def utilities(self):
        return self.x @ self.theta

    def width(self, z):
        return float(np.sqrt(max(0.0, z @ np.linalg.solve(self.V, z))))

    def fit(self, theta, H, duels):
        Z = np.array([z for z, _, _ in duels]).reshape(-1, self.d)
        won, n = np.array([w for _, w, _ in duels]), np.array([n for _, _, n in duels])

        def bend(x):
            p = s(Z @ x)
            return (Z * (n * p * (1.0 - p))[:, None]).T @ Z

        return minimum(
            theta,
            H,
            lambda x: float(np.sum(n * np.logaddexp(0.0, Z @ x) - won * (Z @ x))),
            lambda x: Z.T @ (n * s(Z @ x) - won),
            bend,
        ), bend

    def learn(self, i, j, won, n):
        z = self.x[i] - self.x[j]
        self.V = self.V + n * np.outer(z, z)
        if self.estimator == "gram":
            self.theta = self.theta + np.linalg.solve(self.V, z) * (won - n * s(z @ self.theta))
        elif self.estimator == "online":
            before, self.theta = self.H, self.theta
            self.theta, bend = self.fit(self.theta, before, [(z, won, n)])
            self.H = before + bend(self.theta)
        else:
            self.kept.append((z, won, n))
            if len(self.kept) > self.history:
                left = self.kept.pop(0)
                self.anchor, bend = self.fit(self.anchor, self.H, [left])
                self.H = self.H + bend(self.anchor)
            self.theta, _ = self.fit(self.anchor, self.H, self.kept)


def best(values, rng):
    """Index of the largest; those within 1e-10 of it, relative to the largest in size, are ties."""
    finite = [v for v in values if v > -np.inf]
    near = max(finite) - 1e-10 * max(abs(v) for v in finite)
    tied = [k for k, v in enumerate(values) if v >= near]
    return tied[0] if len(tied) == 1 else tied[rng.below(len(tied))]


def best_pair(scores, rng):
    """The best of a dict {(i, j): score}, in the order of (larger number, smaller number); left and right by a coin."""
    pairs = sorted(scores, key=lambda pair: (max(pair), min(pair)))
    i, j = pairs[best([scores[pair] for pair in pairs], rng)]
    if i == j:
        return [i]
    i, j = max(i, j), min(i, j)
    return [j, i] if rng.uniform() < 0.5 else [i, j]
