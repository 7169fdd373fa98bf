"""The report on the paper: report.md, and report.html, which is one file with the figures inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from multiduel.engine.registry import find
from multiduel.files import whole_file
from multiduel.lab.paper import statistics
from multiduel.lab.paper.claims import MULTI, PUBLISHED_VARIANCE, TWO
from multiduel.lab.paper.document import Block, Heading, Picture, Table, Text, markdown, page
from multiduel.lab.paper.figures import nanoseconds, title
from multiduel.lab.paper.stand_in import LABEL as GENERATED
from multiduel.lab.paper.statistics import estimate, number
from multiduel.lab.paper.verdicts import Claim, Comparison
from multiduel.lab.results import Panel
from multiduel.problems import Problem
from multiduel.theory import komiyama_lower_bound

HEADING = "Dueling Bandits: From Two-dueling to Multi-dueling, reproduced"
CAPTIONS = {
    "two-dueling": "Two-dueling, the paper's panels (a) to (f), logarithmic axes. IF2, BTM and SAVAGE are told the horizon of "
    "each point: every point is a run of its own.",
    "two-dueling-linear": "The same on linear axes.",
    "multi-dueling": "Multi-dueling, the paper's panels (a) to (d), logarithmic axes. The dashed rivals compare two arms.",
    "multi-dueling-linear": "The same on linear axes.",
    "two-dueling-runs": "Regret of every single run, two-dueling. Two clusters mean that some runs settle early and some do not.",
    "multi-dueling-runs": "Regret of every single run, multi-dueling.",
    "slate-sizes": "Regret against the slate size m, all runs on common seeds. Dashed: alpha = 1.01.",
    "cost": "What a round costs to simulate. Algorithms that commit to a slate for long are played in one step.",
}


def write(
    out: Path,
    panels: Mapping[str, Panel],
    problems: Mapping[str, Problem],
    claims: Sequence[Claim],
    figures: Mapping[str, Path],
    took: Mapping[str, float],
    *,
    seconds: float,
) -> Path:
    """Write both files; returns the HTML one. ``took`` has the wall-clock seconds of each panel, if it was run just now."""
    blocks = _blocks(panels, problems, claims, figures, took, seconds)
    paths = out / "report.md", out / "report.html"
    for path, text in zip(paths, (markdown(blocks, out), page(blocks, HEADING)), strict=True):
        with whole_file(path) as draft:
            draft.write_text(text, encoding="utf-8")
    return paths[1]


def _blocks(
    panels: Mapping[str, Panel],
    problems: Mapping[str, Problem],
    claims: Sequence[Claim],
    figures: Mapping[str, Path],
    took: Mapping[str, float],
    seconds: float,
) -> list[Block]:
    shown = [panels[name] for name in (*TWO, *MULTI) if name in panels]
    return [
        *_opening(shown, claims),
        Heading("Regret over rounds"),
        *(Picture(figures[name], CAPTIONS[name]) for name in list(figures)[:4]),
        Heading("Every run"),
        *(Picture(figures[name], CAPTIONS[name]) for name in list(figures)[4:6]),
        Heading("Slate sizes"),
        Picture(figures["slate-sizes"], CAPTIONS["slate-sizes"]),
        Heading("Variance"),
        *_variances(panels),
        Heading("Claims in full"),
        *(block for claim in claims for block in _claim(claim)),
        Heading("All numbers"),
        *(block for panel in shown for block in _numbers(panel)),
        Heading("Problems"),
        *_problems(panels, problems),
        Heading("Time"),
        *_times(panels, took, seconds),
        Picture(figures["cost"], CAPTIONS["cost"]),
        Heading("Provenance"),
        *_provenance(panels),
    ]


def _opening(shown: Sequence[Panel], claims: Sequence[Claim]) -> list[Block]:
    first = shown[0].experiment
    blocks: list[Block] = [
        Heading(HEADING, 1),
        Text(
            "Every experiment of Du, Wang and Huang (AAMAS 2020), run anew, with the strongest rivals beside the paper's own "
            f"contenders. T = {first.horizon:,} rounds, {first.runs} runs, seed {first.seed}. Regret is the paper's: the mean "
            "advantage of the best arm over the arms of the slate, summed over rounds. All intervals are 95%, bootstrap (BCa) "
            "over runs; comparisons are paired, as run r has the same arm labels and the same world for every algorithm."
        ),
    ]
    if first.horizon < 10**6:
        words = f"**This is a quick look** at T = {first.horizon:,} with {first.runs} runs"
        blocks.append(Text(f"{words}: its verdicts say nothing about the paper's, which are about T = 1,000,000."))
    if any(GENERATED in panel.problem["label"] for panel in shown):
        blocks.append(
            Text(
                f"**The panels on rankers do not use MSLR**, whose data was not at hand, but {GENERATED}: a made-up corpus, "
                "simulated clicks on interleaved lists, a totally ordered part of the matrix they give. `--data DIR` uses MSLR's."
            )
        )
    fewer = {
        curve.label: len(curve.regret) for panel in shown for curve in panel.curves if len(curve.regret) < panel.experiment.runs
    }
    if fewer:
        runs = ", ".join(f"{label} {count}" for label, count in fewer.items())
        blocks.append(Text(f"Fewer runs, because each takes long: {runs}. The figures say so too."))
    tally = Counter(claim.verdict for claim in claims)
    blocks += [
        Heading("Verdicts"),
        Text(f"Of {len(claims)} claims: {', '.join(f'{verdict} {count}' for verdict, count in tally.most_common())}."),
        Table(("claim", "verdict", "on what it depends"), [(c.statement, c.verdict, c.why) for c in claims]),
        Text(
            "**As published** means the paper's parameters, and our defaults where it states none. A comparison **holds** if its "
            "whole interval is where the claim wants it, **fails** if it is wholly elsewhere, and is **open** otherwise. A bound "
            "is **vacuous** where it exceeds T D_max, which any play stays within, or is not finite."
        ),
    ]
    return blocks


def _claim(claim: Claim) -> list[Block]:
    rows = [
        (c.where, c.what, c.reading, number(c.value) if c.low is not None else "-", _interval(c), c.wanted, c.outcome, c.note)
        for c in claim.comparisons
    ]
    head = ("where", "compared", "reading", "ratio", "95% interval", "wanted", "outcome", "numbers")
    counts = Counter(c.outcome for c in claim.comparisons)
    words = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    return [
        Heading(f"{claim.statement.rstrip('.')}: {claim.verdict}", 3),
        Text(claim.why),
        Text(f"Test: {claim.test}"),
        Table(head, rows, numeric=(3, 4), folded=f"{len(rows)} comparisons: {words}"),
    ]


def _interval(c: Comparison) -> str:
    return "-" if c.low is None or c.high is None else f"{number(c.low)} to {number(c.high)}"


def _variances(panels: Mapping[str, Panel]) -> list[Block]:
    rows = []
    for name, published in PUBLISHED_VARIANCE.items():
        for curve in panels[name].curves if name in panels else ():
            final = curve.regret[:, -1]
            if curve.label in published and len(final) > 1:
                found = estimate(final, statistics.variance)
                cells = (number(found.value), f"{number(found.low)} to {number(found.high)}", number(published[curve.label]))
                rows.append((title(panels[name]), curve.label, str(len(final)), *cells, str(estimate(final))))
    head = ("panel", "algorithm", "runs", "variance", "95% interval", "published", "mean regret (95% interval)")
    return [
        Text("Variance of regret over runs at the end, beside the paper's table (T = 10^6, 50 runs)."),
        Table(head, rows, numeric=(2, 3, 4, 5, 6)),
    ]


def _numbers(panel: Panel) -> list[Block]:
    rows = []
    for curve in sorted(panel.curves, key=lambda curve: float(curve.regret[:, -1].mean())):
        final = curve.regret[:, -1]
        low, _, middle, _, high = statistics.quantiles(final)
        found = float((curve.recommended == panel.problem["winner"]).mean())
        mean = estimate(final)
        between = f"{number(mean.low)} to {number(mean.high)}"
        cells = (number(mean.value), between, number(middle), f"{number(low)} to {number(high)}")
        spread = number(float(final.std(ddof=1))) if len(final) > 1 else "-"
        rows.append((curve.label, str(curve.slate_size), str(len(final)), *cells, spread, f"{found:.0%}"))
    head = ("algorithm", "m", "runs", "mean regret", "95% interval", "median", "5% to 95%", "std", "winner found")
    return [Table(head, rows, numeric=range(1, 9), folded=title(panel))]


def _problems(panels: Mapping[str, Panel], problems: Mapping[str, Problem]) -> list[Block]:
    rows = []
    for name in TWO:
        if name in panels:
            problem, experiment = problems[name], panels[name].experiment
            gaps = sorted(problem.gaps.tolist())
            gamma = number(problem.gamma) if problem.gamma is not None else "-"
            lower = komiyama_lower_bound(problem.matrix)
            values = (number(gaps[1]), number(gaps[-1]), number(problem.hardness), gamma)
            limits = (number(experiment.horizon * gaps[-1]), number(lower))
            rows.append((title(panels[name]), problem.label, *values, *limits))
    head = ("panel", "problem", "smallest gap", "largest", "H", "gamma", "T D_max", "lower bound / ln T")
    return [
        Text("Gaps are advantages of the best arm. The lower bound is Komiyama et al.'s (2015), for two-dueling algorithms."),
        Table(head, rows, numeric=range(2, 8)),
    ]


def _times(panels: Mapping[str, Panel], took: Mapping[str, float], seconds: float) -> list[Block]:
    rows = []
    for name, panel in panels.items():
        played = sum(curve.seconds for curve in panel.curves)
        compiled = sum(curve.compile_seconds for curve in panel.curves)
        slowest = max(panel.curves, key=lambda curve: curve.seconds)
        wall = f"{took[name]:.1f}" if name in took else "-"
        rows.append((title(panel), wall, f"{played:.1f}", f"{compiled:.1f}", f"{slowest.label}, {slowest.seconds:.1f}"))
    each = []
    for name in (*TWO, *MULTI):
        for curve in panels[name].curves if name in panels else ():
            note = "" if find(curve.policy).anytime else f"{len(curve.checkpoints)} horizons each"
            cells = (str(len(curve.regret)), f"{curve.seconds:.2f}", f"{curve.compile_seconds:.1f}")
            each.append((title(panels[name]), curve.label, *cells, f"{nanoseconds(panels[name], curve):.3g}", note))
    return [
        Text(
            f"This call took {seconds:.0f} seconds, compiling and drawing included; what was already there took none. "
            "Played: seconds of all runs as if on one core; a busy machine makes them longer."
        ),
        Table(("experiment", "wall clock, s", "played, s", "compiled, s", "slowest contender, s"), rows, numeric=(1, 2, 3)),
        Table(
            ("panel", "algorithm", "runs", "played, s", "compiled, s", "ns per round", ""), each, numeric=(2, 3, 4, 5),
            folded="Each algorithm",
        ),
    ]  # fmt: skip


def _provenance(panels: Mapping[str, Panel]) -> list[Block]:
    first = next(iter(panels.values())).provenance
    packages = ", ".join(f"{name} {version}" for name, version in first["packages"].items())
    rows = [
        (name, str(panel.experiment.seed), panel.problem["label"], panel.provenance["fingerprint"])
        for name, panel in panels.items()
    ]
    return [
        Text(f"multiduel {first['version']}; {packages}. Each experiment's folder holds its parts and what decided them."),
        Table(("experiment", "seed", "problem", "fingerprint"), rows, folded="Fingerprints"),
    ]
