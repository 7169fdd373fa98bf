"""Pair draft: the pages of neutral team draft; every two rankers are judged by what the two alone would have drafted of them.

Papers     Neutral team draft: see neutral_team_draft.py. The judging is ours.
Why        In neutral team draft a ranker has credit for one document a round. With many rankers a page has one or two rounds, and
           two close rankers name the same document in most of them: nearly all clicks tell nothing of the two. But a round
           shows documents that others named too, on which the two need not agree.
Evidence   the rank, from 1, of the slot's document in each ranking; of the slot itself, the round, from 1. Documents of the
           last round that found no slot follow below the page.
Fair       exactly, among rankers that fill the page, for any number of rankers. Proof: the rounds are given by the rankings
           alone and only the order within each is drawn, every order as likely (neutral_team_draft.py). So what a and b pick is
           given too, and each round both pick equally many: the first picks are the documents that they named, which both
           did, and later either both pick or none. Exchanging, in all rounds at once, the slots of a's first pick and b's first
           pick, of their second picks, and so on maps pages to pages, each as likely as its image, also where the page ends
           within a round; the slots credited to a become those credited to b and the other way round. Clicks that look at slots
           only, however they hang together, are then as likely to favour a as to favour b: the sign of the credit is fair, and
           not its mean alone.

    pages as in neutral team draft
    for each pair of rankers a, b, in each round, from the round's documents:
      repeat: a names its best document that is left, b names its own
              if they are the same, it counts for neither; else a click on a's is a point for a, one on b's for b; take them out
      until one of them has no document left. Who returned none of the round's documents passes, and the other has its first pick
    more points win
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.rankers.multileaving.contract import NOWHERE, Lists, judge, lay_out, more_wins, note_ranks, page_length, release
from multiduel.rankers.multileaving.neutral_team_draft import draft_round


class PairDraft(NamedTuple):
    next: Ints  # i8[n]  scratch: where each ranking's first free document is
    named: Ints  # i8[n]  scratch: the documents of a round
    left: Ints  # i8[n]  scratch: 1 for those that the two have not yet taken out


def pair_draft(places: int, longest: int, depth: int) -> PairDraft:
    return PairDraft(np.zeros(places, np.int64), np.zeros(places, np.int64), np.zeros(places, np.int64))


@lay_out.implement(PairDraft)
def draft_rounds(method: PairDraft, rng: Stream, lists: Lists, shown: Ints, evidence: Floats) -> int:
    next, named = method.next, method.named
    n = lists.rows.shape[0]
    length = page_length(lists, shown.shape[0])
    for a in range(n):
        next[a] = 0
    k = 0
    round = 0.0
    while k < length:
        count = draft_round(lists, next, named, rng, shown, k, length)
        round += 1.0
        for s in range(count):
            note_ranks(lists, named[s], evidence[k])
            evidence[k, n] = round
            k += 1
    if k < evidence.shape[0]:
        evidence[k, n] = 0.0
    release(lists.taken, shown, length)
    return length


@judge.implement(PairDraft)
def draft_by_two(method: PairDraft, evidence: Floats, clicked: Floats, length: int, places: int, wins: Floats) -> None:
    for a in range(places):
        for b in range(a):
            points = 0.0
            start = 0
            while start < length:
                end = start + 1
                clicks = clicked[start]
                # No round has more documents than there are rankers; evidence that says so was not made here.
                while end < evidence.shape[0] and evidence[end, places] == evidence[start, places] and end < start + places:
                    clicks += clicked[end] if end < length else 0.0
                    end += 1
                if clicks > 0.0:
                    points += judge_round(method.left, evidence, clicked, length, start, end, a, b)
                start = end
            more_wins(points, 0.0, a, b, wins)


@kernel
def judge_round(left: Ints, evidence: Floats, clicked: Floats, length: int, start: int, end: int, a: int, b: int) -> float:
    """Points of a less those of b, in the round of the rows from ``start`` to before ``end``."""
    for s in range(end - start):
        left[s] = 1
    points = 0.0
    first = True
    while True:
        of_a = best_left(left, evidence, start, end, a)
        of_b = best_left(left, evidence, start, end, b)
        if (of_a < 0 or of_b < 0) and not first:
            return points
        if of_a != of_b:
            points += clicked[of_a] if 0 <= of_a < length else 0.0
            points -= clicked[of_b] if 0 <= of_b < length else 0.0
        if of_a < 0 or of_b < 0:
            return points
        left[of_a - start] = 0
        left[of_b - start] = 0
        first = False


@kernel
def best_left(left: Ints, evidence: Floats, start: int, end: int, place: int) -> int:
    """The row of the best document that is left and that the ranker returned; -1 without one."""
    best = -1
    for row in range(start, end):
        if left[row - start] == 1 and evidence[row, place] < (NOWHERE if best < 0 else evidence[best, place]):
            best = row
    return best
