"""Figures for papers: regret over rounds. Matplotlib is imported when a figure is drawn, and not before."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from multiduel.arrays import Floats
from multiduel.engine.result import Result
from multiduel.inputs import BadInput, choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("png", "svg", "pdf")
SIZES = {"single": (3.4, 2.5), "double": (7.0, 3.4)}  # inches: one column of a paper, or both
UNDATED: Any = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}  # the same file every time
SCALES = ("log", "linear")

# Okabe & Ito's colours, told apart by colour-blind readers too; the yellow, faint on white, comes last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)))  # a round through the colours each

STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "svg.hashsalt": "multiduel",  # the same figure is the same file
}
LINE_HEIGHT = 0.055  # of a label, as a share of the axes' height
DECADES = 4  # of rounds on a logarithmic axis: before them every policy is still guessing


def check(path: str, scale: str = "log") -> None:
    """Refuse what could not be drawn, before the work whose result it would show."""
    if Path(path).suffix[1:] not in KINDS:
        raise BadInput(f"The file of a plot must end in .png, .svg or .pdf. Got '{path}'.")
    if scale not in SCALES:
        raise BadInput(f"'scale' of a plot must be log or linear. Got '{scale}'.")
    if importlib.util.find_spec("matplotlib") is None:
        raise BadInput("Plots need Matplotlib, which is not installed. Try: pip install 'multiduel[lab]'")


def regret_plot(
    results: Sequence[Result],
    file: str | Path | BinaryIO | Axes | None = None,
    *,
    kind: str | None = None,
    scale: str = "log",
    title: str | None = None,
    labels: Sequence[str] = (),
    rivals: Sequence[bool] = (),
    regret: str = "average",
    lower_bound: float | None = None,
    size: str | None = None,
) -> Figure | None:
    """Draw the mean regret of each result over rounds, with the 95% interval of the mean as a band.

    It is drawn into a file, or onto Matplotlib Axes; without either, the Figure is returned. ``size`` is "single" or "double":
    as wide as a column of a paper, or as both. ``kind`` is "png", "svg" or "pdf", by the file's ending if not given. ``scale``
    is "log" (both axes) or "linear". ``labels`` name the lines, the policies if not given; ``rivals`` says of each whether it is
    dashed. ``regret`` is the kind that is drawn. ``lower_bound`` is a constant of ln T, such as that of
    ``theory.multi_dueling_lower_bound``: what no consistent policy stays below for ever, drawn dotted.
    """
    kind = kind or (Path(file).suffix[1:] if isinstance(file, str | Path) else "png")
    check(f"plot.{kind}", scale)
    if size is not None:
        choice("size", size, SIZES)
    if not results:
        raise BadInput("A plot must show at least 1 result. Got none.")
    choice("regret", regret, results[0].regrets)
    import matplotlib as mpl

    names = labels or [_name(results, number) for number in range(len(results))]
    curves = [_Curve(result, regret, name) for result, name in zip(results, names, strict=True)]

    if hasattr(file, "plot"):  # Axes of the caller's own, in the caller's style
        _draw(file, curves, scale, title, rivals, lower_bound)  # type: ignore[arg-type]
        return None
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()  # the same figure on every machine
        mpl.rcParams.update(STYLE | ({"font.size": 8, "axes.titlesize": 8} if size == "single" else {}))
        figure = Figure(figsize=SIZES.get(size or "", (6.4, 3.6)), layout="constrained")
        _draw(figure.add_subplot(), curves, scale, title, rivals, lower_bound)
        if file is None:
            return figure
        figure.savefig(file, format=kind, dpi=300, metadata=UNDATED[kind])
    return None


class _Curve(NamedTuple):
    """A result as it is drawn: one kind of its regret, under a name."""

    result: Result
    kind: str
    name: str

    @property
    def mean(self) -> Floats:
        return self.result.regrets[self.kind].mean(axis=0)  # type: ignore[no-any-return]


def _draw(
    axes: Axes,
    curves: Sequence[_Curve],
    scale: str,
    title: str | None,
    rivals: Sequence[bool] = (),
    lower_bound: float | None = None,
) -> None:
    for number, curve in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        dash = DASHES[1 if any(rivals[number : number + 1]) else number // len(COLOURS) % len(DASHES)]
        rounds, mean = curve.result.checkpoints, curve.mean
        seen = (mean > 0) & (rounds >= _begin(curves)) if scale == "log" else np.ones(len(mean), bool)
        axes.plot(rounds[seen], mean[seen], color=colour, linestyle=dash, linewidth=1.5, zorder=3)
        if curve.result.runs > 1:
            low, high = curve.result.interval(kind=curve.kind)
            low = low.clip(_floor(curves) if scale == "log" else 0.0)
            axes.fill_between(rounds[seen], low[seen], high[seen], color=colour, alpha=0.18, linewidth=0)
    if lower_bound is not None:
        end = max(curve.result.horizon for curve in curves)
        steps = np.geomspace(max(2.0, _begin(curves) if scale == "log" else 2.0), max(end, 3), 100)
        axes.plot(steps, lower_bound * np.log(steps), color="0.35", linestyle=":", linewidth=1.2)
    _dress(axes, curves, scale, title)
    _label_ends(axes, curves)


def _begin(curves: Sequence[_Curve]) -> float:
    """The round where a logarithmic axis begins."""
    return max(1.0, max(curve.result.horizon for curve in curves) / 10.0**DECADES)


def _floor(curves: Sequence[_Curve]) -> float:
    """The smallest positive mean regret from there on: where the other axis begins."""
    means = np.concatenate([curve.mean[curve.result.checkpoints >= _begin(curves)] for curve in curves])
    return float(means[means > 0].min()) if (means > 0).any() else 1e-3


def _dress(axes: Axes, curves: Sequence[_Curve], scale: str, title: str | None) -> None:
    first, kind = curves[0].result, curves[0].kind
    end = max(curve.result.horizon for curve in curves)
    top = max(float(curve.mean.max()) for curve in curves)
    if scale == "log":
        axes.set(xscale="log", yscale="log", xlim=(_begin(curves), max(end, 2)))
        axes.set_ylim(bottom=_floor(curves))
        axes.grid(which="major", color="0.9", linewidth=0.6)
    else:
        axes.set(xlim=(0, end), ylim=(0, top * 1.08 if top > 0 else 1.0))
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        axes.ticklabel_format(axis="x", style="sci", scilimits=(-3, 4), useMathText=True)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
    axes.set_axisbelow(True)
    spread = f", mean of {first.runs} runs, 95% band" if first.runs > 1 else ", one run"
    axes.set_xlabel("round")
    axes.set_ylabel("cumulative regret" if kind == "average" else f"cumulative {kind} regret")
    axes.set_title(plain(f"{first.problem['label']}{spread}" if title is None else title))


def plain(text: str) -> str:
    """Text as it is: to Matplotlib, what stands between two dollar signs is a formula."""
    return text.replace("$", r"\$")


def _label_ends(axes: Axes, curves: Sequence[_Curve]) -> None:
    """Each line's name at its end, in its colour, moved apart where lines end close together."""
    axes.figure.canvas.draw()  # fixes the axes' limits
    to_share = axes.transData + axes.transAxes.inverted()
    floor = axes.get_ylim()[0]
    ends = [float(to_share.transform((c.result.horizon, max(float(c.mean[-1]), floor)))[1]) for c in curves]
    for number, place in enumerate(_apart(ends, LINE_HEIGHT)):
        axes.text(
            1.015, place, plain(curves[number].name), color=COLOURS[number % len(COLOURS)],
            transform=axes.transAxes, va="center", ha="left", fontsize=8.5,
        )  # fmt: skip


def _name(results: Sequence[Result], number: int) -> str:
    """The policy; with its slate size where that is above 2, and with what differs where a policy comes twice."""
    result = results[number]
    size = result.params.get("slate_size", 2)
    name = result.policy + (f", m = {size}" if size > 2 else "")
    twins = [other for other in results if other is not result and other.policy == result.policy]
    differing = [
        f"{key} = {value}"
        for key, value in result.params.items()
        if key != "slate_size" and any(twin.params.get(key) != value for twin in twins)
    ]
    return ", ".join([name, *differing])


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
    return sum(places[k] for k in group) / len(group) - (len(group) - 1) * least / 2


def _top(group: list[int], places: Sequence[float], least: float) -> float:
    return _bottom(group, places, least) + (len(group) - 1) * least
