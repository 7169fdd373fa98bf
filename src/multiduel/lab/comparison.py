"""Who is best on a problem, and who cannot be told apart from it.

The promise: whoever truly has the least mean regret is among those who may be the best, in 95 of 100 experiments. A contender is
left out only if its mean is above that of the best one seen, by a one-sided bootstrap test of their ratio at 5 % over the number
of others. (So the true best is left out only if one of so many tests errs.) No verdict rests on fewer than 20 runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from multiduel.display.regret_tables import Summary
from multiduel.display.tables import between
from multiduel.engine.simulation.statistics import CONFIDENCE, FEWEST_RUNS, RESAMPLES, Estimate, ratio
from multiduel.lab.results import Line, Panel


@dataclass(frozen=True)
class Standing:
    """A contender beside the best one seen."""

    line: Line
    summary: Summary  # of its regret at the end
    times: Estimate | None  # its mean over the best's; None of the best itself
    left_out: bool  # it is told apart from the best

    @property
    def times_best(self) -> str:
        if self.times is None:
            return "1"
        ends = (max(0.0, self.times.low), self.times.high) if self.times.has_interval else None
        return f"{self.times.value:.3g} ({between(ends)})"


@dataclass(frozen=True)
class Comparison:
    """The contenders on one problem, the least mean regret first."""

    panel: Panel
    standings: tuple[Standing, ...]

    @property
    def best(self) -> Standing:
        return self.standings[0]

    @cached_property
    def may_be_best(self) -> list[str]:
        """Labels of those that are not told apart from the best."""
        return [standing.line.label for standing in self.standings if not standing.left_out]

    @property
    def verdict(self) -> str:
        few = min(standing.summary.runs for standing in self.standings)
        if len(self.standings) == 1:
            return "alone"
        if len(self.may_be_best) == 1:
            return "told apart from all others"
        others = ", ".join(self.may_be_best[1:])
        return f"not told apart from {others}" + (f" (a verdict needs {FEWEST_RUNS} runs)" if few < FEWEST_RUNS else "")


def compare(panel: Panel) -> Comparison:
    """The regret that the panel shows, at the last checkpoint."""
    first, *others = sorted(panel.lines, key=lambda line: float(line.final.mean()))
    level, resamples = (1.0 - CONFIDENCE) / max(1, len(others)), max(RESAMPLES, 40 * len(others))
    standings = [Standing(first, first.summary, None, False)]
    for line in others:
        times = ratio(line.final, first.final, resamples=resamples)
        told = times.runs >= FEWEST_RUNS and times.p_above(1.0) <= level
        standings.append(Standing(line, line.summary, times, told))
    return Comparison(panel, tuple(standings))
