"""DoublerBAI, epoch by epoch."""

import math

from tests.naive.machines import MACHINES

VARIANTS = [
    {},
    {"radius": "t2", "epsilon": 0.1},
    {"radius": "delta", "keep_last": True},
    {"radius": "delta", "reset": False},
    {"radius": "t2", "reset": False, "keep_last": True},
    {"radius": "delta", "test": "sample"},
    {"a": 3.0, "b": 1.5, "radius": "t2"},
    {"a": 1.5, "b": 1.2, "radius": "delta"},
    {"machine": "kl-lucb"},
    {"machine": "kl-lucb", "radius": "delta", "test": "sample", "keep_last": True},
]


class Naive:
    def __init__(self, n_arms, slate_size, rng, machine="lucb", a=10.0, b=1.1, keep_last=False, reset=True, **machine_params):
        self.K, self.rng, self.a, self.b, self.keep_last, self.reset = n_arms, rng, a, b, keep_last, reset
        self.S = MACHINES[machine](n_arms, rng, **machine_params)
        self.i = -1
        self.played = 0  # j
        self.xhat = None
        self.last = None
        self.identified = 0

    def end(self, i):
        return math.floor(self.a ** (self.b**i)) if i >= 0 else 0

    def length(self, i):
        return self.end(i) - self.end(i - 1)

    def begin_epoch(self):
        self.i += 1
        while self.length(self.i) == 0:
            self.i += 1
        known = self.last if self.keep_last else self.xhat
        self.xbar = known if known is not None else self.rng.below(self.K)
        self.xhat = None
        self.played = 0
        following = self.length(self.i + 1)
        delta = 1.0 / following if following > 1 else 0.5
        if self.reset or self.i == 0:
            self.S.reset(delta)
        else:
            self.S.renew(delta)

    def note_stop(self):
        if self.xhat is None and self.S.found is not None:
            self.xhat = self.last = self.S.found
            self.identified += 1

    def ask(self, round):
        if self.i < 0 or self.played == self.length(self.i):
            self.begin_epoch()
            self.note_stop()
        self.played += 1
        if self.xhat is not None:
            return [self.xbar] if self.xhat == self.xbar else [self.xbar, self.xhat]
        y = self.S.advance(round)
        if y != self.xbar:
            return [self.xbar, y]
        won = 1.0 if self.rng.uniform() < 0.5 else 0.0
        self.S.feedback(y, won, 1.0 - won)
        self.note_stop()
        return [self.xbar]

    def tell(self, round, slate, wins):
        if self.xhat is None:
            self.S.feedback(slate[1], wins[1, 0], wins[0, 1])
            self.note_stop()
