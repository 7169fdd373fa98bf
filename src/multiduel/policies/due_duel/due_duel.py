"""DueDuel: every arm has a time at which it is due for another look; until the first is due, use the leader alone.

Paper      none: our own. Rule, lower bound, theorem and measurements are in docs/due-duel.md.
Assumes    a Condorcet winner.
Symbols    K arms, m seats, W[i, j] wins of i over j, N_ij = W_ij + W_ji, D_ij = W_ji - W_ij (positive: i lost more than it won),
           E_ij = D_ij^2 / (2 N_ij) if D_ij > 0, else 0: evidence, in nats, that j beats i; I_i = sum_j E_ij;
           e = n kl+(d / n) the same evidence by the exact divergence of a Bernoulli law from a fair coin, 0 if d <= 0; a the
           stretch; L the look-ahead; g the edge.
Outside    it finds the winner with late and missing answers and among losers that tie exactly; outcomes that depend on each other
           (clicks on one list) did not lead it astray where it was measured. Without a Condorcet winner it keeps to the arm least
           refuted, often not the best by Copeland score, and regret is linear.
Deviates   nothing. E is kept in steps of 2^-20, so that sums of it do not depend on the order in which answers came.

    for t = 1, 2, ...
      order the arms by I, least refuted first (ties by lot, drawn once); x <- the first
      for every other arm i:
        due_i <- the largest of
                 n (1 + a e) exp(e),       n, d the sums of N_ij, D_ij over the q arms first in order; q = 1, 2, 4, ... above i
                 n (1 + a e) exp(e) / K,   n, d = N_ij, D_ij, for every single arm j with D_ij > 0
                 0
      if all due_i > t:  A <- {x}                                 # nothing is compared, until t = min due_i
      else:
        i <- the arm of least due_i (in ties, the first in order)
        j <- the arm with the most evidence per duel against i, E_ij / (N_ij + 1), if that is more than g times x's, where
             E_ix counts as 1/2 at least; else x
        A <- {i, j} if m = 2, else {x, i, j} and, of the arms with due <= L t, those of least due, up to m
      compare all pairs of A; update W

How it is computed. A tell changes the rows of the seated arms, and little else. They alone move in the order; on their way they
push others from one *ring* of it to the next: the first arm, the second, the next 2, the next 4, ... A due time is the largest of
its *parts*, one for every group of 1, 2, 4, ... arms and one for single arms. Of every arm the sums d, n of that part are kept:
when an arm crosses from ring to ring they change by one entry, and what they give is a lower bound of the due time. All parts
are computed only where that bound does not keep an arm from a seat. Choices are a function of W and the lot: answers may come
in any order, late, or all at once.

>>> from multiduel import make, ranking
>>> policy = make("due-duel", n_arms=5, slate_size=3, seed=0)
>>> slate = policy.ask()
>>> policy.tell(slate, ranking(slate.arms))
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.choice import random_order
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.quiet import quiet_rounds
from multiduel.policies.due_duel.due_times import cross, look_at
from multiduel.policies.due_duel.state import ALL, MOST_STRETCH, NOTHING, PART, STEP, State, empty, soundness


class Params(NamedTuple):
    slate_size: int = 2  # m
    look_ahead: float = 50.0  # L: those who ride along are due within some 4 nats
    edge: float = 16.0  # g: an opponent other than the leader must refute that much faster
    stretch: float = 0.0  # a: how much later than n exp(e) an arm is due


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    return empty(random_order(n_arms, rng))


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    return soundness(state)


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


@kernel
def put(first: Ints, when: Floats, count: int, most: int, arm: int, value: float) -> int:
    """Put an arm into the list of those with the least values, sorted, at most ``most``; it goes behind its equals."""
    b = min(count, most - 1)
    while b > 0 and when[b - 1] > value:
        when[b], first[b] = when[b - 1], first[b - 1]
        b -= 1
    when[b], first[b] = value, arm
    return min(count + 1, most)


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    order, due, known, first, when = state.order, state.due, state.known, state.first, state.when
    m = params.slate_size
    log_t = math.log(float(round))
    latest = log_t + math.log(params.look_ahead)
    wanted = m - 1
    count, enough = 0, latest  # first the arms that were due first when last looked at: most of them still are
    for a in range(1, order.shape[0]):
        arm = order[a]
        if due[arm] < enough:
            count = put(first, when, count, wanted, arm, due[arm])
            enough = when[count - 1] if count == wanted else latest
    for b in range(count):
        if known[first[b]] != ALL:
            look_at(state, first[b], state.ring[state.place[first[b]]], latest, params.stretch)
    count = 0  # of the arms of least due: first, sorted; in ties the first in order
    for bar in (latest, math.inf):  # if nobody is due before ``latest``: who is the very first?
        enough = bar  # an arm that is due later gets no seat
        for a in range(1, order.shape[0]):
            arm = order[a]
            if known[arm] >= PART and due[arm] > enough:
                continue
            if known[arm] != ALL:
                look_at(state, arm, state.ring[a], enough, params.stretch)
            value = due[arm]
            if known[arm] != ALL or value > enough or (value == enough and count == wanted):
                continue
            count = put(first, when, count, wanted, arm, value)
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
def ahead(i: int, j: int, I: Floats, lot: Ints) -> bool:
    return I[i] < I[j] or (I[i] == I[j] and lot[i] < lot[j])


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    D, N, E, I, most_E, most_N = state.D, state.N, state.E, state.I, state.most_E, state.most_N
    order, place, lot, ring, home = state.order, state.place, state.lot, state.ring, state.home
    gain, known = state.gain, state.known
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
            gain[i] += against_i - E[i, j]
            gain[j] += against_j - E[j, i]
            E[i, j] = against_i
            E[j, i] = against_j
            most_E[i], most_N[i] = max(most_E[i], against_i), max(most_N[i], n)
            most_E[j], most_N[j] = max(most_E[j], against_j), max(most_N[j], n)
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
    for a in range(K):
        arm, old, new = order[a], home[order[a]], ring[a]
        if new != old:
            home[arm] = new
            cross(state, arm, old, new)
            known[arm] = NOTHING  # others are above it now


@implement(Params)
def recommend(params: Params, state: State) -> int:
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
        "stretch": Parameter(meaning="due times are 1 + stretch x evidence times as long", at_least=0.0, at_most=MOST_STRETCH),
    },
)
