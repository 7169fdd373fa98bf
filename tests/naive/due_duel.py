"""DueDuel from its listing: everything anew in every round."""

import math
from collections import Counter

import numpy as np

VARIANTS = [{}, {"look_ahead": 1.0}, {"edge": 1.0}, {"stretch": 0.5}, {"stretch": 3.0}]


def evidence(d, n):
    """n kl+(d / n)."""
    if d <= 0.0:
        return 0.0
    win, lose = (n - d) / 2.0, (n + d) / 2.0  # as counts
    return lose * math.log((n + d) / n) + (win * math.log((n - d) / n) if win > 0.0 else 0.0)


class Naive:
    def __init__(self, n_arms, slate_size, rng, look_ahead=50.0, edge=16.0, stretch=0.0):
        self.K, self.m, self.L, self.g, self.a = n_arms, min(slate_size, n_arms), look_ahead, edge, stretch
        self.W = np.zeros((n_arms, n_arms))
        self.lot = rng.distinct(range(n_arms), n_arms)
        self.cases = Counter()  # which lines of the listing were reached

    def tables(self):
        N, D = self.W + self.W.T, self.W.T - self.W
        with np.errstate(divide="ignore", invalid="ignore"):
            E = np.where(D > 0.0, D**2 / (2.0 * N), 0.0)
        return N, D, np.floor(E * 2.0**20 + 0.5) / 2.0**20

    def order(self, E):
        return sorted(range(self.K), key=lambda i: (E[i].sum(), self.lot.index(i)))

    def log_time(self, d, n):
        """ln of n (1 + a e) exp(e)."""
        e = evidence(d, n)
        return math.log(n * (1.0 + self.a * e)) + e

    def log_due(self, i, order, N, D):
        values = [-1.0]
        for q in (q for q in (2**b for b in range(20)) if q <= order.index(i)):
            n, d = N[i, order[:q]].sum(), D[i, order[:q]].sum()
            if n > 0.0:
                values.append(self.log_time(d, n))
        for j in range(self.K):
            if D[i, j] > 0.0:
                values.append(self.log_time(D[i, j], N[i, j]) - math.log(self.K))
        return max(values)

    def ask(self, round):
        N, D, E = self.tables()
        order = self.order(E)
        x, others = order[0], order[1:]
        due = {i: self.log_due(i, order, N, D) for i in others}
        queue = sorted(others, key=due.get)  # stable: in ties, the first in order
        if not queue or due[queue[0]] > np.log(round):
            self.cases["alone"] += 1
            return [x]
        i = queue[0]
        pace = {j: E[i, j] / (N[i, j] + 1.0) for j in others}
        j = max(others, key=pace.get)
        if not pace[j] > self.g * max(E[i, x], 0.5) / (N[i, x] + 1.0):
            j = x
        self.cases["leader" if j == x else "refuter"] += 1
        if self.m == 2:
            return [i, j]
        A = [x, i] if j == x else [x, i, j]
        riders = [k for k in queue if k not in A and due[k] <= np.log(self.L) + np.log(round)]
        self.cases["full" if len(A) + len(riders) >= self.m else "riders"] += 1
        return (A + riders)[: self.m]

    def tell(self, round, slate, wins):
        for a, i in enumerate(slate):
            for b, j in enumerate(slate):
                if a != b:
                    self.W[i, j] += wins[a, b]

    def recommend(self):
        return self.order(self.tables()[2])[0]
