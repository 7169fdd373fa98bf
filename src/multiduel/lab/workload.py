"""Before it begins: how many parts there are to play, and roughly how long that will take."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from multiduel.engine.simulation.simulate import simulate
from multiduel.lab.experiment import Experiment
from multiduel.lab.problem import AnyProblem
from multiduel.lab.results import make_folder, plan_folder
from multiduel.lab.shards import Shard
from multiduel.lab.task import Task, task

TRIAL = 3.0  # seconds that all trials may take together, compiling not counted
SHARES = tuple(4.0**-k for k in range(6, -1, -1))  # of a run that are played in a trial, one after the other


@dataclass(frozen=True)
class Outlook:
    """What experiments ask for, and what of it is not there yet."""

    experiments: int
    contenders: int
    parts: int
    tasks: tuple[Task, ...]  # the parts to be played

    def __str__(self) -> str:
        """In words.

        >>> str(Outlook(1, 2, 20, ()))
        '2 contenders, 20 parts: all are there.'
        """
        several = f"{self.experiments} experiments, " if self.experiments > 1 else ""
        whole = f"{several}{self.contenders} contender{'s' * (self.contenders > 1)}, {self.parts} part{'s' * (self.parts > 1)}"
        if not self.tasks:
            return f"{whole}: all are there."
        return f"{whole}: {'all' if len(self.tasks) == self.parts else len(self.tasks)} to be played."

    def seconds(self) -> float:
        """Of one core that is free, to play them: a rough guess from a short trial of each policy."""
        kinds: dict[Any, Task] = {}
        for each in self.tasks:
            kinds.setdefault(_kind(each), each)
        guesses = {kind: _tried(each, TRIAL / len(kinds)) for kind, each in kinds.items()}
        return sum(guesses[_kind(each)][0] + each.block.runs * guesses[_kind(each)][1] for each in self.tasks)


def look_ahead(pairs: Sequence[tuple[Experiment, AnyProblem]], out: Path, shard: Shard | None = None) -> Outlook:
    """Of experiments with their problems, whose results are kept in ``out``, or of a shard of them: their folders are made, if
    none is refused."""
    parts, tasks = 0, []
    for experiment, problem in pairs:
        plan_folder(out / experiment.name, experiment, problem)
    for experiment, problem in pairs:
        folder = make_folder(out / experiment.name, experiment, problem)
        blocks = folder.blocks() if shard is None else shard.share(folder.blocks())
        parts += len(blocks)
        tasks += [task(experiment, problem, part) for part in filter(None, map(folder.missing, blocks))]
    return Outlook(len(pairs), sum(len(experiment.contenders) for experiment, _ in pairs), parts, tuple(tasks))


def _kind(task: Task) -> Any:
    """Tasks that take about as long as each other."""
    options = task.options
    return task.policy, task.problem.n_arms, options["slate_size"], options["horizon"], len(options["checkpoints"])


def _tried(task: Task, budget: float) -> tuple[float, float]:
    """Seconds to begin a part, and those of each of its runs: longer and longer beginnings of one run are played until the
    budget is spent, at least two; as they grew, so it will go on."""
    marks, horizon = np.asarray(task.options["checkpoints"]), task.options["horizon"]

    def cost(end: int) -> float:
        early = marks[marks <= end]
        options = {**task.options, "horizon": end, "checkpoints": early if len(early) else [end], "runs": 1}
        start = time.process_time()  # not of the clock: others may be at work on this computer
        simulate(task.policy, task.problem, **options, **task.params)
        return time.process_time() - start

    cost(1)  # compiles
    begin = cost(1)
    points: list[tuple[float, float]] = []
    for share in SHARES:
        points.append((share, max(cost(max(1, int(horizon * share))) - begin, 0.0)))
        if len(points) > 1 and 4.0 * sum(seconds for _, seconds in points) > budget:
            break
    return begin, extrapolated(points)


def extrapolated(points: Sequence[tuple[float, float]]) -> float:
    """The seconds of a whole run, from those of its beginnings: as a power of the share, at most in proportion to it.

    >>> extrapolated([(0.25, 0.1), (1.0, 0.3)]), extrapolated([(0.01, 0.1), (0.04, 0.2)])
    (0.3, 1.0)
    """
    share, seconds = points[-1]
    power = 1.0
    if len(points) > 1 and points[-2][1] > 0.0 and seconds > 0.0:
        power = math.log(seconds / points[-2][1]) / math.log(share / points[-2][0])
    return float(seconds * (1.0 / share) ** min(max(power, 0.0), 1.0))
