"""IF2: sweeps and tests as listed."""

import math

VARIANTS = [{}, {"constant": 1.0}, {"constant": 0.1}]


class Naive:
    prune = True

    def __init__(self, n_arms, slate_size, rng, horizon, constant=4.0):
        self.rng, self.constant = rng, constant
        self.delta = 1.0 / (horizon * n_arms**2)
        self.b, *self.W = rng.distinct(range(n_arms), n_arms)
        self.history = [self.b]
        self.begin()

    def begin(self):
        self.won = {x: 0.0 for x in self.W}
        self.n = {x: 0.0 for x in self.W}
        self.queue = list(self.W)

    def phat(self, x):
        return self.won[x] / self.n[x]

    def radius(self, x):
        return math.sqrt(self.constant * math.log(1.0 / self.delta) / self.n[x])

    def ask(self, round):
        if not self.W:
            return [self.b]
        if not self.queue:
            self.test()
        return [self.b, self.queue.pop(0)] if self.W else [self.b]

    def test(self):
        self.W = [x for x in self.W if not self.phat(x) - self.radius(x) > 0.5]
        better = [x for x in self.W if self.phat(x) + self.radius(x) < 0.5]
        if better:
            new = better[self.rng.argmax([-self.phat(x) for x in better])]
            if self.prune:
                self.W = [x for x in self.W if not self.phat(x) > 0.5]
            self.b = new
            self.W.remove(new)
            self.history.append(new)
            self.begin()
        self.queue = list(self.W)

    def tell(self, round, slate, wins):
        b, x = slate
        assert b == self.b
        self.won[x] += wins[0, 1]
        self.n[x] += wins[0, 1] + wins[1, 0]
