"""Duels as evidence: how far every pair's record is from a fair coin, in nats."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats
from multiduel.kernels import validity
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.confidence import kl


class Duels(NamedTuple):
    """What was seen. An arm's lost pairs are those with P[i, j] <= 1/2; an even pair is lost by both, at no cost."""

    W: Floats  # f8[K, K]  wins of i over j
    N: Floats  # f8[K, K]  duels of i and j
    P: Floats  # f8[K, K]  share won by i, 1/2 before the first duel
    kl: Floats  # f8[K, K]  divergence of P[i, j] from 1/2 if i lost the pair, else 0
    D: Floats  # f8[K, K]  N kl: the evidence of the pair against i
    I: Floats  # f8[K]     sum of D[i, j] over j: how unlikely i is to be a Condorcet winner


def no_duels(n_arms: int) -> Duels:
    K = n_arms
    return Duels(np.zeros((K, K)), np.zeros((K, K)), np.full((K, K), 0.5), np.zeros((K, K)), np.zeros((K, K)), np.zeros(K))


def valid_duels(duels: Duels) -> dict[str, Any]:
    """Everything follows from W."""
    N = duels.W + duels.W.T
    P = validity.per_duel(duels.W, N, 0.5)
    p = np.minimum(P, 0.5)
    entropy = np.where(p > 0.0, p * np.log(2.0 * np.where(p > 0.0, p, 0.5)), 0.0) + (1.0 - p) * np.log(2.0 - 2.0 * p)
    return {
        "W": validity.tally(duels.W),
        "N": validity.close(duels.N, N),
        "P": validity.close(duels.P, P) and bool(np.all((duels.P < 0.5) == (P < 0.5))),
        "kl": validity.close(duels.kl, entropy) and validity.counts(duels.kl),
        "D": validity.close(duels.D, N * duels.kl) and validity.counts(duels.D),
        "I": validity.close(duels.I, duels.D.sum(axis=1)) and validity.counts(duels.I),
    }


@kernel
def record(duels: Duels, i: int, j: int, i_won: float, j_won: float) -> None:
    """Add the outcomes of a pair. Sums are taken anew in the order of the arms, so that no rounding error gathers."""
    duels.W[i, j] += i_won
    duels.W[j, i] += j_won
    N = duels.W[i, j] + duels.W[j, i]
    if N == 0.0:
        return
    duels.N[i, j] = duels.N[j, i] = N
    _weigh(duels, i, j, N)
    _weigh(duels, j, i, N)


@kernel
def _weigh(duels: Duels, i: int, j: int, N: float) -> None:
    p = duels.W[i, j] / N
    duels.P[i, j] = p
    before = duels.D[i, j]
    duels.kl[i, j] = max(kl(p, 0.5), 0.0) if p <= 0.5 else 0.0  # rounding may leave it below 0
    duels.D[i, j] = N * duels.kl[i, j]
    if duels.D[i, j] != before:
        total = 0.0
        for k in range(duels.I.shape[0]):
            total += duels.D[i, k]
        duels.I[i] = total


@kernel
def least_refuted(duels: Duels) -> int:
    """The arm with the least evidence against it; among equals the one with the largest share of its duels won."""
    W, I = duels.W, duels.I
    best = 0
    best_share = -1.0
    for i in range(I.shape[0]):
        won = 0.0
        met = 0.0
        for j in range(I.shape[0]):
            won += W[i, j]
            met += duels.N[i, j]
        share = won / met if met > 0.0 else 0.0
        if I[i] < I[best] or (I[i] == I[best] and share > best_share):
            best = i
            best_share = share
    return best
