"""Uniform play: m distinct arms at random, every round."""

VARIANTS = [{}]


class Naive:
    def __init__(self, n_arms, slate_size, rng):
        self.K, self.m, self.rng = n_arms, min(slate_size, n_arms), rng

    def ask(self, round):
        return self.rng.distinct(range(self.K), self.m)

    def tell(self, round, slate, wins):
        pass
