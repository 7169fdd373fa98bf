"""Colours and markers of lines: a policy has the same in all figures.

Several lines of one policy in a figure are tints of its colour, with markers of their own.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Ints

# Okabe & Ito's colours, told apart by colour-blind readers too; the yellow, faint on white, comes last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
BLUE, RED, GREEN, PINK, ORANGE, SKY, BLACK, OLIVE = COLOURS
GREY, VIOLET, BROWN = "#7F7F7F", "#6A3D9A", "#8C510A"
MARKERS = "osD^vP<X>d*phH8"  # Matplotlib's names of markers that can be filled
MARKERS_PER_LINE = 5
DASHED: Any = (0, (5, 1.5))


class LineStyle(NamedTuple):
    """Draw a policy with this colour and this marker."""

    colour: str
    marker: str


# The paper's own algorithms have the strongest colours. No two policies have the same colour and the same marker.
LINE_STYLES = {name: LineStyle(*pair) for name, pair in {
    "multi-sbm-feedback": (BLUE, "o"), "doubler-bai": (RED, "s"), "multi-sbm": (SKY, "v"), "doubler": (BROWN, "^"),
    "if2": (GREEN, "D"), "btm": (PINK, "P"), "savage": (OLIVE, "X"), "scb": (GREY, "*"), "multi-rucb": (RED, "d"),
    "ind-self-sparring": (BLUE, "s"), "mdb": (GREEN, "^"), "multi-sparring": (PINK, "v"), "rucb": (VIOLET, "<"),
    "rmed1": (BLACK, ">"), "dts": (BLUE, "h"), "due-duel": (ORANGE, "p"), "kernel-self-sparring": (SKY, "s"),
    "sparring": (SKY, "D"), "dts+": (BLUE, "P"), "rmed2": (BLACK, "s"), "rmed2fh": (BLACK, "o"), "if1": (GREEN, "s"),
    "versatile-db": (PINK, "*"), "merge-rucb": (RED, "v"), "ws-w": (OLIVE, "o"), "ws-s": (OLIVE, "s"),
    "beat-the-mean-pac": (PINK, "X"), "merge-dts": (BLUE, "^"), "ecw-rmed": (BLACK, "D"), "knockout": (GREY, "o"),
    "seebs": (GREY, "s"), "borda": (ORANGE, "X"), "ccb": (GREEN, "*"), "cw-rmed": (BLACK, "P"), "challengers": (ORANGE, "*"),
    "uniform": (GREY, "v"),
}.items()}  # fmt: skip


def line_style(policy: str) -> LineStyle:
    """Return the style of a policy; of a plug-in policy by its name, so that it stays the same too.

    >>> line_style("rucb")
    LineStyle(colour='#6A3D9A', marker='<')
    """
    number = zlib.crc32(policy.encode())
    own = LineStyle(COLOURS[number % len(COLOURS)], MARKERS[number // len(COLOURS) % len(MARKERS)])
    return LINE_STYLES.get(policy, own)


def line_styles(policies: Sequence[str]) -> list[LineStyle]:
    """Return the styles of the lines of one figure: where a policy comes again, a tint of its colour and a marker of its own.

    >>> line_styles(["rucb", "btm", "rucb"])[2]
    LineStyle(colour='#9274b3', marker='X')
    """
    chosen, taken = [], {line_style(policy).marker for policy in policies}
    for number, policy in enumerate(policies):
        style, earlier, all_of_it = line_style(policy), policies[:number].count(policy), policies.count(policy)
        if earlier:
            start = MARKERS.index(style.marker)
            marker = next((each for each in MARKERS[start:] + MARKERS[:start] if each not in taken), style.marker)
            taken.add(marker)
            style = LineStyle(_tint(style.colour, 0.65 * earlier / all_of_it), marker)
        chosen.append(style)
    return chosen


def _tint(colour: str, share: float) -> str:
    """Mix the colour with this share of light grey."""
    parts = (round((1.0 - share) * int(colour[k : k + 2], 16) + share * 0xE6) for k in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in parts)


def marker_positions(rounds: Ints, begin: float, scale: str, shift: float) -> list[int]:
    """Choose which points of a line have a marker: a few, evenly along the axis from the round ``begin`` on.

    Lines with another ``shift``, from 0 to below 1, have them elsewhere.

    >>> marker_positions(np.arange(101), 50, "linear", 0.5)
    [55, 65, 75, 85, 95]
    """
    seen = np.flatnonzero(rounds >= begin)
    if not len(seen):
        return []
    along = np.log(rounds[seen]) if scale == "log" else rounds[seen].astype(float)
    spaced = (np.arange(MARKERS_PER_LINE) + shift) / MARKERS_PER_LINE
    wanted = along[0] + spaced * (along[-1] - along[0])
    return sorted(set(seen[np.searchsorted(along, wanted)].tolist()))
