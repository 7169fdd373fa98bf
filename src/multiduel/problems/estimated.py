"""A problem that was estimated: every entry of its matrix has an interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multiduel.arrays import Floats
from multiduel.inputs import BadInput, shortened
from multiduel.problems.problem import Problem


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedProblem(Problem):
    """A ``Problem`` estimated from answers, with intervals for its entries. Theory, ``simulate`` and the lab take it.

    >>> P = np.array([[0.5, 0.7], [0.3, 0.5]])
    >>> EstimatedProblem(P, low=P - 0.1, high=P + 0.1, judgements=np.full((2, 2), 90.0)).winner
    0
    """

    low: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # f8[K, K], 0 where nothing is known
    high: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # f8[K, K], 1 where nothing is known
    judgements: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # f8[K, K]  answers behind each entry

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("low", "high", "judgements"):
            try:
                table = np.array(getattr(self, name), np.float64)
            except (TypeError, ValueError, OverflowError):
                raise BadInput(f"'{name}' must be a table of numbers. Got {shortened(getattr(self, name))}.") from None
            if table.shape != self.matrix.shape:
                raise BadInput(f"'{name}' must be of the shape of the matrix, {self.matrix.shape}. Got {table.shape}.")
            table.setflags(write=False)
            object.__setattr__(self, name, table)
        if not ((self.low <= self.matrix) & (self.matrix <= self.high)).all():
            raise BadInput("Every entry of an estimated matrix must lie in its interval.")

    def __reduce__(self) -> tuple[Any, ...]:
        plain = (self.matrix, self.names, self.label, self.utilities, self.link)
        return EstimatedProblem, (*plain, self.low, self.high, self.judgements)

    def to_json(self) -> dict[str, Any]:
        """Describe the problem for result files, as ``Problem.to_json`` with the intervals and counts."""
        return super().to_json() | {"low": self.low.tolist(), "high": self.high.tolist(), "judgements": self.judgements.tolist()}
