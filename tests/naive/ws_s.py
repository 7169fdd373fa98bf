"""WS-S: whole rounds of the WS-W oracle, then the winner floor(beta^r) times."""

import math

from tests.naive import ws_w

VARIANTS = [{}, {"beta": 1.5}]


class Naive(ws_w.Naive):
    def __init__(self, n_arms, slate_size, rng, beta=1.1):
        super().__init__(n_arms, slate_size, rng)
        self.beta = beta
        self.script = self.listing()

    def listing(self):
        r = 1
        while True:
            while sorted(self.C)[: self.K - 1] != [-r] * (self.K - 1):
                yield ws_w.Naive.ask(self, None)
            Z = max(range(self.K), key=lambda i: self.C[i])
            for _ in range(math.floor(self.beta**r)):
                yield [Z]
            r += 1

    def ask(self, round):
        return next(self.script)
