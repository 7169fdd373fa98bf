"""The command ``multiduel``. Thin: what it prints comes from the library, and heavy imports wait until needed."""

from __future__ import annotations

import json
import math
import re
import sys
from contextlib import ExitStack
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiduel import __version__
from multiduel.errors import BadInput, did_you_mean
from multiduel.lab.cli import app as lab
from multiduel.rankers.cli import app as rankers
from multiduel.terminal import Sentences, progress

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console
    from rich.table import Table

    from multiduel.kernels.contract import MachineSpec, Parameter, PolicySpec
    from multiduel.problems import Problem


app = typer.Typer(cls=Sentences, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
app.add_typer(lab)  # without a name: its commands are ours
app.add_typer(rankers, name="rankers")


def main() -> None:
    app(prog_name="multiduel")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"multiduel {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Find the best of several options from comparisons instead of scores."""


# Help texts of options that two commands share.
PROBLEM = (
    "synthetic, random, bradley-terry, tournament, cyclic, or a .csv file: a line of names, then for each arm a line "
    "with its chances of beating the arms."
)
ARMS = "Number of arms: 48 if not given; of a file, as many as it has."
LINK = "From utilities to chances: linear (if not given), natural or logit."


@app.command()
def policies(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A policy or machine to show in full.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="The list as README.md has it.")] = False,
) -> None:
    """List the policies, or show one's card: parameters, meanings, limits, defaults, paper."""
    from multiduel.engine.registry import MACHINES, POLICIES
    from multiduel.lab.reports import policy_markdown, policy_table
    from multiduel.policies import CITATIONS

    console = _console()
    if name is None:
        if markdown:
            print(policy_markdown())
            return
        console.print(policy_table(console.width))
        console.print("slate: how many arms it compares at once. 'multiduel policies NAME' shows all about one.")
        return
    card: PolicySpec | MachineSpec | None = POLICIES.get(name) or MACHINES.get(name)
    if card is None:
        hint = did_you_mean(name, [*POLICIES, *MACHINES])
        raise BadInput(f"There is no policy or machine '{name}'.{hint} 'multiduel policies' lists the policies.")
    facts = _facts()
    facts.add_row("name", card.name)
    facts.add_row("paper", CITATIONS.get(card.cite, card.cite))
    if name in POLICIES:
        spec = POLICIES[name]
        facts.add_row("use", spec.use)
        facts.add_row("slate", "two arms" if spec.slate == "two" else "any number of arms, at most 'slate_size'")
        facts.add_row("horizon", "any: it never needs to know" if spec.anytime else "must be known in advance")
        facts.add_row("assumes", spec.assumes)
        facts.add_row("regret", spec.regret)
        for check, why in spec.exceptions.items():
            facts.add_row("exception", f"{check}: {why}")
    else:
        kind = MACHINES[name].kind
        users = [spec.name for spec in POLICIES.values() if any(p.machines == kind for p in spec.parameters.values())]
        facts.add_row("kind", f"{kind}, plugs into {', '.join(users)}")
    console.print(card.title, style="bold")
    console.print(facts)
    _print_parameters(console, card)
    for parameter in card.parameters.values():
        for machine in MACHINES.values():
            if parameter.machines == machine.kind:
                console.print(f"\nmachine {machine.name}: {machine.title}. {CITATIONS.get(machine.cite, machine.cite)}")
                _print_parameters(console, machine)


@app.command()
def suggest(
    arms: Annotated[int, typer.Option("--arms", help="Number of options.")],
    slate_size: Annotated[int, typer.Option("--slate-size", help="How many can be shown at once.")] = 2,
    horizon: Annotated[str | None, typer.Option("--horizon", help="Number of rounds, if known.")] = None,
    assume: Annotated[str, typer.Option("--assume", help="utilities, condorcet or copeland.")] = "condorcet",
) -> None:
    """Name the policy that we would use, and why, from measured results."""
    from multiduel.engine.suggest import suggest as choose

    rounds = _rounds("--horizon", horizon) if horizon else None
    choice = choose(n_arms=arms, slate_size=slate_size, horizon=rounds, assume=assume)
    print(choice, "Next: " + ", ".join(f"{name} ({mean:,.0f})" for name, mean in choice.others) + ".", sep="\n")


def _print_parameters(console: Console, card: PolicySpec | MachineSpec) -> None:
    from multiduel.engine.registry import describe
    from multiduel.kernels.contract import Parameter

    if not card.params._fields:
        console.print("No parameters.")
        return
    table = _table("parameter", "default", "must be", "meaning")
    defaults = describe(card.params())
    for name in card.params._fields:
        parameter = card.parameters.get(name, Parameter(meaning=""))
        default = "the horizon" if name == "horizon" else str(defaults[name]).lower()
        table.add_row(name, default, _limits(parameter, defaults[name]), parameter.meaning)
    console.print(table)


def _limits(parameter: Parameter, default: Any) -> str:
    from multiduel.engine.registry import MACHINES

    if parameter.machines:
        return " | ".join(machine.name for machine in MACHINES.values() if machine.kind == parameter.machines)
    if parameter.choices:
        return " | ".join(parameter.choices)
    if isinstance(default, bool):
        return "true | false"
    given = {name: getattr(parameter, name) for name in ("at_least", "above", "at_most", "below")}
    words = [f"{name.replace('_', ' ')} {limit:g}" for name, limit in given.items() if limit is not None]
    return ("whole, " if isinstance(default, int) else "") + (" and ".join(words) or "a number")


@app.command()
def problem(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help=PROBLEM)],
    arms: Annotated[int | None, typer.Option(help=ARMS)] = None,
    link: Annotated[str | None, typer.Option(help=LINK)] = None,
    seed: Annotated[int, typer.Option(help="Of a random problem.")] = 0,
    horizon: Annotated[str, typer.Option(help="Rounds T of the bounds.")] = "1e6",
    slate_size: Annotated[int, typer.Option(help="Arms per slate m of MultiRUCB's bound.")] = 2,
    alpha: Annotated[float, typer.Option(help="MultiRUCB's exploration in its bound.")] = 1.01,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
) -> None:
    """What a problem is like: winners, gaps, hardness, gamma, order, and what the theorems promise on it."""
    from multiduel import theory
    from multiduel.problems import parse

    rounds = _rounds("horizon", horizon)
    made = parse(spec, n_arms=arms, link=link, seed=seed)
    has_winner = made.winner is not None
    bounds = made.bounds(rounds, slate_size=slate_size, alpha=alpha) if has_winner else {}
    lower = theory.komiyama_lower_bound(made.matrix) if has_winner else None
    best_response = theory.best_response_reaches_winner(made.matrix)
    if as_json:
        facts: dict[str, Any] = {
            **made.to_json(),
            "borda_winners": list(made.borda_winners),
            "gaps": made.gaps.tolist() if has_winner else None,
            "total_order": made.total_order,
            "strongly_transitive": made.strongly_transitive,
            "weakly_transitive": made.weakly_transitive,
            "best_response_reaches_winner": best_response,
            "komiyama_constant": lower,
            "horizon": rounds,
            "slate_size": slate_size,
            "alpha": alpha,
            "bounds": {
                policy: {"value": bound.value, "capped": bound.capped, "notes": list(bound.notes)}
                for policy, bound in bounds.items()
            },
        }
        print(json.dumps(facts, indent=2, allow_nan=False))
        return
    console = _console()
    console.print(made.label, style="bold")
    lines = _facts()
    for what, value in _described(made, best_response, lower):
        lines.add_row(what, value)
    console.print(lines)
    if not has_winner:
        console.print("Without a Condorcet winner the theorems promise nothing.")
        return
    table = _table(f"regret bound at T = {rounds:,}", "value", "notes")
    table.columns[0].no_wrap = table.columns[1].no_wrap = True
    titles = {"doubler-bai": "Theorem 1, DoublerBAI", "multi-sbm-feedback": "Theorem 2, MultiSBM-Feedback"}
    titles["multi-rucb"] = f"Theorem 3, MultiRUCB, m = {slate_size}"
    for policy, bound in bounds.items():
        table.add_row(titles[policy], f"{bound.value:,.4g}", "\n".join(bound.notes))
    console.print(table)


def _described(made: Problem, best_response: bool, lower: float | None) -> Iterable[tuple[str, str]]:
    def named(winners: Iterable[int]) -> str:
        listed = [f"{i} ({made.names[i]})" if made.names[i] != f"arm {i}" else str(i) for i in winners]
        return ", ".join(listed[:12]) + (f" and {len(listed) - 12} more" if len(listed) > 12 else "")

    yield "arms", str(made.n_arms)
    yield "Condorcet winner", "none: no arm beats every other" if made.winner is None else named([made.winner])
    yield "Copeland winners", named(made.copeland_winners)
    yield "Borda winners", named(made.borda_winners)
    if made.winner is not None:
        rest = [gap for i, gap in enumerate(made.gaps.tolist()) if i != made.winner]
        yield "gaps D_i", f"{min(rest):.4g} to {max(rest):.4g}" if rest else "none: one arm"
        yield "hardness H", f"{made.hardness:,.6g}  (sum of 1/D_i^2)"
    gamma = made.gamma
    if gamma is None:
        yield "gamma (Property 1)", "undefined: there is no Condorcet winner"
    elif math.isinf(gamma):
        yield "gamma (Property 1)", "infinite: some other arm does as well as the winner against some arm"
    else:
        yield "gamma (Property 1)", f"finite, {gamma:.6g}"
    for what, holds in (
        ("total order", made.total_order),
        ("strong transitivity", made.strongly_transitive),
        ("weak transitivity", made.weakly_transitive),
        ("best responses end in the winner", best_response),
    ):
        yield what, "yes" if holds else "no"
    if lower is not None:
        yield "lower bound, two-dueling", f"{lower:,.6g} ln T  (Komiyama et al. 2015)"


@app.command()
def simulate(
    names: Annotated[list[str], typer.Argument(metavar="POLICY", help="See 'multiduel policies'.")],
    problem: Annotated[str, typer.Option(help=PROBLEM)] = "synthetic",
    arms: Annotated[int | None, typer.Option(help=ARMS)] = None,
    link: Annotated[str | None, typer.Option(help=LINK)] = None,
    problem_seed: Annotated[int, typer.Option(help="Of a random problem.")] = 0,
    slate_size: Annotated[int, typer.Option(help="Arms per slate at most; two-dueling policies compare two.")] = 2,
    horizon: Annotated[str, typer.Option(help="Rounds: 1e6, 10**6 or 1_000_000.")] = "1e6",
    runs: Annotated[int, typer.Option(help="Independent runs.")] = 50,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    param: Annotated[list[str] | None, typer.Option(metavar="POLICY.NAME=VALUE", help="May be repeated.")] = None,
    threads: Annotated[int | None, typer.Option(help="All cores if not given. Numbers do not depend on it.")] = None,
    benchmark: Annotated[str, typer.Option(help="Best by: condorcet, copeland, borda or utility.")] = "condorcet",
    json_file: Annotated[str | None, typer.Option("--json", metavar="FILE", help="The numbers; - prints them.")] = None,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Regret over rounds, as .png or .svg.")] = None,
    scale: Annotated[str, typer.Option(help="Axes of the plot: log or linear.")] = "log",
) -> None:
    """Play policies against a known problem and measure their regret. All meet the same problem and the same luck."""
    from multiduel.engine.registry import find, resolve
    from multiduel.engine.simulate import simulate as run
    from multiduel.lab.files import whole_file
    from multiduel.lab.reports import summary
    from multiduel.problems import parse

    rounds = _rounds("horizon", horizon)
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"Each policy can be named once in a call. Got '{name}' {names.count(name)} times.")
    specs = [find(name) for name in names]
    given = _parameters(param or [], names)
    made = parse(problem, n_arms=arms, link=link, seed=problem_seed)
    made.benchmark_gaps(benchmark)
    for spec in specs:  # refuse all that is wrong before the first policy plays
        resolve(spec, n_arms=made.n_arms, slate_size=slate_size, horizon=rounds, given=given[spec.name])
    if plot:
        from multiduel.lab import figures

        figures.check(plot, scale)
    if plot and json_file and Path(plot).resolve() == Path(json_file).resolve():
        raise BadInput(f"'--json' and '--plot' must be different files. Got '{plot}' for both.")

    with ExitStack() as files:
        json_draft = files.enter_context(whole_file(json_file)) if json_file and json_file != "-" else None
        plot_draft = files.enter_context(whole_file(plot)) if plot else None
        results = []
        with progress(names) as bar:
            for spec in specs:
                size = slate_size if spec.slate == "any" else 2
                options: dict[str, Any] = {"slate_size": size, "horizon": rounds, "runs": runs, "seed": seed}
                options |= {"threads": threads, "benchmark": benchmark, "progress": bar(spec.name)}
                results.append(run(spec.name, made, **options, **given[spec.name]))
        text = json.dumps([result.to_json() for result in results], allow_nan=False)
        if json_draft:
            json_draft.write_text(text + "\n", encoding="utf-8")
        if plot and plot_draft:
            figures.regret_plot(results, plot_draft, kind=Path(plot).suffix[1:], scale=scale)
    if json_file == "-":
        print(text)
        return
    console = _console()
    console.print(summary(results))
    for path in (json_file, plot):
        if path:
            console.print(f"Wrote {path}", highlight=False, soft_wrap=True)


def _rounds(name: str, text: str) -> int:
    """A whole number written 1e6, 10**6, 10^6 or 1_000_000, without loss."""
    power = re.fullmatch(r"\s*(\d{1,6})\s*(?:\*\*|\^)\s*(\d{1,2})\s*", text)
    try:
        value = Decimal(int(power[1]) ** int(power[2])) if power else Decimal(text.replace(",", ""))
        if not value.is_finite() or value.adjusted() > 30 or value != int(value) or value < 1:
            raise ValueError
    except (InvalidOperation, ValueError):
        raise BadInput(f"'{name}' must be a whole number of at least 1, such as 1e6 or 10**6. Got '{text}'.") from None
    return int(value)


def _parameters(given: list[str], names: list[str]) -> dict[str, dict[str, Any]]:
    """The ``--param`` options by policy. With a single policy its name may be left out."""
    chosen: dict[str, dict[str, Any]] = {name: {} for name in names}
    for text in given:
        left, equals, value = text.partition("=")
        policy, dot, name = left.strip().rpartition(".")
        if not dot and len(names) == 1:
            policy = names[0]
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


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=200)


def _table(*columns: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(*columns, box=SIMPLE_HEAD, pad_edge=False)


def _facts() -> Table:
    from rich.table import Table

    return Table("", "", box=None, show_header=False, pad_edge=False)
