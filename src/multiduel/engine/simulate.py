"""Play a policy against a known problem: many runs, any horizon, the same numbers for any number of threads."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.engine.play import EVENTS, KINDS, MARK, ROUND, STRETCH, BlockMatrix, Matrix, play
from multiduel.engine.policy import whole
from multiduel.engine.registry import describe, find, resolve
from multiduel.engine.result import Result
from multiduel.engine.seeds import run_seeds, streams
from multiduel.inputs import BadInput
from multiduel.kernels.contract import FOREVER, init
from multiduel.kernels.dispatch import entry
from multiduel.problems import Problem, from_matrix

BUDGET = 1 << 18  # events between two looks at Ctrl-C and the progress bar


def simulate(
    policy: str,
    problem: Problem | Any,
    *,
    horizon: int,
    slate_size: int = 2,
    runs: int = 50,
    seed: int = 0,
    first_run: int = 0,
    checkpoints: Sequence[int] | Ints | None = None,
    threads: int | None = None,
    benchmark: str = "condorcet",
    commit: bool = True,
    reset_horizon: bool = False,
    progress: Callable[[float], None] | None = None,
    **params: Any,
) -> Result:
    """Regret of ``policy`` on ``problem`` (or a preference matrix) over ``runs`` runs of ``horizon`` rounds.

    Run r draws the same arm labels and the same world for every policy given the same seed; ``first_run`` is the number of
    the first, so that many runs can be played in blocks. ``checkpoints`` are rounds, 200 log-spaced ones by default.
    ``benchmark`` is what regret is measured against: "condorcet", "copeland", "borda" or "utility".
    ``commit=False`` plays every round on its own, which is slow and gives the same (see the policy's card).
    A ``problem`` may also bring its own world: ``world(labels, seats)`` returns what ``compare`` is dispatched on, arm
    k being the user's labels[k]; it has ``n_arms``, ``benchmark_gaps`` and ``to_json`` too (see rankers.ClickProblem).
    ``reset_horizon`` is how the paper plots policies that must know the horizon: each checkpoint is a run of its own, told
    that this is where it ends; policies that need no horizon are not touched by it.
    ``progress`` is called with the share of rounds played. Ctrl-C stops within a moment and leaves nothing behind.
    """
    spec = find(policy)
    if not isinstance(problem, Problem) and not hasattr(problem, "world"):
        problem = from_matrix(problem)
    n_arms = problem.n_arms
    horizon = whole("horizon", horizon, 1, of="simulate")
    if horizon > FOREVER:
        raise BadInput(f"'horizon' of 'simulate' must be at most 2^62. Got {horizon}.")
    runs = whole("runs", runs, 1, of="simulate")
    seed = whole("seed", seed, 0, of="simulate")
    first_run = whole("first_run", first_run, 0, of="simulate")
    slate_size = whole("slate_size", slate_size, 2, of=policy)
    workers = min(runs, whole("threads", threads, 1, of="simulate") if threads is not None else _cores())
    marks = _marks(checkpoints, horizon)
    gaps = problem.benchmark_gaps(benchmark)
    chosen = resolve(spec, n_arms=n_arms, slate_size=slate_size, horizon=horizon, given=params)

    seats_at_most = min(n_arms, max(2, slate_size))
    out = np.zeros((runs, len(KINDS), len(marks)))
    clocks = np.zeros((runs, 4), np.int64)
    recommended = np.zeros(runs, np.int64)
    seeds = run_seeds(seed, first_run + runs)[first_run:]
    cancelled = threading.Event()

    def world(labels: Ints) -> Any:
        if not isinstance(problem, Problem):
            return problem.world(labels, seats_at_most)
        P = np.ascontiguousarray(problem.matrix[np.ix_(labels, labels)])
        return BlockMatrix(P, np.zeros(4, np.uint64)) if spec.blocks else Matrix(P)

    example = world(np.arange(n_arms))
    loop = entry(play, chosen, spec.name, type(example), *(type(part) for part in example if hasattr(part, "_fields")))

    def arguments(run: int, params: Any, end: int, ends: Ints, regret: Floats) -> tuple[Ints, tuple[Any, ...]]:
        labels, policy_stream, world_key = streams(seeds[run], n_arms)
        state = init(params, n_arms, policy_stream)
        scratch = (np.zeros(n_arms, np.int64), np.zeros((seats_at_most, seats_at_most)))
        pace = (end, FOREVER if commit else 1, BUDGET)
        results = (ends, clocks[run], np.zeros((2, 4)), regret)
        return labels, (params, state, policy_stream, world(labels), world_key, gaps[labels], *pace, *results, *scratch)

    def one(run: int) -> None:
        for params, end, ends, regret in episodes(run):
            labels, args = arguments(run, params, end, ends, regret)
            clocks[run, [ROUND, MARK, STRETCH]] = 1, 0, 0
            while clocks[run, ROUND] <= end and not cancelled.is_set():
                recommended[run] = labels[loop.call(*args)]

    def episodes(run: int) -> Iterator[tuple[Any, int, Ints, Floats]]:
        """One for all checkpoints; or one each, of a policy that is told its end."""
        if spec.anytime or not reset_horizon:
            yield chosen, horizon, marks, out[run]
            return
        for k, mark in enumerate(marks.tolist()):
            column = np.zeros((len(KINDS), 1))
            yield chosen._replace(horizon=mark), mark, marks[k : k + 1], column
            out[run, :, k] = column[:, 0]

    compile_before = time.perf_counter()
    loop.prepare(*arguments(0, chosen, horizon, marks, out[0])[1])
    start = time.perf_counter()
    _run_all(one, runs, workers, cancelled, lambda: float(np.maximum(clocks[:, ROUND] - 1.0, 0.0).mean()) / horizon, progress)
    return Result(
        policy=spec.name,
        params=describe(chosen),
        problem=problem.to_json(),
        slate_size=slate_size,
        horizon=horizon,
        runs=runs,
        seed=seed,
        benchmark=benchmark,
        checkpoints=marks,
        regrets={kind: np.ascontiguousarray(out[:, k]) for k, kind in enumerate(KINDS)},
        recommended=recommended,
        events=clocks[:, EVENTS].copy(),
        seconds=time.perf_counter() - start,
        compile_seconds=start - compile_before,
    )


def _run_all(
    one: Callable[[int], None],
    runs: int,
    workers: int,
    cancelled: threading.Event,
    share: Callable[[], float],
    progress: Callable[[float], None] | None,
) -> None:
    """All runs on a pool of threads; the calling thread stays free for Ctrl-C and the progress bar."""
    with ThreadPoolExecutor(workers, thread_name_prefix="multiduel") as pool:
        waiting: set[Future[None]] = {pool.submit(one, run) for run in range(runs)}
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=0.1 if progress else 1.0)
                for future in done:
                    future.result()
                if progress:
                    progress(float(share()))
        except BaseException:
            cancelled.set()
            raise


def _marks(checkpoints: Sequence[int] | Ints | None, horizon: int) -> Ints:
    if checkpoints is None:
        return np.unique(np.geomspace(1, horizon, 200).astype(np.int64).clip(1, horizon))
    marks = [whole("checkpoints", mark, 1, of="simulate") for mark in checkpoints]
    if not marks or any(b <= a for a, b in itertools.pairwise(marks)):
        raise BadInput(f"'checkpoints' of 'simulate' must be rounds in ascending order. Got {list(checkpoints)[:8]}.")
    if marks[-1] > horizon:
        raise BadInput(f"'checkpoints' of 'simulate' must not pass the horizon, {horizon}. Got {marks[-1]}.")
    return np.array(marks, np.int64)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
