"""The leaderboard's pages, made from the shipped results of the benchmark: overall, and one per family."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from docstrings import table  # beside this file

from multiduel.display.tables import Table
from multiduel.lab.bench import figures, leaderboard
from multiduel.lab.bench.play import LEFT_OUT
from multiduel.lab.bench.report import METHOD
from multiduel.lab.bench.suite import FAMILIES, HORIZONS, RUNS, Cell, Family
from multiduel.policies import ALL

FOLDER = "benchmark"
PAGES = {"Leaderboard": f"{FOLDER}/leaderboard.md"} | {
    family.title: f"{FOLDER}/{family.name}.md" for family in FAMILIES.values()
}  # titles and places, for the navigation
NAMES = {spec.name for spec in ALL}


def pages() -> Iterator[tuple[str, str]]:
    """Every page and figure, by its place in docs/."""
    yield PAGES["Leaderboard"], _overall()
    with tempfile.TemporaryDirectory() as folder:
        for slate_size, horizon in leaderboard.settings():
            name = _figure(slate_size, horizon)
            file = figures.profile(leaderboard.overall_of(slate_size, horizon), Path(folder) / name)
            yield f"{FOLDER}/{name}", file.read_text(encoding="utf-8")
    for family in FAMILIES.values():
        yield PAGES[family.title], _family(family)


def _overall() -> str:
    said = leaderboard.summary()
    lines = [
        "# Leaderboard",
        "",
        *_first(),
        "",
        *said[1:],
        "",
        f"*{said[0]}* [The benchmark](../benchmark.md) says how it is played, and "
        "[how to submit a policy](../benchmark.md#submit-a-policy).",
        "",
    ]
    lines += [
        "**Times the best**: the score over the best one of each family, as a geometric mean over families; a family that a "
        "policy was too slow for counts as random slates. **95 % range**: of the rank, over resamples of the instances. **Within "
        "twice the best**: the share of instances on which the mean regret is at most twice that of the best policy there. "
        "**Ends wrong**: the share of runs that recommend a wrong arm at the end, as the mean over the families played. "
        "**CPU a round**: the median over families. "
        "Click a head to sort.",
        "",
    ]
    for (slate_size, horizon), shown in zip(leaderboard.settings(), leaderboard.overall_tables(), strict=True):
        picture = f"![Performance profiles of all policies, m = {slate_size}, T = {horizon:,}]({_figure(slate_size, horizon)})"
        lines += [f"## {shown.title}", "", picture, "", _sortable(shown), ""]
    lines += ["## Families", "", *(f"- [{each.title}]({each.name}.md): {each.about}" for each in FAMILIES.values())]
    return "\n".join(lines)


def _first() -> list[str]:
    """Who leads in each setting, and who cannot be told apart from it there."""
    rows = []
    for slate_size, horizon in leaderboard.settings():
        found = leaderboard.overall_of(slate_size, horizon)
        first = [name for name in found.order() if found.ranks[found.policies.index(name)][1] == 1]
        rows.append((str(slate_size), f"{horizon:,}", _or(first)))
    return ["The policies that may be the best over all families:", "", table(("slates of", "rounds", "rank 1"), rows)]


def _or(names: list[str]) -> str:
    return " or ".join(_link(name) for name in names)


def _family(family: Family) -> str:
    arms = ", ".join(map(str, sorted(set(family.arms))))
    lines = [f"# {family.title}", "", f"{family.about} Source: {family.source}.", ""]
    seeds = f"seeds {family.seed} to {family.seed + len(family.arms) - 1}"
    lines += [f"{len(family.arms)} instances with {arms} arms, {RUNS} runs of each, {seeds}. Hash `{family.digest()}`."]
    if family.benchmark != "condorcet":
        lines += ["Regret is measured against the best Copeland score."]
    lines += ["", "[How to read the tables](#how-to-read-the-tables). Click a head to sort.", ""]
    for horizon in HORIZONS:
        for slate_size in family.slate_sizes:
            cell = Cell(family.name, slate_size, horizon)
            shown, dear = leaderboard.cell_table(cell), leaderboard.left_out(cell)
            if shown is None and not dear:
                continue
            lines += [f"## Slates of {slate_size}, {horizon:,} rounds", ""]
            if shown is not None:
                lines += [_sortable(shown), ""]
            few = [line.policy for line in leaderboard.standings_of(cell) if line.row.runs < RUNS]
            if few:
                lines += [f"Fewer than {RUNS} runs an instance, because a cell has a cap on its CPU time: {', '.join(few)}.", ""]
            if dear:
                lines += [f"Left out: {'; '.join(f'{name} ({note.removeprefix(LEFT_OUT)})' for name, note in dear)}.", ""]
    if not any(leaderboard.standings_of(Cell(family.name, size, horizon)) for size in family.slate_sizes for horizon in HORIZONS):
        lines += ["Not played yet.", ""]
    lines += ["## How to read the tables", "", METHOD]
    return "\n".join(lines)


def _sortable(shown: Table) -> str:
    """A table that is sorted by a click on a head."""
    rows = [(_link(row[0]), *row[1:]) for row in shown.rows]
    return f'<div class="sortable" markdown>\n\n{table(shown.head, rows)}\n\n</div>'


def _link(policy: str) -> str:
    return f"[{policy}](../policies/{policy.replace('+', '-plus')}.md)" if policy in NAMES else policy


def _figure(slate_size: int, horizon: int) -> str:
    return f"profile-m{slate_size}-T{horizon}.svg"
