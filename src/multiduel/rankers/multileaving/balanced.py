"""Balanced interleaving: two rankings merged so that the list's top holds nearly as many of either's top.

Paper      Joachims. Evaluating Retrieval Performance Using Clickthrough Data. 2003.
Evidence   the rank, from 1, of the slot's document in each of the two rankings.
Fair       for equal rankings. Not for clicks at random: a b c d against b c d a makes the second win more often
           (Radlinski et al. 2008). Here because it is the classic; prefer the others.

    a fair coin says who goes first; k_a = k_b = 0
    until the list is full:
      if k_a < k_b, or k_a = k_b and A goes first:  append A's document k_a + 1 unless it is there;  k_a += 1
      else:                                         append B's document k_b + 1 unless it is there;  k_b += 1
    k is the better of the two ranks of the lowest clicked document; who has more clicked documents in its top k wins
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.inputs import BadInput
from multiduel.kernels.random import uniform
from multiduel.rankers.multileaving.contract import Lists, judge, lay_out, more_wins, note_ranks, page_length, release


class Balanced(NamedTuple):
    next: Ints  # i8[2]  scratch: k_a, k_b


def balanced(places: int, longest: int, depth: int) -> Balanced:
    if places > 2:
        raise BadInput(f"'balanced' compares two rankers at a time. Got {places}.")
    return Balanced(np.zeros(2, np.int64))


@lay_out.implement(Balanced)
def merge(method: Balanced, rng: Stream, lists: Lists, shown: Ints, evidence: Floats) -> int:
    order, _, rows, own, taken = lists
    next = method.next
    n = rows.shape[0]
    next[0] = next[1] = 0
    first = 0 if n == 1 or uniform(rng) < 0.5 else 1
    k = 0
    length = page_length(lists, shown.shape[0])
    while k < length:
        who = 0 if n == 1 or next[0] < next[1] or (next[0] == next[1] and first == 0) else 1
        if next[who] >= own[who]:  # it has no more: the other goes on
            who = 1 - who
        document = int(order[rows[who], next[who]])
        next[who] += 1
        if taken[document] == 0:
            taken[document] = 1
            shown[k] = document
            note_ranks(lists, document, evidence[k])
            evidence[k, n] = 0.0
            k += 1
    release(taken, shown, length)
    return length


@judge.implement(Balanced)
def count_tops(method: Balanced, evidence: Floats, clicked: Floats, length: int, places: int, wins: Floats) -> None:
    if places < 2:
        return
    top = 0.0
    for k in range(length):
        if clicked[k] > 0.0:
            top = min(evidence[k, 0], evidence[k, 1])  # of the lowest clicked document
    a = 0
    b = 0
    for k in range(length):
        if clicked[k] > 0.0:
            a += 1 if evidence[k, 0] <= top else 0
            b += 1 if evidence[k, 1] <= top else 0
    more_wins(a, b, 0, 1, wins)
