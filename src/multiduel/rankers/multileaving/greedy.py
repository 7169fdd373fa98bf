"""Greedy optimised multileaving: of some candidate lists, show the one on which clicks at random would tell rankers least apart.

Paper      Iizuka, Yoneda, Seki. Greedy Optimized Multileaving for Personalization. RecSys 2019 (GOM with personalization credit).
Symbols    L candidate list; c(L, k, a) credit of the ranker at place a for slot k; s_a = sum over k of c(L, k, a) / (k + 1), the
           credit that clicks falling with the position would give; sigma^2(L) = sum over a of (s_a - mean s)^2 / (mean s)^2.
Evidence   the slot's credits.
Fair       not: one list is shown, without a chance for its counterpart, and nothing takes off what bias it has. docs/rankers.md
           has the bias that was measured. Here because the paper's authors run it; prefer the others.

    candidates: in each slot the best free document of a random ranker that has one, 32 times
    c(L, k, a) = minus the number of rankers that have the document of slot k higher than a has; minus n if a did not return it
    show the list of least insensitivity sigma^2
    a ranker's credit is c summed over clicked slots; more credit wins
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.rankers.multileaving.contract import Lists, judge, lay_out, more_credit_wins, page_length
from multiduel.rankers.multileaving.optimised import CANDIDATES, candidate


class Greedy(NamedTuple):
    list: Ints  # i8[depth]  scratch: a candidate
    next: Ints  # i8[n]      scratch
    credit: Floats  # f8[n]  scratch: s_a, and later credits


def greedy(places: int, longest: int, depth: int) -> Greedy:
    return Greedy(np.zeros(depth, np.int64), np.zeros(places, np.int64), np.zeros(places))


@lay_out.implement(Greedy)
def show_least_insensitive(method: Greedy, rng: Stream, lists: Lists, shown: Ints, evidence: Floats) -> int:
    n = lists.rows.shape[0]
    length = page_length(lists, shown.shape[0])
    least = math.inf
    for L in range(CANDIDATES):
        candidate(method.next, rng, lists, method.list, length)
        found = insensitivity(method, lists, length)
        if L == 0 or found < least:
            least = found
            for k in range(length):
                shown[k] = method.list[k]
    for k in range(length):
        for a in range(n):
            evidence[k, a] = relative_credit(lists, shown[k], a)
        evidence[k, n] = 0.0
    return length


@kernel
def insensitivity(method: Greedy, lists: Lists, length: int) -> float:
    n = lists.rows.shape[0]
    mean = 0.0
    for a in range(n):
        method.credit[a] = 0.0
        for k in range(length):
            method.credit[a] += relative_credit(lists, method.list[k], a) / (k + 1.0)
        mean += method.credit[a] / n
    if mean == 0.0:  # all agree
        return math.inf
    spread = 0.0
    for a in range(n):
        spread += (method.credit[a] - mean) ** 2
    return spread / mean**2


@kernel
def relative_credit(lists: Lists, document: int, a: int) -> float:
    _, rank, rows, own, _ = lists
    mine = rank[rows[a], document]
    if mine >= own[a]:
        return -float(rows.shape[0])
    higher = 0.0
    for b in range(rows.shape[0]):
        theirs = rank[rows[b], document]
        higher += 1.0 if theirs < mine and theirs < own[b] else 0.0
    return -higher


@judge.implement(Greedy)
def add_credits(method: Greedy, evidence: Floats, clicked: Floats, length: int, places: int, wins: Floats) -> None:
    more_credit_wins(method.credit, evidence, clicked, length, places, wins)
