"""Versatile-DB, literally; the normalisation by bisection."""

import math

import numpy as np


def tsallis(L, eta):
    """w_i = 4 / (eta (L_i - x))^2 with sum w = 1: x lies where the best arm has w between 1/K and 1."""
    low, high = min(L) - 2.0 * math.sqrt(len(L)) / eta, min(L) - 2.0 / eta
    for _ in range(200):
        x = (low + high) / 2.0
        if sum(4.0 / (eta * (loss - x)) ** 2 for loss in L) > 1.0:
            high = x
        else:
            low = x
    w = np.array([4.0 / (eta * (loss - low)) ** 2 for loss in L])
    return w / w.sum()


class Naive:
    def __init__(self, n_arms, slate_size, rng, eta=2.0, shared=False):
        self.K, self.rng, self.eta, self.shared = n_arms, rng, eta, shared
        self.L = [np.zeros(n_arms), np.zeros(n_arms)]
        if shared:
            self.L[1] = self.L[0]
        self.w = {}

    def ask(self, round):
        if self.K == 1:
            return [0]
        w = [tsallis(L, self.eta / math.sqrt(round)) for L in self.L]
        plus, minus = (min(int(np.searchsorted(np.cumsum(p), self.rng.uniform(), "right")), self.K - 1) for p in w)
        self.w[round] = (w[0][plus], w[1][minus])
        if plus == minus:
            self.learn(round, plus, minus, 1.0 if self.rng.uniform() < 0.5 else 0.0)
            return [plus]
        return [plus, minus]

    def tell(self, round, slate, wins):
        self.learn(round, slate[0], slate[1], wins[0, 1] / (wins[0, 1] + wins[1, 0]))

    def learn(self, round, plus, minus, o):
        share = 0.5 if self.shared else 1.0
        self.L[0][plus] += share * (1.0 - o) / self.w[round][0]
        self.L[1][minus] += share * o / self.w[round][1]
