"""``multiduel paper``: every experiment of Du, Wang and Huang (AAMAS 2020), its figures, its claims, one report.

The panels are files in lab/paper/panels; the readings, small experiments on what the paper leaves open, are there too.
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from multiduel.files import whole_file
from multiduel.inputs import BadInput
from multiduel.lab import experiment as experiments
from multiduel.lab import figures, results, runner
from multiduel.lab.experiment import DATA, MSLR_FILE, Experiment
from multiduel.lab.paper import claims, report
from multiduel.lab.paper import figures as paper_figures
from multiduel.lab.results import Panel

DEVELOPMENT_DATA = Path("..", "shared", "data")
TWO, MULTI, READING = "two-dueling-", "multi-dueling-", "reading-"
Watch = Callable[[str], AbstractContextManager[runner.Progress | None]]


def find_data(given: Path | None, mslr: str = MSLR_FILE) -> Path | None:
    """The folder of the MSLR matrices: as given, of MULTIDUEL_DATA, or ../shared/data; None if there is none."""
    if given is not None:
        if not (given / mslr).is_file():
            raise BadInput(f"'data' must be a folder with the file '{mslr}'. Got '{given}'.")
        return given
    for folder in (os.environ.get(DATA), DEVELOPMENT_DATA):
        if folder and (Path(folder) / mslr).is_file():
            return Path(folder)
    return None


def asked(*, quick: bool = False, mslr: str = MSLR_FILE, readings: bool = True) -> list[Experiment]:
    """The paper's ten panels, then the readings."""
    chosen = []
    for prefix in (TWO, MULTI, READING) if readings else (TWO, MULTI):
        for name, path in experiments.shipped().items():
            if name.startswith(prefix):
                experiment = experiments.load(path)
                if experiment.problem["kind"] == "mslr":
                    experiment = dataclasses.replace(experiment, problem={**experiment.problem, "file": mslr})
                if quick:
                    experiment = dataclasses.replace(experiments.quick(experiment), name=name, title=experiment.title)
                chosen.append(experiment)
    return chosen


def paper(
    out: Path,
    *,
    quick: bool = False,
    data: Path | None = None,
    mslr: str = MSLR_FILE,
    threads: int | None = None,
    cluster: str | None = None,
    watch: Watch = lambda name: nullcontext(),
) -> Path:
    """Run what is not yet there, then draw, judge and write the report. Returns the HTML file."""
    begun = time.monotonic()
    figures.check("regret.png")
    folder, panels, took = find_data(data, mslr), {}, {}
    for experiment in asked(quick=quick, mslr=mslr):
        start = time.monotonic()
        with watch(experiment.name) as progress:
            panels[experiment.name] = runner.run(
                experiment, out, data=folder, threads=threads, cluster=cluster, progress=progress
            )
        took[experiment.name] = time.monotonic() - start
    return write(out, panels, took, data=folder, begun=begun)


def is_here(out: Path) -> bool:
    """Does this folder hold all of the paper's experiments?"""
    return all((out / experiment.name / results.MANIFEST).exists() for experiment in asked())


def rebuild(out: Path) -> Path:
    """The report anew from the parts of a finished run."""
    panels = {experiment.name: results.read(out / experiment.name) for experiment in asked()}
    return write(out, panels, {}, data=find_data(None), begun=time.monotonic())


def write(out: Path, panels: dict[str, Panel], took: dict[str, float], *, data: Path | None, begun: float) -> Path:
    """Figures, claims.json, report.md and report.html."""
    problems = {name: experiments.resolve_problem(panel.experiment, data) for name, panel in panels.items()}
    drawn = draw(out / "figures", panels)
    judged = claims.judge(panels, problems)
    text = json.dumps([dataclasses.asdict(claim) for claim in judged], indent=1, allow_nan=False)
    with whole_file(out / "claims.json") as draft:
        draft.write_text(text + "\n", encoding="utf-8")
    return report.write(out, panels, problems, judged, drawn, took, seconds=time.monotonic() - begun)


def draw(folder: Path, panels: dict[str, Panel]) -> dict[str, Path]:
    """All figures, as PNG and SVG; the SVG files by name."""
    folder.mkdir(parents=True, exist_ok=True)
    two = [panel for name, panel in panels.items() if name.startswith(TWO)]
    multi = [panel for name, panel in panels.items() if name.startswith(MULTI)]
    sizes = [panel for name, panel in panels.items() if name.startswith("reading-slate-sizes")]
    sizes.sort(key=lambda panel: panel.experiment.problem["kind"] == "mslr")
    wanted = {
        "two-dueling": lambda: paper_figures.regret(two),
        "two-dueling-linear": lambda: paper_figures.regret(two, "linear"),
        "multi-dueling": lambda: paper_figures.regret(multi, columns=2),
        "multi-dueling-linear": lambda: paper_figures.regret(multi, "linear", columns=2),
        "two-dueling-runs": lambda: paper_figures.distribution(two),
        "multi-dueling-runs": lambda: paper_figures.distribution(multi, columns=2),
        "slate-sizes": lambda: paper_figures.slate_sizes(sizes),
        "cost": lambda: paper_figures.cost([*two, *multi]),
    }
    return {name: paper_figures.save(figure, folder, name)[1] for name, figure in wanted.items()}
