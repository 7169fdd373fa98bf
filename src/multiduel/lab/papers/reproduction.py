"""``multiduel paper NAME``: play a paper's panels, judge its claims, and write one page that answers first."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from multiduel.display import documents, regret_figures
from multiduel.display.documents import Block, Fold, Heading, Picture, Text
from multiduel.display.regret_tables import INTERVAL, regret_table
from multiduel.display.tables import Table, between, number
from multiduel.engine.simulation.statistics import mean
from multiduel.files import whole_file, write_whole
from multiduel.lab import experiment as experiments
from multiduel.lab import problem as problem_tables
from multiduel.lab import runner
from multiduel.lab.experiment import Experiment
from multiduel.lab.paper.claims import BELOW, ratio_of_runs
from multiduel.lab.paper.verdicts import DOES_NOT, INCONCLUSIVE, REPRODUCES, Claim, Comparison, Topic, claim
from multiduel.lab.papers.claims_file import Paper, Statement, load
from multiduel.lab.report import caption, heading, origin, subplot
from multiduel.lab.results import Panel

Watch = Callable[[str], AbstractContextManager[runner.Progress | None]]
COLUMNS = ("name", "m", "runs", "mean", "interval", "std", "winner")
MARKS = {REPRODUCES: "good", DOES_NOT: "bad", INCONCLUSIVE: "dim"}


def reproduce(
    name: str,
    out: Path,
    *,
    quick: bool = False,
    data: Path | None = None,
    threads: int | None = None,
    cluster: str | None = None,
    watch: Watch = lambda name: nullcontext(),
    say: Callable[[str], None] = lambda line: None,
) -> Path:
    """Run what is not yet there, then judge, draw and write. Returns the HTML file.

    Panels whose data is not at hand are left out, and the page says so.
    """
    regret_figures.check("regret.png")
    paper = load(name)
    folder = problem_tables.data_folder(data)
    measured: dict[str, Panel] = {}
    absent = []
    for plan in paper.panels:
        if plan.problem["kind"] == "data" and (folder is None or not (folder / plan.problem["file"]).is_file()):
            absent.append(plan)
            say(f"{plan.name}: left out, its data is not at hand")
            continue
        played = dataclasses.replace(experiments.quick(plan), name=plan.name, title=plan.title) if quick else plan
        with watch(plan.name) as progress:
            measured[plan.name] = runner.run(
                played, out, data=folder, threads=threads, cluster=cluster, progress=progress, known=tuple(measured.values())
            )
        say(f"{plan.name}: played")
    return write(paper, measured, absent, out)


def judge(paper: Paper, panels: Mapping[str, Panel]) -> list[Claim]:
    """Judge each claim by the ratios of mean regrets in its panels, as the claims of ours are."""
    return [_judged(number, each, panels) for number, each in enumerate(paper.claims, 1)]


def _judged(number: int, told: Statement, panels: Mapping[str, Panel]) -> Claim:
    compared = [_compared(panels[name], told.less, other) for other in told.than for name in told.panels if name in panels]
    return claim(f"claim-{number}", told.statement, "Ratio of mean regrets at the end; below 1.", compared)


def _compared(panel: Panel, ours: str, theirs: str) -> Comparison:
    us, them = panel.line(ours), panel.line(theirs)
    topic = Topic(
        panel=panel.experiment.name,
        pair=f"{ours} / {theirs}",
        where=heading(panel),
        short=panel.experiment.short or panel.experiment.name,
        what=f"{us.label} / {them.label}",
        lead=f"{us.label} has",
        tail=f"times {them.label}'s regret",
    )
    return ratio_of_runs(topic, us, them, BELOW, mean)


def write(paper: Paper, panels: Mapping[str, Panel], absent: Sequence[Experiment], out: Path) -> Path:
    """The figure, claims.json, report.md and report.html."""
    judged = judge(paper, panels) if panels else []
    figures = out / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    wide, narrow = figures / "regret.svg", figures / "regret-narrow.svg"
    if panels:
        shown = [subplot(panel, heading(panel)) for panel in panels.values()]
        for path, shape in ((wide, {"columns": min(2, len(shown))}), (narrow, {"columns": 1, "style": {"font.size": 10}})):
            with whole_file(path) as draft:
                regret_figures.small_multiples(shown, draft, kind="svg", **shape)
    text = json.dumps([dataclasses.asdict(each) for each in judged], indent=1, allow_nan=False)
    write_whole(out / "claims.json", text + "\n")
    blocks = _blocks(paper, panels, absent, judged, wide, narrow)
    write_whole(out / "report.md", documents.markdown(blocks, out))
    write_whole(out / "report.html", documents.page(blocks, _title(paper)))
    return out / "report.html"


def _title(paper: Paper) -> str:
    return f"Did it reproduce? {paper.title}"


def _blocks(
    paper: Paper, panels: Mapping[str, Panel], absent: Sequence[Experiment], judged: Sequence[Claim], wide: Path, narrow: Path
) -> list[Block]:
    rows = [(each.statement, each.verdict, each.why) for each in judged]
    left_out = [
        f"{plan.title or plan.name}: needs the file '{plan.problem['file']}' in the folder of '--data'." for plan in absent
    ]
    return [
        Heading(_title(paper), 1),
        Text(answer(judged, len(panels), len(panels) + len(absent))),
        *([Table(("claim", "outcome", "what was measured"), rows, marks=MARKS)] if rows else []),
        *([Picture(wide, caption(list(panels.values())), narrow)] if panels else []),
        Heading("Where this comes from"),
        *([Text(paper.source)] if paper.source else []),
        *(Text(f"Not here: {each}") for each in paper.missing),
        *(Text(f"Left out here: {each}") for each in left_out),
        Heading("All numbers"),
        Text(f"Intervals of means: {INTERVAL}."),
        *(block for panel in panels.values() for block in _numbers(panel)),
        *(_comparisons(each) for each in judged),
    ]


def answer(judged: Sequence[Claim], played: int, panels: int) -> str:
    """Say in a sentence how many claims reproduce."""
    if not played:
        return "Nothing was played: none of the data that the panels need is at hand."
    tally = Counter(each.verdict for each in judged)
    parts = [
        f"{tally[REPRODUCES]} of {len(judged)} {'claim reproduces' if len(judged) == 1 else 'claims reproduce'}",
        *([f"{tally[DOES_NOT]} {'does' if tally[DOES_NOT] == 1 else 'do'} not"] if tally[DOES_NOT] else []),
        *([f"{tally[INCONCLUSIVE]} {'is' if tally[INCONCLUSIVE] == 1 else 'are'} inconclusive"] if tally[INCONCLUSIVE] else []),
    ]
    where = f"in {played} panel{'' if played == 1 else 's'}" if played == panels else f"in {played} of {panels} panels"
    return f"{', '.join(parts)}, {where}. A claim reproduces if it holds in every panel, at 5 % (two-sided tests, Holm's method)."


def _numbers(panel: Panel) -> list[Block]:
    experiment = panel.experiment
    where = f"T = {experiment.horizon:,}, seed {experiment.seed}, against the best by {experiment.benchmark}. {origin(panel)}"
    return [
        Heading(heading(panel), 3),
        regret_table([line.summary for line in panel.lines], COLUMNS, name="contender"),
        Text(where),
    ]


def _comparisons(each: Claim) -> Block:
    rows = [
        (
            c.where,
            c.what,
            number(c.value),
            between(None if c.low is None or c.high is None else (c.low, c.high)),
            str(c.runs),
            c.outcome,
            c.note,
        )
        for c in each.comparisons
    ]
    head = ("where", "compared", "ratio", "95 % interval", "runs", "outcome", "numbers")
    return Fold(f"{each.statement} {len(rows)} comparisons", [Table(head, rows, numeric=(2, 3, 4), marks=MARKS)])
