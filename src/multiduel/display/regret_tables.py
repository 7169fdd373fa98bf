"""The table of results: which columns there are, what they are called and how their numbers are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from multiduel.display.tables import Table, between, number


class Summary(NamedTuple):
    """What is shown of a policy's runs: regret at the last checkpoint, and what it took."""

    name: str
    problem: str
    slate_size: int
    horizon: int
    runs: int
    mean: float
    interval: tuple[float, float] | None  # 95 % of the mean; None of a single run
    std: float | None
    quantiles: tuple[float, float, float]  # at 5 %, 50 % and 95 % of the runs
    seconds: float
    compile_seconds: float
    winner_found: float | None = None  # share of runs that recommend the winner; None if there is none


class Column(NamedTuple):
    head: str
    cell: Callable[[Summary], str]


class Beside(NamedTuple):
    """A column of words that only one table has, beside those of all tables."""

    head: str
    cells: Sequence[str]
    numeric: bool = False


COLUMNS = {
    "problem": Column("problem", lambda s: s.problem),
    "m": Column("m", lambda s: str(s.slate_size)),
    "horizon": Column("T", lambda s: f"{s.horizon:,}"),
    "runs": Column("runs", lambda s: str(s.runs)),
    "mean": Column("mean regret", lambda s: number(s.mean)),
    "interval": Column("95 % interval", lambda s: between(s.interval)),
    "std": Column("std", lambda s: "-" if s.std is None else number(s.std)),
    "median": Column("median", lambda s: number(s.quantiles[1])),
    "spread": Column("5 % to 95 %", lambda s: between((s.quantiles[0], s.quantiles[2]) if s.runs > 1 else None)),
    "winner": Column("winner found", lambda s: "-" if s.winner_found is None else f"{100 * s.winner_found:.0f} %"),
    "seconds": Column("seconds", lambda s: f"{s.seconds:.2f}"),
    "compiling": Column("compile", lambda s: f"{s.compile_seconds:.2f}"),
}
INTERVAL = "95 %, Student's t over runs"  # what is said of the interval of a mean, wherever one is shown


def regret_table(
    summaries: Sequence[Summary],
    columns: Sequence[str | Beside],
    *,
    name: str = "policy",
    title: str = "",
    folded: str = "",
    bold_least: bool = False,
) -> Table:
    """Make a table with a row for each summary.

    Parameters
    ----------
    summaries
        The rows, in their order.
    columns
        Keys of ``COLUMNS``, "name" for the name, and columns that only this table has.
    name
        What those who are named are called.
    title, folded
        As of ``Table``.
    bold_least
        Whether the least mean is bold.

    Examples
    --------
    >>> from multiduel.display.tables import text_table
    >>> one = Summary("rucb", "tea", 2, 1000, 20, 15.25, (12.0, 18.5), 7.0, (9.0, 14.0, 30.0), 0.1, 2.0)
    >>> print(text_table(regret_table([one], ["name", "m", "mean", "interval"])))
    policy  m  mean regret  95 % interval
    rucb    2  15.25        12 to 18.5
    """
    shown = [_column(summaries, each, name) for each in columns]
    if bold_least:
        least = min(summary.mean for summary in summaries)
        place = columns.index("mean")
        cells = [f"**{number(s.mean)}**" if s.mean == least else number(s.mean) for s in summaries]
        shown[place] = shown[place]._replace(cells=cells)
    return Table(
        [column.head for column in shown],
        [list(row) for row in zip(*(column.cells for column in shown), strict=True)],
        [place for place, column in enumerate(shown) if column.numeric],
        title,
        folded,
    )


def _column(summaries: Sequence[Summary], column: str | Beside, name: str) -> Beside:
    if isinstance(column, Beside):
        return column
    if column == "name":
        return Beside(name, [summary.name for summary in summaries])
    head, cell = COLUMNS[column]
    return Beside(head, [cell(summary) for summary in summaries], numeric=column != "problem")
