"""MergeDTS on lists of lists, with square roots and every Beta draw."""

import math

import numpy as np


class Naive:
    def __init__(self, n_arms, slate_size, rng, alpha=0.8**6, batch_size=16, C=4e5, draws="direct"):
        assert draws == "direct", "lazy draws have the same law, not the same numbers"
        self.K, self.rng, self.alpha, self.C = n_arms, rng, alpha, C
        self.W = np.zeros((n_arms, n_arms))
        arms = rng.distinct(range(n_arms), n_arms)
        n = math.ceil(n_arms / batch_size)
        self.batches = [arms[k * n_arms // n : (k + 1) * n_arms // n] for k in range(n)]
        self.stage = 1

    def u(self, i, j, t):
        N = self.W[i, j] + self.W[j, i]
        return self.W[i, j] / N + math.sqrt(self.alpha * math.log(t + self.C) / N) if N > 0 else 2.0

    def draw(self, i, j):
        return self.rng.beta(self.W[i, j] + 1.0, self.W[j, i] + 1.0)

    def ask(self, round):
        if len(self.batches) == 1 and len(self.batches[0]) == 1:
            return list(self.batches[0])
        b = round % len(self.batches)
        batch = self.batches[b]
        kept = [k for k in batch if all(self.u(k, other, round) >= 0.5 for other in batch if other != k)]
        if kept:
            batch = self.batches[b] = kept
        if len(batch) == 1 and len(self.batches) > 1:
            after = (b + 1) % len(self.batches)
            batch = self.batches[b] = batch + self.batches[after]
            del self.batches[after]
        played = list(batch)
        if len(batch) > 1:
            score = dict.fromkeys(batch, 0)
            for x, i in enumerate(batch):
                for j in batch[x + 1 :]:
                    score[i if self.draw(i, j) > 0.5 else j] += 1
            first = batch[self.rng.argmax([score[i] for i in batch])]
            g = {i: self.draw(i, first) for i in batch if i != first}
            played = [first, min(g, key=g.get)]
        if len(self.batches) > 1 and sum(map(len, self.batches)) <= self.K / 2**self.stage + 1:
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
