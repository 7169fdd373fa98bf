"""``multiduel paper``: every experiment of Du, Wang and Huang (AAMAS 2020), its figures, its claims, one report."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from multiduel.files import write_whole
from multiduel.inputs import BadInput
from multiduel.lab import figures, results, runner
from multiduel.lab.experiment import Experiment
from multiduel.lab.paper import claims, panels, report
from multiduel.lab.paper import figures as paper_figures
from multiduel.lab.paper.mslr import KEPT, make
from multiduel.lab.paper.panels import MULTI, READINGS, SLATE_SIZES, TWO
from multiduel.lab.problem import DATA, data_folder
from multiduel.lab.results import Panel

Watch = Callable[[str], AbstractContextManager[runner.Progress | None]]


def find_data(data: Path | None, experiments: Iterable[Experiment]) -> Path | None:
    """The folder of data, this one or that of MULTIDUEL_DATA, if it has all files that are needed; None if there is none."""
    folder = data_folder(data)
    files = {experiment.problem["file"] for experiment in experiments if experiment.problem["kind"] == "data"}
    for file in sorted(files) if folder else ():
        if not (folder / file).is_file():
            raise BadInput(f"'data', or else {DATA}, must be a folder with the file '{file}'. Got '{folder}'.")
    return folder


def paper(
    out: Path,
    *,
    quick: bool = False,
    data: Path | None = None,
    matrix: str | None = None,
    mslr: Sequence[Path] = (),
    threads: int | None = None,
    cluster: str | None = None,
    watch: Watch = lambda name: nullcontext(),
    say: Callable[[str], None] = lambda line: None,
) -> Path:
    """Run what is not yet there, then draw, judge and write the report. Returns the HTML file.

    ``mslr`` are learning-to-rank files that the rankers' matrix is made of; or ``matrix`` is one in the folder ``data``.
    ``say`` is told a line about each experiment as it is finished.
    """
    start = time.monotonic()
    figures.check("regret.png")
    if mslr:
        if data or matrix:
            raise BadInput("'--mslr' makes the matrix that '--data' and '--matrix' would name. Give one or the other.")
        with watch("rankers") as progress:
            data = rankers_of(mslr, out, quick, threads, progress)
        matrix = KEPT
        say(f"rankers: {time.monotonic() - start:.0f} s")
    experiments = panels.load_all(quick=quick, mslr=matrix)
    folder = find_data(data, experiments)
    measured, seconds = {}, {}
    for plan in experiments:
        before = time.monotonic()
        experiment, problem = panels.with_problem(plan, folder)
        with watch(experiment.name) as progress:
            measured[experiment.name] = runner.run(
                experiment,
                out,
                problem=problem,
                data=folder,
                threads=threads,
                cluster=cluster,
                progress=progress,
                known=tuple(measured.values()),
            )
        seconds[experiment.name] = time.monotonic() - before
        say(f"{experiment.name}: {seconds[experiment.name]:.0f} s")
    return write(out, measured, seconds, start=start)


def rankers_of(files: Sequence[Path], out: Path, quick: bool, threads: int | None, progress: runner.Progress | None) -> Path:
    """The folder of data made of learning-to-rank files."""
    return make(files, out, quick=quick, threads=threads, progress=(lambda share: progress(share, 1.0)) if progress else None)


def is_here(out: Path) -> bool:
    """Does this folder hold all of the paper's experiments?"""
    return all((out / name / results.MANIFEST).exists() for name in (*TWO, *MULTI, *READINGS))


def rebuild(out: Path) -> Path:
    """The report anew from the folders of a finished run, and from nothing else."""
    start = time.monotonic()
    return write(out, {name: results.read(out / name) for name in (*TWO, *MULTI, *READINGS)}, {}, start=start)


def write(out: Path, measured: dict[str, Panel], seconds: dict[str, float], *, start: float) -> Path:
    """Figures, claims.json, report.md and report.html. ``seconds`` are those that each experiment just took."""
    pictures = draw(out / "figures", measured)
    verdicts = claims.judge(measured)
    text = json.dumps([dataclasses.asdict(claim) for claim in verdicts], indent=1, allow_nan=False)
    write_whole(out / "claims.json", text + "\n")
    return report.write(out, measured, verdicts, pictures, seconds, total=time.monotonic() - start)


def draw(folder: Path, measured: dict[str, Panel]) -> dict[str, Path]:
    """All figures, as PNG and SVG; the SVG files by name."""
    folder.mkdir(parents=True, exist_ok=True)
    two, multi, sizes = ([measured[name] for name in names if name in measured] for names in (TWO, MULTI, SLATE_SIZES))
    plans = {
        "two-dueling": lambda: paper_figures.regret(two),
        "two-dueling-linear": lambda: paper_figures.regret(two, "linear"),
        "multi-dueling": lambda: paper_figures.regret(multi, columns=2),
        "multi-dueling-linear": lambda: paper_figures.regret(multi, "linear", columns=2),
        "two-dueling-runs": lambda: paper_figures.distribution(two),
        "multi-dueling-runs": lambda: paper_figures.distribution(multi, columns=2),
        "bounds": lambda: paper_figures.bounds(claims.bound_curves(measured)),
        "slate-sizes": lambda: paper_figures.slate_sizes(sizes),
        "cost": lambda: paper_figures.cost([*two, *multi]),
    }
    return {name: paper_figures.save(figure, folder, name)[1] for name, figure in plans.items()}
