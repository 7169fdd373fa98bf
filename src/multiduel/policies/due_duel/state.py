"""What DueDuel keeps between rounds, and whether what came from outside can be that."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.kernels import validity

STEP = 2.0**-20  # of E, in nats
AT_ONCE = -1.0  # ln of a due time of 0: below that of every arm that met one above it
MOST_STRETCH = 1000.0
SINGLE = 0  # number of the part of a due time that single arms give; the group of 2^c arms gives part c + 1
NOTHING, SUMS, PART, ALL = range(4)  # what is known of a due time: the sums of what was its largest part; that part; all


class State(NamedTuple):
    D: Floats  # f8[K, K]  D[i, j] duels i lost to j, minus those it won
    N: Floats  # f8[K, K]  duels of i and j
    E: Floats  # f8[K, K]  D^2 / 2N where D > 0, in whole steps
    I: Floats  # f8[K]     evidence against i: the sum of its row of E
    order: Ints  # i8[K]     least refuted first
    place: Ints  # i8[K]     where an arm is in it
    lot: Ints  # i8[K]     breaks ties of I
    ring: Ints  # i8[K]     the ring of a place: 0, 1, 2, 2, 3, 3, 3, 3, 4, ...; so many groups are all above it
    home: Ints  # i8[K]     the ring of an arm
    known: Ints  # i8[K]     NOTHING to ALL
    largest: Ints  # i8[K]     the part that gave due its value
    rival: Ints  # i8[K]     the single arm that gave due its value, if one did
    most_E: Floats  # f8[K]     no E_ij is larger
    most_N: Floats  # f8[K]     no N_ij is larger
    d: Floats  # f8[K]     the sum of D_ij over the arms of that part
    n: Floats  # f8[K]     the sum of N_ij
    due: Floats  # f8[K]     ln of the due time if all is known, of a lower bound if the part is, else as it was
    gain: Floats  # f8[K]     0 between tells: what a tell adds to I
    first: Ints  # i8[K]     scratch: arms of least due
    when: Floats  # f8[K]     scratch: ln of their due times
    lost: Floats  # f8[R]     scratch: the sums d of an arm over the groups
    met: Floats  # f8[R]     scratch: the sums n


def empty(order: Ints) -> State:
    """Before the first duel."""
    n_arms = len(order)
    place = np.argsort(order)
    ring = _rings(n_arms)
    return State(
        D=np.zeros((n_arms, n_arms)),
        N=np.zeros((n_arms, n_arms)),
        E=np.zeros((n_arms, n_arms)),
        I=np.zeros(n_arms),
        order=order,
        place=place,
        lot=place.copy(),
        ring=ring,
        home=ring[place],
        known=np.full(n_arms, NOTHING),
        largest=np.full(n_arms, SINGLE),
        rival=np.zeros(n_arms, np.int64),
        most_E=np.zeros(n_arms),
        most_N=np.zeros(n_arms),
        d=np.zeros(n_arms),
        n=np.zeros(n_arms),
        due=np.full(n_arms, AT_ONCE),
        gain=np.zeros(n_arms),
        first=np.zeros(n_arms, np.int64),
        when=np.zeros(n_arms),
        lost=np.zeros(ring[-1] + 1),
        met=np.zeros(ring[-1] + 1),
    )


def soundness(state: State) -> dict[str, Any]:
    """Which of the arrays can be what they should."""
    D, N, order, K = state.D, state.N, state.order, len(state.order)
    if not (validity.tally(N) and validity.order(order)):
        return {**dict.fromkeys(State._fields, True), "N": validity.tally(N), "order": validity.order(order)}
    E = np.where(D > 0.0, STEP * np.floor(validity.per_duel(D * D, 2.0 * STEP * N, 0.0) + 0.5), 0.0)
    largest = np.clip(state.largest, SINGLE, _rings(K)[-1] + 1)
    summed = (state.known >= SUMS) & (largest != SINGLE)  # of single arms, D and N are at hand
    groups = (np.arange(K), np.minimum(1 << np.maximum(largest - 1, 0), K) - 1)
    d, n = (np.where(summed, sums[:, order].cumsum(axis=1)[groups], kept) for sums, kept in ((D, state.d), (N, state.n)))
    rounding = 1e-9 * (1.0 + N.sum(axis=1))
    most = np.log(2.0) * float(N.sum()) + 100.0  # nats, and the logarithms of any number of duels and of any stretch
    return {
        "D": validity.between(D, -N, N) and bool(np.all(D == -D.T)),
        "N": bool(np.all(N == N.T)),
        "E": validity.close(state.E, E),
        "I": validity.close(state.I, state.E.sum(axis=1)),
        "order": bool(np.all(order == np.lexsort((state.lot, state.I)))),
        "place": bool(np.all(state.place == np.argsort(order))),
        "lot": validity.order(state.lot),
        "ring": bool(np.all(state.ring == _rings(K))),
        "home": bool(np.all(state.home == _rings(K)[np.argsort(order)])),
        "known": validity.between(state.known, NOTHING, ALL),
        "largest": validity.between(state.largest, SINGLE, _rings(K)[-1] + 1),
        "rival": validity.arms(state.rival, K),
        "due": validity.between(state.due, AT_ONCE, most),
        "most_E": validity.between(state.most_E, state.E.max(axis=1), validity.MOST),
        "most_N": validity.between(state.most_N, N.max(axis=1), validity.MOST),
        "d": validity.between(state.d, d - rounding, d + rounding),
        "n": validity.between(state.n, n - rounding, n + rounding),
        "gain": not state.gain.any(),
        "first": validity.SCRATCH,
        "when": validity.SCRATCH,
        "lost": validity.SCRATCH,
        "met": validity.SCRATCH,
    }


def _rings(n_arms: int) -> Ints:
    """For every place its ring, which is also how many of the groups of 1, 2, 4, ... first arms are all above it."""
    return np.array([place.bit_length() for place in range(n_arms)])
