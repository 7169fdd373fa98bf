"""CW-RMED and ECW-RMED: find a Copeland winner, one of the arms that beat the most others, at the least possible regret.

Paper      Komiyama, Honda, Nakagawa. Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal Algorithm, and
           Computationally Efficient Algorithm. ICML 2016: one listing; the least regret is CW-RMED's, ECW-RMED's is nearly so.
Assumes    no two arms of equal strength; a Condorcet winner is not needed.
Symbols    K arms, P_ij share of duels that i won against j, N_ij their number, kl divergence from 1/2, L_i superiors of
           i (P_ij < 1/2), r_ij = (L_i + L_j - 2 min L) / (2 (K - 1)) regret of a duel, q_ij draws per ln t, i1 an
           empirical Copeland winner; CW-RMED: x_ij = q_ij kl(P_ij) the evidence per ln t that draws of a pair bring.
Deviates   where the paper is open: of the pairs short of draws the one that waits longest is drawn; pairs are swept in
           the order in which they were listed, at first that of the arms in random order; of several winners the surest
           is i1. ln ln t is taken as at least 1. CW-RMED: where several q are equally good, the one that the simplex method
           meets is taken.

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

    q of CW-RMED: that of least sum r_ij q_ij such that every change of the P_ij that makes i1 no winner contradicts evidence
    of at least 1: for every other arm i2 and every set of pairs that, turned round, leave i2 with fewer superiors than i1,
    the x_ij of the set sum to 1 or more.

    q of ECW-RMED: q_{i1 j} = 1 / kl(P_{i1 j}) for every j that i1 beats, so that i1 keeps its duels. Then another arm i2
    overtakes i1 only if all but k of its superiors other than i1 fall, k = their number - (L_i2 - L_i1 + 1): q_{i2 j} =
    1 / ((h - k) kl(P_{i2 j})) for the h of them with the least r / kl, h > k the choice of least regret (none if k < 0).

How it is computed. A line of pairs short of draws is kept, not searched for. While L_C = {(i1, i1)} nothing is seen,
until ln t reaches the evidence of the cheapest upset or makes a pair short: one commitment. CW-RMED's linear programme has
more constraints than can be written down, but the most broken one for each i2 is found by sorting. So: start without any,
solve, add what is broken, repair the solution by the dual simplex method, until nothing is broken. A step takes far longer
than ECW-RMED's, and grows fast with K: for a dozen arms, not for fifty.

>>> from multiduel import make
>>> make("cw-rmed", n_arms=5, seed=0).ask().round, make("ecw-rmed", n_arms=5, seed=0).ask().round
(1, 1)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.choice import argmax, argmin, largest
from multiduel.kernels.compiler.dispatch import generic, kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement, init
from multiduel.kernels.quiet import quiet_through
from multiduel.policies.rmed.copeland import (
    LISTED,
    SEEN,
    STEP,
    Pairs,
    add_next,
    all_pairs,
    end_sweep,
    fewest_superiors,
    next_listed,
    next_short,
    regret_of,
    surest_winner,
    tell_pair,
    upsets,
    valid_pairs,
)
from multiduel.policies.rmed.forced_draws import rounds_before_due
from multiduel.policies.rmed.linear_programme import SLACK, TOLERANCE, add_variable, repair, room_for_programme


class CWRMED(NamedTuple):
    alpha: float = 3.0
    beta: float = 0.01


class ECWRMED(NamedTuple):
    alpha: float = 3.0
    beta: float = 0.01


@init.implement(CWRMED)
def init_cw_rmed(params: CWRMED, n_arms: int, rng: Stream) -> Pairs:
    n = n_arms * (n_arms - 1) // 2
    return all_pairs(n_arms, rng)._replace(programme=room_for_programme(n_arms, n, n + 2 * n_arms))


@init.implement(ECWRMED)
def init_ecw_rmed(params: ECWRMED, n_arms: int, rng: Stream) -> Pairs:
    return all_pairs(n_arms, rng)


@implement(CWRMED)
@implement(ECWRMED)
def valid(params: CWRMED | ECWRMED, state: Pairs, n_arms: int, round: int) -> dict[str, Any]:
    return valid_pairs(state)


@implement(CWRMED)
@implement(ECWRMED)
def ask(params: CWRMED | ECWRMED, state: Pairs, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    place = state.place
    K = state.L.shape[0]
    if place[STEP] == 1:
        place[STEP] = 0
        end_step(params, state, rng, math.log(round - 1.0))
    pair = next_short(params, state, round)
    if pair < 0:
        pair = next_listed(state)
    l, m = pair // K, pair % K
    slate[0] = state.arms[l]
    if l != m:
        slate[1] = state.arms[m]
        return 2, 1
    if limit == 1 or place[LISTED] > 1:
        return 1, 1
    upsets(state, -1.0)
    surest = largest(state.values)
    for i in range(K):
        if (state.values[i] == surest) != (i == l):  # another winner is as sure: who comes next is drawn anew each time
            return 1, 1
    rounds = quiet_through(surest, round, limit)
    return 1, min(rounds, rounds_before_due(params, place[SEEN], round, rounds))


@kernel
def end_step(params: Any, pairs: Pairs, rng: Stream, log_t: float) -> None:
    """After (l, m) was drawn: L_N <- L_N and the pairs of Q outside L_R."""
    values, L, N, q = pairs.values, pairs.L, pairs.duels.N, pairs.q
    K = L.shape[0]
    upsets(pairs, log_t)
    if largest(values) > log_t:  # the surest winner is certain
        i1 = argmax(values, rng)
    else:
        least = fewest_superiors(pairs)
        for i in range(K):
            values[i] = rates(params, pairs, i) if L[i] == least else math.inf
        i1 = argmin(values, rng)
        rates(params, pairs, i1)
        for i in range(K):
            for j in range(i + 1, K):
                if N[i, j] < q[i, j] * log_t:
                    add_next(pairs, i, j)
    add_next(pairs, i1, i1)
    end_sweep(pairs)


@generic
def rates(params: Any, pairs: Any, i1: int) -> float:
    """Write into pairs.q the draws per ln t that make the empirical winner i1 certain; returns their regret."""


@implement(CWRMED)
@implement(ECWRMED)
def draws_due(params: CWRMED | ECWRMED, round: int) -> int:
    """N_ij < alpha sqrt(ln t) means N_ij < this."""
    return int(math.ceil(params.alpha * math.sqrt(math.log(float(round)))))


@implement(CWRMED)
@implement(ECWRMED)
def tell(params: CWRMED | ECWRMED, state: Pairs, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    i, j = state.numbers[slate[0]], state.numbers[slate[1]]
    tell_pair(params, state, round, i, j, wins[0, 1], wins[1, 0])


@implement(CWRMED)
@implement(ECWRMED)
def recommend(params: CWRMED | ECWRMED, state: Pairs) -> int:
    return surest_winner(state)


@kernel
def insert_by_cost(costs: Floats, order: Ints, n: int, cost: float, name: int) -> int:
    """Put a name in its place among n, cheapest first. Returns n + 1."""
    at = n
    while at > 0 and costs[at - 1] > cost:
        costs[at] = costs[at - 1]
        order[at] = order[at - 1]
        at -= 1
    costs[at] = cost
    order[at] = name
    return n + 1


# The q of CW-RMED, by linear programming. Its variables are the x_ij, numbered by pairs.


@kernel
def variable(K: int, i: int, j: int) -> int:
    """The number of the pair's x among the n variables."""
    a, b = min(i, j), max(i, j)
    return a * K - a * (a + 1) // 2 + b - a - 1


@rates.implement(CWRMED)
def rates_cw_rmed(params: CWRMED, pairs: Pairs, i1: int) -> float:
    """Dual simplex with cuts."""
    K = pairs.L.shape[0]
    kl, q, programme = pairs.duels.kl, pairs.q, pairs.programme
    for i in range(K):
        for j in range(i + 1, K):
            x = variable(K, i, j)
            d = kl[i, j] + kl[j, i]  # one of them is 0
            programme.free[x] = x
            programme.price[x] = regret_of(pairs, i, j, pairs.L[i1]) / d if d > 0.0 else 0.0
    rows = 0
    for _ in range(50 * K):  # rounds of cuts; far fewer are needed
        before = rows
        rows = add_cuts(pairs, i1, rows)
        if rows == before:
            break
        rows = repair(programme, rows)
    read_evidence(pairs, rows)
    total = 0.0
    for i in range(K):
        for j in range(i + 1, K):
            d = kl[i, j] + kl[j, i]
            q[i, j] = q[i, j] / d if d > 0.0 else 0.0
            total += regret_of(pairs, i, j, pairs.L[i1]) * q[i, j]
    return total


@kernel
def read_evidence(pairs: Pairs, rows: int) -> None:
    """q[i, j] <- x_ij for i < j"""
    K = pairs.L.shape[0]
    programme = pairs.programme
    pairs.q[:] = 0.0
    for r in range(rows):
        if programme.basic[r] != SLACK:
            i = 0
            j = programme.basic[r] + 1
            while j >= K:  # the pairs (i, i + 1) .. (i, K - 1) are numbered one after the other
                i += 1
                j += i + 1 - K
            pairs.q[i, j] = max(programme.table[r, -1], 0.0)


@kernel
def add_cuts(pairs: Pairs, i1: int, rows: int) -> int:
    """For every i2, the most broken constraint as a new row. Returns the number of rows."""
    P, L, q, programme = pairs.duels.P, pairs.L, pairs.q, pairs.programme
    costs, order = programme.costs, programme.order
    K = L.shape[0]
    read_evidence(pairs, rows)
    for i2 in range(K):
        if i2 == i1:
            continue
        needed = L[i2] - L[i1] + 1
        n = 0
        for j in range(K):
            if j != i1 and j != i2:
                if P[j, i1] < 0.5:
                    n = insert_by_cost(costs, order, n, q[min(i1, j), max(i1, j)], variable(K, i1, j))
                if P[i2, j] < 0.5:
                    n = insert_by_cost(costs, order, n, q[min(i2, j), max(i2, j)], variable(K, i2, j))
        alone = 0.0 if n >= needed else math.inf  # without turning the duel of i1 and i2 round
        for k in range(min(n, needed)):
            alone += costs[k]
        rest = max(needed - 2, 0)
        both = q[min(i1, i2), max(i1, i2)] if P[i2, i1] < 0.5 and n >= rest else math.inf
        for k in range(min(n, rest)):
            both += costs[k]
        if min(alone, both) >= 1.0 - TOLERANCE:
            continue
        programme.table[rows] = 0.0
        programme.table[rows, -1] = -1.0
        programme.basic[rows] = SLACK
        if both < alone:
            add_variable(programme, rows, variable(K, i1, i2))
        for k in range(rest if both < alone else needed):
            add_variable(programme, rows, order[k])
        rows += 1
    return rows


# The q of ECW-RMED.


@rates.implement(ECWRMED)
def rates_ecw_rmed(params: ECWRMED, pairs: Pairs, i1: int) -> float:
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
        for j in range(K):
            if j != i1 and P[i2, j] < 0.5:
                n = insert_by_cost(costs, order, n, regret_of(pairs, i2, j, L[i1]) / kl[i2, j], j)
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


PARAMETERS = {
    "alpha": Parameter(meaning="every pair is drawn at least alpha sqrt(ln t) times", above=0.0),
    "beta": Parameter(meaning="a pair is drawn as long as its share is within beta / ln ln t of 1/2", at_least=0.0),
}

CW_RMED_SPEC = PolicySpec(
    name="cw-rmed",
    title="CW-RMED",
    params=CWRMED,
    cite="komiyama2016",
    slate="two",
    assumes="no ties; a Condorcet winner is not needed",
    regret="Copeland regret O(ln T), optimal constant",
    use="A dozen options at most, clearly different, when perhaps none beats every other and time to think is cheap.",
    parameters=PARAMETERS,
)

ECW_RMED_SPEC = PolicySpec(
    name="ecw-rmed",
    title="ECW-RMED",
    params=ECWRMED,
    cite="komiyama2016",
    slate="two",
    assumes="no ties; a Condorcet winner is not needed",
    regret="Copeland regret O(ln T), nearly optimal constant",
    use="Few options, two at a time, clearly different from each other, when perhaps none beats every other.",
    parameters=PARAMETERS,
)
