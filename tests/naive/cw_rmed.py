"""CW-RMED from the listing: ECW-RMED's, with the linear programme written out and given to SciPy.

Where the programme has several solutions, SciPy's need not be the kernel's, and slates may then differ. With the
default parameters no such case was met up to K = 7; with fewer forced draws (alpha = 1, K = 6) one was.
"""

import itertools

import numpy as np
from scipy.optimize import linprog

from tests.naive import ecw_rmed
from tests.naive.rmed1 import kl


class Naive(ecw_rmed.Naive):
    def rates(self, i1):
        """[(pair, q)] of least regret per ln t such that no set of pairs, turned round, dethrones i1 too cheaply."""
        L = [len(self.superiors(i)) for i in range(self.K)]
        x = {pair: k for k, pair in enumerate(self.pairs)}
        variable = lambda i, j: x[min(i, j), max(i, j)]  # noqa: E731
        divergence = [kl(min(self.P(i, j), self.P(j, i))) for i, j in self.pairs]
        r = [(L[i] + L[j] - 2 * L[i1]) * (0.5 / (self.K - 1)) for i, j in self.pairs]
        rows = []
        for i2 in range(self.K):
            if i2 == i1:
                continue
            # Each turned pair takes i2 one step nearer to i1; their own duel takes it two.
            needed = L[i2] - L[i1] + 1
            steps = [variable(i1, j) for j in range(self.K) if j not in (i1, i2) and self.beats(i1, j)]
            steps += [variable(i2, j) for j in self.superiors(i2) if j != i1]
            sets = list(itertools.combinations(steps, needed))
            if self.beats(i1, i2):
                sets += [(variable(i1, i2), *rest) for rest in itertools.combinations(steps, max(needed - 2, 0))]
            for turned in sets:
                row = np.zeros(len(x))
                row[list(turned)] = -1.0
                rows.append(row)
        # Evidence x_ij = q_ij kl(P_ij); an even pair brings none, at no cost.
        price = [r[k] / divergence[k] if divergence[k] > 0.0 else 0.0 for k in range(len(x))]
        if not rows:
            return [], 0.0
        found = linprog(price, np.array(rows), -np.ones(len(rows)))
        assert found.status == 0, found.message
        q = [(pair, found.x[k] / divergence[k]) for pair, k in x.items() if divergence[k] > 0.0 and found.x[k] > 0.0]
        return q, float(found.fun)
