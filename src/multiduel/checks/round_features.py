"""A run on a problem whose rounds differ, as JSON: by the play loop, and by ask and tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from multiduel.arrays import Floats
from multiduel.checks.subject import Subject
from multiduel.engine.session.policy import fresh
from multiduel.engine.simulation.contexts import contexts
from multiduel.engine.simulation.seeds import run_seeds, streams
from multiduel.kernels.contract import compare, meet

ARMS, DIMENSION, SEATS, ROUNDS, SEED = 6, 3, 3, 120, 11
THETA = np.array([2.0, -1.5, 1.0])
ITEMS: Floats = np.random.default_rng(12).normal(size=(500, DIMENSION))
PROBLEM = contexts(ITEMS, n_arms=ARMS, theta=THETA)


def utilities_of(rows: Floats) -> Floats:
    return np.asarray(rows @ THETA)


def features_words(subject: Subject) -> dict[str, Any]:
    """The policy's parameters, with the number of features."""
    return {**subject.words, "dimension": DIMENSION}


def context_record(subject: Subject) -> dict[str, Any]:
    options: dict[str, Any] = {"horizon": ROUNDS, "slate_size": SEATS, "runs": 1, "seed": SEED, "threads": 1}
    result = subject.simulate(PROBLEM, benchmark="utility", checkpoints=range(1, ROUNDS + 1), **options)
    slates, regret = _ask_and_tell(subject)
    return {"regret": result.regret[0].tolist(), "slates": slates, "regret by ask and tell": regret}


def _ask_and_tell(subject: Subject) -> tuple[list[list[int]], list[float]]:
    """The run that ``simulate`` plays: same labels, same stream, same items and coins; and its regret, summed plainly."""
    seed = run_seeds(SEED, 1)[0]
    params = Subject(subject.name, features_words(subject)).params(ARMS, SEATS, ROUNDS)
    policy, drawn = fresh(subject.spec, params, ARMS, seed), streams(seed, ARMS)
    world = PROBLEM.measured_by("utility").world(drawn.labels, SEATS)
    slates, regret, total = [], [], 0.0
    unseen = fresh(subject.spec, params, ARMS, seed)  # shown by the world, and never asked
    for t in range(1, ROUNDS + 1):
        items = PROBLEM.items_of(drawn.world, t)
        u = PROBLEM.utilities[items]
        slate = policy.ask(features=PROBLEM.rows[items])
        slates.append(list(slate.arms))
        total += float(np.mean([u.max() - u[arm] for arm in slate.arms]))
        regret.append(total)
        n = len(slate.arms)
        if n > 1:
            wins = np.zeros((n, n))
            meet(world, drawn.world, t, np.zeros(ARMS), unseen.params, unseen._state)
            compare(world, drawn.world, t, 1, np.array([policy._inner[arm] for arm in slate.arms]), wins)
            policy.tell(slate, wins)
    return slates, regret
