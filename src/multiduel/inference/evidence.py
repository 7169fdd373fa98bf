"""The evidence of all pairs at once, and intervals for them: compiled."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats
from multiduel.inputs import BadInput, finite, share, shortened
from multiduel.kernels.compiler.dispatch import entry
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

LEAST_NULL = 1e-300  # below, a single bet is more than any number


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
    """Weigh the evidence of every pair, and against every option.

    Parameters
    ----------
    above
        ``above[i, j]``: answers that placed i above j.
    ties
        ``ties[i, j]``: answers that placed them level.
    null
        The share of answers, ties half, that is bet against.

    Returns
    -------
    tuple
        ``L[i, j]`` is the log evidence against "at most ``null`` of the answers place i above j"; ``against[h]`` is
        ln mean_{j != h} exp L[j, h], the log evidence against "h beats all others".

    Examples
    --------
    >>> above = np.array([[0.0, 20.0], [2.0, 0.0]])
    >>> L, against = evidence(above, np.zeros((2, 2)))
    >>> bool(L[0, 1] > 3.0 > L[1, 0]), bool(against[1] == L[0, 1])  # much speaks against "1 beats all others"
    (True, True)
    """
    D, T = _tables(above, ties, "evidence")
    stakes, listed = _stakes(max(LEAST_NULL, share("null", null, of="evidence")))
    K = len(D)
    L, against = np.zeros((K, K)), np.zeros(K)
    run(fill_evidence, stakes, listed, D, T, L, against)
    return L, against


def _tables(above: Any, ties: Any, of: str) -> tuple[Floats, Floats]:
    """Both tables as compiled code, which checks nothing, takes them."""
    try:
        D, T = (np.asarray(table, np.float64, order="C") for table in (above, ties))
        good = D.ndim == 2 and D.shape == T.shape == (len(D), len(D)) and len(D) > 0 and bool(np.isfinite(D + T).all())
        good = good and bool((D >= 0.0).all() and (T >= 0.0).all())
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise BadInput(
            f"'above' and 'ties' of '{of}' must be square tables of counts, of one shape. "
            f"Got {shortened(above)} and {shortened(ties)}."
        )
    return D, T


class Weighed(NamedTuple):
    """Evidence that is kept, answer by answer: an answer changes that of its pairs only.

    >>> above, ties = np.array([[0.0, 5.0], [1.0, 0.0]]), np.zeros((2, 2))
    >>> kept = Weighed.of(above, ties)
    >>> above[0, 1] += 1.0
    >>> kept.update(above, ties, (0, 1))
    >>> bool(np.allclose(kept.even, evidence(above, ties)[0]))
    True
    """

    even: Floats  # f8[K, K]  L at 1/2
    against: Floats  # f8[K]
    L: Floats  # f8[K, K]  at the null of the margin, if there is one; otherwise ``even`` itself

    @classmethod
    def of(cls, above: Floats, ties: Floats, margin: float = 0.0) -> Weighed:
        """Weigh all pairs.

        Parameters
        ----------
        above, ties
            As for ``evidence``.
        margin
            How far below 1/2 a pair may be and still count as level.
        """
        even, against = evidence(above, ties)
        apart = known_margin(margin, of="Weighed.of")
        return cls(even, against, evidence(above, ties, null=0.5 - apart)[0] if apart > 0.0 else even)

    def update(self, above: Floats, ties: Floats, arms: Sequence[int], margin: float = 0.0) -> None:
        """Weigh the pairs of an answer anew.

        Parameters
        ----------
        above, ties
            The counts with that answer.
        arms
            The options that it compared.
        margin
            As given to ``of``.
        """
        try:
            here = np.array([operator.index(arm) for arm in arms])
            square = np.ix_(here, here)
            D, T = above[square], ties[square]
            good = above.shape == ties.shape == self.even.shape and len(here) > 0
        except (AttributeError, IndexError, TypeError, ValueError):
            good = False
        if not good:
            raise BadInput(f"'update' takes the tables of these counts, and arms of theirs. Got the arms {shortened(arms)}.")
        known_margin(margin, of="Weighed.update")
        self.even[square] = evidence(D, T)[0]
        if self.L is not self.even:
            self.L[square] = evidence(D, T, null=0.5 - margin)[0]
        bets_against = self.even[:, here]
        bets_against[here, np.arange(len(here))] = -math.inf  # nobody bets against oneself
        top = bets_against.max(axis=0)
        self.against[here] = top + np.log(np.exp(bets_against - top).sum(axis=0) / (len(self.against) - 1))


def pair_intervals(above: Floats, ties: Floats, *, error: float) -> tuple[Floats, Floats]:
    """Bound P[i, j], the chance that i is placed above j (ties half), at all times.

    For every null p the bets against "the mean of X is at most p" are a supermartingale if it is, and so are those against "at
    least p"; each side has half the error. The interval holds the p that neither side refutes, so it misses the truth only
    if the bets against the truth ever reach 2 / error. The bets fall as p rises, hence it is an interval.

    Parameters
    ----------
    above, ties
        As for ``evidence``.
    error
        The chance that one interval, by itself, ever misses.

    Returns
    -------
    tuple
        The tables of lower and upper ends.

    Examples
    --------
    >>> low, high = pair_intervals(np.array([[0.0, 60.0], [40.0, 0.0]]), np.zeros((2, 2)), error=0.05)
    >>> bool(low[0, 1] < 0.6 < high[0, 1]), float(high[0, 1] + low[1, 0])
    (True, 1.0)
    """
    D, T = _tables(above, ties, "pair_intervals")
    if not 0.0 < finite("error", error, of="pair_intervals") <= 1.0:
        raise BadInput(f"'error' of 'pair_intervals' must be above 0 and at most 1. Got {shortened(error)}.")
    low = np.zeros_like(D)
    run(fill_intervals, stakes_of(0.5), D, T, math.log(2.0 / error), low)
    return low, 1.0 - low.T


def known_margin(margin: Any, *, of: str) -> float:
    """A margin as a float, if it is a number of at least 0 and below 1/2."""
    apart = finite("margin", margin, of=of)
    if not 0.0 <= apart < 0.5:
        raise BadInput(f"'margin' of '{of}' must be at least 0 and below 0.5. Got {shortened(margin)}.")
    return apart


def run(function: Callable[..., None], *arguments: Any) -> None:
    """Call a compiled function of this module; its first argument is the bets."""
    kernel = entry(function, arguments[0], "the evidence of pairs")
    kernel.prepare(*arguments)
    kernel.call(*arguments)
