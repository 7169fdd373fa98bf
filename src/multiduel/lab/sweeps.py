"""A sweep's results: a folder with a folder for each experiment, small multiples, and the best on each problem.

OUT/<sweep>/sweep.json               which experiments, in their order
            <experiment>/...         as any other
            regret.*, summary.*      of all together
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from multiduel.display.documents import Block, Heading, Picture, Text
from multiduel.display.regret_tables import INTERVAL, Beside, regret_table
from multiduel.display.tables import Table
from multiduel.engine.simulation.result import Results
from multiduel.files import file_name, write_whole
from multiduel.inputs import BadInput, cores
from multiduel.lab import report, results, runner
from multiduel.lab.cluster import check_address
from multiduel.lab.comparison import Comparison, compare
from multiduel.lab.experiment import Sweep
from multiduel.lab.folder_lock import occupied
from multiduel.lab.report import FigureOptions
from multiduel.lab.results import MANIFEST, OTHER, Panel
from multiduel.lab.shards import Shard
from multiduel.lab.workload import Outlook, look_ahead
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
    shard: Shard | None = None,
    watch: Watch = lambda name: nullcontext(),
    announce: Callable[[Outlook], None] = lambda outlook: None,
) -> list[Panel]:
    """Results of all experiments of a sweep, in the folder ``out``/<its name>; of a single one as ``runner.run`` keeps them.

    ``announce`` is told what is ahead before the first is played; ``watch`` gives each experiment its progress line. Runs that
    two experiments share, such as those of a two-dueling policy for several slate sizes, are played once. With a ``shard`` only
    its blocks are played, and only experiments whose parts are all there have results.
    """
    cores(threads, of="run")
    if cluster is not None:
        check_address(cluster)
    if cluster is not None and shard is not None:
        raise BadInput("'--shard' is for commands that a scheduler starts, '--cluster' for Dask: give one of them.")
    options: dict[str, Any] = {"problem": problem, "data": data, "threads": threads}
    where = Path(out) / sweep.name if sweep.several else Path(out)
    pairs = [(experiment, runner.problem_of(experiment, problem, data)) for experiment in sweep.experiments]
    if sweep.several and (where / MANIFEST).exists():
        raise BadInput(f"'{where}' holds results of one experiment, and this is a sweep. {OTHER}")
    measured: list[Panel] = []
    mine = "" if shard is None else f".shard-{shard.number}-of-{shard.count}"  # shards keep out of each other's way only
    with occupied(Path(out) / (sweep.name + mine)):
        announce(look_ahead(pairs, where, shard))
        for experiment in sweep.experiments:
            with watch(experiment.name) as progress:
                known = tuple(measured)
                if shard is None:
                    held = runner.run_held(experiment, where, **options, cluster=cluster, progress=progress, known=known)
                    measured.append(held)
                elif panel := runner.run_shard(experiment, where, shard, **options, progress=progress, known=known):
                    measured.append(panel)
        if sweep.several and len(measured) == len(sweep.experiments):
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


def read_results(folder: str | Path) -> dict[str, Results]:
    """Read the results of an experiment's folder, or of a sweep's.

    Parameters
    ----------
    folder
        What ``multiduel run`` wrote.

    Returns
    -------
    dict
        Of each experiment, by its name and in its order, the results of its contenders under their labels.

    Raises
    ------
    BadInput
        If it is no such folder, or if results are missing.

    Examples
    --------
    >>> import tempfile
    >>> from multiduel.lab import experiment, runner
    >>> text = '''
    ... name = "small"
    ... horizon = 100
    ... runs = 2
    ... problem = { kind = "synthetic", arms = 4 }
    ... contenders = [{ policy = "uniform", label = "by chance" }]
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = runner.run(experiment.parse(text, "small.toml"), Path(folder))
    ...     read_results(folder)["small"]["by chance"].runs
    2
    """
    path = Path(file_name(folder))
    panels = read(path)[1] if is_here(path) else [results.read(each) for each in results.folders_in(path)]
    return {panel.experiment.name: Results(panel.results) for panel in panels}


def compared(panels: list[Panel], regret: str | None = None) -> list[Comparison]:
    """Who is best, on each problem of a sweep."""
    return [compare(panel.showing(regret or panel.experiment.regret)) for panel in panels]


def latex(title: str, compared: list[Comparison]) -> str:
    """Write all experiments of a sweep as one table in LaTeX."""
    return report.latex_sweep(title, compared, [_name(each.panel) for each in compared])


def grid(panels: list[Panel], options: FigureOptions) -> FigureOptions:
    """As many columns as there are slate sizes, if a sweep has several of each problem and nothing else was told."""
    sizes = list(dict.fromkeys(panel.experiment.slate_size for panel in panels))
    in_order = [panel.experiment.slate_size for panel in panels] == sizes * (len(panels) // len(sizes))
    return replace(options, columns=len(sizes)) if options.columns is None and len(sizes) > 1 and in_order else options


def write(
    title: str, compared: list[Comparison], folder: Path, *, tag: str = "", options: FigureOptions = FigureOptions()
) -> list[Path]:
    """Small multiples and summaries of all experiments of a sweep; ``tag`` is for the names of the files."""
    return report.write_page(
        folder,
        tag,
        [report.subplot(each.panel, _name(each.panel)) for each in compared],
        lambda wide, narrow: blocks(title, compared, wide, narrow),
        numbers(title, compared),
        grid([each.panel for each in compared], options),
    )


def _name(panel: Panel) -> str:
    """What varies, in words."""
    return panel.experiment.short or panel.experiment.name


def best_table(compared: list[Comparison], title: str = "") -> Table:
    """Make a table of the best on each problem, and who comes next."""
    nexts = [each.standings[1] if len(each.standings) > 1 else None for each in compared]
    return regret_table(
        [each.best.summary for each in compared],
        [
            Beside("problem", [_name(each.panel) for each in compared]),
            "name",
            "mean",
            "interval",
            Beside("next", [each.line.label if each else "-" for each in nexts]),
            Beside("times the best's", [each.times_best if each else "-" for each in nexts], numeric=True),
            Beside("the best is", [each.verdict for each in compared]),
        ],
        name="best",
        title=title,
    )


def contender_table(compared: list[Comparison]) -> Table:
    """Make a table of all contenders on all problems."""
    pairs = [(each.panel, standing) for each in compared for standing in each.standings]
    return regret_table(
        [standing.summary for _, standing in pairs],
        [
            Beside("problem", [_name(panel) for panel, _ in pairs]),
            "name",
            "m",
            "runs",
            "mean",
            "interval",
            Beside("times the best's", [standing.times_best for _, standing in pairs], numeric=True),
            Beside("may be the best", ["no" if standing.left_out else "yes" for _, standing in pairs]),
        ],
        name="contender",
    )


def blocks(title: str, compared: list[Comparison], figure: Path, narrow: Path) -> list[Block]:
    first = compared[0].panel.experiment
    return [
        Heading(title, 1),
        Text(f"{len(compared)} experiments. T = {first.horizon:,}, seed {first.seed}; regret: {first.regret}, at the end."),
        Picture(figure, report.caption([each.panel for each in compared]), narrow),
        Heading("Best on each problem"),
        best_table(compared),
        Text(
            "The best is who has the least mean regret here. Who truly has the least is among those not told apart from it, "
            "for each problem, in 95 of 100 experiments; no verdict rests on fewer than 20 runs. "
            f"Intervals of means: {INTERVAL}; of ratios: 95 %, studentised bootstrap."
        ),
        Heading("All contenders"),
        contender_table(compared),
        *(Text(f"{_name(each.panel)}: {one} and {other} are equal in every run, bit by bit.")
          for each in compared for one, other in report.equals(each.panel)),
        Text(report.origin(compared[0].panel)),
    ]  # fmt: skip


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
                        "runs": standing.summary.runs,
                        "mean": standing.summary.mean,
                        "interval_95": standing.summary.interval,
                    }
                    for standing in each.standings
                ],
            }
            for each in compared
        ],
    }
