"""LinearSelfSparring from specs/contextual.md, section 10, with the exact Plackett-Luce likelihood for rankings."""

import itertools

import numpy as np

from tests.naive.linear import best, minimum

VARIANTS = [{}, {"answers": "coins", "spread": 0.5}]


def as_ranking(wins):
    """The order of the arms if every pair has one winner of weight 1 and no three go in a circle; else None."""
    n = len(wins)
    order = sorted(range(n), key=lambda a: -wins[a].sum())
    agrees = all(wins[order[a], order[b]] == 1.0 and wins[order[b], order[a]] == 0.0 for a in range(n) for b in range(a + 1, n))
    return order if agrees else None


class Naive:
    def __init__(self, n_arms, slate_size, rng, dimension=0, ridge=1.0, spread=1.0, answers="rankings"):
        self.K, self.m, self.rng, self.spread, self.answers = n_arms, min(slate_size, n_arms), rng, spread, answers
        d = dimension or n_arms
        self.x = np.zeros((n_arms, d)) if dimension else np.eye(n_arms)
        self.theta, self.H = np.zeros(d), ridge * np.eye(d)

    def see(self, rows):
        self.x = np.array(rows)

    def ask(self, t):
        L = np.linalg.cholesky(np.linalg.inv(self.H))
        seats = []
        for _ in range(self.m):
            xi = np.array([self.rng.normal() for _ in range(len(self.theta))])
            seats.append(best(list(self.x @ (self.theta + self.spread * L @ xi)), self.rng))
        return list(dict.fromkeys(seats))

    def tell(self, t, slate, wins):
        x, n = self.x[slate], len(slate)
        order = as_ranking(wins) if self.answers == "rankings" else None
        if order is not None:
            terms = [(1.0, x[order[q]], x[order[q:]]) for q in range(n - 1)]  # a choice of the first among those that follow
        else:
            weight = 1.0 if self.answers == "coins" else 2.0 / n
            ordered = itertools.permutations(range(n), 2)
            terms = [(weight * wins[a, b], x[a], x[[a, b]]) for a, b in ordered if wins[a, b] > 0.0]

        def chances(rows, theta):
            v = np.exp(rows @ theta - (rows @ theta).max())
            return v / v.sum()

        def loss(theta):
            return sum(w * (np.logaddexp.reduce(rows @ theta) - row @ theta) for w, row, rows in terms)

        def gradient(theta):
            return sum(w * (chances(rows, theta) @ rows - row) for w, row, rows in terms)

        def hessian(theta):
            total = np.zeros_like(self.H)
            for w, _, rows in terms:
                p = chances(rows, theta)
                centred = rows - p @ rows
                total += w * (centred.T * p) @ centred
            return total

        self.theta = minimum(self.theta, self.H, loss, gradient, hessian)
        self.H = self.H + hessian(self.theta)
