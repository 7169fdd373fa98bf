"""Challengers from its listing: all evidence anew, every round."""

import math

import numpy as np

VARIANTS = [{}, {"alpha": 0.3}]
BETS = [math.exp(math.log(1 / 64) + g * (math.log(0.97) - math.log(1 / 64)) / 23) for g in range(24)]


class Naive:
    def __init__(self, n_arms, slate_size, rng, alpha=0.05):
        self.K, self.m, self.rng, self.alpha = n_arms, min(slate_size, n_arms), rng, alpha
        self.W = np.zeros((n_arms, n_arms))

    def evidence(self, i, j):
        terms = [self.W[i, j] * math.log(1 + b) + self.W[j, i] * math.log(1 - b) for b in BETS]
        return np.logaddexp.reduce(terms) - math.log(24)

    def ask(self, round):
        L = [[self.evidence(i, j) for j in range(self.K)] for i in range(self.K)]
        against = [np.logaddexp.reduce([L[j][h] for j in range(self.K) if j != h]) - math.log(self.K - 1) for h in range(self.K)]
        more = [value - min(against) for value in against]
        b = self.rng.argmax([-value if value > 1e-9 else 0.0 for value in more])  # arms that stand equally tie
        rivals = [j for j in range(self.K) if j != b and L[b][j] < math.log(self.K / self.alpha)]
        theta = {j: self.rng.beta(self.W[j, b] + 1.0, self.W[b, j] + 1.0) for j in rivals}
        return [b, *sorted(rivals, key=lambda j: -theta[j])[: self.m - 1]]

    def tell(self, round, slate, wins):
        for a, i in enumerate(slate):
            for b, j in enumerate(slate):
                if a != b:
                    self.W[i, j] += wins[a, b]
