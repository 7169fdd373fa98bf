"""Figures for papers: regret over rounds. Matplotlib is imported when a figure is drawn, and not before."""

from __future__ import annotations

import importlib.util
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from multiduel.arrays import Floats
from multiduel.engine.looks import DASHED, looks, places_of_shapes
from multiduel.engine.result import Result
from multiduel.inputs import BadInput, choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

KINDS = ("png", "svg", "pdf")
SIZES = {"single": (3.4, 2.5), "double": (7.0, 3.4)}  # inches: one column of a paper, or both
UNDATED: Any = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}  # the same file every time
SCALES = ("log", "linear")

STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "svg.hashsalt": "multiduel",  # the same figure is the same file
}
LABEL = 8.5  # points of a label, and of the smallest
SMALLEST_LABEL = 6.5
LEADER = 0.03  # from a line's end to its label, as a share of the axes' width
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
    if size is not None:
        choice("size", size, SIZES)
    picture = Picture(results, title, labels, rivals, lower_bound)
    if hasattr(file, "plot"):  # Axes of the caller's own, in the caller's style
        _refuse([picture], "png", scale, regret)
        curves = _draw(file, picture, scale, regret)  # type: ignore[arg-type]
        file.figure.canvas.figure.draw_without_rendering()  # type: ignore[union-attr]  # a canvas that is none draws nothing
        _label_ends(file, curves)  # type: ignore[arg-type]
        return None
    wide, high = SIZES[size] if size else (6.4, 3.6)
    small = {"font.size": 8, "axes.titlesize": 8} if size == "single" else {}
    return small_multiples([picture], file, kind=kind, scale=scale, regret=regret, wide=wide, high=high, style=small)


class Picture(NamedTuple):
    """What is drawn onto one pair of axes."""

    results: Sequence[Result]
    title: str | None = None  # the problem's label if not given
    labels: Sequence[str] = ()
    rivals: Sequence[bool] = ()
    lower_bound: float | None = None


def small_multiples(
    pictures: Sequence[Picture],
    file: str | Path | BinaryIO | None = None,
    *,
    kind: str | None = None,
    scale: str = "log",
    regret: str = "average",
    columns: int = 2,
    wide: float = 4.4,
    high: float = 3.0,
    style: Any = None,
) -> Figure | None:
    """Several pictures side by side, ``columns`` of them in a row, each so many inches ``wide`` and ``high``."""
    kind = kind or (Path(file).suffix[1:] if isinstance(file, str | Path) else "png")
    _refuse(pictures, kind, scale, regret)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    with mpl.rc_context():
        mpl.rcdefaults()  # the same figure on every machine
        mpl.rcParams.update(STYLE | (style or {}))
        figure = Figure(figsize=(wide * columns, high * rows), layout="constrained")
        places = [figure.add_subplot(rows, columns, place) for place in range(1, len(pictures) + 1)]
        drawn = [_draw(axes, picture, scale, regret) for axes, picture in zip(places, pictures, strict=True)]
        figure.draw_without_rendering()  # fixes the axes' limits and sizes
        for axes, curves in zip(places, drawn, strict=True):
            _label_ends(axes, curves)
        if file is None:
            return figure
        figure.savefig(file, format=kind, dpi=300 if len(pictures) == 1 else 160, metadata=UNDATED[kind])
    return None


def _refuse(pictures: Sequence[Picture], kind: str, scale: str, regret: str) -> None:
    """What cannot be drawn."""
    check(f"plot.{kind}", scale)
    if not pictures or not all(picture.results for picture in pictures):
        raise BadInput("A plot must show at least 1 result. Got none.")
    for picture in pictures:
        if picture.labels and len(picture.labels) != len(picture.results):
            raise BadInput(f"'labels' of a plot must be {len(picture.results)}, one for each result. Got {len(picture.labels)}.")
    choice("regret", regret, pictures[0].results[0].regrets)


class _Curve(NamedTuple):
    """A result as it is drawn: one kind of its regret, under a name."""

    result: Result
    kind: str
    name: str

    @property
    def mean(self) -> Floats:
        return self.result.regrets[self.kind].mean(axis=0)  # type: ignore[no-any-return]


def _draw(axes: Axes, picture: Picture, scale: str, regret: str) -> list[_Curve]:
    """All but the labels, which need to know where the lines end."""
    results = picture.results
    names = picture.labels or [_name(results, number) for number in range(len(results))]
    curves = [_Curve(result, regret, name) for result, name in zip(results, names, strict=True)]
    chosen = looks([result.policy for result in results])
    for number, (curve, look) in enumerate(zip(curves, chosen, strict=True)):
        rounds, mean = curve.result.checkpoints, curve.mean
        begin = _begin(curves) if scale == "log" else 0.0
        seen = (mean > 0) & (rounds >= begin) if scale == "log" else np.ones(len(mean), bool)
        axes.plot(
            rounds[seen], mean[seen], color=look.colour, linewidth=1.5, zorder=3, marker=look.shape, markersize=4,
            linestyle=DASHED if any(picture.rivals[number : number + 1]) else "-", markerfacecolor="white",
            markevery=places_of_shapes(rounds[seen], begin, scale, (number * 0.381966 + 0.5) % 1.0),
        )  # fmt: skip
        if curve.result.runs > 1:
            low, high = curve.result.interval(kind=curve.kind)
            low = low.clip(_floor(curves) if scale == "log" else 0.0)
            axes.fill_between(rounds[seen], low[seen], high[seen], color=look.colour, alpha=0.18, linewidth=0)
    if picture.lower_bound is not None:
        end = max(curve.result.horizon for curve in curves)
        steps = np.geomspace(max(2.0, _begin(curves) if scale == "log" else 2.0), max(end, 3), 100)
        axes.plot(steps, picture.lower_bound * np.log(steps), color="0.35", linestyle=":", linewidth=1.2)
    _dress(axes, curves, scale, picture.title)
    return curves


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
        plain_ticks(axes.yaxis, axes.get_ylim())
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
    words = f"{first.problem['label']}{spread}" if title is None else title
    column = axes.get_subplotspec()
    room = axes.figure.bbox.width / axes.figure.dpi / (column.get_gridspec().ncols if column else 1) * 72.0 - 50.0  # points
    axes.set_title(plain(textwrap.fill(words, max(16, int(room / (0.56 * float(axes.title.get_fontsize())))))))


def plain_ticks(axis: Axis, limits: tuple[float, float]) -> None:
    """Labels on a logarithmic axis that do not run into each other, and are there on a short one too."""
    from matplotlib.ticker import LogLocator, NullLocator

    decades = np.log10(limits[1] / limits[0])
    subs = (1.0,) if decades > 2.2 else (1.0, 3.0) if decades > 0.9 else (1.0, 2.0, 4.0, 7.0)
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    axis.set_minor_locator(NullLocator())


def plain(text: str) -> str:
    """Text as it is: to Matplotlib, what stands between two dollar signs is a formula."""
    return text.replace("$", r"\$")


def _label_ends(axes: Axes, curves: Sequence[_Curve]) -> None:
    """Each line's name at its end, in its colour; moved apart where lines end close together, with a leader to the end."""
    colours = [look.colour for look in looks([curve.result.policy for curve in curves])]
    to_share = axes.transData + axes.transAxes.inverted()
    bottom, top = axes.get_ylim()
    last = [float(np.clip(curve.mean[-1], bottom, top)) for curve in curves]
    ends = [to_share.transform((curve.result.horizon, end)).tolist() for curve, end in zip(curves, last, strict=True)]
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


def _with_equals(curves: Sequence[_Curve], number: int) -> str:
    """Its name; and a word if an earlier one is the same in every run, bit by bit: only one of their lines can be seen."""
    for curve in curves[:number]:
        if np.array_equal(curve.result.regrets[curve.kind], curves[number].result.regrets[curve.kind]):
            return f"{curves[number].name} (equal)"
    return curves[number].name


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
    """Its lowest place: it stays within the axes, as far as there is room."""
    above = (len(group) - 1) * least
    return max(min(sum(places[k] for k in group) / len(group) - above / 2, 1.0 - above), min(0.0, (1.0 - above) / 2))


def _top(group: list[int], places: Sequence[float], least: float) -> float:
    return _bottom(group, places, least) + (len(group) - 1) * least
