"""A block of runs with all that is needed to play it anywhere: on a thread here, or on a worker of a cluster."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from multiduel.engine.result import Result
from multiduel.engine.simulate import simulate
from multiduel.inputs import BadInput
from multiduel.lab.experiment import Experiment
from multiduel.lab.provenance import code_digest
from multiduel.lab.results import Block
from multiduel.problems import Problem

Played = Iterator[tuple["Task", Result | None]]  # a task and its result; None: no news but the clock's
TICK = 0.2  # seconds between two looks at the clock

_compiling = threading.Lock()  # Numba compiles one function at a time anyway; so waiting is not counted as compiling
_ready: set[str] = set()


@dataclass(frozen=True)
class Task:
    """A block of runs, to be played on one core."""

    block: Block
    policy: str
    problem: Problem
    options: dict[str, Any]  # of simulate
    params: dict[str, Any]
    rounds: float  # how many it plays
    code: str  # digest of the code that must play it


@functools.cache
def code_here(policy: str) -> str:
    """The digest of the code that this process plays, looked up once: reading it anew for each of some thousand blocks takes
    longer than playing many of them."""
    return code_digest(policy)


def task(experiment: Experiment, problem: Problem, block: Block) -> Task:
    """What must be played for a block of an experiment."""
    contender = experiment.contender(block.contender)
    marks = experiment.marks_of(contender)
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
        "features": contender.features,
    }
    rounds = block.runs * float(marks.sum() if experiment.plays_again(contender) else experiment.horizon)
    return Task(block, contender.policy, problem, options, contender.params, rounds, code_here(contender.policy))


def play(task: Task, watch: Callable[[float], None] | None = None) -> Result:
    """Play a block on one core. Runs here or on a worker of a cluster."""
    if task.code != code_here(task.policy):
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
    return replace(result, compile_seconds=compile_seconds)
