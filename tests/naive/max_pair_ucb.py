"""MaxPairUCB from specs/contextual.md, section 3."""

import itertools
import math

from tests.naive.linear import Duels, best_pair

VARIANTS = [{}, {"beta": 0.7, "estimator": "exact", "history": 20}]


class Naive(Duels):
    def __init__(self, n_arms, slate_size, rng, beta=0.0, **estimate):
        super().__init__(n_arms, **estimate)
        self.rng, self.beta = rng, beta or math.sqrt(self.d)

    def ask(self, t):
        u, x = self.utilities(), self.x
        pairs = itertools.combinations_with_replacement(range(self.K), 2)
        return best_pair({(i, j): u[i] + u[j] + self.beta * self.width(x[i] - x[j]) for i, j in pairs}, self.rng)

    def tell(self, t, slate, wins):
        self.learn(slate[0], slate[1], wins[0, 1], wins[0, 1] + wins[1, 0])
