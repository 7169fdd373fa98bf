"""Run an experiment in blocks of runs, on threads here or on a Dask cluster; go on where an earlier run stopped.

A block's numbers depend on the experiment and on which runs it holds, and on nothing else. So it does not matter who plays
it, in which order, or how often the whole was interrupted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from multiduel.inputs import BadInput, whole
from multiduel.lab import experiment as experiments
from multiduel.lab import problem as problem_tables
from multiduel.lab.experiment import Experiment
from multiduel.lab.occupied import one_at_a_time
from multiduel.lab.results import Block, Panel, make_folder
from multiduel.lab.task import task
from multiduel.lab.threads import on_threads
from multiduel.problems import Problem

Progress = Callable[[float, float], None]  # rounds played, rounds in all


@one_at_a_time
def run(
    experiment: Experiment,
    out: Path,
    *,
    problem: Problem | None = None,
    data: Path | None = None,
    threads: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
    quick: bool = False,
    block: int | None = None,
) -> Panel:
    """Results of an experiment, kept in the folder ``out``/<its name>. What is finished there is not done again.

    ``problem`` is for experiments whose problem is of kind "given"; ``data`` is the folder of data for those of kind "data".
    ``cluster`` is "local" or the address of a Dask scheduler; ``threads`` is how many cores to use here. Neither
    changes a number. ``progress`` is called with the rounds played and the rounds in all. ``block`` is how many runs
    make a part.
    """
    if quick:
        experiment = experiments.quick(experiment)
    cores = whole("threads", threads, 1, of="run") if threads is not None else _cores()
    if problem is None:
        problem = problem_tables.resolve(experiment.problem, data)
    elif experiment.problem["kind"] != "given":
        raise BadInput(
            f"'problem' can be handed over where the experiment's is of kind 'given'. Got one of '{experiment.problem['kind']}'."
        )
    problem.benchmark_gaps(experiment.benchmark)  # refused before anything is written, as are features of other arms
    for contender in experiment.contenders:
        contender.check_features(problem.n_arms)
    folder = make_folder(Path(out) / experiment.name, experiment, problem, block=block)
    tasks = [task(experiment, problem, block) for block in folder.blocks() if not folder.finished(block)]
    if tasks:
        shares: dict[Block, float] = {each.block: 0.0 for each in tasks}
        if cluster is None:
            played = on_threads(tasks, min(cores, len(tasks)), shares)
        else:
            from multiduel.lab.cluster import on_cluster

            played = on_cluster(tasks, cluster, workers=min(cores, len(tasks)))
        with closing(played):  # type: ignore[type-var]
            for each, result in played:
                if result is not None:
                    folder.store(each.block, result)
                    shares[each.block] = 1.0
                if progress:
                    done = sum(shares[each.block] * each.rounds for each in tasks)
                    progress(done, sum(each.rounds for each in tasks))
    panel = folder.panel()
    folder.merge()
    return panel


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
