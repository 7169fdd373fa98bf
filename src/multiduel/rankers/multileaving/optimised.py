"""Optimised multileaving: among candidate lists, show each with the chance that makes clicks at random tell nothing.

Papers     Radlinski, Craswell. Optimized Interleaving for Online Retrieval Evaluation. WSDM 2013 (two rankers).
           Schuth et al. Multileaved Comparisons for Fast Online Evaluation. CIKM 2014 (OM).
Symbols    L candidate list, p_L its chance, c(L, k, a) credit 1/rank of the document in slot k by the ranker at place
           a, 0 if it did not return it, less the mean over places; bias(k, a) = sum over L of p_L c(L, k, a).
Evidence   the slot's credits, less the bias that is left.
Fair       exactly in expectation, slot by slot.
Deviates   The papers solve a linear program for p, which often has no solution; here a fixed number of multiplicative
           steps lowers the squared bias and raises the lists' sensitivity, and what bias is left is taken off the
           credits, so that fairness does not hang on convergence. The outcome is 1/2 plus half the mean difference in
           credit over the clicks (a fraction): the sign of a fair difference need not be fair. Rankers that returned nothing
           are left out of all this, and have the least credit that there is, -1, for every slot: they lose.

    candidates: in each slot the best free document of a random ranker that has one, 32 times
    minimise over p:  sum over k, a of bias(k, a)^2  -  LAMBDA sum over L of p_L sensitivity(L)
    show a list drawn by p
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.random import below, uniform
from multiduel.rankers.multileaving.contract import Lists, judge, lay_out, nth_able, page_length, refresh, release

CANDIDATES, STEPS, STEP, LAMBDA = 32, 25, 1.0, 0.2


class Optimised(NamedTuple):
    lists: Ints  # i8[32, depth]     scratch, all of it
    credit: Floats  # f8[32, depth n]  c(L, k, a) at k n + a: long rows that the compiler can vectorise
    bias: Floats  # f8[depth n]
    p: Floats  # f8[32]
    slope: Floats  # f8[32]
    sensitivity: Floats  # f8[32]
    next: Ints  # i8[n]


def optimised(places: int, longest: int, depth: int) -> Optimised:
    return Optimised(
        np.zeros((CANDIDATES, depth), np.int64),
        np.zeros((CANDIDATES, depth * places)),
        np.zeros(depth * places),
        np.zeros(CANDIDATES),
        np.zeros(CANDIDATES),
        np.zeros(CANDIDATES),
        np.zeros(places, np.int64),
    )


@lay_out.implement(Optimised)
def choose_list(method: Optimised, rng: Stream, lists: Lists, shown: Ints, evidence: Floats) -> int:
    n = lists.rows.shape[0]
    length = page_length(lists, shown.shape[0])
    for L in range(CANDIDATES):
        candidate(method.next, rng, lists, method.lists[L], length)
        method.sensitivity[L] = give_credit(lists, method.lists[L], method.credit[L], length)
        method.p[L] = 1.0 / CANDIDATES
    for _ in range(STEPS):
        improve(method, length * n)
    set_bias(method, length * n)

    left = uniform(rng)
    drawn = 0
    for L in range(CANDIDATES):
        if method.p[L] > 0.0:
            drawn = L
            left -= method.p[L]
            if left < 0.0:
                break
    most = 0.0  # the largest difference in bias, so that outcomes stay within 0 and 1
    for k in range(length):
        low = high = method.bias[k * n]  # 0 for rankers that returned nothing; the mean over the others is 0 too
        for a in range(n):
            low = min(low, method.bias[k * n + a])
            high = max(high, method.bias[k * n + a])
        most = max(most, high - low)
    for k in range(length):
        shown[k] = method.lists[drawn, k]
        for a in range(n):
            fair = (method.credit[drawn, k * n + a] - method.bias[k * n + a]) / (1.0 + most)
            evidence[k, a] = fair if lists.own[a] > 0 else -1.0
        evidence[k, n] = 0.0
    return length


@kernel
def candidate(next: Ints, rng: Stream, lists: Lists, list: Ints, length: int) -> None:
    order, _, rows, own, taken = lists
    for a in range(rows.shape[0]):
        next[a] = 0
    for k in range(length):
        able = refresh(lists, next)
        place = nth_able(next, own, below(able, rng))
        list[k] = int(order[rows[place], next[place]])
        taken[list[k]] = 1
    release(taken, list, length)


@kernel
def give_credit(lists: Lists, list: Ints, credit: Floats, length: int) -> float:
    """Credits of a list; returns its sensitivity: how much they differ between places, upper slots counting more."""
    _, rank, rows, own, _ = lists
    n = rows.shape[0]
    able = 0
    for a in range(n):
        able += 1 if own[a] > 0 else 0
    spread = 0.0
    for k in range(length):
        mean = 0.0
        for a in range(n):
            at = int(rank[rows[a], list[k]])
            credit[k * n + a] = 1.0 / (at + 1.0) if at < own[a] else 0.0
            mean += credit[k * n + a]
        mean /= able
        for a in range(n):
            credit[k * n + a] = credit[k * n + a] - mean if own[a] > 0 else 0.0
            spread += credit[k * n + a] * credit[k * n + a] / (k + 1.0)
    return spread


@kernel
def set_bias(method: Optimised, size: int) -> None:
    for x in range(size):
        method.bias[x] = 0.0
    for L in range(CANDIDATES):
        p, credit = method.p[L], method.credit[L]
        for x in range(size):
            method.bias[x] += p * credit[x]


@kernel
def improve(method: Optimised, size: int) -> None:
    """One multiplicative step: lists that add to the bias lose, sensitive lists gain, the chances still sum to 1."""
    set_bias(method, size)
    mean = 0.0
    for L in range(CANDIDATES):
        slope = -LAMBDA * method.sensitivity[L]
        credit = method.credit[L]
        for x in range(size):
            slope += 2.0 * credit[x] * method.bias[x]
        method.slope[L] = slope
        mean += method.p[L] * slope
    total = 0.0
    for L in range(CANDIDATES):
        method.p[L] *= min(2.0, max(0.5, 1.0 - STEP * (method.slope[L] - mean)))
        total += method.p[L]
    for L in range(CANDIDATES):
        method.p[L] /= total


@judge.implement(Optimised)
def mean_difference(method: Optimised, evidence: Floats, clicked: Floats, length: int, places: int, wins: Floats) -> None:
    clicks = 0.0
    for k in range(length):
        clicks += clicked[k]
    for a in range(places):
        for b in range(a):
            difference = 0.0
            for k in range(length):
                difference += clicked[k] * (evidence[k, a] - evidence[k, b])
            won = 0.5 if clicks == 0.0 else min(1.0, max(0.0, 0.5 + 0.5 * difference / clicks))  # within but for rounding
            wins[a, b] += won
            wins[b, a] += 1.0 - won
