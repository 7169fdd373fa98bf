"""What came of one experiment: a table, its figure, and the main numbers as Markdown and JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from multiduel.display import documents, regret_distributions, regret_figures
from multiduel.display.documents import Block, Heading, Picture, Text
from multiduel.display.regret_figures import Subplot
from multiduel.display.regret_tables import INTERVAL, regret_table
from multiduel.display.tables import Table, between, latex_table, number, rich_table
from multiduel.engine.simulation.result import Result, Results
from multiduel.files import whole_file, write_whole
from multiduel.inputs import BadInput, choice, whole
from multiduel.lab.comparison import Comparison, compare
from multiduel.lab.results import Panel

if TYPE_CHECKING:
    from rich.table import Table as RichTable

PAGE = ("name", "m", "runs", "mean", "interval", "std", "median", "spread", "winner", "seconds")
TERMINAL = ("name", "m", "mean", "interval", "std", "median", "spread", "seconds", "compiling")
PAPER = ("name", "m", "runs", "mean", "interval", "std")


STEMS = {"regret": "regret", "per-log": "regret-per-log", "runs": "runs"}  # names of the files of each kind of plot


@dataclass(frozen=True)
class FigureOptions:
    """How the figure of an experiment, or of a sweep, is drawn: what ``multiduel report`` is told.

    Attributes
    ----------
    pdf
        Whether it is written as PDF too, with embedded TrueType fonts.
    size
        "single" or "double": as wide as a column of a paper, or as both.
    legend
        "labels", "inside" or "outside"; by the room there is if not given.
    columns
        Subplots in a row; as many as a sweep has slate sizes, or 2, if not given.
    show
        "regret", "per-log" (regret over ln t) or "runs" (the regret of every run at the end).
    """

    pdf: bool = False
    size: str | None = None
    legend: str | None = None
    columns: int | None = None
    show: str = "regret"

    def check(self) -> None:
        """Refuse what cannot be drawn."""
        if self.size is not None:
            choice("size", self.size, regret_figures.SIZES)
        if self.legend is not None:
            choice("legend", self.legend, regret_figures.LEGENDS)
        if self.columns is not None:
            whole("columns", self.columns, 1, 20, of="report")
        choice("show", self.show, STEMS)


def heading(panel: Panel) -> str:
    """The title; of a problem from outside, with its label, since that is what says whose it is."""
    title = panel.experiment.title or panel.experiment.name
    return f"{title}: {panel.problem.label}" if panel.experiment.problem["kind"] in ("data", "given") else title


def numbers(panel: Panel) -> dict[str, Any]:
    """The main numbers as plain JSON."""
    lines = []
    for line in panel.lines:
        result, shown = line.result, line.summary
        lines.append(
            {
                "id": line.id,
                "label": line.label,
                "policy": result.policy,
                "params": result.params,
                "slate_size": result.slate_size,
                "runs": shown.runs,
                "mean": shown.mean,
                "interval_95": shown.interval,
                "std": shown.std,
                "quantiles_5_50_95": shown.quantiles,
                "found_winner": shown.winner_found,
                "seconds": shown.seconds,
                "compile_seconds": shown.compile_seconds,
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
    experiment = panel.experiment
    where = (
        f"{panel.setting}. T = {experiment.horizon:,}, seed {experiment.seed}; regret: {experiment.regret}, "
        f"against the best by {experiment.benchmark}, at the last checkpoint, round {int(experiment.marks()[-1]):,}."
    )
    return [
        Heading(heading(panel), 1),
        Text(where),
        Picture(figure, caption([panel]), narrow),
        regret_table([line.summary for line in panel.lines], PAGE, name="contender"),
        *(Text(note) for note in notes(panel)),
        Text(f"Intervals of means: {INTERVAL}. Seconds are those of all runs together, compiling not counted."),
        Text(origin(panel)),
    ]


def caption(panels: Sequence[Panel]) -> str:
    """Say what the figure of these panels shows."""
    again = any(panel.experiment.plays_again(contender) for panel in panels for contender in panel.experiment.contenders)
    told = " Filled markers: policies that are told their horizon, played anew for each point." if again else ""
    return f"Mean regret over rounds; bands are intervals of the mean ({INTERVAL}).{told}"


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


def latex_sweep(title: str, compared: Sequence[Comparison], names: Sequence[str]) -> str:
    """Write a sweep as one table in LaTeX (booktabs): a row per problem, a column per contender, the least mean in bold."""
    labels = list(dict.fromkeys(line.label for each in compared for line in each.panel.lines))
    rows = []
    for name, each in zip(names, compared, strict=True):
        cells = {}
        for standing in each.standings:
            mean = number(standing.summary.mean)
            bold = f"**{mean}**" if standing is each.best else mean
            cells[standing.line.label] = f"{bold} ({between(standing.summary.interval)})" if standing.summary.interval else bold
        rows.append([name, *(cells.get(label, "-") for label in labels)])
    first = compared[0].panel.experiment
    runs = sorted({standing.summary.runs for each in compared for standing in each.standings})
    many = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    end = f"Mean cumulative {first.regret} regret at round {int(first.marks()[-1]):,} over {many} runs"
    caption = f"{title}. {end}, with its interval ({INTERVAL}). Bold: the least mean of a row."
    return latex_table(Table(["problem", *labels], rows, range(1, len(labels) + 1), caption))


def latex(panel: Panel, regret: str | None = None) -> str:
    """Write regret at the last checkpoint as a table in LaTeX (booktabs), the least mean in bold."""
    panel = panel.showing(regret or panel.experiment.regret)
    experiment = panel.experiment
    end = f"cumulative {experiment.regret} regret at round {int(experiment.marks()[-1]):,}"
    title = f"{heading(panel)}. {panel.setting}; {end}. Intervals of means: {INTERVAL}."
    return latex_table(regret_table([line.summary for line in panel.lines], PAPER, title=title, bold_least=True))


def subplot(panel: Panel, title: str) -> Subplot:
    """Return the panel as it is drawn."""
    return Subplot(panel.curves(), title, panel.experiment.regret)


def write(panel: Panel, folder: Path, *, regret: str | None = None, options: FigureOptions = FigureOptions()) -> list[Path]:
    """Write figure and summaries into the experiment's folder, each whole or not at all.

    ``regret`` is another kind than the experiment's, to be shown beside it in files of its own.
    """
    tag = "" if regret in (None, panel.experiment.regret) else f"-{regret}"
    panel = panel.showing(regret or panel.experiment.regret)
    return write_page(
        folder,
        tag,
        [subplot(panel, heading(panel))],
        lambda wide, narrow: blocks(panel, wide, narrow),
        numbers(panel),
        options,
    )


def write_page(
    folder: Path,
    tag: str,
    subplots: Sequence[Subplot],
    page: Callable[[Path, Path], list[Block]],
    facts: dict[str, Any],
    options: FigureOptions = FigureOptions(),
) -> list[Path]:
    """A figure as PNG and SVG, and in one narrow column; a page that shows it, as Markdown and HTML; and its numbers.

    Another kind of plot than of regret over rounds is written beside it.
    """
    options.check()
    png, svg, narrow, *texts = paths = [
        folder / name.format(tag)
        for name in ("regret{}.png", "regret{}.svg", "regret{}-narrow.svg", "summary{}.md", "summary{}.html", "summary{}.json")
    ]
    also = [folder / f"{STEMS[options.show]}{tag}.{kind}" for kind in (*(("png", "svg") if options.show != "regret" else ()),
            *(("pdf",) if options.pdf else ()))]  # fmt: skip
    shape = layout(subplots, options)
    try:
        for path, own in ((png, shape), (svg, shape), (narrow, {"columns": 1, "style": {"font.size": 10}})):
            with whole_file(path) as draft:
                regret_figures.small_multiples(subplots, draft, kind=path.suffix[1:], **own)
        for path in also:
            with whole_file(path) as draft:
                draw(subplots, draft, path.suffix[1:], options)
        written = page(svg, narrow)
        contents = (
            documents.markdown(written, folder),
            documents.page(written, heading=str(next(each.text for each in written if isinstance(each, Heading)))),
            json.dumps(facts, indent=1, allow_nan=False) + "\n",
        )
        for path, text in zip(texts, contents, strict=True):
            write_whole(path, text)
    except BadInput as error:
        raise BadInput(f"{error} The results are kept.") from None
    return [*paths, *also]


def draw(subplots: Sequence[Subplot], file: Any, kind: str, options: FigureOptions) -> None:
    """Draw the figure that the options ask for."""
    shape = layout(subplots, options)
    if options.show == "runs":
        own = {name: shape[name] for name in ("columns", "wide", "style") if name in shape}
        regret_distributions.distributions(subplots, file, kind=kind, **own)
    else:
        shown = [subplot.over_log() for subplot in subplots] if options.show == "per-log" else subplots
        regret_figures.small_multiples(shown, file, kind=kind, **shape)


def layout(subplots: Sequence[Subplot], options: FigureOptions) -> dict[str, Any]:
    """How wide, how many columns, which legend: as told, else by the room there is."""
    grid = options.columns is not None
    columns = min(options.columns or 2, len(subplots))
    shape: dict[str, Any] = {"columns": columns, "share": "all" if grid and len(subplots) > 1 else "none"}
    if options.size is not None:
        total, high = regret_figures.SIZES[options.size]
        wide = total / columns
        shape |= {
            "wide": wide,
            "high": high if len(subplots) == 1 else max(1.5, 0.8 * wide),
            "style": {"font.size": 8, "axes.titlesize": 8},
        }
    elif len(subplots) == 1:
        shape |= {"wide": 6.4, "high": 3.6}
    elif columns > 2:
        shape |= {"wide": 3.2, "high": 2.5}
    narrow = shape.get("wide", 4.4) < 3.3
    shape["legend"] = options.legend or ("outside" if narrow and len(subplots) > 1 else "labels")
    return shape


def panel_table(panel: Panel, regret: str | None = None) -> RichTable:
    """Return regret at the horizon of an experiment's contenders, under their labels, for the terminal."""
    labels = [contender.label for contender in panel.experiment.contenders]
    return results_table(panel.results, labels=labels, regret=regret or panel.experiment.regret)


def results_table(results: Sequence[Result], *, labels: Sequence[str] = (), regret: str = "average") -> RichTable:
    """Return regret at the horizon for the terminal: a line per result, under the policies' names if there are no labels."""
    first = results[0]
    choice("regret", regret, first.regrets)
    names = labels or Results(results).labels
    summaries = [result.summary(regret, name=name) for name, result in zip(names, results, strict=True)]
    return rich_table(regret_table(summaries, TERMINAL, title=table_title(first, regret)))


def table_title(result: Result, regret: str = "average") -> str:
    """Say what the regret of a table is of, from one of its results."""
    runs = f"{result.runs} run{'s' if result.runs > 1 else ''}"
    against = "" if result.benchmark == "condorcet" else f", against the best by {result.benchmark}"
    kind = "Regret" if regret == "average" else f"{regret.capitalize()} regret"
    return f"{kind} on {result.problem['label']}: T = {result.horizon:,}, {runs}, seed {result.seed}{against}"
