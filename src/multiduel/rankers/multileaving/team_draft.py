"""Team draft: rankers pick in turns, as captains pick players; a click is a point for the captain.

Papers     Radlinski, Kurup, Joachims. How Does Clickthrough Data Reflect Retrieval Quality? CIKM 2008 (two rankers).
           Schuth, Sietsma, Whiteson, Lefortier, de Rijke. Multileaved Comparisons for Fast Online Evaluation. CIKM
           2014.
Evidence   1 for the place that picked the slot's document, 0 for the others.
Fair       exactly, among rankers that fill the page: who picks in which slot is drawn without looking at the rankings.

    repeat until the list is full, or nobody has a document left:
      for each ranker, in a random order:
        append its best document that is not yet in the list; the slot belongs to this ranker. Without one it passes
    a ranker's credit is the number of clicks on its slots; more credit wins
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.random import below
from multiduel.rankers.multileaving.contract import (
    Lists,
    judge,
    lay_out,
    more_credit_wins,
    page_length,
    release,
    top_free,
)


class TeamDraft(NamedTuple):
    turn: Ints  # i8[n]  scratch: places in the order of their picks
    next: Ints  # i8[n]  scratch: where each ranking's first free document may be
    credit: Floats  # f8[n]  scratch


def team_draft(places: int, longest: int, depth: int) -> TeamDraft:
    return TeamDraft(np.zeros(places, np.int64), np.zeros(places, np.int64), np.zeros(places))


@lay_out.implement(TeamDraft)
def draft(method: TeamDraft, rng: Stream, lists: Lists, shown: Ints, evidence: Floats) -> int:
    order, _, rows, own, taken = lists
    turn, next = method.turn, method.next
    n = rows.shape[0]
    for a in range(n):
        turn[a] = a
        next[a] = 0
    length = page_length(lists, shown.shape[0])
    k = 0
    seat = 0
    while k < length:
        other = seat + below(n - seat, rng)  # a random order, drawn as far as it is used
        place = turn[other]
        turn[other] = turn[seat]
        turn[seat] = place
        seat = (seat + 1) % n
        ranking = order[rows[place]]
        next[place] = top_free(ranking, next[place], own[place], taken)
        if next[place] == own[place]:
            continue
        document = int(ranking[next[place]])
        shown[k] = document
        taken[document] = 1
        for a in range(n + 1):
            evidence[k, a] = 0.0
        evidence[k, place] = 1.0
        k += 1
    release(taken, shown, length)
    return length


@judge.implement(TeamDraft)
def count_points(method: TeamDraft, evidence: Floats, clicked: Floats, length: int, places: int, wins: Floats) -> None:
    more_credit_wins(method.credit, evidence, clicked, length, places, wins)
