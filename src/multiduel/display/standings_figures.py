"""Figures of standings, from plain arrays: strengths with their intervals, and who beat whom how often.

Matplotlib is imported when a figure is drawn, and not before; ``strengths_svg`` needs none.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from multiduel.arrays import Floats
from multiduel.display.regret_figures import UNDATED, check, figure_style, in_notebooks, plain
from multiduel.inputs import BadInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, GREEN, GREY = "#0072b2", "#009e73", "#8b949e"
ROW = 0.21  # inches of an option
MOST_HIGH = 60.0
NUMBERED = 14  # options up to which squares hold numbers
LONGEST = 34  # letters of a name
Target = str | Path | BinaryIO | None


def strengths_plot(
    names: Sequence[str],
    ranks: Sequence[str],
    strength: Floats,
    low: Floats,
    high: Floats,
    *,
    best: int | None = None,
    title: str = "",
    file: Target | Axes = None,
) -> Figure | None:
    """Draw strengths with their intervals, the first on top.

    Parameters
    ----------
    names, ranks, strength, low, high
        Of each option, in the order to draw them; ``low`` and ``high`` are nan where there is no interval.
    best
        Which of them is best for certain.
    title
        Of the figure.
    file
        A .png, .svg or .pdf file, or Matplotlib Axes. Without it the Figure is returned.

    Returns
    -------
    Figure or None
        The figure, if there is no file.
    """
    K = _some(names)

    def draw(axes: Axes) -> None:
        y = np.arange(K)
        sure = ~np.isnan(low)
        colours = [GREEN if k == best else BLUE for k in range(K)]
        axes.hlines(y[sure], low[sure], high[sure], colors=[colours[k] for k in np.flatnonzero(sure)], lw=1.6)
        axes.scatter(strength[sure], y[sure], s=16, c=[colours[k] for k in np.flatnonzero(sure)], zorder=3)
        axes.scatter(strength[~sure], y[~sure], s=16, facecolors="none", edgecolors=GREY, zorder=3)
        axes.axvline(0.0, color=GREY, lw=0.7, ls=":", zorder=0)
        axes.set_yticks(y, [plain(f"{_short(name)}   {rank}") for name, rank in zip(names, ranks, strict=True)])
        axes.set_ylim(K - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("strength (0: the average shown; +0.69: twice the odds)")
        axes.set_title(plain(title))

    return _drawn(draw, (6.4, min(MOST_HIGH, 1.0 + ROW * K)), file)


def pairs_plot(names: Sequence[str], above: Floats, ties: Floats, *, title: str = "", file: Target = None) -> Figure | None:
    """Draw how often each option was placed above each other, and of how many comparisons.

    Parameters
    ----------
    names, above, ties
        Of the options in the order to draw them, with the counts of their pairs.
    title
        Of the figure.
    file
        A .png, .svg or .pdf file. Without it the Figure is returned.

    Returns
    -------
    Figure or None
        The figure, if there is no file.
    """
    K = _some(names)
    met = above + above.T + ties
    share = np.divide(above + 0.5 * ties, met, out=np.full(met.shape, np.nan), where=met > 0)
    few = K <= NUMBERED
    side = max(2.6, 0.5 * K if few else 0.16 * K)

    def draw(*both: Axes) -> None:
        from matplotlib.colors import LogNorm, Normalize

        for axes, table, norm, words in zip(
            both,
            (share, np.where(met > 0, met, np.nan)),
            (Normalize(0.0, 1.0), LogNorm(1.0, max(2.0, float(met.max())))),
            ("row above column, share", "comparisons"),
            strict=False,
        ):
            image = axes.imshow(table, cmap="PuOr" if table is share else "Greys", norm=norm, interpolation="nearest")
            axes.set_facecolor("#f3f4f6")
            numbers = [str(k + 1) for k in range(K)]
            step, wide = (1 if K <= 60 else 10), (1 if K <= 30 else 10)
            axes.set_xticks(np.arange(K)[wide - 1 :: wide], numbers[wide - 1 :: wide])
            axes.set_yticks(np.arange(K)[::step], [plain(f"{_short(names[k])}  {k + 1}") for k in range(0, K, step)])
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
            axes.set_title(plain(f"{title + ': ' if title and axes is both[0] else ''}{words}"))
            axes.figure.colorbar(image, ax=axes, shrink=0.7)
        if few:
            for i in range(K):
                for j in range(K):
                    if met[i, j] > 0:
                        dark = abs(share[i, j] - 0.5) > 0.3
                        words = f"{100 * share[i, j]:.0f}\n{met[i, j]:,.0f}"
                        both[0].text(j, i, words, ha="center", va="center", fontsize=6.5, color="white" if dark else "black")

    size = (side + 2.6, side + 0.6) if few else (2 * (side + 2.2), side + 0.6)
    return _drawn(draw, size, file, panels=1 if few else 2)


def _some(names: Sequence[str]) -> int:
    if not names:
        raise BadInput("A plot must show at least 1 option. Got none.")
    return len(names)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _drawn(draw: Callable[..., None], size: tuple[float, float], file: Any, panels: int = 1) -> Figure | None:
    if hasattr(file, "plot"):  # Axes of the caller's own, in the caller's style
        draw(file)
        return None
    kind = Path(file).suffix[1:] if isinstance(file, str | Path) else "png"
    check(f"plot.{kind}")
    from matplotlib.figure import Figure

    with figure_style():
        figure = Figure(figsize=size, layout="constrained")
        draw(*(figure.add_subplot(1, panels, k + 1) for k in range(panels)))
        if file is None:
            return in_notebooks(figure)
        figure.savefig(file, format=kind, dpi=160, metadata=UNDATED[kind])
    return None


def strengths_svg(
    names: Sequence[str], ranks: Sequence[str], strength: Floats, low: Floats, high: Floats, best: int | None = None
) -> str:
    """Draw the same as an SVG element, for a page.

    Parameters
    ----------
    names, ranks, strength, low, high, best
        As for ``strengths_plot``.

    Returns
    -------
    str
        The element.
    """
    row, left, right, wide = 22, 270, 16, 760
    ends = np.concatenate([strength, low[~np.isnan(low)], high[~np.isnan(high)], [0.0]])
    least, most = float(ends.min()), float(ends.max())
    scale = (wide - left - right) / max(most - least, 1e-9)
    height = row * len(names) + 34

    def x(value: float) -> str:
        return f"{left + (value - least) * scale:.1f}"

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" font-family="system-ui" font-size="12" '
        f'viewBox="0 0 {wide} {height}">',
        "<title>Strengths with their intervals</title>",
        f'<line x1="{x(0)}" x2="{x(0)}" y1="4" y2="{height - 26}" stroke="{GREY}" stroke-dasharray="3 4"/>',
    ]
    for k, name in enumerate(names):
        y, colour = 16 + row * k, GREEN if k == best else BLUE
        words = f"{html.escape(_short(name))}  <tspan fill='#57606a'>{html.escape(ranks[k])}</tspan>"
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{words}</text>')
        if np.isnan(low[k]):
            parts.append(f'<circle cx="{x(strength[k])}" cy="{y}" r="4" fill="none" stroke="{GREY}"/>')
        else:
            parts.append(f'<path d="M{x(low[k])},{y}H{x(high[k])}" stroke="{colour}" stroke-width="2.5"/>')
            parts.append(f'<circle cx="{x(strength[k])}" cy="{y}" r="4" fill="{colour}"/>')
    for value in (least, 0.0, most):
        parts.append(f'<text x="{x(value)}" y="{height - 8}" text-anchor="middle">{value:+.1f}</text>')
    return "\n".join([*parts, "</svg>"])
