"""Pairwise preference multileaving: clicks say that one document is preferred to another; rankers that agree have credit.

Paper      Oosterhuis, de Rijke. Sensitive and Scalable Online Evaluation with Theoretical Guarantees. CIKM 2017.
Symbols    Omega_k the documents that may stand in slot k; t(d) the first slot, from 0, in which d may stand: its best rank.
Evidence   the rank, from 1, of the slot's document in each ranking; of the slot itself, how many documents Omega_k had.
Fair       in the mean of the credit: a pair that is looked at was as likely to stand the other way round. The sign of the
           credit, which is the outcome here, need not be, since the pairs of a page hang together: docs/rankers.md has the bias
           that was measured.
Deviates   The authors' code divides a page's credit by its number of pairs, which the paper does not; only the sign counts here.
           A ranker that returned nothing has no ranks to agree with: it loses to every ranker that returned a clicked document.

    for each slot k from 0:
      Omega_k = the documents among the first k + 1 of any ranking that are not yet in the list; append one of them at random
    a clicked document i is preferred to a document j that was not clicked and stands above the lowest click, or just below it,
      if neither stands above slot max(t(i), t(j)): before, only one of them could be chosen
      then every ranker that has i above j has credit 1 / product of 1 - 1 / |Omega_x| over slots x from min(t) to max(t) - 1,
      one over the chance that whichever could be chosen earlier was not
    more credit wins
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.random import below
from multiduel.rankers.multileaving.contract import (
    EMPTY,
    NOWHERE,
    Lists,
    judge,
    lay_out,
    more_wins,
    note_ranks,
    page_length,
    release,
)

ROUNDING = 1e-9  # credits this close are the same sum in another order


class Pairwise(NamedTuple):
    pool: Ints  # i8[longest]  scratch: Omega
    credit: Floats  # f8[n]  scratch


def pairwise(places: int, longest: int, depth: int) -> Pairwise:
    return Pairwise(np.zeros(longest, np.int64), np.zeros(places))


@lay_out.implement(Pairwise)
def choose_evenly(method: Pairwise, rng: Stream, lists: Lists, shown: Ints, evidence: Floats) -> int:
    order, _, rows, own, taken = lists
    pool = method.pool
    n = rows.shape[0]
    length = page_length(lists, shown.shape[0])
    size = 0
    for k in range(length):
        for a in range(n):
            if k < own[a]:
                document = int(order[rows[a], k])
                if taken[document] == 0:
                    taken[document] = 1
                    pool[size] = document
                    size += 1
        chosen = below(size, rng)
        document = pool[chosen]
        shown[k] = document
        note_ranks(lists, document, evidence[k])
        evidence[k, n] = size
        size -= 1
        pool[chosen] = pool[size]
    release(taken, shown, length)
    release(taken, pool, size)
    return length


@judge.implement(Pairwise)
def agree(method: Pairwise, evidence: Floats, clicked: Floats, length: int, places: int, wins: Floats) -> None:
    credit = method.credit
    lowest = -1
    for k in range(length):
        lowest = k if clicked[k] > 0.0 else lowest
    for a in range(places):
        credit[a] = 0.0
    for i in range(length):
        for j in range(min(lowest + 2, length)):  # the user has looked at the one just below, too
            if clicked[i] > 0.0 and clicked[j] == 0.0:
                weight = pair_weight(evidence, i, j, length, places)
                for a in range(places):
                    credit[a] += weight if evidence[i, a] < evidence[j, a] else 0.0
    for a in range(places):
        for b in range(a):
            if returned_nothing(evidence, length, a) != returned_nothing(evidence, length, b):
                more_wins(clicked_own(evidence, clicked, length, a), clicked_own(evidence, clicked, length, b), a, b, wins)
            else:
                level = abs(credit[a] - credit[b]) <= ROUNDING * (credit[a] + credit[b])
                more_wins(0.0 if level else credit[a] - credit[b], 0.0, a, b, wins)


@kernel
def returned_nothing(evidence: Floats, length: int, place: int) -> bool:
    return length > 0 and evidence[0, place] >= EMPTY


@kernel
def clicked_own(evidence: Floats, clicked: Floats, length: int, place: int) -> int:
    """How many clicked documents the ranker returned."""
    count = 0
    for k in range(length):
        count += 1 if clicked[k] > 0.0 and evidence[k, place] < NOWHERE else 0
    return count


@kernel
def pair_weight(evidence: Floats, i: int, j: int, length: int, places: int) -> float:
    """0 if the documents of slots i and j could not have stood the other way round."""
    first, second = NOWHERE, NOWHERE
    for a in range(places):
        first = min(first, evidence[i, a])
        second = min(second, evidence[j, a])
    low, high = int(min(first, second)) - 1, int(max(first, second)) - 1
    if min(i, j) < high:
        return 0.0
    chance = 1.0
    for x in range(max(0, low), min(high, length)):
        chance *= 1.0 - 1.0 / max(1.0, evidence[x, places])
    return 1.0 / chance if chance > 0.0 else 0.0
