"""CCB (Copeland Confidence Bound): an arm that may beat most others meets those that may take that from it.

Paper      Zoghi, Karnin, Whiteson, de Rijke. Copeland Dueling Bandits. NIPS 2015, Algorithm 1.
Assumes    no ties between arms (p_ij = 1/2).
Symbols    K arms, alpha exploration, W[i, j] wins of i over j, N_ij = W_ij + W_ji, u_ij and l_ij = W_ij / N_ij +-
           sqrt(alpha ln t / N_ij), up_i = #{k : u_ik >= 1/2}, low_i = #{k : l_ik >= 1/2}, C the arms with the largest
           up, B the hypothesised Copeland winners, B^i the arms believed to beat i, L the losses of a winner.
Deviates   where B^c holds no arm with l_jc <= 1/2, d comes from all arms, as in a public code: the paper's argmax is
           empty then. x / 0 := 1 is read literally, so that u = 2 for a pair that never met. Coins that cannot matter
           are not tossed.

    B <- all arms;  B^i <- empty;  L <- K
    for t = 1, 2, ...
      1  u, l, up, low as above, u_ii = l_ii = 1/2;  C <- argmax up
      2  A  if l_ij > 1/2 for some i and j in B^i:  reset B, all B^i and L
         B  for i in B with up_i < max low:  remove i from B;  if |B^i| != L + 1:  B^i <- { k : u_ik < 1/2 }
            if B is empty:  reset
         C  for i in C with up_i = low_i:  add i to B;  B^i <- empty;  L <- K - 1 - up_i;  for all j != i:
            if |B^j| < L + 1:  B^j <- empty;  if larger:  keep L + 1 of its arms, at random
      3  with probability 1/4, if some (i, j) has j in B^i and l_ij <= 1/2 <= u_ij:  (c, d) <- one of them; go to 6
      4  if B meets C, with probability 2/3:  C <- B intersect C.   c <- uniformly from C
      5  with probability 1/2:  the pool is B^c, else all arms
         d <- argmax u_jc over j in the pool with l_jc <= 1/2, in a tie not c
      6  play (c, d); update W

How it is computed. l_ij > 1/2 means that i is sure to beat j: the lead d |d| / (4 alpha N_ij), with d = W_ij - W_ji,
exceeds ln t. So all bounds are the sign V[i, j] of sure leads, which changes only by a duel of the pair or when t
reaches its lead; step 2 repeats itself without effect until then, and is left out. When c is sure to beat all and
step 3 has nothing to ask, c plays itself and sees nothing until t reaches the smallest sure lead: one commitment.

>>> from multiduel import make
>>> make("ccb", n_arms=5, seed=0).ask().round
1
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmax, draw_distinct
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement
from multiduel.kernels.quiet import quiet_rounds
from multiduel.kernels.random import below, uniform
from multiduel.kernels.tallies import count_duel

MOST_LOSSES, NEWS, BROKEN, SIZE, MEET = 0, 1, 2, 3, 4  # places in `now`
LOG_T, SOONEST = 0, 1  # places in `level`


class Params(NamedTuple):
    alpha: float = 0.51


class State(NamedTuple):
    W: Floats  # f8[K, K]  wins of i over j
    lead: Floats  # f8[K, K]  d |d| / (4 alpha N_ij)
    mean: Floats  # f8[K, K]  row c, place j: W_jc / N_jc, with 2 for pairs that never met
    root: Floats  # f8[K, K]  1 / sqrt(N_jc), with 0 for pairs that never met
    V: Ints  # i8[K, K]  1 if i is sure to beat j, -1 if j is sure to beat i, else 0
    sure_wins: Ints  # i8[K]     low_i
    sure_losses: Ints  # i8[K]     K - 1 - up_i
    nearest: Floats  # f8[K]     no sure lead in this arm's row is smaller
    B: Ints  # i8[K]     1 for the arms of B
    Bi: Ints  # i8[K, K]  row i: 1 for the arms of B^i
    Bi_size: Ints  # i8[K]     |B^i|
    Bi_open: Ints  # i8[K]     arms of B^i whose duel with i is not sure (step 3)
    C: Ints  # i8[K + 1] the arms of C, ascending, in C[:size]
    pool: Ints  # i8[K + 1] scratch
    u: Floats  # f8[K]     scratch
    now: Ints  # i8[5]     L; 1 if V changed since step 2; pairs that break B^i (step 2A); |C|; |B intersect C|
    level: Floats  # f8[2]     ln t; the smallest of `nearest`


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    K = n_arms
    square = (K, K)
    return State(
        W=np.zeros(square),
        lead=np.zeros(square),
        mean=np.full(square, 2.0),
        root=np.zeros(square),
        V=np.zeros(square, np.int64),
        sure_wins=np.zeros(K, np.int64),
        sure_losses=np.zeros(K, np.int64),
        nearest=np.full(K, np.inf),
        B=np.ones(K, np.int64),
        Bi=np.zeros(square, np.int64),
        Bi_size=np.zeros(K, np.int64),
        Bi_open=np.zeros(K, np.int64),
        C=np.zeros(K + 1, np.int64),
        pool=np.zeros(K + 1, np.int64),
        u=np.zeros(K),
        now=np.array([K, 1, 0, 0, 0]),
        level=np.array([0.0, np.inf]),
    )


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    """The counts are those of V and of the B^i, and C holds someone whenever it is not about to be made anew."""
    W, V, Bi, now, K = state.W, state.V, state.Bi, state.now, len(state.B)
    N = W + W.T
    behind = validity.deficits(W, params.alpha)
    size = int(now[SIZE])
    ready = now[NEWS] == 1 or (1 <= size <= K and validity.distinct(state.C[:size], K))
    meet = now[NEWS] == 1 or (ready and now[MEET] == state.B[state.C[:size]].sum())
    nearest = np.where(V != 0, np.abs(state.lead), np.inf).min(axis=1)
    return {
        "W": validity.tally(W),
        "lead": validity.close(state.lead, behind.T - behind),
        "mean": validity.close(state.mean, validity.per_duel(W.T, N, 2.0)),
        "root": validity.close(state.root, validity.per_duel(np.sqrt(N), N, 0.0)),
        "V": validity.between(V, -1, 1) and bool(np.all(V == -V.T)),
        "sure_wins": bool(np.all(state.sure_wins == (V > 0).sum(axis=1))),
        "sure_losses": bool(np.all(state.sure_losses == (V < 0).sum(axis=1))),
        "nearest": validity.between(state.nearest, 0.0, nearest),
        "B": validity.flags(state.B),
        "Bi": validity.flags(Bi) and not Bi.diagonal().any(),
        "Bi_size": bool(np.all(state.Bi_size == Bi.sum(axis=1))),
        "Bi_open": bool(np.all(state.Bi_open == ((Bi == 1) & (V == 0)).sum(axis=1))),
        "C": ready,
        "pool": validity.SCRATCH,
        "u": validity.SCRATCH,
        "now": validity.counts(now, K * K)
        and validity.flags(now[NEWS])
        and now[BROKEN] == ((Bi == 1) & (V > 0)).sum()
        and now[MOST_LOSSES] <= K
        and meet,
        "level": validity.between(state.level[LOG_T], 0.0, math.log(max(round, 1)) + 1e-9)
        and validity.between(state.level[SOONEST], 0.0, np.inf),
    }


@kernel
def set_sign(state: State, i: int, j: int, sign: int) -> None:
    """V[i, j] <- sign, and everything that counts signs."""
    V = state.V
    old = V[i, j]
    if old == sign:
        return
    for a, b, before, after in ((i, j, old, sign), (j, i, -old, -sign)):
        V[a, b] = after
        state.sure_wins[a] += (1 if after > 0 else 0) - (1 if before > 0 else 0)
        state.sure_losses[a] += (1 if after < 0 else 0) - (1 if before < 0 else 0)
        if state.Bi[a, b] == 1:
            state.Bi_open[a] += (1 if after == 0 else 0) - (1 if before == 0 else 0)
            state.now[BROKEN] += (1 if after > 0 else 0) - (1 if before > 0 else 0)
    state.now[NEWS] = 1


@kernel
def widen_bounds(state: State, log_t: float) -> None:
    """Time has moved on: leads that it has reached are sure no more."""
    soonest = math.inf
    for i in range(state.nearest.shape[0]):
        if state.nearest[i] <= log_t:
            near = math.inf
            for j in range(state.nearest.shape[0]):
                if state.V[i, j] != 0:
                    size = abs(state.lead[i, j])
                    if size <= log_t:
                        set_sign(state, i, j, 0)
                    else:
                        near = min(near, size)
            state.nearest[i] = near
        soonest = min(soonest, state.nearest[i])
    state.level[SOONEST] = soonest


@kernel
def empty(state: State, i: int) -> None:
    """B^i <- empty"""
    for k in range(state.B.shape[0]):
        state.Bi[i, k] = 0
    state.Bi_size[i] = 0
    state.Bi_open[i] = 0


@kernel
def forget(state: State) -> None:
    """Reset B, all B^i and L."""
    K = state.B.shape[0]
    for i in range(K):
        state.B[i] = 1
        empty(state, i)
    state.now[MOST_LOSSES] = K
    state.now[BROKEN] = 0


@kernel
def trim(state: State, j: int, keep: int, rng: Stream) -> None:
    """Keep so many arms of B^j, at random."""
    pool = state.pool
    size = 0
    for k in range(state.B.shape[0]):
        pool[size] = k
        size += state.Bi[j, k]
    draw_distinct(pool, size, keep, pool, 0, rng)
    empty(state, j)
    for a in range(keep):
        state.Bi[j, pool[a]] = 1
        state.Bi_open[j] += 1 if state.V[j, pool[a]] == 0 else 0
    state.Bi_size[j] = keep


@kernel
def revise(state: State, rng: Stream) -> None:
    """Step 2, and C."""
    B, C, now = state.B, state.C, state.now
    K = B.shape[0]
    fewest = K
    max_low = 0
    for i in range(K):
        fewest = min(fewest, state.sure_losses[i])
        max_low = max(max_low, state.sure_wins[i])
    size = 0
    for i in range(K):
        C[size] = i
        size += 1 if state.sure_losses[i] == fewest else 0
    now[SIZE] = size
    now[NEWS] = 0

    if now[BROKEN] > 0:  # A
        forget(state)
    left = 0
    for i in range(K):  # B
        if B[i] == 1 and K - 1 - state.sure_losses[i] < max_low:
            B[i] = 0
            if state.Bi_size[i] != now[MOST_LOSSES] + 1:
                for k in range(K):
                    state.Bi[i, k] = 1 if state.V[i, k] < 0 else 0
                state.Bi_size[i] = state.sure_losses[i]
                state.Bi_open[i] = 0
        left += B[i]
    if left == 0:
        forget(state)
        now[NEWS] = 1  # B starts from all arms again, so that there is more to remove in the next round
    for a in range(size):  # C
        i = C[a]
        if state.sure_wins[i] != K - 1 - fewest:
            continue
        B[i] = 1
        empty(state, i)
        now[MOST_LOSSES] = fewest
        for j in range(K):
            if j != i and state.Bi_size[j] < fewest + 1:
                empty(state, j)
            elif j != i and state.Bi_size[j] > fewest + 1:
                trim(state, j, fewest + 1, rng)
    now[MEET] = 0
    for a in range(size):
        now[MEET] += B[C[a]]


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    now, C, V = state.now, state.C, state.V
    K = state.B.shape[0]
    log_t = math.log(float(round))
    state.level[LOG_T] = log_t
    if state.level[SOONEST] <= log_t:
        widen_bounds(state, log_t)
    if now[NEWS] == 1:
        revise(state, rng)

    in_doubt = 0  # step 3
    for i in range(K):
        in_doubt += state.Bi_open[i]
    if in_doubt > 0 and uniform(rng) < 0.25:
        skip = below(in_doubt, rng)
        i = 0
        while skip >= state.Bi_open[i]:
            skip -= state.Bi_open[i]
            i += 1
        slate[0] = i
        for j in range(K):
            if state.Bi[i, j] == 1 and V[i, j] == 0:
                if skip == 0:
                    slate[1] = j
                skip -= 1
        return 2, 1

    size = now[SIZE]  # step 4
    only_B = 0 < now[MEET] < size and uniform(rng) < 2.0 / 3.0
    if only_B:
        size = now[MEET]
    skip = below(size, rng) if size > 1 else 0
    c = C[0]
    for a in range(now[SIZE]):
        if not only_B or state.B[C[a]] == 1:
            if skip == 0:
                c = C[a]
            skip -= 1
    slate[0] = c

    from_Bc = state.Bi_size[c] > 0 and uniform(rng) < 0.5 and state.Bi_open[c] > 0  # step 5
    u = state.u
    width = math.sqrt(params.alpha * log_t)
    rivals = 0
    for j in range(K):  # whoever is sure to beat c has l_jc > 1/2; whoever is sure to lose to c is below u_cc = 1/2
        rival = V[c, j] == 0 and j != c and (not from_Bc or state.Bi[c, j] == 1)
        u[j] = state.mean[c, j] + state.root[c, j] * width if rival else -1.0
        rivals += 1 if rival else 0
    if rivals > 0:
        slate[1] = argmax(u, rng)
        return 2, 1
    quiet = in_doubt == 0 and now[SIZE] == 1 and state.Bi_size[c] == 0 and now[NEWS] == 0
    return 1, (quiet_rounds(state.level[SOONEST], round, limit) if quiet else 1)


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    i, j = slate[0], slate[1]
    if not count_duel(state.W, state.lead, state.mean, state.root, params.alpha, i, j, wins[0, 1], wins[1, 0]):
        return
    lead = state.lead[i, j]
    if abs(lead) > state.level[LOG_T]:
        set_sign(state, i, j, 1 if lead > 0.0 else -1)
        state.nearest[i] = min(state.nearest[i], abs(lead))
        state.nearest[j] = min(state.nearest[j], abs(lead))
        state.level[SOONEST] = min(state.level[SOONEST], abs(lead))
    else:
        set_sign(state, i, j, 0)
    if round == 0:  # observed: several may come at once, and signs that went to and fro are news too
        state.now[NEWS] = 1


@implement(Params)
def recommend(params: Params, state: State) -> int:
    """The arm that is ahead of most others; of equals the one surer of it."""
    best = 0
    best_score = -1.0
    K = state.B.shape[0]
    for i in range(K):
        score = 0.0
        for j in range(K):
            score += 1.0 if state.lead[i, j] > 0.0 else 0.0
        score += state.sure_wins[i] / (2.0 * K)
        if score > best_score:
            best_score = score
            best = i
    return best


SPEC = PolicySpec(
    name="ccb",
    title="CCB (Copeland Confidence Bound)",
    params=Params,
    cite="zoghi2015copeland",
    slate="two",
    assumes="no two options are equally good against each other",
    regret="O(K^2 + K ln T), Copeland",
    use="Two options at a time when it may be that no option beats every other: it looks for the one that beats most.",
    parameters={"alpha": Parameter(meaning="exploration: more than 1/2 to work", above=0.5)},
)
