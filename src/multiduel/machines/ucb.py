"""UCB: the alpha-robust singleton bandit machine of the paper's Algorithm 3.

Paper      Du, Wang, Huang. Dueling Bandits: From Two-dueling to Multi-dueling. AAMAS 2020, Algorithm 3, after
           Ailon, Karnin, Joachims. Reducing Dueling Bandits to Cardinal Bandits. ICML 2014.
Symbols    mu_k mean outcome of arm k, n_k = rho_k + s_k its feedbacks, tau the machine's clock, alpha robustness.
Deviates   nothing. ``timer`` and ``unobserved`` offer the readings of public codes.

    Advance                 return argmax_k mu_k + sqrt((alpha + 2) ln tau / (2 n_k)),  unobserved arms first, ties at random
    Feedback(b)             mu_k <- (mu_k n_k + b) / (n_k + 1);  rho_k <- rho_k + 1;  tau <- tau + 1
    GetAdditionalFeedback   the same with s_k, and tau stays

How it stays fast. Computing K indices in every round is the whole cost. So a full scan keeps a short list of the arms with the
largest indices, and a ceiling of all others' (``far``). While the best of the list exceeds that, it is the best of all, and no
other arm is looked at. The arm chosen is the *lead*; as long as its own index provably exceeds a ceiling of everyone else's
(``near``), it is returned without looking at any. Ceilings rise with the clock along a tangent of sqrt(ln tau), which is concave.
The arm chosen is the same, ties included.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmax, largest
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import MachineSpec, Parameter
from multiduel.machines.contract import implement

OWN, ROUND, PULLS = 0, 1, 2  # whose clock enters ln tau
LEVEL, RATE, SINCE, FACTOR, SLOPE = 0, 1, 2, 3, 4  # places in a ceiling; FACTOR is c = sqrt((alpha + 2) ln tau / 2) at SINCE
WON, PLAYED, LIFT = 5, 6, 7  # of the lead, beside its ceiling: S, N, and a floor of sqrt(N) times the bonus factor
UNDECIDED = -1  # in place of an arm
LISTED = 16  # arms that the short list has room for
FEWEST_LISTED, MOST_LISTED = 5, 10  # how many it had better have: `reach` is adapted to that


class Params(NamedTuple):
    alpha: float = 3.0  # alpha of Algorithm 3
    timer: int = OWN
    unobserved: float = math.inf  # index of an arm without feedback


class State(NamedTuple):
    S: Floats  # f8[rows, K]  wins of k
    N: Floats  # f8[rows, K]  n_k
    mean: Floats  # f8[rows, K]  mu_k; `unobserved` at first; the lead's is refreshed only by a scan
    isn: Floats  # f8[rows, K]  1 / sqrt(n_k); 0 at first; the lead's likewise
    tau: Ints  # i8[rows]     1 + advances
    lead: Ints  # i8[rows]     the arm that the last scan chose
    listed: Ints  # i8[rows, min(K, LISTED) + 1]  the short list, in listed[:size]
    size: Ints  # i8[rows]
    reach: Floats  # f8[rows]     how far below the best index the last one listed may be
    near: Floats  # f8[rows, 8]  ceiling of the index of every arm but the lead: see `ceiling`; and what is known of the lead
    far: Floats  # f8[rows, 5]  the same of the arms that are not listed
    bonus: Floats  # f8[3]        the last clock reading looked at, c there, and its slope
    indices: Floats  # f8[K]        scratch


@implement(Params)
def allocate(params: Params, rows: int, n_arms: int) -> State:
    grid = (rows, n_arms)
    unknown = np.tile([math.inf, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], (rows, 1))
    return State(
        S=np.zeros(grid),
        N=np.zeros(grid),
        mean=np.full(grid, params.unobserved),
        isn=np.zeros(grid),
        tau=np.ones(rows, np.int64),
        lead=np.zeros(rows, np.int64),
        listed=np.zeros((rows, min(n_arms, LISTED) + 1), np.int64),
        size=np.zeros(rows, np.int64),
        reach=np.full(rows, 0.1),
        near=unknown,
        far=unknown[:, : SLOPE + 1].copy(),
        bonus=np.array([1.0, 0.0, math.inf]),
        indices=np.zeros(n_arms),
    )


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    """Means and widths are those of the counts, but for the lead's, which may lag behind."""
    N, K = state.N, state.N.shape[1]
    lead = np.clip(state.lead, 0, K - 1)
    others = np.arange(K) != lead[:, None]
    followed = state.near[:, LEVEL] < np.inf
    of_lead = np.stack([table[np.arange(len(lead)), lead] for table in (state.S, N)], axis=1)
    mean = validity.per_duel(state.S, N, params.unobserved)
    isn = validity.per_duel(np.sqrt(N), N, 0.0)
    return {
        "S": validity.between(state.S, 0.0, N),
        "N": validity.counts(N),
        "mean": validity.counts(state.mean, np.inf) and validity.close(state.mean[others], mean[others]),
        "isn": validity.counts(state.isn) and validity.close(state.isn[others], isn[others]),
        "tau": validity.between(state.tau, 1, validity.MOST),
        "lead": validity.arms(state.lead, K),
        "listed": validity.arms(state.listed, K),
        "size": validity.counts(state.size, min(K, LISTED)),
        **{name: validity.counts(getattr(state, name), np.inf) for name in ("reach", "far")},
        "near": validity.counts(state.near, np.inf) and bool(np.all((state.near[:, (WON, PLAYED)] == of_lead)[followed])),
        "bonus": validity.counts(state.bonus, np.inf),
        "indices": validity.SCRATCH,
    }


@implement(Params)
def reset(params: Params, state: State, row: int, delta: float, rng: Stream) -> None:
    for k in range(state.S.shape[1]):
        state.S[row, k] = 0.0
        state.N[row, k] = 0.0
        state.mean[row, k] = params.unobserved
        state.isn[row, k] = 0.0
    state.tau[row] = 1
    state.lead[row] = 0
    state.near[row, LEVEL] = math.inf
    state.far[row, LEVEL] = math.inf


@kernel
def clock(params: Params, state: State, row: int, round: int) -> int:
    if params.timer == ROUND:
        return round
    return state.tau[row] if params.timer == OWN else max(state.tau[row] - 1, 1)


@kernel
def ceiling(bound: Floats, tau: int) -> float:
    """What no index of some arms passes at this reading of the clock: LEVEL at SINCE, rising by RATE from there."""
    return bound[LEVEL] + bound[RATE] * (tau - bound[SINCE])


@kernel
def bind(bound: Floats, level: float, widest: float, bonus: Floats) -> None:
    """A new ceiling: the largest index of these arms now is ``level``, their largest 1 / sqrt(n_k) is ``widest``."""
    bound[LEVEL] = level * (1.0 + 1e-12)
    bound[RATE] = bonus[2] * widest
    bound[SINCE] = bonus[0]
    bound[FACTOR] = bonus[1]
    bound[SLOPE] = bonus[2]


@kernel
def include(bound: Floats, mean: float, isn: float) -> None:
    """Keep the ceiling above one more arm."""
    bound[LEVEL] = max(bound[LEVEL], (mean + bound[FACTOR] * isn) * (1.0 + 1e-12))
    bound[RATE] = max(bound[RATE], bound[SLOPE] * isn)


@kernel
def slack(state: State, row: int, tau: int) -> float:
    """n_lead times (a floor of the lead's index minus the ceiling of all others): positive means the lead wins."""
    near = state.near[row]
    if near[LEVEL] == math.inf:
        return -1.0
    return near[WON] + near[LIFT] - ceiling(near, tau) * near[PLAYED]


@implement(Params)
def advance(params: Params, state: State, row: int, round: int, rng: Stream) -> int:
    tau = clock(params, state, row, round)
    state.tau[row] += 1
    if slack(state, row, tau) > 0.0:
        return state.lead[row]
    return scan(params, state, row, tau, rng)


@implement(Params)
def advance_all(params: Params, state: State, held: Ints, round: int, rng: Stream, arms: Ints) -> None:
    """First all rows whose lead wins, in a loop short enough for the processor's registers: that is most of them."""
    for row in range(held.shape[0]):
        if held[row] == 0:
            wins = slack(state, row, clock(params, state, row, round)) > 0.0
            arms[row] = state.lead[row] if wins else UNDECIDED
    for row in range(held.shape[0]):
        if arms[row] == UNDECIDED:
            arms[row] = scan(params, state, row, clock(params, state, row, round), rng)
        state.tau[row] += 1 if held[row] == 0 else 0


@kernel
def bonus_at(params: Params, bonus: Floats, tau: int) -> float:
    """c = sqrt((alpha + 2) ln tau / 2), computed once for rows whose clocks agree."""
    if bonus[0] != tau:
        half = 0.5 * (params.alpha + 2.0)
        bonus[0] = tau
        bonus[1] = math.sqrt(half * math.log(float(tau)))
        bonus[2] = 0.5 * half / (bonus[1] * tau) if tau > 1 else math.inf
    return bonus[1]


@kernel
def scan(params: Params, state: State, row: int, tau: int, rng: Stream) -> int:
    """The argmax over all arms, over the listed ones if that will do; and new ceilings for the rounds to come."""
    mean, isn, listed = state.mean[row], state.isn[row], state.listed[row]
    refresh(state, row, state.lead[row])
    c = bonus_at(params, state.bonus, tau)
    others = ceiling(state.far[row], tau)
    if others < math.inf:
        k = np.uint64(listed[0])  # unsigned: the compiler need not think of negative indices, which count from the end
        arm = k
        width = isn[k]
        best = mean[k] + c * width
        second = 0.0
        widest = 0.0
        for a in range(1, state.size[row]):
            k = np.uint64(listed[a])
            index = mean[k] + c * isn[k]
            better = index > best
            second = max(second, best if better else index)
            widest = max(widest, width if better else isn[k])
            width = isn[k] if better else width
            arm = k if better else arm
            best = index if better else best
        if best > others and best > second:
            follow(state, row, int(arm), max(second, others), widest)
            state.near[row, RATE] = max(state.near[row, RATE], state.far[row, RATE])
            return int(arm)
    return full_scan(state, row, c, rng)


@kernel
def follow(state: State, row: int, arm: int, level: float, widest: float) -> None:
    """A new lead, and the largest index and the largest 1 / sqrt(n_k) of the others."""
    near = state.near[row]
    state.lead[row] = arm
    near[WON] = state.S[row, arm]
    near[PLAYED] = state.N[row, arm]
    near[LIFT] = state.bonus[1] * state.N[row, arm] * state.isn[row, arm] * (1.0 - 1e-12)
    bind(near, level, widest, state.bonus)


@kernel
def full_scan(state: State, row: int, c: float, rng: Stream) -> int:
    index, listed, isn = state.indices, state.listed[row], state.isn[row]
    for k in range(index.shape[0]):
        index[k] = state.mean[row, k] + c * isn[k]
    arm = argmax(index, rng)
    state.lead[row] = arm
    state.near[row, LEVEL] = math.inf
    state.far[row, LEVEL] = math.inf
    if index[arm] == math.inf or c == 0.0:  # some arm is still unobserved, or the clock reads 1: scan again next time
        return arm

    room = listed.shape[0] - 1
    floor = max(index[arm] - state.reach[row], 0.0)
    size = 0
    for k in range(index.shape[0]):  # without a branch: who does not belong is overwritten by the next
        listed[min(size, room)] = k
        size += 1 if index[k] > floor else 0
    state.size[row] = min(size, room)
    if size > MOST_LISTED:
        state.reach[row] = max(0.75 * state.reach[row], 1e-9)
    elif size < FEWEST_LISTED:
        state.reach[row] = min(1.5 * state.reach[row], 1.0)
    if size > room or size == 0:  # the lead may not be among them: scan again next time
        return arm
    widest = largest(isn)
    bind(state.far[row], floor, widest, state.bonus)
    level = floor
    for a in range(size):
        level = max(level, index[listed[a]] if listed[a] != arm else 0.0)
    follow(state, row, arm, level, widest)
    return arm


@kernel
def refresh(state: State, row: int, arm: int) -> None:
    n = state.N[row, arm]
    if n > 0.0:
        state.mean[row, arm] = state.S[row, arm] / n
        state.isn[row, arm] = 1.0 / math.sqrt(n)


@implement(Params)
def feedback(params: Params, state: State, row: int, arm: int, won: float, lost: float, rng: Stream) -> None:
    state.S[row, arm] += won
    state.N[row, arm] += won + lost
    if arm == state.lead[row]:
        state.near[row, WON] = state.S[row, arm]
        state.near[row, PLAYED] = state.N[row, arm]
        return
    refresh(state, row, arm)
    include(state.near[row], state.mean[row, arm], state.isn[row, arm])
    for a in range(state.size[row]):
        if state.listed[row, a] == arm:
            return
    include(state.far[row], state.mean[row, arm], state.isn[row, arm])


@implement(Params)
def hold(params: Params, state: State, row: int, arm: int, limit: int) -> int:
    """Were all of j rounds lost, the lead's slack would fall by j (level + RATE (n + j)): the ceiling counts, and rises."""
    if arm != state.lead[row] or params.timer == ROUND:
        return 1
    now = state.tau[row] - 1 if params.timer == OWN else state.tau[row] - 2
    spare = slack(state, row, now)
    rate = state.near[row, RATE]
    fall = ceiling(state.near[row], now) + rate * state.N[row, arm]
    if not spare > 2.0 * fall:
        return 1
    root = spare * fall / (fall * fall + rate * spare) if fall > 0.0 else 1e18  # below the root of the quadratic, by concavity
    rounds = max(1, min(int(min(root, 1e18)), limit))
    state.tau[row] += rounds - 1
    return rounds


@implement(Params)
def answer(params: Params, state: State, row: int) -> int:
    best = 0
    for k in range(1, state.N.shape[1]):
        if state.N[row, k] > state.N[row, best]:
            best = k
    return best


SPEC = MachineSpec(
    name="ucb",
    title="UCB",
    params=Params,
    cite="du2020",
    kind="bandit",
    parameters={
        "alpha": Parameter(meaning="robustness: the bonus is sqrt((alpha + 2) ln tau / (2 n))", above=-2.0),
        "timer": Parameter(
            meaning="the clock in the bonus: the machine's own (published), the global round, or its pulls before this one",
            choices={"own": OWN, "round": ROUND, "pulls": PULLS},
        ),
        "unobserved": Parameter(meaning="index of an arm without feedback: inf plays all first (published)", at_least=0.0),
    },
)
