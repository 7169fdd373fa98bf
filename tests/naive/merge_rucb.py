"""MergeRUCB on lists of lists, with square roots."""

import math

import numpy as np

VARIANTS = [{}, {"batch_size": 2, "delta": 1.0}, {"batch_size": 5, "alpha": 2.0, "delta": 1.0}]


class Naive:
    def __init__(self, n_arms, slate_size, rng, alpha=1.01, batch_size=4, delta=0.01):
        self.K, self.rng, self.alpha = n_arms, rng, alpha
        self.W = np.zeros((n_arms, n_arms))
        arms = rng.distinct(range(n_arms), n_arms)
        n = math.ceil(n_arms / batch_size)
        self.batches = [arms[k * n_arms // n : (k + 1) * n_arms // n] for k in range(n)]
        self.stage = 1
        self.C = ((4 * alpha - 1) * n_arms**2 / ((2 * alpha - 1) * delta)) ** (1 / (2 * alpha - 1))

    def u(self, i, j, t):
        if i == j:
            return 0.5
        N = self.W[i, j] + self.W[j, i]
        return self.W[i, j] / N + math.sqrt(self.alpha * math.log(t + self.C) / N) if N > 0 else 2.0

    def ask(self, round):
        if len(self.batches) == 1 and len(self.batches[0]) == 1:
            return list(self.batches[0])
        b = round % len(self.batches)
        batch = self.batches[b]
        kept = [k for k in batch if all(self.u(k, l, round) >= 0.5 for l in batch)]
        if kept:
            batch = self.batches[b] = kept
        if len(batch) == 1 and len(self.batches) > 1:
            after = (b + 1) % len(self.batches)
            batch = self.batches[b] = batch + self.batches[after]
            del self.batches[after]
        if len(batch) == 1:
            played = list(batch)
        else:
            c = batch[self.rng.below(len(batch))]
            d = batch[self.rng.argmax([self.u(j, c, round) if j != c else -1.0 for j in batch])]
            played = [c, d]
        if len(self.batches) > 1 and sum(map(len, self.batches)) <= self.K / 2**self.stage:
            self.stage += 1
            order = sorted(self.batches, key=len)
            merged = []
            while len(order) > 1:
                small, large = order.pop(0), order.pop()
                merged.append(small + large)
            self.batches = merged + order
        return played

    def tell(self, round, slate, wins):
        self.W[slate[0], slate[1]] += wins[0, 1]
        self.W[slate[1], slate[0]] += wins[1, 0]
