"""What came of one experiment: a table, its figure, and the main numbers as Markdown and JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from multiduel.engine import figures
from multiduel.engine.result import Result
from multiduel.files import whole_file, write_whole
from multiduel.inputs import BadInput, choice
from multiduel.lab import document
from multiduel.lab.comparison import compare
from multiduel.lab.document import Block, Heading, Picture, Text
from multiduel.lab.document import Table as TableBlock
from multiduel.lab.results import Panel
from multiduel.lab.statistics import number


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


def blocks(panel: Panel, figure: Path, narrow: Path) -> list[Block]:
    """A page with the figure and a line per contender."""
    experiment, facts = panel.experiment, numbers(panel)
    where = (
        f"{panel.problem.label}. T = {experiment.horizon:,}, seed {experiment.seed}; regret: {experiment.regret}, "
        f"against the best by {experiment.benchmark}, at the last checkpoint, round {int(experiment.marks()[-1]):,}."
    )
    head = ["contender", "m", "runs", "mean regret", "95% interval", "std", "median", "5% to 95%", "winner found", "seconds"]
    rows = []
    for line in facts["contenders"]:
        interval, std, winner_share = line["interval_95"], line["std"], line["found_winner"]
        low, median, high = line["quantiles_5_50_95"]
        rows.append(
            [
                line["label"],
                str(line["slate_size"]),
                str(line["runs"]),
                number(line["mean"]),
                f"{number(interval[0])} to {number(interval[1])}" if interval else "-",
                "-" if std is None else number(std),
                number(median),
                f"{number(low)} to {number(high)}",
                "-" if winner_share is None else f"{winner_share:.0%}",
                f"{line['seconds']:.2f}",
            ]
        )
    return [
        Heading(heading(panel), 1),
        Text(where),
        Picture(figure, "Mean regret over rounds; bands are 95% intervals of the mean.", narrow),
        TableBlock(head, rows, numeric=range(1, len(head))),
        *(Text(note) for note in notes(panel)),
        Text("Intervals are Student's t over runs; seconds are those of all runs together, compiling not counted."),
        Text(origin(panel)),
    ]


def notes(panel: Panel) -> list[str]:
    """What the table does not say by itself: who is best, and who is the same."""
    compared = compare(panel)
    best = [] if len(panel.lines) == 1 else [f"Least mean regret: {compared.best.line.label}, {compared.verdict}."]
    return best + [f"{one} and {other} are equal in every run, bit by bit." for one, other in equals(panel)]


def origin(panel: Panel) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in panel.provenance["packages"].items())
    return f"multiduel {panel.provenance['version']}; {versions}. Fingerprint {panel.provenance['fingerprint']}."


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
        mean = f"\\textbf{{{number(end.mean)}}}" if end.mean == least else number(end.mean)
        several = line.result.runs > 1
        interval = f"[{number(end.low)}, {number(end.high)}]" if several else "--"
        cells = (_tex(line.label), str(line.result.slate_size), str(line.result.runs), mean, interval)
        rows.append(" & ".join((*cells, number(end.std) if several else "--")) + r" \\")
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


def picture(panel: Panel, title: str) -> figures.Picture:
    """The panel as it is drawn."""
    contenders = panel.experiment.contenders
    return figures.Picture(panel.results, title, [each.label for each in contenders], [each.rival for each in contenders])


def write(panel: Panel, folder: Path, *, regret: str | None = None) -> list[Path]:
    """Write figure and summaries into the experiment's folder, each whole or not at all.

    ``regret`` is another kind than the experiment's, to be shown beside it in files of its own.
    """
    tag = "" if regret in (None, panel.experiment.regret) else f"-{regret}"
    panel = panel.showing(regret or panel.experiment.regret)
    return write_page(
        folder,
        tag,
        [picture(panel, heading(panel))],
        panel.experiment.regret,
        lambda wide, narrow: blocks(panel, wide, narrow),
        numbers(panel),
    )


def write_page(
    folder: Path,
    tag: str,
    pictures: Sequence[figures.Picture],
    regret: str,
    page: Callable[[Path, Path], list[Block]],
    facts: dict[str, Any],
) -> list[Path]:
    """A figure as PNG and SVG, and in one narrow column; a page that shows it, as Markdown and HTML; and its numbers."""
    png, svg, narrow, *texts = paths = [
        folder / name.format(tag)
        for name in ("regret{}.png", "regret{}.svg", "regret{}-narrow.svg", "summary{}.md", "summary{}.html", "summary{}.json")
    ]
    one = len(pictures) == 1
    wide: dict[str, Any] = {"columns": 1, "wide": 6.4, "high": 3.6} if one else {"columns": 2}
    try:
        for path, looks in ((png, wide), (svg, wide), (narrow, {"columns": 1, "style": {"font.size": 10}})):
            with whole_file(path) as draft:
                figures.small_multiples(pictures, draft, kind=path.suffix[1:], regret=regret, **looks)
        written = page(svg, narrow)
        contents = (
            document.markdown(written, folder),
            document.page(written, heading=str(next(each.text for each in written if isinstance(each, Heading)))),
            json.dumps(facts, indent=1, allow_nan=False) + "\n",
        )
        for path, text in zip(texts, contents, strict=True):
            write_whole(path, text)
    except BadInput as error:
        raise BadInput(f"{error} The results are kept.") from None
    return paths


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
            number(end.mean),
            f"{number(end.low)} to {number(end.high)}" if several else "-",
            number(end.std) if several else "-",
            number(end.median),
            f"{number(end.at_5)} to {number(end.at_95)}" if several else "-",
            f"{result.seconds:.2f}",
            f"{result.compile_seconds:.2f}",
        )
    return table
