"""The leaderboard, from the shipped results: overall tables, a table per cell, and the sentences about them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from multiduel.display.tables import Table
from multiduel.engine.registry.benchmark_results import PolicyResults, shipped
from multiduel.engine.registry.plugins import is_ours
from multiduel.engine.registry.registry import POLICIES
from multiduel.lab.bench import suite
from multiduel.lab.bench.play import why_not
from multiduel.lab.bench.ranking import Overall, Standing, overall, standings
from multiduel.lab.bench.report import cpu, not_apart, rank, times_best
from multiduel.lab.bench.suite import FAMILIES, HORIZONS, SLATE_SIZES, VERSION, Cell

TWICE = 2.0  # times the best
ENOUGH = 0.8  # of the policies, and of their rows, for a ranking over all families


@cache
def pool() -> dict[str, PolicyResults]:
    """The shipped results, of this suite."""
    return {name: results for name, results in shipped().items() if results.suite == suite.digest()}


def settings() -> list[tuple[int, int]]:
    """Slate sizes and horizons in which enough was played to rank policies over all families."""
    return [(size, horizon) for horizon in HORIZONS for size in SLATE_SIZES if _ranked(size, horizon)]


def _ranked(slate_size: int, horizon: int) -> bool:
    """Were most policies tried in all families, and were few of them too slow under the caps so far?"""
    found = overall_of(slate_size, horizon)
    able = [name for name, results in pool().items() if slate_size == 2 or results.facts.get("slate") == "any"]
    return len(found.policies) >= ENOUGH * len(able) and bool(found.played.size) and float(found.played.mean()) >= ENOUGH


@cache
def overall_of(slate_size: int, horizon: int) -> Overall:
    return overall(slate_size, horizon, pool())


def summary() -> list[str]:
    """The suite and its results in a few sentences."""
    results = pool()
    rows = [row for each in results.values() for row in each.rows.values()]
    whole = sum(row.runs == suite.RUNS for row in rows)
    none = sum(row.runs == 0 for row in rows)
    hours = sum(each.cpu_seconds for each in results.values()) / 3600.0
    cannot = [name for name, spec in POLICIES.items() if why_not(spec)]
    part = [f"m = {size}, T = {end:,}" for end in HORIZONS for size in SLATE_SIZES if not _ranked(size, end)]
    missing = [name for name, spec in POLICIES.items() if is_ours(spec) and name not in results and not why_not(spec)]
    lines = [
        f"Suite {VERSION}, {suite.digest()}: {len(FAMILIES)} families of 20 instances, {len(suite.cells())} cells.",
        f"{len(results)} policies played {len(rows) - none:,} rows in {hours:.1f} CPU hours: {whole:,} with 20 runs an instance, "
        f"{len(rows) - none - whole} with fewer, because a cell has a cap on its CPU time; {none} were left out as too slow.",
        f"Not played, because they need features of the arms: {', '.join(cannot)}." if cannot else "",
        f"Not played yet: {', '.join(missing)}." if missing else "",
        f"Played in part, and not ranked over all families: {'; '.join(part)}. The families' pages have what there is."
        if part
        else "",
    ]
    return [line for line in lines if line]


def overall_tables(most: int | None = None) -> Iterator[Table]:
    """For each slate size and horizon the policies over all families, best first."""
    head = ("policy", "rank", "95 % range", "times the best", "within twice the best", "ends wrong", "families", "CPU a round")
    results = pool()
    for slate_size, horizon in settings():
        found = overall_of(slate_size, horizon)
        lines = []
        for name in found.order()[:most]:
            place = found.policies.index(name)
            rows = [row for row in results[name].rows.values() if row.key[1:] == (slate_size, horizon) and row.runs]
            wrong = float(np.mean([row.wrong.mean() for row in rows]))  # every family counts the same, however many runs it has
            middle = sorted(1e9 * row.seconds / horizon for row in rows)[len(rows) // 2]
            position, first, last = found.ranks[place].tolist()
            within = float(found.profile(name, np.array([TWICE]))[0])
            lines.append(
                (
                    *(name, f"{position}", f"{first} to {last}", f"{found.factor[place]:.2f}"),
                    *(f"{100 * within:.0f} %", f"{100 * wrong:.1f} %"),
                    *(f"{int(found.played[place].sum())} of {len(found.families)}", cpu(middle)),
                )
            )
        yield Table(head, lines, numeric=(1, 3, 4, 5, 7), title=f"Slates of {slate_size}, {horizon:,} rounds")


@cache
def standings_of(cell: Cell) -> list[Standing]:
    return standings(cell, pool())


def cell_table(cell: Cell) -> Table | None:
    """All policies in a cell, best first; None if nobody played it."""
    lines = standings_of(cell)
    if not lines:
        return None
    head = (
        "policy",
        "score",
        "rank",
        "times the best",
        "ends wrong",
        "worst tenth",
        "CPU a round",
        "runs",
        "not told apart from",
    )
    rows = [
        (
            *(line.policy, f"{line.score:.3g}", rank(line), times_best(line), f"{100 * line.wrong:.1f} %", f"{line.worst:.3g}"),
            *(cpu(line.nanoseconds), f"{line.row.regret.size}", not_apart(line.not_apart)),
        )
        for line in lines
    ]
    title = f"Slates of {cell.slate_size}, {cell.horizon:,} rounds"
    return Table(head, rows, numeric=(1, 4, 5, 6, 7), title=title)


def left_out(cell: Cell) -> list[tuple[str, str]]:
    """Policies that a cell is too dear for, and why."""
    key = (cell.family, cell.slate_size, cell.horizon)
    rows = ((name, results.rows.get(key)) for name, results in pool().items())
    return [(name, row.note) for name, row in rows if row is not None and not row.runs]
