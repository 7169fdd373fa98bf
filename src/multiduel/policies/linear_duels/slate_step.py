"""The online step for the answer to a whole slate: theta moves once for all of it, and so does what is known of theta.

Symbols    n arms with features x_a and utilities v_a = <x_a, theta>; loss(v) of the answer, with gradient -r(v) and Hessian S(v);
           H^-1 what is known; G[a, b] = x_a' H^-1 x_b.

    theta <- argmin |. - theta|_H^2 / 2 + loss.  The minimum is theta + H^-1 sum of r_a x_a with  r = r(v),  v = u + G r:
    Newton's method in n numbers, in which a step that does not pay is halved
    H^-1 <- H^-1 - Y (1 + S G)^-1 S Y',  Y = H^-1 x: n contrasts at once (Woodbury)

    rankings   loss = sum over places q of  w (ln sum of e^v over place q and what follows - v_q): Plackett and Luce's law. An
               answer that names the best is place 1 alone
    pairs      loss = sum over pairs of  n_ab ln(1 + e^(v_a - v_b)) - w_ab (v_a - v_b), w_ab = wins of a over b: coins

For two arms both are the step of ``estimator.online_step``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.linear_utilities import logistic, softplus

NEWTON_STEPS = 40


class Room(NamedTuple):
    """Scratch for the answer to a slate of at most m arms."""

    Y: Floats  # f8[m, d]  H^-1 x_a, a row per arm of the slate
    G: Floats  # f8[m, m]
    S: Floats  # f8[m, m]  Hessian of the loss
    M: Floats  # f8[m, 2m] a linear system and its right-hand sides
    v: Floats  # f8[6, m]  utilities u, utilities v, r, the wanted r, a step, chances
    order: Ints  # i8[m]     places of the slate, best first
    left: Ints  # i8[m]     1: not placed yet


def make_room(slate_size: int, dimension: int) -> Room:
    m = max(2, slate_size)
    tables = np.zeros((m, dimension)), np.zeros((m, m)), np.zeros((m, m)), np.zeros((m, 2 * m)), np.zeros((6, m))
    return Room(*tables, np.zeros(m, np.int64), np.zeros(m, np.int64))


@kernel
def read_ranking(wins: Floats, n: int, order: Ints, left: Ints) -> tuple[int, int, float]:
    """Read an answer as a ranking, whole or of the first places: (places that are known, arms that were judged, its weight).

    The first arms of ``order`` are the places, and the other judged arms follow. (0, 0, 0) if it is no ranking: a tie, a cycle,
    the worst of three, or pairs of different weights.
    """
    weight = 0.0
    judged = 0
    for a in range(n):
        left[a] = 0
        for b in range(n):
            if wins[a, b] > 0.0:
                weight = wins[a, b]
            if wins[a, b] + wins[b, a] > 0.0:
                left[a] = 1
        judged += left[a]
    places = 0
    while places < judged:
        pairs = 0
        top = -1
        for a in range(n):
            if left[a] == 1:
                beaten = 0
                for b in range(n):
                    if left[b] == 1 and b != a:
                        pairs += 1 if wins[a, b] > 0.0 else 0
                        beaten += 1 if wins[a, b] == weight and wins[b, a] == 0.0 else 0
                if beaten == judged - places - 1 and beaten > 0:
                    top = a
        if pairs == 0:
            break
        if top < 0:
            return 0, 0, 0.0
        order[places] = top
        left[top] = 0
        places += 1
    at = places
    for a in range(n):
        if left[a] == 1:
            order[at] = a
            at += 1
    return places, judged, weight


@kernel
def ranking_loss(room: Room, places: int, judged: int, weight: float, n: int) -> float:
    """The loss of a ranking at the utilities v; its r into ``room.v[3]`` and its Hessian into ``room.S``."""
    v, r, p, S, order = room.v[1], room.v[3], room.v[5], room.S, room.order
    total = 0.0
    for a in range(n):
        r[a] = 0.0
        for b in range(n):
            S[a, b] = 0.0
    for q in range(places):
        most = -math.inf
        for at in range(q, judged):
            most = max(most, v[order[at]])
        mass = 0.0
        for at in range(q, judged):
            p[at] = math.exp(v[order[at]] - most)
            mass += p[at]
        total += weight * (most + math.log(mass) - v[order[q]])
        r[order[q]] += weight
        for at in range(q, judged):
            p[at] /= mass
            r[order[at]] -= weight * p[at]
        for at in range(q, judged):
            S[order[at], order[at]] += weight * p[at]
            for other in range(q, judged):
                S[order[at], order[other]] -= weight * (p[at] * p[other])
    return total


@kernel
def pairs_loss(room: Room, wins: Floats, weight: float, n: int) -> float:
    """The loss of independent duels, each counted ``weight`` times; r and the Hessian as for a ranking."""
    v, r, S = room.v[1], room.v[3], room.S
    total = 0.0
    for a in range(n):
        r[a] = 0.0
        for b in range(n):
            S[a, b] = 0.0
    for a in range(n):
        for b in range(a):
            duels = weight * (wins[a, b] + wins[b, a])
            apart = v[a] - v[b]
            p = logistic(apart)
            total += duels * softplus(apart) - weight * wins[a, b] * apart
            rest = weight * wins[a, b] - duels * p
            r[a] += rest
            r[b] -= rest
            bend = duels * p * (1.0 - p)
            S[a, a] += bend
            S[b, b] += bend
            S[a, b] -= bend
            S[b, a] -= bend
    return total


@kernel
def eliminate(M: Floats, n: int, columns: int) -> None:
    """Solve the system in the first n columns of M for the other ``columns``, in place, by Gauss with pivots."""
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(M[i, k]) > abs(M[pivot, k]):
                pivot = i
        for j in range(k, n + columns):
            swap = M[k, j]
            M[k, j] = M[pivot, j]
            M[pivot, j] = swap
        for i in range(n):
            if i != k:
                share = M[i, k] / M[k, k]
                for j in range(k, n + columns):
                    M[i, j] -= share * M[k, j]
    for k in range(n):
        for j in range(n, n + columns):
            M[k, j] /= M[k, k]


@kernel
def system(room: Room, n: int) -> None:
    """1 + S G into the first n columns of ``room.M``."""
    for a in range(n):
        for b in range(n):
            total = 1.0 if a == b else 0.0
            for c in range(n):
                total += room.S[a, c] * room.G[c, b]
            room.M[a, b] = total


@kernel
def answer_loss(room: Room, wins: Floats, places: int, judged: int, weight: float, n: int) -> float:
    return ranking_loss(room, places, judged, weight, n) if places > 0 else pairs_loss(room, wins, weight, n)


@kernel
def penalised(room: Room, wins: Floats, places: int, judged: int, weight: float, n: int) -> float:
    """v <- u + G r;  r' G r / 2 + the loss there."""
    u, v, r = room.v[0], room.v[1], room.v[2]
    penalty = 0.0
    for a in range(n):
        moved = 0.0
        for b in range(n):
            moved += room.G[a, b] * r[b]
        v[a] = u[a] + moved
        penalty += 0.5 * r[a] * moved
    return penalty + answer_loss(room, wins, places, judged, weight, n)


@kernel
def slate_step(theta: Floats, H: Floats, X: Floats, slate: Ints, wins: Floats, rankings: bool, room: Room) -> None:
    """Learn from the answer to a slate: theta and H (an inverse) move to the minimum of the penalised loss."""
    n, d = slate.shape[0], theta.shape[0]
    Y, G, S, M, u, r = room.Y, room.G, room.S, room.M, room.v[0], room.v[2]
    places, judged, weight = 0, 0, 1.0
    if rankings:
        places, judged, weight = read_ranking(wins, n, room.order, room.left)
        if places == 0:  # no ranking: its duels depend on each other, and count as n - 1 in all
            weight = 2.0 / n
    for a in range(n):
        u[a] = 0.0
        r[a] = 0.0
        for i in range(d):
            u[a] += X[i, slate[a]] * theta[i]
            Y[a, i] = 0.0
        for j in range(d):
            for i in range(d):
                Y[a, i] += H[j, i] * X[j, slate[a]]
    for a in range(n):
        for b in range(n):
            G[a, b] = 0.0
            for i in range(d):
                G[a, b] += X[i, slate[a]] * Y[b, i]

    value = penalised(room, wins, places, judged, weight, n)
    for _ in range(NEWTON_STEPS):
        system(room, n)
        for a in range(n):
            M[a, n] = room.v[3][a] - r[a]
        eliminate(M, n, 1)
        size = 0.0
        for a in range(n):
            room.v[4][a] = M[a, n]
            size = max(size, abs(M[a, n]))
            r[a] += M[a, n]
        after = penalised(room, wins, places, judged, weight, n)
        for _halving in range(30):
            if after <= value + 1e-12 * (1.0 + abs(value)):
                break
            for a in range(n):
                room.v[4][a] *= 0.5
                r[a] -= room.v[4][a]
            size *= 0.5
            after = penalised(room, wins, places, judged, weight, n)
        value = after
        if size < 1e-11:
            break

    for a in range(n):
        for i in range(d):
            theta[i] += r[a] * Y[a, i]
    system(room, n)
    for a in range(n):
        for b in range(n):
            M[a, n + b] = S[a, b]
    eliminate(M, n, n)
    for a in range(n):  # from here on S is (1 + S G)^-1 S, which is symmetric but for rounding
        for b in range(n):
            S[a, b] = 0.5 * (M[a, n + b] + M[b, n + a])
    for i in range(d):
        for a in range(n):
            r[a] = 0.0
            for b in range(n):
                r[a] += S[a, b] * Y[b, i]
        for j in range(i + 1):
            less = 0.0
            for a in range(n):
                less += r[a] * Y[a, j]
            H[i, j] -= less
            H[j, i] = H[i, j]
