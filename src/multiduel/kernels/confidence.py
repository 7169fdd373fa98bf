"""Confidence bounds of a Bernoulli mean from its relative entropy."""

from __future__ import annotations

import math

from multiduel.kernels.compiler.helpers import helper


@helper
def kl(p: float, q: float) -> float:
    """Compute the relative entropy of Bernoulli(p) to Bernoulli(q), with 0 ln 0 = 0.

    Parameters
    ----------
    p, q
        Chances, q between 0 and 1.

    Examples
    --------
    >>> round(kl(0.3, 0.5), 4)
    0.0823
    """
    d = 0.0
    if p > 0.0:
        d += p * math.log(p / q)
    if p < 1.0:
        d += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return d


@helper
def kl_upper(p: float, level: float) -> float:
    """Find the largest q >= p with kl(p, q) <= level.

    kl(p, .) is convex and rises to the right of p, so Newton's steps from any point beyond the root fall to it without
    overshooting. The start is the nearer of Pinsker's bound and the one that ignores the entropy of p.

    Parameters
    ----------
    p
        A mean.
    level
        The relative entropy allowed.

    Examples
    --------
    >>> round(kl_upper(0.5, 0.1), 4)
    0.7129
    """
    if p >= 1.0 or level <= 0.0:
        return min(p, 1.0)
    if p <= 0.0:
        return -math.expm1(-level)
    entropy = -p * math.log(p) - (1.0 - p) * math.log1p(-p)
    q = min(p + math.sqrt(0.5 * level), -math.expm1(-(level + entropy) / (1.0 - p)))
    for _ in range(60):
        if q >= 1.0:
            return 1.0
        if q <= p:  # the level is lost in rounding
            return p
        step = (kl(p, q) - level) * q * (1.0 - q) / (q - p)
        if not step > 1e-14:
            break
        q -= step
    return q


@helper
def kl_lower(p: float, level: float) -> float:
    """Find the smallest q <= p with kl(p, q) <= level.

    Parameters
    ----------
    p
        A mean.
    level
        The relative entropy allowed.

    Examples
    --------
    >>> round(kl_lower(0.5, 0.1), 4)
    0.2871
    """
    return 1.0 - kl_upper(1.0 - p, level)
