"""Regret: of one round, and what theorems promise over many. See the package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from multiduel.arrays import Floats
from multiduel.inputs import BadInput, finite, whole
from multiduel.theory.matrix import gamma, gaps, hardness, square, suboptimal_gaps

MOST = 1 << 62  # rounds, arms
MOST_ALPHA = 1e12
LUCB_SAMPLES = 4.5  # c2: LUCB needs about 4.5 H ln(H/delta) samples, measured; its published constant is near 292


# Regret of one round


def average_regret(gaps: ArrayLike, slate: Sequence[int]) -> float:
    """Average D over the distinct arms of the slate: the regret of AAMAS 2020, and of Yue et al. 2012 for pairs.

    Parameters
    ----------
    gaps
        D, one per arm.
    slate
        The arms.

    Examples
    --------
    >>> average_regret([0.0, 0.1, 0.3], [0, 2])
    0.15
    """
    return float(_played(gaps, sorted(set(slate))).mean())


def strong_regret(gaps: ArrayLike, slate: Sequence[int]) -> float:
    """Take the largest D in the slate: zero only if the winner is played alone.

    Parameters
    ----------
    gaps
        D, one per arm.
    slate
        The arms.

    Examples
    --------
    >>> strong_regret([0.0, 0.1, 0.3], [0, 2])
    0.3
    """
    return float(_played(gaps, slate).max())


def weak_regret(gaps: ArrayLike, slate: Sequence[int]) -> float:
    """Take the smallest D in the slate: zero as soon as the winner is played.

    Parameters
    ----------
    gaps
        D, one per arm.
    slate
        The arms.

    Examples
    --------
    >>> weak_regret([0.0, 0.1, 0.3], [0, 2])
    0.0
    """
    return float(_played(gaps, slate).min())


def slot_average_regret(gaps: ArrayLike, slots: Sequence[int]) -> float:
    """Average D over the m slots, an arm counted as often as it is played (Sui et al. 2017).

    Parameters
    ----------
    gaps
        D, one per arm.
    slots
        The arm of each slot.

    Examples
    --------
    >>> round(slot_average_regret([0.0, 0.1, 0.3], [0, 0, 2]), 6)
    0.1
    """
    return float(_played(gaps, slots).mean())


def _played(gaps: ArrayLike, arms: Sequence[int]) -> Floats:
    D = np.asarray(gaps, dtype=np.float64)
    chosen = np.asarray(arms, dtype=np.int64)
    if len(chosen) == 0:
        raise BadInput("A slate must hold at least 1 arm. Got none.")
    if chosen.min() < 0 or chosen.max() >= len(D):
        raise BadInput(f"The arms of a slate must be from 0 to {len(D) - 1}. Got {chosen.tolist()}.")
    return D[chosen]


# Upper bounds


@dataclass(frozen=True)
class Bound:
    """A regret bound at one horizon: `value` is `raw`, capped at the T D_max that any play stays within.

    >>> bound = theorem3([[0.5, 0.8], [0.2, 0.5]], 1000, 2)
    >>> bound.capped, round(bound.value)
    (True, 300)
    """

    value: float
    raw: float
    capped: bool
    terms: dict[str, float]
    notes: tuple[str, ...]
    why_infinite: str = ""  # where raw is infinite


def sbm_alpha(n_arms: int, horizon: int) -> float:
    """Compute alpha = max(3, ln K / ln ln T) of MultiSBM-Feedback; 3 when T <= 15, where ln ln T is below 1.

    Parameters
    ----------
    n_arms, horizon
        K and T.

    Examples
    --------
    >>> sbm_alpha(48, 10**6)
    3.0
    """
    _at_least("n_arms", n_arms, 1)
    _at_least("horizon", horizon, 1)
    return 3.0 if horizon <= 15 else max(3.0, math.log(n_arms) / math.log(math.log(horizon)))


def theorem1(
    P: ArrayLike, horizon: int, *, c1: float | None = None, c2: float = LUCB_SAMPLES, a: float = 10.0, b: float = 1.1
) -> Bound:
    """Bound the regret of DoublerBAI (AAMAS 2020, Theorem 1): O((H ln H)^b) + O(H ln T) + O(H ln H ln ln T).

    The paper states orders only. The constants follow its appendix, for a best-arm machine with samples
    c2 H ln(H/delta) and regret c1 H ln(H/delta): c1 H b^3/(b-1) ln T + (L+1) c1 H ln H + D_max Ttilde^b.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j), with a Condorcet winner.
    horizon
        T.
    c1, c2, a, b
        Constants of the machine and of the epochs.

    Returns
    -------
    Bound
        The bound and its terms.

    Examples
    --------
    >>> P = [[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]
    >>> f"{theorem1(P, 10**9).value:,.0f}"
    '27,435'
    """
    matrix = square(P)
    _at_least("horizon", horizon, 1)
    if not (c2 > 0 and (c1 is None or c1 > 0)):
        raise BadInput(f"'c1' and 'c2' of 'theorem1' must be positive. Got {c1} and {c2}.")
    if not (a > 1 and b > 1):
        raise BadInput(f"'a' and 'b' of 'theorem1' must be greater than 1. Got {a} and {b}.")
    D = suboptimal_gaps(matrix)
    if len(D) == 0:
        return _one_arm()
    H, D_max, gamma_min = hardness(matrix), float(D.max()), gamma(matrix)
    assert gamma_min is not None  # there is a winner
    notes = [
        f"The theorem has no explicit constants: c2 = {c2:g} is assumed, not proved (the default, {LUCB_SAMPLES}, was "
        "measured with LUCB), and so is c1; O(1) per epoch is taken as 0 and the factor of Ttilde^b as D_max."
    ]
    if c1 is None:
        c1 = c2 * D_max / 2
        notes.append("c1 = c2 D_max / 2: a sample against the winner costs at most D_max / 2.")
    L = max(0.0, math.log(max(1.0, math.log(horizon, a)), b) + 2)
    H_first = gamma_min**2 * H  # the left arm is not yet the winner
    why_infinite = ""
    if math.isinf(gamma_min):
        why_infinite = "gamma is infinite: Corollary 1 does not cover this matrix."
        notes.append(why_infinite)
    elif gamma_min > 1 + 1e-9:
        notes.append(f"Beyond the linear link H counts gamma^2 = {gamma_min**2:.4g} times in the initial term.")
    size = c2 * b * H_first
    doubling = 2.0 ** (b / (b - 1)) if b / (b - 1) < 1000 else math.inf
    first = max(_ceil(doubling) - 1, _ceil(20 * size * max(0.0, math.log(size))) - 1)
    terms = {
        "initial": D_max * _power(first, b),
        "ln T": c1 * H * b**3 / (b - 1) * math.log(horizon),
        "ln ln T": (L + 1) * c1 * H * math.log(H),
    }
    return _capped(sum(terms.values()), horizon, D_max, terms, notes, why_infinite)


def theorem2(P: ArrayLike, horizon: int, *, alpha: float | None = None) -> Bound:
    """Bound the regret of MultiSBM-Feedback (AAMAS 2020, Theorem 2).

    min(sum (alpha+2) D_max/D_i^2, sum 2 (alpha+2)/D_i) ln T + (alpha+8) D_max K/(2 alpha) + lower order.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j), with a Condorcet winner.
    horizon
        T.
    alpha
        That of ``sbm_alpha`` if not given.

    Returns
    -------
    Bound
        The bound and its terms.

    Examples
    --------
    >>> P = [[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]
    >>> f"{theorem2(P, 10**6).value:.1f}"
    '481.9'
    """
    matrix = square(P)
    _at_least("horizon", horizon, 1)
    if alpha is None:
        alpha = sbm_alpha(len(matrix), horizon)
    if not 0 < finite("alpha", alpha, of="theorem2") <= MOST_ALPHA:
        raise BadInput(f"'alpha' of 'theorem2' must be greater than 0 and at most {MOST_ALPHA:g}. Got {alpha}.")
    D = suboptimal_gaps(matrix)
    if len(D) == 0:
        return _one_arm()
    D_max, gamma_min = float(D.max()), gamma(matrix)
    terms = {
        "D_max/D_i^2 branch": float((alpha + 2) * D_max * np.sum(D**-2.0)) * math.log(horizon),
        "1/D_i branch": float(2 * (alpha + 2) * np.sum(1 / D)) * math.log(horizon),
        "constant": (alpha + 8) * D_max * len(matrix) / (2 * alpha),
    }
    notes = [
        "Lower order not included: O(alpha D_max sum_ij D_j^-2 (ln ln T + ln K + ln 1/D_i)) has no constant, "
        "has K^2 terms, and can dominate at moderate T."
    ]
    raw = min(terms["D_max/D_i^2 branch"], terms["1/D_i branch"]) + terms["constant"]
    why_infinite = ""
    if gamma_min is not None and math.isinf(gamma_min):
        why_infinite = "gamma is infinite: Corollary 2 does not cover this matrix, so the bound is infinite."
        notes.append(why_infinite)
        raw = math.inf
    elif gamma_min is not None and gamma_min > 1 + 1e-9:
        notes.append(f"Beyond the linear link gamma = {gamma_min:.4g} enlarges the lower order.")
    return _capped(raw, horizon, D_max, terms, notes, why_infinite)


def theorem3(P: ArrayLike, horizon: int, slate_size: int, *, alpha: float = 1.01) -> Bound:
    """Bound the regret of MultiRUCB (AAMAS 2020, Theorem 3), for alpha > 1 and slates of m arms.

    D_max (2(4a-1)K^2/(2a-1))^(1/(2a-1)) (2a-1)/(a-1)
    + min(D D_max ln T, (8 + 2 D ln 2D) D_max + (m+1)/(m-1) D_max ln T sum 4a/D_i^2), with a = alpha and
    D = sum_{i != *} 4a/D_i^2 + 2/(m(m-1)) sum_{i < j, both != *} 4a/D_ij^2.

    Parameters
    ----------
    P
        P[i, j] = Pr(i beats j), with a Condorcet winner.
    horizon
        T.
    slate_size
        m.
    alpha
        MultiRUCB's.

    Returns
    -------
    Bound
        The bound and its terms.

    Examples
    --------
    >>> P = [[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]
    >>> f"{theorem3(P, 10**6, 2).value:,.0f}"
    '2,970'
    """
    matrix = square(P)
    _at_least("horizon", horizon, 1)
    _at_least("slate_size", slate_size, 2)
    if not 0.5 < finite("alpha", alpha, of="theorem3") <= MOST_ALPHA:
        raise BadInput(f"'alpha' of 'theorem3' must be greater than 1/2 and at most {MOST_ALPHA:g}. Got {alpha}.")
    gaps_all = gaps(matrix)
    D_i = gaps_all[gaps_all > 0]
    if len(D_i) == 0:
        return _one_arm()
    K, D_max, log_T = len(matrix), float(D_i.max()), math.log(horizon)
    m = min(slate_size, K)
    rest = matrix[np.ix_(gaps_all > 0, gaps_all > 0)] - 0.5
    pairs = rest[np.triu_indices(len(rest), k=1)]
    with np.errstate(divide="ignore"):
        pair_part = float(np.sum(4 * alpha / pairs**2))
    arm_part = float(np.sum(4 * alpha / D_i**2))
    D = arm_part + 2 / (m * (m - 1)) * pair_part
    notes: list[str] = []
    if slate_size > K:
        notes.append(f"A slate of {slate_size} cannot be filled: m = K = {K}.")
    lead, why_infinite = math.inf, ""
    if alpha > 1:
        width = 2 * alpha - 1
        lead = D_max * _power(2 * (4 * alpha - 1) * K**2 / width, 1 / width) * width / (alpha - 1)
    else:
        why_infinite = f"Theorem 3 needs alpha > 1; at alpha = {alpha} it gives no finite bound."
        notes.append(why_infinite)
    if math.isinf(D):
        why_infinite = "Two suboptimal arms tie (D_ij = 0), which makes D and the bound infinite."
        notes.append(why_infinite)
        first = second = math.inf
    else:
        first = D * D_max * log_T
        second = (8 + 2 * D * math.log(2 * D)) * D_max + (m + 1) / (m - 1) * D_max * log_T * arm_part
    terms = {"lead": lead, "D": D, "D ln T branch": first, "(m+1)/(m-1) branch": second}
    return _capped(lead + min(first, second), horizon, D_max, terms, notes, why_infinite)


def _capped(raw: float, horizon: int, D_max: float, terms: dict[str, float], notes: list[str], why_infinite: str) -> Bound:
    trivial = horizon * D_max
    if raw > trivial:
        notes = [*notes, f"Not informative at this horizon: above T D_max = {trivial:.4g}, which no play exceeds."]
    return Bound(min(raw, trivial), raw, raw > trivial, terms, tuple(notes), why_infinite)


def _one_arm() -> Bound:
    return Bound(value=0.0, raw=0.0, capped=False, terms={}, notes=("One arm: nothing to regret.",))


def _at_least(name: str, value: int, least: int) -> None:
    whole(name, value, least, MOST, of="bounds")


def _ceil(x: float) -> float:
    return float(math.ceil(x)) if math.isfinite(x) else math.inf


def _power(x: float, exponent: float) -> float:
    try:
        return math.pow(x, exponent)
    except OverflowError:
        return math.inf
