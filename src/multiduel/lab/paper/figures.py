"""The figures of the report: regret over rounds, its distribution, regret against m, cost per round.

An algorithm has one colour and one marker in all figures. Rivals that are not in the paper are dashed. Bands and bars are 95 %
intervals of the mean, Student's t.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.display.line_styles import line_style
from multiduel.display.regret_distributions import distributions
from multiduel.display.regret_figures import Curve, Subplot, figure_style, plain, plain_ticks, small_multiples
from multiduel.display.tables import number, power_of_ten
from multiduel.engine.registry.registry import find
from multiduel.engine.simulation.result import mean_interval
from multiduel.files import whole_file
from multiduel.lab.paper.panels import short, title
from multiduel.lab.results import Line, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OURS = ("multi-sbm-feedback", "doubler-bai", "multi-rucb")  # thicker
MARKERS = "osD^vP"
DECADES = 2  # of rounds on a logarithmic axis: before, all curves of a panel are one
NARROW = "-narrow"  # after the name of a figure for narrow screens


def save(figure: Callable[[], Figure], folder: Path, name: str) -> list[Path]:
    """Draw it, and write PNG and SVG, each whole or not at all. By the canvases' own methods: ``savefig`` draws all twice."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    png, svg = paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    with figure_style():
        picture = figure()
        picture.set_dpi(160)
        if name.endswith(NARROW):  # only for the page
            picture.draw_without_rendering()
            del paths[0]
        else:
            with whole_file(png) as draft:
                FigureCanvasAgg(picture).print_png(draft, metadata={"Software": None})  # type: ignore[no-untyped-call]
        picture.set_layout_engine("none")  # it is laid out by now
        with whole_file(svg) as draft:
            FigureCanvasSVG(picture).print_svg(draft, metadata={"Date": None})  # type: ignore[no-untyped-call]
    return paths


def _grid(count: int, *, columns: int, height: float, width: float = 3.6) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    columns = min(columns, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, list(np.ravel(figure.subplots(rows, columns, squeeze=False)))[:count]


def regret(
    panels: Sequence[Panel], columns: int = 3, decades: int = DECADES, *, rivals: bool = False, narrow: bool = False
) -> Figure:
    """Draw mean regret over rounds on logarithmic axes, a panel per problem, with or without rivals that the paper does not have.
    ``narrow``: in one column, to be read on a narrow screen, with names at the lines' ends."""
    subplots = [Subplot(_curves(panel, rivals=rivals), title(panel), panel.experiment.regret) for panel in panels]
    options: dict[str, Any] = {"scale": "log", "decades": decades}
    if narrow:
        return small_multiples(subplots, columns=1, high=3.4, **options)  # type: ignore[return-value]
    words = f"{_said(panels)}{'; dashed: rivals that the paper does not have' if rivals else ''}"
    options |= {"legend": "outside", "legend_title": words}
    return small_multiples(subplots, columns=columns, wide=3.6, high=2.9, **options)  # type: ignore[return-value]


def side_by_side(panels: Sequence[Panel], *, narrow: bool = False) -> Figure:
    """Draw the paper's figures twice, on linear axes: on the left our defaults, on the right the joint interpretation, where it
    was played. The panels of both come in one list."""
    by_name = {panel.experiment.name: panel for panel in panels}
    subplots: list[Subplot | str] = []
    for name, panel in by_name.items():
        if name.startswith("joint-"):
            continue
        default = _curves(panel)
        subplots.append(Subplot(default, f"{title(panel)}: our defaults", panel.experiment.regret))
        joint = by_name.get(f"joint-{name}")
        if joint is None:
            subplots.append("" if narrow else f"{short(panel)}: no joint interpretation is played on generated rankers")
            continue
        changed = {curve.policy: curve for curve in joint.curves(OURS)}
        other = [changed[curve.policy]._replace(name=curve.name) if curve.policy in changed else curve for curve in default]
        subplots.append(Subplot(other, f"{title(panel)}: joint interpretation", panel.experiment.regret))
    options: dict[str, Any] = {"scale": "linear", "crop": True}
    if narrow:
        shown = [subplot for subplot in subplots if subplot]
        return small_multiples(shown, columns=1, high=3.2, **options)  # type: ignore[return-value]
    options |= {"legend": "outside", "legend_title": _said(panels), "share": "rows"}
    return small_multiples(subplots, columns=2, wide=5.0, high=2.6, **options)  # type: ignore[return-value]


def _curves(panel: Panel, *, rivals: bool = False) -> list[Curve]:
    """The panel's lines; those of rivals that the paper does not have only if they are asked for."""
    shown = [line.id for line in panel.lines if rivals or not line.contender.rival]
    return [curve for curve, line in zip(panel.curves(OURS), panel.lines, strict=True) if line.id in shown]


def _said(panels: Sequence[Panel]) -> str:
    """What a legend says over its entries."""
    runs = sorted({line.result.runs for panel in panels for line in panel.lines})
    joint = any(panel.experiment.name.startswith("joint-") for panel in panels)
    fewer = f" ({runs[0]} of what the joint interpretation changes)" if joint and len(runs) > 1 else ""
    again = any(panel.experiment.plays_again(contender) for panel in panels for contender in panel.experiment.contenders)
    told = "; filled markers: a run per point, told that it ends there" if again else ""
    return f"mean of {runs[-1]} runs{fewer}, 95 % band; thick: the paper's own algorithms{told}"


def _colour(line: Line) -> str:
    return line_style(line.contender.policy).colour


def _band(axes: Axes, line: Line, rounds: Ints, values: Floats) -> None:
    """Draw the interval of the mean of runs x rounds; of what is far below 0 on a logarithmic axis, only the axis's part."""
    if len(values) > 1:
        low, high = mean_interval(values)
        floor = max(float(low[low > 0].min(initial=np.inf)) / 3, 1e-3) if (low > 0).any() else 1e-3
        axes.fill_between(rounds, low.clip(floor), high.clip(floor), color=_colour(line), alpha=0.18, linewidth=0)


def bounds(rows: Sequence[tuple[Panel, str, Floats, float]], columns: int = 2) -> Figure:
    """Regret beside a theorem's bound, and growth per ln T beside its coefficient: (panel, id, bound at each checkpoint, T D_max
    per round)."""
    figure, places = _grid(2 * len(rows), columns=columns, height=3.0, width=4.6)
    for row, (panel, id, limits, worst) in enumerate(rows):
        line, (above, below) = panel.line(id), places[2 * row : 2 * row + 2]
        style: dict[str, Any] = {"marker": line_style(line.contender.policy).marker, "color": _colour(line), "label": line.label}
        rounds, middle = line.result.checkpoints, line.regret.mean(axis=0)
        _band(above, line, rounds, line.regret)
        above.plot(rounds, middle, **style)
        above.plot(rounds, limits, color="black", linestyle="--", linewidth=1.2, label="the theorem's bound")
        above.plot(
            rounds, worst * rounds, color="0.55", linestyle=":", linewidth=1.2, label=r"$T\,\Delta_{\max}$: no play can lose more"
        )
        above.set(xscale="log", yscale="log", xlabel="$T$", ylabel="regret", title=plain(short(panel)))
        steps = np.diff(np.log(rounds))
        growth = np.diff(line.regret, axis=1) / steps
        _band(below, line, rounds[1:], growth)
        below.plot(rounds[1:], growth.mean(axis=0), **style)
        below.plot(rounds[1:], np.diff(limits) / steps, color="black", linestyle="--", linewidth=1.2, label="growth of the bound")
        below.set(xscale="log", yscale="log", xlabel="$T$", ylabel=r"growth per unit of $\ln\,T$", title=plain(short(panel)))
        for axes in (above, below):
            axes.minorticks_off()
            axes.legend(frameon=False, fontsize=7.5)
            axes.grid(color="0.92", linewidth=0.6)
            axes.set_axisbelow(True)
    return figure


def distribution(panels: Sequence[Panel], columns: int = 3) -> Figure:
    """The final regret of every run, a dot each, so that two peaks show as two."""
    subplots = [Subplot(_curves(panel, rivals=True), title(panel)) for panel in panels]
    note = f"T = {power_of_ten(max(panel.experiment.horizon for panel in panels))}"
    return distributions(subplots, columns=columns, note=note)  # type: ignore[return-value]


def slate_sizes(panels: Sequence[Panel], columns: int = 2) -> Figure:
    """Regret at the end against m, a line for each policy with its parameters."""
    figure, places = _grid(len(panels), columns=columns, height=3.2, width=4.2)
    for axes, panel in zip(places, panels, strict=True):
        groups: dict[str, list[Line]] = {}
        for line in panel.lines:
            params = "".join(f", {name} = {value}" for name, value in line.contender.params.items())
            groups.setdefault(find(line.contender.policy).title + params, []).append(line)
        for group, (name, lines) in enumerate(groups.items()):
            sizes = [line.result.slate_size for line in lines]
            shown = [line.summary for line in lines]
            middle = np.array([each.mean for each in shown])
            ends = np.abs(np.array([each.interval or (each.mean, each.mean) for each in shown]).T - middle)
            varied = bool(lines[0].contender.params)
            axes.errorbar(
                sizes, middle, yerr=ends, label=name, capsize=2.5, linewidth=1.5, markersize=5,
                color=_colour(lines[0]), marker=MARKERS[group % len(MARKERS)],
                linestyle="--" if varied else "-", markerfacecolor="white" if varied else None,
            )  # fmt: skip
        ticks = sorted({line.result.slate_size for line in panel.lines})
        axes.set(xscale="log", yscale="log", title=plain(short(panel)), xlabel="slate size $m$")
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.grid(color="0.92", linewidth=0.6)
        axes.set_axisbelow(True)
    places[0].set_ylabel(plain(f"regret at T = {power_of_ten(panels[0].experiment.horizon)}"))
    handles, labels = places[0].get_legend_handles_labels()
    runs = panels[0].results[0].runs
    figure.legend(
        handles, labels, loc="outside lower center", ncols=min(columns, len(panels)), frameon=False,
        title=f"mean of {runs} runs, 95 % interval", title_fontsize=8,
    )  # fmt: skip
    return figure


def nanoseconds(panel: Panel, line: Line) -> float:
    """Simulating one round of one run, on one core, compiling not counted."""
    again = panel.experiment.plays_again(line.contender)
    rounds = float(line.result.checkpoints.sum()) if again else float(panel.experiment.horizon)
    return 1e9 * line.result.seconds / (rounds * line.result.runs)


def cost(panels: Sequence[Panel]) -> Figure:
    """Nanoseconds per round simulated: how much of a run is skipped, not only how fast the code is."""
    costs: dict[tuple[str, int], list[float]] = {}
    firsts: dict[tuple[str, int], Line] = {}  # the first line of each policy and m: for its label and colour
    for panel in panels:
        for line in panel.lines:
            if line.result.seconds == 0.0:  # taken from another panel
                continue
            key = line.contender.policy, line.result.slate_size
            costs.setdefault(key, []).append(nanoseconds(panel, line))
            firsts.setdefault(key, line)
    ordered = sorted(costs, key=lambda key: float(np.median(costs[key])))
    figure, (axes,) = _grid(1, columns=1, height=0.9 + 0.23 * len(ordered), width=6.8)
    for row, key in enumerate(ordered):
        middle = float(np.median(costs[key]))
        axes.plot([0.1, middle], [row, row], color="0.85", linewidth=1.0, zorder=1)
        axes.scatter(costs[key], [row] * len(costs[key]), s=16, color=_colour(firsts[key]), zorder=3, alpha=0.7)
        axes.text(max(costs[key]) * 1.25, row, number(middle), va="center", fontsize=7.5, color="0.3")
    labels = [firsts[key].label + (f", m = {key[1]}" if key[1] > 2 else "") for key in ordered]
    axes.set_yticks(range(len(ordered)), labels, fontsize=8)
    axes.set_ylim(len(ordered) - 0.4, -0.6)
    low = min(min(values) for values in costs.values())
    axes.set(xscale="log", xlabel="nanoseconds per round, one core")
    high = max(max(values) for values in costs.values())
    axes.set_xlim(max(low / 2, 0.01), high * 4)
    plain_ticks(axes.xaxis, axes.get_xlim())
    axes.set_title("Cost of simulating a round: a dot per panel, the number is the median")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure
