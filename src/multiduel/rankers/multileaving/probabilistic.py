"""Probabilistic multileaving: every ranking is a softmax over its ranks; who contributed a document stays a chance.

Papers     Hofmann, Whiteson, de Rijke. A Probabilistic Method for Inferring Preferences from Clicks. CIKM 2011 (two
           rankers). Schuth et al. Probabilistic Multileave for Online Retrieval Evaluation. SIGIR 2015.
Evidence   the chance that the slot's document came from each place, given the list so far; drawn: 1 for the place it
           came from.
Fair       exactly, among rankers that fill the page: a slot's ranker is a fair die, and the marginalised outcome is the
           expectation of the drawn one.
Deviates   The 2015 paper compares sums of expected credit. Their sign is biased: with three documents ranked 1 2 3 and
           3 1 2 and one click at random the first ranker wins more often. Here the *outcome* is marginalised, as in
           2011: the chance, over all assignments of slots to rankers, that a had more clicks than b, with ties half.

    for each slot:
      pick a ranker by a fair die, of those with a document left; draw a document from it with chance proportional to
      rank^-tau, among those not in the list
    a ranker's credit is the number of clicks on its slots; more credit wins

Given the list the slots' rankers are independent, so the difference in credit of two rankers is a walk of as many
steps as there are clicks: its law is computed step by step instead of over all n^clicks assignments.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.inputs import BadInput
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.random import below, uniform
from multiduel.rankers.multileaving.contract import (
    Flags,
    Lists,
    Positions,
    judge,
    lay_out,
    more_credit_wins,
    nth_able,
    page_length,
    refresh,
    release,
)

TAU = 3.0  # decay of the softmax, as in both papers


class Probabilistic(NamedTuple):
    weight: Floats  # f8[longest]      rank^-tau, ranks from 1
    mass: Floats  # f8[longest + 1]  sums of the first weights
    free: Floats  # f8[n]            scratch: weight of each ranking's documents not yet in the list
    next: Ints  # i8[n]            scratch: where each ranking's first free document may be
    walk: Floats  # f8[2 depth + 3]  scratch: law of the difference in credit


class ProbabilisticDrawn(NamedTuple):
    """The same lists; credit goes to the ranker that was drawn. Same expectation, more noise, outcomes 0, 1/2 or 1."""

    weight: Floats
    mass: Floats
    free: Floats
    next: Ints
    credit: Floats  # f8[n]  scratch


def probabilistic(places: int, longest: int, depth: int, tau: float = TAU) -> Probabilistic:
    weight, mass = _softmax(longest, tau)
    return Probabilistic(weight, mass, np.zeros(places), np.zeros(places, np.int64), np.zeros(2 * depth + 3))


def probabilistic_drawn(places: int, longest: int, depth: int, tau: float = TAU) -> ProbabilisticDrawn:
    weight, mass = _softmax(longest, tau)
    return ProbabilisticDrawn(weight, mass, np.zeros(places), np.zeros(places, np.int64), np.zeros(places))


def _softmax(longest: int, tau: float) -> tuple[Floats, Floats]:
    if not 0.0 <= tau <= 10.0:
        raise BadInput(f"'tau' of 'probabilistic' must lie between 0 and 10. Got {tau}.")
    weight = np.arange(1.0, longest + 1.0) ** -tau
    return weight, np.concatenate([[0.0], np.cumsum(weight)])


@lay_out.implement(Probabilistic)
def draw(method: Probabilistic, rng: Stream, lists: Lists, shown: Ints, evidence: Floats) -> int:
    _, rank, rows, own, taken = lists
    weight, free = method.weight, method.free
    n = rows.shape[0]
    length = start(method.mass, free, method.next, lists, shown)
    for k in range(length):
        draw_slot(weight, free, method.next, rng, lists, shown, k)
        total = 0.0
        for a in range(n):
            evidence[k, a] = 0.0
            if rank[rows[a], shown[k]] < own[a]:
                w = weight[rank[rows[a], shown[k]]]
                evidence[k, a] = w / max(free[a], w)  # rounding may leave less free than there is
                total += evidence[k, a]
        for a in range(n):
            evidence[k, a] /= total
        evidence[k, n] = 0.0
        leave(weight, free, lists, shown[k])
    release(taken, shown, length)
    return length


@lay_out.implement(ProbabilisticDrawn)
def draw_with_team(method: ProbabilisticDrawn, rng: Stream, lists: Lists, shown: Ints, evidence: Floats) -> int:
    length = start(method.mass, method.free, method.next, lists, shown)
    for k in range(length):
        place = draw_slot(method.weight, method.free, method.next, rng, lists, shown, k)
        leave(method.weight, method.free, lists, shown[k])
        for a in range(lists.rows.shape[0] + 1):
            evidence[k, a] = 0.0
        evidence[k, place] = 1.0
    release(lists.taken, shown, length)
    return length


@kernel
def start(mass: Floats, free: Floats, next: Ints, lists: Lists, shown: Ints) -> int:
    """Nothing is in the list yet; returns how long it will be."""
    for a in range(lists.rows.shape[0]):
        free[a] = mass[lists.own[a]]
        next[a] = 0
    return page_length(lists, shown.shape[0])


@kernel
def draw_slot(weight: Floats, free: Floats, next: Ints, rng: Stream, lists: Lists, shown: Ints, k: int) -> int:
    """Put a document into slot k; returns the place that it came from."""
    order, _, rows, own, taken = lists
    able = refresh(lists, next)
    place = nth_able(next, own, below(able, rng))
    shown[k] = draw_document(weight, free, order[rows[place], : own[place]], taken, place, rng)
    taken[shown[k]] = 1
    return place


@kernel
def leave(weight: Floats, free: Floats, lists: Lists, document: int) -> None:
    """The document is no longer free in any ranking."""
    _, rank, rows, own, _ = lists
    for a in range(rows.shape[0]):
        if rank[rows[a], document] < own[a]:
            free[a] -= weight[rank[rows[a], document]]


@kernel
def draw_document(weight: Floats, free: Floats, ranking: Positions, taken: Flags, place: int, rng: Stream) -> int:
    """A document of the ranking at ``place`` that is not taken, with chance proportional to its weight."""
    left = uniform(rng) * free[place]
    document = 0
    for position in range(ranking.shape[0]):
        candidate = int(ranking[position])
        if taken[candidate] == 0:
            document = candidate
            left -= weight[position]
            if left < 0.0:
                break
    return document


@judge.implement(Probabilistic)
def expect(method: Probabilistic, evidence: Floats, clicked: Floats, length: int, places: int, wins: Floats) -> None:
    walk = method.walk
    for a in range(places):
        for b in range(a):
            clicks = 0
            zero = walk.shape[0] // 2
            walk[zero - 1] = walk[zero + 1] = 0.0
            walk[zero] = 1.0
            for k in range(length):
                if clicked[k] > 0.0:
                    clicks += 1
                    up, down = evidence[k, a], evidence[k, b]
                    stay = max(0.0, 1.0 - up - down)
                    walk[zero - clicks - 1] = walk[zero + clicks + 1] = 0.0
                    below_it = 0.0
                    for d in range(zero - clicks, zero + clicks + 1):
                        here = walk[d]
                        walk[d] = below_it * up + here * stay + walk[d + 1] * down
                        below_it = here
            ahead, behind = 0.5 * walk[zero], 0.5 * walk[zero]
            for d in range(1, clicks + 1):
                ahead += walk[zero + d]
                behind += walk[zero - d]
            won = ahead / (ahead + behind)  # both sum to 1 but for rounding
            wins[a, b] += won
            wins[b, a] += 1.0 - won


@judge.implement(ProbabilisticDrawn)
def count_points(method: ProbabilisticDrawn, evidence: Floats, clicked: Floats, length: int, places: int, wins: Floats) -> None:
    more_credit_wins(method.credit, evidence, clicked, length, places, wins)
