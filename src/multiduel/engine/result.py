"""What a simulation measured."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiduel.arrays import Floats, Ints
from multiduel.engine.frames import frame, html_table, save, text_table
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


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """Cumulative regret of every run at every checkpoint, and how it was got.

    >>> import multiduel as md
    >>> result = md.simulate("uniform", md.synthetic(4), horizon=1000, runs=5, checkpoints=3)
    >>> result
    Result('uniform' on synthetic, K = 4, linear link: m = 2, T = 1,000, 5 runs, mean regret 140.7 (95%: 138.9 to 142.5))
    >>> result.columns()["round"][:3].tolist()
    [1, 31, 1000]
    """

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
        """Confidence interval of the mean at each checkpoint (Student's t over runs; infinite for a single run).

        It begins at 0 or above: no arm is better than the best, so that regret is never negative.
        """
        if not 0.0 < finite("confidence", confidence, of="interval") < 1.0:
            raise BadInput(f"'confidence' must lie between 0 and 1. Got {confidence}.")
        from scipy.special import stdtrit

        regret = self._kind(kind)
        mean = regret.mean(axis=0)
        if self.runs == 1:
            return np.zeros_like(mean), np.full_like(mean, math.inf)
        half = stdtrit(self.runs - 1, 0.5 + confidence / 2.0) * regret.std(axis=0, ddof=1) / math.sqrt(self.runs)
        return np.maximum(mean - half, 0.0), mean + half

    def _kind(self, kind: str) -> Floats:
        if kind not in self.regrets:
            raise BadInput(f"'kind' must be one of {', '.join(KINDS)}. Got {kind!r}.")
        return self.regrets[kind]

    def columns(self) -> dict[str, Any]:
        """A line per run and checkpoint: policy, run, round, the four kinds of regret."""
        marks = len(self.checkpoints)
        return {
            "policy": np.repeat(self.policy, self.runs * marks),
            "run": np.repeat(np.arange(self.runs), marks),
            "round": np.tile(self.checkpoints, self.runs),
            **{kind: regret.ravel() for kind, regret in self.regrets.items()},
        }

    def to_frame(self, library: str | None = None) -> Any:
        """The columns as a DataFrame of "pandas" or "polars", of whichever is installed if not given."""
        return Results([self]).to_frame(library)

    def plot(self, file: Any = None, **looks: Any) -> Any:
        """Draw regret over rounds into a file, or onto Axes: see ``Results.plot``."""
        return Results([self]).plot(file, **looks)

    def save(self, path: Any) -> None:
        """Write the columns (.csv, .parquet) or the main numbers (.json)."""
        save(self.columns(), self.to_json(), path)

    def __repr__(self) -> str:
        policy, where, *rest = Results([self]).rows()[0]
        m, horizon, runs, mean, interval = rest
        spread = f" (95%: {interval})" if self.runs > 1 else ""
        return f"Result({policy!r} on {where}: m = {m}, T = {horizon}, {runs} runs, mean regret {mean}{spread})"

    def _repr_html_(self) -> str:
        return Results([self])._repr_html_()

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


def _png(figure: Any) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=120)
    return file.getvalue()


class Results(list[Result]):
    """What several policies did on the same problem with the same luck: a list of results, that shows as a table.

    >>> import multiduel as md
    >>> md.simulate(["uniform"], md.synthetic(4), horizon=1000, runs=5)
    policy   problem                        m  T      runs  mean regret  95% interval
    uniform  synthetic, K = 4, linear link  2  1,000  5     140.7        138.9 to 142.5
    """

    HEAD = ("policy", "problem", "m", "T", "runs", "mean regret", "95% interval")

    def rows(self) -> list[tuple[str, ...]]:
        """A line per result, as HEAD says."""
        lines: list[tuple[str, ...]] = []
        for result in self:
            low, high = (float(bound[-1]) for bound in result.interval())
            interval = f"{low:.4g} to {high:.4g}" if result.runs > 1 else "-"
            m = min(result.slate_size, result.problem["n_arms"])
            facts = (str(m), f"{result.horizon:,}", str(result.runs), f"{result.mean[-1]:.4g}", interval)
            lines.append((result.policy, result.problem["label"], *facts))
        return lines

    def columns(self) -> dict[str, Any]:
        """A line per policy, run and checkpoint."""
        parts = [result.columns() for result in self]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}

    def to_frame(self, library: str | None = None) -> Any:
        """The columns as a DataFrame of "pandas" or "polars", of whichever is installed if not given."""
        return frame(self.columns(), library)

    def plot(self, file: Any = None, **looks: Any) -> Any:
        """Draw regret over rounds: into a .png, .svg or .pdf file, onto ``file`` if it is Matplotlib Axes, or, without one, as a
        Figure that is returned. ``regret`` is any of the four kinds, ``scale`` "log" or "linear", ``size`` "single" or "double"
        (column)."""
        from multiduel.engine.figures import regret_plot

        figure: Any = regret_plot(self, file, **looks)
        if figure is not None:
            figure._repr_png_ = lambda: _png(figure)  # a notebook shows it, which knows only pyplot's figures by itself
        return figure

    def save(self, path: Any) -> None:
        """Write the columns (.csv, .parquet) or the main numbers (.json)."""
        save(self.columns(), [result.to_json() for result in self], path)

    def __repr__(self) -> str:
        return text_table(self.HEAD, self.rows())

    def _repr_html_(self) -> str:
        return html_table(self.HEAD, self.rows())
