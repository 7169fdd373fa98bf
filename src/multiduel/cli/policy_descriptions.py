"""Descriptions of policies and machines, as a table or a page."""

from __future__ import annotations

import re
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from multiduel.cli.terminal import facts, table
from multiduel.engine.registry.plugins import is_address
from multiduel.engine.registry.registry import MACHINES, POLICIES, describe, find, known_policies
from multiduel.inputs import BadInput, did_you_mean
from multiduel.kernels.contract import MachineSpec, Parameter, PolicySpec
from multiduel.policies.citations import cited

WIDE = 140  # columns of the screen from which the whole list of policies is readable


def policy_table(width: int) -> Table:
    """The policies, a line each; on a narrow screen without the columns that only their descriptions need."""
    lines = policy_rows()
    shown = list(lines[0]) if width >= WIDE else ["policy", "paper", "slate", "when to use"]
    table = Table(*shown, box=SIMPLE_HEAD, pad_edge=False)
    table.columns[0].no_wrap = True
    for line in lines:
        table.add_row(*(line[heading] for heading in shown))
    return table


def policy_rows() -> list[dict[str, str]]:
    """A row per policy, by the headings that a list of them may show."""
    return [
        {
            "policy": spec.name,
            "paper": _short(cited(spec.cite)),
            "slate": spec.slate,
            "horizon": "any" if spec.anytime else "given",
            "regret": spec.regret,
            "assumes": spec.assumes,
            "when to use": spec.use,
        }
        for spec in known_policies().values()
    ]


def _short(citation: str) -> str:
    """'Du, Wang, Huang. Title. AAMAS 2020.' as 'Du et al. 2020'."""
    authors, dot, rest = citation.partition(". ")
    years = re.findall(r"\b(?:19|20)\d\d\b", rest)
    if not dot or not years:
        return citation
    names = authors.split(", ")
    return f"{' and '.join(names) if len(names) < 3 else f'{names[0]} et al.'} {years[-1]}"


def print_description(name: str, console: Console) -> None:
    """All about one policy or machine."""
    if is_address(name):
        name = find(name, "typed").name
    card: PolicySpec | MachineSpec | None = known_policies().get(name) or MACHINES.get(name)
    if card is None:
        hint = did_you_mean(name, [*POLICIES, *MACHINES])
        raise BadInput(f"There is no policy or machine '{name}'.{hint} 'multiduel policies' lists the policies.")
    lines = facts()
    lines.add_row("name", card.name)
    lines.add_row("paper", cited(card.cite))
    if name in POLICIES:
        spec = POLICIES[name]
        lines.add_row("use", spec.use)
        lines.add_row("slate", "two arms" if spec.slate == "two" else "any number of arms, at most 'slate_size'")
        lines.add_row("horizon", "any: it never needs to know" if spec.anytime else "must be known in advance")
        lines.add_row("assumes", spec.assumes)
        lines.add_row("regret", spec.regret)
        for check, why in spec.exceptions.items():
            lines.add_row("exception", f"{check}: {why}")
    else:
        kind = MACHINES[name].kind
        users = [spec.name for spec in POLICIES.values() if any(p.machines == kind for p in spec.parameters.values())]
        lines.add_row("kind", f"{kind}, plugs into {', '.join(users)}")
    console.print(card.title, style="bold")
    console.print(lines)
    _print_parameters(console, card)
    for parameter in card.parameters.values():
        for machine in MACHINES.values():
            if parameter.machines == machine.kind:
                console.print(f"\nmachine {machine.name}: {machine.title}. {cited(machine.cite)}")
                _print_parameters(console, machine)


def _print_parameters(console: Console, card: PolicySpec | MachineSpec) -> None:
    rows = parameter_rows(card)
    if not rows:
        console.print("No parameters.")
        return
    lines = table("parameter", "default", "must be", "meaning")
    for row in rows:
        lines.add_row(*row)
    console.print(lines)


def parameter_rows(card: PolicySpec | MachineSpec) -> list[tuple[str, str, str, str]]:
    """Of each parameter its name, default, limits and meaning."""
    defaults, rows = describe(card.params()), []
    for name in card.params._fields:
        parameter = card.parameters.get(name, Parameter(meaning=""))
        default = "the horizon" if name == "horizon" else str(defaults[name]).lower()
        rows.append((name, default, _limits(parameter, defaults[name]), parameter.meaning))
    return rows


def _limits(parameter: Parameter, default: Any) -> str:
    if parameter.machines:
        return " | ".join(machine.name for machine in MACHINES.values() if machine.kind == parameter.machines)
    if parameter.choices:
        return " | ".join(parameter.choices)
    if isinstance(default, bool):
        return "true | false"
    limits = {name: getattr(parameter, name) for name in ("at_least", "above", "at_most", "below")}
    words = [f"{name.replace('_', ' ')} {limit:g}" for name, limit in limits.items() if limit is not None]
    return ("whole, " if isinstance(default, int) else "") + (" and ".join(words) or "a number")
