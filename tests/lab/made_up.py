"""Panels with made-up numbers: what is judged and drawn is tested without playing a round."""

from __future__ import annotations

import dataclasses

import numpy as np

from multiduel.lab import experiment as experiments
from multiduel.lab.paper import reproduction as paper
from multiduel.lab.results import Curve, Panel

RUNS = 8


def panel(experiment, level=lambda label, policy: 100.0, runs=RUNS, noise=0.02):
    """Every contender's regret grows like ln t up to ``level``, runs differing by ``noise``."""
    marks = experiment.marks()
    shape = np.log1p(marks) / np.log1p(marks[-1])
    rng = np.random.default_rng(1)
    curves = []
    for contender in experiment.contenders:
        spread = 1.0 + noise * rng.standard_normal((min(runs, experiment.runs_of(contender)), 1))
        curves.append(
            Curve(
                label=contender.label,
                policy=contender.policy,
                params={},
                slate_size=experiment.slate_size_of(contender),
                rival=contender.rival,
                checkpoints=marks,
                regret=level(contender.label, contender.policy) * spread * shape,
                recommended=np.zeros(len(spread), np.int64),
                events=np.ones(len(spread), np.int64),
                seconds=1.0,
                compile_seconds=0.5,
            )
        )
    facts = {"label": "made up", "winner": 0}
    packages = {"packages": {"numpy": "2"}, "version": "0", "fingerprint": "f" * 32}
    return Panel(experiment, facts, tuple(curves), packages)


def all_panels(level=lambda label, policy: 100.0, runs=RUNS):
    return {experiment.name: panel(experiment, level, runs) for experiment in paper.asked()}


def synthetic_problems(panels):
    """Their problems; the rankers' is replaced by a synthetic one."""
    found = {}
    for name, made in panels.items():
        given = made.experiment.problem
        if given["kind"] == "mslr":
            given = {"kind": "synthetic", "arms": 24, "link": "linear"}
        found[name] = experiments.resolve_problem(dataclasses.replace(made.experiment, problem=given))
    return found
