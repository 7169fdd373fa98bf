"""Suite v1: families of instances, the cells that are played on them, and the hash that freezes both.

A cell is a family with a slate size and a horizon: twenty instances, twenty runs each. Run r of instance i has the same seed for
every policy, so that policies meet the same instances, the same labels of the arms and the same coins.

>>> FAMILIES["cyclic"].title, len(FAMILIES["cyclic"].problems)
('Cyclic', 20)
>>> cells(slate_sizes=(2,), horizons=(10_000,))[0].id
'arithmetic-m2-T10000'
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from multiduel.engine.simulation.rankings import Rankings
from multiduel.inputs import choice
from multiduel.lab.bench import instances
from multiduel.lab.bench.answers import Winners
from multiduel.problems import Problem, bradley_terry, random_tournament, random_utilities

VERSION = "v1"
SLATE_SIZES = (2, 4, 8, 16)
HORIZONS = (10**4, 10**6)
RUNS = 20  # of an instance
SEVERAL = SLATE_SIZES[1:]
ANSWERS: dict[str, Callable[[Problem], Any]] = {"coins": lambda problem: problem, "rankings": Rankings, "winner": Winners}


@dataclass(frozen=True)
class Family:
    """Twenty instances of one kind."""

    name: str
    title: str
    about: str
    make: Callable[[], list[Problem]]
    seed: int  # of the runs: instance i has seed + i
    source: str = "ours"
    assumption: str | None = None  # what ``suggest`` takes it for; None: not asked
    benchmark: str = "condorcet"  # what regret is measured against
    answers: str = "coins"  # a coin per pair; "rankings" or "winner" of the whole slate
    slate_sizes: tuple[int, ...] = SLATE_SIZES
    options: dict[str, Any] = field(default_factory=dict)  # of ``simulate``

    @property
    def problems(self) -> tuple[Problem, ...]:
        return _problems(self.name)

    @property
    def arms(self) -> tuple[int, ...]:
        return tuple(problem.n_arms for problem in self.problems)

    def played(self, number: int) -> Any:
        """An instance as ``simulate`` takes it."""
        return _played(self.name, number)

    def random_loss(self, number: int) -> float:
        """The regret that a round costs on average if every slate is drawn at random."""
        return float(self.problems[number].benchmark_gaps(self.benchmark).mean())

    def best(self, number: int) -> tuple[int, ...]:
        """The arms that a run may recommend at its end without being wrong."""
        return self.problems[number].copeland_winners  # the Condorcet winner alone, if there is one

    def digest(self) -> str:
        """A hash of the instances, the seeds, and how they are played."""
        facts = {
            **{"name": self.name, "seed": self.seed, "benchmark": self.benchmark, "answers": self.answers},
            **{"slate_sizes": self.slate_sizes, "options": self.options, "runs": RUNS, "horizons": HORIZONS},
        }
        hashed = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
        for problem in self.problems:
            numbers = problem.matrix if self.answers == "coins" else problem.utilities
            assert numbers is not None
            hashed.update(np.ascontiguousarray(numbers, "<f8").tobytes())
        return hashed.hexdigest()[:16]


@dataclass(frozen=True)
class Cell:
    """A family, how many arms a slate may hold, and how many rounds a run has."""

    family: str
    slate_size: int
    horizon: int

    @property
    def id(self) -> str:
        return f"{self.family}-m{self.slate_size}-T{self.horizon}"


def _drawn(make: Callable[[int, int], Problem], first_seed: int) -> Callable[[], list[Problem]]:
    return partial(instances.drawn, make, first_seed)


_listed = (
    Family(
        "arithmetic", "Arithmetic", "A total order whose neighbours are hard to tell apart; 5 to 24 arms.",
        instances.arithmetic, 1_000, "Komiyama et al. COLT 2015",
    ),
    Family(
        "geometric", "Geometric", "Utilities 0.8, then geometrically from 0.7 to 0.2; linear and logit link, 5 to 40 arms.",
        instances.geometric, 2_000, "Ailon, Karnin, Joachims. ICML 2014",
    ),
    Family(
        "paper", "The paper's sets", "The synthetic sets of the paper, 48 and 72 arms, and their law for 24 to 60.",
        instances.paper, 3_000, "Du, Wang, Huang. AAMAS 2020",
    ),
    Family(
        "cyclic", "Cyclic", "A narrow winner above a cycle: an arm's strongest opponent is not the winner; 4 to 24 arms.",
        instances.cyclic_margins, 4_000, "Komiyama et al. COLT 2015, with 4 arms",
    ),
    Family(
        "small-margins", "Small margins", "Margins of 0.04 to 0.11 for the winner, as among the rankers of arXiv; 5 to 40 arms.",
        _drawn(instances.small_margins, 5_000), 5_000, "in the manner of Yue, Joachims. ICML 2011",
    ),
    Family(
        "mixed-tastes", "Mixed tastes", "Three groups of people with tastes of their own, as among kinds of sushi; 5 to 40 arms.",
        _drawn(instances.mixed_tastes, 6_000), 6_000, "in the manner of Kamishima. KDD 2003",
    ),
    Family(
        "utilities", "Random utilities", "Utilities uniform in [0, 1): often two are nearly tied at the top; 5 to 40 arms.",
        _drawn(lambda K, seed: random_utilities(K, seed=seed), 7_000), 7_000, assumption="utilities",
    ),
    Family(
        "bradley-terry", "Bradley-Terry", "Normal strengths, logit link; 5 to 40 arms.",
        _drawn(lambda K, seed: bradley_terry(K, seed=seed), 8_000), 8_000, assumption="utilities",
    ),
    Family(
        "tournaments", "Tournaments", "Every pair has a random winner, and one arm beats all: no order; 5 to 40 arms.",
        _drawn(lambda K, seed: random_tournament(K, seed=seed), 9_000), 9_000, assumption="condorcet",
    ),
    Family(
        "disputed", "Disputed tournaments", "The winner beats all narrowly, another arm wins more duels in all; 5 to 40 arms.",
        _drawn(instances.disputed, 10_000), 10_000, assumption="condorcet",
    ),
    Family(
        "ties", "Ties", "Random utilities, and every losing arm has a twin of the same utility; 5 to 40 arms.",
        _drawn(instances.ties, 11_000), 11_000,
    ),
    Family(
        "no-winner", "No Condorcet winner", "No arm beats every other; regret against the best Copeland score; 5 to 40 arms.",
        instances.no_winner, 12_000, "ours; in the manner of Zoghi et al. NIPS 2015 and Komiyama et al. ICML 2016",
        assumption="copeland", benchmark="copeland",
    ),
    Family(
        "rankings", "Plackett-Luce answers", "Every answer ranks the whole slate, so that its pairs depend on each other.",
        partial(instances.strengths, 13_000), 13_000, answers="rankings", slate_sizes=SEVERAL,
    ),
    Family(
        "winner-only", "Winner-only answers", "Every answer names the best option of the slate and nothing else.",
        partial(instances.strengths, 14_000), 14_000, answers="winner", slate_sizes=SEVERAL,
    ),
    *(
        Family(
            f"arms-{K}", f"{K} arms", f"{K} arms: ten draws of random utilities, ten of Bradley-Terry strengths.",
            partial(instances.many_arms, K), 20_000 + K, assumption="utilities",
        )
        for K in (100, 200, 500)
    ),
)  # fmt: skip
FAMILIES: dict[str, Family] = {family.name: family for family in _listed}


def cells(
    *, families: Sequence[str] | None = None, slate_sizes: Sequence[int] = SLATE_SIZES, horizons: Sequence[int] = HORIZONS
) -> list[Cell]:
    """The cells of these families, slate sizes and horizons: those of the shortest horizon first."""
    names = FAMILIES if families is None else [choice("family", name, FAMILIES) for name in families]
    return [
        Cell(name, size, horizon)
        for horizon in horizons
        for name in names
        for size in slate_sizes
        if size in FAMILIES[name].slate_sizes
    ]


def digest() -> str:
    """The hash that freezes the suite: of all families' instances, seeds and settings."""
    return hashlib.sha256("".join(family.digest() for family in FAMILIES.values()).encode()).hexdigest()[:16]


def described() -> dict[str, Any]:
    """The suite as plain JSON: what the shipped results are read with."""
    return {
        **{"version": VERSION, "digest": digest(), "runs": RUNS, "horizons": list(HORIZONS)},
        "families": {
            family.name: {
                **{"title": family.title, "about": family.about, "source": family.source, "assumption": family.assumption},
                **{"benchmark": family.benchmark, "answers": family.answers, "slate_sizes": list(family.slate_sizes)},
                **{"options": family.options, "seed": family.seed, "digest": family.digest(), "arms": list(family.arms)},
                "random_loss": [family.random_loss(number) for number in range(instances.INSTANCES)],
            }
            for family in FAMILIES.values()
        },
    }


@functools.cache
def _problems(name: str) -> tuple[Problem, ...]:
    return tuple(FAMILIES[name].make())


@functools.cache
def _played(name: str, number: int) -> Any:
    return ANSWERS[FAMILIES[name].answers](_problems(name)[number])
