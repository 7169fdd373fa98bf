"""WS-W by sorting."""

import numpy as np


class Naive:
    def __init__(self, n_arms, slate_size, rng):
        self.K, self.rng = n_arms, rng
        self.C = np.zeros(n_arms)
        self.last = []

    def pick(self, arms, preferred):
        top = [arm for arm in arms if self.C[arm] == max(self.C[k] for k in arms)]
        for arm in preferred:
            if arm in top:
                return arm
        return top[0] if len(top) == 1 else top[self.rng.below(len(top))]

    def ask(self, round):
        i = self.pick(range(self.K), self.last)
        if self.K == 1:
            return [i]
        j = self.pick([k for k in range(self.K) if k != i], self.last[::-1])
        self.last = [i, j]
        return [i, j]

    def tell(self, round, slate, wins):
        self.C[slate[0]] += wins[0, 1] - wins[1, 0]
        self.C[slate[1]] += wins[1, 0] - wins[0, 1]
