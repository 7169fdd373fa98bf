"""Epochs: stretches in which one policy chooses, made afresh from the tally whenever what it was told no longer holds.

A slate is a function of the arena's seed, the epoch's event number, the tally it began with, and the asks and votes since: so
whoever holds the log, and the same code, finds every slate again.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from multiduel.arena.domain.settings import Settings
from multiduel.arrays import Floats, Ints
from multiduel.engine.registry.fingerprints import modules_behind
from multiduel.engine.registry.registry import POLICIES, find
from multiduel.engine.session.policy import Policy, make, restore
from multiduel.engine.session.reliving import Journey
from multiduel.engine.simulation import play
from multiduel.inference import evidence
from multiduel.inference.verdict import needed
from multiduel.kernels.compiler.sources import code_hash, digest

CLOSER = "challengers"
POLICY, UNIFORM = "policy", "uniform"
FEW = 16  # steps that are not worth a table
PORTION = 10_000  # steps at once
HORIZON = 100_000  # votes expected by policies that must know how many, where the owner stated no limit


def fingerprint(policy: str) -> str:
    """Of all that decides the slates of this policy in an arena."""
    return _fingerprint(policy, id(find(policy).params))


@functools.cache
def _fingerprint(policy: str, version: int) -> str:
    """Worked out once for each version of a policy that is registered."""
    code = code_hash(play.__name__, *modules_behind(policy, CLOSER))
    return digest(Path(__file__).read_bytes(), code.encode(), importlib.metadata.version("numba").encode())


def draw(seed: int, number: int, purpose: str, bits: int = 128) -> int:
    """A number that nobody can foresee without the seed, and anybody can find again with it."""
    return int.from_bytes(_drawn(f"{seed}/{number}/{purpose}")[: bits // 8], "big")


def shuffled(seed: int, number: int, purpose: str, arms: Iterable[int]) -> list[int]:
    """The arms in the order of their numbers from ``draw``, which is that of the bytes."""
    beginning = f"{seed}/{number}/{purpose}/"
    return sorted(arms, key=lambda arm: _drawn(f"{beginning}{arm}")[:16])


def _drawn(what: str) -> bytes:
    return hashlib.sha256(what.encode()).digest()


class Choice(NamedTuple):
    arms: tuple[int, ...]  # options by their index
    by: str  # policy; challengers; uniform, where both have nothing left to compare


class Asked(NamedTuple):
    """A step of an epoch: the ticket with this event number was chosen."""

    number: int
    choice: Choice


class Told(NamedTuple):
    """A step of an epoch: this was said of these options."""

    arms: tuple[int, ...]
    wins: Floats


@dataclass(frozen=True)
class Epoch:
    """What an epoch begins with."""

    number: int  # of its event
    why: tuple[str, ...]
    policy: str
    parameters: dict[str, Any]
    options: tuple[int, ...]  # in the order of the policy's arms
    fingerprint: str
    rounds: int  # tickets before it
    retired: bool  # options had retired
    wins: Floats = field(repr=False)  # f8[K, K]  of these options, ties half each way
    features: list[list[float]] | None = None  # a row per option, for policies that use them

    def is_current(self) -> bool:
        """Does this process have the code that chose its slates? Not if its policy is not registered here."""
        return self.policy in POLICIES and self.fingerprint == fingerprint(self.policy)


def feature_rows(described: Sequence[list[float] | None]) -> list[list[float]] | None:
    """A row per option; None if some option has none, or another number of them (of a log: no command makes such options)."""
    rows = [row for row in described if row]
    return rows if len(rows) == len(described) and len({len(row) for row in rows}) == 1 else None


class Chooser:
    """The policy of an epoch, challengers beside it, and the options that they speak of."""

    def __init__(self, epoch: Epoch, settings: Settings) -> None:
        self.epoch, self.seed, self.slate_size = epoch, settings.seed or 0, settings.slate_size
        self._place = {option: arm for arm, option in enumerate(epoch.options)}
        K = len(epoch.options)
        claim = needed(K, settings.alpha, settings.room, epoch.retired).winner
        alpha = min(max(K * math.exp(-claim), 1e-12), 0.999)  # so that challengers work for the evidence that the verdict needs
        words = dict(epoch.parameters)
        if epoch.policy == CLOSER:
            words.setdefault("alpha", alpha)
        if not find(epoch.policy).anytime:
            words.setdefault("horizon", settings.votes or HORIZON)
        self.policy = self._make(epoch.policy, "policy", words)
        self.closer = self._make(CLOSER, "closer", {"alpha": alpha}) if epoch.policy != CLOSER else None
        self.differs: int | None = None  # the first ticket whose slate was not found again

    def _make(self, name: str, purpose: str, words: dict[str, Any]) -> Policy:
        spec = find(name)  # as data: a log may name it
        return make(
            spec,
            n_arms=len(self.epoch.options),
            slate_size=self.slate_size,
            seed=draw(self.seed, self.epoch.number, purpose),
            tally=self.epoch.wins,
            round=self.epoch.rounds,
            features=self.epoch.features if spec.features else None,
            **words,
        )

    def ask(self, number: int) -> Choice:
        """The slate of the ticket that will be event ``number``."""
        return self._asked(self.policy, POLICY) or self._ask_others(number)

    def _ask_others(self, number: int) -> Choice:
        """The slate where the policy has nothing left to compare."""
        chosen = self._asked(self.closer, CLOSER) if self.closer is not None else None
        return chosen or Choice(tuple(shuffled(self.seed, number, UNIFORM, self.epoch.options)[: self.slate_size]), UNIFORM)

    def _asked(self, policy: Policy, by: str) -> Choice | None:
        slate = policy.ask()
        if len(slate.arms) == 1:
            return None
        policy.forget(slate)
        return Choice(tuple(self.epoch.options[arm] for arm in slate.arms), by)

    def tell(self, arms: Sequence[int], wins: Floats) -> None:
        """What was said; of options that are not in this epoch nothing is told."""
        here = [a for a, option in enumerate(arms) if option in self._place]
        said = wins if len(here) == len(arms) else wins[np.ix_(here, here)]
        if len(here) > 1 and np.count_nonzero(said):
            names = [self._place[arms[a]] for a in here]
            self.policy.observe(names, said)
            if self.closer is not None:
                self.closer.observe(names, said)

    def follow(self, steps: Sequence[Asked | Told]) -> None:
        """Live through what happened, and note the first slate that comes out otherwise."""
        alone = self.policy.spec.watched or self.policy.spec.blind  # a plug-in's slates are looked at one by one
        for some in portions(steps):
            if alone or len(some) < FEW or not self._relive(some):
                for step in some:
                    if isinstance(step, Told):
                        self.tell(step.arms, step.wins)
                    elif self.ask(step.number) != step.choice:
                        self._note(step)

    def _note(self, step: Asked | Told) -> None:
        if isinstance(step, Asked) and (self.differs is None or step.number < self.differs):
            self.differs = step.number

    def _relive(self, steps: Sequence[Asked | Told]) -> bool:
        """Live through a portion in few calls. False, and nothing happens, if it speaks of options that are not in this epoch."""
        told = [step for step in steps if isinstance(step, Told)]
        n = len(told[0].arms) if told else 0
        arms = self._arms([step.arms for step in told])
        if arms.min(initial=0) < 0:
            return False
        asked = [step.choice for step in steps if isinstance(step, Asked)]
        came = iter([len(choice.arms) if choice.by == POLICY else -1 for choice in asked])
        sizes = np.array([next(came) if isinstance(step, Asked) else 0 for step in steps])
        said = arms, np.concatenate([np.zeros((0, n)), *(step.wins for step in told)]).reshape(len(told), n, n)
        policy = Journey(self.policy, sizes, self._arms([choice.arms for choice in asked]), *said)
        no_asks = np.zeros(len(told), np.int64), np.zeros((0, 0), np.int64)
        closer = Journey(self.closer, *no_asks, *said) if self.closer is not None else None
        while policy.steps < len(steps):
            alone = policy.on()
            if closer is not None:
                closer.on(policy.answers)
            last = steps[policy.steps - 1]
            if alone and isinstance(last, Asked) and self._ask_others(last.number) != last.choice:
                self._note(last)
        if policy.differs is not None:
            self._note(steps[policy.differs])
        return True

    def _arms(self, rows: Sequence[tuple[int, ...]]) -> Ints:
        """Options as the policies know them, -1 for those that are not in this epoch. Shorter rows end in -1."""
        lengths = np.array([len(row) for row in rows], np.int64)
        table = np.full((len(rows), lengths.max(initial=0)), -1)
        arms = [self._place.get(option, -1) for row in rows for option in row]
        table[np.arange(table.shape[1]) < lengths[:, None]] = arms
        return table

    def snapshot(self) -> dict[str, Any]:
        """Save both policies without their fingerprints, which every fold draws anew; tickets serve in their place."""
        policies = {"policy": self.policy, "closer": self.closer}
        return {
            name: policy and {part: value for part, value in policy.snapshot().items() if part != "fingerprint"}
            for name, policy in policies.items()
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self.policy = restore(saved["policy"])
        self.closer = restore(saved["closer"]) if self.closer else None


def portions(steps: Sequence[Asked | Told]) -> Iterator[Sequence[Asked | Told]]:
    """Cut steps into portions. All answers of a portion compare equally many options."""
    start, arms = 0, 0
    for k, step in enumerate(steps):
        here = len(step.arms) if isinstance(step, Told) else arms
        if k - start == PORTION or (arms and here != arms):
            yield steps[start:k]
            start = k
        arms = here
    yield steps[start:]


def warm(policy: str = CLOSER) -> None:
    """Load, or compile, what an arena with this policy calls."""
    epoch = Epoch(1, ("to load it",), policy, {}, (0, 1, 2), "", 0, False, np.zeros((3, 3)))
    chooser = Chooser(epoch, Settings(slate_size=3, seed=1))
    arms = chooser.ask(1).arms
    said = Told(arms, np.triu(np.ones((len(arms), len(arms))), 1))
    chooser.follow([said])
    chooser.follow([said] * FEW)
    evidence(epoch.wins, epoch.wins)
