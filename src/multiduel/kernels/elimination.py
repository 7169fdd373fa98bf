"""When a pair of arms is decided: what the algorithms that explore, eliminate and commit share.

A pair that met n times, i winning w of them, is decided once |w / n - 1/2| > sqrt(level / n). With the net wins d = w
- (n - w) that is d^2 > 4 level n: no square root, no division.
"""

from __future__ import annotations

import math

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.random import below


@kernel
def verdict(net: float, n: float, level: float) -> int:
    """1 if w / n - sqrt(level / n) > 1/2, -1 if w / n + sqrt(level / n) < 1/2, else 0."""
    if net * net <= 4.0 * level * n:
        return 0
    return 1 if net > 0.0 else -1


@kernel
def duels_to_verdict(net: float, n: float, level: float) -> int:
    """How many more duels of a pair it takes at least, all won by one arm, to decide it. ``level`` may grow with n.

    The threshold sqrt(4 level n) only rises, so that no duel before |net| passes its present value can decide anything.
    """
    return max(int(math.sqrt(4.0 * level * n) - abs(net)), 0) + 1


@kernel
def pick(values: Floats, arms: Ints, size: int, sign: float, rng: Stream) -> int:
    """The arm of arms[:size] with the largest sign * value, uniform among exact ties (one draw, only if tied)."""
    best = sign * values[arms[0]]
    tied = 1
    for a in range(1, size):
        value = sign * values[arms[a]]
        tied = 1 if value > best else (tied + 1 if value == best else tied)
        best = max(best, value)
    skip = below(tied, rng) if tied > 1 else 0
    for a in range(size):
        if sign * values[arms[a]] == best:
            if skip == 0:
                return arms[a]
            skip -= 1
    return arms[0]
