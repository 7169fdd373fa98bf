"""Policies and results as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from multiduel.engine.registry import POLICIES
from multiduel.engine.result import Result
from multiduel.policies import CITATIONS

WIDE = 140  # columns of the screen from which the whole list of policies is readable


def policy_table(width: int) -> Table:
    """The policies, a line each; on a narrow screen without what only their cards need to tell."""
    lines = _policy_lines()
    shown = list(lines[0]) if width >= WIDE else ["policy", "paper", "slate", "when to use"]
    table = Table(*shown, box=SIMPLE_HEAD, pad_edge=False)
    table.columns[0].no_wrap = True
    for line in lines:
        table.add_row(*(line[heading] for heading in shown))
    return table


def policy_markdown() -> str:
    """The policies as README.md lists them."""
    shown = ("policy", "paper", "slate", "horizon", "when to use")
    rows: list[tuple[str, ...]] = [shown, ("---",) * len(shown)]
    rows += [(f"`{line['policy']}`", *(line[heading] for heading in shown[1:])) for line in _policy_lines()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _policy_lines() -> list[dict[str, str]]:
    return [
        {
            "policy": spec.name,
            "paper": _short(CITATIONS.get(spec.cite, spec.cite)),
            "slate": spec.slate,
            "horizon": "any" if spec.anytime else "given",
            "regret": spec.regret,
            "assumes": spec.assumes,
            "when to use": spec.use,
        }
        for spec in POLICIES.values()
    ]


def _short(citation: str) -> str:
    """'Du, Wang, Huang. Title. AAMAS 2020.' as 'Du et al. 2020'."""
    authors, dot, rest = citation.partition(". ")
    years = re.findall(r"\b(?:19|20)\d\d\b", rest)
    if not dot or not years:
        return citation
    names = authors.split(", ")
    return f"{' and '.join(names) if len(names) < 3 else f'{names[0]} et al.'} {years[-1]}"


def summary(results: Sequence[Result]) -> Table:
    """Regret at the horizon: a line per result."""
    first = results[0]
    runs = f"{first.runs} run{'s' if first.runs > 1 else ''}"
    against = "" if first.benchmark == "condorcet" else f", against the best by {first.benchmark}"
    title = f"Regret on {first.problem['label']}: T = {first.horizon:,}, {runs}, seed {first.seed}{against}"
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title=title, title_justify="left")
    table.add_column("policy", min_width=9, overflow="fold")
    for heading in ("m", "mean", "95% interval", "std", "median", "5% to 95%", "seconds", "compile"):
        table.add_column(heading, justify="right", no_wrap=" " not in heading, overflow="fold")
    for result in results:
        low, high = (bound[-1] for bound in result.interval())
        at_5, median, at_95 = (values[-1] for values in result.quantile([0.05, 0.5, 0.95]))
        several = result.runs > 1
        table.add_row(
            result.policy,
            str(min(result.slate_size, result.problem["n_arms"])),
            _number(result.mean[-1]),
            f"{_number(low)} to {_number(high)}" if several else "-",
            _number(result.std[-1]) if several else "-",
            _number(median),
            f"{_number(at_5)} to {_number(at_95)}" if several else "-",
            f"{result.seconds:.2f}",
            f"{result.compile_seconds:.2f}",
        )
    return table


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
