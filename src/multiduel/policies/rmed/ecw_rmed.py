"""ECW-RMED: find a Copeland winner, one of the arms that beat the most others, at nearly the least possible regret.

Paper      Komiyama, Honda, Nakagawa. Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal Algorithm, and
           Computationally Efficient Algorithm. ICML 2016.
Assumes    no two arms of equal strength; a Condorcet winner is not needed.
Symbols    K arms, P_ij share of duels that i won against j, N_ij their number, kl divergence from 1/2, L_i superiors of
           i (P_ij < 1/2), r_ij = (L_i + L_j - 2 min L) / (2 (K - 1)) regret of a duel, q_ij draws per ln t, i1 an
           empirical Copeland winner.
Deviates   where the paper is open: of the pairs short of draws the one that waits longest is drawn; pairs are swept in
           the order in which they were listed, at first that of the arms in random order; of several winners the surest
           is i1. ln ln t is taken as at least 1.

    L_C <- L_R <- all pairs;  L_N <- empty
    repeat
      for (l, m) in L_C
        while some pair has N_ij < alpha sqrt(ln t) or |P_ij - 1/2| < beta / ln ln t:  draw it
        draw (l, m);  L_R <- L_R \\ {(l, m)}
        if every change of the P_ij that makes i1 no winner contradicts evidence sum N_ij kl(P_ij) > ln t:
               Q <- {(i1, i1)}
        else:  for the winner i1 with the least sum r_ij q_ij,  Q <- { (i, j) : N_ij < q_ij ln t } and (i1, i1)
        L_N <- L_N and the pairs of Q outside L_R
      L_C <- L_R <- L_N;  L_N <- empty

    q_{i1 j} = 1 / kl(P_{i1 j}) for every j that i1 beats, so that i1 keeps its duels. Then another arm i2 overtakes i1
    only if all but k of its superiors other than i1 fall, k = their number - (L_i2 - L_i1 + 1): q_{i2 j} =
    1 / ((h - k) kl(P_{i2 j})) for the h of them with the least r / kl, h > k the choice of least regret (none if k < 0).

How it is computed. A line of pairs short of draws is kept, not searched for. While L_C = {(i1, i1)} nothing is seen,
until ln t reaches the evidence of the cheapest upset or makes a pair short: one commitment.

>>> from multiduel import make
>>> make("ecw-rmed", n_arms=5, seed=0).ask().round
1
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import PolicySpec, ask, init, recommend, tell, valid
from multiduel.policies.rmed.copeland import (
    PARAMETERS,
    Pairs,
    all_pairs,
    choose_pair,
    learn_slate,
    rates,
    regret_of,
    surest_winner,
)
from multiduel.policies.rmed.soundness import sound_pairs


class Params(NamedTuple):
    alpha: float = 3.0
    beta: float = 0.01


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> Pairs:
    return all_pairs(n_arms, rng)


@valid.implement(Params)
def sound(params: Params, state: Pairs, n_arms: int, round: int) -> dict[str, Any]:
    return sound_pairs(state)


@rates.implement(Params)
def keep_duels(params: Params, pairs: Pairs, i1: int) -> float:
    P, kl, L, q = pairs.duels.P, pairs.duels.kl, pairs.L, pairs.q
    costs, order = pairs.costs, pairs.order
    K = L.shape[0]
    q[:] = 0.0
    total = 0.0
    for j in range(K):  # i1 keeps its duels
        if P[j, i1] < 0.5:
            q[min(i1, j), max(i1, j)] = 1.0 / kl[j, i1]
            total += regret_of(pairs, i1, j, L[i1]) / kl[j, i1]
    for i2 in range(K):  # i2 keeps its superiors
        n = L[i2] - (1 if P[i2, i1] < 0.5 else 0)  # those other than i1
        k = n - (L[i2] - L[i1] + 1)
        if i2 == i1 or k < 0:
            continue
        n = 0
        for j in range(K):  # by cost, cheapest first
            if j != i1 and P[i2, j] < 0.5:
                cost = regret_of(pairs, i2, j, L[i1]) / kl[i2, j]
                at = n
                while at > 0 and costs[at - 1] > cost:
                    costs[at] = costs[at - 1]
                    order[at] = order[at - 1]
                    at -= 1
                costs[at] = cost
                order[at] = j
                n += 1
        least = math.inf
        best = n
        sum_of_costs = 0.0
        for h in range(1, n + 1):
            sum_of_costs += costs[h - 1]
            if h > k and sum_of_costs / (h - k) < least:
                least = sum_of_costs / (h - k)
                best = h
        total += least
        for h in range(best):
            j = order[h]
            q[min(i2, j), max(i2, j)] = 1.0 / ((best - k) * kl[i2, j])
    return total


@ask.implement(Params)
def choose(params: Params, state: Pairs, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    return choose_pair(params, state, rng, round, limit, slate)


@tell.implement(Params)
def learn(params: Params, state: Pairs, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    learn_slate(state, params.alpha, params.beta, round, slate, wins)


@recommend.implement(Params)
def bet(params: Params, state: Pairs) -> int:
    return surest_winner(state)


SPEC = PolicySpec(
    name="ecw-rmed",
    title="ECW-RMED",
    params=Params,
    cite="komiyama2016",
    slate="two",
    assumes="no ties; a Condorcet winner is not needed",
    regret="Copeland regret O(ln T), nearly optimal constant",
    use="Few options, two at a time, clearly different from each other, when perhaps none beats every other.",
    parameters=PARAMETERS,
)
