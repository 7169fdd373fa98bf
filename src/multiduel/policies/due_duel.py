"""DueDuel: every arm has a time at which it is due for another look; until the first is due, use the leader alone.

Paper      none: our own. Rule, lower bound, theorem and measurements are in docs/due-duel.md.
Assumes    a Condorcet winner.
Symbols    K arms, m seats, W[i, j] wins of i over j, N_ij = W_ij + W_ji, D_ij = W_ji - W_ij (positive: i lost more than it won),
           E_ij = D_ij^2 / (2 N_ij) if D_ij > 0, else 0: evidence, in nats, that j beats i; I_i = sum_j E_ij;
           n kl+(d / n) the same evidence by the exact divergence of a Bernoulli law from a fair coin, 0 if d <= 0; L the
           look-ahead; g the edge.
Outside    it finds the winner with late and missing answers and among losers that tie exactly; outcomes that depend on each other
           (clicks on one list) did not lead it astray where it was measured. Without a Condorcet winner it keeps to the arm least
           refuted, often not the best by Copeland score, and regret is linear.
Deviates   nothing. E is kept in steps of 2^-20, so that sums of it do not depend on the order in which answers came.

    for t = 1, 2, ...
      order the arms by I, least refuted first (ties by lot, drawn once); x <- the first
      for every other arm i:
        due_i <- the largest of
                 n exp(n kl+(d / n)),       n, d the sums of N_ij, D_ij over the q arms first in order; q = 1, 2, 4, ... above i
                 n exp(n kl+(d / n)) / K,   n, d = N_ij, D_ij, for every single arm j with D_ij > 0
                 0
      if all due_i > t:  A <- {x}                                 # nothing is compared, until t = min due_i
      else:
        i <- the arm of least due_i (in ties, the first in order)
        j <- the arm with the most evidence per duel against i, E_ij / (N_ij + 1), if that is more than g times x's, where
             E_ix counts as 1/2 at least; else x
        A <- {i, j} if m = 2, else {x, i, j} and, of the arms with due <= L t, those of least due, up to m
      compare all pairs of A; update W

How it is computed. A tell changes the rows of the seated arms, and little else. They alone move in the order. The groups of
1, 2, 4, ... arms are sums of *rings*: the first arm, the second, the next 2, the next 4, ...; sums over rings are kept, and when
an arm goes from one ring to another every arm's sums change by one entry. A due time is the largest of its *parts*, one for
every group and one for single arms. A tell says which parts are ``stale``; as long as the one that was ``largest`` is not, the
old value is a lower bound, and an arm is looked at only if that does not keep it from a seat. Choices are a function of W and
the lot: answers may come in any order, late, or all at once.

>>> from multiduel import make, ranking
>>> policy = make("due-duel", n_arms=5, slate_size=3, seed=0)
>>> slate = policy.ask()
>>> policy.tell(slate, ranking(slate.arms))
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import random_order
from multiduel.kernels.contract import Parameter, PolicySpec, ask, init, recommend, tell, valid
from multiduel.kernels.dispatch import kernel
from multiduel.kernels.quiet import quiet_rounds

STEP = 2.0**-20  # of E, in nats
LOG_2 = math.log(2.0)
AT_ONCE = -1.0  # ln of a due time of 0: below that of every arm that met one above it
SLACK = 1e-9  # beyond rounding: a value that is not computed for being too small is too small
SINGLE = 0  # number of the part of a due time that single arms give; the group of 2^c arms gives part c + 1
ALL_PARTS, GROUPS = -1, -2  # sets of parts, as bits
COLUMNS = 128  # so many columns of RD and RN stay in the processor's nearest memory


class Params(NamedTuple):
    slate_size: int = 2  # m
    look_ahead: float = 50.0  # L: those who ride along are due within some 4 nats
    edge: float = 16.0  # g: an opponent other than the leader must refute that much faster


class State(NamedTuple):
    D: Floats  # f8[K, K]  D[i, j] duels i lost to j, minus those it won
    N: Floats  # f8[K, K]  duels of i and j
    E: Floats  # f8[K, K]  D^2 / 2N where D > 0, in whole steps
    I: Floats  # f8[K]     evidence against i: the sum of its row of E
    RD: Floats  # f8[R, K]  RD[r, i] the sum of D[i, j] over the arms j of ring r
    RN: Floats  # f8[R, K]  the same of N
    order: Ints  # i8[K]     least refuted first
    place: Ints  # i8[K]     where an arm is in it
    lot: Ints  # i8[K]     breaks ties of I
    ring: Ints  # i8[K]     the ring of a place: 0, 1, 2, 2, 3, 3, 3, 3, 4, ...; so many groups are all above it
    home: Ints  # i8[K]     the ring of an arm
    stale: Ints  # i8[K]     bits: the parts of due that may have changed since it was computed
    largest: Ints  # i8[K]     the part that gave due its value; due is a lower bound while that one is not stale
    rival: Ints  # i8[K]     the single arm that gave due its value, if one did
    due: Floats  # f8[K]     ln of the due time, if nothing is stale
    gain: Floats  # f8[K]     0 between tells: what a tell adds to I
    first: Ints  # i8[K]     scratch: arms of least due
    when: Floats  # f8[K]     scratch: ln of their due times


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> State:
    order = random_order(n_arms, rng)
    place = np.argsort(order)
    ring = _rings(n_arms)
    return State(
        D=np.zeros((n_arms, n_arms)),
        N=np.zeros((n_arms, n_arms)),
        E=np.zeros((n_arms, n_arms)),
        I=np.zeros(n_arms),
        RD=np.zeros((ring[-1] + 1, n_arms)),
        RN=np.zeros((ring[-1] + 1, n_arms)),
        order=order,
        place=place,
        lot=place.copy(),
        ring=ring,
        home=ring[place],
        stale=np.full(n_arms, ALL_PARTS),
        largest=np.full(n_arms, SINGLE),
        rival=np.zeros(n_arms, np.int64),
        due=np.full(n_arms, AT_ONCE),
        gain=np.zeros(n_arms),
        first=np.zeros(n_arms, np.int64),
        when=np.zeros(n_arms),
    )


@valid.implement(Params)
def sound(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    D, N, order, K = state.D, state.N, state.order, n_arms
    if not (validity.tally(N) and validity.order(order)):
        return {**dict.fromkeys(State._fields, True), "N": validity.tally(N), "order": validity.order(order)}
    E = np.where(D > 0.0, STEP * np.floor(validity.per_duel(D * D, 2.0 * STEP * N, 0.0) + 0.5), 0.0)
    rings = [order[_rings(K) == r] for r in range(len(state.RN))]
    most = LOG_2 * float(N.sum()) + 50.0  # nats, and the logarithm of any number of duels
    return {
        "D": validity.between(D, -N, N) and bool(np.all(D == -D.T)),
        "N": bool(np.all(N == N.T)),
        "E": validity.close(state.E, E),
        "I": validity.close(state.I, state.E.sum(axis=1)),
        "RD": validity.close(state.RD, [D[:, ring].sum(axis=1) for ring in rings]),
        "RN": validity.close(state.RN, [N[:, ring].sum(axis=1) for ring in rings]),
        "order": bool(np.all(order == np.lexsort((state.lot, state.I)))),
        "place": bool(np.all(state.place == np.argsort(order))),
        "lot": validity.order(state.lot),
        "ring": bool(np.all(state.ring == _rings(K))),
        "home": bool(np.all(state.home == _rings(K)[np.argsort(order)])),
        "stale": True,  # any set of bits
        "largest": validity.between(state.largest, SINGLE, len(rings)),
        "rival": validity.arms(state.rival, K),
        "due": validity.between(state.due, AT_ONCE, most),
        "gain": not state.gain.any(),
        "first": validity.SCRATCH,
        "when": validity.SCRATCH,
    }


def _rings(n_arms: int) -> Ints:
    """For every place its ring, which is also how many of the groups of 1, 2, 4, ... first arms are all above it."""
    return np.array([place.bit_length() for place in range(n_arms)])


@kernel
def nats(d: float, n: float) -> float:
    """n kl+(d / n): evidence of d more losses than wins in n duels that losing is the rule."""
    if d <= 0.0:
        return 0.0
    if d >= n:
        return n * LOG_2
    return 0.5 * ((n + d) * math.log((n + d) / n) + (n - d) * math.log((n - d) / n))


@kernel
def nats_at_most(d: float, n: float) -> float:
    """A bound of it without logarithms: two terms of its series in d / n, and all later ones as if they were the third."""
    r = max(d, 0.0) / n
    s = r * r
    return n * s * (0.5 + s * (1.0 / 12.0 + s * (LOG_2 - 7.0 / 12.0)))


@kernel
def look_at(state: State, i: int, groups: int, enough: float) -> None:
    """Bring due[i] up to date; or, if the part that was the largest last time still gives more than ``enough``, that part."""
    D, N, E, RD, RN = state.D, state.N, state.E, state.RD, state.RN
    due, part, rival = AT_ONCE, min(state.largest[i], groups), state.rival[i]
    log_K = math.log(float(N.shape[0]))
    d, M, log_M, per_M = 0.0, 0.0, 0.0, 1.0
    for r in range(part):
        d += RD[r, i]
        M += RN[r, i]
    if part == SINGLE and D[i, rival] > 0.0:
        d, M = D[i, rival], N[i, rival]
    if part != SINGLE and M >= 1.0 and d > 0.0 and 0.5 * d * d / M > enough:
        due = 0.5 * d * d / M  # no more than n kl+(d / n), and enough
    elif M > 0.0:
        log_M, per_M = math.log(M), 1.0 / M
        due = max(due, log_M + nats(d, M) - (log_K if part == SINGLE else 0.0))
    if due > enough:
        state.due[i], state.largest[i], state.stale[i] = due, part, ~(1 << part)
        return

    # Most other parts are seen to be smaller without a logarithm, by ln n <= n / M + ln M - 1.
    known = part
    rest = log_M - 1.0 + SLACK
    d, n = 0.0, 0.0
    for c in range(groups):
        d += RD[c, i]
        n += RN[c, i]
        if n > 0.0 and c + 1 != known and nats_at_most(d, n) + n * per_M + rest > due:
            value = math.log(n) + nats(d, n)
            if value > due:
                due, part = value, c + 1
    rest -= log_K
    larger = 0
    for j in range(N.shape[0]):  # only counted, which the compiler does for four at once
        larger += 1 if (E[i, j] > 0.0) & (2.0 * LOG_2 * E[i, j] + N[i, j] * per_M + rest > due) else 0
    for j in range(N.shape[0] if larger > 0 else 0):
        n = N[i, j]
        if E[i, j] > 0.0 and nats_at_most(D[i, j], n) + n * per_M + rest > due:
            value = math.log(n) + nats(D[i, j], n) - log_K
            if value > due:
                due, part, rival = value, SINGLE, j
    state.due[i], state.largest[i], state.rival[i], state.stale[i] = due, part, rival, 0


@kernel
def refuter(N: Floats, E: Floats, order: Ints, i: int, edge: float) -> int:
    """The arm to compare i with: the leader, unless another has refuted i ``edge`` times faster."""
    K = order.shape[0]
    x = order[0]
    most = edge * max(E[i, x], 0.5) / (N[i, x] + 1.0)
    faster = 0
    for j in range(K):  # only counted, as above
        faster += 1 if E[i, j] > most * (N[i, j] + 1.0) else 0
    best = x
    for a in range(1, K if faster > 0 else 0):
        j = order[a]
        if E[i, j] > most * (N[i, j] + 1.0):
            most, best = E[i, j] / (N[i, j] + 1.0), j
    return best


@ask.implement(Params)
def choose(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    order, due, stale, largest, first, when = state.order, state.due, state.stale, state.largest, state.first, state.when
    m = params.slate_size
    log_t = math.log(float(round))
    latest = log_t + math.log(params.look_ahead)
    wanted = m - 1
    count = 0  # of the arms of least due: first, sorted; in ties the first in order
    for bar in (latest, math.inf):  # if nobody is due before ``latest``: who is the very first?
        enough = bar  # an arm that is due later gets no seat
        for a in range(1, order.shape[0]):
            arm = order[a]
            bounded = (stale[arm] >> largest[arm]) & 1 == 0
            if bounded and due[arm] > enough:
                continue
            if stale[arm] != 0:
                look_at(state, arm, state.ring[a], enough)
            value = due[arm]
            if value > enough or (value == enough and count == wanted):
                continue
            b = min(count, wanted - 1)
            while b > 0 and when[b - 1] > value:
                when[b], first[b] = when[b - 1], first[b - 1]
                b -= 1
            when[b], first[b] = value, arm
            count = min(count + 1, wanted)
            enough = when[count - 1] if count == wanted else bar
        if count > 0:
            break
        wanted = 1
    slate[0] = order[0]  # x
    wake = when[0] if count > 0 else math.inf
    if wake > log_t:  # nobody is due: x alone
        return 1, quiet_rounds(wake, round, limit)

    i = first[0]
    j = refuter(state.N, state.E, order, i, params.edge)
    slate[1] = i
    if m == 2:
        slate[0] = j
        return 2, 1
    n = 2
    if j != order[0]:
        slate[2] = j
        n = 3
    for b in range(1, count):
        if n < m and first[b] != j:
            slate[n] = first[b]
            n += 1
    return n, 1


@kernel
def move(entries: Floats, old: Floats, new: Floats) -> None:
    """From one ring's sums to another's. A loop so simple that the compiler does four steps at once."""
    for i in range(entries.shape[0]):
        old[i] -= entries[i]
        new[i] += entries[i]


@kernel
def spoil(N: Floats, stale: Ints, parts: int) -> None:
    """Those who met an arm that moved have stale parts."""
    for i in range(N.shape[0]):
        stale[i] |= parts if N[i] > 0.0 else 0


@kernel
def ahead(i: int, j: int, I: Floats, lot: Ints) -> bool:
    return I[i] < I[j] or (I[i] == I[j] and lot[i] < lot[j])


@tell.implement(Params)
def learn(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    D, N, E, I, RD, RN = state.D, state.N, state.E, state.I, state.RD, state.RN
    order, place, lot, ring, home = state.order, state.place, state.lot, state.ring, state.home
    gain, stale = state.gain, state.stale
    K = order.shape[0]
    for a in range(slate.shape[0]):
        i = slate[a]
        ring_i = home[i]
        stale[i] = ALL_PARTS
        for b in range(a + 1, slate.shape[0]):
            j = slate[b]
            both = wins[a, b] + wins[b, a]
            if both == 0.0:
                continue
            ring_j = home[j]
            more = wins[b, a] - wins[a, b]
            d = D[i, j] + more
            n = N[i, j] + both
            D[i, j] = d
            D[j, i] = -d
            N[i, j] = N[j, i] = n
            e = STEP * math.floor(d * d / (2.0 * STEP * n) + 0.5)
            against_i = e if d > 0.0 else 0.0
            against_j = e if d < 0.0 else 0.0
            gain[i] += against_i - E[i, j]
            gain[j] += against_j - E[j, i]
            E[i, j] = against_i
            E[j, i] = against_j
            RD[ring_j, i] += more
            RN[ring_j, i] += both
            RD[ring_i, j] -= more
            RN[ring_i, j] += both
    same = True
    for a in range(slate.shape[0]):  # one after the other, the seated go to their new places
        arm = slate[a]
        I[arm] += gain[arm]  # exact: whole steps
        gain[arm] = 0.0
        b = place[arm]
        while b > 0 and ahead(arm, order[b - 1], I, lot):
            order[b] = order[b - 1]
            place[order[b]] = b
            b -= 1
        while b < K - 1 and ahead(order[b + 1], arm, I, lot):
            order[b] = order[b + 1]
            place[order[b]] = b
            b += 1
        order[b] = arm
        same = same and place[arm] == b
        place[arm] = b
    if same:
        return
    moved = state.first
    n_moved = 0
    for a in range(K):
        if ring[a] != home[order[a]]:
            moved[n_moved] = order[a]
            n_moved += 1
    for a in range(0, K, COLUMNS):
        b = min(a + COLUMNS, K)
        for k in range(n_moved):
            arm = moved[k]
            old, new = home[arm], ring[place[arm]]
            move(D[arm, a:b], RD[new, a:b], RD[old, a:b])  # the other way round: D[i, arm] = -D[arm, i]
            move(N[arm, a:b], RN[old, a:b], RN[new, a:b])
            spoil(N[arm, a:b], stale[a:b], (2 << max(old, new)) - (2 << min(old, new)))  # the groups it entered or left
    for k in range(n_moved):
        arm = moved[k]
        home[arm] = ring[place[arm]]
        stale[arm] |= GROUPS  # others are above it now


@recommend.implement(Params)
def bet(params: Params, state: State) -> int:
    return state.order[0]


SPEC = PolicySpec(
    name="due-duel",
    title="DueDuel",
    params=Params,
    cite="none",
    slate="any",
    assumes="a Condorcet winner",
    regret="O(ln T)",
    use="Two or more options at once, one of which beats every other: little regret, and a wrong leader is found out in the end. "
    "Answers may be late, missing, tied, or depend on each other. If no option beats all, it keeps to one hard to refute.",
    parameters={
        "slate_size": Parameter(meaning="arms compared in one round, at most", at_least=1),
        "look_ahead": Parameter(meaning="free seats go to arms due before look_ahead times now", at_least=1.0),
        "edge": Parameter(meaning="how many times faster than the leader an opponent must refute", at_least=1.0),
    },
)
