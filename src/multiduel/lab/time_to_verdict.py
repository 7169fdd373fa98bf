"""How soon verdicts fell: a table and a figure of simulations until a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from multiduel.display.line_styles import line_styles
from multiduel.display.regret_figures import UNDATED, check, figure_style, plain
from multiduel.display.tables import Table
from multiduel.engine.simulation.result import Result, Settlement
from multiduel.inputs import BadInput

COLUMNS = ("policy", "m", "settled", "answers, median", "10 % to 90 %", "rounds", "wrong", "regret by then", "seconds")


def settlement_table(results: Sequence[Result]) -> Table:
    """A line per result: how many runs came to a verdict, after how many answers, how many of them wrong."""
    first = results[0]
    title = (
        f"Answers to a verdict on {first.problem['label']}: T = {first.horizon:,} at most, {first.runs} runs, seed {first.seed}"
    )
    rows = []
    for result in results:
        settlement = _of(result)
        at_10, median, at_90 = (_quantile(settlement.answers, q) for q in (0.1, 0.5, 0.9))
        rows.append(
            [
                result.policy,
                str(_m(result)),
                f"{int(settlement.settled.sum())} of {result.runs}",
                median,
                f"{at_10} to {at_90}",
                _quantile(settlement.rounds, 0.5),
                f"{int(settlement.wrong.sum())} of {int(settlement.settled.sum())}",
                f"{float(np.median(settlement.regret)):,.4g}",
                f"{result.seconds:.2f}",
            ]
        )
    return Table(COLUMNS, rows, range(1, len(COLUMNS)), title)


def settlement_plot(results: Sequence[Result], file: str | Path | BinaryIO, *, kind: str | None = None) -> None:
    """Draw, over the number of answers, the share of runs that have come to a verdict."""
    kind = kind or (Path(file).suffix[1:] if isinstance(file, str | Path) else "png")
    check(f"plot.{kind}")
    if not results:
        raise BadInput("A plot must show at least 1 result. Got none.")
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator

    with figure_style():
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.add_subplot()
        chosen = zip(results, line_styles([result.policy for result in results]), strict=True)
        for result, style in sorted(chosen, key=lambda pair: float(np.median(_of(pair[0]).answers))):  # as they end, first first
            answers = np.sort(_of(result).answers)
            answers = answers[np.isfinite(answers)]
            steps = np.arange(1, len(answers) + 1) / result.runs
            name = result.policy + (", closing" if "closing" in result.params else "")
            axes.step(
                np.concatenate([answers[:1], answers]),
                np.concatenate([[0.0] * len(answers[:1]), steps]),
                where="post",
                color=style.colour,
                marker=style.marker,
                markevery=max(1, len(answers) // 4),
                markerfacecolor="white",
                markersize=4,
                linewidth=1.5,
                label=plain(f"{name}, m = {_m(result)}"),
            )
        first = results[0]
        axes.set(xscale="log", ylim=(0.0, 1.02), xlabel="answers", ylabel="share of runs with a verdict")
        axes.set_title(plain(f"{first.problem['label']}, {first.runs} runs"))
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.grid(which="major", color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        figure.savefig(file, format=kind, dpi=300, metadata=UNDATED[kind])


def _of(result: Result) -> Settlement:
    if result.settlement is None:
        raise BadInput(f"'{result.policy}' was not simulated until a verdict.")
    return result.settlement


def _m(result: Result) -> int:
    """Seats of a slate: never more than there are arms."""
    return min(result.slate_size, int(result.problem["n_arms"]))


def _quantile(values: np.ndarray, q: float) -> str:
    """Of runs that did not come to a verdict it is only known that they took longer."""
    value = float(np.quantile(values, q, method="higher"))
    return f"{value:,.0f}" if math.isfinite(value) else "open"
