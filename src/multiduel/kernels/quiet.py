"""Rounds in which nothing can happen: how long until a logarithm of time reaches a level."""

from __future__ import annotations

import math

from multiduel.kernels.compiler.helpers import helper


@helper
def quiet_rounds(log_wake: float, round: int, limit: int) -> int:
    """Count the rounds, this one included, before ln t >= log_wake.

    Parameters
    ----------
    log_wake
        The logarithm of the round that ends the quiet.
    round
        This round, t.
    limit
        The most to count.

    Examples
    --------
    >>> quiet_rounds(math.log(100.0), 40, 1000)  # rounds 40 to 99
    60
    """
    if log_wake >= math.log(float(round) + float(limit)) + 1e-9:
        return limit
    wake = max(int(math.ceil(math.exp(log_wake))), round + 1)
    while wake > round + 1 and math.log(wake - 1.0) >= log_wake:  # exp and ceil may miss by one; the logarithm decides
        wake -= 1
    while math.log(float(wake)) < log_wake:
        wake += 1
    return min(wake - round, limit)


@helper
def quiet_through(log_wake: float, round: int, limit: int) -> int:
    """Count the rounds up to and including the first with ln t >= log_wake, for a test made after each round.

    Parameters
    ----------
    log_wake, round, limit
        As for ``quiet_rounds``.

    Examples
    --------
    >>> quiet_through(math.log(100.0), 40, 1000)  # rounds 40 to 100
    61
    """
    if math.log(float(round)) >= log_wake:
        return 1
    return min(quiet_rounds(log_wake, round, limit) + 1, limit)
