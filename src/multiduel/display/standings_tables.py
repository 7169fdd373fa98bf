"""The table of standings, and that of all pairs: which columns there are, what they are called, how their numbers are written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from multiduel.arrays import Floats
from multiduel.display.tables import Table

SHOWN = {"answer": "answers", "rater": "raters", "case": "cases"}
TOO_EARLY = "too early"


class Adjusted(NamedTuple):
    """An option's strength at equal style."""

    strength: float
    low: float
    high: float


def rank(first: int, last: int) -> str:
    """Write a rank range.

    >>> rank(1, 1), rank(2, 5), rank(0, 0)
    ('1', '2–5', '-')
    """
    return "-" if first == 0 else f"{first}" if first == last else f"{first}–{last}"


def signed(value: float) -> str:
    """Write a strength.

    >>> signed(0.694), signed(-1.2), signed(-0.001), signed(float("nan"))
    ('+0.69', '−1.20', '+0.00', '-')
    """
    return "-" if math.isnan(value) else f"{value:+z.2f}".replace("-", "−")


def span(low: float, high: float) -> str:
    """Write an interval of a strength.

    >>> span(-0.5, 0.25), span(float("nan"), float("nan"))
    ('−0.50 to +0.25', 'too early')
    """
    return TOO_EARLY if math.isnan(low) else f"{signed(low)} to {signed(high)}"


def share(value: float) -> str:
    """Write a share in per cent.

    >>> share(0.954), share(float("nan"))
    ('95 %', '-')
    """
    return "-" if math.isnan(value) else f"{100.0 * value:.0f} %"


def shares(low: float, high: float) -> str:
    """Write an interval of a share.

    >>> shares(0.9, 0.99)
    '90 to 99 %'
    """
    return "-" if math.isnan(low) else f"{100.0 * low:.0f} to {100.0 * high:.0f} %"


def standings_table(lines: Sequence[Any], by: str, adjusted: Sequence[Adjusted] | None = None, title: str = "") -> Table:
    """Make the table of standings.

    Parameters
    ----------
    lines
        What ``inference.standings.Line`` holds, best first.
    by
        The unit of evidence.
    adjusted
        Strengths at equal style, in the order of the lines.
    title
        Of the table.

    Returns
    -------
    Table
        A row per option.
    """
    styled = ("at equal style", "interval") if adjusted else ()
    head = ("rank", "option", "strength", "interval", *styled, "won", "interval", SHOWN[by], "")
    rows = []
    for k, line in enumerate(lines):
        more = (signed(adjusted[k].strength), span(adjusted[k].low, adjusted[k].high)) if adjusted else ()
        rows.append(
            (
                rank(line.rank_from, line.rank_to),
                line.name,
                signed(line.strength),
                span(line.low, line.high),
                *more,
                share(line.won),
                shares(line.won_low, line.won_high),
                f"{line.shown:,}",
                line.status,
            )
        )
    return Table(head, rows, (0, *range(2, len(head) - 1)), title=title)


def pairs_table(names: Sequence[str], above: Floats, ties: Floats) -> Table:
    """Make the table of all pairs: how often the row was placed above the column, ties half, and of how many comparisons."""
    rows = []
    for i, name in enumerate(names):
        cells = [f"{i + 1} {name}"]
        for j in range(len(names)):
            met = above[i, j] + above[j, i] + ties[i, j]
            won = above[i, j] + 0.5 * ties[i, j]
            cells.append("" if i == j or met == 0 else f"{share(won / met)}\n{met:,.0f}")
        rows.append(cells)
    return Table(["", *(str(k + 1) for k in range(len(names)))], rows, range(1, len(names) + 1))
