"""MultiSparring: one bandit per seat, and all seats play against each other.

Paper      named as a baseline in Du, Wang, Huang, AAMAS 2020, and Sui, Zhuang, Burdick, Yue, UAI 2017, and specified in neither:
           the extension of Sparring (Ailon, Karnin, Joachims, ICML 2014) to m seats.
Assumes    utilities with a linear link.
Symbols    K arms, m seats, S_q the singleton bandit machine of seat q, a_q its arm.
Deviates   nothing, there being no listing: what it leaves open is a parameter. ``credit = fraction`` feeds a machine the share of
           the other seats it beat, ``pairs`` each of these duels by itself. ``duplicates`` says what two seats with the same arm
           make of each other: a coin that one of them wins, 1/2 for both, or nothing (``skip``); ``auto`` is the coin for m = 2,
           so that this is Sparring, and 1/2 for more. Arms seated twice duel a third once: both seats share the outcome.

    S_1 .. S_m <- SBMs over all arms; Reset each
    for t = 1, 2, ...
      a_q <- Advance(S_q) for every seat q
      compare the distinct arms
      for every seat q:  Feedback(S_q, mean over the other seats r of [a_q beat a_r])     (rounded to 2^-26)

A machine may hold: stay with its arm for a number of rounds, whatever their outcomes. When all seats have the same arm nothing is
compared, and the rounds for which all hold it are one commitment.

Who sat where is remembered for the last 256 rounds; outcomes that come later are ignored.

>>> from multiduel import make, ranking
>>> policy = make("multi-sparring", n_arms=5, slate_size=3, seed=0, machine="thompson")
>>> slate = policy.ask()
>>> policy.tell(slate, ranking(slate.arms))
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import contract, validity
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import FOREVER, Parameter, PolicySpec, implement
from multiduel.machines import ucb
from multiduel.machines.contract import advance_all, allocate, answer, feedback, hold
from multiduel.policies.self_duels import PARAMETERS, TOSS, toss

FRACTION, PAIRS = 0, 1
AUTO, HALF, COIN, SKIP = 0, 1, 2, 3
GRAIN = 2.0**-26
MEMORY = 256  # rounds for which late outcomes still find their seats


class Params(NamedTuple):
    slate_size: int = 2  # m
    machine: Any = ucb.Params()  # the SBMs
    credit: int = FRACTION
    duplicates: int = AUTO


class State(NamedTuple):
    S: Any  # machine state of m rows
    arm: Ints  # i8[m]  the arm each machine advanced last
    held: Ints  # i8[m]  rounds for which it is still held
    taken: Ints  # i8[K]  seats of each place of the last slate
    place: Ints  # i8[K]  where in its last slate each arm was
    when: Ints  # i8[MEMORY]  rounds remembered
    where: Ints  # i8[MEMORY, m]  the place in the slate that each seat's arm had
    sitting: Floats  # f8[m]  scratch: seats of each place
    won: Floats  # f8[m]  scratch: weight of the duels that a seat of each place won; with coins, that each seat won
    lost: Floats  # f8[m]
    spare: Floats  # f8[2 m]  scratch


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    m = params.slate_size
    return State(
        S=allocate(params.machine, m, n_arms),
        arm=np.zeros(m, np.int64),
        held=np.zeros(m, np.int64),
        taken=np.ones(n_arms, np.int64),
        place=np.zeros(n_arms, np.int64),
        when=np.zeros(MEMORY, np.int64),
        where=np.zeros((MEMORY, m), np.int64),
        sitting=np.zeros(m),
        won=np.zeros(m),
        lost=np.zeros(m),
        spare=np.zeros(2 * m),
    )


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    K = len(state.taken)
    return {
        "S": contract.valid(params.machine, state.S, n_arms, round),
        "arm": validity.arms(state.arm, K),
        "held": validity.counts(state.held, FOREVER),
        "taken": validity.counts(state.taken, params.slate_size),
        "place": validity.arms(state.place, K),
        "when": validity.counts(state.when, round),
        "where": validity.counts(state.where, params.slate_size - 1),
        "sitting": validity.SCRATCH,
        "won": validity.SCRATCH,
        "lost": validity.SCRATCH,
        "spare": validity.SCRATCH,
    }


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    arm, held, m = state.arm, state.held, params.slate_size
    row = round % MEMORY
    state.when[row] = round
    where = state.where[row]
    advance_all(params.machine, state.S, held, round, rng, arm)  # a_q <- Advance(S_q), unless it is held
    n = 0
    for q in range(m):
        place = state.place[arm[q]]
        if place >= n or slate[place] != arm[q]:  # not yet in this slate
            place = n
            state.place[arm[q]] = n
            slate[n] = arm[q]
            n += 1
        where[q] = place
    for a in range(n):
        state.taken[a] = seats_at(where, a)
    if n > 1:
        for q in range(m):
            held[q] = max(held[q] - 1, 0)
        return n, 1
    rounds = limit
    for q in range(m):
        if held[q] == 0:  # a machine holds on the understanding that a round feeds it at most one loss
            held[q] = hold(params.machine, state.S, q, arm[q], FOREVER) if params.credit == FRACTION else 1
        rounds = min(rounds, held[q])
    for q in range(m):
        held[q] -= rounds
    if m > 1:  # nothing to compare: all that the seats have are each other
        state.sitting[0] = m
        state.won[0] = 0.0
        state.lost[0] = 0.0
        reward(params, state, where, slate, 1, rounds, rng)
    return n, rounds


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    row = round % MEMORY
    if state.when[row] != round:
        return
    where, sitting, won, lost = state.where[row], state.sitting, state.won, state.lost
    n = slate.shape[0]
    if n > sitting.shape[0]:
        return
    seated = 0
    for a in range(n):
        count = seats_at(where, a)
        seated += count
        sitting[a] = count
        lost[a] = 0.0
    if seated < where.shape[0]:  # a snapshot that does not agree with its open slates
        return
    for a in range(n):  # every pair of places once: seats with the same arm share its duels
        total = 0.0
        for b in range(n):
            total += wins[a, b] * sitting[b]
            lost[b] += wins[a, b] * sitting[a]
        won[a] = total
    reward(params, state, where, slate, n, 1, rng)


@kernel
def seats_at(where: Ints, place: int) -> int:
    """How many seats have the arm at this place. Counted place by place and not seat by seat: most seats have the same arm, and
    adding one to the same number over and over is slow."""
    count = 0
    for q in range(where.shape[0]):
        count += 1 if where[q] == place else 0
    return count


@kernel
def reward(params: Params, state: State, where: Ints, slate: Ints, n: int, rounds: int, rng: Stream) -> None:
    """Seats with the same arm make of each other what ``duplicates`` says; then Feedback(S_q, .)."""
    by_coin = params.duplicates == COIN or (params.duplicates == AUTO and where.shape[0] == 2)
    if by_coin:
        toss_among_duplicates(state, where, rounds, rng)
    else:
        if params.duplicates != SKIP:
            for a in range(n):
                state.won[a] += 0.5 * rounds * (state.sitting[a] - 1.0)
                state.lost[a] += 0.5 * rounds * (state.sitting[a] - 1.0)
        if params.credit == FRACTION:
            for a in range(n):
                state.won[a], state.lost[a] = share(state.won[a], state.lost[a], rounds)
    for q in range(where.shape[0]):
        seated = np.uint64(q if by_coin else where[q])  # unsigned: no negative indices, which count from the end
        won, lost = state.won[seated], state.lost[seated]
        if by_coin and params.credit == FRACTION:
            won, lost = share(won, lost, rounds)
        if won + lost > 0.0:  # a seat without a duel gets no feedback
            feedback(params.machine, state.S, q, slate[np.uint64(where[q])], won, lost, rng)


@kernel
def share(won: float, lost: float, rounds: int) -> tuple[float, float]:
    """The mean of duels, as so many rounds: rounded, so that sums are exact and arms of equal record tie."""
    if won + lost == 0.0:
        return 0.0, 0.0
    part = math.floor(won / (won + lost) / GRAIN + 0.5) * GRAIN * rounds
    return part, rounds - part


@kernel
def toss_among_duplicates(state: State, where: Ints, rounds: int, rng: Stream) -> None:
    """A coin for every two seats with the same arm. From here on ``won`` and ``lost`` are by seat."""
    m = where.shape[0]
    for q in range(m):  # by place until now: kept aside, since a seat may overwrite a place that a later seat needs
        state.spare[q] = state.won[where[q]]
        state.spare[m + q] = state.lost[where[q]]
    for q in range(m):
        state.won[q] = state.spare[q]
        state.lost[q] = state.spare[m + q]
    for q in range(m):
        for r in range(q + 1, m):
            if where[q] == where[r]:
                heads = toss(TOSS, rounds, rng)
                state.won[q] += heads
                state.lost[q] += rounds - heads
                state.won[r] += rounds - heads
                state.lost[r] += heads


@implement(Params)
def seats(params: Params, state: State, place: int) -> int:
    return state.taken[place]


@implement(Params)
def recommend(params: Params, state: State) -> int:
    """The arm that most machines name."""
    best = 0
    most = 0
    for q in range(params.slate_size):
        arm = answer(params.machine, state.S, q)
        votes = 0
        for r in range(params.slate_size):
            votes += 1 if answer(params.machine, state.S, r) == arm else 0
        if votes > most:
            most = votes
            best = arm
    return best


SPEC = PolicySpec(
    name="multi-sparring",
    title="MultiSparring",
    params=Params,
    cite="ailon2014",
    slate="any",
    assumes="utilities with a linear link",
    regret="none proved",
    use="To compare with the literature: its m bandits rarely agree, so poor options are shown for long.",
    blind="a machine learns only from the arms that it advanced, against those in the other seats",
    commits="distribution",
    parameters={
        "slate_size": Parameter(meaning="seats, each with a machine of its own", at_least=1),
        "machine": PARAMETERS["machine"],
        "credit": Parameter(
            meaning="a machine is fed the share of the other seats it beat, or every one of these duels",
            choices={"fraction": FRACTION, "pairs": PAIRS},
        ),
        "duplicates": Parameter(
            meaning="seats with the same arm: a coin, 1/2 for both, nothing, or (auto) the coin for m = 2 and 1/2 for more",
            choices={"auto": AUTO, "half": HALF, "coin": COIN, "skip": SKIP},
        ),
    },
)
