"""Links: from how good two arms are to how likely one beats the other.

Papers     Ailon, Karnin, Joachims. Reducing Dueling Bandits to Cardinal Bandits. ICML 2014; AAMAS 2020, Section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multiduel.arrays import Floats
from multiduel.inputs import BadInput, choice
from multiduel.problems.problem import Problem


def linear(mu_i: Floats, mu_j: Floats) -> Floats:
    """(mu_i - mu_j + 1) / 2."""
    return (mu_i - mu_j + 1) / 2


def natural(mu_i: Floats, mu_j: Floats) -> Floats:
    """mu_i / (mu_i + mu_j); two arms worth nothing are even."""
    half = mu_i / 2  # halves: the sum of two large utilities must not overflow
    total = half + mu_j / 2
    even = np.full(total.shape, 0.5)
    return np.asarray(np.divide(half, total, out=even, where=total > 0), dtype=np.float64)


def logit(mu_i: Floats, mu_j: Floats) -> Floats:
    """1 / (1 + exp(mu_j - mu_i))."""
    with np.errstate(over="ignore"):  # exp overflows to infinity, and the probability to 0, as it should
        return np.asarray(1 / (1 + np.exp(mu_j - mu_i)), dtype=np.float64)


LINKS: dict[str, Callable[[Floats, Floats], Floats]] = {"linear": linear, "natural": natural, "logit": logit}


def from_utilities(
    utilities: ArrayLike, *, link: str = "linear", names: Iterable[str] | None = None, label: str | None = None
) -> Problem:
    """Make a problem in which arm i is worth mu_i and P[i, j] = link(mu_i, mu_j).

    Parameters
    ----------
    utilities
        A number per arm.
    link
        "linear", "natural" or "logit".
    names, label
        Names of the arms and of the problem.

    Returns
    -------
    Problem
        With its ``utilities`` and ``link``.

    Raises
    ------
    BadInput
        If a utility is out of the link's range.

    Examples
    --------
    >>> from_utilities([0.8, 0.2]).matrix[0].round(2).tolist()
    [0.5, 0.8]
    """
    choice("link", link, LINKS)
    try:
        mu = np.array(utilities, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"'utilities' must be a list of numbers. {error}.") from None
    if mu.ndim != 1 or len(mu) == 0:
        raise BadInput(f"'utilities' must be a list of at least 1 number. Got shape {mu.shape}.")
    _refuse(mu, ~np.isfinite(mu), "must be a finite number")
    if link == "linear":
        _refuse(mu, (mu < 0) | (mu > 1), "of the linear link must be between 0 and 1")
    if link == "natural":
        _refuse(mu, mu < 0, "of the natural link must be at least 0")
    P = LINKS[link](mu[:, None], mu[None, :])
    return Problem(P, tuple(names or ()), label or f"utilities, K = {len(mu)}, {link} link", mu, link)


def _refuse(mu: Floats, bad: NDArray[np.bool_], limit: str) -> None:
    if bad.any():
        i = int(np.argmax(bad))
        raise BadInput(f"The utility of arm {i} {limit}. Got {mu[i]!s}.")
