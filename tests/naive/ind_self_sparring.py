"""IndSelfSparring from specs/selfsparring.md: K m plain Beta draws a round."""

import numpy as np


class Naive:
    def __init__(self, n_arms, slate_size, rng, eta=1.0, pairs="arms", self_duels="none", draws="direct"):
        assert draws == "direct"
        self.K, self.m, self.rng, self.eta, self.pairs, self.self_duels = n_arms, slate_size, rng, eta, pairs, self_duels
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
        opponents = list(slate) if self.pairs == "arms" else self.seats
        place = {arm: a for a, arm in enumerate(slate)}
        for q in opponents:
            for r in opponents:
                if q != r:
                    self.S[q] += self.eta * wins[place[q], place[r]]
                    self.F[q] += self.eta * wins[place[r], place[q]]
