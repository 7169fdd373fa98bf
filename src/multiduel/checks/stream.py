"""The policy's random stream in plain Python integers, for the oracles: the same draws as multiduel.kernels.random.

>>> rng = NaiveStream([1, 2, 3, 4])
>>> rng.below(6), rng.distinct(range(5), 2)
(0, [0, 1])
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

MASK = (1 << 64) - 1


def rotate(x: int, k: int) -> int:
    return ((x << k) | (x >> (64 - k))) & MASK


class NaiveStream:
    """Draw as policies do, by xoshiro256++ from four 64-bit words, in plain Python.

    >>> stream = NaiveStream([1, 2, 3, 4])
    >>> 0.0 <= stream.uniform() < 1.0, stream.argmax([0.1, 0.7, 0.2])
    (True, 1)
    """

    def __init__(self, words: Iterable[Any]) -> None:
        self.s = [int(word) for word in words]

    def uniform(self) -> float:
        """Draw uniformly from [0, 1)."""
        s = self.s
        result = (rotate((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return (result >> 11) / 9007199254740992.0

    def below(self, n: int) -> int:
        """Draw uniformly from 0 .. n-1.

        Parameters
        ----------
        n
            How many numbers there are.
        """
        return int(self.uniform() * n)

    def argmax(self, values: Sequence[Any]) -> int:
        """Find the index of the largest value; one draw among exact ties, none otherwise.

        Parameters
        ----------
        values
            The values to compare.
        """
        best = max(values)
        tied = [k for k, value in enumerate(values) if value == best]
        return tied[0] if len(tied) == 1 else tied[self.below(len(tied))]

    def distinct(self, pool: Iterable[Any], count: int) -> list[Any]:
        """Draw distinct members of a pool, by partial Fisher-Yates.

        Parameters
        ----------
        pool
            What to draw from.
        count
            How many to draw.
        """
        pool = list(pool)
        for a in range(count):
            j = a + self.below(len(pool) - a)
            pool[a], pool[j] = pool[j], pool[a]
        return pool[:count]

    def normal(self) -> float:
        """Draw from the standard normal law."""
        while True:
            x = 2.0 * self.uniform() - 1.0
            y = 2.0 * self.uniform() - 1.0
            r = x * x + y * y
            if 0.0 < r < 1.0:
                return x * math.sqrt(-2.0 * math.log(r) / r)

    def gamma(self, a: float) -> float:
        """Draw from Gamma(a, 1).

        Parameters
        ----------
        a
            At least 1.
        """
        d = a - 1.0 / 3.0
        c = 1.0 / math.sqrt(9.0 * d)
        while True:
            x = self.normal()
            v = 1.0 + c * x
            if v <= 0.0:
                continue
            v = v * v * v
            u = self.uniform()
            if u < 1.0 - 0.0331 * x * x * x * x or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v

    def beta(self, a: float, b: float) -> float:
        """Draw from Beta(a, b).

        Parameters
        ----------
        a, b
            At least 1.
        """
        x = self.gamma(a)
        return x / (x + self.gamma(b))

    def binomial(self, n: int, p: float) -> int:
        """Draw from Binomial(n, p).

        Parameters
        ----------
        n
            How many tries.
        p
            The chance of success.
        """
        q = min(p, 1.0 - p)
        if q <= 0.0:
            successes = 0
        elif n * q < 12.0:
            successes = self._binomial_by_gaps(n, q)
        else:
            successes = self._binomial_btrs(n, q)
        return n - successes if p > 0.5 else successes

    def _binomial_by_gaps(self, n: int, p: float) -> int:
        """Successes lie at geometric distances: count those that fit into n trials."""
        scale = 1.0 / math.log1p(-p)
        successes, position = 0, 0.0
        while True:
            position += math.floor(math.log1p(-self.uniform()) * scale) + 1.0
            if position > n:
                return successes
            successes += 1

    def _binomial_btrs(self, n: int, p: float) -> int:
        """Hormann (1993): transformed rejection with squeeze; two uniforms a try."""
        spread = math.sqrt(n * p * (1.0 - p))
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * p
        c = n * p + 0.5
        alpha = (2.83 + 5.1 / b) * spread
        odds = p / (1.0 - p)
        mode = math.floor((n + 1.0) * p)
        while True:
            u = self.uniform() - 0.5
            v = self.uniform()
            us = 0.5 - abs(u)
            k = math.floor((2.0 * a / us + b) * u + c) if us > 0.0 else -1
            if us >= 0.07 and v <= 0.92 - 4.2 / b:
                return k
            if k < 0 or k > n:
                continue
            left = math.log(v * alpha / (a / (us * us) + b))
            right = (
                (mode + 0.5) * math.log((mode + 1.0) / (odds * (n - mode + 1.0)))
                + (n + 1.0) * math.log((n - mode + 1.0) / (n - k + 1.0))
                + (k + 0.5) * math.log(odds * (n - k + 1.0) / (k + 1.0))
                + stirling_error(mode)
                + stirling_error(n - mode)
                - stirling_error(k)
                - stirling_error(n - k)
            )
            if left <= right:
                return k


def stirling_error(k: float) -> float:
    """ln k! minus Stirling's approximation of it at k + 1."""
    if k <= 9:
        exact = math.log(float(math.factorial(int(k))))
        return exact - (0.9189385332046727 + (k + 0.5) * math.log(k + 1.0) - (k + 1.0))
    x = k + 1.0
    y = x * x
    return (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / y) / y) / y) / x
