"""MDB from specs/mdb.md: bounds with square roots, recomputed in every round."""

import math

import numpy as np

VARIANTS = [{}, {"cap": "narrow"}, {"alpha": 0.7, "beta": 1.0}, {"alpha": 0.6, "beta": 3.0, "cap": "narrow"}]


class Naive:
    def __init__(self, n_arms, slate_size, rng, alpha=0.51, beta=1.5, cap="uniform"):
        self.K, self.m, self.rng, self.alpha, self.beta, self.cap = n_arms, slate_size, rng, alpha, beta, cap
        self.W = np.zeros((n_arms, n_arms))

    def passing(self, round, widening):
        """Arms whose bound against every other is at least 1/2."""
        N = self.W + self.W.T
        with np.errstate(divide="ignore", invalid="ignore"):
            u = self.W / N + np.sqrt(self.alpha * widening * math.log(round) / N)
        u[N == 0.0] = 1.0  # a pair without duels, an arm and itself: passes
        return [i for i in range(self.K) if np.all(u[i] >= 0.5)]

    def ask(self, round):
        E, F = self.passing(round, 1.0), self.passing(round, self.beta)
        if len(E) == 1:
            return E
        chosen = F or list(range(self.K))
        if len(chosen) <= self.m:
            return chosen
        if self.cap == "uniform":
            return self.rng.distinct(chosen, self.m)
        if len(E) > self.m:
            return self.rng.distinct(E, self.m)
        rest = [i for i in chosen if i not in E]
        return E + self.rng.distinct(rest, self.m - len(E))

    def tell(self, round, slate, wins):
        for a, i in enumerate(slate):
            for b, j in enumerate(slate):
                if a != b:
                    self.W[i, j] += wins[a, b]
