"""What came of one experiment: a table, its figure, and the main numbers as Markdown and JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from multiduel.engine import figures
from multiduel.engine.result import Result
from multiduel.files import whole_file, write_whole
from multiduel.inputs import BadInput, choice
from multiduel.lab.results import Panel


def heading(panel: Panel) -> str:
    """The title; of a problem from outside, with its label, since that is what says whose it is."""
    title = panel.experiment.title or panel.experiment.name
    return f"{title}: {panel.problem.label}" if panel.experiment.problem["kind"] in ("data", "given") else title


def numbers(panel: Panel) -> dict[str, Any]:
    """The main numbers as plain JSON."""
    lines = []
    for line in panel.lines:
        result, end = line.result, _at_the_end(line.result, line.shown)
        several, winner = result.runs > 1, panel.problem.winner
        lines.append(
            {
                "id": line.id,
                "label": line.label,
                "policy": result.policy,
                "params": result.params,
                "slate_size": result.slate_size,
                "runs": result.runs,
                "mean": end.mean,
                "interval_95": [end.low, end.high] if several else None,
                "std": end.std if several else None,
                "quantiles_5_50_95": [end.at_5, end.median, end.at_95],
                "found_winner": None if winner is None else float((result.recommended == winner).mean()),
                "seconds": result.seconds,
                "compile_seconds": result.compile_seconds,
            }
        )
    return {
        "experiment": panel.experiment.to_json(),
        "problem": panel.problem.to_json(),
        "contenders": lines,
        "provenance": panel.provenance,
    }


def markdown(panel: Panel, figure: str = "regret.svg") -> str:
    """A page with the figure, a file beside it, and a line per contender."""
    experiment, facts = panel.experiment, numbers(panel)
    out = [
        f"# {heading(panel)}",
        "",
        f"{panel.problem.label}. T = {experiment.horizon:,}, seed {experiment.seed}; regret: {experiment.regret}, "
        f"against the best by {experiment.benchmark}, at the last checkpoint, round {int(experiment.marks()[-1]):,}.",
        "",
        f"![Regret over rounds]({figure})",
        "",
        "| contender | m | runs | mean regret | 95% interval | std | median | 5% to 95% | winner found | seconds |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for line in facts["contenders"]:
        interval, std, winner_share = line["interval_95"], line["std"], line["found_winner"]
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
            "-" if winner_share is None else f"{winner_share:.0%}",
            f"{line['seconds']:.2f}",
        ]
        out.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    out += ["", *(f"{one} and {other} are equal in every run, bit by bit." for one, other in equals(panel))]
    versions = ", ".join(f"{name} {version}" for name, version in panel.provenance["packages"].items())
    out += [
        "",
        "Intervals are Student's t over runs; seconds are those of all runs together, compiling not counted.",
        "",
        f"multiduel {panel.provenance['version']}; {versions}. Fingerprint {panel.provenance['fingerprint']}.",
        "",
    ]
    return "\n".join(out)


def equals(panel: Panel) -> list[tuple[str, str]]:
    """Labels of contenders with the same regret in every run at every checkpoint: a parameter may be without effect here."""
    pairs = itertools.combinations(panel.lines, 2)
    return [(a.label, b.label) for a, b in pairs if np.array_equal(a.regret, b.regret)]


def latex(panel: Panel, regret: str | None = None) -> str:
    """The main numbers as a LaTeX table (booktabs), the least mean in bold."""
    panel = panel.showing(regret or panel.experiment.regret)
    ends = [_at_the_end(line.result, line.shown) for line in panel.lines]
    least = min(end.mean for end in ends)
    rows = []
    for line, end in zip(panel.lines, ends, strict=True):
        mean = f"\\textbf{{{_number(end.mean)}}}" if end.mean == least else _number(end.mean)
        several = line.result.runs > 1
        interval = f"[{_number(end.low)}, {_number(end.high)}]" if several else "--"
        cells = (_tex(line.label), str(line.result.slate_size), str(line.result.runs), mean, interval)
        rows.append(" & ".join((*cells, _number(end.std) if several else "--")) + r" \\")
    experiment = panel.experiment
    end_of_it = f"cumulative {experiment.regret} regret at round {int(experiment.marks()[-1]):,}"
    caption = f"{heading(panel)}. {panel.problem.label}; {end_of_it}."
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_tex(caption)}}}",
            r"\begin{tabular}{lrrrrr}",
            r"\toprule",
            r"policy & $m$ & runs & mean & 95\% interval & std \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _tex(text: str) -> str:
    """Text as it is: LaTeX reads some letters as commands."""
    letters = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(letters.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in text)


def write(panel: Panel, folder: Path, *, regret: str | None = None) -> list[Path]:
    """Write figure and summaries into the experiment's folder, each whole or not at all.

    ``regret`` is another kind than the experiment's, to be shown beside it in files of its own.
    """
    tag = "" if regret in (None, panel.experiment.regret) else f"-{regret}"
    panel = panel.showing(regret or panel.experiment.regret)
    contenders = panel.experiment.contenders
    looks: dict[str, Any] = {
        "title": heading(panel),
        "labels": [contender.label for contender in contenders],
        "rivals": [contender.rival for contender in contenders],
        "regret": panel.experiment.regret,
    }
    paths = [folder / name for name in (f"regret{tag}.png", f"regret{tag}.svg", f"summary{tag}.md", f"summary{tag}.json")]
    texts = (markdown(panel, paths[1].name), json.dumps(numbers(panel), indent=1, allow_nan=False) + "\n")
    try:
        for path in paths[:2]:
            with whole_file(path) as draft:
                figures.regret_plot(panel.results, draft, kind=path.suffix[1:], **looks)
        for path, text in zip(paths[2:], texts, strict=True):
            write_whole(path, text)
    except BadInput as error:
        raise BadInput(f"{error} The results are kept.") from None
    return paths


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


class _End(NamedTuple):
    """Regret at the last checkpoint, over runs."""

    mean: float
    low: float  # of the 95% interval of the mean
    high: float
    std: float
    at_5: float
    median: float
    at_95: float


def _at_the_end(result: Result, regret: str) -> _End:
    final = result.regrets[regret][:, -1]
    low, high = (float(bound[-1]) for bound in result.interval(kind=regret))
    std = float(final.std(ddof=1)) if result.runs > 1 else 0.0
    return _End(float(final.mean()), low, high, std, *(float(value) for value in np.quantile(final, [0.05, 0.5, 0.95])))


def panel_table(panel: Panel, regret: str | None = None) -> Table:
    """Regret at the horizon of an experiment's contenders, under their labels."""
    labels = [contender.label for contender in panel.experiment.contenders]
    return results_table(panel.results, labels=labels, regret=regret or panel.experiment.regret)


def results_table(results: Sequence[Result], *, labels: Sequence[str] = (), regret: str = "average") -> Table:
    """Regret at the horizon: a line per result, under the policies' names if there are no labels."""
    first = results[0]
    choice("regret", regret, first.regrets)
    runs = f"{first.runs} run{'s' if first.runs > 1 else ''}"
    against = "" if first.benchmark == "condorcet" else f", against the best by {first.benchmark}"
    kind = "Regret" if regret == "average" else f"{regret.capitalize()} regret"
    title = f"{kind} on {first.problem['label']}: T = {first.horizon:,}, {runs}, seed {first.seed}{against}"
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title=title, title_justify="left")
    table.add_column("policy", min_width=9, overflow="fold")
    for head in ("m", "mean", "95% interval", "std", "median", "5% to 95%", "seconds", "compile"):
        table.add_column(head, justify="right", no_wrap=" " not in head, overflow="fold")
    names = labels or [result.policy for result in results]
    for name, result in zip(names, results, strict=True):
        end, several = _at_the_end(result, regret), result.runs > 1
        table.add_row(
            name,
            str(min(result.slate_size, result.problem["n_arms"])),
            _number(end.mean),
            f"{_number(end.low)} to {_number(end.high)}" if several else "-",
            _number(end.std) if several else "-",
            _number(end.median),
            f"{_number(end.at_5)} to {_number(end.at_95)}" if several else "-",
            f"{result.seconds:.2f}",
            f"{result.compile_seconds:.2f}",
        )
    return table
