"""Choosing arms: argmax with random ties, distinct draws, seats."""

from __future__ import annotations

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.compiler.helpers import checked, helper
from multiduel.kernels.random import below


@helper
def largest(values: Floats) -> float:
    """Find the largest value.

    Integer views of non-negative doubles sort like the doubles, and their maximum vectorises where the doubles' does not.

    Parameters
    ----------
    values
        All at least 0, or -1 for "not this one".

    Examples
    --------
    >>> float(largest(np.array([0.2, 0.7, -1.0])))
    0.7
    """
    keys = values.view(np.int64)
    first = keys[0]
    best = first
    for k in range(keys.shape[0]):
        best = keys[k] if keys[k] > best else best
    keys[0] = best  # for a moment: to see the double that these bits are
    value = values[0]
    keys[0] = first
    return value


@helper
def argmax(values: Floats, rng: Stream) -> int:
    """Find the index of the largest value, uniform among exact ties (one draw, only if tied).

    Parameters
    ----------
    values
        All at least 0, or -1 for "not this one".
    rng
        The policy's stream, which every draw advances.

    Examples
    --------
    >>> rng = np.arange(1, 5, dtype=np.uint64)  # a stream: four integers
    >>> argmax(np.array([0.2, 0.7, -1.0]), rng)
    1
    """
    keys = values.view(np.int64)
    best = keys[0]
    for k in range(keys.shape[0]):
        best = keys[k] if keys[k] > best else best
    return one_of(keys, best, rng)


@helper
def argmin(values: Floats, rng: Stream) -> int:
    """Find the index of the smallest value, uniform among exact ties (one draw, only if tied).

    Parameters
    ----------
    values
        All at least 0; inf for "not this one".
    rng
        The policy's stream, which every draw advances.

    Examples
    --------
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> argmin(np.array([0.2, 0.7, np.inf]), rng)
    0
    """
    keys = values.view(np.int64)
    best = keys[0]
    for k in range(keys.shape[0]):
        best = keys[k] if keys[k] < best else best
    return one_of(keys, best, rng)


@kernel
def one_of(keys: Ints, wanted: int, rng: Stream) -> int:
    """A place that holds ``wanted``, uniform if there are several."""
    tied = 0
    place = 0
    for k in range(keys.shape[0]):
        same = keys[k] == wanted
        tied += 1 if same else 0
        place += k if same else 0  # the place itself when there is one only
    if tied == 1:
        return place
    skip = below(tied, rng)
    for k in range(keys.shape[0]):
        if keys[k] == wanted:
            if skip == 0:
                return k
            skip -= 1
    return 0


@helper
def draw_distinct(pool: Ints, size: int, count: int, slate: Ints, seated: int, rng: Stream) -> None:
    """Seat distinct arms, drawn uniformly from a pool. One draw an arm; the pool is reordered.

    Parameters
    ----------
    pool
        Arms to draw from.
    size
        How many of them, from the first, may be drawn.
    count
        How many to draw.
    slate
        Where to seat them.
    seated
        How many places of the slate are taken already.
    rng
        The policy's stream, which every draw advances.

    Examples
    --------
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> pool, slate = np.arange(5), np.zeros(3, np.int64)
    >>> draw_distinct(pool, 5, 2, slate, 1, rng)
    >>> int(slate[0]), len(set(slate[1:].tolist()))
    (0, 2)
    """
    for a in range(count):
        j = a + below(size - a, rng)
        arm = pool[j]
        pool[j] = pool[a]
        pool[a] = arm
        slate[seated + a] = arm


@checked
def random_order(n_arms: int, rng: Stream) -> Ints:
    """Put all arms in random order. Plain Python, for ``init``.

    Parameters
    ----------
    n_arms
        How many arms there are.
    rng
        The policy's stream, which every draw advances.

    Examples
    --------
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> sorted(random_order(4, rng).tolist())
    [0, 1, 2, 3]
    """
    order = np.arange(n_arms)
    draw_distinct(order, n_arms, n_arms, order, 0, rng)
    return order


@helper
def share_won(W: Floats, i: int) -> float:
    """Compute the share of its duels that an arm won; 0 before the first.

    Parameters
    ----------
    W
        ``W[i, j]``: wins of i over j.
    i
        The arm.

    Examples
    --------
    >>> float(share_won(np.array([[0.0, 3.0], [1.0, 0.0]]), 0))
    0.75
    """
    won = 0.0
    lost = 0.0
    for j in range(W.shape[0]):
        won += W[i, j]
        lost += W[j, i]
    return won / (won + lost) if won + lost > 0.0 else 0.0


@helper
def most_winning(W: Floats) -> int:
    """Find the arm with the largest share of its duels won; before any duel, arm 0.

    Parameters
    ----------
    W
        ``W[i, j]``: wins of i over j.

    Examples
    --------
    >>> most_winning(np.array([[0.0, 1.0], [3.0, 0.0]]))
    1
    """
    best = 0
    best_share = -1.0
    for i in range(W.shape[0]):
        share = share_won(W, i)
        if share > best_share:
            best_share = share
            best = i
    return best


@helper
def seat(slate: Ints, taken: Ints, seated: int, arm: int) -> int:
    """Give an arm one more seat: a position in the slate or, if it has one, one more in ``taken`` there.

    Parameters
    ----------
    slate
        Arms that are seated.
    taken
        How many seats each of them has.
    seated
        How many places of the slate are filled.
    arm
        The arm to seat.

    Returns
    -------
    int
        How many places are filled now.

    Examples
    --------
    >>> slate, taken = np.zeros(3, np.int64), np.zeros(3, np.int64)
    >>> seated = seat(slate, taken, 0, 7)
    >>> seat(slate, taken, seated, 7), int(taken[0])  # the same arm again: one place, two seats
    (1, 2)
    """
    for a in range(seated):
        if slate[a] == arm:
            taken[a] += 1
            return seated
    slate[seated] = arm
    taken[seated] = 1
    return seated + 1
