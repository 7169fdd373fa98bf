"""RCDB from specs/contextual.md, section 8."""

import math

from tests.naive import max_pair_ucb

VARIANTS = [{}, {"corruption": 1.0, "kappa": 0.1}]


class Naive(max_pair_ucb.Naive):
    def __init__(self, n_arms, slate_size, rng, corruption=100.0, kappa=0.25, **estimate):
        super().__init__(n_arms, slate_size, rng, **estimate)
        self.alpha = math.sqrt(self.d) / (math.sqrt(kappa) * corruption)
        self.beta = math.sqrt(self.d) + self.alpha * corruption

    def tell(self, t, slate, wins):
        i, j = slate
        far = self.width(self.x[i] - self.x[j])
        w = min(1.0, self.alpha / far) if far > 0.0 else 1.0
        self.learn(i, j, w * wins[0, 1], w * (wins[0, 1] + wins[1, 0]))
