"""Adding outcomes to the tables that policies keep of pairs: ``W[i, j]`` wins of i over j, and what follows from them."""

from __future__ import annotations

import math

from multiduel.arrays import Floats, Ints
from multiduel.kernels.compiler.dispatch import kernel


@kernel
def count_wins(W: Floats, slate: Ints, wins: Floats) -> None:
    """Add the outcomes of all pairs of a slate.

    >>> import numpy as np
    >>> W = np.zeros((3, 3))
    >>> count_wins(W, np.array([2, 0]), np.array([[0.0, 1.0], [0.0, 0.0]]))
    >>> float(W[2, 0])
    1.0
    """
    for a in range(slate.shape[0]):
        for b in range(slate.shape[0]):
            if a != b:
                W[slate[a], slate[b]] += wins[a, b]


@kernel
def count_duel(
    W: Floats, lead: Floats, mean: Floats, root: Floats, alpha: float, i: int, j: int, i_won: float, j_won: float
) -> bool:
    """Add the outcomes of a pair, and keep what its confidence bounds are made of. False if the pair has never met.

    With d = W_ij - W_ji and N = W_ij + W_ji: ``lead[i, j]`` is d |d| / (4 alpha N), whose size is the ln t at which the upper
    bound of the arm behind reaches 1/2; ``mean[i, j]`` is W_ji / N, ``root[i, j]`` is 1 / sqrt(N): row i bounds i's rivals.

    >>> import numpy as np
    >>> W, lead, mean, root = np.zeros((4, 2, 2))
    >>> count_duel(W, lead, mean, root, 0.5, 0, 1, 4.0, 0.0)
    True
    >>> float(lead[0, 1]), float(mean[1, 0]), float(root[0, 1])
    (2.0, 1.0, 0.5)
    """
    W[i, j] += i_won
    W[j, i] += j_won
    N = W[i, j] + W[j, i]
    if N == 0.0:
        return False
    d = W[i, j] - W[j, i]
    lead[i, j] = 0.25 / alpha * d * abs(d) / N
    lead[j, i] = -lead[i, j]
    mean[i, j] = W[j, i] / N
    mean[j, i] = W[i, j] / N
    root[i, j] = root[j, i] = 1.0 / math.sqrt(N)
    return True
