"""Draws that time alone forces: by round t every pair must have been drawn so often, whatever came of it."""

from __future__ import annotations

import math
from typing import Any

from multiduel.kernels.compiler.dispatch import generic, kernel


@generic
def draws_due(params: Any, round: int) -> float:
    """How often every pair must have been drawn by this round, at least. It never falls."""


@kernel
def rounds_before_due(params: Any, drawn: int, round: int, limit: int) -> int:
    """How many rounds, this one included, may pass before more than ``drawn`` draws are due, and at most ``limit``."""
    early = 1
    late = limit
    while early < late:  # by bisection: the largest r with draws_due(round + r - 1) <= drawn, and 1 in any case
        middle = early + (late - early + 1) // 2
        if draws_due(params, round + middle - 1) > drawn:
            late = middle - 1
        else:
            early = middle
    return early


@kernel
def lnln(t: float) -> float:
    """ln ln t, at t = 3 for smaller t, so that it is positive."""
    return math.log(math.log(max(t, 3.0)))
