"""What a preference matrix implies: winners, gaps, Property 1, transitivity, regret and its bounds.

Papers     Du, Wang, Huang. Dueling Bandits: From Two-dueling to Multi-dueling. AAMAS 2020 (Property 1, Theorems 1-3).
           Komiyama, Honda, Kashima, Nakagawa. Regret lower bound and optimal algorithm in dueling bandits. COLT 2015.
Symbols    K arms, P[i, j] = Pr(i beats j), * the Condorcet winner, D_ij = P[i, j] - 1/2, D_i = D_*i, H = sum 1/D_i^2,
           m the slate size, T the horizon.

>>> from multiduel import theory
>>> P = [[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]
>>> theory.condorcet_winner(P), theory.gaps(P).round(2).tolist()
(0, [0.0, 0.3, 0.4])
>>> f"{theory.komiyama_lower_bound(P):.3f} ln T"
'1.322 ln T'
"""

from __future__ import annotations

from multiduel.theory.matrix import (
    best_response_reaches_winner,
    borda_scores,
    borda_winners,
    condorcet_winner,
    copeland_scores,
    copeland_winners,
    gamma,
    gaps,
    hardness,
    is_strongly_transitive,
    is_total_order,
    is_weakly_transitive,
    kl,
    komiyama_lower_bound,
)
from multiduel.theory.regret import (
    Bound,
    average_regret,
    sbm_alpha,
    slot_average_regret,
    strong_regret,
    theorem1,
    theorem2,
    theorem3,
    weak_regret,
)
from multiduel.theory.slates import SlateBound, multi_dueling_lower_bound

__all__ = [
    "Bound",
    "SlateBound",
    "average_regret",
    "best_response_reaches_winner",
    "borda_scores",
    "borda_winners",
    "condorcet_winner",
    "copeland_scores",
    "copeland_winners",
    "gamma",
    "gaps",
    "hardness",
    "is_strongly_transitive",
    "is_total_order",
    "is_weakly_transitive",
    "kl",
    "komiyama_lower_bound",
    "multi_dueling_lower_bound",
    "sbm_alpha",
    "slot_average_regret",
    "strong_regret",
    "theorem1",
    "theorem2",
    "theorem3",
    "weak_regret",
]
