"""``multiduel run`` and ``multiduel report``: experiments from files, results into folders. Heavy imports wait."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multiduel.cli.terminal import console
from multiduel.display.progress import duration, progress_bar
from multiduel.inputs import BadInput, cores, did_you_mean, visible

if TYPE_CHECKING:
    from multiduel.lab.experiment import Sweep
    from multiduel.lab.report import FigureOptions
    from multiduel.lab.results import Panel
    from multiduel.lab.workload import Outlook

app = typer.Typer(add_completion=False, rich_markup_mode=None)
FIRST_PAGE, NEXT_PAGE = 1.8, 0.8  # seconds to draw an experiment's figures and write its page, on one core

Out = Annotated[Path, typer.Option(help="Folder of results; each experiment gets a folder in it.")]
Data = Annotated[Path | None, typer.Option(help="Folder of data; by default the variable MULTIDUEL_DATA names it.")]
Threads = Annotated[int | None, typer.Option(help="Number of threads; all cores by default. The results do not depend on it.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="local|ADDRESS", help="Use a Dask cluster: 'local' starts one, tcp://HOST:PORT is the address of a scheduler."
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Run a small version, in seconds.")]


@app.command()
def run(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE.toml", help="Experiments: files, or names from --list.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments that come with multiduel.")] = False,
    out: Out = Path("results"),
    data: Data = None,
    threads: Threads = None,
    cluster: Cluster = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="NUMBER/COUNT", help="Share to play, such as 3/16, with a common --out; the last one merges all."),
    ] = None,
    quick: Quick = False,
) -> None:
    """Run experiments from files. You may stop the command, even with kill -9; the same command continues."""
    from multiduel.display import regret_figures
    from multiduel.lab import experiment as experiments
    from multiduel.lab import sweeps
    from multiduel.lab.paper import panels
    from multiduel.lab.shards import parse_shard

    share = parse_shard(shard) if shard is not None else None
    if listed:
        all_shipped = [experiments.load(path) for path in panels.shipped().values()]
        width = max((len(experiment.name) for experiment in all_shipped), default=0)
        for experiment in all_shipped:
            print(visible(f"{experiment.name.ljust(width)}  {experiment.title}"))
        return
    if not files:
        raise BadInput("Name an experiment: a file ending in .toml, or a name from 'multiduel run --list'.")
    choices = [_find(name) for name in files]
    names = [sweep.name for sweep in choices]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"Experiments of one call must have different names. Got '{name}' {names.count(name)} times.")
    regret_figures.check("regret.png")
    for file, sweep in zip(files, choices, strict=True):
        if quick:
            sweep = experiments.quick_all(sweep)
        problem = None
        if file in panels.shipped():
            experiment, problem = panels.with_problem(sweep.experiments[0], data)
            sweep = dataclasses.replace(sweep, experiments=(experiment,))
        told = partial(_announce, sweep.name, threads, cluster)
        measured = sweeps.run(
            sweep,
            out,
            problem=problem,
            data=data,
            threads=threads,
            cluster=cluster,
            shard=share,
            watch=progress_line,
            announce=told,
        )
        if len(measured) < len(sweep.experiments):
            left = "Parts of other shards are missing; the shard that plays the last one merges all and writes the report."
            console().print(f"Shard {share} of {sweep.name} is finished. {left}", markup=False, soft_wrap=True)
        elif sweep.several:
            _show_sweep(sweep.title or sweep.name, measured, out / sweep.name)
        else:
            _show(measured[0], out / sweep.name)


def _announce(name: str, threads: int | None, cluster: str | None, ahead: Outlook) -> None:
    """Say how many parts there are, and an estimate of the time, before the first is played."""
    screen = console()
    screen.print(f"{name}: {ahead}", markup=False, soft_wrap=True)
    if ahead.tasks:
        at_work = 1 if cluster else min(cores(threads, of="run"), len(ahead.tasks))
        where = "of work for one core" if cluster else f"on {at_work} core{'s' * (at_work > 1)}"
        pages = ahead.experiments + (ahead.experiments > 1)
        seconds = ahead.seconds() / at_work + FIRST_PAGE + NEXT_PAGE * (pages - 1)
        said = f"Estimated time: {duration(seconds)} {where}, with drawing, from a short trial."
        screen.print(said, markup=False, soft_wrap=True)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of results of one experiment, or of several.")],
    regret: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Kind of regret to show, in separate files: average, strong, weak or slots."),
    ] = None,
    latex: Annotated[
        bool, typer.Option("--latex", help="Print the table in LaTeX (booktabs), one for a sweep, and write nothing.")
    ] = False,
    pdf: Annotated[bool, typer.Option("--pdf", help="Write the figure as PDF too, with fonts embedded.")] = False,
    size: Annotated[
        str | None, typer.Option(metavar="single|double", help="Width of the figure: one column of a paper, or both.")
    ] = None,
    legend: Annotated[
        str | None,
        typer.Option(
            metavar="labels|inside|outside", help="Legend of the figure: labels (at the ends of the lines), inside or outside."
        ),
    ] = None,
    columns: Annotated[int | None, typer.Option(help="Number of panels in a row, for a sweep.")] = None,
    show: Annotated[
        str,
        typer.Option(
            metavar="regret|per-log|runs",
            help="What to plot: regret (over rounds), per-log (regret over ln t) or runs (final regret of every run).",
        ),
    ] = "regret",
) -> None:
    """Draw and summarise a finished run again, from its folder."""
    from multiduel.display import regret_figures
    from multiduel.lab import report as reports
    from multiduel.lab import results, sweeps

    regret_figures.check("regret.png")
    options = reports.FigureOptions(pdf=pdf, size=size, legend=legend, columns=columns, show=show)
    options.check()
    folders = results.folders_in(folder)
    if latex and sweeps.is_here(folder):
        title, panels = sweeps.read(folder)
        print(sweeps.latex(title, sweeps.compared(panels, regret)), end="")
        return
    if latex:
        print("\n".join(reports.latex(results.read(path), regret) for path in folders), end="")
        return
    if sweeps.is_here(folder):
        return _show_sweep(*sweeps.read(folder), folder, regret, options)
    for path in folders:
        _show(results.read(path), path, regret, options)
    from multiduel.lab.paper import reproduction as paper

    if regret is None and paper.is_here(folder):
        print(f"Wrote {paper.rebuild(folder)}")


@app.command()
def paper(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]", help="Another paper: rmed2015, dts2016, selfsparring2017, mergedts2020, or a folder."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of results. Default: results/paper, or results/NAME.")] = None,
    data: Data = None,
    mslr: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE...", help="Learning-to-rank files; the matrix of the rankers is computed from them."),
    ] = None,
    matrix: Annotated[
        str | None, typer.Option(metavar="FILE", help="File with the matrix of the rankers, in the folder of data.")
    ] = None,
    threads: Threads = None,
    cluster: Cluster = None,
    quick: Quick = False,
) -> None:
    """Reproduce Du, Wang, Huang (AAMAS 2020), or another paper. Write figures, an outcome for every claim, and one report.

    You may stop the command; the same command continues. Without the MSLR data, generated rankers take their place, and every
    title says so. Panels of other papers whose data is missing are left out, and the report says so.
    """
    from multiduel.lab.paper import reproduction as whole_paper

    say = (lambda line: None) if sys.stderr.isatty() else (lambda line: print(line, file=sys.stderr, flush=True))
    if names and not mslr:
        _another_paper(names, out, data, matrix, threads, cluster, quick, say)
        return
    folder = out or Path("results", "paper-quick" if quick else "paper")
    page = whole_paper.paper(
        folder,
        quick=quick,
        data=data,
        matrix=matrix,
        mslr=[*(mslr or ()), *map(Path, names or ())],
        threads=threads,
        cluster=cluster,
        watch=progress_line,
        say=say,
    )
    print(f"Wrote {page}")


def _another_paper(
    names: list[str],
    out: Path | None,
    data: Path | None,
    matrix: str | None,
    threads: int | None,
    cluster: str | None,
    quick: bool,
    say: Callable[[str], None],
) -> None:
    from multiduel.lab.papers import reproduction
    from multiduel.lab.papers.claims_file import load

    if len(names) > 1:
        raise BadInput(f"'paper' takes one NAME; several files go with '--mslr'. Got {len(names)}.")
    if matrix is not None:
        raise BadInput("'--matrix' is for our paper's rankers. Leave it out with a NAME.")
    folder = out or Path("results", load(names[0]).name + ("-quick" if quick else ""))
    page = reproduction.reproduce(
        names[0], folder, quick=quick, data=data, threads=threads, cluster=cluster, watch=progress_line, say=say
    )
    print(f"Wrote {page}")


def _find(name: str) -> Sweep:
    from multiduel.lab import experiment as experiments
    from multiduel.lab.paper import panels

    shipped = panels.shipped()
    if name in shipped:
        return experiments.load_all(shipped[name])
    if not name.endswith(".toml") and not Path(name).exists():
        hint = did_you_mean(name, shipped)
        raise BadInput(f"There is no experiment '{name}'.{hint} 'multiduel run --list' lists those that come with it.")
    return experiments.load_all(name)


def _show(panel: Panel, folder: Path, regret: str | None = None, options: FigureOptions | None = None) -> None:
    from multiduel.lab import report

    paths = report.write(panel, folder, regret=regret, options=options or report.FigureOptions())
    screen = console()
    screen.print(report.panel_table(panel, regret))
    for note in report.notes(panel.showing(regret or panel.experiment.regret)):
        screen.print(note, markup=False, soft_wrap=True)
    screen.print(f"Wrote {', '.join(path.name for path in paths)} in {folder}", markup=False, soft_wrap=True)


def _show_sweep(
    title: str, measured: list[Panel], folder: Path, regret: str | None = None, options: FigureOptions | None = None
) -> None:
    from multiduel.display.tables import rich_table
    from multiduel.lab import report, sweeps

    for panel in measured:
        report.write(panel, folder / panel.experiment.name, regret=regret)
    compared = sweeps.compared(measured, regret)
    tag = "" if regret in (None, measured[0].experiment.regret) else f"-{regret}"
    paths = sweeps.write(title, compared, folder, tag=tag, options=options or report.FigureOptions())
    screen = console()
    screen.print(rich_table(sweeps.best_table(compared, f"{title}: best")))
    written = f"Wrote {', '.join(path.name for path in paths)} in {folder}, and the same in the folder of each experiment"
    screen.print(written, markup=False, soft_wrap=True)


progress_line = partial(progress_bar, unit="rounds", keep=True)  # of one experiment
