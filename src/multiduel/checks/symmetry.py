"""No arm is special for its number: relabelling the arms relabels the behaviour."""

from __future__ import annotations

import math
import random

import numpy as np
from scipy.stats import chisquare

from multiduel.arrays import Floats
from multiduel.checks.subject import Subject, coins, require
from multiduel.problems import from_utilities

K = 5
PROBLEM = from_utilities([0.8, 0.5, 0.2, 0.65, 0.35])
RUNS = 200
EARLY, ALL = 12, 40  # rounds
# One cycle through all five arms: whatever depends on the number alone looks different after it.
CYCLE = (4, 3, 0, 2, 1)
FALSE_ALARM = 1e-7  # of a chi-square test; the seeds are fixed, so an alarm does not come and go
SIGMAS = 5.5  # of the ten comparisons of means: 4e-7 together


def relabelling(subject: Subject) -> None:
    """First slates are uniform over the arms, and mean plays per arm stay the same when the arms are renumbered."""
    first: list[tuple[int, ...]] = []
    straight = _plays(subject, tuple(range(K)), 0, first)
    turned = _plays(subject, CYCLE, RUNS, first)
    _require_uniform("seated", [arm for slate in first for arm in slate])
    if subject.spec.slate == "two":
        _require_uniform("seated left", [slate[0] for slate in first])
    for window, name in enumerate((f"the first {EARLY} rounds", f"{ALL} rounds")):
        for arm in range(K):
            a, b = straight[:, window, arm], turned[:, window, arm]
            sigmas = abs(a.mean() - b.mean()) / (math.sqrt((a.var() + b.var()) / RUNS) + 1e-9)
            require(
                sigmas < SIGMAS,
                f"Renumbering the arms must not change how often an arm is played. In {name}, one arm is "
                f"played {a.mean():.2f} times as number {arm} and {b.mean():.2f} times as number {CYCLE.index(arm)} "
                f"({sigmas:.0f} standard errors).",
            )


def _require_uniform(what: str, arms: list[int]) -> None:
    counts = np.bincount(arms, minlength=K)
    require(
        chisquare(counts).pvalue > FALSE_ALARM,
        f"In round 1 no arm is special. Over {2 * RUNS} seeds, arms 0 to {K - 1} were {what} {counts.tolist()} times.",
    )


def _plays(subject: Subject, labels: tuple[int, ...], seed: int, first: list[tuple[int, ...]]) -> Floats:
    """How often each arm was played in the first rounds and in all: f8[RUNS, 2, K].

    The kernel's arm k is our labels[k]. The first slates, in the kernel's numbers, are added to ``first``.
    """
    counts = np.zeros((RUNS, 2, K))
    for run in range(RUNS):
        policy = subject.make_labelled(labels, seed=seed + run)
        coin = random.Random(seed + run)
        for t in range(ALL):
            slate = policy.ask()
            if t == 0:
                first.append(tuple(labels.index(arm) for arm in slate.arms))
            for arm in slate.arms:
                counts[run, 1, arm] += 1
                counts[run, 0, arm] += t < EARLY
            if len(slate.arms) > 1:
                policy.tell(slate, coins(PROBLEM.matrix, slate.arms, coin))
    return counts
