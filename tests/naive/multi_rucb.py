"""MultiRUCB with K^2 square roots a round."""

from collections import Counter

import numpy as np

VARIANTS = [{}, {"alpha": 1.01}, {"priority": "always"}]


class Naive:
    def __init__(self, n_arms, slate_size, rng, alpha=0.51, priority="coin"):
        self.K, self.m, self.rng = n_arms, min(slate_size, n_arms), rng
        self.alpha, self.priority = alpha, priority
        self.W = np.zeros((n_arms, n_arms))
        self.B = set()
        self.cases = Counter()  # which lines of the listing were reached

    def candidates(self, t):
        N = self.W + self.W.T
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.where(N > 0.0, self.W / N + np.sqrt(self.alpha * np.log(t) / N), 2.0)
        np.fill_diagonal(u, 0.5)
        return [c for c in range(self.K) if (u[c] >= 0.5).all()]

    def ask(self, round):
        C = self.candidates(round)
        self.B &= set(C)
        if not C:
            self.cases["none"] += 1
            return self.rng.distinct(range(self.K), self.m)
        if len(C) == 1:
            self.cases["one"] += 1
            self.B = set(C)
            return C
        if len(C) <= self.m:
            self.cases["few"] += 1
            return C
        if not self.B:
            self.cases["many"] += 1
            return self.rng.distinct(C, self.m)
        rest = [c for c in C if c not in self.B]
        if self.priority == "always" or self.rng.uniform() < 0.5:
            self.cases["many, B in"] += 1
            return [*self.B, *self.rng.distinct(rest, self.m - 1)]
        self.cases["many, B out"] += 1
        return self.rng.distinct(rest, self.m)

    def tell(self, round, slate, wins):
        for a, i in enumerate(slate):
            for b, j in enumerate(slate):
                if i != j:
                    self.W[i, j] += wins[a, b]
