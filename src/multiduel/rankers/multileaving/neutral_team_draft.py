"""Neutral team draft: team draft in rounds, in which rankers that want the same document share it; so it tells nothing of them.

Papers     Team draft: see team_draft.py. That documents which both rankers would show next teach nothing, and that leaving them
           out of the credit makes interleaving more sensitive: Chapelle, Joachims, Radlinski, Yue. Large-Scale Validation and
           Analysis of Interleaved Search Evaluation. TOIS 2012 (two rankers). For more than two the rule below is ours.
Evidence   1 for every place whose pick the slot's document was, 0 for the others.
Fair       exactly, among rankers that fill the page, for any number of rankers. Proof: which documents a round shows hangs
           on what was shown before it, as a set, and not on the order in which it was shown; so the rounds are given by
           the rankings alone, and only the order within each is drawn. Take two rankers a and b. In a round in which both
           want the same document their credits are equal. In any other, exchanging the slots of a's and b's documents maps
           orders to orders, each as likely as its image, also where the page ends within the round. Do so in all rounds at
           once: the slots credited to a become those credited to b and the other way round. Clicks that look at slots
           only, however they hang together, are then as likely to favour a as to favour b. (The order within a round must
           not hang on how many rankers want a document: the largest party would have the upper slots.)

    repeat until the list is full, or nobody has a document left:
      every ranker names its best document that is not yet in the list
      append the documents named, each once, in a random order; a slot belongs to all rankers that named its document
    a ranker's credit is the number of clicks on its slots; more credit wins
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.random import below
from multiduel.rankers.multileaving.contract import (
    Lists,
    judge,
    lay_out,
    more_credit_wins,
    page_length,
    refresh,
    release,
)


class NeutralTeamDraft(NamedTuple):
    next: Ints  # i8[n]  scratch: where each ranking's first free document is
    named: Ints  # i8[n]  scratch: the documents of a round
    credit: Floats  # f8[n]  scratch


def neutral_team_draft(places: int, longest: int, depth: int) -> NeutralTeamDraft:
    return NeutralTeamDraft(np.zeros(places, np.int64), np.zeros(places, np.int64), np.zeros(places))


@lay_out.implement(NeutralTeamDraft)
def draft_rounds(method: NeutralTeamDraft, rng: Stream, lists: Lists, shown: Ints, evidence: Floats) -> int:
    order, _, rows, own, _ = lists
    next, named = method.next, method.named
    n = rows.shape[0]
    length = page_length(lists, shown.shape[0])
    for a in range(n):
        next[a] = 0
    k = 0
    while k < length:
        count = draft_round(lists, next, named, rng, shown, k, length)
        for s in range(min(count, length - k)):
            for a in range(n):
                mine = next[a] < own[a] and order[rows[a], next[a]] == named[s]
                evidence[k, a] = 1.0 if mine else 0.0
            evidence[k, n] = 0.0
            k += 1
    release(lists.taken, shown, length)
    return length


@kernel
def draft_round(lists: Lists, next: Ints, named: Ints, rng: Stream, shown: Ints, k: int, length: int) -> int:
    """Show the documents of a round from slot k on, in a random order. Returns how many were named: shown or, at the end of
    the page, left over, in ``named`` behind those shown. ``next`` is where each ranker has its own."""
    count = name_documents(lists, next, named)
    for s in range(count):
        if k + s < length:
            draw_next(named, s, count, rng)
            shown[k + s] = named[s]
        else:
            lists.taken[named[s]] = 0  # no slot was left for it
    return count


@kernel
def name_documents(lists: Lists, next: Ints, named: Ints) -> int:
    """The documents of a round, each once, taken already; returns how many. ``next`` is where each ranker has its own."""
    order, _, rows, own, taken = lists
    refresh(lists, next)
    count = 0
    for a in range(rows.shape[0]):
        if next[a] < own[a]:
            document = int(order[rows[a], next[a]])
            if taken[document] == 0:
                taken[document] = 1
                named[count] = document
                count += 1
    return count


@kernel
def draw_next(named: Ints, s: int, count: int, rng: Stream) -> None:
    """Move a random one of those from ``s`` on to ``s``."""
    other = s + below(count - s, rng)
    document = named[other]
    named[other] = named[s]
    named[s] = document


@judge.implement(NeutralTeamDraft)
def count_shared_points(
    method: NeutralTeamDraft, evidence: Floats, clicked: Floats, length: int, places: int, wins: Floats
) -> None:
    more_credit_wins(method.credit, evidence, clicked, length, places, wins)
