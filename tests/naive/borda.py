"""Borda elimination, literally: lists of outcomes and their means."""

import math


class Naive:
    def __init__(self, n_arms, slate_size, rng, horizon, explore=1.0):
        self.K, self.rng, self.T = n_arms, rng, horizon
        self.S = list(range(n_arms))
        self.outcomes = [[] for _ in range(n_arms)]
        self.queue = []
        self.E = explore * n_arms ** (1 / 3) * horizon ** (2 / 3) * math.log(horizon) ** (1 / 3)
        self.chosen = None

    def interval(self, i):
        n = len(self.outcomes[i])
        if n == 0:
            return -math.inf, math.inf
        b, r = self.mean(i), math.sqrt(math.log(4 * self.K * n**2 * self.T) / (2 * n))
        return b - r, b + r

    def mean(self, i):
        return sum(self.outcomes[i]) / len(self.outcomes[i]) if self.outcomes[i] else 0.0

    def ask(self, round):
        if self.chosen is not None:
            return [self.chosen]
        if not self.queue:
            best = max(self.interval(j)[0] for j in self.S)
            self.S = [i for i in self.S if self.interval(i)[1] >= best]
            self.S = self.rng.distinct(self.S, len(self.S))
            self.queue = list(self.S)
        if len(self.S) == 1 or round > self.E:
            self.chosen = self.rng.argmax([self.mean(i) if i in self.S else -1.0 for i in range(self.K)])
            return [self.chosen]
        i = self.queue.pop(0)
        j = self.rng.below(self.K - 1)
        return [i, j if j < i else j + 1]

    def tell(self, round, slate, wins):
        self.outcomes[slate[0]].append(wins[0, 1])
