"""How a policy looks: one colour and one shape, the same in all figures. Several of the same policy in one figure are tints of
its colour with shapes of their own."""

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
SHAPES = "osD^vP<X>d*phH8"  # Matplotlib's names of shapes that can be filled
SHAPES_PER_LINE = 5
DASHED: Any = (0, (5, 1.5))


class Look(NamedTuple):
    colour: str
    shape: str


# The paper's own algorithms have the strongest colours. No two policies have the same colour and the same shape.
LOOKS = {name: Look(*pair) for name, pair in {
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


def look(policy: str) -> Look:
    """Of a policy that is not multiduel's: by its name, so that it stays the same too."""
    place = zlib.crc32(policy.encode())
    return LOOKS.get(policy) or Look(COLOURS[place % len(COLOURS)], SHAPES[place // len(COLOURS) % len(SHAPES)])


def looks(policies: Sequence[str]) -> list[Look]:
    """Of the lines of one figure.

    >>> looks(["rucb", "btm", "rucb"])
    [Look(colour='#6A3D9A', shape='<'), Look(colour='#CC79A7', shape='P'), Look(colour='#9274b3', shape='X')]
    """
    chosen, taken = [], {look(policy).shape for policy in policies}
    for number, policy in enumerate(policies):
        first, twin, twins = look(policy), policies[:number].count(policy), policies.count(policy)
        if twin:
            start = SHAPES.index(first.shape)
            shape = next((each for each in SHAPES[start:] + SHAPES[:start] if each not in taken), first.shape)
            taken.add(shape)
            first = Look(_tint(first.colour, 0.65 * twin / twins), shape)
        chosen.append(first)
    return chosen


def _tint(colour: str, share: float) -> str:
    """The colour mixed with so much light grey."""
    parts = (round((1.0 - share) * int(colour[k : k + 2], 16) + share * 0xE6) for k in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in parts)


def places_of_shapes(rounds: Ints, begin: float, scale: str, shift: float) -> list[int]:
    """Where a line has its few shapes: evenly along the axis, for other lines at other places (``shift``, from 0 to below 1)."""
    places = np.flatnonzero(rounds >= begin)
    if not len(places):
        return []
    along = np.log(rounds[places]) if scale == "log" else rounds[places].astype(float)
    spaced = (np.arange(SHAPES_PER_LINE) + shift) / SHAPES_PER_LINE
    wanted = along[0] + spaced * (along[-1] - along[0])
    marks = places[np.searchsorted(along, wanted)]
    return sorted(set(marks.tolist()))
