"""A block of runs with all that is needed to play it anywhere: on a thread here, or on a worker of a cluster."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multiduel.engine.registry.plugins import Parcel, parcel, receive
from multiduel.engine.registry.registry import POLICIES, find, register
from multiduel.engine.simulation.result import Result
from multiduel.engine.simulation.simulate import simulate
from multiduel.inputs import BadInput
from multiduel.lab.experiment import Experiment
from multiduel.lab.parts import Block
from multiduel.lab.problem import AnyProblem
from multiduel.lab.provenance import code_digest

Played = Iterator[tuple["Task", Result | None]]  # a task and its result; None: no news but the clock's
TICK = 0.2  # seconds between two looks at the clock

_compiling = threading.Lock()  # Numba compiles one function at a time anyway; so waiting is not counted as compiling
_ready: set[str] = set()


@dataclass(frozen=True)
class Task:
    """A block of runs, to be played on one core."""

    block: Block
    policy: str
    problem: AnyProblem
    options: dict[str, Any]  # of simulate
    params: dict[str, Any]
    rounds: float  # how many it plays
    code: str  # digest of the code that must play it
    parcel: Parcel | None  # the policy itself, if it is not multiduel's


def code_here(policy: str) -> str:
    """The digest of the code that this process plays."""
    return _code_here(policy, id(find(policy).params))


@functools.cache
def _code_here(policy: str, version: int) -> str:
    """Looked up once: reading it anew for each of some thousand blocks takes longer than playing many of them."""
    return code_digest(policy)


def task(experiment: Experiment, problem: AnyProblem, block: Block) -> Task:
    """What must be played for a block of an experiment."""
    contender = experiment.contender(block.contender)
    marks = experiment.marks_of(contender) if block.marks is None else np.array(block.marks, np.int64)
    horizon = block.end or experiment.horizon
    options = {
        "horizon": horizon,
        "slate_size": experiment.slate_size_of(contender),
        "runs": block.runs,
        "first_run": block.first_run,
        "seed": experiment.seed,
        "checkpoints": marks,
        "threads": 1,
        "benchmark": experiment.benchmark,
        "reset_horizon": experiment.reset_horizon,
        "features": contender.features,
        "delay": experiment.delay,
    }
    rounds = block.runs * float(marks.sum() if experiment.plays_again(contender) else horizon)
    code, sent = code_here(contender.policy), _parcel(contender.policy, id(find(contender.policy).params))
    return Task(block, contender.policy, problem, options, contender.params, rounds, code, sent)


@functools.cache
def _parcel(policy: str, version: int) -> Parcel | None:
    return parcel(find(policy))


def play(task: Task, watch: Callable[[float], None] | None = None) -> Result:
    """Play a block on one core. Runs here or on a worker of a cluster."""
    if task.parcel is not None and (task.policy not in POLICIES or task.code != code_here(task.policy)):
        register(receive(task.parcel))
    if task.code != code_here(task.policy):
        whose = "multiduel" if task.parcel is None or task.parcel.files else f"multiduel and '{task.parcel.address}'"
        raise BadInput(f"The cluster's workers must have the same {whose} as this computer. Theirs is another.")
    compile_seconds = 0.0
    kind = f"{task.policy} {sorted(task.params.items())} {task.options['delay']}"  # a machine is compiled into the policy
    if kind not in _ready:
        with _compiling:
            if kind not in _ready:
                round_one = {**task.options, "horizon": 1, "checkpoints": [1], "runs": 1}
                compile_seconds = simulate(task.policy, task.problem, **round_one, **task.params).compile_seconds
                _ready.add(kind)
    result: Result = simulate(task.policy, task.problem, **task.options, progress=watch, **task.params)
    return replace(result, compile_seconds=compile_seconds)
