"""Problems whose judges answer with whole rankings, so that the pairs of one answer depend on each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.engine.simulation.worlds import PlackettLuce
from multiduel.inputs import BadInput, shortened
from multiduel.problems import Problem

ANSWERS = ("coins", "rankings")
CLOSE = 1e-6  # how far a matrix may be from one of strengths


class Rankings:
    """A problem whose judges rank whole slates instead of tossing a coin per pair, for ``simulate``.

    It is a problem of strengths, P[i, j] = 1 / (1 + exp(u_j - u_i)). Each pair's chances are the same as with coins; the pairs
    of one answer agree with each other.

    >>> from multiduel import bradley_terry
    >>> Rankings(bradley_terry(4)).n_arms
    4
    """

    def __init__(self, problem: Problem) -> None:
        if not isinstance(problem, Problem):
            raise BadInput(f"'Rankings' needs a Problem. Got {shortened(problem)}.")
        P = problem.matrix
        with np.errstate(divide="ignore"):
            self.strength: Floats = np.log(P[:, 0]) - np.log(P[0, :])
        fits = np.isfinite(self.strength).all()
        off = np.abs(P - 1.0 / (1.0 + np.exp(self.strength[None, :] - self.strength[:, None]))).max() if fits else math.inf
        if not off < CLOSE:
            raise BadInput(
                f"Rankings need a problem of Bradley-Terry strengths; coins fit any. '{problem.label}' is off by {off:.2g}."
            )
        self.problem, self.n_arms, self.names, self.winner = problem, problem.n_arms, problem.names, problem.winner
        self.label = f"{problem.label}, rankings"

    def benchmark_gaps(self, kind: str) -> Floats:
        """Compute what playing each arm costs: ``Problem.benchmark_gaps``.

        Parameters
        ----------
        kind
            The benchmark.
        """
        return self.problem.benchmark_gaps(kind)

    def to_json(self) -> dict[str, Any]:
        """Describe the problem for result files."""
        return self.problem.to_json() | {"label": self.label, "answers": "rankings"}

    def world(self, labels: Ints, seats: int) -> PlackettLuce:
        """Make the world that answers a run's slates, for ``simulate``.

        Parameters
        ----------
        labels
            Our number of each arm of the policy.
        seats
            How many arms a slate may hold.
        """
        return PlackettLuce(np.ascontiguousarray(self.strength[labels]), np.zeros(seats))


def answered_by(problem: Problem, answers: str) -> Problem | Rankings:
    """The problem with judges who toss a coin per pair, or rank the whole slate."""
    if answers not in ANSWERS:
        raise BadInput(f"'answers' must be one of {', '.join(ANSWERS)}. Got {answers!r}.")
    return Rankings(problem) if answers == "rankings" else problem
