"""The PAC version of Beat the Mean: other constants, and a number of comparisons that is enough."""

import math

from tests.naive import btm

VARIANTS = [
    {},
    {"epsilon": 0.5},
    {"epsilon": 0.5, "constant": 0.3},
    {"epsilon": 0.5, "constant": 0.2, "self_duels": False, "gamma": 1.1},
]


class Naive(btm.Naive):
    def __init__(self, n_arms, slate_size, rng, epsilon=0.1, delta=0.05, gamma=1.0, constant=3.0, self_duels=True):
        super().__init__(n_arms, slate_size, rng, None, gamma, constant, self_duels)
        self.enough = 1
        while self.enough < 36.0 * gamma**6 * math.log(n_arms**3 * self.enough / delta) / epsilon**2:
            self.enough += 1
        self.error = delta / (n_arms**3 * self.enough)
