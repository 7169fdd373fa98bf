"""``multiduel bench``: the benchmark. Heavy imports wait."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multiduel.cli.terminal import POLICY, console
from multiduel.display.progress import duration, progress_bar
from multiduel.inputs import BadInput, cores

if TYPE_CHECKING:
    from multiduel.kernels.contract import PolicySpec
    from multiduel.lab.bench.suite import Cell

app = typer.Typer(add_completion=False, rich_markup_mode=None)
QUICK_SECONDS = 120.0  # CPU seconds of a quick pass, in all cells together
QUICK_RUNS = 5  # of an instance, in a quick pass
CAP = 20.0  # CPU seconds of a cell of the whole suite


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="[POLICY...]", help=POLICY)] = None,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Play every cell with 20 runs of each instance, instead of a quick pass of two minutes."),
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Play the whole suite with every policy, which remakes the shipped results.")
    ] = False,
    cap: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="CPU seconds for a cell; 20 by default with --whole. A cell that needs more gets fewer runs, and says so.",
        ),
    ] = None,
    horizon: Annotated[
        str | None, typer.Option(metavar="10000|1000000", help="Horizon of the cells to play, with --whole; both by default.")
    ] = None,
    family: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Family to play; all by default. May be repeated.")
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Ignore the results in the folder, and play again.")] = False,
    check: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="Play some runs of a file of results again, and compare.")
    ] = None,
    sample: Annotated[int, typer.Option(help="Number of cells to play again, with --check.")] = 10,
    out: Annotated[Path, typer.Option(help="Folder of results: a file and a page for each policy.")] = Path("results", "bench"),
    threads: Annotated[
        int | None, typer.Option(help="Number of threads; all cores by default. The results do not depend on it.")
    ] = None,
) -> None:
    """Compare your policy with all others on the benchmark suite. Without a policy, show the leaderboard.

    You may stop the command; the same command continues. docs/benchmark.md says how to submit a policy.
    """
    from multiduel.lab.bench import suite
    from multiduel.lab.bench.play import cells_of, why_not

    rounds = _horizons(horizon, suite.HORIZONS)
    if check is not None:
        return _check(check, names, sample, threads)
    if cap is not None and not 0.0 < cap < float("inf"):
        raise BadInput(f"'--cap' must be above 0. Got {cap:g}.")
    if every:
        return _all(out, cap or CAP, anew, threads)
    if not names:
        return _leaderboard()
    _frozen(suite.VERSION, suite.digest())
    specs = [_found(name) for name in names]
    for spec in specs:
        if reason := why_not(spec):
            raise BadInput(f"'{spec.name}' cannot play the suite: {reason}.")
    listed = suite.cells(families=family or None, horizons=rounds if whole else suite.HORIZONS[:1])
    for spec in specs:
        mine = cells_of(spec, listed)
        limit = cap or (CAP if whole else QUICK_SECONDS / max(1, len(mine)))
        _play(spec, mine, out, limit, suite.RUNS if whole else QUICK_RUNS, anew, threads)


def _frozen(version: str, digest: str) -> None:
    """Refuse to compare with shipped results of other instances."""
    from multiduel.engine.registry.benchmark_results import shipped_suite

    frozen = shipped_suite()["digest"]
    if digest != frozen:
        raise BadInput(
            f"The instances must be those of suite {version} as it was frozen, {frozen}. Got {digest}: the suite's code was "
            "changed, and results are not comparable with the shipped ones."
        )


def _horizons(given: str | None, known: tuple[int, ...]) -> tuple[int, ...]:
    if given is None:
        return known
    from multiduel.cli.terminal import whole_number

    horizon = whole_number("--horizon", given)
    if horizon not in known:
        raise BadInput(f"'--horizon' must be one of the suite's, {' or '.join(map(str, known))}. Got {given}.")
    return (horizon,)


def _found(name: str) -> PolicySpec:
    from multiduel.engine.registry.registry import find

    return find(name, "typed")


def _play(spec: PolicySpec, cells: list[Cell], out: Path, cap: float, runs: int, anew: bool, threads: int | None) -> None:
    from multiduel.display import regret_figures
    from multiduel.display.tables import BOLD, rich_table
    from multiduel.engine.registry.benchmark_results import shipped
    from multiduel.lab.bench import play, report
    from multiduel.lab.folder_lock import occupied

    regret_figures.check("profile.svg")
    screen = console()
    at_work = cores(threads, of="bench")
    most = duration(len(cells) * cap / at_work)
    screen.print(
        f"{spec.name}: {len(cells)} cells of 20 instances, up to {runs} runs each; at most {most} on {at_work} cores, with "
        f"{cap:.3g} CPU seconds a cell. Compiling comes on top.",
        markup=False,
        soft_wrap=True,
    )
    with occupied(out / spec.name), progress_bar(spec.name, unit="cells", keep=True) as update:
        results = play.play(spec, out, cells, cap=cap, runs=runs, threads=threads, anew=anew, progress=update)
        found = report.report(results, shipped())
        paths = report.write(found, results, out)
    screen.print(BOLD.sub(r"\1", found.headline), markup=False, soft_wrap=True)
    if len(found.profiles) > report.SAID_SETTINGS:
        screen.print(rich_table(report.settings_table(spec.name, found.profiles)))
    for table in found.tables:
        screen.print(rich_table(table))
    for note in found.left_out:
        screen.print(note, markup=False, soft_wrap=True)
    written = ", ".join(path.name for path in (out / f"{spec.name}.npz", *paths))
    screen.print(f"Wrote {written} in {out}", markup=False, soft_wrap=True)


def _all(out: Path, cap: float, anew: bool, threads: int | None) -> None:
    from multiduel.engine.registry.benchmark_results import SUITE
    from multiduel.engine.registry.registry import POLICIES
    from multiduel.files import write_whole
    from multiduel.lab.bench import play, suite
    from multiduel.lab.folder_lock import occupied

    specs = [spec for spec in POLICIES.values() if not play.why_not(spec)]
    left = [spec.name for spec in POLICIES.values() if spec not in specs]
    print(f"{len(specs)} policies, {len(suite.cells())} cells, {cap:g} CPU seconds a cell.")
    if left:
        print(f"Not played, because they need features of the arms: {', '.join(left)}.")
    with occupied(out):
        play.play_all(specs, out, cap=cap, threads=threads, anew=anew, say=lambda line: print(line, flush=True))
        write_whole(out / SUITE, suite.as_text())
    print(f"Wrote {len(specs)} files in {out}")


def _check(path: Path, names: list[str] | None, sample: int, threads: int | None) -> None:
    from multiduel.engine.registry import benchmark_results
    from multiduel.engine.registry.registry import find
    from multiduel.lab.bench import play

    results = benchmark_results.read(path)
    spec = _found(names[0]) if names else find(results.policy)  # a file's name for its policy loads no code
    if spec.name != results.policy:
        raise BadInput(f"'{path}' holds results of '{results.policy}'. Got '{spec.name}'.")
    checked = play.check(spec, results, sample, threads)
    for each in checked:
        print(each)
    wrong = sum(not each.same for each in checked)
    print(f"{len(checked) - wrong} of {len(checked)} runs are identical.")
    if wrong or not checked:
        sys.exit(1)


def _leaderboard() -> None:
    from multiduel.display.tables import rich_table
    from multiduel.lab.bench import leaderboard

    screen = console()
    for line in leaderboard.summary():
        screen.print(line, markup=False, soft_wrap=True)
    for table in leaderboard.overall_tables(most=10):
        screen.print(rich_table(table))
