"""Batches of arms that shrink and merge: what MergeRUCB and its kin share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import random_order
from multiduel.kernels.compiler.dispatch import kernel

COUNT, STAGE = 0, 1  # places in `tally`


class Batches(NamedTuple):
    """Batch b is arms[first[b] : first[b] + size[b]], for b < tally[COUNT]. An arm in no batch has dropped out."""

    arms: Ints  # i8[K]
    first: Ints  # i8[K]
    size: Ints  # i8[K]
    tally: Ints  # i8[2]  number of batches, stage S
    spare: Ints  # i8[2, K]  scratch: arms, and batches by size


def shuffle_into_batches(n_arms: int, batch_size: int, rng: Stream) -> Batches:
    """The arms in random order, cut into ceil(K / p) batches as equal as can be."""
    arms = random_order(n_arms, rng)
    n = -(-n_arms // batch_size)
    cuts = np.array([k * n_arms // n for k in range(n + 1)])
    first, size = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    first[:n], size[:n] = cuts[:-1], np.diff(cuts)
    return Batches(arms, first, size, np.array([n, 1]), np.zeros((2, n_arms), np.int64))


def valid_batches(batches: Batches) -> dict[str, Any]:
    """Batches follow each other without overlap, hold at least one arm each, and no arm twice."""
    K, n = len(batches.arms), int(batches.tally[COUNT])
    if not 1 <= n <= K:
        return dict.fromkeys(Batches._fields, False)
    first, size = batches.first[:n], batches.size[:n]
    apart = validity.between(size, 1, K) and validity.between(first, 0, np.append(first[1:], K) - size)
    seated = np.concatenate([batches.arms[f : f + s] for f, s in zip(first, size, strict=True)]) if apart else batches.arms
    return {
        "arms": validity.arms(batches.arms, K) and validity.distinct(seated, K),
        "first": apart,
        "size": apart,
        "tally": 1 <= batches.tally[STAGE] <= 1 + K.bit_length(),
        "spare": validity.SCRATCH,
    }


@kernel
def _append(batches: Batches, b: int, to: int) -> int:
    """Copy batch b to the spare arms from place ``to``; returns the place after it."""
    for x in range(batches.size[b]):
        batches.spare[0, to + x] = batches.arms[batches.first[b] + x]
    return to + batches.size[b]


@kernel
def merge_with_next(batches: Batches, b: int) -> int:
    """Merge batch b with the next (the last with the first), in b's place. Returns the number of the merged batch."""
    n = batches.tally[COUNT]
    other = (b + 1) % n
    merged = b
    to = 0
    kept = 0
    for k in range(n):
        if k == other:
            continue
        start = to
        to = _append(batches, k, to)
        if k == b:
            merged = kept
            to = _append(batches, other, to)
        batches.spare[1, kept] = to - start
        kept += 1
    _accept(batches, kept)
    return merged


@kernel
def merge_in_pairs(batches: Batches, extra: int = 0) -> None:
    """If at most K / 2^S + extra arms are left: merge the smallest batch with the largest, and so on; S <- S + 1."""
    n = batches.tally[COUNT]
    left = 0
    for b in range(n):
        left += batches.size[b]
    if n == 1 or (left - extra) << batches.tally[STAGE] > batches.arms.shape[0]:
        return
    batches.tally[STAGE] += 1
    order = batches.spare[1]
    for b in range(n):  # by insertion: equal sizes keep their order
        place = b
        while place > 0 and batches.size[order[place - 1]] > batches.size[b]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = b
    to = 0
    kept = (n + 1) // 2
    for x in range(kept):
        start = to
        to = _append(batches, order[x], to)
        if x != n - 1 - x:
            to = _append(batches, order[n - 1 - x], to)
        order[x] = to - start  # order[x] is used up
    _accept(batches, kept)


@kernel
def _accept(batches: Batches, n: int) -> None:
    """Take over n batches from the spare arms and their sizes."""
    place = 0
    for b in range(n):
        batches.first[b] = place
        batches.size[b] = batches.spare[1, b]
        place += batches.size[b]
    for x in range(place):
        batches.arms[x] = batches.spare[0, x]
    batches.tally[COUNT] = n


@kernel
def drop_members(batches: Batches, b: int, drop: Ints) -> None:
    """Those of batch b whose place is marked leave it for good; if all would, none does."""
    n = batches.size[b]
    members = batches.arms[batches.first[b] : batches.first[b] + n]
    kept = 0
    for x in range(n):
        kept += 1 - drop[x]
    if kept == 0:
        return
    kept = 0
    for x in range(n):
        members[kept] = members[x]
        kept += 1 - drop[x]
    batches.size[b] = kept
