"""The evidence of all pairs at once, and intervals for them: compiled."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from multiduel.arrays import Floats
from multiduel.kernels.dispatch import entry
from multiduel.kernels.evidence import (
    Bets,
    Powers,
    bets,
    is_listed,
    least_not_refuted,
    log_mean_against,
    log_mean_product,
    log_winnings,
    powers,
)


def fill_evidence(stakes: Bets, listed: Powers, above: Floats, ties: Floats, L: Floats, against: Floats) -> None:
    """L of every pair, and of every arm the evidence against "it beats all others"."""
    K = L.shape[0]
    for i in range(K):
        for j in range(K):
            w, t, l = above[i, j], ties[i, j], above[j, i]
            if i == j or w + t + l == 0.0:
                L[i, j] = 0.0
            elif is_listed(listed.win, w, t, l):
                L[i, j] = log_mean_product(listed.win[int(w)], listed.tie[int(t)], listed.loss[int(l)])
            else:
                L[i, j] = log_winnings(stakes.win, stakes.tie, stakes.loss, w, t, l)
    for h in range(K):
        against[h] = log_mean_against(L, h) if K > 1 else -math.inf


def fill_intervals(stakes: Bets, above: Floats, ties: Floats, needed: float, low: Floats) -> None:
    """The lower end of the interval of every pair's P[i, j]; the upper end is 1 minus the other way round."""
    K = low.shape[0]
    for i in range(K):
        for j in range(K):
            low[i, j] = 0.5 if i == j else least_not_refuted(above[i, j], ties[i, j], above[j, i], needed)


@functools.lru_cache(maxsize=16)
def _stakes(null: float) -> tuple[Bets, Powers]:
    stakes = bets(null)
    return stakes, powers(stakes)


def stakes_of(null: float) -> Bets:
    return _stakes(null)[0]


def evidence(above: Floats, ties: Floats, *, null: float = 0.5) -> tuple[Floats, Floats]:
    """(L, against). L[i, j] is the log evidence against "i, placed above j, gets ``null`` of the answers at most, ties half";
    against[h] = ln mean_{j != h} exp L[j, h]."""
    stakes, listed = _stakes(null)
    K = len(above)
    L, against = np.zeros((K, K)), np.zeros(K)
    run(fill_evidence, stakes, listed, above, ties, L, against)
    return L, against


def pair_intervals(above: Floats, ties: Floats, *, error: float) -> tuple[Floats, Floats]:
    """(low, high) for P[i, j], the chance that i is placed above j, ties half; each alone misses, ever, with at most ``error``.

    For every null p the bets against "the mean of X is at most p" are a supermartingale if it is, and so are those against "at
    least p"; each side has half the error. The interval holds the p that neither side refutes, so it misses the truth only
    if the bets against the truth ever reach 2 / error. The bets fall as p rises, hence it is an interval.
    """
    low = np.zeros_like(above)
    run(fill_intervals, stakes_of(0.5), above, ties, math.log(2.0 / error), low)
    return low, 1.0 - low.T


def run(function: Callable[..., None], *arguments: Any) -> None:
    """Call a compiled function of this room; its first argument is the bets."""
    kernel = entry(function, arguments[0], "the evidence of pairs")
    kernel.prepare(*arguments)
    kernel.call(*arguments)
