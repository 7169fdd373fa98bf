"""Sparring: two machines, advanced and fed every round."""

from tests.naive.machines import MACHINES

VARIANTS = [{}, {"alpha": 0.5}, {"coin": "half", "unobserved": 1.0}, {"machine": "kl-ucb"}, {"machine": "thompson"}]


class Naive:
    def __init__(self, n_arms, slate_size, rng, machine="ucb", coin="toss", **machine_params):
        self.rng, self.coin = rng, coin
        self.left, self.right = (MACHINES[machine](n_arms, rng, **machine_params) for _ in range(2))

    def ask(self, round):
        x, y = self.left.advance(round), self.right.advance(round)
        if x != y:
            return [x, y]
        won = 0.5 if self.coin == "half" else float(self.rng.uniform() < 0.5)
        self.learn(x, y, won, 1.0 - won)
        return [x]

    def learn(self, x, y, x_won, y_won):
        self.left.feedback(x, x_won, y_won)
        self.right.feedback(y, y_won, x_won)

    def tell(self, round, slate, wins):
        self.learn(*slate, wins[0, 1], wins[1, 0])
