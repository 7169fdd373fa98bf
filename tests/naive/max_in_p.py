"""MaxInP from specs/contextual.md, section 2."""

import itertools
import math

from tests.naive.linear import Duels, best_pair

VARIANTS = [{}, {"eta": 0.3}]


class Naive(Duels):
    def __init__(self, n_arms, slate_size, rng, eta=0.0, **estimate):
        super().__init__(n_arms, **estimate)
        self.rng, self.eta = rng, eta

    def ask(self, t):
        eta = self.eta or math.sqrt(self.d * math.log(1 + t))
        u, x = self.utilities(), self.x
        apart = {(i, j): self.width(x[i] - x[j]) for i, j in itertools.product(range(self.K), repeat=2)}
        C = [i for i in range(self.K) if all(u[i] - u[j] + eta * apart[i, j] >= 0.0 for j in range(self.K))]
        if len(C) == 1:
            return C
        return best_pair({pair: apart[pair] for pair in itertools.combinations(C, 2)}, self.rng)

    def tell(self, t, slate, wins):
        self.learn(slate[0], slate[1], wins[0, 1], wins[0, 1] + wins[1, 0])
