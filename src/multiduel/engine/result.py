"""What a simulation measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiduel.arrays import Floats, Ints
from multiduel.engine.play import KINDS
from multiduel.inputs import BadInput, finite


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """When the verdict fell in each run, and what it cost until then."""

    error: float  # what the verdict promises
    kind: tuple[str, ...]  # per run: "winner", "cycle", or "open" at the horizon
    arm: Ints  # i8[runs]  the winner; meaningless in runs without one
    rounds: Floats  # f8[runs]  until the verdict; inf if it is open
    answers: Floats  # f8[runs]  rounds in which something was compared, until the verdict; inf if it is open
    regret: Floats  # f8[runs]  until the verdict, or the horizon
    wrong: NDArray[np.bool_]  # bool[runs]  another winner than the true one, or a cycle where there is a winner

    @property
    def settled(self) -> NDArray[np.bool_]:
        return np.isfinite(self.rounds)

    def to_json(self) -> dict[str, Any]:
        """Runs that are open at the horizon have null."""
        numbers = {name: [x if math.isfinite(x) else None for x in getattr(self, name)] for name in ("rounds", "answers")}
        return numbers | {
            "error": self.error,
            "kind": list(self.kind),
            "arm": self.arm.tolist(),
            "regret": self.regret.tolist(),
            "wrong": self.wrong.tolist(),
        }


@dataclass(frozen=True, kw_only=True)
class Result:
    """Cumulative regret of every run at every checkpoint, and how it was got."""

    policy: str
    params: dict[str, Any]
    problem: dict[str, Any]
    slate_size: int
    horizon: int
    runs: int
    seed: int
    benchmark: str
    checkpoints: Ints  # rounds
    regrets: dict[str, Floats]  # kind -> f8[runs, checkpoints]
    recommended: Ints  # i8[runs]  the arm each run would bet on at the end
    events: Ints  # i8[runs]  asks: what the simulation's cost grows with
    seconds: float  # simulation
    compile_seconds: float  # compiling, or loading what was compiled before
    settlement: Settlement | None = None  # of a simulation until a verdict

    @property
    def regret(self) -> Floats:
        """The paper's: mean advantage of the best arm over the arms of the slate, summed. runs x checkpoints."""
        return self.regrets["average"]

    @property
    def mean(self) -> Floats:
        return self.regret.mean(axis=0)  # type: ignore[no-any-return]

    @property
    def std(self) -> Floats:
        """Sample standard deviation over runs; 0 for a single run."""
        return np.sqrt(self.variance)

    @property
    def variance(self) -> Floats:
        return self.regret.var(axis=0, ddof=1) if self.runs > 1 else np.zeros(len(self.checkpoints))

    @property
    def final(self) -> Floats:
        """Regret at the last checkpoint, one value per run."""
        return self.regret[:, -1]

    def quantile(self, q: float | list[float], kind: str = "average") -> Floats:
        return np.quantile(self._kind(kind), q, axis=0)

    def interval(self, confidence: float = 0.95, kind: str = "average") -> tuple[Floats, Floats]:
        """Confidence interval of the mean at each checkpoint (Student's t over runs; infinite for a single run)."""
        if not 0.0 < finite("confidence", confidence, of="interval") < 1.0:
            raise BadInput(f"'confidence' must lie between 0 and 1. Got {confidence}.")
        from scipy.special import stdtrit

        regret = self._kind(kind)
        mean = regret.mean(axis=0)
        if self.runs == 1:
            return np.full_like(mean, -math.inf), np.full_like(mean, math.inf)
        half = stdtrit(self.runs - 1, 0.5 + confidence / 2.0) * regret.std(axis=0, ddof=1) / math.sqrt(self.runs)
        return mean - half, mean + half

    def _kind(self, kind: str) -> Floats:
        if kind not in self.regrets:
            raise BadInput(f"'kind' must be one of {', '.join(KINDS)}. Got {kind!r}.")
        return self.regrets[kind]

    def to_json(self) -> dict[str, Any]:
        """The main numbers as plain JSON."""
        return {
            "policy": self.policy,
            "params": self.params,
            "problem": self.problem,
            "slate_size": self.slate_size,
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
            "benchmark": self.benchmark,
            "checkpoints": self.checkpoints.tolist(),
            "mean": self.mean.tolist(),
            "std": self.std.tolist(),
            "final": self.final.tolist(),
            "final_by_kind": {kind: values[:, -1].tolist() for kind, values in self.regrets.items()},
            "recommended": self.recommended.tolist(),
            "events": self.events.tolist(),
            "seconds": self.seconds,
            "compile_seconds": self.compile_seconds,
            **({"settlement": self.settlement.to_json()} if self.settlement else {}),
        }
