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

How it is computed. A tell changes the rows of the seated arms, and little else: the sums over the 1, 2, 4, ... first arms are
kept, and when one arm replaces another among them, every arm's sum changes by two entries. A due time is computed anew only
when a sum behind it changed (``known``). Choices are a function of W and the lot: answers may come in any order, late, or all
at once.

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
NOTHING, BOUND, ALL = 0, 1, 2  # what is known of a due time: nothing, a lower bound (and the part of single arms), all
NONE = -1


class Params(NamedTuple):
    slate_size: int = 2  # m
    look_ahead: float = 50.0  # L: those who ride along are due within some 4 nats
    edge: float = 16.0  # g: an opponent other than the leader must refute that much faster


class State(NamedTuple):
    D: Floats  # f8[K, K]  D[i, j] duels i lost to j, minus those it won
    N: Floats  # f8[K, K]  duels of i and j
    E: Floats  # f8[K, K]  D^2 / 2N where D > 0, in whole steps
    I: Floats  # f8[K]     evidence against i: the sum of its row of E
    GD: Floats  # f8[B, K]  GD[c, i] the sum of D[i, j] over group c, the 2^c first arms j of the order
    GN: Floats  # f8[B, K]  the same of N
    order: Ints  # i8[K]     least refuted first
    place: Ints  # i8[K]     where an arm is in it
    lot: Ints  # i8[K]     breaks ties of I
    above: Ints  # i8[K]     how many groups are all above a place; the group of that number is the first that contains it
    known: Ints  # i8[K]     NOTHING, BOUND or ALL
    group: Ints  # i8[K]     the group that gave due its value last time, or NONE
    rival: Ints  # i8[K]     the arm that gave single its value last time
    single: Floats  # f8[K]     ln of the due time by single arms
    due: Floats  # f8[K]     ln of the due time, or a lower bound
    riding: Floats  # f8[K]     scratch: due of those who ride along


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> State:
    order = random_order(n_arms, rng)
    place = np.argsort(order)
    above = _groups_above(n_arms)
    groups = max(1, int(above[-1]))
    return State(
        D=np.zeros((n_arms, n_arms)),
        N=np.zeros((n_arms, n_arms)),
        E=np.zeros((n_arms, n_arms)),
        I=np.zeros(n_arms),
        GD=np.zeros((groups, n_arms)),
        GN=np.zeros((groups, n_arms)),
        order=order,
        place=place,
        lot=place.copy(),
        above=above,
        known=np.full(n_arms, NOTHING),
        group=np.full(n_arms, NONE),
        rival=np.zeros(n_arms, np.int64),
        single=np.full(n_arms, AT_ONCE),
        due=np.full(n_arms, AT_ONCE),
        riding=np.zeros(n_arms),
    )


@valid.implement(Params)
def sound(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    D, N, order, K = state.D, state.N, state.order, n_arms
    if not (validity.tally(N) and validity.order(order)):
        return {**dict.fromkeys(State._fields, True), "N": validity.tally(N), "order": validity.order(order)}
    E = np.where(D > 0.0, STEP * np.floor(validity.per_duel(D * D, 2.0 * STEP * N, 0.0) + 0.5), 0.0)
    groups = [order[: 1 << c] for c in range(len(state.GN))]
    most = LOG_2 * float(N.sum()) + 50.0  # nats, and the logarithm of any number of duels
    return {
        "D": validity.between(D, -N, N) and bool(np.all(D == -D.T)),
        "N": bool(np.all(N == N.T)),
        "E": validity.close(state.E, E),
        "I": validity.close(state.I, state.E.sum(axis=1)),
        "GD": validity.close(state.GD, [D[:, group].sum(axis=1) for group in groups]),
        "GN": validity.close(state.GN, [N[:, group].sum(axis=1) for group in groups]),
        "order": bool(np.all(order == np.lexsort((state.lot, state.I)))),
        "place": bool(np.all(state.place == np.argsort(order))),
        "lot": validity.order(state.lot),
        "above": bool(np.all(state.above == _groups_above(K))),
        "known": validity.between(state.known, NOTHING, ALL),
        "group": validity.between(state.group, NONE, len(groups) - 1),
        "rival": validity.arms(state.rival, K),
        "single": validity.between(state.single, AT_ONCE, most),
        "due": validity.between(state.due, AT_ONCE, most),
        "riding": validity.SCRATCH,
    }


def _groups_above(n_arms: int) -> Ints:
    """For every place p, how many groups of 2^c arms lie above it: 2^c <= p."""
    return np.array([place.bit_length() for place in range(n_arms)])


@kernel
def nats(d: float, n: float) -> float:
    """n kl((n - d) / 2n, 1/2) for d > 0: evidence of d more losses than wins in n duels that losing is the rule."""
    if d >= n:
        return n * LOG_2
    return 0.5 * ((n + d) * math.log1p(d / n) + (n - d) * math.log1p(-d / n))


@kernel
def nats_at_most(d: float, n: float) -> float:
    """A bound of it without logarithms: two terms of its series in d / n, and all later ones as if they were the third."""
    r = d / n
    s = r * r
    return d * r * (0.5 + s * (1.0 / 12.0 + s * (LOG_2 - 7.0 / 12.0)))


@kernel
def single_due(D: Floats, N: Floats, E: Floats, i: int, rival: int) -> tuple[float, int]:
    """ln of the due time of i by single opponents, and who they are: ``rival`` last time, so that one is looked at first."""
    n_arms = D.shape[0]
    log_K = math.log(float(n_arms))
    due = AT_ONCE
    log_M = -log_K
    M = 1.0
    if D[i, rival] > 0.0:
        M = N[i, rival]
        log_M = math.log(M) - log_K
        due = max(due, nats(D[i, rival], M) + log_M)
    per_M = 1.0 / M
    spare = log_M - 1.0 + SLACK  # ln n <= ln M + n / M - 1: where that falls short no logarithm is taken
    for j in range(n_arms):
        if E[i, j] > 0.0 and 2.0 * LOG_2 * E[i, j] + N[i, j] * per_M + spare > due:
            d, n = D[i, j], N[i, j]
            if nats_at_most(d, n) + n * per_M + spare <= due:
                continue
            value = nats(d, n) + math.log(n) - log_K
            if value > due:
                due = value
                rival = j
    return due, rival


@kernel
def group_due(GD: Floats, GN: Floats, i: int, groups: int, due: float, best: int) -> tuple[float, int]:
    """The largest of ``due`` and ln of the due times of i by the first ``groups`` groups, and which; ``best`` is tried first."""
    log_M = 0.0
    M = 1.0
    if NONE < best < groups and GN[best, i] > 0.0:
        M = GN[best, i]
        log_M = math.log(M)
        value = log_M + (nats(GD[best, i], M) if GD[best, i] > 0.0 else 0.0)
        best = best if value > due else NONE
        due = max(due, value)
    else:
        best = NONE
    for c in range(groups):
        d, n = max(GD[c, i], 0.0), GN[c, i]
        if n > 0.0 and nats_at_most(d, n) + log_M + (n / M - 1.0) > due - SLACK:
            value = math.log(n) + (nats(d, n) if d > 0.0 else 0.0)
            if value > due:
                due = value
                best = c
    return due, best


@kernel
def refuter(N: Floats, E: Floats, order: Ints, i: int, edge: float) -> int:
    """The arm to compare i with: the leader, unless another has refuted i ``edge`` times faster."""
    x = order[0]
    best = x
    most = edge * max(E[i, x], 0.5) / (N[i, x] + 1.0)
    for a in range(1, order.shape[0]):
        j = order[a]
        if E[i, j] > most * (N[i, j] + 1.0):
            most = E[i, j] / (N[i, j] + 1.0)
            best = j
    return best


@ask.implement(Params)
def choose(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    order, due, known, riding = state.order, state.due, state.known, state.riding
    D, N, E, GD, GN, above = state.D, state.N, state.E, state.GD, state.GN, state.above
    K = order.shape[0]
    m = params.slate_size
    log_t = math.log(float(round))
    latest = log_t + math.log(params.look_ahead)
    slate[0] = order[0]  # x
    first = math.inf
    i = order[0]
    for a in range(1, K):
        arm = order[a]
        if known[arm] == NOTHING or (known[arm] == BOUND and due[arm] <= latest):
            if known[arm] == NOTHING:
                state.single[arm], state.rival[arm] = single_due(D, N, E, arm, state.rival[arm])
            due[arm], state.group[arm] = group_due(GD, GN, arm, above[a], state.single[arm], state.group[arm])
            known[arm] = ALL
        value = due[arm]
        i = arm if value < first else i  # in ties the first in order
        first = min(first, value)
    if first > latest:  # which may be a bound only, and must be exact
        first = math.inf
        for a in range(1, K):
            arm = order[a]
            if known[arm] == BOUND:
                due[arm], state.group[arm] = group_due(GD, GN, arm, above[a], state.single[arm], state.group[arm])
                known[arm] = ALL
            first = min(first, due[arm])
    if first > log_t:  # nobody is due: x alone
        return 1, quiet_rounds(first, round, limit)

    j = refuter(N, E, order, i, params.edge)
    slate[1] = i
    if m == 2:
        slate[0] = j
        return 2, 1
    n = 2
    if j != order[0]:
        slate[2] = j
        n = 3
    free = m - n
    riders = 0  # those of least due, sorted; in ties the first in order
    for a in range(1, K):
        arm = order[a]
        value = due[arm]
        late = value > latest or free == 0 or (riders == free and value >= riding[free - 1])
        if late or arm in (i, j):
            continue
        b = min(riders, free - 1)
        while b > 0 and riding[b - 1] > value:
            riding[b] = riding[b - 1]
            slate[n + b] = slate[n + b - 1]
            b -= 1
        riding[b] = value
        slate[n + b] = arm
        riders = min(riders + 1, free)
    return n + riders, 1


@kernel
def replace(new: Floats, old: Floats, sums: Floats) -> None:
    """One arm takes another's place in a group: every arm's sum over it. (Four arms at a time, being so simple a loop.)"""
    for i in range(sums.shape[0]):
        sums[i] += new[i] - old[i]


@kernel
def forget(new: Floats, old: Floats, c: int, group: Ints, single: Floats, due: Floats, known: Ints) -> None:
    """Due times that a change in group c may have changed: a lower bound is what another group, or a single arm, gave."""
    for i in range(due.shape[0]):
        touched = (new[i] + old[i] > 0.0) & (group[i] == c)
        due[i] = single[i] if touched else due[i]
    for i in range(due.shape[0]):
        touched = (new[i] + old[i] > 0.0) & (known[i] == ALL)
        known[i] = BOUND if touched else known[i]


@tell.implement(Params)
def learn(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    D, N, E, I, GD, GN = state.D, state.N, state.E, state.I, state.GD, state.GN
    above, order, place, lot, known = state.above, state.order, state.place, state.lot, state.known
    due, group, single = state.due, state.group, state.single
    K = order.shape[0]
    for a in range(slate.shape[0]):
        i = slate[a]
        known[i] = NOTHING
        for b in range(a + 1, slate.shape[0]):
            j = slate[b]
            both = wins[a, b] + wins[b, a]
            if both == 0.0:
                continue
            more = wins[b, a] - wins[a, b]
            d = D[i, j] + more
            n = N[i, j] + both
            D[i, j] = d
            D[j, i] = -d
            N[i, j] = N[j, i] = n
            e = STEP * math.floor(d * d / (2.0 * STEP * n) + 0.5)
            against_i = e if d > 0.0 else 0.0
            against_j = e if d < 0.0 else 0.0
            I[i] += against_i - E[i, j]  # exact: whole steps
            I[j] += against_j - E[j, i]
            E[i, j] = against_i
            E[j, i] = against_j
            for c in range(above[place[j]], GN.shape[0]):
                GD[c, i] += more
                GN[c, i] += both
            for c in range(above[place[i]], GN.shape[0]):
                GD[c, j] -= more
                GN[c, j] += both
    for a in range(1, K):  # insertion: the order hardly changes from round to round
        arm = order[a]
        b = a
        while b > 0 and (I[order[b - 1]] > I[arm] or (I[order[b - 1]] == I[arm] and lot[order[b - 1]] > lot[arm])):
            other = order[b - 1]
            order[b] = other
            place[other] = b
            if b & (b - 1) == 0:  # among the b = 2^c first, arm takes the place of other
                c = above[b] - 1
                replace(D[other], D[arm], GD[c])  # D[i, arm] - D[i, other], by rows
                replace(N[arm], N[other], GN[c])
                forget(N[arm], N[other], c, group, single, due, known)
                for i in (arm, other):
                    due[i] = single[i]
                    known[i] = min(known[i], BOUND)
            b -= 1
        order[b] = arm
        place[arm] = b


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
    use="Two or more options at once, one of which beats every other: little regret, and a wrong leader is found out in the end.",
    parameters={
        "slate_size": Parameter(meaning="arms compared in one round, at most", at_least=1),
        "look_ahead": Parameter(meaning="free seats go to arms due before look_ahead times now", at_least=1.0),
        "edge": Parameter(meaning="how many times faster than the leader an opponent must refute", at_least=1.0),
    },
)
