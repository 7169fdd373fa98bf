"""Worlds that answer with whole rankings, so that the pairs of one answer depend on each other."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.inputs import BadInput
from multiduel.kernels.contract import compare
from multiduel.kernels.random import chance, place
from multiduel.problems import Problem

ANSWERS = ("coins", "rankings")
CLOSE = 1e-6  # how far a matrix may be from one of strengths


class PlackettLuce(NamedTuple):
    """Every answer ranks the slate: by strength plus Gumbel noise, which is Plackett and Luce's law."""

    strength: Floats  # f8[K]
    score: Floats  # f8[n]  scratch


@compare.implement(PlackettLuce)
def rank(world: PlackettLuce, key: np.uint64, round: int, rounds: int, slate: Ints, wins: Floats) -> None:
    n = slate.shape[0]
    for a in range(n):
        for b in range(n):
            wins[a, b] = 0.0
    for t in range(round, round + rounds):
        start = place(key, t)
        for a in range(n):
            u = 1.0 - chance(start, slate[a])  # above 0, so that both logarithms are finite but for u = 1
            world.score[a] = world.strength[slate[a]] - math.log(-math.log(u)) if u < 1.0 else math.inf
        for a in range(n):
            for b in range(n):
                wins[a, b] += 1.0 if world.score[a] > world.score[b] else 0.0


class Rankings:
    """A problem of strengths, P[i, j] = 1 / (1 + exp(u_j - u_i)), whose judges rank whole slates instead of tossing a coin per
    pair. Each pair's chances are the same; the pairs of one answer now agree with each other. For ``simulate``.

    >>> from multiduel import bradley_terry
    >>> Rankings(bradley_terry(4)).n_arms
    4
    """

    def __init__(self, problem: Problem) -> None:
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
        return self.problem.benchmark_gaps(kind)

    def to_json(self) -> dict[str, Any]:
        return self.problem.to_json() | {"label": self.label, "answers": "rankings"}

    def world(self, labels: Ints, seats: int) -> PlackettLuce:
        return PlackettLuce(np.ascontiguousarray(self.strength[labels]), np.zeros(seats))


def answered_by(problem: Problem, answers: str) -> Problem | Rankings:
    """The problem with judges who toss a coin per pair, or rank the whole slate."""
    if answers not in ANSWERS:
        raise BadInput(f"'answers' must be one of {', '.join(ANSWERS)}. Got {answers!r}.")
    return Rankings(problem) if answers == "rankings" else problem
