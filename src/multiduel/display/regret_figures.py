"""Figures of regret over rounds, from plain arrays. Matplotlib is imported when a figure is drawn, and not before.

A policy has the same colour and marker in all figures. Bands are 95 % intervals of the mean. Lines of policies that are told
their horizon, and so are played anew for each point, have filled markers, one at each point if these are few; others have a few
open ones.
"""

from __future__ import annotations

import importlib.util
import io
import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multiduel.arrays import Floats, Ints
from multiduel.display.line_styles import DASHED, LineStyle, line_styles, marker_positions
from multiduel.display.tables import number as in_words
from multiduel.inputs import BadInput, choice, install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

KINDS = ("png", "svg", "pdf")
SIZES = {"single": (3.4, 2.5), "double": (7.0, 3.4)}  # inches: one column of a paper, or both
UNDATED: Any = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}  # the same file every time
SCALES = ("log", "linear")
LEGENDS = ("labels", "inside", "outside")  # names at the lines' ends, a legend in the first axes, one below all
SHARES = ("none", "rows", "all")  # which axes have the same limits

STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "svg.hashsalt": "multiduel",  # the same figure is the same file
    "pdf.fonttype": 42,  # TrueType: many places of publication refuse Type 3, Matplotlib's default
    "ps.fonttype": 42,
}
LINE, THICK = 1.5, 2.3  # points
LABEL = 8.5  # points of a label, and of the smallest
SMALLEST_LABEL = 6.5
LEADER = 0.03  # from a line's end to its label, as a share of the axes' width
DECADES = 4  # of rounds on a logarithmic axis: before them every policy is still guessing
MOST_POINTS = 24  # of a line with a marker at each: more would hide the line
FAR_ABOVE = 5.0  # times the next highest end: a line that ends there is cropped, if lines are


class Curve(NamedTuple):
    """A line of a regret figure: the regret of a policy's runs, and the interval of their mean."""

    name: str
    policy: str
    rounds: Ints  # i8[checkpoints]
    regret: Floats  # f8[runs, checkpoints]
    low: Floats  # f8[checkpoints]  of the interval of the mean
    high: Floats  # f8[checkpoints]
    dashed: bool = False
    thick: bool = False
    points: bool = False  # each checkpoint was played anew, by a policy that was told that it ends there

    @property
    def runs(self) -> int:
        return len(self.regret)

    @property
    def end(self) -> int:
        return int(self.rounds[-1])

    @property
    def mean(self) -> Floats:
        return self.regret.mean(axis=0)  # type: ignore[no-any-return]


class Subplot(NamedTuple):
    """Curves that are drawn onto one pair of axes."""

    curves: Sequence[Curve]
    title: str
    regret: str = "average"  # the kind of regret
    lower_bound: float | None = None  # a constant of ln T, drawn dotted
    per_log: bool = False  # its curves are regret over ln t

    def over_log(self) -> Subplot:
        """Return the same as regret over ln t, which stays level where regret grows like ln t. It begins at round 3."""
        curves = []
        for curve in self.curves:
            late = curve.rounds >= 3
            if not late.any():
                raise BadInput("Regret over ln t needs a checkpoint at round 3 or later. Got none.")
            rounds, logs = curve.rounds[late], np.log(curve.rounds[late])
            low, high = curve.low[late] / logs, curve.high[late] / logs
            curves.append(curve._replace(rounds=rounds, regret=curve.regret[:, late] / logs, low=low, high=high))
        return self._replace(curves=curves, per_log=True)


def check(path: str, scale: str = "log") -> None:
    """Refuse what could not be drawn, before the work whose result it would show."""
    if Path(path).suffix[1:] not in KINDS:
        raise BadInput(f"The file of a plot must end in .png, .svg or .pdf. Got '{path}'.")
    if scale not in SCALES:
        raise BadInput(f"'scale' of a plot must be log or linear. Got '{scale}'.")
    if importlib.util.find_spec("matplotlib") is None:
        raise BadInput(f"Plots need Matplotlib, which is not installed. Try: {install('lab')}.")


def in_notebooks(figure: Figure) -> Figure:
    """The figure, which a notebook then shows: by themselves notebooks know only those of pyplot."""

    def png() -> bytes:
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=120)
        return file.getvalue()

    figure._repr_png_ = png  # type: ignore[attr-defined]
    return figure


@contextmanager
def figure_style(**options: Any) -> Iterator[None]:
    """Draw in our style with these options of Matplotlib's, whatever the machine prefers."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()  # the same figure on every machine
        mpl.rcParams.update(STYLE | options)
        yield


def regret_plot(
    subplot: Subplot,
    file: str | Path | BinaryIO | Axes | None = None,
    *,
    kind: str | None = None,
    scale: str = "log",
    size: str | None = None,
    legend: str = "labels",
) -> Figure | None:
    """Draw mean regret over rounds, with the interval of the mean as a band and names at the lines' ends.

    Parameters
    ----------
    subplot
        What is drawn.
    file
        Where: a file, or Matplotlib Axes, in whose style it is drawn. Without it the Figure is returned.
    kind
        "png", "svg" or "pdf"; by the file's ending if not given.
    scale
        "log" (both axes) or "linear".
    size
        "single" or "double": as wide as a column of a paper, or as both.
    legend
        As of ``small_multiples``.

    Returns
    -------
    Figure or None
        The figure, if there is no file.

    Raises
    ------
    BadInput
        If there is nothing to draw, or no way to draw it.
    """
    if size is not None:
        choice("size", size, SIZES)
    if hasattr(file, "plot"):  # Axes of the caller's own, in the caller's style
        axes: Any = file
        refuse([subplot], "png", scale)
        _draw(axes, subplot, scale, DECADES, crop=False)
        axes.figure.canvas.figure.draw_without_rendering()  # a canvas that is none draws nothing
        _label_ends(axes, subplot.curves)
        return None
    wide, high = SIZES[size] if size else (6.4, 3.6)
    small = {"font.size": 8, "axes.titlesize": 8} if size == "single" else {}
    return small_multiples([subplot], file, kind=kind, scale=scale, legend=legend, wide=wide, high=high, style=small)


def small_multiples(
    subplots: Sequence[Subplot | str],
    file: str | Path | BinaryIO | None = None,
    *,
    kind: str | None = None,
    scale: str = "log",
    decades: int = DECADES,
    crop: bool = False,
    legend: str = "labels",
    legend_title: str = "",
    share: str = "none",
    columns: int = 2,
    wide: float = 4.4,
    high: float = 3.0,
    style: Any = None,
) -> Figure | None:
    """Draw several subplots side by side.

    Parameters
    ----------
    subplots
        What is drawn; words instead of a subplot leave its place empty but for the words.
    file, kind, scale
        As of ``regret_plot``; no Axes.
    decades
        How many of rounds a logarithmic axis shows, the last ones.
    crop
        On linear axes: where one line ends far above all others, draw only as high as those, and say where it ends.
    legend
        "labels" (names at the lines' ends), "inside" (a legend in the first axes), or "outside" (one legend below).
    legend_title
        Words over the legend.
    share
        Which subplots have the same axes: "none", "rows" (those of a row), or "all".
    columns
        Subplots in a row, at most.
    wide, high
        Inches of a subplot.
    style
        Options of Matplotlib's.

    Returns
    -------
    Figure or None
        The figure, if there is no file.
    """
    kind = kind or (Path(file).suffix[1:] if isinstance(file, str | Path) else "png")
    choice("legend", legend, LEGENDS)
    choice("share", share, SHARES)
    shown = [subplot for subplot in subplots if isinstance(subplot, Subplot)]
    refuse(shown, kind, scale)
    from matplotlib.figure import Figure

    columns = min(columns, len(subplots))
    rows = -(-len(subplots) // columns)
    with figure_style(**(style or {})):
        figure = Figure(figsize=(wide * columns, high * rows), layout="constrained")
        places: dict[int, Axes] = {}
        for position, subplot in enumerate(subplots):
            axes = figure.add_subplot(rows, columns, position + 1)
            if isinstance(subplot, str):
                axes.set_axis_off()
                axes.text(0.5, 0.5, plain(textwrap.fill(subplot, 34)), ha="center", va="center", color="0.4", fontsize=LABEL)
                continue
            places[position] = axes
            _draw(axes, subplot, scale, decades, crop=crop)
            if position % columns:
                axes.set_ylabel("")
            if position + columns < len(subplots):
                axes.set_xlabel("")
        _share(places, columns, share, scale)
        if legend == "outside":
            _legend(figure, [subplot.curves for subplot in shown], legend_title)
        elif legend == "inside":
            _legend_inside(figure.axes[min(places)], shown)
        else:
            figure.draw_without_rendering()  # fixes the axes' limits and sizes
            for axes, subplot in zip(places.values(), shown, strict=True):
                _label_ends(axes, subplot.curves)
        if file is None:
            return figure
        figure.savefig(file, format=kind, dpi=300 if len(subplots) == 1 else 160, metadata=UNDATED[kind])
    return None


def _share(places: dict[int, Axes], columns: int, share: str, scale: str) -> None:
    """Give subplots of a row, or all, the same limits, and inner ones no numbers of their own."""
    if share == "none":
        return
    groups: dict[int, list[tuple[int, Axes]]] = {}
    for position, axes in places.items():
        groups.setdefault(position // columns if share == "rows" else 0, []).append((position, axes))
    for group in groups.values():
        lows, highs = zip(*(axes.get_ylim() for _, axes in group), strict=True)
        left, right = zip(*(axes.get_xlim() for _, axes in group), strict=True)
        for position, axes in group:
            axes.set_ylim(min(lows), max(highs))
            axes.set_xlim(min(left), max(right))
            if scale == "log":
                plain_ticks(axes.yaxis, axes.get_ylim())
            axes.tick_params(labelleft=position % columns == 0 or position - 1 not in places)


def refuse(subplots: Sequence[Subplot], kind: str, scale: str) -> None:
    """Refuse what cannot be drawn."""
    check(f"plot.{kind}", scale)
    if not subplots or not all(subplot.curves for subplot in subplots):
        raise BadInput("A plot must show at least 1 result. Got none.")


def _draw(axes: Axes, subplot: Subplot, scale: str, decades: int, *, crop: bool) -> None:
    """Draw all but the names, which need to know where the lines end."""
    curves = subplot.curves
    begin = _begin(curves, decades) if scale == "log" else 0.0
    floor = _floor(curves, begin) if scale == "log" else 0.0
    for number, (curve, style) in enumerate(zip(curves, _styles(curves), strict=True)):
        rounds, mean = curve.rounds, curve.mean
        seen = (mean > 0) & _from(rounds, begin) if scale == "log" else np.ones(len(mean), bool)
        marked = marker_positions(rounds[seen], begin, scale, (number * 0.381966 + 0.5) % 1.0)
        everywhere = curve.points and np.count_nonzero(seen) <= MOST_POINTS
        axes.plot(rounds[seen], mean[seen], **_line(curve, style), markevery=None if everywhere else marked)
        if curve.runs > 1:
            low, high = curve.low.clip(floor)[seen], curve.high.clip(floor)[seen]
            axes.fill_between(rounds[seen], low, high, color=style.colour, alpha=0.18, linewidth=0)
    end = max(curve.end for curve in curves)
    if subplot.lower_bound is not None:
        steps = np.geomspace(max(2.0, begin), max(end, 3), 100)
        logs = np.ones(len(steps)) if subplot.per_log else np.log(steps)
        axes.plot(steps, subplot.lower_bound * logs, color="0.35", linestyle=":", linewidth=1.2)
    if scale == "log":
        from matplotlib.ticker import NullFormatter

        axes.set(xscale="log", yscale="log", xlim=(begin, max(end, 2)))
        axes.set_ylim(bottom=floor)
        axes.xaxis.set_minor_formatter(NullFormatter())
        plain_ticks(axes.yaxis, axes.get_ylim())
        axes.grid(which="major", color="0.9", linewidth=0.6)
    else:
        axes.set(xlim=(0, end), ylim=(0, _top_of_axis(axes, curves, crop=crop)))
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        axes.ticklabel_format(axis="x", style="sci", scilimits=(-3, 4), useMathText=True)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
    axes.set_axisbelow(True)
    axes.set_xlabel("round")
    words = "cumulative regret" if subplot.regret == "average" else f"cumulative {subplot.regret} regret"
    axes.set_ylabel(rf"{words} / $\ln\,t$" if subplot.per_log else words)
    set_title(axes, subplot.title)


def _styles(curves: Sequence[Curve]) -> list[LineStyle]:
    return line_styles([curve.policy for curve in curves])


def _line(curve: Curve, style: LineStyle) -> dict[str, Any]:
    """Matplotlib's options of a line, and of its entry in a legend."""
    return {
        "color": style.colour,
        "linestyle": DASHED if curve.dashed else "-",
        "linewidth": THICK if curve.thick else LINE,
        "zorder": 4 if curve.thick else 3,
        "marker": style.marker,
        "markersize": 3.6 if curve.points else 4,
        "markerfacecolor": style.colour if curve.points else "white",
    }


def _begin(curves: Sequence[Curve], decades: int) -> float:
    """The round where a logarithmic axis begins."""
    return max(1.0, max(curve.end for curve in curves) / 10.0**decades)


def _from(rounds: Ints, begin: float) -> NDArray[np.bool_]:
    """Which checkpoints are drawn: from the last one up to ``begin``, so that the line comes from the axis."""
    return np.arange(len(rounds)) >= np.searchsorted(rounds, begin, side="right") - 1


def _floor(curves: Sequence[Curve], begin: float) -> float:
    """The smallest positive mean regret from there on: where the other axis begins."""
    means = [curve.mean[curve.rounds >= begin] for curve in curves]
    means += [np.interp([begin], curve.rounds, curve.mean) for curve in curves if curve.rounds[0] < begin <= curve.end]
    positive = np.concatenate(means)
    return float(positive[positive > 0].min()) if (positive > 0).any() else 1e-3


def _top_of_axis(axes: Axes, curves: Sequence[Curve], *, crop: bool) -> float:
    """Where a linear axis ends: above all lines; or, cropped, above all but one, whose end is said in words."""
    top = max(float(curve.mean.max()) for curve in curves)
    ends = sorted((float(curve.mean[-1]), curve.name) for curve in curves)
    if crop and len(ends) > 1 and ends[-1][0] > FAR_ABOVE * ends[-2][0] > 0:
        words = plain(f"{ends[-1][1]} goes on to {in_words(ends[-1][0])}")
        axes.text(0.98, 0.97, words, transform=axes.transAxes, ha="right", va="top", fontsize=7.5, color="0.3")
        return 1.35 * ends[-2][0]
    return top * 1.08 if top > 0 else 1.0


def set_title(axes: Axes, title: str) -> None:
    """Break the title into lines that fit above the axes."""
    column = axes.get_subplotspec()
    room = axes.figure.bbox.width / axes.figure.dpi / (column.get_gridspec().ncols if column else 1) * 72.0 - 50.0  # points
    axes.set_title(plain(textwrap.fill(title, max(16, int(room / (0.56 * float(axes.title.get_fontsize())))))))


def plain_ticks(axis: Axis, limits: tuple[float, float]) -> None:
    """Labels on a logarithmic axis that do not run into each other, and are there on a short one too."""
    from matplotlib.ticker import LogLocator, NullLocator

    decades = np.log10(limits[1] / limits[0])
    subs = (1.0,) if decades > 2.2 else (1.0, 3.0) if decades > 0.9 else (1.0, 2.0, 4.0, 7.0)
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    axis.set_minor_locator(NullLocator())


def plain(text: str) -> str:
    """Text as it is, but for powers: to Matplotlib, what stands between two dollar signs is a formula.

    >>> plain("$5 at T = 10^6")
    '\\\\$5 at T = $10^{6}$'
    """
    return re.sub(r"\b10\^(\d+)", r"$10^{\1}$", text.replace("$", r"\$"))


def _legend_inside(axes: Axes, subplots: Sequence[Subplot]) -> None:
    """A legend in the first axes, where it hides least."""
    handles = _handles([subplot.curves for subplot in subplots])
    axes.legend(handles=handles, loc="best", frameon=True, framealpha=0.85, edgecolor="0.85", fontsize=SMALLEST_LABEL + 0.5)


def _legend(figure: Figure, subplots: Sequence[Sequence[Curve]], text: str) -> None:
    """One legend for all subplots, as many names side by side as there is room for; the figure grows by its height."""
    handles, wide = _handles(subplots), figure.get_figwidth()
    inches = 0.6 + 0.067 * max(len(str(handle.get_label())) for handle in handles)  # of a column: its line and its longest name
    columns = max(1, min(4, len(handles), int(wide / inches)))
    title = textwrap.fill(text, max(30, int(wide * 16.5)))
    figure.set_figheight(figure.get_figheight() + 0.18 * -(-len(handles) // columns) + 0.14 * (title.count("\n") + bool(title)))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=columns, frameon=False, title=plain(title) or None, title_fontsize=8,
        fontsize=9 if wide > 4.0 else 8, handlelength=3.2 if wide > 4.0 else 2.4,
    )  # fmt: skip


def _handles(subplots: Sequence[Sequence[Curve]]) -> list[Line2D]:
    """The entries of a legend: each name once, from the highest end to the lowest, the mean over subplots."""
    from matplotlib.lines import Line2D

    runs = max(curve.runs for curves in subplots for curve in curves)
    first: dict[str, Line2D] = {}
    ranks: dict[str, list[float]] = {}
    for curves in subplots:
        ordered = sorted(zip(curves, _styles(curves), strict=True), key=lambda pair: -float(pair[0].mean[-1]))
        for rank, (curve, style) in enumerate(ordered):
            fewer = "" if curve.runs == runs else f" ({curve.runs} runs)"
            first.setdefault(curve.name, Line2D([], [], label=plain(curve.name + fewer), **_line(curve, style)))
            ranks.setdefault(curve.name, []).append(rank / len(ordered))
    return [first[name] for name in sorted(ranks, key=lambda name: float(np.mean(ranks[name])))]


def _label_ends(axes: Axes, curves: Sequence[Curve]) -> None:
    """Write each line's name at its end, in its colour; moved apart where lines end close together, with a leader to the end."""
    colours = [style.colour for style in _styles(curves)]
    to_share = axes.transData + axes.transAxes.inverted()
    bottom, top = axes.get_ylim()
    last = [float(np.clip(curve.mean[-1], bottom, top)) for curve in curves]
    ends = [to_share.transform((curve.end, height)).tolist() for curve, height in zip(curves, last, strict=True)]
    height = axes.get_window_extent().height / axes.figure.dpi * 72.0  # points
    points = max(SMALLEST_LABEL, min(LABEL, height / (1.3 * len(curves))))
    for number, place in enumerate(_apart([share for _, share in ends], 1.25 * points / height)):
        x, y = ends[number]
        leader: Any = dict(color=colours[number], linewidth=0.7, alpha=0.8, transform=axes.transAxes, clip_on=False)
        axes.plot([x, 1.0 + 0.3 * LEADER, 1.0 + LEADER], [y, place, place], **leader)
        axes.text(
            1.0 + 1.3 * LEADER, place, plain(_with_equals(curves, number)), color=colours[number],
            transform=axes.transAxes, va="center", ha="left", fontsize=points,
        )  # fmt: skip


def _with_equals(curves: Sequence[Curve], number: int) -> str:
    """Its name; and a word if an earlier one is the same in every run, bit by bit: only one of their lines can be seen."""
    for curve in curves[:number]:
        if np.array_equal(curve.regret, curves[number].regret):
            return f"{curves[number].name} (equal)"
    return curves[number].name


def _apart(places: Sequence[float], least: float) -> list[float]:
    """The places moved as little as needed so that neighbours are ``least`` apart, their order kept."""
    groups: list[list[int]] = []  # of labels that touch, each group centred on the mean of its places
    for number in sorted(range(len(places)), key=lambda k: places[k]):
        groups.append([number])
        while len(groups) > 1 and _bottom(groups[-1], places, least) < _top(groups[-2], places, least) + least:
            last = groups.pop()
            groups[-1] += last
    moved = [0.0] * len(places)
    for group in groups:
        for step, number in enumerate(group):
            moved[number] = _bottom(group, places, least) + step * least
    return moved


def _bottom(group: list[int], places: Sequence[float], least: float) -> float:
    """Its lowest place: it stays within the axes, as far as there is room."""
    above = (len(group) - 1) * least
    return max(min(sum(places[k] for k in group) / len(group) - above / 2, 1.0 - above), min(0.0, (1.0 - above) / 2))


def _top(group: list[int], places: Sequence[float], least: float) -> float:
    return _bottom(group, places, least) + (len(group) - 1) * least
