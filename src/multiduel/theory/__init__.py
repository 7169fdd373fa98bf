"""What a preference matrix implies: winners, gaps, Property 1, transitivity, regret and its bounds.

Papers     Du, Wang, Huang. Dueling Bandits: From Two-dueling to Multi-dueling. AAMAS 2020 (Property 1, Theorems 1-3).
           Komiyama, Honda, Kashima, Nakagawa. Regret lower bound and optimal algorithm in dueling bandits. COLT 2015.
Symbols    K arms, P[i, j] = Pr(i beats j), * the Condorcet winner, D_ij = P[i, j] - 1/2, D_i = D_*i, H = sum 1/D_i^2,
           m the slate size, T the horizon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from multiduel.arrays import Floats, Ints
from multiduel.inputs import BadInput, finite, whole

ROUNDING = 1e-12  # differences below this are rounding, not preference: Borda ties, strong transitivity
MOST = 1 << 62  # rounds, arms
MOST_ALPHA = 1e12
LUCB_SAMPLES = 4.5  # c2: LUCB needs about 4.5 H ln(H/delta) samples, measured; its published constant is near 292


def _square(P: ArrayLike) -> Floats:
    matrix = np.asarray(P, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise BadInput(f"'P' must be a square matrix with at least 1 arm. Got shape {matrix.shape}.")
    return matrix


# Winners


def condorcet_winner(P: ArrayLike) -> int | None:
    """The arm that beats every other with probability above 1/2, or None."""
    matrix = _square(P)
    full = np.flatnonzero(copeland_scores(matrix) == len(matrix) - 1)
    return int(full[0]) if len(full) else None


def copeland_scores(P: ArrayLike) -> Ints:
    """How many arms each arm beats: #{j : P[i, j] > 1/2}. A tie counts for neither."""
    return np.asarray(np.count_nonzero(_square(P) > 0.5, axis=1), dtype=np.int64)


def copeland_winners(P: ArrayLike) -> tuple[int, ...]:
    """The arms of largest Copeland score. There is always one, and there may be several."""
    scores = copeland_scores(P)
    return tuple(np.flatnonzero(scores == scores.max()).tolist())


def borda_scores(P: ArrayLike) -> Floats:
    """B_i = sum over j != i of P[i, j], divided by K - 1: the chance of beating a random other arm (K = 1: 1/2)."""
    matrix = _square(P)
    others = len(matrix) - 1
    if others == 0:
        return np.array([0.5])
    return np.asarray((matrix.sum(axis=1) - matrix.diagonal()) / others, dtype=np.float64)


def borda_winners(P: ArrayLike) -> tuple[int, ...]:
    """The arms of largest Borda score, equal up to rounding."""
    scores = borda_scores(P)
    return tuple(np.flatnonzero(scores >= scores.max() - ROUNDING).tolist())


# Gaps and hardness


def gaps(P: ArrayLike, winner: int | None = None) -> Floats:
    """D_i = P[*, i] - 1/2. `winner` may name another benchmark arm, then gaps can be negative."""
    matrix = _square(P)
    if winner is not None and not 0 <= winner < len(matrix):
        raise BadInput(f"'winner' must be an arm from 0 to {len(matrix) - 1}. Got {winner}.")
    best = condorcet_winner(matrix) if winner is None else winner
    if best is None:
        most = ", ".join(map(str, copeland_winners(matrix)))
        raise BadInput(
            "Gaps need a Condorcet winner, an arm that beats every other with probability above 1/2. "
            f"This matrix has none; most arms are beaten by: {most}."
        )
    return np.asarray(matrix[best] - 0.5, dtype=np.float64)


def hardness(P: ArrayLike) -> float:
    """H = sum over i != * of 1/D_i^2 (AAMAS 2020, Theorem 1). Needs a Condorcet winner; 0 when K = 1."""
    return float(np.sum(_suboptimal_gaps(_square(P)) ** -2.0))


def _suboptimal_gaps(matrix: Floats) -> Floats:
    D = gaps(matrix)
    return D[D > 0]


def gamma(P: ArrayLike) -> float | None:
    """Smallest gamma of Property 1, D_*i <= gamma (D_*j - D_ij) for all i, j (AAMAS 2020).

    None without a strict Condorcet winner; infinite when some other arm does at least as well against some j.
    """
    matrix = _square(P)
    best = condorcet_winner(matrix)
    if best is None:
        return None
    rest = np.arange(len(matrix)) != best
    if not rest.any():
        return 1.0
    advantage = matrix[best] - matrix[rest]  # D_*j - D_ij
    if advantage.min() <= 0:
        return math.inf
    return float(np.max((matrix[best, rest] - 0.5)[:, None] / advantage))


# Order and transitivity


def is_total_order(P: ArrayLike) -> bool:
    """No tie and no cycle: the Copeland scores are 0, 1, ..., K - 1."""
    scores = np.sort(copeland_scores(P))
    return bool(np.array_equal(scores, np.arange(len(scores))))


def is_weakly_transitive(P: ArrayLike) -> bool:
    """a beats b and b beats c (both above 1/2) never comes with c beating a."""
    matrix = _square(P)
    beats = (matrix > 0.5).astype(np.float32)  # float: the product runs in BLAS
    return not bool(np.any((beats @ beats > 0) & (matrix < 0.5)))


def is_strongly_transitive(P: ArrayLike) -> bool:
    """a beats b and b beats c (both above 1/2) implies P[a, c] >= max(P[a, b], P[b, c])."""
    matrix = _square(P)
    for b in range(len(matrix)):
        above = np.flatnonzero(matrix[:, b] > 0.5)
        below = np.flatnonzero(matrix[b] > 0.5)
        needed = np.maximum(matrix[above, b][:, None], matrix[b, below][None, :])
        if np.any(matrix[np.ix_(above, below)] < needed - ROUNDING):
            return False
    return True


def best_response_reaches_winner(P: ArrayLike) -> bool:
    """Whether every path j -> argmax_i P[i, j] ends in the Condorcet winner.

    DoublerBAI and MultiSBM follow best responses, so this, weaker than a finite gamma, is what they need to settle.
    Where several arms are best against j, all of them must lead to the winner.
    """
    matrix = _square(P)
    best = condorcet_winner(matrix)
    if best is None:
        return False
    astray = (matrix == matrix.max(axis=0)).astype(np.int64)  # astray[i, j]: i is a best response to j
    reached = np.zeros(len(matrix), dtype=bool)
    reached[best] = True
    while True:
        grown = reached | (astray[~reached].sum(axis=0) == 0)
        if np.array_equal(grown, reached):
            return bool(reached.all())
        reached = grown


# Information


def kl(p: float, q: float) -> float:
    """kl(p, q) = p ln(p/q) + (1-p) ln((1-p)/(1-q)), two Bernoulli laws; accurate also when p is close to q."""
    if not (0 <= p <= 1 and 0 <= q <= 1):
        raise BadInput(f"'p' and 'q' of 'kl' must be between 0 and 1. Got {p} and {q}.")
    if abs(p - q) < 1e-8 * min(q, 1 - q):  # where the two parts cancel to their last digits
        return (p - q) ** 2 / (2 * q * (1 - q))
    return _kl_part(p, q) + _kl_part(1 - p, 1 - q)


def _kl_part(p: float, q: float) -> float:
    if p == 0:
        return 0.0
    if q == 0:
        return math.inf
    near = abs(p - q) < q / 2  # log1p keeps a small difference, log a small p or q
    return p * math.log1p((p - q) / q) if near else p * (math.log(p) - math.log(q))


def komiyama_lower_bound(P: ArrayLike) -> float:
    """liminf R_T / ln T >= sum_{i != *} min_{j : P[i,j] < 1/2} (D_i + D_j) / (2 kl(P[i,j], 1/2)) (Komiyama 2015).

    For two-dueling algorithms; no matching constant is known for larger slates.
    """
    matrix = _square(P)
    D = gaps(matrix)
    total = 0.0
    for i in np.flatnonzero(D > 0):
        stronger = np.flatnonzero(matrix[i] < 0.5)
        total += min((D[i] + D[j]) / (2 * kl(float(matrix[i, j]), 0.5)) for j in stronger)
    return float(total)


# Regret of one round


def average_regret(gaps: ArrayLike, slate: Sequence[int]) -> float:
    """Mean of D over the distinct arms of the slate: the regret of AAMAS 2020, and of Yue et al. 2012 for pairs."""
    return float(_played(gaps, sorted(set(slate))).mean())


def strong_regret(gaps: ArrayLike, slate: Sequence[int]) -> float:
    """Largest D in the slate: zero only if nothing but the winner is played."""
    return float(_played(gaps, slate).max())


def weak_regret(gaps: ArrayLike, slate: Sequence[int]) -> float:
    """Smallest D in the slate: zero as soon as the winner is played."""
    return float(_played(gaps, slate).min())


def slot_average_regret(gaps: ArrayLike, slots: Sequence[int]) -> float:
    """Mean of D over the m slots, an arm counted as often as it is played (Sui et al. 2017)."""
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
    """A regret bound at one horizon: `value` is `raw`, capped at the T D_max that any play stays within."""

    value: float
    raw: float
    capped: bool
    terms: dict[str, float]
    notes: tuple[str, ...]


def sbm_alpha(n_arms: int, horizon: int) -> float:
    """alpha = max(3, ln K / ln ln T) of MultiSBM-Feedback; 3 when T <= 15, where ln ln T is below 1."""
    _at_least("n_arms", n_arms, 1)
    _at_least("horizon", horizon, 1)
    return 3.0 if horizon <= 15 else max(3.0, math.log(n_arms) / math.log(math.log(horizon)))


def theorem1(
    P: ArrayLike, horizon: int, *, c1: float | None = None, c2: float = LUCB_SAMPLES, a: float = 10.0, b: float = 1.1
) -> Bound:
    """DoublerBAI (AAMAS 2020, Theorem 1): O((H ln H)^b) + O(H ln T) + O(H ln H ln ln T).

    The paper states orders only. The constants follow its appendix, for a best-arm machine with samples
    c2 H ln(H/delta) and regret c1 H ln(H/delta): c1 H b^3/(b-1) ln T + (L+1) c1 H ln H + D_max Ttilde^b.
    """
    matrix = _square(P)
    _at_least("horizon", horizon, 1)
    if not (c2 > 0 and (c1 is None or c1 > 0)):
        raise BadInput(f"'c1' and 'c2' of 'theorem1' must be positive. Got {c1} and {c2}.")
    if not (a > 1 and b > 1):
        raise BadInput(f"'a' and 'b' of 'theorem1' must be greater than 1. Got {a} and {b}.")
    D = _suboptimal_gaps(matrix)
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
    if math.isinf(gamma_min):
        notes.append("gamma is infinite: Corollary 1 does not cover this matrix.")
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
    return _capped(sum(terms.values()), horizon, D_max, terms, notes)


def theorem2(P: ArrayLike, horizon: int, *, alpha: float | None = None) -> Bound:
    """MultiSBM-Feedback (AAMAS 2020, Theorem 2).

    min(sum (alpha+2) D_max/D_i^2, sum 2 (alpha+2)/D_i) ln T + (alpha+8) D_max K/(2 alpha) + lower order.
    """
    matrix = _square(P)
    _at_least("horizon", horizon, 1)
    if alpha is None:
        alpha = sbm_alpha(len(matrix), horizon)
    if not 0 < finite("alpha", alpha, of="theorem2") <= MOST_ALPHA:
        raise BadInput(f"'alpha' of 'theorem2' must be greater than 0 and at most {MOST_ALPHA:g}. Got {alpha}.")
    D = _suboptimal_gaps(matrix)
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
    if gamma_min is not None and math.isinf(gamma_min):
        notes.append("gamma is infinite: Corollary 2 does not cover this matrix, so the bound is infinite.")
        raw = math.inf
    elif gamma_min is not None and gamma_min > 1 + 1e-9:
        notes.append(f"Beyond the linear link gamma = {gamma_min:.4g} enlarges the lower order.")
    return _capped(raw, horizon, D_max, terms, notes)


def theorem3(P: ArrayLike, horizon: int, slate_size: int, *, alpha: float = 1.01) -> Bound:
    """MultiRUCB (AAMAS 2020, Theorem 3), for alpha > 1 and slates of m arms.

    D_max (2(4a-1)K^2/(2a-1))^(1/(2a-1)) (2a-1)/(a-1)
    + min(D D_max ln T, (8 + 2 D ln 2D) D_max + (m+1)/(m-1) D_max ln T sum 4a/D_i^2), with a = alpha and
    D = sum_{i != *} 4a/D_i^2 + 2/(m(m-1)) sum_{i < j, both != *} 4a/D_ij^2.
    """
    matrix = _square(P)
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
    lead = math.inf
    if alpha > 1:
        width = 2 * alpha - 1
        lead = D_max * _power(2 * (4 * alpha - 1) * K**2 / width, 1 / width) * width / (alpha - 1)
    else:
        notes.append(f"Theorem 3 needs alpha > 1; at alpha = {alpha} it gives no finite bound.")
    if math.isinf(D):
        notes.append("Two suboptimal arms tie (D_ij = 0), which makes D and the bound infinite.")
        first = second = math.inf
    else:
        first = D * D_max * log_T
        second = (8 + 2 * D * math.log(2 * D)) * D_max + (m + 1) / (m - 1) * D_max * log_T * arm_part
    terms = {"lead": lead, "D": D, "D ln T branch": first, "(m+1)/(m-1) branch": second}
    return _capped(lead + min(first, second), horizon, D_max, terms, notes)


def _capped(raw: float, horizon: int, D_max: float, terms: dict[str, float], notes: list[str]) -> Bound:
    trivial = horizon * D_max
    if raw > trivial:
        notes = [*notes, f"Vacuous at this horizon: above T D_max = {trivial:.4g}, which any play stays within."]
    return Bound(value=min(raw, trivial), raw=raw, capped=raw > trivial, terms=terms, notes=tuple(notes))


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


from multiduel.theory.slates import SlateBound as SlateBound  # noqa: E402 - it needs the names above
from multiduel.theory.slates import multi_dueling_lower_bound as multi_dueling_lower_bound  # noqa: E402
