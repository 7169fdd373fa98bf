"""Many runs of one policy on all cores: seeds, worlds, checkpoints. All that decides a simulation's numbers is here and below;
no word of the boundary (names, options, tables) is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.engine.registry.plugin_errors import guarded, refuse_arm, refuse_slate
from multiduel.engine.simulation.delays import Delay, delayed
from multiduel.engine.simulation.play import EVENTS, FAULT, KINDS, MARK, ROUND, STRETCH, Opponent, Pace, Record, play
from multiduel.engine.simulation.seeds import run_seeds, streams
from multiduel.engine.simulation.worlds import BlockMatrix, Matrix, sides
from multiduel.kernels.compiler.dispatch import Entry, entry, is_ours
from multiduel.kernels.contract import FOREVER, PolicySpec, extend, fix_features, init
from multiduel.policies.wrappers import ARM, Watched

MOMENT = 0.05  # seconds that the compiled loop plays before it looks up: at Ctrl-C and the progress bar
GRACE = 4 * MOMENT  # seconds that who stops waits for the loops to look up; one whose single event takes minutes is left alone
FIRST_BUDGET = 1  # events of its first stretch, before it is known how long one takes


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be played. ``problem`` has a ``matrix``, or brings its own ``world``."""

    spec: PolicySpec
    params: Any
    features: Floats | None  # a row per arm, in the user's order
    problem: Any
    gaps: Floats  # f8[K], in the user's order
    seats: int  # the most arms of a slate
    horizon: int
    checkpoints: Ints
    runs: int
    seed: int
    first_run: int
    commit: bool  # False: every round on its own
    reset_horizon: bool  # every checkpoint is a run of its own, told that this is where it ends
    delay: Delay  # how late answers come

    @property
    def stride(self) -> int:
        """For how many rounds the policy may commit. Where answers are late, not to several arms for many rounds: each answer
        would arrive in a round of its own. Plug-in policies may do so without saying it."""
        steps = self.delay.longest and (self.spec.blocks or not is_ours(self.spec.params.__module__))
        return FOREVER if self.commit and not steps else 1


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What was measured."""

    regret: Floats  # f8[runs, kinds, checkpoints]
    recommended: Ints  # i8[runs]
    events: Ints  # i8[runs]
    settled: Ints  # i8[runs, 4]  of a policy under watch: round, answers, arm and kind of the verdict; else 0
    seconds: float
    compile_seconds: float


def play_runs(plan: Plan, threads: int, progress: Callable[[float], None] | None) -> Measurement:
    """Play all runs. Numbers depend on the plan alone: not on the threads, nor on how often the loop looks up."""
    n_arms = len(plan.gaps)
    regret = np.zeros((plan.runs, len(KINDS), len(plan.checkpoints)))
    clocks = np.zeros((plan.runs, 4), np.int64)
    recommended = np.zeros(plan.runs, np.int64)
    settled = np.zeros((plan.runs, 4), np.int64)
    seeds = run_seeds(plan.seed, plan.runs, plan.first_run)
    cancelled = threading.Event()

    def table(run: int, params: Any) -> tuple[Ints, tuple[Any, ...], Record]:
        """A run ready to begin: the labels of its arms, the policy and its opponent, and what will be written down."""
        labels, policy_stream, world_key = streams(seeds[run], n_arms)
        state = init(params, n_arms, policy_stream)
        if plan.features is not None:
            fix_features(params, state, plan.features[labels])
        opponent = Opponent(_world(plan, labels), world_key, plan.gaps[labels])
        scratch = (np.zeros(n_arms, np.int64), np.zeros((plan.seats, plan.seats)))
        record = Record(plan.checkpoints, clocks[run], np.zeros((2, 4)), regret[run], *scratch)
        return labels, (params, state, policy_stream, opponent), record

    def episodes() -> Iterator[tuple[Any, int, int]]:
        """The policy, the round where it ends, and its first checkpoint. One for all checkpoints; or one each, of a policy that
        is told its end."""
        if plan.spec.anytime or not plan.reset_horizon:
            yield plan.params, plan.horizon, 0
            return
        for k, mark in enumerate(plan.checkpoints.tolist()):
            yield told_its_end(plan.params, mark), mark, k

    def one(run: int) -> None:
        before: tuple[Ints, tuple[Any, ...], Record] | None = None
        for params, end, checkpoint in episodes():
            if cancelled.is_set():  # to prepare a run may take as long as many events
                return
            if before and extend(params, before[1][1]):  # told the later end, it would be here
                labels, players, record = before[0], (params, *before[1][1:]), before[2]
            else:
                labels, players, record = table(run, params)
                record.clock[[ROUND, MARK, STRETCH]] = 1, checkpoint, 0
            budget = FIRST_BUDGET
            while record.clock[ROUND] <= end and not cancelled.is_set():
                start = time.perf_counter()
                arm = loop_call(*players, Pace(end, plan.stride, budget, plan.spec.watched), record)
                _vet(plan, arm, min(end + 1 - int(record.clock[ROUND]), plan.stride), record)
                recommended[run] = labels[arm]
                budget = next_budget(budget, time.perf_counter() - start)
            before = labels, players, record
            if isinstance(params, Watched):
                settled[run] = players[1].settled
                settled[run, ARM] = labels[settled[run, ARM]]

    def share() -> float:
        return float(np.maximum(clocks[:, ROUND] - 1.0, 0.0).mean()) / plan.horizon

    before = time.perf_counter()
    loop = _loop(plan)
    _, players, record = table(0, plan.params)
    loop.prepare(*players, Pace(plan.horizon, FOREVER, FIRST_BUDGET, plan.spec.watched), record)
    loop_call = guarded(plan.spec, loop.call)
    start = time.perf_counter()
    _on_threads(one, plan.runs, threads, cancelled, share, progress)
    return Measurement(
        regret=regret,
        recommended=recommended,
        events=clocks[:, EVENTS].copy(),
        settled=settled,
        seconds=time.perf_counter() - start,
        compile_seconds=start - before,
    )


def told_its_end(params: Any, horizon: int) -> Any:
    """The same policy, told another horizon."""
    if "horizon" in params._fields:
        return params._replace(horizon=horizon)
    return params._replace(policy=told_its_end(params.policy, horizon))


def next_budget(budget: int, seconds: float) -> int:
    """How many events to play next, so that they take about a moment: an event may cost a nanosecond or a second."""
    return int(min(max(budget * min(MOMENT / max(seconds, 1e-9), 8.0), 1.0), 1 << 30))


def _world(plan: Plan, labels: Ints) -> Any:
    """The problem as the policy meets it: its arm k is the user's labels[k]."""
    if hasattr(plan.problem, "world"):
        world = plan.problem.world(labels, plan.seats)
    else:
        seen = sides(plan.problem.matrix[np.ix_(labels, labels)])
        blocks = plan.spec.blocks and not plan.delay.longest
        world = BlockMatrix(seen, np.zeros(4, np.uint64)) if blocks else Matrix(seen)
    return delayed(world, plan.delay, plan.seats, plan.horizon) if plan.delay.longest else world


def _loop(plan: Plan) -> Entry:
    types = _types(_world(plan, np.arange(len(plan.gaps))))
    return entry(play, plan.params, plan.spec.name, *types, care=plan.spec.care)


def _types(world: Any) -> Iterator[type]:
    """All types that compiled code of a world is dispatched on."""
    yield type(world)
    for part in world:
        if hasattr(part, "_fields"):
            yield from _types(part)


def _vet(plan: Plan, arm: int, limit: int, record: Record) -> None:
    """Refuse what a policy has shown or bet on, if it is none of the arms: slates of who is watched, bets of all."""
    n_arms = len(plan.gaps)
    if arm != FAULT:
        return refuse_arm(plan.spec, arm, n_arms)
    round, n, _, rounds = record.clock.tolist()
    refuse_slate(plan.spec, record.slate, n, rounds, limit, most=min(n_arms, plan.seats), n_arms=n_arms, round=round)


def _on_threads(
    one: Callable[[int], None],
    runs: int,
    threads: int,
    cancelled: threading.Event,
    share: Callable[[], float],
    progress: Callable[[float], None] | None,
) -> None:
    """All runs on a pool of threads; the calling thread stays free for Ctrl-C and the progress bar."""
    pool = ThreadPoolExecutor(threads, thread_name_prefix="multiduel")
    waiting: set[Future[None]] = set()
    try:
        waiting |= {pool.submit(one, run) for run in range(runs)}
        while waiting:
            done, waiting = wait(waiting, timeout=0.1 if progress else 1.0)
            for future in done:
                future.result()
            if progress:
                progress(share())
    except BaseException:
        cancelled.set()
        pool.shutdown(wait=False, cancel_futures=True)
        wait(waiting, timeout=GRACE)
        raise
    pool.shutdown()
