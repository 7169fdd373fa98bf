"""Panels with made-up numbers: what is judged and drawn is tested without playing a round."""

from __future__ import annotations

import zlib

import numpy as np

from multiduel import problems
from multiduel.engine.registry.registry import find
from multiduel.engine.simulation.play import KINDS
from multiduel.engine.simulation.result import Result
from multiduel.lab import problem as problem_tables
from multiduel.lab.paper import panels
from multiduel.lab.results import Panel

RUNS = 20


def panel(experiment, level=lambda contender: 100.0, runs=RUNS, noise=0.02):
    """Every contender's regret grows like ln t up to ``level``, runs differing by ``noise``; the rankers are synthetic."""
    problem = problems.synthetic(24) if panels.on_rankers(experiment) else problem_tables.resolve(experiment.problem)
    results = []
    for contender in experiment.contenders:
        rng = np.random.default_rng(zlib.crc32(contender.id.encode()))  # the same contender has the same luck in all panels
        marks = experiment.marks_of(contender)
        shape = np.log1p(marks) / np.log1p(marks[-1])
        spread = 1.0 + noise * rng.standard_normal((min(runs, experiment.runs_of(contender)), 1))
        results.append(
            Result(
                policy=contender.policy,
                params={},
                problem=problem.to_json(),
                slate_size=2 if find(contender.policy).slate == "two" else experiment.slate_size_of(contender),
                horizon=experiment.horizon,
                runs=len(spread),
                seed=experiment.seed,
                benchmark=experiment.benchmark,
                checkpoints=marks,
                regrets={kind: level(contender) * spread * shape for kind in KINDS},
                recommended=np.zeros(len(spread), np.int64),
                events=np.ones(len(spread), np.int64),
                seconds=1.0,
                compile_seconds=0.5,
            )
        )
    provenance = {"packages": {"numpy": "2"}, "version": "0", "fingerprint": "f" * 32}
    return Panel(experiment, problem, tuple(results), provenance)


def all_panels(level=lambda contender: 100.0, runs=RUNS, experiments=None):
    return {experiment.name: panel(experiment, level, runs) for experiment in experiments or panels.load_all()}
