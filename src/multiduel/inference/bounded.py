"""An interval for a mean of bounded observations that holds at all times."""

from __future__ import annotations

import math


def bounded_radius(n: float, error: float) -> float:
    """Half-width after n observations in [0, 1], so that at no time ever the interval misses, but for a chance of ``error``.

    Let X_1, X_2, ... lie in [0, 1], mu_k the expectation of X_k given all that came before (and what was shown), S_n the sum of
    X_k - mu_k. By Hoeffding's lemma exp(c S_n - c^2 n / 8) is a supermartingale for every c. Its mean over c ~ N(0, 1 / rho),

        sqrt(rho / (v + rho)) exp(S_n^2 / (2 (v + rho))),   v = n / 4,

    is one too, and starts at 1; by Ville's inequality it ever reaches 1 / error with a chance of at most ``error`` (Robbins
    1970; Howard, Ramdas, McAuliffe, Sekhon 2021, eq. 14). Solved for |S_n| / n that is the half-width, around the mean of the
    X_k, for the mean of the mu_k. Which observation comes next, and when one looks or stops, may depend on everything seen.
    rho = 25 / (2 ln(1 / error) + 1) makes it tightest near n = 100, where v = 25.
    """
    v, rho = variance(n), 25.0 / (2.0 * math.log(1.0 / error) + 1.0)
    return math.sqrt((v + rho) * (2.0 * math.log(1.0 / error) + math.log((v + rho) / rho))) / n


def variance(n: float) -> float:
    """No observation in [0, 1] spreads more than a fair coin: 1/4 each."""
    return 0.25 * n
