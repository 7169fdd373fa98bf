"""Run an experiment in blocks of runs, on threads here or on a Dask cluster; go on where an earlier run stopped.

A block's numbers depend on the experiment and on which runs it holds, and on nothing else. So it does not matter who plays
it, in which order, or how often the whole was interrupted.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from typing import Any

from multiduel.engine.registry import find
from multiduel.engine.result import Result
from multiduel.engine.simulate import simulate
from multiduel.inputs import BadInput, whole
from multiduel.lab import experiment as experiments
from multiduel.lab.experiment import Experiment
from multiduel.lab.results import Block, Panel, code_digest, make_folder
from multiduel.problems import Problem

Progress = Callable[[float, float], None]  # rounds played, rounds in all
Played = Iterator[tuple["Task", Result | None]]  # a task and its result; None: no news but the clock's
TICK = 0.2  # seconds between two looks at the clock

_compiling = threading.Lock()  # Numba compiles one function at a time anyway; so waiting is not counted as compiling
_ready: set[str] = set()


@dataclasses.dataclass(frozen=True)
class Task:
    """A block with all that is needed to play it anywhere."""

    block: Block
    policy: str
    problem: Problem
    options: dict[str, Any]  # of simulate
    params: dict[str, Any]
    rounds: float  # how many it plays
    code: str  # digest of the code that must play it


def run(
    experiment: Experiment,
    out: Path,
    *,
    data: Path | None = None,
    threads: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
    quick: bool = False,
    block: int | None = None,
) -> Panel:
    """Results of an experiment, kept in the folder ``out``/<its name>. What is finished there is not done again.

    ``cluster`` is "local" or the address of a Dask scheduler; ``threads`` is how many cores to use here. Neither
    changes a number. ``progress`` is called with the rounds played and the rounds in all. ``block`` is how many runs
    make a part.
    """
    if quick:
        experiment = experiments.quick(experiment)
    cores = whole("threads", threads, 1, of="run") if threads is not None else _cores()
    problem = experiments.resolve_problem(experiment, data)
    problem.benchmark_gaps(experiment.benchmark)  # refused before anything is written
    folder = make_folder(Path(out) / experiment.name, experiment, problem, block=block)
    tasks = [_task(experiment, problem, block) for block in folder.blocks() if not folder.finished(block)]
    if tasks:
        shares: dict[Block, float] = {task.block: 0.0 for task in tasks}
        if cluster is None:
            played = _on_threads(tasks, min(cores, len(tasks)), shares)
        else:
            from multiduel.lab.cluster import on_cluster

            played = on_cluster(tasks, cluster, workers=min(cores, len(tasks)))
        with closing(played):  # type: ignore[type-var]
            for task, result in played:
                if result is not None:
                    folder.store(task.block, result)
                    shares[task.block] = 1.0
                if progress:
                    done = sum(shares[task.block] * task.rounds for task in tasks)
                    progress(done, sum(task.rounds for task in tasks))
    panel = folder.panel()
    folder.merge()
    return panel


def play(task: Task, watch: Callable[[float], None] | None = None) -> Result:
    """Play a block on one core. Runs here or on a worker of a cluster."""
    if task.code != code_digest(task.policy):
        raise BadInput("The cluster's workers must have the same multiduel as this computer. Theirs is another.")
    compile_seconds = 0.0
    kind = f"{task.policy} {sorted(task.params.items())}"  # a machine among the params is compiled into the policy
    if kind not in _ready:
        with _compiling:
            if kind not in _ready:
                round_one = {**task.options, "horizon": 1, "checkpoints": [1], "runs": 1}
                compile_seconds = simulate(task.policy, task.problem, **round_one, **task.params).compile_seconds
                _ready.add(kind)
    result = simulate(task.policy, task.problem, **task.options, progress=watch, **task.params)
    return dataclasses.replace(result, compile_seconds=compile_seconds)


def _task(experiment: Experiment, problem: Problem, block: Block) -> Task:
    contender = experiment.contenders[block.contender]
    marks = experiment.marks()
    options = {
        "horizon": experiment.horizon,
        "slate_size": experiment.slate_size_of(contender),
        "runs": block.runs,
        "first_run": block.first_run,
        "seed": experiment.seed,
        "checkpoints": marks,
        "threads": 1,
        "benchmark": experiment.benchmark,
        "reset_horizon": experiment.reset_horizon,
    }
    again = experiment.reset_horizon and not find(contender.policy).anytime
    rounds = block.runs * float(marks.sum() if again else experiment.horizon)
    return Task(block, contender.policy, problem, options, contender.params, rounds, code_digest(contender.policy))


def _on_threads(tasks: list[Task], threads: int, shares: dict[Block, float]) -> Played:
    """Blocks on threads of this process: one policy compiles while others play."""
    stop = threading.Event()

    def one(task: Task) -> Result:
        def watch(share: float) -> None:
            if stop.is_set():
                raise InterruptedError
            shares[task.block] = max(shares[task.block], min(share, 0.99))

        return play(task, watch)

    with ThreadPoolExecutor(threads, thread_name_prefix="multiduel-block") as pool:
        waiting: dict[Future[Result], Task] = {pool.submit(one, task): task for task in tasks}
        try:
            while waiting:
                done, _ = wait(waiting, timeout=TICK, return_when=FIRST_COMPLETED)
                for future in done:
                    yield waiting.pop(future), future.result()
                if not done:
                    yield tasks[0], None
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
