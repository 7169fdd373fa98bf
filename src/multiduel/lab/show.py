"""What one experiment found: a table, its figure, and the main numbers as Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from multiduel.engine.result import Result
from multiduel.files import whole_file
from multiduel.inputs import BadInput
from multiduel.lab import figures
from multiduel.lab.results import Panel


def as_results(panel: Panel) -> list[Result]:
    """The curves in the form that the summary table and the regret figure take, under their labels."""
    experiment = panel.experiment
    return [
        Result(
            policy=curve.label,
            params={},
            problem=panel.problem,
            slate_size=curve.slate_size,
            horizon=experiment.horizon,
            runs=len(curve.regret),
            seed=experiment.seed,
            benchmark=experiment.benchmark,
            checkpoints=curve.checkpoints,
            regrets={"average": curve.regret},  # of the experiment's kind: what the table and the figure show
            recommended=curve.recommended,
            events=curve.events,
            seconds=curve.seconds,
            compile_seconds=curve.compile_seconds,
        )
        for curve in panel.curves
    ]


def heading(panel: Panel) -> str:
    """The title; of rankers, with whose they are, since generated ones may stand in for the real."""
    title = panel.experiment.title or panel.experiment.name
    return f"{title}: {panel.problem['label']}" if panel.experiment.problem["kind"] == "mslr" else title


def numbers(panel: Panel) -> dict[str, Any]:
    """The main numbers as plain JSON."""
    lines = []
    for curve, result in zip(panel.curves, as_results(panel), strict=True):
        several = result.runs > 1
        low, high = (float(bound[-1]) for bound in result.interval())
        at_5, median, at_95 = (float(values[-1]) for values in result.quantile([0.05, 0.5, 0.95]))
        winner = panel.problem.get("winner")
        lines.append(
            {
                "label": curve.label,
                "policy": curve.policy,
                "params": curve.params,
                "slate_size": curve.slate_size,
                "runs": result.runs,
                "mean": float(result.mean[-1]),
                "interval_95": [low, high] if several else None,
                "std": float(result.std[-1]) if several else None,
                "quantiles_5_50_95": [at_5, median, at_95],
                "found_winner": None if winner is None else float((curve.recommended == winner).mean()),
                "seconds": curve.seconds,
                "compile_seconds": curve.compile_seconds,
            }
        )
    return {
        "experiment": panel.experiment.to_json(),
        "problem": panel.problem,
        "contenders": lines,
        "provenance": panel.provenance,
    }


def markdown(panel: Panel) -> str:
    """A page with the figure and a line per contender."""
    experiment, facts = panel.experiment, numbers(panel)
    out = [
        f"# {heading(panel)}",
        "",
        f"{panel.problem['label']}. T = {experiment.horizon:,}, seed {experiment.seed}; regret: {experiment.regret}, "
        f"against the best by {experiment.benchmark}, at the last checkpoint, round {int(experiment.marks()[-1]):,}.",
        "",
        "![Regret over rounds](regret.svg)",
        "",
        "| contender | m | runs | mean regret | 95% interval | std | median | 5% to 95% | winner found | seconds |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for line in facts["contenders"]:
        interval, std, found = line["interval_95"], line["std"], line["found_winner"]
        low, median, high = line["quantiles_5_50_95"]
        cells = [
            line["label"],
            str(line["slate_size"]),
            str(line["runs"]),
            _number(line["mean"]),
            f"{_number(interval[0])} to {_number(interval[1])}" if interval else "-",
            "-" if std is None else _number(std),
            _number(median),
            f"{_number(low)} to {_number(high)}",
            "-" if found is None else f"{found:.0%}",
            f"{line['seconds']:.2f}",
        ]
        out.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    versions = ", ".join(f"{name} {version}" for name, version in panel.provenance["packages"].items())
    out += [
        "",
        "Intervals are Student's t over runs; seconds are those of all runs together, compiling not counted.",
        "",
        f"multiduel {panel.provenance['version']}; {versions}. Fingerprint {panel.provenance['fingerprint']}.",
        "",
    ]
    return "\n".join(out)


def write(panel: Panel, folder: Path) -> list[Path]:
    """Write figure and summaries into the experiment's folder, each whole or not at all."""
    results, title = as_results(panel), heading(panel)
    rivals = [curve.rival for curve in panel.curves]
    paths = [folder / name for name in ("regret.png", "regret.svg", "summary.md", "summary.json")]
    texts = (markdown(panel), json.dumps(numbers(panel), indent=1, allow_nan=False) + "\n")
    try:
        for path in paths[:2]:
            with whole_file(path) as draft:
                figures.regret_plot(results, draft, kind=path.suffix[1:], title=title, rivals=rivals)
        for path, text in zip(paths[2:], texts, strict=True):
            with whole_file(path) as draft:
                draft.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"'{path}' cannot be written: {error.strerror}. The results are kept.") from None
    return paths


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def results_table(results: Sequence[Result]) -> Table:
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
