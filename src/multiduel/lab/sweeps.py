"""A sweep's results: a folder with a folder for each experiment, small multiples, and the best on each problem.

OUT/<sweep>/sweep.json               which experiments, in their order
            <experiment>/...         as any other
            regret.*, summary.*      of all together
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable

from multiduel.files import write_whole
from multiduel.inputs import BadInput, cores
from multiduel.lab import results, runner, show
from multiduel.lab.cluster import check_address
from multiduel.lab.comparison import Comparison, compare
from multiduel.lab.document import Block, Heading, Picture, Table, Text
from multiduel.lab.experiment import Sweep
from multiduel.lab.occupied import occupied
from multiduel.lab.outlook import Outlook, look_ahead
from multiduel.lab.results import MANIFEST, OTHER, Panel
from multiduel.lab.statistics import number
from multiduel.problems import Problem

SWEEP = "sweep.json"
FORMAT = "multiduel-sweep-1"

Watch = Callable[[str], AbstractContextManager[runner.Progress | None]]


def run(
    sweep: Sweep,
    out: Path,
    *,
    problem: Problem | None = None,
    data: Path | None = None,
    threads: int | None = None,
    cluster: str | None = None,
    watch: Watch = lambda name: nullcontext(),
    announce: Callable[[Outlook], None] = lambda outlook: None,
) -> list[Panel]:
    """Results of all experiments of a sweep, in the folder ``out``/<its name>; of a single one as ``runner.run`` keeps them.

    ``announce`` is told what is ahead before the first is played; ``watch`` gives each experiment its progress line. Runs that
    two experiments share, such as those of a two-dueling policy for several slate sizes, are played once.
    """
    cores(threads, of="run")
    if cluster is not None:
        check_address(cluster)
    options: dict[str, Any] = {"problem": problem, "data": data, "threads": threads, "cluster": cluster}
    where = Path(out) / sweep.name if sweep.several else Path(out)
    pairs = [(experiment, runner.problem_of(experiment, problem, data)) for experiment in sweep.experiments]
    if sweep.several and (where / MANIFEST).exists():
        raise BadInput(f"'{where}' holds results of one experiment, and this is a sweep. {OTHER}")
    measured: list[Panel] = []
    with occupied(Path(out) / sweep.name):
        announce(look_ahead(pairs, where))
        for experiment in sweep.experiments:
            with watch(experiment.name) as progress:
                measured.append(runner.run_held(experiment, where, **options, progress=progress, known=tuple(measured)))
        if sweep.several:
            names = [experiment.name for experiment in sweep.experiments]
            facts = {"format": FORMAT, "name": sweep.name, "title": sweep.title, "experiments": names}
            write_whole(where / SWEEP, json.dumps(facts, indent=1) + "\n")
    return measured


def is_here(folder: Path) -> bool:
    return (folder / SWEEP).exists()


def read(folder: Path) -> tuple[str, list[Panel]]:
    """The title and the results of a sweep's folder."""
    try:
        facts = json.loads((folder / SWEEP).read_text(encoding="utf-8"))
        title, names = str(facts["title"] or facts["name"]), [str(name) for name in facts["experiments"]]
        if facts["format"] != FORMAT or not names or any("/" in name or name.startswith(".") for name in names):
            raise ValueError
    except (OSError, KeyError, TypeError, ValueError):
        raise BadInput(f"'{folder / SWEEP}' is damaged. The command that began the sweep writes it anew.") from None
    return title, [results.read(folder / name) for name in names]


def compared(panels: list[Panel], regret: str | None = None) -> list[Comparison]:
    """Who is best, on each problem of a sweep."""
    return [compare(panel.showing(regret or panel.experiment.regret)) for panel in panels]


def write(title: str, compared: list[Comparison], folder: Path, *, tag: str = "") -> list[Path]:
    """Small multiples and summaries of all experiments of a sweep; ``tag`` is for the names of the files."""
    shown = compared[0].panel.experiment.regret
    return show.write_page(
        folder,
        tag,
        [show.picture(each.panel, _name(each.panel)) for each in compared],
        shown,
        lambda wide, narrow: blocks(title, compared, wide, narrow),
        numbers(title, compared),
    )


def _name(panel: Panel) -> str:
    """What varies, in words."""
    return panel.experiment.short or panel.experiment.name


def best_rows(compared: list[Comparison]) -> list[list[str]]:
    """A row per problem, as BEST says."""
    rows = []
    for each in compared:
        next_one = each.standings[1] if len(each.standings) > 1 else None
        beside = [next_one.line.label, next_one.times_best] if next_one else ["-", "-"]
        best = each.best
        rows.append([_name(each.panel), best.line.label, number(best.mean.value), best.interval, *beside, each.verdict])
    return rows


BEST = ("problem", "best", "mean regret", "95% interval", "next", "times the best's", "the best is")


def blocks(title: str, compared: list[Comparison], figure: Path, narrow: Path) -> list[Block]:
    first = compared[0].panel.experiment
    rows = [
        [_name(each.panel), standing.line.label, str(standing.line.result.slate_size), str(standing.mean.runs),
         number(standing.mean.value), standing.interval, standing.times_best, "no" if standing.left_out else "yes"]
        for each in compared
        for standing in each.standings
    ]  # fmt: skip
    return [
        Heading(title, 1),
        Text(f"{len(compared)} experiments. T = {first.horizon:,}, seed {first.seed}; regret: {first.regret}, at the end."),
        Picture(figure, "Mean regret over rounds; bands are 95% intervals of the mean (Student's t).", narrow),
        Heading("Best on each problem"),
        Table(BEST, best_rows(compared), numeric=(2, 3, 5)),
        Text(
            "The best is who has the least mean regret here. Who truly has the least is among those not told apart from it, "
            "for each problem, in 95 of 100 experiments; no verdict rests on fewer than 20 runs. Intervals are 95%, by the "
            "studentised bootstrap."
        ),
        Heading("All contenders"),
        Table(
            ("problem", "contender", "m", "runs", "mean regret", "95% interval", "times the best's", "may be the best"),
            rows,
            numeric=(2, 3, 4, 5, 6),
        ),
        *(Text(f"{_name(each.panel)}: {one} and {other} are equal in every run, bit by bit.")
          for each in compared for one, other in show.equals(each.panel)),
        Text(show.origin(compared[0].panel)),
    ]  # fmt: skip


def best_table(title: str, compared: list[Comparison]) -> RichTable:
    """The best on each problem, for the terminal."""
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title=f"{title}: best", title_justify="left")
    for column, head in enumerate(BEST):
        table.add_column(head, justify="right" if column in (2, 3, 5) else "left", overflow="fold")
    for row in best_rows(compared):
        table.add_row(*row)
    return table


def numbers(title: str, compared: list[Comparison]) -> dict[str, Any]:
    """The main numbers as plain JSON."""
    return {
        "title": title,
        "problems": [
            {
                "problem": _name(each.panel),
                "experiment": each.panel.experiment.name,
                "best": each.best.line.id,
                "may_be_best": [standing.line.id for standing in each.standings if not standing.left_out],
                "verdict": each.verdict,
                "contenders": [
                    {
                        "id": standing.line.id,
                        "label": standing.line.label,
                        "runs": standing.mean.runs,
                        "mean": standing.mean.value,
                        "interval_95": [max(0.0, mean.low), mean.high] if (mean := standing.mean).has_interval else None,
                    }
                    for standing in each.standings
                ],
            }
            for each in compared
        ],
    }
