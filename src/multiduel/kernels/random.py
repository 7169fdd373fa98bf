"""Randomness for kernels: xoshiro256++ on a ``uint64[4]`` array, the same numbers compiled and interpreted.

A NumPy Generator would cost 6 ns a draw and 11 us a call to pass in; this costs 1 ns and 0.1 us, and its state is four
integers in a snapshot. Streams are seeded by NumPy's ``SeedSequence``.

A policy's stream runs on from draw to draw. The world's randomness is a function of (key, round, pair), so that what
happens in round t does not depend on how many rounds before it were played as one event.
"""

from __future__ import annotations

import math

import numpy as np

from multiduel.arrays import Stream
from multiduel.kernels.compiler.dispatch import kernel, wrapping
from multiduel.kernels.compiler.helpers import helper

_11, _17, _19, _23, _27, _30, _31, _41, _45 = (np.uint64(k) for k in (11, 17, 19, 23, 27, 30, 31, 41, 45))
_GOLDEN, _ODD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_UNIT = 1.0 / 9007199254740992.0  # 2^-53


def stream(seed: np.random.SeedSequence) -> Stream:
    """A fresh stream."""
    return seed.generate_state(4, np.uint64).astype(np.uint64)


@wrapping
def bits(rng: Stream) -> np.uint64:
    """64 random bits (Blackman & Vigna 2021, xoshiro256++)."""
    x = rng[0] + rng[3]
    result = ((x << _23) | (x >> _41)) + rng[0]
    t = rng[1] << _17
    rng[2] ^= rng[0]
    rng[3] ^= rng[1]
    rng[1] ^= rng[2]
    rng[0] ^= rng[3]
    rng[2] ^= t
    rng[3] = (rng[3] << _45) | (rng[3] >> _19)
    return result


@wrapping
def mix(z: np.uint64) -> np.uint64:
    """Scramble 64 bits (splitmix64's finaliser)."""
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@wrapping
def place(key: np.uint64, round: int) -> np.uint64:
    """Where the randomness of a round begins: ``chance`` scrambles it."""
    return key + np.uint64(round) * _ODD


@wrapping
def chance(start: np.uint64, number: int) -> float:
    """The number-th uniform on [0, 1) after ``start``, without a state (splitmix64)."""
    return float(mix(start + np.uint64(number + 1) * _GOLDEN) >> _11) * _UNIT


@kernel
def pair_number(i: int, j: int) -> int:
    """A number of its own for each pair of arms below 2^16, in either order."""
    return ((i + j) << 32) + i * j


@kernel
def chance_of_pair(start: np.uint64, i: int, j: int) -> float:
    """The uniform on [0, 1) after ``start`` that belongs to two arms, in either order."""
    return chance(start, pair_number(i, j))


@wrapping
def reseed(start: np.uint64, number: int, rng: Stream) -> None:
    """A whole stream in place of the number-th uniform after ``start``."""
    z = mix(start ^ (np.uint64(number + 1) * _ODD))
    for k in range(4):
        z += _GOLDEN
        rng[k] = mix(z)


@helper
def uniform(rng: Stream) -> float:
    """Draw uniformly from [0, 1), 53 bits.

    Parameters
    ----------
    rng
        The policy's stream, which every draw advances.

    Examples
    --------
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> 0.0 <= uniform(rng) < 1.0
    True
    """
    return float(bits(rng) >> _11) * _UNIT


@helper
def below(n: int, rng: Stream) -> int:
    """Draw uniformly from 0 .. n-1.

    Parameters
    ----------
    n
        How many numbers there are.
    rng
        The policy's stream, which every draw advances.

    Examples
    --------
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> below(6, rng) in range(6)
    True
    """
    return int(uniform(rng) * n)


@helper
def normal(rng: Stream) -> float:
    """Draw from the standard normal law (Marsaglia's polar method, one of the pair).

    Parameters
    ----------
    rng
        The policy's stream, which every draw advances.

    Examples
    --------
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> -6.0 < normal(rng) < 6.0
    True
    """
    while True:
        x = 2.0 * uniform(rng) - 1.0
        y = 2.0 * uniform(rng) - 1.0
        r = x * x + y * y
        if 0.0 < r < 1.0:
            return x * math.sqrt(-2.0 * math.log(r) / r)


@helper
def gamma(a: float, rng: Stream) -> float:
    """Draw from Gamma(a, 1) (Marsaglia & Tsang 2000).

    Parameters
    ----------
    a
        At least 1.
    rng
        The policy's stream, which every draw advances.

    Examples
    --------
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> gamma(2.0, rng) > 0.0
    True
    """
    d = a - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(rng)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = uniform(rng)
        if u < 1.0 - 0.0331 * x * x * x * x or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@helper
def beta(a: float, b: float, rng: Stream) -> float:
    """Draw from Beta(a, b).

    Parameters
    ----------
    a, b
        At least 1.
    rng
        The policy's stream, which every draw advances.

    Examples
    --------
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> 0.0 < beta(2.0, 3.0, rng) < 1.0
    True
    """
    x = gamma(a, rng)
    return x / (x + gamma(b, rng))


@helper
def binomial(n: int, p: float, rng: Stream) -> int:
    """Draw from Binomial(n, p): geometric gaps when few successes are expected, else Hormann's BTRS (1993).

    Exact to rounding for n up to 10^13; beyond, rounding coarsens the acceptance test and so, slightly, the shape (the mean and
    spread stay right).

    Parameters
    ----------
    n
        How many tries.
    p
        The chance of success.
    rng
        The policy's stream, which every draw advances.

    Examples
    --------
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> binomial(10, 0.3, rng) in range(11)
    True
    """
    q = min(p, 1.0 - p)
    if q <= 0.0:
        k = 0
    elif n * q < 12.0:
        k = _binomial_by_gaps(n, q, rng)
    else:
        k = _binomial_btrs(n, q, rng)
    return n - k if p > 0.5 else k


@kernel
def _binomial_by_gaps(n: int, p: float, rng: Stream) -> int:
    successes = -1
    position = 0.0
    scale = 1.0 / math.log1p(-p)
    while position <= n:
        position += math.floor(math.log1p(-uniform(rng)) * scale) + 1.0
        successes += 1
    return successes


@kernel
def _binomial_btrs(n: int, p: float, rng: Stream) -> int:
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    alpha = (2.83 + 5.1 / b) * spread
    v_r = 0.92 - 4.2 / b
    odds = p / (1.0 - p)
    mode = float(math.floor((n + 1.0) * p))
    while True:
        u = uniform(rng) - 0.5
        v = uniform(rng)
        us = 0.5 - abs(u)
        k = float(math.floor((2.0 * a / us + b) * u + c)) if us > 0.0 else -1.0
        if us >= 0.07 and v <= v_r:
            return int(k)
        if k < 0.0 or k > n:
            continue
        v = math.log(v * alpha / (a / (us * us) + b))
        bound = (
            (mode + 0.5) * math.log((mode + 1.0) / (odds * (n - mode + 1.0)))
            + (n + 1.0) * math.log((n - mode + 1.0) / (n - k + 1.0))
            + (k + 0.5) * math.log(odds * (n - k + 1.0) / (k + 1.0))
            + _stirling(mode)
            + _stirling(n - mode)
            - _stirling(k)
            - _stirling(n - k)
        )
        if v <= bound:
            return int(k)


@kernel
def _stirling(k: float) -> float:
    """ln k! minus Stirling's approximation of it at k + 1: exact product up to 9, series beyond."""
    if k <= 9.0:
        factorial = 1.0
        for i in range(2, int(k) + 1):
            factorial *= i
        return math.log(factorial) - (0.9189385332046727 + (k + 0.5) * math.log(k + 1.0) - (k + 1.0))
    x = k + 1.0
    y = x * x
    return (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / y) / y) / y) / x
