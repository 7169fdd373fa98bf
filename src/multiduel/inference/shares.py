"""A share with an interval that holds while one looks: how often the first of two was preferred, the longer one, the same one."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from multiduel.inference.evidence import pair_intervals
from multiduel.inputs import BadInput, finite


class Share(NamedTuple):
    """A share, and its interval at all times; nan where nothing was counted."""

    value: float
    low: float
    high: float

    @property
    def is_even(self) -> bool:
        """Whether one half cannot be excluded."""
        return not (self.low > 0.5 or self.high < 0.5)


def share_interval(yes: float, no: float, level: float = 0.0, *, error: float = 0.05) -> Share:
    """Estimate a share, level ones counting half. The interval misses the truth, ever, with a chance of at most ``error``.

    Parameters
    ----------
    yes, no, level
        How often.
    error
        The chance of a miss, however often one looks.

    Returns
    -------
    Share
        The share with its interval.

    Examples
    --------
    >>> found = share_interval(60, 20)
    >>> found.value, found.low < 0.75 < found.high, found.is_even
    (0.75, True, False)
    """
    counts = [finite(name, value, of="share_interval") for name, value in (("yes", yes), ("no", no), ("level", level))]
    if min(counts) < 0.0:
        raise BadInput(f"'share_interval' takes counts of at least 0. Got {counts}.")
    total = sum(counts)
    if total == 0.0:
        return Share(math.nan, 0.0, 1.0)
    low, high = pair_intervals(
        np.array([[0.0, counts[0]], [counts[1], 0.0]]), np.array([[0.0, counts[2]], [counts[2], 0.0]]), error=error
    )
    return Share((counts[0] + 0.5 * counts[2]) / total, float(low[0, 1]), float(high[0, 1]))
