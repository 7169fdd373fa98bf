"""KNOCKOUT on lists, as a generator: it yields pairs and receives who won."""

import math


def compare(a, b, epsilon, delta, rng):
    r, w, p, c = 0, 0.0, 0.5, 0.5
    limit = math.log(2 / delta) / (2 * epsilon**2)
    while abs(p - 0.5) <= c - epsilon and r <= limit:
        w += yield [a, b]
        r += 1
        p = w / r
        c = math.sqrt(math.log(4 * r**2 / delta) / (2 * r))
    if p == 0.5:
        return a if rng.uniform() < 0.5 else b
    return a if p > 0.5 else b


def knockout(S, epsilon, delta, gamma, rng):
    i = 1
    S = rng.distinct(S, len(S))
    while len(S) > 1:
        winners = []
        for k in range(0, len(S) - 1, 2):
            eps_i = (2 ** (1 / 3) - 1) * epsilon / (gamma * 2 ** (i / 3))
            winners.append((yield from compare(S[k], S[k + 1], eps_i, delta / 2**i, rng)))
        if len(S) % 2:
            winners.append(S[-1])
        S = rng.distinct(winners, len(winners))
        i += 1
    return S[0]


class Player:
    """Plays a generator's pairs until it returns an arm, and that arm for good."""

    def play(self, generator):
        self.generator, self.pair, self.heard = generator, None, None

    def ask(self, round):
        if self.pair is None or self.heard is not None:
            try:
                self.pair = self.generator.send(self.heard)
            except StopIteration as stop:
                self.pair = [stop.value]
            self.heard = None
        return self.pair

    def tell(self, round, slate, wins):
        self.heard = wins[0, 1]


class Naive(Player):
    def __init__(self, n_arms, slate_size, rng, epsilon=0.05, delta=0.01, gamma=1.0):
        self.play(knockout(list(range(n_arms)), epsilon, delta, gamma, rng))
