"""Charts as SVG, made on the server. Colours come from the style sheet, so that they follow light and dark; every chart stands
beside a table with its numbers, and is hidden from screen readers, which read the table."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from markupsafe import Markup, escape

from multiduel.arrays import Floats

MOST_SQUARES = 24  # options in a heat map; of more, the best
NUMBERS = 12  # options up to which squares hold numbers
LETTERS = 22  # of a name beside a heat map
BINS = 60


def _svg(width: float, height: float, inside: str, kind: str = "") -> Markup:
    size = f' width="{width:g}" height="{height:g}"' if kind == "heat" else ""
    made = (
        f'<svg class="chart {kind}"{size} viewBox="0 0 {width:g} {height:g}" aria-hidden="true" focusable="false">{inside}</svg>'
    )
    return Markup(made)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def interval(value: float, low: float, high: float, limits: tuple[float, float]) -> Markup:
    """A strength in its interval, on the scale that all options share, with 0 marked. A hollow point has no interval yet."""
    if math.isnan(value):
        return Markup("")
    least, most = limits

    def x(strength: float) -> str:
        return _n(6 + 188 * (strength - least) / (most - least))

    inside = (
        f'<line class="axis" x1="6" x2="194" y1="12" y2="12"/><line class="half" x1="{x(0.0)}" x2="{x(0.0)}" y1="2" y2="22"/>'
    )
    if math.isnan(low):
        inside += f'<circle class="early" cx="{x(value)}" cy="12" r="4"/>'
    else:
        inside += f'<line class="range" x1="{x(low)}" x2="{x(high)}" y1="12" y2="12"/>'
        inside += f'<circle class="point" cx="{x(value)}" cy="12" r="4.5"/>'
    return _svg(200, 24, inside, "interval")


def scale_of(strengths: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """The least and the most that a chart of strengths has to show, 0 among them.

    >>> scale_of([(0.5, 0.25, 0.75), (-1.0, float("nan"), float("nan"))])
    (-1.0, 0.75)
    """
    ends = [end for strength in strengths for end in strength if not math.isnan(end)]
    least, most = min(ends, default=0.0), max(ends, default=0.0)
    return (min(least, -0.1), max(most, 0.1))


def _width(text: str) -> float:
    """At most how many pixels a text of 12 pixels takes.

    >>> _width("iii") < _width("WWW") <= _width("好好好")
    True
    """
    wide = [unicodedata.east_asian_width(letter) in "WF" or letter in "mwMW@%—…" for letter in text]
    return sum(13.0 if broad else 9.6 if letter.isupper() else 7.8 for letter, broad in zip(text, wide, strict=True))


def heat_map(names: Sequence[str], above: Floats, ties: Floats) -> Markup:
    """Shares of the comparisons in which the option of the row was placed above that of the column, ties counting half; below
    each, the number of these comparisons."""
    n = len(names)
    side = 44.0 if n <= NUMBERS else 26.0
    shown = [name if len(name) <= LETTERS else name[: LETTERS - 1] + "…" for name in names]
    left = 10.0 + max(map(_width, shown), default=0.0) + 24.0
    parts: list[str] = []
    for i, words in enumerate(shown):
        y = 26 + side * (i + 0.5)
        number = f'<tspan class="faint"> {i + 1}</tspan>'
        parts.append(f'<text x="{_n(left - 10)}" y="{_n(y + 4)}" text-anchor="end">{escape(words)}{number}</text>')
        parts.append(f'<text class="faint" x="{_n(left + side * (i + 0.5))}" y="18" text-anchor="middle">{i + 1}</text>')
        for j in range(n):
            if i != j:
                parts.append(
                    _square(left + side * j, 26 + side * i, side - 2, above[i, j], above[j, i], ties[i, j], n <= NUMBERS)
                )
    return _svg(left + side * n + 2, 28 + side * n, "".join(parts), "heat")


def share_of(won: float, lost: float, level: float) -> float:
    """Not a number, if the two never met."""
    met = won + lost + level
    return (won + 0.5 * level) / met if met else math.nan


def _square(x: float, y: float, size: float, won: float, lost: float, level: float, number: bool) -> str:
    share = share_of(won, lost, level)
    place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(size)}" height="{_n(size)}" rx="3"'
    if math.isnan(share):
        return f'<rect class="none" {place}/>'
    steps = min(5, 1 + int(10 * abs(share - 0.5)))  # how strong the colour is: the style sheet keeps numbers readable on all
    square = f'<rect class="{"more" if share >= 0.5 else "less"} s{steps}" {place}/>'
    if not number:
        return square
    middle = f'x="{_n(x + size / 2)}" text-anchor="middle"'
    met = f'<text class="n" {middle} y="{_n(y + size / 2 + 13)}">{won + lost + level:,.0f}</text>'
    return f'{square}<text {middle} y="{_n(y + size / 2 + 1)}">{100 * share:.0f}</text>{met}'


def times_binned(times: Sequence[tuple[int, int]], bins: int = BINS) -> list[tuple[datetime, int]]:
    """(end of a span, votes up to it), spans alike, from times and how many votes came then.

    >>> [total for _, total in times_binned([(0, 1), (1, 1), (9, 3), (10, 1)], bins=2)]
    [2, 6]
    """
    if not len(times):
        return []
    at, votes = np.array(times, float).T
    first, last = float(at.min()), float(at.max())
    step = max(last - first, 1.0) / bins
    counts = np.bincount(np.minimum((at - first) / step, bins - 1).astype(int), votes, bins).astype(int).tolist()
    total, ends = 0, []
    for k, here in enumerate(counts):
        total += here
        ends.append((datetime.fromtimestamp(first + step * (k + 1), UTC), total))
    return ends


def over_time(binned: Sequence[tuple[datetime, int]]) -> Markup:
    """Votes so far, against time."""
    if not binned:
        return Markup("")
    most = binned[-1][1]
    n = len(binned)
    points = [(44.0, 152.0)] + [(44 + 640 * (k + 1) / n, 152 - 132 * total / most) for k, (_, total) in enumerate(binned)]
    line = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
    long = (binned[-1][0] - binned[0][0]).total_seconds() > 86_400
    form = "%d %b" if long else "%H:%M"
    inside = (
        f'<line class="axis" x1="44" x2="684" y1="152" y2="152"/><polygon class="area" points="44,152 {line} 684,152"/>'
        f'<polyline class="line" points="{line}"/><text class="faint" x="38" y="24" text-anchor="end">{most:,}</text>'
        '<text class="faint" x="38" y="156" text-anchor="end">0</text>'
        f'<text class="faint" x="44" y="172">{binned[0][0]:{form}}</text>'
        f'<text class="faint" x="684" y="172" text-anchor="end">{binned[-1][0]:{form}} UTC</text>'
    )
    return _svg(700, 180, inside, "times")
