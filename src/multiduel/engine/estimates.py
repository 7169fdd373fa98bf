"""A log as a problem: who beat whom, with intervals, for the lab and for theory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from multiduel.inference import Tally, pair_intervals
from multiduel.inputs import BadInput
from multiduel.problems import EstimatedProblem


def estimate(
    tally: Tally, *, alpha: float = 0.05, names: Sequence[str] | None = None, label: str | None = None
) -> EstimatedProblem:
    """P[i, j] as the share of answers that placed i above j, ties half, with an interval each.

    All intervals hold together, at all times, but for a chance of ``alpha``, whatever was shown
    (``inference.pair_intervals``). A pair that no answer judged has 1/2, and the interval from 0 to 1.

    >>> problem = estimate(Tally.of([[0, 60, 0], [20, 0, 0], [0, 0, 0]]))
    >>> float(problem.matrix[0, 1]), problem.matrix[0, 2], bool(problem.low[0, 1] > 0.5), problem.high[0, 2]
    (0.75, np.float64(0.5), True, np.float64(1.0))
    """
    if not 0.0 < alpha < 1.0:
        raise BadInput(f"'alpha' of 'estimate' must lie between 0 and 1. Got {alpha}.")
    above, ties, K = tally.above, tally.ties, tally.n_arms
    judgements = above + above.T + ties
    P = np.divide(above + 0.5 * ties, judgements, out=np.full((K, K), 0.5), where=judgements > 0)
    low, high = pair_intervals(above, ties, error=alpha / max(1, K * (K - 1) // 2))
    return EstimatedProblem(
        P,
        tuple(names or ()),
        label or f"{tally.answers} answers, K = {K}",
        low=np.minimum(low, P),
        high=np.maximum(high, P),
        judgements=judgements,
    )
