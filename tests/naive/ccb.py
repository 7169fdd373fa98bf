"""CCB with full matrices of bounds in every round, and sets of Python."""

import math

import numpy as np

VARIANTS = [{}, {"alpha": 1.5}]


class Naive:
    def __init__(self, n_arms, slate_size, rng, alpha=0.51):
        self.K, self.rng, self.alpha = n_arms, rng, alpha
        self.W = np.zeros((n_arms, n_arms))
        self.events = []
        self.reset()

    def reset(self):
        self.B = set(range(self.K))
        self.Bi = [set() for _ in range(self.K)]
        self.L = self.K

    def bounds(self, t):
        N = self.W + self.W.T
        with np.errstate(divide="ignore", invalid="ignore"):
            phat = np.where(N > 0.0, self.W / N, 1.0)
            bonus = np.where(N > 0.0, np.sqrt(self.alpha * math.log(t) / N), 1.0)
        u = phat + bonus
        np.fill_diagonal(u, 0.5)
        return u, 1.0 - u.T

    def ask(self, t):
        K, rng, arms = self.K, self.rng, range(self.K)
        u, low_bound = self.bounds(t)  # step 1
        up = [sum(u[i, k] >= 0.5 for k in arms if k != i) for i in arms]
        low = [sum(low_bound[i, k] >= 0.5 for k in arms if k != i) for i in arms]
        C = [i for i in arms if up[i] == max(up)]

        if any(low_bound[i, j] > 0.5 for i in arms for j in self.Bi[i]):  # 2A
            self.events.append("A")
            self.reset()
        for i in sorted(self.B):  # 2B
            if up[i] < max(low):
                self.events.append("B")
                self.B.remove(i)
                if len(self.Bi[i]) != self.L + 1:
                    self.Bi[i] = {k for k in arms if u[i, k] < 0.5}
        if not self.B:
            self.events.append("empty")
            self.reset()
        for i in C:  # 2C
            if up[i] == low[i]:
                self.events.append("C")
                self.B.add(i)
                self.Bi[i] = set()
                self.L = K - 1 - up[i]
                for j in arms:
                    if j != i and len(self.Bi[j]) < self.L + 1:
                        self.Bi[j] = set()
                    elif j != i and len(self.Bi[j]) > self.L + 1:
                        self.events.append("trim")
                        self.Bi[j] = set(rng.distinct(sorted(self.Bi[j]), self.L + 1))

        doubtful = [(i, j) for i in arms for j in sorted(self.Bi[i]) if low_bound[i, j] <= 0.5 <= u[i, j]]  # 3
        if doubtful and rng.uniform() < 0.25:
            self.events.append("3")
            return list(doubtful[rng.below(len(doubtful))])

        both = [i for i in C if i in self.B]  # 4
        if both and both != C and rng.uniform() < 2.0 / 3.0:
            self.events.append("4")
            C = both
        c = C[rng.below(len(C))] if len(C) > 1 else C[0]

        pool = arms  # 5
        if self.Bi[c] and rng.uniform() < 0.5:
            self.events.append("5")
            pool = sorted(self.Bi[c])
            if not any(low_bound[j, c] <= 0.5 for j in pool):
                self.events.append("5 all")
                pool = arms
        allowed = [j for j in pool if low_bound[j, c] <= 0.5]
        best = max(u[j, c] for j in allowed)
        tied = [j for j in allowed if u[j, c] == best]
        if len(tied) > 1 and c in tied:
            tied.remove(c)
        d = tied[rng.below(len(tied))] if len(tied) > 1 else tied[0]
        if d == c:
            self.events.append("self")
        return [c] if d == c else [c, d]

    def tell(self, t, slate, wins):
        c, d = slate
        self.W[c, d] += wins[0, 1]
        self.W[d, c] += wins[1, 0]
