"""A Matplotlib figure in words: what is drawn where, how, and what is written there. Tests compare it with what is stored.

The words are in tests/data/figures. After a change that is meant, write them anew and read what `git diff` says of them:

    MULTIDUEL_NEW_FIGURES=1 python -m pytest tests/display/test_regret_figures.py tests/lab/test_time_to_verdict.py

Numbers may differ by little (``close``), places of labels by more: other versions of Matplotlib have letters of other sizes.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgba

STORED = Path(__file__).parent / "data" / "figures"
NUMBER = re.compile(r"(?<![#\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\w)")


def expect(name, figure):
    """The figure is as it is stored under this name."""
    words, file = in_words(figure), STORED / f"{name}.txt"
    if os.environ.get("MULTIDUEL_NEW_FIGURES"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(words, encoding="utf-8")
    stored = file.read_text(encoding="utf-8").splitlines()
    for line, before in zip(words.splitlines(), stored, strict=False):
        assert close(line, before), f"{name}: now\n{line}\nand before\n{before}"
    assert len(words.splitlines()) == len(stored)


def close(line, before):
    """The same words; numbers may differ by 0.1 %, places as shares of the axes by 0.01."""
    numbers = [[float(number) for number in NUMBER.findall(each)] for each in (line, before)]
    little = {"rel": 0.01, "abs": 0.01} if "of the axes" in line else {"rel": 1e-3, "abs": 0.0}
    return NUMBER.sub("#", line) == NUMBER.sub("#", before) and numbers[0] == pytest.approx(numbers[1], **little)


def in_words(figure):
    figure.draw_without_rendering()
    wide, high = figure.get_size_inches()
    lines = [f"figure of {wide:g} by {high:g} inches"]
    for axes in figure.axes:
        lines += ["", *(f"  {line}" if number else line for number, line in enumerate(_axes(axes)))]
    return "\n".join(lines) + "\n"


def _axes(axes):
    place = axes.get_subplotspec()
    rows, columns, first, _ = place.get_geometry() if place else (1, 1, 0, 0)
    yield f"axes {first + 1} of {rows} rows and {columns} columns, on {to_hex(axes.get_facecolor())}"
    for title in (axes._left_title, axes.title, axes._right_title):
        if title.get_text():
            yield f"title, {title.get_ha()}, {title.get_fontsize():g} points: {title.get_text()!r}"
    yield from _axis(axes.xaxis, axes.get_xlim())
    yield from _axis(axes.yaxis, axes.get_ylim())
    yield "grid and ticks below the lines" if axes.get_axisbelow() is True else f"grid and ticks: {axes.get_axisbelow()}"
    yield "frame: " + ", ".join(f"{side} {s.get_linewidth():g}" for side, s in sorted(axes.spines.items()) if s.get_visible())
    for line in axes.lines:
        yield from _line(line, axes)
    for band in axes.collections:
        corners = " ".join(_pair(corner) for path in band.get_paths() for corner in path.vertices)
        colour, edge = to_hex(band.get_facecolor()[0], keep_alpha=True), np.atleast_1d(band.get_linewidth())[0]
        yield f"band {colour}, edge {edge:g}: {corners}"
    for text in axes.texts:
        where = "of the axes" if text.get_transform() == axes.transAxes else "in the data"
        how = f"{text.get_fontsize():.3g} points, {text.get_ha()} {text.get_va()}, {to_hex(text.get_color())}"
        yield f"text {text.get_text()!r} at {_pair(text.get_position())} {where}, {how}"
    if legend := axes.get_legend():
        x, y, *_ = axes.transAxes.inverted().transform(legend.get_bbox_to_anchor().p0)
        frame = "framed" if legend.get_frame_on() else "without frame"
        names = [f"{text.get_text()!r} {text.get_fontsize():g} points" for text in legend.get_texts()]
        yield f"legend, {frame}, corner {legend._loc}, at {_pair((x, y))} of the axes: {', '.join(names)}"


def _axis(axis, limits):
    low, high = limits
    name = axis.axis_name
    label = f"{axis.label.get_fontsize():g} points: {axis.label.get_text()!r}"
    yield f"{name} {axis.get_scale()} from {_number(low)} to {_number(high)}, {label}"
    span = 1e-9 * abs(high - low)
    ticks = [tick for tick in axis.get_major_ticks() if low - span <= tick.get_loc() <= high + span]
    labels = ", ".join(f"{tick.label1.get_text()!r} at {_number(tick.get_loc())}" for tick in ticks)
    power = axis.get_offset_text().get_text()
    points = ticks[0].label1.get_fontsize() if ticks else 0
    yield f"{name} ticks, {points:g} points: {labels}{f'; times {power!r}' if power else ''}"
    minor = [loc for loc in axis.get_minorticklocs() if low <= loc <= high]
    yield f"{name} has {f'small ticks, {len(minor)}' if minor else 'no small ticks'}"
    grid = [tick.gridline for tick in ticks if tick.gridline.get_visible()]
    yield f"{name} grid: " + (f"{to_hex(grid[0].get_color())}, {grid[0].get_linewidth():g} wide" if grid else "none")


def _line(line, axes):
    where = " of the axes" if line.get_transform() == axes.transAxes else ""
    beyond = "" if line.get_clip_on() else ", beyond the axes too"
    dashes = line._dash_pattern[1]
    style = line.get_linestyle() + (f" {[round(float(dash), 3) for dash in dashes]}" if dashes else "")
    yield (
        f"line {to_hex(to_rgba(line.get_color(), line.get_alpha()), keep_alpha=True)}, {style!r}, {line.get_linewidth():g} wide, "
        f"{line.get_drawstyle()}, layer {line.get_zorder():g}{beyond}"
    )
    if line.get_marker() not in ("None", None, ""):
        shape = f"{line.get_marker()!r} of {line.get_markersize():g}, filled {line.get_markerfacecolor()}"
        yield f"  shapes {shape}, at {line.get_markevery()}"
    x, y = line.get_xdata(), line.get_ydata()
    some = range(len(x)) if len(x) <= 12 else (0, 1, len(x) // 2, len(x) - 1)
    yield f"  {len(x)} points{where}: {' '.join(_pair((x[k], y[k])) for k in some)}"


def _pair(point):
    return f"({_number(point[0])} {_number(point[1])})"


def _number(value):
    return f"{float(value):.5g}" if abs(value) > 1e-9 else "0"
