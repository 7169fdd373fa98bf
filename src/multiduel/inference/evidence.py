"""The evidence of all pairs at once, and intervals for them: compiled."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Flags, Floats
from multiduel.kernels.dispatch import entry
from multiduel.kernels.evidence import Bets, bets, least_not_refuted, log_mean_against, log_winnings


class Powers(NamedTuple):
    """What a bet has become after 0, 1, 2, ... answers of a kind. Most counts are small, and a product is quicker than exp."""

    win: Floats  # f8[counts, 24]
    tie: Floats
    loss: Floats


def fill_evidence(stakes: Bets, powers: Powers, above: Floats, ties: Floats, L: Floats, against: Floats) -> None:
    """L of every pair, and of every arm the evidence against "it beats all others"."""
    K = L.shape[0]
    limit = powers.win.shape[0] - 1
    G = stakes.win.shape[0]
    for i in range(K):
        for j in range(K):
            w, t, l = above[i, j], ties[i, j], above[j, i]
            if i == j or w + t + l == 0.0:
                L[i, j] = 0.0
                continue
            if w <= limit and t <= limit and l <= limit:
                a, b, c = int(w), int(t), int(l)
                if a == w and b == t and c == l:
                    even, odd = 0.0, 0.0  # two sums, because one would wait for itself
                    for g in range(0, G, 2):
                        even += powers.win[a, g] * powers.tie[b, g] * powers.loss[c, g]
                        odd += powers.win[a, g + 1] * powers.tie[b, g + 1] * powers.loss[c, g + 1]
                    L[i, j] = math.log((even + odd) / G)
                    continue
            L[i, j] = log_winnings(stakes.win, stakes.tie, stakes.loss, w, t, l)
    for h in range(K):
        against[h] = log_mean_against(L, h) if K > 1 else -math.inf


def fill_intervals(stakes: Bets, above: Floats, ties: Floats, needed: float, known: Flags, low: Floats) -> None:
    """The lower end of the interval of every pair's P[i, j] that is not known; the upper end is 1 minus the other way round."""
    K = low.shape[0]
    for i in range(K):
        for j in range(K):
            if known[i, j]:
                continue
            low[i, j] = 0.5 if i == j else least_not_refuted(above[i, j], ties[i, j], above[j, i], needed)


@functools.lru_cache(maxsize=16)
def _stakes(null: float) -> tuple[Bets, Powers]:
    stakes = bets(null)
    most = min(256, int(700.0 / max(stakes.win[-1], stakes.tie[-1])))  # beyond, a power would not be a finite number
    steps = np.arange(most + 1.0)[:, None]
    return stakes, Powers(*(np.exp(steps * kind) for kind in stakes))


def stakes_of(null: float) -> Bets:
    return _stakes(null)[0]


def evidence(above: Floats, ties: Floats, *, null: float = 0.5) -> tuple[Floats, Floats]:
    """(L, against). L[i, j] is the log evidence against "i, placed above j, gets ``null`` of the answers at most, ties half";
    against[h] = ln mean_{j != h} exp L[j, h]."""
    stakes, powers = _stakes(null)
    K = len(above)
    L, against = np.zeros((K, K)), np.zeros(K)
    run(fill_evidence, stakes, powers, above, ties, L, against)
    return L, against


class Weighed(NamedTuple):
    """Evidence that is kept, answer by answer: an answer changes that of its pairs only."""

    even: Floats  # f8[K, K]  L at 1/2
    against: Floats  # f8[K]
    L: Floats  # f8[K, K]  at the null of the margin, if there is one; otherwise ``even`` itself

    @classmethod
    def of(cls, above: Floats, ties: Floats, margin: float = 0.0) -> Weighed:
        even, against = evidence(above, ties)
        return cls(even, against, evidence(above, ties, null=0.5 - margin)[0] if margin > 0.0 else even)

    def update(self, above: Floats, ties: Floats, arms: Sequence[int], margin: float = 0.0) -> None:
        """After an answer about these arms."""
        here = np.array(arms)
        square = np.ix_(here, here)
        D, T = above[square], ties[square]
        self.even[square] = evidence(D, T)[0]
        if self.L is not self.even:
            self.L[square] = evidence(D, T, null=0.5 - margin)[0]
        bets_against = self.even[:, here]
        bets_against[here, np.arange(len(here))] = -math.inf  # nobody bets against oneself
        top = bets_against.max(axis=0)
        self.against[here] = top + np.log(np.exp(bets_against - top).sum(axis=0) / max(1, len(self.against) - 1))


def pair_intervals(
    above: Floats, ties: Floats, *, error: float, before: tuple[Floats, Floats, Floats] | None = None
) -> tuple[Floats, Floats]:
    """(low, high) for P[i, j], the chance that i is placed above j, ties half; each alone misses, ever, with at most ``error``.

    For every null p the bets against "the mean of X is at most p" are a supermartingale if it is, and so are those against "at
    least p"; each side has half the error. The interval holds the p that neither side refutes, so it misses the truth only
    if the bets against the truth ever reach 2 / error. The bets fall as p rises, hence it is an interval.

    ``before`` are other counts and their lower ends, with the same error: where the counts are the same, so are the ends.
    """
    low, known = np.zeros_like(above), np.zeros(above.shape, np.bool_)
    if before is not None and before[0].shape == above.shape:
        same = (before[0] == above) & (before[1] == ties)
        low, known = before[2].copy(), same & same.T
    run(fill_intervals, stakes_of(0.5), above, ties, math.log(2.0 / error), known, low)
    return low, 1.0 - low.T


def run(function: Callable[..., None], *arguments: Any) -> None:
    """Call a compiled function of this room; its first argument is the bets."""
    kernel = entry(function, arguments[0], "the evidence of pairs")
    kernel.prepare(*arguments)
    kernel.call(*arguments)
