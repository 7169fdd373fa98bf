"""Figures of the regret of every single run at the end, from plain arrays: a dot per run, so that two clusters show as two."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from multiduel.arrays import Floats
from multiduel.display.line_styles import line_styles
from multiduel.display.regret_figures import UNDATED, Subplot, figure_style, plain, plain_ticks, refuse, set_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def distributions(
    subplots: Sequence[Subplot],
    file: str | Path | BinaryIO | None = None,
    *,
    kind: str | None = None,
    scale: str = "log",
    columns: int = 2,
    wide: float = 3.6,
    high: float | None = None,
    note: str = "",
    style: Any = None,
) -> Figure | None:
    """Draw the regret of every run at the end: a dot each, sorted by median, with the median and the range from 5 % to 95 %.

    Parameters
    ----------
    subplots, file, kind, style
        As of ``regret_figures.small_multiples``.
    scale
        Of the axis of regret: "log" or "linear".
    columns, wide, high
        Subplots in a row at most, and inches of each; as high as its lines need if not given.
    note
        Words below the figure, before those on what is drawn.

    Returns
    -------
    Figure or None
        The figure, if there is no file.
    """
    kind = kind or (Path(file).suffix[1:] if isinstance(file, str | Path) else "png")
    refuse(subplots, kind, scale)
    from matplotlib.figure import Figure

    columns = min(columns, len(subplots))
    rows = -(-len(subplots) // columns)
    most = max(len(subplot.curves) for subplot in subplots)
    with figure_style(**(style or {})):
        figure = Figure(figsize=(wide * columns, (high or 0.9 + 0.24 * most) * rows), layout="constrained")
        for position, subplot in enumerate(subplots):
            axes = figure.add_subplot(rows, columns, position + 1)
            _draw(axes, subplot, scale)
            axes.set_xlabel("regret at the end" if position + columns >= len(subplots) else "")
        words = "a dot per run; black: median; grey line: 5 % to 95 %; sorted by median"
        figure.supxlabel(plain(f"{note}; {words}" if note else words), fontsize=min(8.0, 2.1 * wide * columns))
        if file is None:
            return figure
        figure.savefig(file, format=kind, dpi=300 if len(subplots) == 1 else 160, metadata=UNDATED[kind])
    return None


def _draw(axes: Axes, subplot: Subplot, scale: str) -> None:
    styles = line_styles([curve.policy for curve in subplot.curves])
    pairs = sorted(zip(subplot.curves, styles, strict=True), key=lambda pair: float(np.median(pair[0].regret[:, -1])))
    for row, (curve, style) in enumerate(pairs):
        final = curve.regret[:, -1]
        if scale == "log":
            final = final[final > 0.0]  # a run without regret has no place on a logarithmic axis
            if not len(final):
                continue
        axes.scatter(final, row + _spread(len(final)), s=7, color=style.colour, alpha=0.55, linewidths=0, zorder=3)
        low, middle, high = np.quantile(final, [0.05, 0.5, 0.95])
        axes.plot([low, high], [row, row], color="0.35", linewidth=0.8, zorder=2)
        axes.plot([middle, middle], [row - 0.33, row + 0.33], color="black", linewidth=1.4, zorder=4)
    axes.set_yticks(range(len(pairs)), [plain(curve.name) for curve, _ in pairs], fontsize=8)
    axes.set_ylim(len(pairs) - 0.4, -0.6)
    axes.set(xscale=scale)
    set_title(axes, subplot.title)
    if scale == "log":
        plain_ticks(axes.xaxis, axes.get_xlim())
    axes.grid(axis="x", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)


def _spread(count: int) -> Floats:
    """Places around a row: the golden ratio fills them evenly, the same each time."""
    return np.asarray((np.arange(count) * 0.6180339887) % 1.0 * 0.56 - 0.28)
