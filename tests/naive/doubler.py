"""Doubler, epoch by epoch, with the multiset L as a list."""

from tests.naive.machines import MACHINES

VARIANTS = [{}, {"alpha": 0.5}, {"coin": "half", "unobserved": 1.0}, {"machine": "kl-ucb"}, {"machine": "thompson"}]


class Naive:
    def __init__(self, n_arms, slate_size, rng, machine="ucb", coin="toss", **machine_params):
        self.rng, self.coin = rng, coin
        self.L = [rng.below(n_arms)]
        self.S = MACHINES[machine](n_arms, rng, **machine_params)
        self.i = 0
        self.left_to_play = 0
        self.played = None

    def ask(self, round):
        if self.left_to_play == 0:
            self.i += 1
            self.left_to_play = 2**self.i
            if self.played is not None:
                self.L = sorted(self.played)
            self.played = []
            self.S.reset()
        self.left_to_play -= 1
        x = self.L[self.rng.below(len(self.L))]
        y = self.S.advance(round)
        self.played.append(y)
        if x != y:
            return [x, y]
        won = 0.5 if self.coin == "half" else float(self.rng.uniform() < 0.5)
        self.S.feedback(y, won, 1.0 - won)
        return [x]

    def tell(self, round, slate, wins):
        self.S.feedback(slate[1], wins[1, 0], wins[0, 1])
