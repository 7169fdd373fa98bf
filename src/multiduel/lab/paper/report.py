"""The report on the paper: report.md, and report.html, which is one file with the figures inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from multiduel.display.documents import Block, Fold, Heading, Picture, Text, markdown, page
from multiduel.display.regret_tables import INTERVAL, regret_table
from multiduel.display.tables import Table, between, number
from multiduel.engine.registry.registry import find
from multiduel.files import write_whole
from multiduel.lab.paper import agreement, joint
from multiduel.lab.paper.claims import PUBLISHED_VARIANCE
from multiduel.lab.paper.figures import NARROW, nanoseconds
from multiduel.lab.paper.panels import MULTI, TWO, generated, title
from multiduel.lab.paper.stand_in import LABEL as GENERATED
from multiduel.lab.paper.verdicts import FAILS, HOLDS, OPEN, VACUOUS, Claim, Comparison
from multiduel.lab.results import Panel
from multiduel.lab.statistics import FEWEST_RUNS, estimate_variance
from multiduel.theory import komiyama_lower_bound

HEADING = "Dueling Bandits: From Two-dueling to Multi-dueling, reproduced"
CAPTIONS = {
    "two-dueling": "Two-dueling, the paper's panels (a) to (f), logarithmic axes. IF2, BTM and SAVAGE are told the horizon of "
    "each point: every point is a run of its own.",
    "two-dueling-linear": "The same on linear axes.",
    "multi-dueling": "Multi-dueling, the paper's panels (a) to (d), logarithmic axes. Dashed: not in the paper; "
    "RMED1 compares two arms.",
    "multi-dueling-linear": "The same on linear axes.",
    "two-dueling-runs": "Regret of every single run, two-dueling. Two clusters mean that some runs settle early and some do not.",
    "multi-dueling-runs": "Regret of every single run, multi-dueling.",
    "slate-sizes": "Regret against the slate size m, all runs on common seeds. Dashed: alpha = 1.01.",
    "bounds": "Theorems 1 and 3 where they bite: regret with the bound, and growth per ln T in each decade.",
    "cost": "What a round costs to simulate. Algorithms that commit to a slate for long are played in one step.",
}
NUMBERS = ("name", "m", "runs", "mean", "interval", "std", "median", "spread", "winner")
MARKS = {HOLDS: "good", FAILS: "bad", OPEN: "dim", VACUOUS: "dim"}
JOINT_SHOWN = 12  # joint settings in the folded table
FEW = 4  # statements that a sentence can list


def write(
    out: Path,
    panels: Mapping[str, Panel],
    claims: Sequence[Claim],
    figures: Mapping[str, Path],
    seconds: Mapping[str, float],
    *,
    total: float,
) -> Path:
    """Write both files; returns the HTML one. ``seconds`` are the wall clock's for each panel, if it was run just now."""
    blocks = _blocks(panels, claims, figures, seconds, total)
    paths = out / "report.md", out / "report.html"
    for path, text in zip(paths, (markdown(blocks, out), page(blocks, HEADING)), strict=True):
        write_whole(path, text)
    return paths[1]


def _blocks(
    panels: Mapping[str, Panel],
    claims: Sequence[Claim],
    figures: Mapping[str, Path],
    seconds: Mapping[str, float],
    total: float,
) -> list[Block]:
    shown = [panels[name] for name in (*TWO, *MULTI) if name in panels]

    def pictures(*names: str) -> list[Picture]:
        return [Picture(figures[name], CAPTIONS[name], figures.get(f"{name}{NARROW}")) for name in names]

    return [
        *_opening(shown),
        *pictures("two-dueling", "multi-dueling"),
        *_verdicts(claims),
        Heading("Which reading makes the paper right?"),
        *_readings(panels, claims),
        Heading("Theory where it bites"),
        *pictures("bounds"),
        Heading("Variance"),
        *_variances(panels),
        Heading("Details"),
        Fold("Linear axes", pictures("two-dueling-linear", "multi-dueling-linear")),
        Fold("Every run", pictures("two-dueling-runs", "multi-dueling-runs")),
        Fold("Regret against the slate size", pictures("slate-sizes")),
        *(block for claim in claims for block in _claim(claim)),
        Heading("All numbers"),
        Text(f"Intervals of means: {INTERVAL}."),
        *(block for panel in shown for block in _numbers(panel)),
        Fold("The problems", _problems(panels)),
        Heading("Time"),
        *_times(panels, seconds, total),
        Fold("What a round costs", pictures("cost")),
        Heading("Provenance"),
        *_provenance(panels),
    ]


def _opening(shown: Sequence[Panel]) -> list[Block]:
    first = shown[0].experiment
    fewest = min(line.result.runs for panel in shown for line in panel.lines)
    runs = f"{first.runs} runs of every algorithm in every panel" if fewest == first.runs else f"{fewest} to {first.runs} runs"
    blocks: list[Block] = [
        Heading(HEADING, 1),
        Text(
            "Every experiment of Du, Wang and Huang (AAMAS 2020), run anew, with rivals it does not have beside the paper's own "
            f"contenders. T = {first.horizon:,} rounds, {runs}, seed {first.seed}. Regret is the paper's: the mean advantage of "
            "the best arm over the arms of the slate, summed over rounds. Where the paper states no value, ours is the default."
        ),
    ]
    if first.horizon < 10**6:
        words = f"**This is a quick look** at T = {first.horizon:,} with {first.runs} runs"
        blocks.append(Text(f"{words}: its verdicts say nothing about the paper's, which are about T = 1,000,000."))
    if any(generated(panel.experiment) for panel in shown):
        blocks.append(
            Text(
                f"**The panels on rankers do not use MSLR**, whose data was not at hand, but {GENERATED}: a made-up corpus, "
                "simulated clicks on interleaved lists, a totally ordered part of the matrix they give. They count towards no "
                "verdict, and readings are not played on them. `--mslr FILE...` takes the public files, `--data DIR` matrices."
            )
        )
    return blocks


def _verdicts(claims: Sequence[Claim]) -> list[Block]:
    tally = Counter(claim.verdict for claim in claims)
    return [
        Heading("Claims"),
        Text(f"Of {len(claims)} claims, as published: {', '.join(f'{count} {word}' for word, count in tally.most_common())}."),
        Table(("claim", "as published", "in a sentence"), [(c.statement, c.line, c.why) for c in claims], marks=MARKS),
        Text(
            "Numbers are ratios, from the smallest to the largest of the panels. A comparison **holds** if it is where the claim "
            "wants it and **fails** if it is elsewhere, each at 5%, adjusted by Holm's method over the comparisons of the claim; "
            f"else, and with fewer than {FEWEST_RUNS} runs, it is **open**. A panel holds if all its comparisons do; a claim "
            "fails if one of them does. A bound is **vacuous** where it exceeds T D_max, which any play stays within. "
            "Intervals of ratios: 95%, studentised bootstrap."
        ),
    ]


def _readings(panels: Mapping[str, Panel], claims: Sequence[Claim]) -> list[Block]:
    each = [(c.statement, reading, line) for c in claims for reading, line in c.readings.items()]
    blocks: list[Block] = [
        Text(
            "What the paper leaves open was varied. First one choice at a time: a setting is named if every comparison tried "
            "with it holds; it concerns the algorithm it is of, so that a claim about several rivals may need several at once."
        ),
        Table(("claim", "as published", "right with"), agreement.answers(claims), marks=MARKS),
        Table(("claim", "reading", "verdict"), each, folded=f"Claim by reading: {len(each)} verdicts", marks=MARKS),
        *(block for search in joint.searches(panels) for block in _jointly(search)),
    ]
    rows = agreement.variances(panels)
    if not rows:
        return blocks
    nearest = {row.policy: row for row in reversed(rows)}
    words = "; ".join(
        f"{find(policy).title} with {row.setting}, off by a factor of {row.distance:.3g} on average"
        for policy, row in sorted(nearest.items(), key=lambda item: item[1].distance)
    )
    none = [find(policy).title for policy, row in nearest.items() if row.distance > agreement.FACTOR]
    rest = f" For {', '.join(none)} no setting tried comes within a factor of {agreement.FACTOR}." if none else ""
    table = [
        (find(row.policy).title, row.setting, *(f"{row.ratios[name]:.3g}" if name in row.ratios else "-" for name in MULTI),
         f"{row.distance:.3g}")
        for row in rows
    ]  # fmt: skip
    head = ("algorithm", "setting", "(a)", "(b)", "(c)", "(d)", "mean factor off")
    return [
        *blocks,
        Text(f"The variance table is nearest to: {words}.{rest}"),
        Table(head, table, numeric=(2, 3, 4, 5, 6), folded="Variance over the published one, by setting"),
    ]


def _jointly(search: joint.Search) -> list[Block]:
    """All choices at once: what agrees best with everything published."""
    best = search.ranked[0]
    equal = sum(each.order == best.order for each in search.ranked)

    def words(each: joint.Joint) -> str:
        return "; ".join(f"{choice}: {setting}" for choice, setting in zip(search.choices, each.settings, strict=True))

    everything = len(best.agree) == search.statements
    others = f", as {'does' if equal == 2 else 'do'} {equal - 1} more" if equal > 1 else ""
    text = (
        f"All choices at once, {search.about}: of {search.statements} published statements our defaults agree with "
        f"{len(search.default.agree)} and are contradicted in {len(search.default.contradicted)}. Of {len(search.ranked)} "
        f"joint settings, the one that agrees best agrees with {'all' if everything else len(best.agree)}{others}: {words(best)}."
    )
    blocks: list[Block] = []
    if best.contradicted:
        left = "; ".join(best.contradicted)
        text += f" It is contradicted in {len(best.contradicted)}{f': {left}.' if len(best.contradicted) <= FEW else '.'}"
        if len(best.contradicted) > FEW:
            blocks = [Fold("What contradicts the joint setting that agrees best", [Text(f"{left}.")])]
        spared = next((each for each in search.ranked if not each.contradicted), None)
        if spared is not None:
            text += f" Nothing contradicts this one, which agrees with {len(spared.agree)}: {words(spared)}."
    if not everything:
        text += " None agrees with all."
    rows = [
        (*each.settings, str(len(each.agree)), str(len(each.undecided)), str(len(each.contradicted)))
        for each in (search.default, *search.ranked[:JOINT_SHOWN])
    ]
    head = (*search.choices, "agree", "undecided", "contradicted")
    places = range(len(search.choices), len(head))
    table = Table(head, rows, numeric=places, folded=f"Our defaults, and the {len(rows) - 1} joint settings that agree best")
    return [Text(text), *blocks, table]


def _claim(claim: Claim) -> list[Block]:
    rows = [
        (
            c.where if c.counts else f"{c.where} (does not count)",
            c.what,
            c.reading or "as published, or our default",
            number(c.value) if c.low is not None else "-",
            _interval(c),
            str(c.runs),
            c.wanted,
            c.outcome,
            c.note,
        )
        for c in claim.comparisons
    ]
    head = ("where", "compared", "reading", "ratio", "95% interval", "runs", "wanted", "outcome", "numbers")
    return [
        Fold(
            f"{claim.statement.rstrip('.')}: {claim.line.partition(': ')[2]}; {len(rows)} comparisons",
            [Text(claim.test), Table(head, rows, numeric=(3, 4, 5), marks=MARKS)],
        )
    ]


def _interval(c: Comparison) -> str:
    return between(None if c.low is None or c.high is None else (c.low, c.high))


def _variances(panels: Mapping[str, Panel]) -> list[Block]:
    rows = []
    for name, published in PUBLISHED_VARIANCE.items():
        for line in panels[name].lines if name in panels else ():
            if line.id in published and line.result.runs > 1:
                ours, shown = estimate_variance(line.final), line.summary
                theirs = "-" if generated(panels[name].experiment) else number(published[line.id])
                known = ours.high < 100.0 * ours.value  # else a few runs are so far off that none can say
                interval = between((ours.low, ours.high)) if known else f"above {number(ours.low)}"
                cells = (number(ours.value), interval, theirs)
                rows.append(
                    (
                        title(panels[name]),
                        line.label,
                        str(line.result.runs),
                        *cells,
                        f"{number(shown.mean)} ({between(shown.interval)})",
                    )
                )
    head = ("panel", "algorithm", "runs", "variance", "95% interval", "published", "mean regret (95% interval)")
    made_up = any(generated(panels[name].experiment) for name in PUBLISHED_VARIANCE if name in panels)
    nothing = " Generated rankers have no published variance." if made_up else ""
    return [
        Text(f"Variance of regret over runs at the end, beside the paper's table (T = 10^6, 50 runs).{nothing}"),
        Table(head, rows, numeric=(2, 3, 4, 5, 6)),
    ]


def _numbers(panel: Panel) -> list[Block]:
    summaries = sorted((line.summary for line in panel.lines), key=lambda summary: summary.mean)
    return [regret_table(summaries, NUMBERS, name="algorithm", folded=title(panel))]


def _problems(panels: Mapping[str, Panel]) -> list[Block]:
    rows = []
    for name in TWO:
        if name in panels:
            problem, experiment = panels[name].problem, panels[name].experiment
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


def _times(panels: Mapping[str, Panel], seconds: Mapping[str, float], total: float) -> list[Block]:
    rows = []
    for name, panel in panels.items():
        play = sum(line.result.seconds for line in panel.lines)
        compiling = sum(line.result.compile_seconds for line in panel.lines)
        slowest = max(panel.lines, key=lambda line: line.result.seconds)
        wall = f"{seconds[name]:.1f}" if name in seconds else "-"
        last = f"{slowest.label}, {slowest.result.seconds:.1f}"
        rows.append((title(panel), wall, f"{play:.1f}", f"{compiling:.1f}", last))
    each = []
    for name in (*TWO, *MULTI):
        for line in panels[name].lines if name in panels else ():
            result = line.result
            note = "" if find(result.policy).anytime else f"{len(result.checkpoints)} horizons each"
            note = note if result.seconds > 0.0 else "taken from another panel"
            cells = (str(result.runs), f"{result.seconds:.2f}", f"{result.compile_seconds:.1f}")
            each.append((title(panels[name]), line.label, *cells, f"{nanoseconds(panels[name], line):.3g}", note))
    return [
        Text(
            f"This call took {total:.0f} seconds, compiling and drawing included; what was already there took none. "
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
        (name, str(panel.experiment.seed), panel.problem.label, panel.provenance["fingerprint"]) for name, panel in panels.items()
    ]
    return [
        Text(f"multiduel {first['version']}; {packages}. Each experiment's folder holds its parts and what decided them."),
        Table(("experiment", "seed", "problem", "fingerprint"), rows, folded="Fingerprints"),
    ]
