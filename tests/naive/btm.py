"""Beat the Mean from its table of comparisons: sums over the active opponents, taken anew every time."""

import math

import numpy as np

VARIANTS = [
    {},
    {"gamma": 1.2},
    {"constant": 0.3},
    {"constant": 0.2, "self_duels": False},
    {"gamma": 1.1, "constant": 0.2},
]


class Naive:
    enough = math.inf

    def __init__(self, n_arms, slate_size, rng, horizon=None, gamma=1.0, constant=0.0, self_duels=True):
        self.K, self.rng, self.self_duels = n_arms, rng, self_duels
        self.factor = (constant or (3.0 if gamma > 1.0 else 1.0)) * gamma**2
        self.error = 1.0 / (2.0 * horizon * n_arms) if horizon else None
        self.A = list(range(n_arms))
        self.N, self.wins = np.zeros((2, n_arms, n_arms))  # comparisons initiated by b, against whom
        self.winner = 0 if n_arms == 1 else None
        self.dropped = []

    def n(self, b):
        return self.N[b, self.A].sum()

    def phat(self, b):
        return self.wins[b, self.A].sum() / self.n(b) if self.n(b) > 0.0 else 0.5

    def ask(self, round):
        if self.winner is not None:
            return [self.winner]
        b = self.A[self.rng.argmax([-self.n(k) for k in self.A])]
        pool = self.A if self.self_duels else [k for k in self.A if k != b]
        other = pool[self.rng.below(len(pool))]
        if other != b:
            return [b, other]
        heads = float(self.rng.uniform() < 0.5)
        self.learn(b, b, heads, 1.0 - heads)
        return [b]

    def tell(self, round, slate, wins):
        self.learn(*slate, wins[0, 1], wins[1, 0])

    def learn(self, b, other, won, lost):
        self.N[b, other] += won + lost
        self.wins[b, other] += won
        phat = [self.phat(k) for k in self.A]
        n_star = min(self.n(k) for k in self.A)
        c = self.factor * math.sqrt(math.log(1.0 / self.error) / n_star) if n_star > 0.0 else 1.0
        if min(phat) + c <= max(phat) - c:
            z = self.A[self.rng.argmax([-p for p in phat])]
            self.A.remove(z)
            self.dropped.append(z)
        if len(self.A) == 1 or min(self.n(k) for k in self.A) >= self.enough:
            self.winner = self.A[self.rng.argmax([self.phat(k) for k in self.A])]
