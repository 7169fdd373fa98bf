"""``multiduel problem``: what a problem is like, and what theory promises on it. Heavy imports wait."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiduel.cli.terminal import ARMS, LINK, PROBLEM, JsonFile, console, facts, give_json, refuse_json, table, whole_number
from multiduel.inputs import BadInput

if TYPE_CHECKING:
    from rich.table import Table

    from multiduel.problems import Problem
    from multiduel.theory import SlateBound

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def problem(
    spec: Annotated[str | None, typer.Argument(metavar="SPEC", help=PROBLEM)] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the problems that ship, with their sources.")] = False,
    arms: Annotated[int | None, typer.Option(help=ARMS)] = None,
    link: Annotated[str | None, typer.Option(help=LINK)] = None,
    seed: Annotated[int, typer.Option(help="Seed of a random problem.")] = 0,
    horizon: Annotated[str, typer.Option(help="Number of rounds T in the bounds.")] = "1e6",
    slate_size: Annotated[int, typer.Option(help="Arms per slate m, in the lower bound and MultiRUCB's bound.")] = 2,
    alpha: Annotated[float, typer.Option(help="Exploration parameter in MultiRUCB's bound.")] = 1.01,
    json_file: JsonFile = None,
) -> None:
    """Describe a problem. Show winners, gaps, hardness, gamma, order, and the theorems' bounds."""
    from multiduel import theory
    from multiduel.problems import parse

    if listed or spec is None:
        if not listed:
            raise BadInput("Name a problem or a file; 'multiduel problem --list' has the names.")
        console().print(_catalogue())
        return
    refuse_json(json_file)
    rounds = whole_number("horizon", horizon)
    instance = parse(spec, n_arms=arms, link=link, seed=seed)
    has_winner = instance.winner is not None
    bounds = instance.bounds(rounds, slate_size=slate_size, alpha=alpha) if has_winner else {}
    lower = theory.komiyama_lower_bound(instance.matrix) if has_winner else None
    slates = theory.multi_dueling_lower_bound(instance.matrix, slate_size) if has_winner and slate_size > 2 else None
    best_response = theory.best_response_reaches_winner(instance.matrix)

    def numbers() -> dict[str, Any]:
        return {
            **instance.to_json(),
            "borda_winners": list(instance.borda_winners),
            "gaps": instance.gaps.tolist() if has_winner else None,
            "total_order": instance.total_order,
            "strongly_transitive": instance.strongly_transitive,
            "weakly_transitive": instance.weakly_transitive,
            "best_response_reaches_winner": best_response,
            "komiyama_constant": lower,
            "multi_dueling_constant": slates and {"value": slates.constant, "at_least": slates.at_least, "exact": slates.exact},
            "horizon": rounds,
            "slate_size": slate_size,
            "alpha": alpha,
            "bounds": {
                policy: {"value": bound.value, "capped": bound.capped, "notes": list(bound.notes)}
                for policy, bound in bounds.items()
            },
        }

    if give_json(json_file, numbers, indent=2):
        return
    screen = console()
    screen.print(instance.label, style="bold")
    lines = facts()
    for what, value in _described(instance, best_response, lower, slates, slate_size):
        lines.add_row(what, value)
    screen.print(lines)
    if not has_winner:
        screen.print("Without a Condorcet winner the theorems promise nothing.")
        return
    promised = table(f"regret bound at T = {rounds:,}", "value", "notes")
    promised.columns[0].no_wrap = promised.columns[1].no_wrap = True
    titles = {"doubler-bai": "Theorem 1, DoublerBAI", "multi-sbm-feedback": "Theorem 2, MultiSBM-Feedback"}
    titles["multi-rucb"] = f"Theorem 3, MultiRUCB, m = {slate_size}"
    for policy, bound in bounds.items():
        promised.add_row(titles[policy], f"{bound.value:,.4g}", "\n".join(bound.notes))
    screen.print(promised)


def _catalogue() -> Table:
    from multiduel.problems import CATALOGUE

    lines = table("problem", "arms", "options", "what it is", "source")
    lines.columns[0].no_wrap = True
    for name, family in CATALOGUE.items():
        lines.add_row(name, str(family.arms), ", ".join(family.options), family.about, family.source)
    return lines


def _described(
    instance: Problem, best_response: bool, lower: float | None, slates: SlateBound | None, slate_size: int
) -> Iterable[tuple[str, str]]:
    def named(winners: Iterable[int]) -> str:
        listed = [f"{i} ({instance.names[i]})" if instance.names[i] != f"arm {i}" else str(i) for i in winners]
        return ", ".join(listed[:12]) + (f" and {len(listed) - 12} more" if len(listed) > 12 else "")

    yield "arms", str(instance.n_arms)
    yield "Condorcet winner", "none: no arm beats every other" if instance.winner is None else named([instance.winner])
    yield "Copeland winners", named(instance.copeland_winners)
    yield "Borda winners", named(instance.borda_winners)
    if instance.winner is not None:
        rest = [gap for i, gap in enumerate(instance.gaps.tolist()) if i != instance.winner]
        yield "gaps D_i", f"{min(rest):.4g} to {max(rest):.4g}" if rest else "none: one arm"
        yield "hardness H", f"{instance.hardness:,.6g}  (sum of 1/D_i^2)"
    gamma = instance.gamma
    if gamma is None:
        yield "gamma (Property 1)", "undefined: there is no Condorcet winner"
    elif math.isinf(gamma):
        yield "gamma (Property 1)", "infinite: some other arm does as well as the winner against some arm"
    else:
        yield "gamma (Property 1)", f"finite, {gamma:.6g}"
    for what, holds in (
        ("total order", instance.total_order),
        ("strong transitivity", instance.strongly_transitive),
        ("weak transitivity", instance.weakly_transitive),
        ("best responses end in the winner", best_response),
    ):
        yield what, "yes" if holds else "no"
    if lower is not None:
        yield "lower bound, two-dueling", f"{lower:,.6g} ln T  (Komiyama et al. 2015)"
    if slates is not None:
        sure = "exact" if slates.exact else f"an estimate from above; certified: {slates.at_least:,.4g}"
        yield f"lower bound, m = {slate_size}", f"{slates.constant:,.6g} ln T  ({sure})"
