"""SEEBS on lists, as a generator: it yields pairs and receives who won."""

import math

from tests.naive.knockout import Player


def distribute(i, v, e, shift, d):
    t_max = math.ceil(2 / e**2 * math.log(4 / d))
    w = 0.0
    for t in range(1, t_max + 1):
        w += yield [i, v]
        b = math.sqrt(0.5 / t * math.log(math.pi**2 * t**2 / (3 * d)))
        if w / t - b > 0.5:
            return "up"
        if w / t + b < 0.5 - shift:
            return "down"
    if w / t_max > 0.5 + e / 2:
        return "up"
    return "down" if w / t_max < 0.5 - e / 2 - shift else "middle"


def tournament(S, e, d, rng):
    """S comes shuffled."""
    q = 1
    while len(S) > 1:
        winners = []
        for k in range(0, len(S) - 1, 2):
            e_q, d_q = 0.25 * 0.8**q * e, 6 * d / (math.pi**2 * q**2)
            which = rng.below(2)
            v, i = S[k + which], S[k + 1 - which]
            verdict = yield from distribute(i, v, e_q / 2, 0.0, d_q / 2)
            if verdict == "middle":
                verdict = "up" if rng.uniform() < 0.5 else "down"
            winners.append(i if verdict == "up" else v)
        if len(S) % 2:
            winners.append(S[-1])
        S = rng.distinct(winners, len(winners))
        q += 1
    return S[0]


def seebs(R, epsilon, delta, rng):
    s = 1
    while len(R) > 1:
        alpha, delta_s = 2.0**-s, 6 * delta / (math.pi**2 * s**2)
        R = rng.distinct(R, len(R))
        v = yield from tournament(R, alpha / 3, 2 * delta_s / 3, rng)
        if alpha / 3 <= epsilon:
            return v
        kept = []
        for i in R:
            if i == v or (yield from distribute(i, v, alpha / 3, alpha / 3, delta_s / 3)) != "down":
                kept.append(i)
        R = kept
        s += 1
    return R[0]


class Naive(Player):
    def __init__(self, n_arms, slate_size, rng, epsilon=0.0, delta=0.01):
        self.play(seebs(list(range(n_arms)), epsilon, delta, rng))
