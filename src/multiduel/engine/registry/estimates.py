"""A log as a problem: who beat whom, with intervals, for the lab and for theory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from multiduel.inference import Tally, Votes, pair_intervals
from multiduel.inference.verdict import LEAST_ERROR
from multiduel.inputs import BadInput, names_of, share, shortened, text
from multiduel.problems import EstimatedProblem


def estimate(
    tally: Tally | Votes, *, alpha: float = 0.05, names: Sequence[str] | None = None, label: str | None = None
) -> EstimatedProblem:
    """Estimate who beats whom, and how often, from the counts of answers.

    P[i, j] is the share of answers that placed i above j, ties half, with an interval each. All intervals hold together, at all
    times, but for a chance of ``alpha``, whatever was shown (``inference.pair_intervals``). A pair that no answer judged has
    1/2, and the interval from 0 to 1.

    Parameters
    ----------
    tally
        The counts, or votes, whose options' names the problem keeps.
    alpha
        The chance that some interval ever misses.
    names, label
        Names of the arms and of the problem. If not given, the label says how many answers there were.

    Returns
    -------
    EstimatedProblem
        A problem for theory, ``simulate`` and the lab, with ``low`` and ``high``.

    Examples
    --------
    >>> problem = estimate(Tally.of([[0, 60, 0], [20, 0, 0], [0, 0, 0]]))
    >>> float(problem.matrix[0, 1]), problem.matrix[0, 2], bool(problem.low[0, 1] > 0.5), problem.high[0, 2]
    (0.75, np.float64(0.5), True, np.float64(1.0))
    """
    if isinstance(tally, Votes):
        answers = tally.answers if tally.counts is None else round(float(tally.counts.sum()))
        names = tally.options if names is None else names
        tally = Tally.of(*tally.tables, answers=answers)
    if not isinstance(tally, Tally):
        raise BadInput(f"'estimate' needs a Tally ('Tally.of' makes one of counts) or Votes. Got {shortened(tally)}.")
    share("alpha", alpha, of="estimate")
    labels = () if names is None else names_of(names, tally.n_arms, of="estimate")
    above, ties, K = tally.above, tally.ties, tally.n_arms
    judgements = above + above.T + ties
    P = np.divide(above + 0.5 * ties, judgements, out=np.full((K, K), 0.5), where=judgements > 0)
    low, high = pair_intervals(above, ties, error=max(LEAST_ERROR, alpha / max(1, K * (K - 1) // 2)))
    return EstimatedProblem(
        P,
        labels,
        f"{tally.answers:,} answers, K = {K}" if label is None else text("label", label),
        low=np.minimum(low, P),
        high=np.maximum(high, P),
        judgements=judgements,
    )
