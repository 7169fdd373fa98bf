"""UCB: the alpha-robust singleton bandit machine of the paper's Algorithm 3.

Paper      Du, Wang, Huang. Dueling Bandits: From Two-dueling to Multi-dueling. AAMAS 2020, Algorithm 3, after
           Ailon, Karnin, Joachims. Reducing Dueling Bandits to Cardinal Bandits. ICML 2014.
Symbols    mu_k mean outcome of arm k, n_k = rho_k + s_k its feedbacks, tau the machine's clock, alpha robustness.
Deviates   nothing. ``timer`` and ``unobserved`` offer the readings of public codes.

    Advance                 return argmax_k mu_k + sqrt((alpha + 2) ln tau / (2 n_k)),  unobserved arms first, ties at random
    Feedback(b)             mu_k <- (mu_k n_k + b) / (n_k + 1);  rho_k <- rho_k + 1;  tau <- tau + 1
    GetAdditionalFeedback   the same with s_k, and tau stays

How it stays fast. Computing K indices in every round is the whole cost, and nearly always the arm played most (the *lead*)
wins again. So a full scan also computes ``rest``, a ceiling that no other arm's index passes before the clock reads
``until``; while the lead's own index provably exceeds it, the lead is returned without a scan. The arm chosen is the same.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmax, largest
from multiduel.kernels.contract import MachineSpec, Parameter, valid
from multiduel.kernels.dispatch import kernel
from multiduel.machines.contract import advance, allocate, answer, feedback, hold, reset

OWN, ROUND, PULLS = 0, 1, 2  # whose clock enters ln tau


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
    lead: Ints  # i8[rows]     the arm played most
    until: Ints  # i8[rows]     last clock reading at which `rest` holds
    pending: Ints  # i8[rows]     an arm other than the lead, just advanced, not in `rest` until its feedback; or -1
    rest: Floats  # f8[rows]     ceiling of every other arm's index
    lift: Floats  # f8[rows]     floor of sqrt(n_lead) times the bonus factor
    ceiling: Floats  # f8[rows]     bonus factor at `until`
    widest: Floats  # f8[rows]     ceiling of every other arm's 1 / sqrt(n_k)
    indices: Floats  # f8[K]        scratch


@allocate.implement(Params)
def allocate_ucb(params: Params, rows: int, n_arms: int) -> State:
    def floats(value: float) -> Floats:
        return np.full(rows, value)

    def ints(value: int) -> Ints:
        return np.full(rows, value, np.int64)

    grid = (rows, n_arms)
    return State(
        *(np.zeros(grid), np.zeros(grid), np.full(grid, params.unobserved), np.zeros(grid)),
        *(ints(1), ints(0), ints(0), ints(-1)),
        *(floats(math.inf), floats(0.0), floats(0.0), floats(1.0), np.zeros(n_arms)),
    )


@valid.implement(Params)
def sound(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    """Means and widths are those of the counts, but for the lead's, which may lag behind."""
    N, K = state.N, state.N.shape[1]
    others = np.arange(K) != state.lead[:, None]
    mean = validity.per_duel(state.S, N, params.unobserved)
    isn = validity.per_duel(np.sqrt(N), N, 0.0)
    clocks = {name: validity.counts(getattr(state, name)) for name in ("tau", "until")}
    bounds = {name: validity.counts(getattr(state, name), np.inf) for name in ("rest", "lift", "ceiling", "widest")}
    return {
        "S": validity.between(state.S, 0.0, N),
        "N": validity.counts(N),
        "mean": validity.counts(state.mean, np.inf) and validity.close(state.mean[others], mean[others]),
        "isn": validity.counts(state.isn) and validity.close(state.isn[others], isn[others]),
        **clocks,
        "tau": validity.between(state.tau, 1, validity.MOST),
        "lead": validity.arms(state.lead, K),
        "pending": validity.arms(state.pending, K, none=True),
        **bounds,
        "indices": validity.SCRATCH,
    }


@reset.implement(Params)
def forget(params: Params, state: State, row: int, delta: float, rng: Stream) -> None:
    for k in range(state.S.shape[1]):
        state.S[row, k] = 0.0
        state.N[row, k] = 0.0
        state.mean[row, k] = params.unobserved
        state.isn[row, k] = 0.0
    state.tau[row] = 1
    state.lead[row] = 0
    state.until[row] = 0
    state.pending[row] = -1
    state.rest[row] = math.inf
    state.widest[row] = 1.0


@kernel
def clock(params: Params, state: State, row: int, round: int) -> int:
    if params.timer == ROUND:
        return round
    return state.tau[row] if params.timer == OWN else max(state.tau[row] - 1, 1)


@kernel
def slack(state: State, row: int) -> float:
    """n_lead times (a floor of the lead's index minus `rest`): positive means the lead wins."""
    lead = state.lead[row]
    if state.rest[row] == math.inf:
        return -1.0
    return state.S[row, lead] + state.lift[row] - state.rest[row] * state.N[row, lead]


@advance.implement(Params)
def choose(params: Params, state: State, row: int, round: int, rng: Stream) -> int:
    tau = clock(params, state, row, round)
    state.tau[row] += 1
    if tau <= state.until[row] and state.pending[row] < 0 and slack(state, row) > 0.0:
        return state.lead[row]
    return scan(params, state, row, tau, rng)


@kernel
def scan(params: Params, state: State, row: int, tau: int, rng: Stream) -> int:
    """The argmax over all arms, and new bounds for the rounds to come."""
    index = state.indices
    lead = state.lead[row]
    refresh(state, row, lead)
    half = 0.5 * (params.alpha + 2.0)
    c = math.sqrt(half * math.log(float(tau)))
    for k in range(index.shape[0]):
        index[k] = state.mean[row, k] + c * state.isn[row, k]
    arm = argmax(index, rng)

    if state.N[row, arm] > state.N[row, lead]:
        lead = arm
        state.lead[row] = lead
    state.pending[row] = -1 if arm == lead else arm
    top = index[lead]
    index[arm] = 0.0
    index[lead] = 0.0
    second = largest(index)  # the best of the others
    if tau & 31 == 0 or state.widest[row] >= 1.0:  # may be stale: 1 / sqrt(n_k) only falls
        mine = state.isn[row, lead]
        state.isn[row, lead] = 0.0
        state.widest[row] = largest(state.isn[row])
        state.isn[row, lead] = mine
    widest = state.widest[row]
    if not second < math.inf or not top < math.inf or widest <= 0.0:
        state.until[row] = 0  # some arm is still unobserved: scan again next time
        state.rest[row] = math.inf
        return arm

    # How long the lead would last if its mean stood still; and never so long that `ceiling` drifts far above c.
    lasts = (top - second) * c * tau / (half * widest)
    ahead = int(min(max(lasts, 3.0), tau / 64.0 + 3.0))
    state.until[row] = tau + ahead
    state.ceiling[row] = math.sqrt(half * math.log(float(tau + ahead)))
    state.rest[row] = (second + (state.ceiling[row] - c) * widest) * (1.0 + 1e-12)
    state.lift[row] = c * math.sqrt(state.N[row, lead])
    return arm


@kernel
def refresh(state: State, row: int, arm: int) -> None:
    n = state.N[row, arm]
    if n > 0.0:
        state.mean[row, arm] = state.S[row, arm] / n
        state.isn[row, arm] = 1.0 / math.sqrt(n)


@feedback.implement(Params)
def learn(params: Params, state: State, row: int, arm: int, won: float, lost: float, rng: Stream) -> None:
    state.S[row, arm] += won
    state.N[row, arm] += won + lost
    if arm == state.lead[row]:
        return
    refresh(state, row, arm)
    state.widest[row] = max(state.widest[row], state.isn[row, arm])  # an arm observed for the first time widens it
    state.rest[row] = max(state.rest[row], (state.mean[row, arm] + state.ceiling[row] * state.isn[row, arm]) * (1.0 + 1e-12))
    if arm == state.pending[row]:
        state.pending[row] = -1


@hold.implement(Params)
def stay(params: Params, state: State, row: int, arm: int, limit: int) -> int:
    if arm != state.lead[row] or params.timer == ROUND:
        return 1
    spare = slack(state, row)
    if not spare > 0.0:
        return 1
    clock_now = state.tau[row] - 1 if params.timer == OWN else state.tau[row] - 2
    rounds = max(1, min(int(min(spare / state.rest[row], 1e18)), state.until[row] - clock_now, limit))
    state.tau[row] += rounds - 1
    return rounds


@answer.implement(Params)
def name(params: Params, state: State, row: int) -> int:
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
