"""The best of all pairs of arms, by a table of scores."""

from __future__ import annotations

import math

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.linear_utilities import TIE
from multiduel.kernels.random import below, uniform

UNFIT = -math.inf  # the score of a pair that must not be chosen


@kernel
def seat_best_pair(scores: Floats, rng: Stream, slate: Ints) -> int:
    """Seat the pair (i, j), j <= i, of the largest score: two arms, or one if i = j. Returns how many.

    Scores that are equal but for rounding are ties: one draw, only if tied. One more draw decides which of two arms is left.
    """
    K = scores.shape[0]
    most = UNFIT
    size = 0.0
    for i in range(K):
        for j in range(i + 1):
            if scores[i, j] > UNFIT:
                most = max(most, scores[i, j])
                size = max(size, abs(scores[i, j]))
    least = most - TIE * size
    tied = 0
    for i in range(K):
        for j in range(i + 1):
            tied += 1 if scores[i, j] >= least else 0
    skip = below(tied, rng) if tied > 1 else 0
    slate[0] = 0
    slate[1 if K > 1 else 0] = 0
    for i in range(K):
        for j in range(i + 1):
            if scores[i, j] >= least:
                if skip == 0:
                    slate[0] = i
                    if i == j:
                        return 1
                    slate[1] = j
                    if uniform(rng) < 0.5:
                        slate[0] = j
                        slate[1] = i
                    return 2
                skip -= 1
    return 1  # no score is a number: any arm will do
