"""The RMED family as its listing: a generator of duels that recomputes everything from the wins, every round."""

import itertools
import math

import numpy as np


def kl(p):
    return (p * math.log(2.0 * p) if p > 0.0 else 0.0) + ((1.0 - p) * math.log(2.0 * (1.0 - p)) if p < 1.0 else 0.0)


class Naive:
    L = 1
    VARIANT = "RMED1"

    def __init__(self, n_arms, slate_size, rng, f_factor=0.3, f_exponent=1.01, alpha=3.0, horizon=0):
        self.K, self.rng, self.alpha, self.horizon = n_arms, rng, alpha, horizon
        self.f = f_factor * n_arms**f_exponent
        self.W = np.zeros((n_arms, n_arms))
        self.order = rng.distinct(range(n_arms), n_arms)  # fixed for all sweeps
        self.t = 0
        self.script = self.listing()

    def ask(self, round):
        self.t = round
        l, m = next(self.script)
        return [l] if l == m else [l, m]

    def tell(self, round, slate, wins):
        i, j = slate
        self.W[i, j] += wins[0, 1]
        self.W[j, i] += wins[1, 0]

    # What the listing needs, from W.

    def N(self, i, j):
        return self.W[i, j] + self.W[j, i]

    def P(self, i, j):
        return self.W[i, j] / self.N(i, j) if self.N(i, j) > 0 else 0.5

    def O(self, l):
        return [j for j in range(self.K) if j != l and self.P(l, j) <= 0.5]

    def I(self):
        return [float(sum((self.N(i, j) * kl(self.P(i, j)) for j in self.O(i)), 0.0)) for i in range(self.K)]

    def argmin(self, values):
        return self.rng.argmax([-value for value in values])

    @staticmethod
    def lnln(t):
        return math.log(math.log(max(t, 3)))

    def pairs(self):
        return list(itertools.combinations(self.order, 2))

    # The listing.

    def listing(self):
        draws = math.ceil(self.alpha * self.lnln(self.horizon)) if self.VARIANT == "RMED2FH" else 1
        for i, j in self.pairs():
            for _ in range(draws):
                yield i, j
        if self.VARIANT == "RMED2FH":
            i_star = self.argmin(self.I())
            self.b = [self.best_opponent(l, i_star) for l in range(self.K)]
        L_C = list(self.order)
        while True:
            L_R, L_N = set(L_C), set()
            if self.VARIANT == "RMED2":
                for i, j in self.pairs():
                    while self.N(i, j) < self.alpha * self.lnln(self.t):
                        yield i, j
            for l in L_C:
                i_star = self.argmin(self.I())
                m = self.opponent(l, i_star)
                yield l, m
                # Resumed by the next ask, after the tell: self.t is one round later.
                L_R.remove(l)
                I = self.I()
                L_N |= {j for j in range(self.K) if j not in L_R and I[j] - min(I) <= math.log(self.t - 1) + self.f}
            L_C = [l for l in self.order if l in L_N]

    def rmed1_opponent(self, l, i_star):
        O = self.O(l)
        if i_star in O or not O:
            return i_star
        return self.argmin([self.P(l, j) if j != l else math.inf for j in range(self.K)])

    def opponent(self, l, i_star):
        if self.VARIANT == "RMED1":
            return self.rmed1_opponent(l, i_star)
        if self.VARIANT == "RMED2":
            b, loglog = self.best_opponent(l, i_star), self.lnln(self.t)
        else:
            b, loglog = self.b[l], self.lnln(self.horizon)
        if b is not None and b in self.O(l) and self.N(l, i_star) * (l != i_star) >= self.N(l, b) / loglog:
            return b
        return self.rmed1_opponent(l, i_star)

    def best_opponent(self, l, i_star):
        ratio = [math.inf] * self.K
        for j in range(self.K):
            if j != l and self.P(l, j) < 0.5:
                ratio[j] = max(self.P(i_star, l) + self.P(i_star, j) - 1.0, 0.01) / kl(self.P(l, j))
        return self.argmin(ratio) if min(ratio) < math.inf else None
