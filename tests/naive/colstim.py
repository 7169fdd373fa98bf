"""CoLSTIM from specs/contextual.md, section 5."""

import math

import numpy as np

from tests.naive.linear import Duels, best

VARIANTS = [{}, {"width": 0.5, "cut": 5.0, "coupled": False, "alone": False, "estimator": "gram"}]


class Naive(Duels):
    def __init__(self, n_arms, slate_size, rng, width=0.0, cut=0.0, coupled=True, alone=True, **estimate):
        super().__init__(n_arms, **estimate)
        self.rng, self.c1, self.cut, self.coupled, self.alone = rng, width, cut, coupled, alone

    def ask(self, t):
        c1 = self.c1 or math.sqrt(self.d * math.log(1 + t))
        cut = self.cut or c1
        p = min(1.0, math.sqrt(self.d * math.log(1 + self.d * t) / t)) if self.coupled else 1.0
        u = self.utilities()
        B = self.rng.uniform() < p
        noise = [self.gumbel() for _ in range(self.K if B else 1)]
        e = np.clip(noise if B else noise * self.K, -cut, cut)
        a = best([u[i] + e[i] * self.width(self.x[i]) for i in range(self.K)], self.rng)
        scores = [u[i] - u[a] + c1 * self.width(self.x[i] - self.x[a]) for i in range(self.K)]
        if not self.alone:
            scores[a] = -math.inf
        b = best(scores, self.rng)
        return [a] if a == b else [a, b]

    def gumbel(self):
        return -math.log(-math.log(1.0 - self.rng.uniform()))

    def tell(self, t, slate, wins):
        self.learn(slate[0], slate[1], wins[0, 1], wins[0, 1] + wins[1, 0])
