"""``multiduel paper``: every experiment of Du, Wang and Huang (AAMAS 2020), its figures, its claims, one report."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from multiduel.display import regret_figures
from multiduel.files import write_whole
from multiduel.inputs import BadInput, cores
from multiduel.lab import compile_ahead, experiment, results, runner
from multiduel.lab.experiment import Experiment
from multiduel.lab.paper import claims, panels, report
from multiduel.lab.paper.drawing import Drawing
from multiduel.lab.paper.mslr import KEPT, make
from multiduel.lab.paper.panels import FURTHER, MULTI, TWO
from multiduel.lab.problem import DATA, data_folder
from multiduel.lab.results import Panel

Watch = Callable[[str], AbstractContextManager[runner.Progress | None]]


def find_data(data: Path | None, experiments: Iterable[Experiment]) -> Path | None:
    """The folder of data, this one or that of MULTIDUEL_DATA, if it has all files that are needed; None if there is none."""
    folder = data_folder(data)
    files = {plan.problem["file"] for plan in experiments if plan.problem["kind"] == "data"}
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
    regret_figures.check("regret.png")
    if mslr:
        if data or matrix:
            raise BadInput("'--mslr' makes the matrix that '--data' and '--matrix' would name. Give one or the other.")
        with watch("rankers") as progress:
            data = rankers_of(mslr, out, threads, progress)
        matrix = KEPT
        say(f"rankers: {time.monotonic() - start:.0f} s")
    experiments = panels.load_all(quick=quick, mslr=matrix)
    folder = find_data(data, experiments)
    experiments = [plan for plan in experiments if panels.worth_playing(plan, folder)]
    measured: dict[str, Panel] = {}
    seconds = {}
    at_work = cores(threads, of="paper")
    helped = compile_ahead.compiling(experiments, at_work if cluster is None else 1)
    with helped, Drawing(out / "figures", at_work, {plan.name for plan in experiments}) as drawing:
        playable = [panels.with_problem(plan, folder) for plan in experiments]  # rankers are made while the other core compiles
        for plan, problem in playable:
            before = time.monotonic()
            with watch(plan.name) as progress:
                measured[plan.name] = runner.run(
                    plan,
                    out,
                    problem=problem,
                    data=folder,
                    threads=threads,
                    cluster=cluster,
                    progress=progress,
                    known=tuple(measured.values()),
                )
            drawing.begin(measured)
            seconds[plan.name] = time.monotonic() - before
            say(f"{plan.name}: {seconds[plan.name]:.0f} s")
        return write(out, measured, drawing, seconds, start=start)


def rankers_of(files: Sequence[Path], out: Path, threads: int | None, progress: runner.Progress | None) -> Path:
    """The folder of data made of learning-to-rank files."""
    return make(files, out, threads=threads, progress=(lambda share: progress(share, 1.0)) if progress else None)


def is_here(out: Path) -> bool:
    """Does this folder hold all of the paper's experiments?"""
    return all((out / name / results.MANIFEST).exists() for name in _needed(out))


def rebuild(out: Path) -> Path:
    """The report anew from the folders of a finished run, and from nothing else."""
    start = time.monotonic()
    with Drawing(out / "figures", cores(None, of="report")) as drawing:
        return write(out, {name: results.read(out / name) for name in _needed(out)}, drawing, {}, start=start)


def _needed(out: Path) -> list[str]:
    """The names of the experiments; on generated rankers there are no further ones."""
    first = next(name for name in TWO if panels.on_rankers(experiment.load(panels.shipped()[name])))
    made_up = (out / first / results.MANIFEST).exists() and panels.generated(results.find_folder(out / first).experiment)
    plans = [experiment.load(panels.shipped()[name]) for name in (*TWO, *MULTI, *FURTHER)]
    return [plan.name for plan in plans if not (made_up and plan.name in FURTHER and panels.on_rankers(plan))]


def write(out: Path, measured: dict[str, Panel], drawing: Drawing, seconds: dict[str, float], *, start: float) -> Path:
    """Figures, claims.json, report.md and report.html. ``seconds`` are those that each experiment just took."""
    drawing.begin(measured, rest=True)
    verdicts = claims.judge(measured)
    pictures = drawing.pictures()
    text = json.dumps([dataclasses.asdict(claim) for claim in verdicts], indent=1, allow_nan=False)
    write_whole(out / "claims.json", text + "\n")
    return report.write(out, measured, verdicts, pictures, seconds, total=time.monotonic() - start)
