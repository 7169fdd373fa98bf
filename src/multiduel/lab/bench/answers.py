"""Answers that name only the best of a slate: a world for ``simulate``."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.engine.simulation.rankings import Rankings
from multiduel.kernels.contract import compare
from multiduel.kernels.random import chance, place


class WinnerOnly(NamedTuple):
    """The first of Plackett and Luce's ranking beat every other arm of the slate; nothing is known of the others."""

    strength: Floats  # f8[K]


@compare.implement(WinnerOnly)
def name_best(world: WinnerOnly, key: np.uint64, round: int, rounds: int, slate: Ints, wins: Floats) -> None:
    n = slate.shape[0]
    for a in range(n):
        for b in range(n):
            wins[a, b] = 0.0
    for t in range(round, round + rounds):
        start = place(key, t)
        best, highest = 0, -math.inf
        for a in range(n):
            u = 1.0 - chance(start, slate[a])  # above 0, so that both logarithms are finite but for u = 1
            score = world.strength[slate[a]] - math.log(-math.log(u)) if u < 1.0 else math.inf
            if score > highest:
                best, highest = a, score
        for b in range(n):
            if b != best:
                wins[best, b] += 1.0


class Winners(Rankings):
    """A problem of strengths whose judges name the best option of a slate and nothing else.

    >>> from multiduel import bradley_terry
    >>> Winners(bradley_terry(4, seed=1)).label
    'Bradley-Terry, K = 4, scale 1, seed 1, winner only'
    """

    def __init__(self, problem: Any) -> None:
        super().__init__(problem)
        self.label = f"{problem.label}, winner only"

    def to_json(self) -> dict[str, Any]:
        """Describe the problem for result files."""
        return super().to_json() | {"label": self.label, "answers": "winner only"}

    def world(self, labels: Ints, seats: int) -> WinnerOnly:  # type: ignore[override]
        """Make the world that answers a run's slates."""
        return WinnerOnly(np.ascontiguousarray(self.strength[labels]))
