"""What the arrays of a State may hold: the words in which ``valid`` is written. Plain Python, never compiled.

Compiled code checks no index and no loop, so a State that comes from outside (a snapshot) is checked before it is used.
Every comparison is written so that NaN fails it.

>>> import numpy as np
>>> from multiduel.authoring import validity
>>> validity.arms(np.array([0, 2]), 3), validity.arms(np.array([0, 3]), 3)
(True, False)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from multiduel.arrays import Floats

MOST = 1e18  # more wins, duels or rounds than any array may hold
MOST_ROUNDS = 10**15  # far below 2^53, so that ln t and sums of rounds are exact enough
MOST_ARMS = 10_000  # a few K x K arrays of them are still held


class Scratch:
    """True, and told apart from a check that came out true: ``SCRATCH`` is what snapshots leave out."""

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "SCRATCH"


SCRATCH = Scratch()  # written before it is read, whatever it holds


def between(values: Any, low: Any, high: Any) -> bool:
    return bool(np.all((values >= low) & (values <= high)))


def counts(values: Any, most: float = MOST) -> bool:
    """Wins, duels, rounds: at least 0, and finite."""
    return between(values, 0, most)


def flags(values: Any) -> bool:
    return bool(np.all((values == 0) | (values == 1)))


def arms(values: Any, n_arms: int, *, none: bool = False) -> bool:
    """Arms or, with ``none``, -1 for none."""
    return between(values, -1 if none else 0, n_arms - 1)


def distinct(values: Any, n_arms: int) -> bool:
    """Arms, no two the same."""
    return arms(values, n_arms) and len(set(values.tolist())) == len(values)


def order(values: Any) -> bool:
    """All arms, each once."""
    return distinct(values, len(values))


def tally(W: Floats) -> bool:
    """W[i, j] wins of i over j; no arm meets itself."""
    return counts(W) and not W.diagonal().any()


def close(values: Any, expected: Any) -> bool:
    """Equal up to rounding. An infinity is equal to itself only."""
    return bool(np.all(np.isclose(values, expected, rtol=1e-9, atol=1e-9)))


def per_duel(values: Any, N: Floats, unmet: float) -> Any:
    """values / N, and ``unmet`` for pairs that never met."""
    return np.where(N > 0.0, values / np.where(N > 0.0, N, 1.0), unmet)


def deficits(W: Floats, alpha: float) -> Floats:
    """d^2 / (4 alpha N_ij) where i lost d > 0 duels more than it won to j, else 0."""
    d = np.maximum(W.T - W, 0.0)
    return np.asarray(per_duel(0.25 / alpha * d * d, W + W.T, 0.0))
