"""Pages of the policies, made from their descriptions and headers, and from the numbers behind their figures."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

from docstrings import as_markdown, escaped, table  # beside this file

from multiduel.cli.policy_descriptions import parameter_rows, policy_rows
from multiduel.engine.registry.registry import MACHINES
from multiduel.kernels.contract import PolicySpec
from multiduel.policies import ALL
from multiduel.policies.citations import bibtex, cited

FEATURES = ("none", "fixed, or none", "others in every round, fixed, or none: see [options with features](../contexts.md)")


def page_name(spec: PolicySpec) -> str:
    return f"policies/{spec.name.replace('+', '-plus')}.md"


def list_page() -> str:
    rows = policy_rows()
    pages = {spec.name: page_name(spec).removeprefix("policies/") for spec in ALL}
    shown = ("policy", "paper", "slate", "horizon", "when to use")
    lines = [
        [f"[{row['policy']}]({pages[row['policy']]})", *(row[key] for key in shown[1:])] for row in rows if row["policy"] in pages
    ]
    return (
        "# Policies\n\n*slate*: how many arms it compares at once. *horizon*: whether it must be told in advance how many rounds "
        "there will be. `multiduel suggest --arms 20` names the one that we would use, from measured results; "
        "`multiduel policies NAME` describes one.\n\n" + table(shown, lines)
    )


def policy_page(spec: PolicySpec, played: dict[str, Any] | None) -> str:
    header = inspect.getdoc(sys.modules[spec.params.__module__]) or ""
    first, _, rest = header.partition("\n")
    facts, listing = _facts(rest)
    lines = [
        f"# {spec.title}",
        "",
        f"`{spec.name}`: {first.partition(': ')[2] or first}".replace("`: ", "`: ", 1),
        "",
        spec.use,
        "",
    ]
    rows = [
        ("paper", cited(spec.cite)),
        ("slate", "two arms" if spec.slate == "two" else "any number of arms, at most `slate_size`"),
        ("horizon", "any: it never needs to know" if spec.anytime else "must be known in advance"),
        ("features of options", FEATURES[spec.features + spec.contextual]),
        ("assumes", spec.assumes),
        ("regret", spec.regret),
        ("learns from comparisons that it did not ask for", "yes" if spec.observes else f"no: {spec.blind}"),
        *((f"exception: {check}", why) for check, why in spec.exceptions.items()),
    ]
    lines += [table(("", ""), rows), ""]
    if played:
        name = page_name(spec).removeprefix("policies/").removesuffix(".md")
        lines += [
            f"![Regret of {spec.title}](../figures/policy-{name}.svg)",
            "",
            table(
                ("line", "mean regret at the end", "95 % interval of the mean"),
                [
                    (label, f"{line['mean']:,.0f}", f"{line['low']:,.0f} to {line['high']:,.0f}")
                    for label, line in played["lines"].items()
                ],
            ),
            "",
            f"Problem: {played['problem']}; T = {played['horizon']:,}, {played['runs']} runs, seed {played['seed']}. "
            f"`python docs/scripts/figures.py policy-{spec.name}` plays it again. One small problem says little of others: "
            "[compare on yours](../tutorials/regret-plot.md).",
            "",
        ]
    lines += ["## The algorithm", ""]
    for name, text in facts.items():
        lines += [f"**{name}.** {escaped(text)}", ""]
    lines += [as_markdown(listing), "", "## Parameters", "", _parameters(spec)]
    for parameter in spec.parameters.values():
        for machine in MACHINES.values():
            if parameter.machines == machine.kind:
                lines += [
                    "",
                    f"### Machine {machine.name}",
                    "",
                    f"{machine.title}. {cited(machine.cite)}",
                    "",
                    _parameters(machine),
                ]
    source = spec.params.__module__.replace(".", "/")
    lines += ["", "## Source and citation", "", f"`src/{source}.py`", ""]
    if bibtex(spec.cite):
        lines += ["```bibtex", bibtex(spec.cite), "```"]
    return "\n".join(lines)


def _facts(text: str) -> tuple[dict[str, str], str]:
    """The header's named lines (Paper, Assumes, ...) and what follows them."""
    facts: dict[str, str] = {}
    rest: list[str] = []
    for line in text.strip("\n").splitlines():
        named = re.match(r"([A-Z][a-z]+) {2,}(.*)", line) if not rest else None
        if named:
            facts[named[1]] = named[2]
        elif facts and not rest and re.match(r" {8,}\S", line):
            facts[list(facts)[-1]] += " " + line.strip()
        elif line.strip() or rest:
            rest.append(line)
    return facts, "\n".join(rest)


def _parameters(card: Any) -> str:
    rows = parameter_rows(card)
    return table(("parameter", "default", "must be", "meaning"), rows) if rows else "None."
