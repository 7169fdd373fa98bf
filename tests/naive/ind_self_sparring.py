"""IndSelfSparring from specs/selfsparring.md: K m plain Beta draws a round."""

import numpy as np


class Naive:
    def __init__(self, n_arms, slate_size, rng, eta=1.0, self_duels="none", draws="direct"):
        assert draws == "direct"
        self.K, self.m, self.rng, self.eta, self.self_duels = n_arms, slate_size, rng, eta, self_duels
        self.S, self.F = np.zeros(n_arms), np.zeros(n_arms)

    def ask(self, round):
        self.seats = []
        for _ in range(self.m):
            theta = [self.rng.beta(self.S[i] + 1.0, self.F[i] + 1.0) for i in range(self.K)]
            self.seats.append(int(np.argmax(theta)))
        if self.self_duels == "both":
            for q in range(self.m):
                for r in range(q):
                    if self.seats[q] == self.seats[r]:
                        self.S[self.seats[q]] += self.eta
                        self.F[self.seats[q]] += self.eta
        return list(dict.fromkeys(self.seats))

    def tell(self, round, slate, wins):
        for a, arm in enumerate(slate):
            for b in range(len(slate)):
                if a != b:
                    self.S[arm] += self.eta * wins[a, b]
                    self.F[arm] += self.eta * wins[b, a]
