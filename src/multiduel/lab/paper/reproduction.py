"""``multiduel paper``: every experiment of Du, Wang and Huang (AAMAS 2020), its figures, its claims, one report."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from multiduel.engine import figures
from multiduel.files import write_whole
from multiduel.inputs import BadInput, cores
from multiduel.lab import ahead, experiment, results, runner
from multiduel.lab.experiment import Experiment
from multiduel.lab.paper import claims, panels, report
from multiduel.lab.paper import figures as paper_figures
from multiduel.lab.paper.mslr import KEPT, make
from multiduel.lab.paper.panels import MULTI, READINGS, SLATE_SIZES, THEORY, TWO
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
    figures.check("regret.png")
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
    helped = ahead.compiling(experiments, cores(threads, of="paper") if cluster is None else 1)
    with helped, Drawing(out / "figures") as drawing:
        for plan in experiments:
            before = time.monotonic()
            playable, problem = panels.with_problem(plan, folder)
            with watch(plan.name) as progress:
                measured[plan.name] = runner.run(
                    playable,
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
    with Drawing(out / "figures") as drawing:
        return write(out, {name: results.read(out / name) for name in _needed(out)}, drawing, {}, start=start)


def _needed(out: Path) -> list[str]:
    """The names of the experiments; on generated rankers there are no readings."""
    first = next(name for name in TWO if panels.on_rankers(experiment.load(panels.shipped()[name])))
    made_up = (out / first / results.MANIFEST).exists() and panels.generated(results.find_folder(out / first).experiment)
    plans = [experiment.load(panels.shipped()[name]) for name in (*TWO, *MULTI, *READINGS)]
    return [plan.name for plan in plans if not (made_up and plan.name in READINGS and panels.on_rankers(plan))]


def write(out: Path, measured: dict[str, Panel], drawing: Drawing, seconds: dict[str, float], *, start: float) -> Path:
    """Figures, claims.json, report.md and report.html. ``seconds`` are those that each experiment just took."""
    drawing.begin(measured, rest=True)
    verdicts = claims.judge(measured)
    pictures = drawing.pictures()
    text = json.dumps([dataclasses.asdict(claim) for claim in verdicts], indent=1, allow_nan=False)
    write_whole(out / "claims.json", text + "\n")
    return report.write(out, measured, verdicts, pictures, seconds, total=time.monotonic() - start)


class Drawing:
    """The figures, each drawn as soon as its experiments are there: by a thread of its own, while others are still played."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="multiduel-figures")
        self.begun: dict[str, Future[list[Path]]] = {}

    def begin(self, measured: Mapping[str, Panel], *, rest: bool = False) -> None:
        """Those whose experiments are all there and that were not begun before; of the ``rest``, no more are to come."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, (needed, figure) in FIGURES.items():
            panels = [measured[each] for each in needed if each in measured]
            if name not in self.begun and panels and (rest or len(panels) == len(needed)):
                self.begun[name] = self.pool.submit(paper_figures.save, partial(figure, panels), self.folder, name)

    def pictures(self) -> dict[str, Path]:
        """The SVG files by name, once all are drawn."""
        return {name: drawn.result()[-1] for name, drawn in self.begun.items()}

    def __enter__(self) -> Drawing:
        return self

    def __exit__(self, *trouble: object) -> None:
        self.pool.shutdown(wait=trouble[0] is None, cancel_futures=True)


def _bound_curves(panels: Sequence[Panel]) -> Any:
    return claims.bound_curves({panel.experiment.name: panel for panel in panels})


# What each is drawn from, and how.
FIGURES: dict[str, tuple[Sequence[str], Callable[[list[Panel]], Any]]] = {
    "two-dueling": (TWO, paper_figures.regret),
    "two-dueling-linear": (TWO, partial(paper_figures.regret, scale="linear")),
    "multi-dueling": (MULTI, partial(paper_figures.regret, columns=2, decades=3)),
    "multi-dueling-linear": (MULTI, partial(paper_figures.regret, scale="linear", columns=2)),
    "two-dueling-runs": (TWO, paper_figures.distribution),
    "multi-dueling-runs": (MULTI, partial(paper_figures.distribution, columns=2)),
    "bounds": (THEORY, lambda panels: paper_figures.bounds(_bound_curves(panels))),
    "slate-sizes": (SLATE_SIZES, paper_figures.slate_sizes),
    "cost": ((*TWO, *MULTI), paper_figures.cost),
    # the same in one column
    "two-dueling-narrow": (TWO, paper_figures.narrow_regret),
    "two-dueling-linear-narrow": (TWO, partial(paper_figures.narrow_regret, scale="linear")),
    "multi-dueling-narrow": (MULTI, paper_figures.narrow_regret),
    "multi-dueling-linear-narrow": (MULTI, partial(paper_figures.narrow_regret, scale="linear")),
    "two-dueling-runs-narrow": (TWO, partial(paper_figures.distribution, columns=1)),
    "multi-dueling-runs-narrow": (MULTI, partial(paper_figures.distribution, columns=1)),
    "bounds-narrow": (THEORY, lambda panels: paper_figures.bounds(_bound_curves(panels), columns=1)),
    "slate-sizes-narrow": (SLATE_SIZES, partial(paper_figures.slate_sizes, columns=1)),
}
