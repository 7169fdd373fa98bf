"""A policy beside all others: the sentence first, then tables, the profile, and a page with all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from multiduel.display.documents import Block, Callout, Heading, Picture, Text, page
from multiduel.display.tables import Table, power_of_ten
from multiduel.engine.registry.benchmark_results import PolicyResults
from multiduel.files import write_whole
from multiduel.lab.bench import figures
from multiduel.lab.bench.ranking import Overall, Pool, Standing, in_cell, overall, standings
from multiduel.lab.bench.suite import FAMILIES, RUNS, VERSION, Cell

ENDS_WRONG = 0.5  # of the runs: if more end wrong, the first sentence says so
SAID_NOT_APART = 4  # names in a cell of the table
SAID_SETTINGS = 2  # in the sentence; more are in a table
METHOD = (
    "**Score**: regret in percent of what random slates lose on the same instance, as the mean of the twenty instances; 100 is "
    "no better than chance. **Rank**: by score among the policies that played the cell; the range after it is that of all ranks "
    "that cannot be ruled out at 95 %. Policies are compared instance by instance on runs with the same seeds, by a bootstrap "
    "over instances, with Holm's adjustment. Policies that are **not told apart** may be better or worse: the suite cannot say. "
    "**Ends wrong**: the share of runs that recommend an arm at the end that is not the best. **Worst tenth**: the score of the "
    "worst tenth of the runs."
)
OVERALL = (
    "**Over all families**, as in the first sentence, policies are ranked by their score over the best one of each family, as a "
    "geometric mean over families. A family that a policy was too slow for counts as random slates. The range of that rank "
    "holds it in 95 of 100 resamples of the instances."
)


@dataclass(frozen=True)
class Report:
    """What is said of one policy."""

    policy: str
    headline: str
    sound: bool  # most of its runs end with the best arm
    tables: list[Table]
    left_out: list[str]
    profiles: list[Overall]


def report(own: PolicyResults, pool: Pool) -> Report:
    """Set a policy's results beside those of others on the same suite. Older results of it in ``pool`` are left out."""
    together = {name: results for name, results in pool.items() if results.suite == own.suite} | {own.policy: own}
    settings = sorted({(row.horizon, row.slate_size) for row in own.rows.values() if row.runs})
    tables, profiles = [], []
    for horizon, slate_size in settings:
        lines = [
            standings(Cell(name, slate_size, horizon), together, only=own.policy)
            for name in FAMILIES
            if own.policy in in_cell(Cell(name, slate_size, horizon), together)
        ]
        shown = [line[0] for line in lines if line]
        tables.append(family_table(shown, together, f"Slates of {slate_size}, {horizon:,} rounds"))
        tried = {row.family for row in own.rows.values() if row.key[1:] == (slate_size, horizon)}
        found = overall(slate_size, horizon, _only(together, tried, slate_size, horizon))
        profiles.append(found)
    wrong = [row for row in own.rows.values() if row.runs]
    share = sum(int(row.wrong.sum()) for row in wrong) / max(1, sum(row.wrong.size for row in wrong))
    percent = f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.1f} %"
    ends = f"{percent} of its runs recommend a wrong arm at the end" if share >= 0.001 else "hardly a run ends wrong"
    bad = sum(row.wrong.mean() > ENDS_WRONG for row in wrong)
    ends += f" (more than half in {bad} of {len(wrong)} cells)" if 0 < bad < len(wrong) else ""
    warning = " **It ends wrong in most runs.**" if share > ENDS_WRONG else ""
    ranks = _in_words(own.policy, profiles)
    headline = f"**{own.policy}**: {ranks}. {ends[0].upper()}{ends[1:]}.{warning}" if profiles else ""
    notes = [
        f"{FAMILIES[row.family].title}, m = {row.slate_size}, T = {row.horizon:,}: {row.note}"
        for row in own.rows.values()
        if row.runs == 0 and row.family in FAMILIES
    ]
    return Report(own.policy, headline or f"**{own.policy}** has not played any cell.", not warning, tables, notes, profiles)


def _only(pool: Pool, families: set[str], slate_size: int, horizon: int) -> Pool:
    """The same results, of these families only."""
    return {
        name: PolicyResults(
            results.policy,
            results.suite,
            results.facts,
            {key: row for key, row in results.rows.items() if key[0] in families and key[1:] == (slate_size, horizon)},
        )
        for name, results in pool.items()
    }


def _in_words(policy: str, settings: Sequence[Overall]) -> str:
    """The ranks in a sentence: of many settings, how often it is first, and where it is worst."""
    if len(settings) <= SAID_SETTINGS:
        return "; ".join(_sentence(policy, found) for found in settings)
    by_rank = sorted(settings, key=lambda found: found.ranks[found.policies.index(policy)][0] / len(found.policies))
    first = sum(found.ranks[found.policies.index(policy)][0] == 1 for found in settings)
    best = f"rank 1 in {first} of {len(settings)} settings" if first else f"at best {_sentence(policy, by_rank[0])}"
    return best if first == len(settings) else f"{best}; at worst {_sentence(policy, by_rank[-1])}"


def _sentence(policy: str, found: Overall) -> str:
    times = found.factor[found.policies.index(policy)]
    rank, first, last = found.ranks[found.policies.index(policy)].tolist()
    of = f"rank {rank} of {len(found.policies)}{'' if first == last else f' (95 %: {first} to {last})'}"
    return f"{of} with m = {found.slate_size} and T = {found.horizon:,}, on average {times:.3g} times the best of each family"


def settings_table(policy: str, settings: Sequence[Overall]) -> Table:
    """A policy over all families, a row for each setting."""
    head = ("slates of", "rounds", "rank", "95 % range", "policies", "times the best")
    rows = []
    for found in settings:
        own = found.policies.index(policy)
        place, first, last = found.ranks[own].tolist()
        of, times = str(len(found.policies)), f"{found.factor[own]:.3g}"
        rows.append((str(found.slate_size), f"{found.horizon:,}", str(place), f"{first} to {last}", of, times))
    return Table(head, rows, numeric=(0, 1, 2, 4, 5))


def family_table(lines: Sequence[Standing], pool: Pool, title: str) -> Table:
    """A policy in the cells of one setting."""
    head = (
        "family",
        "score",
        "rank",
        "times the best",
        "ends wrong",
        "worst tenth",
        "CPU a round",
        "runs",
        "not told apart from",
    )
    rows = []
    for line in lines:
        cell = Cell(*line.row.key)
        of = len(in_cell(cell, pool))
        rows.append(
            (
                FAMILIES[cell.family].title,
                f"{line.score:.3g}",
                f"{rank(line)} of {of}",
                times_best(line),
                f"{100 * line.wrong:.1f} %",
                f"{line.worst:.3g}",
                cpu(line.nanoseconds),
                f"{line.row.regret.size}",
                not_apart(line.not_apart),
            )
        )
    return Table(head, rows, numeric=(1, 4, 5, 6, 7), title=title)


def rank(line: Standing) -> str:
    return f"{line.rank}" if line.first == line.last else f"{line.rank} ({line.first} to {line.last})"


def times_best(line: Standing) -> str:
    if line.times_best is None:
        return "1"
    value, low, high = line.times_best
    return f"{value:.3g} ({low:.3g} to {high:.3g})"


def not_apart(names: Sequence[str]) -> str:
    """Name a few policies, and say how many more there are."""
    if not names:
        return "all told apart"
    more = len(names) - SAID_NOT_APART
    return ", ".join(names[:SAID_NOT_APART]) + (f" and {more} more" if more > 0 else "")


def cpu(nanoseconds: float) -> str:
    if nanoseconds < 10:
        return f"{nanoseconds:.2g} ns"
    return f"{nanoseconds:.0f} ns" if nanoseconds < 1000 else f"{nanoseconds / 1000:.3g} µs"


def write(found: Report, own: PolicyResults, folder: Path) -> list[Path]:
    """Write the page and its figures: .svg for the page, .pdf as wide as a column for a paper."""
    blocks: list[Block] = [
        Heading(f"{found.policy} on benchmark suite {VERSION}", 1),
        Callout(found.headline, certain=found.sound),
        Text(f"Suite {VERSION}, `{own.suite}`; multiduel {own.facts.get('version')}; {own.cpu_seconds:,.0f} CPU seconds."),
    ]
    if len(found.profiles) > SAID_SETTINGS:
        blocks.append(settings_table(found.policy, found.profiles))
    paths = []
    for profile, table in zip(found.profiles, found.tables, strict=True):
        name = f"{found.policy}-m{profile.slate_size}-T{profile.horizon}"
        paths.append(figures.profile(profile, folder / f"{name}.svg", own=found.policy))
        narrow = figures.profile(profile, folder / f"{name}-narrow.svg", own=found.policy, size="single")
        figures.profile(profile, folder / f"{name}.pdf", own=found.policy, size="single")
        caption = (
            f"Performance profile, m = {profile.slate_size}, T = {power_of_ten(profile.horizon)}: on what share of the instances "
            "a policy's mean regret is within a factor of the best one's. Further up and left is better. A family that a policy "
            "was too slow for counts as never within it."
        )
        blocks += [Heading(table.title), Picture(paths[-1], caption, narrow), table]
    if found.left_out:
        blocks += [Heading("Left out"), *(Text(note) for note in found.left_out)]
    few = [row for row in own.rows.values() if 0 < row.runs < RUNS]
    if few:
        blocks += [
            Heading("Fewer runs"),
            Text("; ".join(f"{count} cells: {note}" for note, count in Counter(row.note for row in few).items()) + "."),
        ]
    blocks += [Heading("How to read it"), Text(f"{METHOD} {OVERALL}")]
    file = folder / f"{found.policy}.html"
    write_whole(file, page(blocks, f"{found.policy} on suite {VERSION}"))
    return [file, *paths, *(path.with_suffix(".pdf") for path in paths)]
