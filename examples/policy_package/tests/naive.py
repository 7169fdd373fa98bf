"""EpsilonGreedy from its listing."""

import numpy as np

VARIANTS = [{}, {"epsilon": 0.5}]


class Naive:
    def __init__(self, n_arms, slate_size, rng, epsilon=0.1):
        self.K, self.m, self.rng, self.epsilon = n_arms, min(slate_size, n_arms), rng, epsilon
        self.W = np.zeros((n_arms, n_arms))

    def ask(self, round):
        if not self.W.any() or self.rng.uniform() < self.epsilon:
            return self.rng.distinct(range(self.K), self.m)
        duels = self.W.sum(axis=1) + self.W.sum(axis=0)
        share = [self.W[i].sum() / duels[i] if duels[i] else 0.0 for i in range(self.K)]
        return [self.rng.argmax(share)]

    def tell(self, round, slate, wins):
        for a, i in enumerate(slate):
            for b, j in enumerate(slate):
                if a != b:
                    self.W[i, j] += wins[a, b]
