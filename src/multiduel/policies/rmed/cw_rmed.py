"""CW-RMED: find a Copeland winner, one of the arms that beat the most others, at the least possible regret.

Paper      Komiyama, Honda, Nakagawa. Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal Algorithm, and
           Computationally Efficient Algorithm. ICML 2016.
Assumes    no two arms of equal strength; a Condorcet winner is not needed.
Symbols    those of ECW-RMED; x_ij = q_ij kl(P_ij) the evidence per ln t that draws of a pair bring.
Deviates   as ECW-RMED. Where several q are equally good, the one that the simplex method meets is taken.

    as ECW-RMED, with the q of least sum r_ij q_ij such that every change of the P_ij that makes i1 no winner contradicts
    evidence of at least 1: for every other arm i2 and every set of pairs that, turned round, leave i2 with fewer superiors
    than i1, the x_ij of the set sum to 1 or more

How it is computed. The linear programme has more constraints than can be written down, but the most broken one for each i2 is
found by sorting. So: start without any, solve, add what is broken, repair the solution by the dual simplex method, until
nothing is broken. A step takes far longer than ECW-RMED's, and grows fast with K: for a dozen arms, not for fifty.

>>> from multiduel import make
>>> make("cw-rmed", n_arms=5, seed=0).ask().round
1
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import PolicySpec, ask, init, recommend, tell, valid
from multiduel.kernels.dispatch import kernel
from multiduel.policies.rmed.copeland import (
    PARAMETERS,
    Pairs,
    Programme,
    all_pairs,
    choose_pair,
    learn_slate,
    rates,
    regret_of,
    room_for_programme,
    surest_winner,
)
from multiduel.policies.rmed.soundness import sound_pairs

SLACK = -1
TOLERANCE = 1e-9


class Params(NamedTuple):
    alpha: float = 3.0
    beta: float = 0.01


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> Pairs:
    n = n_arms * (n_arms - 1) // 2
    return all_pairs(n_arms, rng)._replace(programme=room_for_programme(n_arms, n, n + 2 * n_arms))


@valid.implement(Params)
def sound(params: Params, state: Pairs, n_arms: int, round: int) -> dict[str, Any]:
    return sound_pairs(state)


@kernel
def variable(K: int, i: int, j: int) -> int:
    """The number of the pair's x among the n variables."""
    a, b = min(i, j), max(i, j)
    return a * K - a * (a + 1) // 2 + b - a - 1


@rates.implement(Params)
def solve(params: Params, pairs: Pairs, i1: int) -> float:
    """Dual simplex with cuts. Row r reads: its variable = table[r, n] + sum over k of table[r, k] x (variable free[k])."""
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
                    n = insert(costs, order, n, q[min(i1, j), max(i1, j)], variable(K, i1, j))
                if P[i2, j] < 0.5:
                    n = insert(costs, order, n, q[min(i2, j), max(i2, j)], variable(K, i2, j))
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


@kernel
def insert(costs: Floats, order: Ints, n: int, cost: float, name: int) -> int:
    """Put a variable in its place among n, cheapest first."""
    at = n
    while at > 0 and costs[at - 1] > cost:
        costs[at] = costs[at - 1]
        order[at] = order[at - 1]
        at -= 1
    costs[at] = cost
    order[at] = name
    return n + 1


@kernel
def add_variable(programme: Programme, row: int, x: int) -> None:
    """Add x to the row, in terms of the free variables."""
    table = programme.table
    for k in range(programme.free.shape[0]):
        if programme.free[k] == x:
            table[row, k] += 1.0
            return
    for r in range(row):
        if programme.basic[r] == x:
            for k in range(table.shape[1]):
                table[row, k] += table[r, k]
            return


@kernel
def repair(programme: Programme, rows: int) -> int:
    """Pivot until no row is negative, then drop the constraints that do not bind. Returns the number of rows."""
    table, price = programme.table, programme.price
    n = price.shape[0]
    for _ in range(200 * (n + rows)):
        row = 0
        for r in range(rows):
            row = r if table[r, n] < table[row, n] else row
        if table[row, n] >= -TOLERANCE:
            break
        enter = -1
        for k in range(n):
            if table[row, k] > TOLERANCE and (enter < 0 or price[k] * table[row, enter] < price[enter] * table[row, k]):
                enter = k
        if enter < 0:
            break
        pivot(programme, rows, row, enter)
    kept = 0
    for r in range(rows):
        if programme.basic[r] != SLACK:
            programme.basic[kept] = programme.basic[r]
            for k in range(n + 1):
                table[kept, k] = table[r, k]
            kept += 1
    return kept


@kernel
def pivot(programme: Programme, rows: int, row: int, enter: int) -> None:
    """The row's variable and the free variable change places."""
    table, price = programme.table, programme.price
    n = price.shape[0]
    scale = 1.0 / table[row, enter]
    for k in range(n + 1):
        table[row, k] *= -scale
    table[row, enter] = scale
    for r in range(rows):
        factor = table[r, enter]
        if r != row and factor != 0.0:
            table[r, enter] = 0.0
            for k in range(n + 1):
                table[r, k] += factor * table[row, k]
    factor = price[enter]
    price[enter] = 0.0
    for k in range(n):
        price[k] += factor * table[row, k]
    swap = programme.basic[row]
    programme.basic[row] = programme.free[enter]
    programme.free[enter] = swap


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
    name="cw-rmed",
    title="CW-RMED",
    params=Params,
    cite="komiyama2016",
    slate="two",
    assumes="no ties; a Condorcet winner is not needed",
    regret="Copeland regret O(ln T), optimal constant",
    use="A dozen options at most, clearly different, when perhaps none beats every other and time to think is cheap.",
    parameters=PARAMETERS,
)
