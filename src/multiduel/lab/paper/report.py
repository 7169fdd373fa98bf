"""The report on the paper: report.md, and report.html, which is one file with the figures inside. It answers first: did the
paper reproduce?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from multiduel.display.documents import Block, Callout, Fold, Heading, Picture, Text, markdown, page
from multiduel.display.regret_tables import INTERVAL, regret_table
from multiduel.display.tables import Table, between, number, power_of_ten
from multiduel.engine.registry.registry import find
from multiduel.engine.simulation.statistics import FEWEST_RUNS, estimate_variance
from multiduel.files import write_whole
from multiduel.lab.paper import agreement, joint
from multiduel.lab.paper.claims import PUBLISHED_VARIANCE
from multiduel.lab.paper.figures import NARROW, nanoseconds
from multiduel.lab.paper.interpretations import MULTI_JOINT, TWO_JOINT
from multiduel.lab.paper.panels import MULTI, TWO, generated, title
from multiduel.lab.paper.settings import table as settings_table
from multiduel.lab.paper.stand_in import LABEL as GENERATED
from multiduel.lab.paper.verdicts import (
    DOES_NOT,
    INCONCLUSIVE,
    NOT_INFORMATIVE,
    PARTLY,
    REPRODUCES,
    SAME,
    Claim,
    Comparison,
    Interpreted,
)
from multiduel.lab.results import Panel
from multiduel.theory import komiyama_lower_bound

HEADING = "Does \u201cDueling Bandits: From Two-dueling to Multi-dueling\u201d reproduce?"
WHOSE = "Du, Wang and Huang (AAMAS 2020)"
CAPTIONS = {
    "two-dueling": "The paper's panels (a) to (f) for two-dueling algorithms, linear axes as in the paper: the regret of each "
    "algorithm up to each round; lower is better. Left: the paper's settings, and our defaults where it states none. Right: the "
    f"same with the joint interpretation, the one that agrees best with the paper: {TWO_JOINT.words}. Both of a row "
    "have the same axis. IF1, IF2, BTM and SAVAGE must know when they end: each of their points is a run of its own.",
    "multi-dueling": "The paper's panels (a) to (d) for multi-dueling algorithms, linear axes. Left: our defaults, as the paper "
    f"states no parameters for these. Right: the joint interpretation: {MULTI_JOINT.words}.",
    "two-dueling-log": "Two-dueling at our defaults on logarithmic axes: where regret grows like ln T, a curve flattens.",
    "multi-dueling-log": "Multi-dueling at our defaults on logarithmic axes.",
    "two-dueling-rivals": "With two algorithms that the paper does not have (dashed), RMED1 of Komiyama et al. (2015) and our "
    "DueDuel: logarithmic axes, since both are far below.",
    "multi-dueling-rivals": "With two algorithms that the paper does not have (dashed): RMED1, which compares two arms at a "
    "time, and our DueDuel. Logarithmic axes.",
    "two-dueling-runs": "Regret at the end of every single run, two-dueling. Two clusters of dots mean that some runs found the "
    "best arm early and others did not.",
    "multi-dueling-runs": "Regret at the end of every single run, multi-dueling.",
    "slate-sizes": "Regret at the end against m, the number of arms compared at once. Dashed: alpha = 1.01.",
    "bounds": "Theorems 1 and 3 at horizons so long that their bounds say something: regret beside the bound (left), and how "
    "fast both still grow (right).",
    "cost": "What a round costs to simulate. Algorithms that keep their choice for long are played in one step.",
}
NUMBERS = ("name", "m", "runs", "mean", "interval", "std", "median", "spread", "winner")
MARKS = {REPRODUCES: "good", DOES_NOT: "bad", INCONCLUSIVE: "dim", NOT_INFORMATIVE: "dim", PARTLY: "dim", SAME: "dim"}
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

    searches = joint.searches(panels)
    return [
        Heading(HEADING, 1),
        *_answer(claims, shown, searches),
        Table(
            ("claim of the paper", "outcome", "what was measured"), [(c.statement, c.verdict, c.why) for c in claims], marks=MARKS
        ),
        *_terms(shown),
        Heading("The paper's figures, twice"),
        *pictures("two-dueling", "multi-dueling"),
        Heading("What the paper leaves open"),
        *_interpretations(claims),
        *(block for search in searches for block in _jointly(search)),
        Heading("Variance"),
        *_variances(panels),
        Heading("Longer horizons and theory"),
        *_further(claims),
        *pictures("bounds"),
        Heading("Details"),
        Fold("Logarithmic axes", pictures("two-dueling-log", "multi-dueling-log")),
        Fold("Beside algorithms that the paper does not have", pictures("two-dueling-rivals", "multi-dueling-rivals")),
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


def _answer(claims: Sequence[Claim], shown: Sequence[Panel], searches: Sequence[joint.Search]) -> list[Block]:
    """Did the paper reproduce? In one sentence, then in one paragraph."""
    first = shown[0].experiment
    tally = Counter(claim.verdict for claim in claims)
    good, bad = tally[REPRODUCES], tally[DOES_NOT]
    if not good + bad:
        answer = "This run cannot say"
    elif not bad:
        answer = "Yes, as far as it can be tested"
    elif not good:
        answer = "No"
    else:
        answer = "For the most part" if good > bad else "For the most part not"
    parts = [_count(good, "reproduces", "reproduce"), _count(bad, "does not reproduce", "do not reproduce")]
    if tally[INCONCLUSIVE]:
        parts.append(_count(tally[INCONCLUSIVE], "is inconclusive", "are inconclusive"))
    if tally[NOT_INFORMATIVE]:
        one, several = (f"{words} too large to be tested" for words in ("is a theorem on a bound", "are theorems on bounds"))
        parts.append(_count(tally[NOT_INFORMATIVE], one, several))
    counts = f"Of {len(claims)} claims of {WHOSE}, {', '.join(parts[:-1])} and {parts[-1]}"
    blocks: list[Block] = [Callout(f"**{answer}.** {counts}.", certain=bool(good) and not bad)]
    if first.horizon < 10**6:
        words = f"**This is a quick look** at T = {first.horizon:,} with {first.runs} runs"
        blocks.append(Text(f"{words}: it says nothing about the paper's claims, which are about T = 1,000,000."))
    right = [claim.statement.rstrip(".") for claim in claims if claim.verdict == REPRODUCES]
    said = (
        f"We played all of its experiments anew: T = {power_of_ten(first.horizon)} rounds, {_runs(shown)} on each problem of its "
        "two figures, whose panels are lettered (a), (b) and so on. Where the paper does not state a setting, we chose one, our "
        "default, and also tried others, which we call interpretations. "
    )
    if right:
        said += f"What reproduces: {'; '.join(right)}. "
    blocks.append(Text(said + _with_joint(claims, searches)))
    return blocks


def _count(number: int, one: str, several: str) -> str:
    return f"{number or 'none'} {one if number == 1 else several}"


def _runs(shown: Sequence[Panel]) -> str:
    fewest = min(line.result.runs for panel in shown for line in panel.lines)
    most = shown[0].experiment.runs
    return f"{most} runs of every algorithm" if fewest == most else f"{fewest} to {most} runs"


def _with_joint(claims: Sequence[Claim], searches: Sequence[joint.Search]) -> str:
    """What the joint interpretations make of the claims that do not reproduce at our defaults."""
    sentences = []
    for each in (TWO_JOINT, MULTI_JOINT):
        for claim in claims:
            found = claim.interpretations.get(each.words)
            if found is not None and found.whole and found.verdict == REPRODUCES != claim.verdict:
                sentences.append(f"With {each.words}, this reproduces too: {claim.statement}")
    for search in searches[:1]:
        if search.drawn is not None:
            sentences.append(
                f"With {TWO_JOINT.words}, {len(search.drawn.agree)} of the paper's {search.statements} comparisons between "
                f"two-dueling algorithms come out as published in panel (a), instead of {len(search.default.agree)}."
            )
    return " ".join(sentences)


def _terms(shown: Sequence[Panel]) -> list[Block]:
    """What the words of the table mean, and on what it rests."""
    blocks: list[Block] = [
        Text(
            "Regret: by how much the best arm beats the arms that were compared, on average over these, summed over rounds; "
            "less is better. Ratios are the smallest and the largest of the paper's panels. A claim **reproduces** if every "
            "comparison of it, in every panel, is where the claim wants it, and **does not reproduce** if one is elsewhere, "
            "each at 5 % after Holm's adjustment over the comparisons of the claim; else, and with fewer than "
            f"{FEWEST_RUNS} runs, it is **inconclusive**. A **bound is not informative** where it exceeds T times the largest "
            "gap: no play can lose more. Intervals of ratios: 95 %, studentised bootstrap."
        ),
    ]
    if any(generated(panel.experiment) for panel in shown):
        blocks.append(
            Text(
                "**The paper's real data, MSLR (search rankers compared by clicks), was not at hand.** Rankers of a made-up "
                f"corpus, with simulated clicks, are played in their place ({GENERATED}). They count towards no outcome, and "
                "interpretations are not played on them. `--mslr FILE...` takes the public files, `--data DIR` matrices."
            )
        )
    return blocks


def _interpretations(claims: Sequence[Claim]) -> list[Block]:
    """What was varied, and which claims that turns."""
    rows = []
    for claim in claims:
        if claim.interpretations:
            rows.append((claim.statement, claim.line, _turned(claim)))
    each = [(c.statement, words, it.line) for c in claims for words, it in c.interpretations.items()]
    return [
        Text("What the paper states, what we chose where it states nothing, and what else we tried:"),
        settings_table(),
        Text(
            "An interpretation changes one choice, or several jointly; everything else stays at our defaults. It counts for a "
            "claim only if every comparison of the claim was made with it, in every panel; else it is **partly tested**."
        ),
        Table(("claim", "at our defaults", "with an interpretation"), rows, marks=MARKS),
        Table(("claim", "interpretation", "outcome"), each, folded=f"Claim by interpretation: {len(each)} outcomes", marks=MARKS),
    ]


def _turned(claim: Claim) -> str:
    """Which interpretations give the claim another outcome, which only in the panels tried, and which none."""

    def named(wanted: str, *, whole: bool) -> list[str]:
        found = claim.interpretations.items()
        return [words for words, it in found if not it.same and it.whole is whole and it.verdict == wanted]

    parts = []
    if claim.verdict == REPRODUCES:
        against = [*named(DOES_NOT, whole=True)]
        parts.append(f"Does not reproduce with: {'; '.join(against)}." if against else "None wholly tested changes that.")
    else:
        right = named(REPRODUCES, whole=True)
        parts.append(f"Reproduces with: {'; '.join(right)}." if right else "Reproduces with none wholly tested.")
    other = REPRODUCES if claim.verdict != REPRODUCES else DOES_NOT
    partly = named(other, whole=False)
    if partly:
        where = "; ".join(f"{words} ({', '.join(claim.interpretations[words].where)})" for words in partly)
        parts.append(f"Partly tested, and {'as claimed' if other == REPRODUCES else 'not as claimed'} there: {where}.")
    equal = [words for words, it in claim.interpretations.items() if it.same]
    if equal:
        parts.append(f"Same as our default in every run, bit by bit: {'; '.join(equal)}.")
    return " ".join(parts)


def _further(claims: Sequence[Claim]) -> list[Block]:
    """What goes beyond the paper's own terms."""
    rows = [(c.statement, words, _panels_said(it)) for c in claims for words, it in c.further.items()]
    return [
        Text("Beyond the paper's terms, on the panels named: longer horizons, other slate sizes, how fast regret still grows."),
        Table(("claim", "where", "outcome"), rows, marks=MARKS),
    ]


def _panels_said(it: Interpreted) -> str:
    return f"{it.line} ({', '.join(it.where)})" if it.where else it.line


def _jointly(search: joint.Search) -> list[Block]:
    """All choices at once: what agrees best with everything published."""
    best = search.ranked[0]
    equal = sum(each.order == best.order for each in search.ranked)

    def words(each: joint.Joint) -> str:
        changed = [(c, s) for c, s in zip(search.choices, each.settings, strict=True) if s != joint.DEFAULT]
        return "; ".join(f"{choice}: {setting}" for choice, setting in changed) or "our defaults"

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
    text += _is_drawn(search)
    shown = [search.default, *([search.drawn] if search.drawn else []), *search.ranked[:JOINT_SHOWN]]
    rows = [
        (*each.settings, str(len(each.agree)), str(len(each.undecided)), str(len(each.contradicted)))
        for each in dict.fromkeys(shown)
    ]
    head = (*search.choices, "agree", "undecided", "contradicted")
    places = range(len(search.choices), len(head))
    table = Table(
        head, rows, numeric=places, folded="Our defaults, the joint interpretation that is drawn, and those that agree best"
    )
    return [Text(text), *blocks, table]


def _is_drawn(search: joint.Search) -> str:
    """Whether the joint interpretation that the figures show is the one that agrees best here."""
    if search.drawn is None:
        return ""
    if search.drawn.order == search.ranked[0].order:
        return " The joint interpretation in the figures is one of these." if search.drawn != search.ranked[0] else (
            " It is the joint interpretation in the figures."
        )  # fmt: skip
    return (
        " The joint interpretation in the figures, chosen on a full run with MSLR's matrix, agrees with "
        f"{len(search.drawn.agree)} and is contradicted in {len(search.drawn.contradicted)} here."
    )


def _claim(claim: Claim) -> list[Block]:
    rows = [
        (
            c.where if c.counts else f"{c.where} (does not count)",
            c.what,
            c.interpretation or c.further or "our defaults",
            number(c.value) if c.low is not None else "-",
            _interval(c),
            str(c.runs),
            c.wanted,
            c.outcome,
            c.note,
        )
        for c in claim.comparisons
    ]
    head = ("where", "compared", "setting", "ratio", "95 % interval", "runs", "wanted", "outcome", "numbers")
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
    head = ("panel", "algorithm", "runs", "variance", "95 % interval", "published", "mean regret (95 % interval)")
    made_up = any(generated(panels[name].experiment) for name in PUBLISHED_VARIANCE if name in panels)
    nothing = " Generated rankers have no published variance." if made_up else ""
    return [
        Text(f"Variance of regret over runs at the end, beside the paper's table (T = 10^6, 50 runs).{nothing}"),
        Table(head, rows, numeric=(2, 3, 4, 5, 6)),
        *_nearest(panels),
    ]


def _nearest(panels: Mapping[str, Panel]) -> list[Block]:
    """Which settings come nearest to the published variances."""
    rows = agreement.variances(panels)
    if not rows:
        return []
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
        Text(f"The variance table is nearest to: {words}.{rest}"),
        Table(head, table, numeric=(2, 3, 4, 5, 6), folded="Variance over the published one, by setting"),
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
