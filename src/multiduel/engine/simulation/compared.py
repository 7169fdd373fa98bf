"""Regret of one policy beside that of others: ratios of means with intervals, and p-values adjusted for their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from multiduel.arrays import Floats
from multiduel.display.tables import Table, between, html_table, number, text_table
from multiduel.engine.simulation.statistics import CONFIDENCE, FEWEST_RUNS, RESAMPLES, holm, ratio


@dataclass(frozen=True)
class Compared:
    """The mean regret of one result over that of another, at the end.

    Attributes
    ----------
    ours, theirs
        Their labels.
    ratio, low, high
        The ratio of means, and its 95 % interval (studentised bootstrap).
    p
        Two-sided, of equal means; adjusted by Holm's method where several were compared at once.
    paired, correlation
        Whether runs were paired by their seeds, and how they correlate; None where that cannot be said.
    runs
        The fewest of both.
    """

    ours: str
    theirs: str
    ratio: float
    low: float
    high: float
    p: float
    paired: bool
    correlation: float | None
    runs: int

    @property
    def less(self) -> bool:
        """Whether ours has less regret, told apart at 5 % with at least 20 runs."""
        return self.told_apart and self.ratio < 1.0

    @property
    def told_apart(self) -> bool:
        """Whether the two can be told apart at 5 % with at least 20 runs."""
        return self.runs >= FEWEST_RUNS and self.p <= 1.0 - CONFIDENCE

    def __str__(self) -> str:
        few = f" (a verdict needs {FEWEST_RUNS} runs)" if self.runs < FEWEST_RUNS else ""
        verdict = ("less" if self.ratio < 1.0 else "more") if self.told_apart else f"not told apart{few}"
        pairs = "paired by seed" if self.paired else "not paired"
        interval = f"95 %: {between((max(0.0, self.low), self.high))}"
        return (
            f"{self.ours} has {self.ratio:.3g} times the regret of {self.theirs} ({interval}; p {_p(self.p)}, {pairs}, "
            f"{self.runs} runs): {verdict}"
        )

    def __repr__(self) -> str:
        return f"Compared({self})"


class Comparisons(list[Compared]):
    """One result beside several others: a list that shows as a table."""

    def table(self) -> Table:
        """Return a table with a row for each of the others."""
        head = ("compared", "with", "times the regret", "95 % interval", "p (Holm)", "paired", "runs", "verdict")
        rows = []
        for each in self:
            verdict = ("less" if each.ratio < 1.0 else "more") if each.told_apart else "not told apart"
            cells = (
                f"{each.ratio:.3g}",
                between((max(0.0, each.low), each.high)),
                _p(each.p).removeprefix("= "),
                "yes" if each.paired else "no",
            )
            rows.append((each.ours, each.theirs, *cells, str(each.runs), verdict))
        return Table(head, rows, numeric=(2, 3, 4, 6))

    def __repr__(self) -> str:
        return text_table(self.table())

    def _repr_html_(self) -> str:
        return html_table(self.table())


def compare(ours: tuple[str, Floats], others: Sequence[tuple[str, Floats]], same_seeds: Sequence[bool]) -> Comparisons:
    """Compare regrets at the end, a value per run, under their labels; runs are paired only where seeds are the same."""
    label, final = ours
    resamples = max(RESAMPLES, 40 * len(others))
    found = [
        ratio(final, other, paired=None if same else False, resamples=resamples)
        for (_, other), same in zip(others, same_seeds, strict=True)
    ]
    adjusted = holm([min(1.0, 2.0 * min(each.p_below(1.0), each.p_above(1.0))) for each in found])
    return Comparisons(
        Compared(label, name, each.value, each.low, each.high, p, each.paired, each.correlation, each.runs)
        for (name, _), each, p in zip(others, found, adjusted, strict=True)
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {number(round(value, 3))}"
