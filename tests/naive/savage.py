"""SAVAGE with all bounds in full: Q is filtered after every duel, and a sweep is drawn from it in random order."""

import itertools
import math

import numpy as np

VARIANTS = [
    {},
    {"variant": "copeland"},
    {"delta": 0.9},
    {"delta": 0.9, "variant": "copeland"},
    {"delta": 0.5, "union": "samples"},
    {"union": "samples", "variant": "copeland"},
]


class Naive:
    def __init__(self, n_arms, slate_size, rng, horizon, variant="condorcet", delta=0.0, union="horizon"):
        self.K, self.rng, self.T, self.variant, self.union = n_arms, rng, horizon, variant, union
        self.delta = delta if delta > 0.0 else 1.0 / horizon
        self.W = np.zeros((n_arms, n_arms))
        self.Q = list(itertools.combinations(rng.distinct(range(n_arms), n_arms), 2))
        self.sweep = []
        self.winner = None

    def bounds(self):
        """l and u of all pairs: 0 and 1 for those that never met, 1/2 on the diagonal."""
        n = self.W + self.W.T
        pairs = self.K * (self.K - 1) / 2.0
        with np.errstate(divide="ignore", invalid="ignore"):
            eta = 2.0 * pairs * self.T if self.union == "horizon" else math.pi**2 * pairs * n**2 / 3.0
            c = np.sqrt(np.log(eta / self.delta) / (2.0 * n))
            low, up = self.W / n - c, self.W / n + c
        low[n == 0.0], up[n == 0.0] = 0.0, 1.0
        np.fill_diagonal(low, 0.5)
        np.fill_diagonal(up, 0.5)
        return low, up

    def beaten(self):
        return (self.bounds()[1] < 0.5).any(axis=1)

    def certain(self):
        return (self.bounds()[0] > 0.5).sum(axis=1)

    def filter(self):
        low, up = self.bounds()
        if self.variant == "condorcet":
            beaten = self.beaten()
            self.Q = [(i, j) for i, j in self.Q if not beaten[i] and not beaten[j]]
        else:
            possible = (up > 0.5).sum(axis=1)
            out = self.certain().max() > possible
            self.Q = [(i, j) for i, j in self.Q if not (up[i, j] < 0.5 or low[i, j] > 0.5 or (out[i] and out[j]))]

    def ask(self, round):
        while self.winner is None:
            if not self.sweep:
                if not self.Q:
                    self.commit()
                    break
                self.sweep = list(self.Q)
            j = self.rng.below(len(self.sweep))
            self.sweep[0], self.sweep[j] = self.sweep[j], self.sweep[0]
            pair = self.sweep.pop(0)
            if pair in self.Q:
                return list(pair)
        return [self.winner]

    def commit(self):
        if self.variant == "condorcet":
            (self.winner,) = (i for i in range(self.K) if not self.beaten()[i])
        else:
            self.winner = self.rng.argmax(list(self.certain()))

    def tell(self, round, slate, wins):
        i, j = slate
        self.W[i, j] += wins[0, 1]
        self.W[j, i] += wins[1, 0]
        self.filter()
