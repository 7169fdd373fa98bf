"""Beat the Mean, BTM and its PAC version: every arm meets the average of those left, and whoever falls behind leaves.

Paper      Yue, Joachims. Beat the Mean Bandit. ICML 2011, Algorithm 1: BTM with the settings for regret, the other with
           those of its PAC version.
Assumes    a total order, relaxed stochastic transitivity (gamma), the stochastic triangle inequality; BTM the horizon T.
Symbols    K arms, A the active ones, n_b comparisons that b initiated, w_b its wins in them, phat_b = w_b / n_b (1/2
           if none), c(n) = constant gamma^2 sqrt(ln(1 / delta) / n) the radius, c(0) = 1; for BTM delta = 1 / (2 T K);
           PAC: ln(K^3 N / delta) under the root, N the smallest whole number with N >= 36 gamma^6 ln(K^3 N / delta) / epsilon^2.
Deviates   nothing in BTM: constant = 0 stands for the paper's 3, or 1 where gamma = 1. Public codes drop the 3 at other
           gammas too, and some exclude the arm itself from its mean (``self_duels = false``). The PAC version, having
           found its arm, plays it for good; its constant is 3 in the paper.

    A <- all arms
    while |A| > 1                                                     (PAC: and min n over A < N)
      b <- argmin n_b over A, ties at random;  b' <- uniformly from A
      duel (b, b');  n_b <- n_b + 1;  w_b <- w_b + 1 if b won
      c* <- c(min n over A)
      if min phat + c* <= max phat - c*:
        drop the arm z with the smallest phat, ties at random; delete all comparisons with z
    play argmax phat over A to the end, ties at random

Fewest comparisons are counted as asked, so that late answers do not pile up on one arm. The end is one commitment. The arms with
the fewest wait in a pool, which is filled when it is empty; and the extremes of n and phat are looked for again only when the
arm that has one of them moves. So a duel costs the same with many arms as with few.

>>> from multiduel import make
>>> make("btm", n_arms=5, seed=0, horizon=1000, gamma=1.2).ask().round
1
>>> make("beat-the-mean-pac", n_arms=5, seed=0, epsilon=0.2).ask().round
1
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter, PolicySpec, implement, init
from multiduel.kernels.elimination import pick
from multiduel.kernels.random import below, uniform

SIZE, WINNER, WAITING, LOWEST, HIGHEST, AT_LEAST = 0, 1, 2, 3, 4, 5  # places in `progress`
LEAST, LOW, HIGH, C = 0, 1, 2, 3  # places in `extremes`
NONE = -1


class BTM(NamedTuple):
    horizon: int = 0  # T
    gamma: float = 1.0
    constant: float = 0.0  # of the radius; 0: 3 if gamma > 1, else 1
    self_duels: bool = True


class PAC(NamedTuple):
    epsilon: float = 0.1
    delta: float = 0.05
    gamma: float = 1.0
    constant: float = 3.0  # of the radius
    self_duels: bool = True


class State(NamedTuple):
    A: Ints  # i8[K]     active arms, ascending, in A[:size]
    active: Ints  # i8[K]     1 for the arms of A
    asked: Floats  # f8[K]     comparisons that b initiated; those told are n
    n: Floats  # f8[K]     n_b
    w: Floats  # f8[K]     w_b, wins of b among them
    phat: Floats  # f8[K]     w_b / n_b, 1/2 if n_b = 0
    asked_with: Floats  # f8[K, K]  the same split by opponent, to be deleted with it
    n_with: Floats  # f8[K, K]
    w_with: Floats  # f8[K, K]
    pool: Ints  # i8[K]     those of A with the fewest comparisons asked, ascending, in pool[:waiting]
    progress: Ints  # i8[6]     |A|; the arm committed to, or NONE; waiting; arms of LOW and HIGH; arms with n = LEAST
    extremes: Floats  # f8[4]     over A: min n, min phat, max phat; c(min n)
    radius: Floats  # f8[2]     c(n) = radius[0] / sqrt(n); stop when min n reaches radius[1]


@init.implement(BTM)
def init_btm(params: BTM, n_arms: int, rng: Stream) -> State:
    return fresh(radius_of(params, n_arms), n_arms)


@init.implement(PAC)
def init_pac(params: PAC, n_arms: int, rng: Stream) -> State:
    return fresh(radius_of(params, n_arms), n_arms)


def radius_of(params: BTM | PAC, n_arms: int) -> tuple[float, float]:
    """c(n) = the first / sqrt(n). Every active arm's n reaching the second ends the exploration."""
    if isinstance(params, PAC):
        N = comparisons_enough(params, n_arms)
        return params.constant * params.gamma**2 * math.sqrt(math.log(n_arms**3 * N / params.delta)), N
    constant = params.constant if params.constant > 0.0 else (3.0 if params.gamma > 1.0 else 1.0)
    log_error = math.log(2.0) + math.log(float(max(params.horizon, 1))) + math.log(float(n_arms))
    return constant * params.gamma**2 * math.sqrt(log_error), math.inf


def comparisons_enough(params: PAC, n_arms: int) -> float:
    """N. The right side grows like ln N, so that repeating N <- right side climbs to the smallest solution."""
    scale = 36.0 * params.gamma**6 / params.epsilon**2
    N = 1.0
    while True:
        needed = math.ceil(scale * math.log(n_arms**3 * N / params.delta))
        if needed <= N:
            return N
        N = float(needed)


def fresh(radius: tuple[float, float], n_arms: int) -> State:
    K = n_arms
    return State(
        A=np.arange(K),
        active=np.ones(K, np.int64),
        asked=np.zeros(K),
        n=np.zeros(K),
        w=np.zeros(K),
        phat=np.full(K, 0.5),
        asked_with=np.zeros((K, K)),
        n_with=np.zeros((K, K)),
        w_with=np.zeros((K, K)),
        pool=np.zeros(K, np.int64),
        progress=np.array([K, 0 if K == 1 else NONE, 0, 0, 0, K]),
        extremes=np.array([0.0, 0.5, 0.5, 1.0]),
        radius=np.array(radius),
    )


@implement(BTM)
@implement(PAC)
def valid(params: BTM | PAC, state: State, n_arms: int, round: int) -> dict[str, Any]:
    """While there is no winner, two arms or more are active."""
    K, size, winner = len(state.A), int(state.progress[SIZE]), state.progress[WINNER]
    active = state.active == 1
    here = (1 if winner != NONE else 2) <= size == np.count_nonzero(active)
    phat = validity.per_duel(state.w, state.n, 0.5)

    def sums(values: Any, by_opponent: Any) -> bool:
        kept = by_opponent[:, active].sum(axis=1)
        return validity.counts(values) and validity.counts(by_opponent) and validity.close(values[active], kept[active])

    return {
        "A": here and validity.arms(state.A, K) and state.A[:size].tolist() == np.flatnonzero(active).tolist(),
        "active": validity.flags(state.active),
        "asked": sums(state.asked, state.asked_with),
        "n": sums(state.n, state.n_with),
        "w": sums(state.w, state.w_with),
        "phat": validity.close(state.phat[active], phat[active]) and validity.between(state.phat, 0.0, 1.0),
        "asked_with": validity.counts(state.asked_with),
        "n_with": validity.counts(state.n_with),
        "w_with": validity.between(state.w_with, 0.0, state.n_with),
        "pool": here and queued(state, active),
        "progress": here and validity.arms(winner, K, none=True) and held_by(state, active),
        "extremes": here and validity.close(state.extremes, extremes_of(state, active)),
        "radius": validity.close(state.radius, radius_of(params, K)),
    }


def queued(state: State, active: Any) -> bool:
    """Those who wait are active, in their order, and have the fewest comparisons asked."""
    waiting = int(state.progress[WAITING])
    if not (0 <= waiting <= len(state.A) and validity.arms(state.pool, len(state.A))):
        return False
    pool = state.pool[:waiting]
    fewest = state.asked[active].min()
    return bool(active[pool].all() and (np.diff(pool) > 0).all() and (state.asked[pool] == fewest).all())


def extremes_of(state: State, active: Any) -> Floats:
    least = float(state.n[active].min())
    c = state.radius[0] / math.sqrt(least) if least > 0.0 else 1.0
    return np.array([least, state.phat[active].min(), state.phat[active].max(), c])


def held_by(state: State, active: Any) -> bool:
    """The arms that the extremes are said to be of have them."""
    lowest, highest, at_least = (int(state.progress[place]) for place in (LOWEST, HIGHEST, AT_LEAST))
    if not (validity.arms(np.array([lowest, highest]), len(state.A)) and active[lowest] and active[highest]):
        return False
    alike = state.phat[lowest] == state.extremes[LOW] and state.phat[highest] == state.extremes[HIGH]
    return bool(alike and at_least == np.count_nonzero(state.n[active] == state.extremes[LEAST]))


@implement(BTM)
def extend(params: BTM, state: State) -> bool:
    """A later end means a wider radius: where nobody has left, nobody would have."""
    K = len(state.A)
    everybody = state.progress[SIZE] == K and state.progress[WINNER] == NONE
    if everybody:
        state.radius[:] = radius_of(params, K)
        state.extremes[:] = extremes_of(state, state.active == 1)
    return bool(everybody)


@implement(BTM)
@implement(PAC)
def ask(params: BTM | PAC, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    """b <- the active arm with the fewest comparisons; b' <- uniformly from A."""
    A, progress = state.A, state.progress
    if progress[WINNER] != NONE:
        slate[0] = progress[WINNER]
        return 1, limit
    size = progress[SIZE]
    b = next_in_turn(state, rng)
    if params.self_duels:
        other = A[below(size, rng)]
    else:
        place = below(size - 1, rng)
        other = A[place] if A[place] < b else A[place + 1]
    state.asked[b] += 1.0
    state.asked_with[b, other] += 1.0
    slate[0] = b
    if other == b:  # the mean includes b itself: a fair coin
        heads = 1.0 if uniform(rng) < 0.5 else 0.0
        count(state, b, b, heads, 1.0 - heads, rng)
        return 1, 1
    slate[1] = other
    return 2, 1


@kernel
def next_in_turn(state: State, rng: Stream) -> int:
    """An arm of A with the fewest comparisons asked, uniform among ties."""
    pool, progress = state.pool, state.progress
    if progress[WAITING] == 0:
        fewest = math.inf
        for a in range(progress[SIZE]):
            fewest = min(fewest, state.asked[state.A[a]])
        for a in range(progress[SIZE]):
            pool[progress[WAITING]] = state.A[a]
            progress[WAITING] += 1 if state.asked[state.A[a]] == fewest else 0
    waiting = progress[WAITING]
    place = below(waiting, rng) if waiting > 1 else 0
    b = pool[place]
    progress[WAITING] = waiting - 1
    for a in range(place, waiting - 1):  # in their order, so that a draw means the same arm as without the pool
        pool[a] = pool[a + 1]
    return b


@implement(BTM)
@implement(PAC)
def tell(params: BTM | PAC, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    count(state, slate[0], slate[1], wins[0, 1], wins[1, 0], rng)


@kernel
def count(state: State, b: int, other: int, won: float, lost: float, rng: Stream) -> None:
    """Only b's record changes. Then the test, and the end."""
    n, w, phat = state.n, state.w, state.phat
    if state.active[b] == 0 or state.active[other] == 0 or state.progress[WINNER] != NONE or won + lost == 0.0:
        return
    progress, extremes = state.progress, state.extremes
    progress[AT_LEAST] -= 1 if n[b] == extremes[LEAST] else 0
    n[b] += won + lost
    w[b] += won
    state.n_with[b, other] += won + lost
    state.w_with[b, other] += won
    phat[b] = w[b] / n[b]
    if b == progress[LOWEST] or b == progress[HIGHEST] or progress[AT_LEAST] <= 0:
        find_extremes(state)
    elif phat[b] < extremes[LOW]:
        extremes[LOW] = phat[b]
        progress[LOWEST] = b
    elif phat[b] > extremes[HIGH]:
        extremes[HIGH] = phat[b]
        progress[HIGHEST] = b
    if extremes[LOW] + extremes[C] <= extremes[HIGH] - extremes[C]:
        drop(state, pick(phat, state.A, progress[SIZE], -1.0, rng))
    if progress[SIZE] == 1 or extremes[LEAST] >= state.radius[1]:
        progress[WINNER] = pick(phat, state.A, progress[SIZE], 1.0, rng)


@kernel
def find_extremes(state: State) -> None:
    progress, extremes = state.progress, state.extremes
    extremes[LEAST] = math.inf
    extremes[LOW] = math.inf
    extremes[HIGH] = -math.inf
    for a in range(progress[SIZE]):
        k = state.A[a]
        if state.n[k] < extremes[LEAST]:
            extremes[LEAST] = state.n[k]
            progress[AT_LEAST] = 0
        progress[AT_LEAST] += 1 if state.n[k] == extremes[LEAST] else 0
        if state.phat[k] < extremes[LOW]:
            extremes[LOW] = state.phat[k]
            progress[LOWEST] = k
        if state.phat[k] > extremes[HIGH]:
            extremes[HIGH] = state.phat[k]
            progress[HIGHEST] = k
    extremes[C] = state.radius[0] / math.sqrt(extremes[LEAST]) if extremes[LEAST] > 0.0 else 1.0


@kernel
def drop(state: State, z: int) -> None:
    """z leaves; all comparisons with it are deleted."""
    kept = 0
    state.active[z] = 0
    for a in range(state.progress[SIZE]):
        k = state.A[a]
        if k == z:
            continue
        state.A[kept] = k
        kept += 1
        state.asked[k] -= state.asked_with[k, z]
        state.n[k] -= state.n_with[k, z]
        state.w[k] -= state.w_with[k, z]
        state.phat[k] = state.w[k] / state.n[k] if state.n[k] > 0.0 else 0.5
    state.progress[SIZE] = kept
    state.progress[WAITING] = 0
    find_extremes(state)


@implement(BTM)
@implement(PAC)
def recommend(params: BTM | PAC, state: State) -> int:
    """The arm committed to, or the one with the largest share."""
    if state.progress[WINNER] != NONE:
        return state.progress[WINNER]
    best = state.A[0]
    for a in range(state.progress[SIZE]):
        best = state.A[a] if state.phat[state.A[a]] > state.phat[best] else best
    return best


PARAMETERS = {
    "gamma": Parameter(meaning="relaxation of stochastic transitivity; 1 is the strong kind", at_least=1.0),
    "self_duels": Parameter(meaning="the mean includes the arm itself, by a fair coin (published)"),
}

BTM_SPEC = PolicySpec(
    name="btm",
    title="BTM (Beat the Mean)",
    params=BTM,
    cite="yue2011",
    slate="two",
    assumes="a total order with relaxed stochastic transitivity and the stochastic triangle inequality",
    regret="O(gamma^7 K ln T)",
    use="A known number of rounds and options in a roughly clear order; it settles for good on one of them.",
    blind="an arm's record holds only duels with opponents drawn for it, and arms leave for good as answers arrive",
    anytime=False,
    parameters={
        "horizon": Parameter(meaning="T, the number of rounds to be played", at_least=1),
        "constant": Parameter(
            meaning="the radius is constant gamma^2 sqrt(ln(2 T K) / n); 0 stands for 3, or 1 where gamma = 1",
            at_least=0.0,
        ),
        **PARAMETERS,
    },
)

PAC_SPEC = PolicySpec(
    name="beat-the-mean-pac",
    title="Beat-the-Mean (PAC)",
    params=PAC,
    cite="yue2011",
    slate="two",
    assumes="a total order with relaxed stochastic transitivity and the stochastic triangle inequality",
    regret="none: O(gamma^6 K / epsilon^2 ln(K N / delta)) comparisons to its choice",
    use="To pick one of few options that is good enough, with a stated error, at any cost of exploring.",
    blind="an arm's record holds only duels with opponents drawn for it, and arms leave for good as answers arrive",
    exceptions={"beats-uniform": "with the paper's constants the first arm leaves only after the rounds of the check"},
    parameters={
        "epsilon": Parameter(meaning="how much worse than the best the choice may be", above=0.0, at_most=0.5),
        "delta": Parameter(meaning="probability of a worse choice", above=0.0, below=1.0),
        "constant": Parameter(meaning="the radius is constant gamma^2 sqrt(ln(K^3 N / delta) / n)", above=0.0),
        **PARAMETERS,
    },
)
