"""What the checks are made of: the policy under test, the worlds it plays in, and how it is played there."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multiduel.arrays import Floats
from multiduel.engine.registry.registry import find, resolve
from multiduel.engine.session.policy import Policy, fresh, make
from multiduel.engine.session.slates import Slate
from multiduel.engine.simulation.contexts import ContextProblem
from multiduel.engine.simulation.result import Result
from multiduel.engine.simulation.simulate import simulate
from multiduel.kernels.compiler.dispatch import JIT
from multiduel.kernels.contract import PolicySpec
from multiduel.problems import Problem, from_utilities

# An oracle is made by (n_arms, slate_size, words, **params), where words are the four integers that the policy's stream
# starts from. It has ask(round) -> arms and tell(round, arms, wins).
OracleMaker = Callable[..., Any]

EASY_WINNER = 3
EASY: Problem = from_utilities([0.45, 0.35, 0.25, 0.95, 0.15])  # the winner beats every other by 1/4 or more
MIXED: Problem = from_utilities([0.3, 0.8, 0.1, 0.6, 0.45, 0.7])  # six arms, some of them close
HORIZON = 5000  # for policies that must know it, where a check plays fewer rounds than that


class Failed(AssertionError):
    """Raised when a policy fails a check. The message says what was expected and what was seen.

    >>> require(2 + 2 == 5, "Two and two must be five. Got four.")
    Traceback (most recent call last):
    multiduel.checks.subject.Failed: Two and two must be five. Got four.
    """


class Skipped(Exception):
    """Raised when a check cannot be made here. The message says why.

    >>> raise Skipped("There is no oracle.")
    Traceback (most recent call last):
    multiduel.checks.subject.Skipped: There is no oracle.
    """


def require(holds: object, sentence: str) -> None:
    if not holds:
        raise Failed(sentence)


@dataclass(frozen=True)
class Subject:
    """A policy under test, with some parameters, and its oracle if there is one. ``name`` may be an address or a ``PolicySpec``.

    >>> Subject("uniform").seats(5, 3)
    3
    """

    name: str
    words: Mapping[str, Any] = field(default_factory=dict)
    oracle: OracleMaker | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", find(self.name, "typed").name)

    @property
    def spec(self) -> PolicySpec:
        """The policy description."""
        return find(self.name)

    @property
    def plain(self) -> bool:
        """Whether it is played without the compiler. A round then takes a hundred times as long, and checks play fewer rounds."""
        return self.spec.plain or not JIT

    def seats(self, n_arms: int, slate_size: int) -> int:
        """Return the largest number of arms that a slate may hold.

        Parameters
        ----------
        n_arms, slate_size
            As for ``make``.
        """
        return min(n_arms, 2 if self.spec.slate == "two" else slate_size)

    def params(self, n_arms: int, slate_size: int = 2, horizon: int = HORIZON) -> Any:
        """Make the policy's ``Params``.

        Parameters
        ----------
        n_arms, slate_size, horizon
            As for ``multiduel.make``.
        """
        return resolve(self.spec, n_arms=n_arms, slate_size=slate_size, horizon=horizon, words=self.words)

    def make(self, n_arms: int, slate_size: int = 2, *, seed: int = 0, horizon: int = HORIZON) -> Policy:
        """Make the policy.

        Parameters
        ----------
        n_arms, slate_size, seed, horizon
            As for ``multiduel.make``.
        """
        return make(self.name, n_arms=n_arms, slate_size=slate_size, seed=seed, horizon=horizon, **self.words)

    def make_labelled(self, labels: Sequence[int], slate_size: int = 2, *, seed: int = 0, horizon: int = HORIZON) -> Policy:
        """Make the policy with given labels of its arms.

        Parameters
        ----------
        labels
            Arm k of the kernel is ``labels[k]`` outside.
        slate_size, seed, horizon
            As for ``multiduel.make``.
        """
        K = len(labels)
        return fresh(self.spec, self.params(K, slate_size, horizon), K, np.random.SeedSequence(seed), labels=labels)

    def make_unlabelled(self, n_arms: int, slate_size: int = 2, *, seed: int = 0, horizon: int = HORIZON) -> Policy:
        """Make the policy with the kernel's own arm numbers.

        Parameters
        ----------
        n_arms, slate_size, seed, horizon
            As for ``multiduel.make``.
        """
        return self.make_labelled(range(n_arms), slate_size, seed=seed, horizon=horizon)

    def simulate(self, problem: Problem | ContextProblem | Floats, **options: Any) -> Result:
        """Simulate the policy.

        Parameters
        ----------
        problem, **options
            As for ``multiduel.simulate``.
        """
        result: Result = simulate(self.name, problem, **options, **self.words)
        return result


def coins(P: Floats, arms: tuple[int, ...], rng: random.Random) -> Floats:
    """One duel of every pair: wins[a, b] of arms[a] over arms[b]."""
    n = len(arms)
    wins = np.zeros((n, n))
    for a in range(n):
        for b in range(a + 1, n):
            won = rng.random() < P[arms[a], arms[b]]
            wins[a, b], wins[b, a] = won, not won
    return wins


def require_valid(subject: Subject, policy: Policy, slate: Slate, slate_size: int) -> None:
    """1 to m distinct arms, all of them in range."""
    most = subject.seats(policy.n_arms, slate_size)
    inner = policy._slate[: len(slate.arms)].tolist()  # as the kernel wrote them: labels would hide an arm -1
    where = f"K = {policy.n_arms}, m = {slate_size}, round {slate.round}"
    require(1 <= len(inner) <= most, f"A slate must hold 1 to {most} arms ({where}). Got {len(inner)}: {inner}.")
    require(all(0 <= k < policy.n_arms for k in inner), f"Arms must be 0 to {policy.n_arms - 1} ({where}). Got {inner}.")
    require(len(set(inner)) == len(inner), f"The arms of a slate must be distinct ({where}). Got {inner}.")


def require_bet(policy: Policy) -> int:
    arm = policy.recommend()
    require(0 <= policy._inner[arm] < policy.n_arms, f"'recommend' must name an arm. Got {arm}.")
    return arm


def played(subject: Subject, policy: Policy, P: Floats, rounds: int, seed: int, slate_size: int = 2) -> Iterator[Slate]:
    """Play and tell at once, round by round; every slate is checked before it is told."""
    rng = random.Random(seed)
    for _ in range(rounds):
        slate = policy.ask()
        require_valid(subject, policy, slate, slate_size)
        yield slate
        if len(slate.arms) > 1:
            policy.tell(slate, coins(P, slate.arms, rng))


def play_late(subject: Subject, policy: Policy, P: Floats, rounds: int, seed: int, slate_size: int) -> None:
    """Judges as they are: up to 20 rounds late, in any order, 3 in 10 never, some ties, some partial."""
    rng = random.Random(seed)
    due: dict[int, list[Slate]] = {}
    for t in range(1, rounds + 1):
        slate = policy.ask()
        require_valid(subject, policy, slate, slate_size)
        if len(slate.arms) > 1 and rng.random() < 0.7:
            due.setdefault(t + int(21 * rng.random()), []).append(slate)
        arrived = due.pop(t, [])
        rng.shuffle(arrived)
        for late in arrived:
            wins = coins(P, late.arms, rng)
            kind = rng.random()
            if kind < 0.1:
                wins = 0.5 * (wins + wins.T)  # a tie
            elif kind < 0.2:
                best = int(wins.sum(axis=1).argmax())  # only the duels of one arm were seen
                wins[np.arange(len(wins)) != best] *= np.arange(len(wins)) == best
            policy.tell(late, wins)
    require_bet(policy)
