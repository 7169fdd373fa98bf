"""Run an experiment in blocks of runs, on threads here or on a Dask cluster; go on where an earlier run stopped.

A block's numbers depend on the experiment and on which runs it holds, and on nothing else. So it does not matter who plays
it, in which order, or how often the whole was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from multiduel.engine.registry.registry import find, resolve
from multiduel.engine.simulation.result import Result
from multiduel.inputs import BadInput, cores
from multiduel.lab import experiment as experiments
from multiduel.lab import problem as problem_tables
from multiduel.lab.experiment import Contender, Experiment
from multiduel.lab.folder_lock import one_at_a_time
from multiduel.lab.parts import Block
from multiduel.lab.problem import AnyProblem
from multiduel.lab.provenance import identity
from multiduel.lab.results import Folder, Panel, make_folder
from multiduel.lab.shards import Shard
from multiduel.lab.task import task
from multiduel.lab.threads import on_threads

Progress = Callable[[float, float], None]  # rounds played, rounds in all


def run_held(
    experiment: Experiment,
    out: Path,
    *,
    problem: AnyProblem | None = None,
    data: Path | None = None,
    threads: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
    quick: bool = False,
    block: int | None = None,
    known: Iterable[Panel] = (),
) -> Panel:
    """Results of an experiment, kept in the folder ``out``/<its name>. What is finished there is not done again.

    ``problem`` is for experiments whose problem is of kind "given"; ``data`` is the folder of data for those of kind "data".
    ``cluster`` is "local" or the address of a Dask scheduler; ``threads`` is how many cores to use here. Neither
    changes a number. ``progress`` is called with the rounds played and the rounds in all. ``block`` is how many runs
    make a part. ``known`` are results of the same code: runs that they hold are taken from there.
    """
    if quick:
        experiment = experiments.quick(experiment)
    at_work = cores(threads, of="run")
    problem = problem_of(experiment, problem, data)
    folder = make_folder(Path(out) / experiment.name, experiment, problem, block=block)
    _play(folder, folder.blocks(), list(known), at_work, cluster, progress)
    return folder.finish()


def run_shard(
    experiment: Experiment,
    out: Path,
    shard: Shard,
    *,
    problem: AnyProblem | None = None,
    data: Path | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    known: Iterable[Panel] = (),
) -> Panel | None:
    """Play one shard's blocks into the folder that all shards share. The shard that plays the last block merges all parts and
    returns the results; two that finish together write the same file."""
    at_work = cores(threads, of="run")
    problem = problem_of(experiment, problem, data)
    folder = make_folder(Path(out) / experiment.name, experiment, problem)
    _play(folder, shard.share(folder.blocks()), list(known), at_work, None, progress)
    return folder.finish() if all(map(folder.finished, folder.blocks())) else None


def _play(
    folder: Folder, blocks: list[Block], at_hand: list[Panel], at_work: int, cluster: str | None, progress: Progress | None
) -> None:
    """Play what is missing of these blocks, or take it from results at hand, and store it."""
    experiment, problem = folder.experiment, folder.problem
    tasks = []
    for part in filter(None, map(folder.missing, blocks)):
        taken = known_runs(experiment, problem, part, at_hand)
        if taken is None:
            tasks.append(task(experiment, problem, part))
        else:
            folder.store(part, taken)
    if not tasks:
        return
    shares: dict[Block, float] = {each.block: 0.0 for each in tasks}
    if cluster is None:
        played = on_threads(tasks, min(at_work, len(tasks)), shares)
    else:
        from multiduel.lab.cluster import on_cluster

        played = on_cluster(tasks, cluster, workers=min(at_work, len(tasks)))
    with closing(played):  # type: ignore[type-var]
        for each, result in played:
            if result is not None:
                folder.store(each.block, result)
                shares[each.block] = 1.0
            if progress:
                done = sum(shares[each.block] * each.rounds for each in tasks)
                progress(done, sum(each.rounds for each in tasks))


run = one_at_a_time(run_held)  # by who does not hold the folder yet


def problem_of(experiment: Experiment, problem: AnyProblem | None = None, data: Path | None = None) -> AnyProblem:
    """The problem that will be played; refused if the experiment does not go with it, before anything is written."""
    if problem is None:
        problem = problem_tables.resolve(experiment.problem, data)
    elif experiment.problem["kind"] != "given":
        raise BadInput(
            f"'problem' can be handed over where the experiment's is of kind 'given'. Got one of '{experiment.problem['kind']}'."
        )
    problem.benchmark_gaps(experiment.benchmark)
    for contender in experiment.contenders:
        contender.check_features(problem.n_arms)
    return problem


def known_runs(experiment: Experiment, problem: AnyProblem, block: Block, panels: Iterable[Panel]) -> Result | None:
    """The runs of a block as another experiment played them, recorded at these rounds among others."""
    contender = experiment.contender(block.contender)
    marks, runs = experiment.marks_of(contender), slice(block.first_run, block.first_run + block.runs)
    if block.marks is not None:
        marks = np.array(block.marks, np.int64)
    for panel in panels:
        for line in panel.lines if identity(panel.problem.to_json()) == identity(problem.to_json()) else ():
            result = line.result
            if result.runs < runs.stop or not same_runs(problem, (experiment, contender), (panel.experiment, line.contender)):
                continue
            places = np.searchsorted(result.checkpoints, marks)
            return replace(
                result,
                runs=block.runs,
                checkpoints=marks,
                regrets={kind: np.ascontiguousarray(values[runs][:, places]) for kind, values in result.regrets.items()},
                recommended=result.recommended[runs],
                events=result.events[runs],
                seconds=0.0,
                compile_seconds=0.0,
            )
    return None


def same_runs(problem: AnyProblem, ours: tuple[Experiment, Contender], theirs: tuple[Experiment, Contender]) -> bool:
    """On the same problem, are their runs ours: the same policy from the same seed, and our checkpoints among theirs? Who is told
    its end must have been told the same ones."""
    (us, we), (them, they) = ours, theirs
    shared = ("horizon", "seed", "benchmark", "reset_horizon", "delay")
    if any(getattr(us, name) != getattr(them, name) for name in shared):
        return False
    if _described(we, us, problem) != _described(they, them, problem):
        return False
    our_marks, their_marks = us.marks_of(we), them.marks_of(they)
    return bool(np.array_equal(our_marks, their_marks) if us.plays_again(we) else np.isin(our_marks, their_marks).all())


def _described(contender: Contender, experiment: Experiment, problem: AnyProblem) -> tuple[object, ...]:
    """All that decides its choices, defaults filled in."""
    spec = find(contender.policy)
    size = 2 if spec.slate == "two" else experiment.slate_size_of(contender)
    params = resolve(spec, n_arms=problem.n_arms, slate_size=size, horizon=experiment.horizon, words=contender.params)
    return spec.name, size, params, contender.features
