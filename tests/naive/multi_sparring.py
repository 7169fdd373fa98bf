"""MultiSparring from specs/multisparring.md: one machine per seat, rewards seat by seat."""

import math

from tests.naive.machines import MACHINES

VARIANTS = [
    {},
    {"duplicates": "coin"},
    {"duplicates": "skip", "alpha": 0.5},
    {"credit": "pairs", "duplicates": "half"},
]


class Naive:
    def __init__(self, n_arms, slate_size, rng, machine="ucb", credit="fraction", duplicates="auto", **machine_params):
        self.m, self.rng, self.credit = slate_size, rng, credit
        self.duplicates = ("coin" if slate_size == 2 else "half") if duplicates == "auto" else duplicates
        self.S = [MACHINES[machine](n_arms, rng, **machine_params) for _ in range(slate_size)]

    def ask(self, round):
        self.a = [machine.advance(round) for machine in self.S]
        if len(set(self.a)) == 1:
            self.reward(lambda x, y: (0.0, 0.0))
        return list(dict.fromkeys(self.a))

    def reward(self, outcome):
        outcomes = [[] for _ in self.S]  # (won, lost) of each seat
        for q in range(self.m):
            for r in range(q + 1, self.m):
                if self.a[q] != self.a[r]:
                    won, lost = outcome(self.a[q], self.a[r])
                elif self.duplicates == "skip":
                    continue
                elif self.duplicates == "half":
                    won, lost = 0.5, 0.5
                else:
                    won = float(self.rng.uniform() < 0.5)
                    lost = 1.0 - won
                outcomes[q].append((won, lost))
                outcomes[r].append((lost, won))
        for q in range(self.m):
            if not outcomes[q]:
                continue
            if self.credit == "pairs":
                for won, lost in outcomes[q]:
                    self.S[q].feedback(self.a[q], won, lost)
            else:
                mean = sum(won for won, _ in outcomes[q]) / len(outcomes[q])
                mean = math.floor(mean * 2**26 + 0.5) / 2**26  # so that arms of equal record tie
                self.S[q].feedback(self.a[q], mean, 1.0 - mean)

    def tell(self, round, slate, wins):
        place = {arm: a for a, arm in enumerate(slate)}
        self.reward(lambda x, y: (wins[place[x], place[y]], wins[place[y], place[x]]))
