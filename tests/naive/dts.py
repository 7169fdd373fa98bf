"""D-TS, literally: all bounds and all Beta draws, every round."""

import math

import numpy as np


class Naive:
    def __init__(self, n_arms, slate_size, rng, alpha=0.51, draws="direct"):
        assert draws == "direct", "lazy draws have the same law, not the same numbers"
        self.K, self.rng, self.alpha = n_arms, rng, alpha
        self.W = np.zeros((n_arms, n_arms))

    def bounds(self, t):
        u = np.full((self.K, self.K), 0.5)
        low = np.full((self.K, self.K), 0.5)
        for i in range(self.K):
            for j in range(self.K):
                if i != j:
                    N = self.W[i, j] + self.W[j, i]
                    mean, radius = (self.W[i, j] / N, math.sqrt(self.alpha * math.log(t) / N)) if N else (0.5, 0.5)
                    u[i, j], low[i, j] = mean + radius, mean - radius
        return u, low

    def sample(self):
        theta = np.full((self.K, self.K), 0.5)
        for i in range(self.K):
            for j in range(i + 1, self.K):
                theta[i, j] = self.rng.beta(self.W[i, j] + 1.0, self.W[j, i] + 1.0)
                theta[j, i] = 1.0 - theta[i, j]
        return theta

    def ask(self, round):
        u, low = self.bounds(round)
        up = [sum(u[i, j] > 0.5 for j in range(self.K) if j != i) for i in range(self.K)]
        C = [i for i in range(self.K) if up[i] == max(up)]
        first = self.choose(C, self.sample())
        W = self.W
        g = [0.5 if i == first else self.rng.beta(W[i, first] + 1.0, W[first, i] + 1.0) for i in range(self.K)]
        second = self.rng.argmax([g[i] if low[i, first] <= 0.5 else -1.0 for i in range(self.K)])
        return [first] if first == second else [first, second]

    def choose(self, C, theta):
        return C[self.rng.argmax([sum(theta[i, j] > 0.5 for j in range(self.K) if j != i) for i in C])]

    def tell(self, round, slate, wins):
        i, j = slate
        self.W[i, j] += wins[0, 1]
        self.W[j, i] += wins[1, 0]
