"""SCB: budgets, the solver as a generator, every interval by bisection."""

import math

import numpy as np

from tests.naive.machines import kl_upper

VARIANTS = [{}, {"rule": "fixed"}, {"carry": True}, {"carry": True, "rule": "fixed"}, {"epsilon": 3.0}]


class Naive:
    def __init__(self, n_arms, slate_size, rng, epsilon=0.0, rule="anytime", carry=False):
        self.K, self.rng, self.epsilon, self.rule, self.carry = n_arms, rng, epsilon, rule, carry
        self.W = np.zeros((n_arms, n_arms))
        self.r = 0
        self.left_to_play = 0
        self.found = []

    def ask(self, round):
        if self.left_to_play == 0:
            self.r += 1
            self.left_to_play = 2 ** (2**self.r)
            self.delta = math.log(self.left_to_play) / self.left_to_play
            if not self.carry:
                self.W[:] = 0.0
            self.wins_over = {}
            self.winner = None
            self.order = self.rng.distinct(range(self.K), self.K)
            self.solver = self.solve()
        self.left_to_play -= 1
        if self.winner is None:
            pair = next(self.solver, None)
            if pair is not None:
                return list(pair)
            self.found.append(self.winner)
        return [self.winner]

    def is_decided(self, i, j):
        """The pair's outcome is remembered once it is known."""
        n = self.W[i, j] + self.W[j, i]
        if (i, j) not in self.wins_over and n > 0:
            inside = (n**2 if self.rule == "anytime" else 1.0) * 4.0 * self.K**2 / self.delta
            phat = self.W[i, j] / n
            if abs(phat - 0.5) > math.sqrt(math.log(inside) / (2.0 * n)):
                self.wins_over[i, j], self.wins_over[j, i] = phat > 0.5, phat < 0.5
        return (i, j) in self.wins_over

    def solve(self):
        K, rng = self.K, self.rng
        active = list(self.order)
        total = [0.0] * K
        s = 2
        while K > 1:
            for i in active:
                j = [k for k in range(K) if k != i][rng.below(K - 1)]
                while not self.is_decided(i, j):
                    yield i, j
                total[i] += 1.0 if self.wins_over[i, j] else 0.0
            level = (math.log(4.0 * s * K / self.delta) + 2.0 * math.log(math.log(s))) / s
            upper = {i: kl_upper(total[i] / s, level) for i in active}
            lower = {i: 1.0 - kl_upper(1.0 - total[i] / s, level) for i in active}
            best = max(lower.values())
            active = [i for i in active if not upper[i] < best]
            ascending = sorted(active)
            s += 1
            widest = max(upper[i] for i in active)
            if len(active) == 1 or (widest < 1.0 and (1.0 - best) / (1.0 - widest) <= 1.0 + self.epsilon):
                self.winner = ascending[rng.argmax([lower[i] for i in ascending])]
                return
            if all((i, j) in self.wins_over for i in active for j in range(K) if j != i):
                score = [sum(self.wins_over[i, j] for j in range(K) if j != i) for i in ascending]
                self.winner = ascending[rng.argmax(score)]
                return
        self.winner = 0

    def tell(self, round, slate, wins):
        i, j = slate
        self.W[i, j] += wins[0, 1]
        self.W[j, i] += wins[1, 0]
        self.is_decided(i, j)
