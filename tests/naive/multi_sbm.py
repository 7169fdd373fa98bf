"""MultiSBM: K machines and a walk."""

from tests.naive.machines import MACHINES

VARIANTS = [
    {},
    {"coin": "half"},
    {"alpha": 0.5, "timer": "round"},
    {"alpha": 0.0, "timer": "pulls"},
    {"alpha": -1.0, "unobserved": 1.0},
    {"machine": "kl-ucb"},
    {"machine": "kl-ucb", "c": 3.0},
    {"machine": "thompson"},
    {"machine": "thompson", "prior": 2.5},
]


class Naive:
    teaches_both = False

    def __init__(self, n_arms, slate_size, rng, machine="ucb", coin="toss", **machine_params):
        self.rng, self.coin = rng, coin
        self.S = [MACHINES[machine](n_arms, rng, **machine_params) for _ in range(n_arms)]
        self.y = rng.below(n_arms)

    def ask(self, round):
        x = self.y
        self.y = y = self.S[x].advance(round)
        if x != y:
            return [x, y]
        b = 0.5 if self.coin == "half" else float(self.rng.uniform() < 0.5)
        self.S[x].feedback(y, b, 1.0 - b)
        return [x]

    def tell(self, round, slate, wins):
        x, y = slate
        self.S[x].feedback(y, wins[1, 0], wins[0, 1])
        if self.teaches_both:
            self.S[y].additional_feedback(x, wins[0, 1], wins[1, 0])
