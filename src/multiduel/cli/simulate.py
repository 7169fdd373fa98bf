"""``multiduel simulate``: policies against a known problem. Heavy imports wait."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from multiduel.cli.terminal import ARMS, LINK, POLICY, PROBLEM, JsonFile, console, give_json, progress, refuse_json, whole_number
from multiduel.inputs import BadInput, choice, visible

CONTEXTS = " Or 'contexts': options with features that change every round."

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def simulate(
    names: Annotated[list[str], typer.Argument(metavar="POLICY", help=POLICY)],
    problem: Annotated[str, typer.Option(help=PROBLEM + CONTEXTS)] = "synthetic",
    arms: Annotated[int | None, typer.Option(help=ARMS)] = None,
    dimension: Annotated[
        int | None, typer.Option(help="Number of features of an arm, with --problem contexts; 10 by default.")
    ] = None,
    link: Annotated[str | None, typer.Option(help=LINK)] = None,
    problem_seed: Annotated[int, typer.Option(help="Seed of a random problem.")] = 0,
    slate_size: Annotated[int, typer.Option(help="Largest number of arms in a slate; two-dueling policies compare two.")] = 2,
    horizon: Annotated[str, typer.Option(help="Number of rounds: 1e6, 10**6 or 1_000_000.")] = "1e6",
    runs: Annotated[int, typer.Option(help="Number of independent runs.")] = 50,
    seed: Annotated[int, typer.Option(help="Seed; the same seed gives the same numbers.")] = 0,
    param: Annotated[
        list[str] | None, typer.Option(metavar="POLICY.NAME=VALUE", help="Parameter of a policy. May be repeated.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Number of threads; all cores by default. The results do not depend on it.")
    ] = None,
    benchmark: Annotated[
        str, typer.Option(help="Winner that regret is measured against: condorcet, copeland, borda or utility.")
    ] = "condorcet",
    until: Annotated[str | None, typer.Option(metavar="verdict", help="Stop each run when the winner is certain.")] = None,
    verdict_error: Annotated[float, typer.Option(help="Chance of a wrong verdict that you accept, with --until.")] = 0.05,
    answers: Annotated[str, typer.Option(help="Kind of answers: coins (one per pair) or rankings (of the slate).")] = "coins",
    delay: Annotated[str, typer.Option(help="Rounds that each answer is late; or geometric:MEAN, for random delays.")] = "0",
    json_file: JsonFile = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw regret over rounds, or verdicts, into a .png, .svg or .pdf file.")
    ] = None,
    scale: Annotated[str, typer.Option(help="Axes of the plot: log or linear.")] = "log",
    regret: Annotated[str, typer.Option(help="Kind of regret in table and plot: average, strong, weak or slots.")] = "average",
    size: Annotated[str | None, typer.Option(help="Width of the plot: single or double (columns of a paper).")] = None,
    legend: Annotated[
        str, typer.Option(help="Legend of the plot: labels (at the ends of the lines), inside or outside.")
    ] = "labels",
    show: Annotated[
        str,
        typer.Option(help="What to plot: regret (over rounds), per-log (regret over ln t) or runs (final regret of every run)."),
    ] = "regret",
) -> None:
    """Play policies on a known problem and measure their regret. All policies meet the same random numbers."""
    from multiduel.display.tables import rich_table
    from multiduel.engine.registry.registry import find
    from multiduel.engine.simulation.contexts import parse_problem
    from multiduel.engine.simulation.play import KINDS
    from multiduel.engine.simulation.result import SHOWN
    from multiduel.engine.simulation.simulate import simulate as run
    from multiduel.files import refuse_unwritable, whole_file
    from multiduel.lab.report import results_table
    from multiduel.lab.time_to_verdict import settlement_plot, settlement_table

    rounds = whole_number("horizon", horizon)
    given, names = names, [find(name, "typed").name for name in names]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"Each policy can be named once in a call. Got '{name}' {names.count(name)} times.")
    params = _parameters(param or [], names, dict(zip(given, names, strict=True)))
    instance = parse_problem(problem, n_arms=arms, dimension=dimension, link=link, seed=problem_seed, answers=answers)
    if plot is not None:
        from multiduel.display import regret_figures

        regret_figures.check(plot, scale)
        if size is not None:
            choice("size", size, regret_figures.SIZES)
        choice("legend", legend, regret_figures.LEGENDS)
        choice("show", show, SHOWN)
    choice("regret", regret, KINDS)
    if plot and json_file and Path(plot).resolve() == Path(json_file).resolve():
        raise BadInput(f"'--json' and '--plot' must be different files. Got '{plot}' for both.")

    refuse_json(json_file)
    if plot is not None:
        refuse_unwritable(plot)

    with progress(", ".join(names)) as update:
        results = run(
            [(name, params[name]) for name in names],
            instance,
            slate_size=slate_size,
            horizon=rounds,
            runs=runs,
            seed=seed,
            until=until,
            verdict_error=verdict_error,
            delay=delay,
            threads=threads,
            benchmark=benchmark,
            progress=update,
        )
    printed = give_json(json_file, lambda: [result.to_json() for result in results])
    if plot is not None:
        with whole_file(plot) as draft:
            if until:
                settlement_plot(results, draft, kind=Path(plot).suffix[1:])
            else:
                results.plot(draft, kind=Path(plot).suffix[1:], scale=scale, regret=regret, size=size, legend=legend, show=show)
        print(visible(f"Wrote {plot}"), file=sys.stderr)
    if printed:
        return
    screen = console()
    screen.print(rich_table(settlement_table(results)) if until else results_table(results, regret=regret))


def _parameters(options: list[str], names: list[str], addresses: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The ``--param`` options by policy, named as in the call or by its own name; a single one need not be named."""
    chosen: dict[str, dict[str, Any]] = {name: {} for name in names}
    for text in options:
        left, equals, value = text.partition("=")
        policy, dot, name = left.strip().rpartition(".")
        policy = names[0] if not dot and len(names) == 1 else addresses.get(policy, policy)
        if not (equals and policy and name and value.strip()):
            raise BadInput(f"'--param' must look like {names[0]}.NAME=VALUE. Got '{text}'.")
        if policy not in chosen:
            raise BadInput(f"'--param' must be for a policy of this call: {', '.join(names)}. Got '{text}'.")
        if name in ("slate_size", "horizon"):
            raise BadInput(f"'{name}' must be given to all policies as --{name.replace('_', '-')}. Got '{text}'.")
        if name in chosen[policy]:
            raise BadInput(f"'{policy}.{name}' can be given once. Got '{text}' as well.")
        chosen[policy][name] = value.strip()
    return chosen
