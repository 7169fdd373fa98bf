"""RUCB, literally: every bound of every pair, every round."""

import math

import numpy as np


class Naive:
    def __init__(self, n_arms, slate_size, rng, alpha=0.51):
        self.K, self.rng, self.alpha = n_arms, rng, alpha
        self.W = np.zeros((n_arms, n_arms))
        self.B = None

    def bounds(self, t):
        u = np.full((self.K, self.K), 0.5)
        for i in range(self.K):
            for j in range(self.K):
                N = self.W[i, j] + self.W[j, i]
                if i != j:
                    u[i, j] = self.W[i, j] / N + math.sqrt(self.alpha * math.log(t) / N) if N > 0 else 2.0
        return u

    def ask(self, round):
        u = self.bounds(round)
        C = [c for c in range(self.K) if all(u[c, j] >= 0.5 for j in range(self.K))]
        if self.B not in C:
            self.B = None
        if not C:
            c = self.rng.below(self.K)
        elif len(C) == 1:
            c = self.B = C[0]
        elif self.B is None:
            c = C[self.rng.below(len(C))]
        elif self.rng.uniform() < 0.5:
            c = self.B
        else:
            others = [arm for arm in C if arm != self.B]
            c = others[self.rng.below(len(others))]
        best = max(u[:, c])
        tied = [j for j in range(self.K) if u[j, c] == best]
        if len(tied) > 1 and c in tied:
            tied.remove(c)
        d = tied[0] if len(tied) == 1 else tied[self.rng.below(len(tied))]
        return [c] if c == d else [c, d]

    def tell(self, round, slate, wins):
        for a, i in enumerate(slate):
            for b, j in enumerate(slate):
                if a != b:
                    self.W[i, j] += wins[a, b]
