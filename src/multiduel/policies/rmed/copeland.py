"""What CW-RMED and ECW-RMED keep of all pairs: which must be drawn, which are swept over, when a winner is certain."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import random_order
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.policies.rmed.divergence import Duels, no_duels, record, valid_duels
from multiduel.policies.rmed.forced_draws import draws_due, lnln
from multiduel.policies.rmed.linear_programme import Programme, room_for_programme

PLAYED, LISTED, NEXT, HEAD, WAITING, STEP, SEEN = 0, 1, 2, 3, 4, 5, 6  # places in `place`
IN_R, IN_N, IN_LINE = 0, 1, 2  # rows of `member`


class Pairs(NamedTuple):
    """Inside, arms are numbered in a random order, drawn at the start. A pair i <= j is the number i K + j."""

    arms: Ints  # i8[K]      arms[i] is the arm that is numbered i here
    numbers: Ints  # i8[K]      numbers[arms[i]] = i
    duels: Duels
    L: Ints  # i8[K]      superiors of each arm: how many beat it
    ranked: Ints  # i8[K, K]   ranked[i, :L[i]] are they, by evidence, least first
    beats: Ints  # i8[K]      how many each arm beats
    beaten: Ints  # i8[K, K]   beaten[i, :beats[i]] are they, by evidence, least first
    lists: Ints  # i8[2, K (K + 1) / 2]  L_C and L_N, in the order in which pairs joined
    member: Ints  # i8[3, K K]  1 if the pair is in L_R, in L_N, in the line
    line: Ints  # i8[K K]   pairs that were found short of draws, a ring
    place: Ints  # i8[7]      pairs played of L_C, its length, length of L_N; head and length of the line; a step to end;
    #                        draws seen to
    q: Floats  # f8[K, K]   scratch: draws per ln t of the pairs i < j
    costs: Floats  # f8[K]      scratch
    values: Floats  # f8[K]      scratch
    order: Ints  # i8[K]      scratch
    programme: Programme  # scratch of CW-RMED; ECW-RMED needs none


def all_pairs(n_arms: int, rng: Stream) -> Pairs:
    """L_C <- all pairs, which also stand in line: nothing is known of them."""
    K = n_arms
    lists = np.zeros((2, K * (K + 1) // 2), np.int64)
    member = np.zeros((3, K * K), np.int64)
    line = np.zeros(K * K, np.int64)
    numbers = [i * K + j for i in range(K) for j in range(i + 1, K)]
    first = numbers or [0]  # K = 1: the arm alone
    lists[0, : len(first)] = first
    member[IN_R, first] = 1
    line[: len(numbers)] = numbers
    member[IN_LINE, numbers] = 1
    place = np.array([0, len(first), 0, 0, len(numbers), 0, 0])
    arms = random_order(K, rng)
    return Pairs(
        arms=arms,
        numbers=np.argsort(arms),
        duels=no_duels(K),
        L=np.zeros(K, np.int64),
        ranked=np.zeros((K, K), np.int64),
        beats=np.zeros(K, np.int64),
        beaten=np.zeros((K, K), np.int64),
        lists=lists,
        member=member,
        line=line,
        place=place,
        q=np.zeros((K, K)),
        costs=np.zeros(K),
        values=np.zeros(K),
        order=np.zeros(K, np.int64),
        programme=room_for_programme(K, 0, 0),
    )


def valid_pairs(pairs: Pairs) -> dict[str, Any]:
    """Lists hold each pair at most once, flags say who is listed, and the sweep always has a next pair."""
    K, place = len(pairs.arms), pairs.place.tolist()
    P, D = pairs.duels.P, pairs.duels.D
    most = pairs.lists.shape[1]
    here = 0 <= place[PLAYED] <= place[LISTED] <= most and 0 <= place[NEXT] <= most and place[STEP] in (0, 1)
    goes_on = place[PLAYED] < place[LISTED] or place[STEP] == 1
    ring = 0 <= place[HEAD] < len(pairs.line) and 0 <= place[WAITING] <= len(pairs.line)
    waiting = pairs.line[(place[HEAD] + np.arange(place[WAITING] if ring else 0)) % len(pairs.line)]
    lists = {
        IN_R: pairs.lists[0, place[PLAYED] : place[LISTED]] if here else None,
        IN_N: pairs.lists[1, : place[NEXT]] if here else None,
        IN_LINE: waiting if ring else None,
    }
    flagged = all(listed is not None and _flagged(listed, pairs.member[row], K) for row, listed in lists.items())
    beaten = P < 0.5
    return {
        "arms": validity.order(pairs.arms),
        "numbers": validity.order(pairs.numbers) and bool(np.all(pairs.arms[pairs.numbers] == np.arange(K))),
        "duels": valid_duels(pairs.duels),
        "L": bool(np.all(beaten.sum(axis=1) == pairs.L)),
        "ranked": _ranked(pairs.ranked, beaten, D),
        "beats": bool(np.all(pairs.beats == beaten.sum(axis=0))),
        "beaten": _ranked(pairs.beaten, beaten.T, D.T),
        "lists": here and _are_pairs(pairs.lists, K),
        "member": flagged and validity.flags(pairs.member),
        "line": ring and _are_pairs(pairs.line, K) and bool(np.all(waiting // K != waiting % K)),
        "place": here and goes_on and ring and -1 <= place[SEEN] <= validity.MOST,
        "q": validity.SCRATCH,
        "costs": validity.SCRATCH,
        "values": validity.SCRATCH,
        "order": validity.SCRATCH,
        "programme": dict.fromkeys(pairs.programme._fields, validity.SCRATCH),
    }


def _are_pairs(values: Ints, K: int) -> bool:
    """i K + j with i <= j."""
    return validity.counts(values, K * K - 1) and bool(np.all(values // K <= values % K))


def _flagged(listed: Ints, member: Ints, K: int) -> bool:
    return _are_pairs(listed, K) and sorted(listed.tolist()) == np.flatnonzero(member).tolist()


def _ranked(rows: Ints, whom: Any, cost: Floats) -> bool:
    """Row i begins with the arms that ``whom`` marks, by their cost, least first."""
    for row, marked, costs in zip(rows, whom, cost, strict=True):
        arms = np.flatnonzero(marked)
        first = row[: len(arms)]
        if sorted(first.tolist()) != arms.tolist() or bool(np.any(np.diff(costs[first]) < 0.0)):
            return False
    return True


@kernel
def _insert(order: Ints, n: int, cost: Floats, j: int) -> None:
    """Put j among order[:n], which ascend by cost."""
    at = n
    while at > 0 and cost[order[at - 1]] > cost[j]:
        order[at] = order[at - 1]
        at -= 1
    order[at] = j


@kernel
def _remove(order: Ints, n: int, j: int) -> None:
    """Take j out of order[:n]."""
    found = 0
    for k in range(n - 1):
        found = 1 if order[k] == j else found
        order[k] = order[k + found]


# Pairs that must be drawn: N_ij < alpha sqrt(ln t), or |P_ij - 1/2| < beta / ln ln t.


@kernel
def is_short(params: Any, pairs: Pairs, pair: int, round: int) -> bool:
    K = pairs.L.shape[0]
    i, j = pair // K, pair % K
    near = abs(pairs.duels.P[i, j] - 0.5) < params.beta / max(1.0, lnln(float(round)))
    return pairs.duels.N[i, j] < draws_due(params, round) or near


@kernel
def stand_in_line(pairs: Pairs, pair: int) -> None:
    """At the back; a pair that stands there already keeps its place."""
    place = pairs.place
    if pairs.member[IN_LINE, pair] == 0:
        pairs.member[IN_LINE, pair] = 1
        pairs.line[(place[HEAD] + place[WAITING]) % pairs.line.shape[0]] = pair
        place[WAITING] += 1


@kernel
def next_short(params: Any, pairs: Pairs, round: int) -> int:
    """The first in line that is still short of draws, sent to the back of the line; -1 if there is none."""
    place = pairs.place
    K = pairs.L.shape[0]
    if draws_due(params, round) > place[SEEN]:  # time has made pairs short: once for each whole number
        place[SEEN] = draws_due(params, round)
        for i in range(K):
            for j in range(i + 1, K):
                if is_short(params, pairs, i * K + j, round):
                    stand_in_line(pairs, i * K + j)
    while place[WAITING] > 0:
        pair = pairs.line[place[HEAD]]
        place[HEAD] = (place[HEAD] + 1) % pairs.line.shape[0]
        place[WAITING] -= 1
        pairs.member[IN_LINE, pair] = 0
        if is_short(params, pairs, pair, round):
            stand_in_line(pairs, pair)
            return pair
    return -1


@kernel
def tell_pair(params: Any, pairs: Pairs, round: int, i: int, j: int, i_won: float, j_won: float) -> None:
    _forget_superior(pairs, i, j)
    _forget_superior(pairs, j, i)
    record(pairs.duels, i, j, i_won, j_won)
    _note_superior(pairs, i, j)
    _note_superior(pairs, j, i)
    if round == 0:  # observed: whoever is short now is found by looking at all, so that the order of arrival is the same to it
        pairs.place[SEEN] = -1
        return
    pair = min(i, j) * pairs.L.shape[0] + max(i, j)
    if is_short(params, pairs, pair, round):
        stand_in_line(pairs, pair)


@kernel
def _forget_superior(pairs: Pairs, i: int, j: int) -> None:
    if pairs.duels.P[i, j] < 0.5:
        _remove(pairs.ranked[i], pairs.L[i], j)
        pairs.L[i] -= 1
        _remove(pairs.beaten[j], pairs.beats[j], i)
        pairs.beats[j] -= 1


@kernel
def _note_superior(pairs: Pairs, i: int, j: int) -> None:
    if pairs.duels.P[i, j] < 0.5:
        _insert(pairs.ranked[i], pairs.L[i], pairs.duels.D[i], j)
        pairs.L[i] += 1
        _insert(pairs.beaten[j], pairs.beats[j], pairs.duels.D[:, j], i)
        pairs.beats[j] += 1


# Sweeps.


@kernel
def next_listed(pairs: Pairs) -> int:
    """The next pair of L_C, taken out of L_R."""
    pair = pairs.lists[0, pairs.place[PLAYED]]
    pairs.place[PLAYED] += 1
    pairs.place[STEP] = 1
    pairs.member[IN_R, pair] = 0
    return pair


@kernel
def add_next(pairs: Pairs, i: int, j: int) -> None:
    """L_N <- L_N and the pair, unless it is in L_R or in L_N."""
    pair = min(i, j) * pairs.L.shape[0] + max(i, j)
    if pairs.member[IN_R, pair] == 0 and pairs.member[IN_N, pair] == 0:
        pairs.member[IN_N, pair] = 1
        pairs.lists[1, pairs.place[NEXT]] = pair
        pairs.place[NEXT] += 1


@kernel
def end_sweep(pairs: Pairs) -> None:
    """If L_C is played: L_C <- L_R <- L_N; L_N <- empty."""
    place = pairs.place
    if place[PLAYED] < place[LISTED]:
        return
    for k in range(place[NEXT]):
        pair = pairs.lists[1, k]
        pairs.lists[0, k] = pair
        pairs.member[IN_R, pair] = 1
        pairs.member[IN_N, pair] = 0
    place[LISTED] = place[NEXT]
    place[NEXT] = 0
    place[PLAYED] = 0


# Certainty.


@kernel
def fewest_superiors(pairs: Pairs) -> int:
    least = pairs.L[0]
    for i in range(pairs.L.shape[0]):
        least = min(least, pairs.L[i])
    return least


@kernel
def cheapest_upset(pairs: Pairs, i1: int, level: float) -> float:
    """The least evidence that must be wrong for some other arm to have fewer superiors than the empirical winner i1.

    If that is at most ``level``, any number from it to ``level``.

    For i2 to overtake, L[i2] - L[i1] + 1 steps are needed: i1 loses a duel it seems to win, or i2 wins one it seems to
    lose, a step each; their own duel, if i1 seems to win it, counts as two.
    """
    P, D, L, ranked = pairs.duels.P, pairs.duels.D, pairs.L, pairs.ranked
    K = L.shape[0]
    rivals, n = pairs.beaten[i1], pairs.beats[i1]  # those whom i1 beats, by the evidence for it
    worst = math.inf
    for i2 in range(K):
        if i2 == i1 or worst <= level:
            continue
        needed = L[i2] - L[i1] + 1
        both = D[i2, i1] if P[i2, i1] < 0.5 else math.inf
        if needed <= 2:
            worst = min(worst, both)
        total = 0.0
        x = 0  # merge the two lists, the cheapest first
        y = 0
        for taken in range(1, needed + 1):
            x += 1 if x < n and rivals[x] == i2 else 0
            y += 1 if y < L[i2] and ranked[i2, y] == i1 else 0
            lost_by_i1 = D[rivals[x], i1] if x < n else math.inf
            won_by_i2 = D[i2, ranked[i2, y]] if y < L[i2] else math.inf
            x += 1 if lost_by_i1 <= won_by_i2 else 0
            y += 0 if lost_by_i1 <= won_by_i2 else 1
            total += min(lost_by_i1, won_by_i2)
            if total >= worst:
                break
            if taken == needed - 2:
                worst = min(worst, both + total)
            if taken == needed:
                worst = total
    return worst


@kernel
def regret_of(pairs: Pairs, i: int, j: int, least: int) -> float:
    """r_ij = (L_i + L_j - 2 min L) / (2 (K - 1))"""
    return (pairs.L[i] + pairs.L[j] - 2 * least) * (0.5 / (pairs.L.shape[0] - 1.0))


@kernel
def upsets(pairs: Pairs, level: float) -> None:
    """values[i] <- the evidence of the cheapest upset of empirical winner i, exact above level; -1 for the others."""
    least = fewest_superiors(pairs)
    for i in range(pairs.L.shape[0]):
        pairs.values[i] = cheapest_upset(pairs, i, level) if pairs.L[i] == least else -1.0


@kernel
def surest_winner(pairs: Pairs) -> int:
    """The empirical winner that is hardest to upset."""
    least = fewest_superiors(pairs)
    best = 0
    best_upset = -1.0
    for i in range(pairs.L.shape[0]):
        if pairs.L[i] == least:
            upset = cheapest_upset(pairs, i, -1.0)
            if upset > best_upset:
                best_upset = upset
                best = i
    return pairs.arms[best]
