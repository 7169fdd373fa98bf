"""What a simulation measured."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from multiduel.arrays import Floats, Ints
from multiduel.display.regret_distributions import distributions
from multiduel.display.regret_figures import SIZES, Curve, Subplot, in_notebooks, regret_plot
from multiduel.display.regret_tables import Summary, regret_table
from multiduel.display.tables import Table, between, frame, html_table, number, save, text_table
from multiduel.engine.simulation.compared import Compared, Comparisons, compare
from multiduel.engine.simulation.play import KINDS
from multiduel.engine.simulation.statistics import CONFIDENCE
from multiduel.inputs import BadInput, choice, did_you_mean, finite, shortened

SHOWN = ("regret", "per-log", "runs")  # kinds of plot


def mean_interval(runs: Floats, confidence: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """Return the confidence interval of a mean that is shown everywhere: Student's t over runs.

    It can be told from two runs on, needs no luck, and anyone can compute it again. Where regret is far from a normal law and
    runs are few it covers the mean less often than it says (docs/paper.md has how often): who is better is decided by the
    bootstrap of ``engine.simulation.statistics``.

    Parameters
    ----------
    runs
        A value per run, or a row of values.
    confidence
        Between 0 and 1.

    Returns
    -------
    low, high
        Of each value. Infinite for a single run.

    Examples
    --------
    >>> low, high = mean_interval(np.array([10.0, 12.0, 14.0]))
    >>> round(float(low), 2), round(float(high), 2)
    (7.03, 16.97)
    """
    from scipy.special import stdtrit

    mean = runs.mean(axis=0)
    if len(runs) == 1:
        return np.full_like(mean, -math.inf), np.full_like(mean, math.inf)
    half = stdtrit(len(runs) - 1, 0.5 + confidence / 2.0) * runs.std(axis=0, ddof=1) / math.sqrt(len(runs))
    return mean - half, mean + half


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
    """Cumulative regret of every run at every checkpoint, with the settings that produced it.

    >>> import multiduel as md
    >>> result = md.simulate("uniform", md.synthetic(4), horizon=1000, runs=5, checkpoints=3)
    >>> result
    Result('uniform' on synthetic, K = 4, linear link: m = 2, T = 1,000, 5 runs, mean regret 140.7 (95 %: 138.9 to 142.5))
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
    label: str = ""  # what tables and figures call it: the policy, and what tells it apart from others, if not given
    first_run: int = 0  # the number of its first run

    @property
    def regret(self) -> Floats:
        """The paper's regret, runs x checkpoints: mean advantage of the best arm over the arms of the slate, summed."""
        return self.regrets["average"]

    @property
    def mean(self) -> Floats:
        """Mean regret over runs at each checkpoint."""
        return self.regret.mean(axis=0)  # type: ignore[no-any-return]

    @property
    def std(self) -> Floats:
        """Sample standard deviation over runs; 0 for a single run."""
        return np.sqrt(self.variance)

    @property
    def variance(self) -> Floats:
        """Sample variance over runs at each checkpoint; 0 for a single run."""
        return self.regret.var(axis=0, ddof=1) if self.runs > 1 else np.zeros(len(self.checkpoints))

    @property
    def final(self) -> Floats:
        """Regret at the last checkpoint, one value per run."""
        return self.regret[:, -1]

    def quantile(self, q: float | list[float], kind: str = "average") -> Floats:
        """Compute quantiles over runs at each checkpoint.

        Parameters
        ----------
        q
            One share between 0 and 1, or several.
        kind
            The kind of regret, a key of ``regrets``.

        Returns
        -------
        array
            A value per checkpoint; with several shares, a row for each.
        """
        return np.quantile(self._kind(kind), q, axis=0)

    def interval(self, confidence: float = CONFIDENCE, kind: str = "average") -> tuple[Floats, Floats]:
        """Compute a confidence interval of the mean at each checkpoint, by Student's t over runs.

        It begins at 0 or above: no arm is better than the best, so that regret is never negative. The interval of a single run
        is infinite.

        Parameters
        ----------
        confidence
            The chance that the interval holds the mean, at each checkpoint.
        kind
            The kind of regret, a key of ``regrets``.

        Returns
        -------
        tuple of arrays
            The lower and the upper ends.
        """
        if not 0.0 < finite("confidence", confidence, of="interval") < 1.0:
            raise BadInput(f"'confidence' must lie between 0 and 1. Got {confidence}.")
        low, high = mean_interval(self._kind(kind), confidence)
        return np.maximum(low, 0.0), high

    def summary(self, kind: str = "average", *, name: str | None = None, winners: Collection[int] | None = None) -> Summary:
        """Summarise regret at the last checkpoint, for tables.

        Parameters
        ----------
        kind
            The kind of regret, a key of ``regrets``.
        name
            The policy's name if not given.
        winners
            Arms that a run should recommend; by default the arm that beats all others, if there is one.
        """
        low, high = self.interval(kind=kind)
        final, several = self._kind(kind)[:, -1], self.runs > 1
        if winners is None:
            winner = self.problem.get("winner")
            winners = () if winner is None else (winner,)
        at_5, median, at_95 = (float(value) for value in np.quantile(final, [0.05, 0.5, 0.95]))
        return Summary(
            name=name or self.label or self.policy,
            problem=self.problem["label"],
            slate_size=min(self.slate_size, self.problem["n_arms"]),
            horizon=self.horizon,
            runs=self.runs,
            mean=float(final.mean()),
            interval=(float(low[-1]), float(high[-1])) if several else None,
            std=float(final.std(ddof=1)) if several else None,
            quantiles=(at_5, median, at_95),
            seconds=self.seconds,
            compile_seconds=self.compile_seconds,
            winner_found=float(np.isin(self.recommended, list(winners)).mean()) if winners else None,
        )

    def curve(self, kind: str = "average", *, name: str | None = None, **line: bool) -> Curve:
        """Make the line that figures draw.

        Parameters
        ----------
        kind
            The kind of regret, a key of ``regrets``.
        name
            The policy's name if not given.
        **line
            Whether it is ``dashed``, ``thick``, or ``points``.
        """
        low, high = self.interval(kind=kind)
        return Curve(name or self.label or self.policy, self.policy, self.checkpoints, self._kind(kind), low, high, **line)

    def _kind(self, kind: str) -> Floats:
        if kind not in self.regrets:
            raise BadInput(f"'kind' must be one of {', '.join(KINDS)}. Got {kind!r}.")
        return self.regrets[kind]

    def columns(self) -> dict[str, Any]:
        """List the numbers, a line per run and checkpoint.

        Returns
        -------
        dict
            Columns by name: label, policy, problem, slate_size, the policy's parameters, run, round, the four kinds of regret.
        """
        return Results([self]).columns()

    def _rows(self) -> dict[str, Any]:
        """The numbers of all runs."""
        marks = len(self.checkpoints)
        return {
            "run": np.repeat(np.arange(self.first_run, self.first_run + self.runs), marks),
            "round": np.tile(self.checkpoints, self.runs),
            **{kind: regret.ravel() for kind, regret in self.regrets.items()},
        }

    def to_frame(self, library: str | None = None) -> Any:
        """Make a DataFrame of the columns.

        Parameters
        ----------
        library
            "pandas" or "polars"; whichever is installed if not given.
        """
        return Results([self]).to_frame(library)

    @overload
    def compare(self, other: Result, *, regret: str = ...) -> Compared: ...
    @overload
    def compare(self, other: Sequence[Result], *, regret: str = ...) -> Comparisons: ...
    def compare(self, other: Result | Sequence[Result], *, regret: str = "average") -> Compared | Comparisons:
        """Compare the mean regret at the end with that of another result, or of several.

        Runs are paired where both have the same seeds and luck in common makes them alike; the interval of the ratio of means is
        a studentised bootstrap, as in the reports. P-values of several comparisons are adjusted by Holm's method.

        Parameters
        ----------
        other
            A result on the same problem that ends at the same round, or a list of such results.
        regret
            Which of the four kinds.

        Returns
        -------
        Compared or Comparisons
            Comparisons, a list that shows as a table, if ``other`` is a list.

        Raises
        ------
        BadInput
            If the results are of different problems, benchmarks or last checkpoints.

        Examples
        --------
        >>> import multiduel as md
        >>> results = md.simulate(["rucb", "uniform"], md.synthetic(5), horizon=2000, runs=20, checkpoints=3)
        >>> found = results["rucb"].compare(results["uniform"])
        >>> found.ratio < 1, found.less
        (True, True)
        """
        choice("regret", regret, KINDS)
        several = not isinstance(other, Result)
        others = list(other) if not isinstance(other, Result) else [other]
        for each in others:
            if not isinstance(each, Result):
                raise BadInput(f"'other' of 'compare' must be a result, or a list of results. Got {shortened(each)}.")
            _refuse_unlike(self, each)
        if not others:
            raise BadInput("'other' of 'compare' must be at least 1 result. Got none.")
        names = Results([self, *others]).labels
        paired = [(each.seed, each.first_run, each.runs) == (self.seed, self.first_run, self.runs) for each in others]
        found = compare(
            (names[0], self._kind(regret)[:, -1]),
            [(name, each._kind(regret)[:, -1]) for name, each in zip(names[1:], others, strict=True)],
            paired,
        )
        return found if several else found[0]

    def plot(self, file: Any = None, **options: Any) -> Any:
        """Draw regret over rounds into a file, or onto Axes.

        Parameters
        ----------
        file
            As for ``Results.plot``.
        **options
            As for ``Results.plot``.
        """
        return Results([self]).plot(file, **options)

    def save(self, path: Any) -> None:
        """Write the columns (.csv, .parquet) or the main numbers (.json) to a file.

        Parameters
        ----------
        path
            The file; its ending decides.
        """
        save(self.columns(), self.to_json(), path)

    def __repr__(self) -> str:
        shown = self.summary()
        spread = f" (95 %: {between(shown.interval)})" if shown.interval else ""
        facts = f"m = {shown.slate_size}, T = {shown.horizon:,}, {shown.runs} runs, mean regret {number(shown.mean)}{spread}"
        return f"Result({self.policy!r} on {shown.problem}: {facts})"

    def _repr_html_(self) -> str:
        return Results([self])._repr_html_()

    def to_json(self) -> dict[str, Any]:
        """Summarise the main numbers as plain JSON."""
        return {
            "label": self.label or self.policy,
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


def _refuse_unlike(one: Result, other: Result) -> None:
    """Refuse results whose regret cannot be compared."""
    for what, mine, its in (
        ("problem", one.problem["label"], other.problem["label"]),
        ("problem", one.problem.get("matrix_sha256"), other.problem.get("matrix_sha256")),
        ("benchmark", one.benchmark, other.benchmark),
        ("last checkpoint", int(one.checkpoints[-1]), int(other.checkpoints[-1])),
    ):
        if mine != its:
            raise BadInput(f"Results that are compared must have the same {what}. Got '{mine}' and '{its}'.")


def _column(values: Sequence[Any]) -> NDArray[Any]:
    """A value per result: numbers where all are numbers, and missing ones are not a number; else text, and missing ones None."""
    given = [value for value in values if value is not None]
    if given and all(isinstance(value, int | float) and not isinstance(value, bool) for value in given):
        whole = len(given) == len(values) and all(isinstance(value, int) for value in given)
        return np.array([math.nan if value is None else value for value in values], np.int64 if whole else np.float64)
    if len(given) == len(values) and all(isinstance(value, bool) for value in given):
        return np.array(values, np.bool_)
    if len(given) == len(values):
        return np.array([str(value) for value in values])
    return np.array([None if value is None else str(value) for value in values], object)


class Results(list[Result]):
    """The results of several policies on one problem with common random numbers: a list that prints as a table.

    >>> import multiduel as md
    >>> md.simulate(["uniform"], md.synthetic(4), horizon=1000, runs=5)
    policy   problem                        m  T      runs  mean regret  95 % interval
    uniform  synthetic, K = 4, linear link  2  1,000  5     140.7        138.9 to 142.5
    """

    COLUMNS = ("name", "problem", "m", "horizon", "runs", "mean", "interval")

    def table(self) -> Table:
        """Return a table with a row per result."""
        pairs = zip(self.labels, self, strict=True)
        return regret_table([result.summary(name=label) for label, result in pairs], self.COLUMNS)

    @property
    def labels(self) -> list[str]:
        """Names of the results: the label that was given, or the policy with the parameters that tell it apart."""
        return [result.label or self._label(number) for number, result in enumerate(self)]

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> Result: ...
    @overload
    def __getitem__(self, key: slice) -> Results: ...
    def __getitem__(self, key: SupportsIndex | slice | str) -> Result | Results:
        """Return a result by its place, its label or its policy; or a slice of them.

        >>> import multiduel as md
        >>> both = [("rucb", {"alpha": 0.51}), ("rucb", {"alpha": 1.0})]
        >>> results = md.simulate(both, md.synthetic(4), horizon=100, runs=2)
        >>> results.labels
        ['rucb, alpha = 0.51', 'rucb, alpha = 1.0']
        >>> results["rucb, alpha = 1.0"].params["alpha"]
        1.0
        """
        if isinstance(key, slice):
            return Results(super().__getitem__(key))
        if not isinstance(key, str):
            return super().__getitem__(key)
        labels = self.labels
        places = [k for k, label in enumerate(labels) if label == key]
        places = places or [k for k, result in enumerate(self) if result.policy == key]
        if len(places) == 1:
            return super().__getitem__(places[0])
        known = ", ".join(f"'{label}'" for label in labels)
        if places:
            raise BadInput(f"There are {len(places)} results of '{key}'. Name one by its label: {known}.")
        raise BadInput(f"There is no result {shortened(key)}.{did_you_mean(key, labels)} There are: {known}.")

    def columns(self) -> dict[str, Any]:
        """List the numbers, a line per result, run and checkpoint.

        Returns
        -------
        dict
            Columns by name, as of ``Result.columns``. A parameter that only some of the policies have is empty for the others.
        """
        if not self:
            return {}
        reserved = ("label", "policy", "problem", "slate_size", "run", "round", *KINDS)
        params = dict.fromkeys(name for result in self for name in result.params if name not in ("slate_size", "features"))
        facts: dict[str, list[Any]] = {
            "label": self.labels,
            "policy": [result.policy for result in self],
            "problem": [result.problem["label"] for result in self],
            "slate_size": [result.slate_size for result in self],
        }
        for name in params:
            facts[f"param_{name}" if name in reserved else name] = [result.params.get(name) for result in self]
        sizes = [result.runs * len(result.checkpoints) for result in self]
        rows = [result._rows() for result in self]
        return {name: np.repeat(_column(values), sizes) for name, values in facts.items()} | {
            name: np.concatenate([row[name] for row in rows]) for name in rows[0]
        }

    def to_frame(self, library: str | None = None) -> Any:
        """Make a DataFrame of the columns.

        Parameters
        ----------
        library
            "pandas" or "polars"; whichever is installed if not given.
        """
        return frame(self.columns(), library)

    def plot(
        self,
        file: Any = None,
        *,
        regret: str = "average",
        scale: str = "log",
        size: str | None = None,
        legend: str = "labels",
        show: str = "regret",
        kind: str | None = None,
        title: str | None = None,
        labels: Sequence[str] = (),
        dashed: Sequence[bool] = (),
        lower_bound: float | None = None,
    ) -> Any:
        """Draw mean regret over rounds, with the 95 % interval of the mean as a band.

        Parameters
        ----------
        file
            A .png, .svg or .pdf file, or Matplotlib Axes. Without it the Figure is returned.
        regret
            Which of the four kinds.
        scale
            "log" (both axes) or "linear".
        size
            "single" or "double": as wide as a column of a paper, or as both.
        legend
            "labels" (names at the lines' ends), "inside" or "outside".
        show
            "regret" (over rounds), "per-log" (the same over ln t), or "runs" (the regret of every run at the end).
        kind
            "png", "svg" or "pdf"; by the file's ending if not given.
        title
            The problem and the number of runs if not given.
        labels
            Names of the lines; the policies, and what tells them apart, if not given.
        dashed
            Of each line whether it is dashed.
        lower_bound
            A constant of ln T, such as that of ``theory.multi_dueling_lower_bound``: what no consistent policy stays below for
            ever, drawn dotted.

        Returns
        -------
        Figure or None
            The figure, if there is no file.
        """
        choice("regret", regret, KINDS)
        if labels and len(labels) != len(self):
            raise BadInput(f"'labels' of a plot must be {len(self)}, one for each result. Got {len(labels)}.")
        curves = [
            result.curve(regret, name=labels[k] if labels else self.labels[k], dashed=any(dashed[k : k + 1]))
            for k, result in enumerate(self)
        ]
        words = title if title is not None else self._title()
        shown = Subplot(curves, words, regret, lower_bound)
        figure: Any
        if choice("show", show, SHOWN) == "runs":
            if hasattr(file, "plot"):
                raise BadInput("A plot of every run is drawn into a file, or returned, not onto Axes.")
            wide = SIZES[choice("size", size, SIZES)][0] if size else 6.4
            figure = distributions([shown], file, kind=kind, scale=scale, columns=1, wide=wide)
        else:
            shown = shown.over_log() if show == "per-log" else shown
            figure = regret_plot(shown, file, kind=kind, scale=scale, size=size, legend=legend)
        return None if figure is None else in_notebooks(figure)

    def _title(self) -> str:
        if not self:
            return ""
        first = self[0]
        return f"{first.problem['label']}, {f'mean of {first.runs} runs, 95 % band' if first.runs > 1 else 'one run'}"

    def _label(self, number: int) -> str:
        """The policy; with its slate size where those of the results differ, and with what differs where a policy comes twice."""
        result = list.__getitem__(self, number)
        sizes = {other.params.get("slate_size", 2) for other in self}
        size = result.params.get("slate_size", 2)
        name = result.policy + (f", m = {size}" if len(sizes) > 1 and size > 2 else "")
        same = [other for other in self if other.policy == result.policy]
        differing = [
            f"{key} = {value}"
            for key, value in result.params.items()
            if key != "slate_size" and any(other.params.get(key) != value for other in same)
        ]
        return ", ".join([name, *differing])

    def save(self, path: Any) -> None:
        """Write the columns (.csv, .parquet) or the main numbers (.json) to a file.

        Parameters
        ----------
        path
            The file; its ending decides.
        """
        save(self.columns(), [result.to_json() for result in self], path)

    def __repr__(self) -> str:
        return text_table(self.table())

    def _repr_html_(self) -> str:
        return html_table(self.table())
