"""An analysis as a page: the verdict as a sentence, when it was certain, the pairs with their intervals, and a figure."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from multiduel.display import documents
from multiduel.display.documents import Block, Callout, Drawing, Heading, Text
from multiduel.display.standings_figures import strengths_svg
from multiduel.display.standings_tables import rank, signed, span
from multiduel.display.tables import Table
from multiduel.inference.words import listed, percent
from multiduel.rankers.analysis import Analysis, Moment, Settled

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 260, 60, 16, 16, 40
ROW = 26  # of the chart of intervals
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" role="img" font-family="system-ui" font-size="12"'
SVG = HEAD + f' viewBox="0 0 {WIDTH} {{height}}">'


UNITS = {"user": "users", "session": "sessions", "impression": "pages"}
TIES = {"half": "half", "drop": "left out"}
WHAT = {
    "lines": "lines that are none of a log",
    "repeated": "pages that came twice",
    "orphans": "clicks on pages that are not in the log",
    "not_shown": "clicks on documents that were not shown",
    "late": "clicks after the time-out",
    "early": "clicks before their page",
}


def words(analysis: Analysis) -> list[str]:
    """What the log says, as sentences, the answer first: for the terminal and the page."""
    more = [line for line in (order_words(analysis), means_words(analysis)) if line]
    lines = [headline(analysis), doubt(analysis), settled_words(analysis), *more]
    if more and analysis.unit != "impression":
        lines.append(condition_words(analysis, len(more)))
    lines.append(pages_words(analysis))
    if analysis.unknown and analysis.unit != "impression":
        lines.append(f"{analysis.unknown:,} pages do not name a user; each counts as a user of its own.")
    if len(analysis.methods) > 1:
        many = ", ".join(f"{name} ({pages:,} pages)" for name, pages in analysis.methods.items())
        lines.append(
            f"Pages were mixed by {len(analysis.methods)} methods, which measure differently: {many}. They are counted together."
        )
    left_out = [f"{count:,} {WHAT[name]}" for name, count in analysis.faults._asdict().items() if count and name in WHAT]
    if left_out:
        lines.append(f"Left out: {', '.join(left_out)}.")
    if analysis.faults.weights:
        lines.append(
            f"{analysis.faults.weights:,} clicks had a weight that the method of their page cannot use: each counts as one click."
        )
    return [line for line in lines if line]


def pages_words(analysis: Analysis) -> str:
    where = "".join(f", {name} {value}" for name, value in analysis.where.items())
    units = "" if analysis.unit == "impression" else f" for {analysis.users:,} {UNITS[analysis.unit]}"
    return f"{analysis.pages:,} pages{units}, {analysis.clicked:,} of them with a click, {len(analysis.names)} rankers{where}."


def headline(analysis: Analysis) -> str:
    """Which ranker wins, as one sentence."""
    found, sure = analysis.verdict, f"({percent(1.0 - analysis.alpha)})"
    name = [f"'{text}'" for text in found.names]
    whom = "for these users" if analysis.unit == "impression" else "for users like these"
    units = UNITS[analysis.unit]
    if analysis.not_compared and found.kind != "winner":
        return analysis.not_compared
    told = f"{units} whose {'' if analysis.metric == 'click' else analysis.metric + ' '}judgements tell the two apart"
    told = told if analysis.unit != "impression" else "pages that tell the two apart"
    if found.winner is not None and found.margin > 0.0:
        best = [name[arm] for arm in analysis.stood.winners]
        are, them = ("are", "each of them") if len(best) > 1 else ("is", "it")
        return (
            f"{listed(best)} {are} best, give or take {percent(found.margin)}, {whom} {sure}: no other ranker is preferred to "
            f"{them} by more than {percent(0.5 + found.margin)} of the {units}, ties counting half."
        )
    if found.winner is not None:
        return f"{name[found.winner]} is best {whom} {sure}: against each other ranker, more than half of the {told} prefer it."
    if found.kind == "cycle":
        steps = [f"{name[i]} above {name[j]}" for i, j in zip(found.cycle, (*found.cycle[1:], found.cycle[0]), strict=True)]
        so = "each step of this cycle is certain too:" if found.cycle_is_certain else "most place"
        return f"No overall winner (cycle): no ranker beats all others {whom} {sure}; {so} {listed(steps)}."
    if found.kind == "open":
        return f"No winner yet: any of the {len(name)} rankers may be the one that beats all others {whom}."
    few = [name[arm] for arm in found.still_in]
    if len(few) == 1:
        only = f"if one ranker beats all others {whom}, it is {few[0]} {sure}"
        return f"No winner yet, but nearly: {only}; that there is one is not yet certain."
    return (
        f"No winner yet: {listed(few)} are still in. If one ranker beats all others {whom}, it is one of these {len(few)} {sure}."
    )


def doubt(analysis: Analysis) -> str:
    """What later pages say against the verdict; empty if they do not."""
    unit = UNITS[analysis.unit]
    said = analysis.stood.doubt.replace("Later answers", "Later pages").replace("of the answers", f"of the {unit}")
    said = said.replace("is placed above", "is preferred to").replace("those who answer changed", "users changed")
    return f"{said} The verdict stands: its error counts all times together." if said else ""


def order_words(analysis: Analysis) -> str:
    """What every page of every user says of the order: the second statement."""
    found = analysis.standings
    if found is None or analysis.not_compared:
        return ""
    name = [f"'{text}'" for text in found.names]
    units, sure = UNITS[analysis.unit], percent(1.0 - analysis.alpha)
    how = "" if analysis.unit == "impression" else f", all pages of a {analysis.unit} as one observation"
    basis = f"By every page{how} (approximate, for many {units}; {sure})"
    if all(np.isnan(found.low)):
        return f"{basis}: too early to say, fewer than 20 {units} compare each ranker."
    first = found.top(1).possible
    if len(first) == 1:
        return f"{basis}: {name[first[0]]} is first."
    if len(first) == len(name):
        return f"{basis}: any of the {len(name)} rankers may be first."
    return f"{basis}: {listed([name[arm] for arm in first])} may be first, the others not."


def means_words(analysis: Analysis) -> str:
    """What the means of users' first judgements say, where it is more than the verdict."""
    found = analysis.means
    if found is None or found.winner is None or found.winner == analysis.verdict.winner:
        return ""
    name = f"'{analysis.names[found.winner]}'"
    said = f"Counting up to 64 judgements of a {analysis.unit} (exact)"
    if analysis.verdict.winner is None and analysis.verdict.kind != "cycle":
        return f"{said}: {name} is best ({percent(1.0 - analysis.alpha)}), certain after {found.reached:,} pages."
    return f"{said}: {name} is best, which contradicts the verdict above: returning {UNITS[analysis.unit]} differ from others."


def condition_words(analysis: Analysis, statements: int) -> str:
    """When the statements that count several pages of a user hold. docs/rankers.md has their errors where they do not."""
    what, unit = "This statement holds" if statements == 1 else "These two statements hold", analysis.unit
    return f"{what} only if a {unit}'s own clicks do not change what the {unit} is shown; the verdict does not need this."


def settled_words(analysis: Analysis) -> str:
    moment = analysis.settled
    if moment is None:
        more = analysis.forecast
        if more is None:
            return ""
        return f"Still needed: {str(more).replace('answers', UNITS[analysis.unit]).replace('option', 'ranker')}."
    units = "" if analysis.unit == "impression" else f" for {moment.users:,} {UNITS[analysis.unit]}"
    return f"It has been certain since {_date(moment)}, after {moment.pages:,} pages{units}."


def _date(moment: Settled) -> str:
    try:
        return datetime.fromtimestamp(moment.time, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):
        return f"second {moment.time:g}"


def figure(analysis: Analysis) -> str:
    """The evidence for the leader over the log, as SVG: the largest so far, which the verdict rests on."""
    moments, leader = analysis.moments, analysis.leader
    needed = analysis.verdict.needed
    most = max(1.0, *(float(moment.least[leader]) for moment in moments), needed) * 1.1
    last = max(1, moments[-1].pages)

    def at(moment: Moment) -> tuple[float, float]:
        x = LEFT + (WIDTH - LEFT - RIGHT) * moment.pages / last
        return x, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * max(0.0, float(moment.least[leader])) / most

    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(at, moments))
    claim = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * needed / most
    who = html.escape(analysis.names[leader][:34])
    parts = [
        SVG.format(height=HEIGHT),
        f"<title>Evidence for {who} against its closest rival, over the pages of the log</title>",
        f'<path d="M{LEFT},{TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#888"/>',
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{claim:.1f}" y2="{claim:.1f}" stroke="#c33" stroke-dasharray="6 4"/>',
        f'<text x="{LEFT + 6}" y="{claim - 5:.1f}" fill="#c33">certain ({100 * (1 - analysis.alpha):.0f} %)</text>',
        f'<polyline points="{line}" fill="none" stroke="#07a" stroke-width="2"/>',
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 8}" text-anchor="end">{last:,} pages</text>',
        f'<text x="{LEFT}" y="{HEIGHT - 8}">largest evidence so far for {who} against its closest rival</text>',
        f'<text x="{LEFT - 6}" y="{HEIGHT - BOTTOM}" text-anchor="end">0</text>',
        f'<text x="{LEFT - 6}" y="{TOP + 10}" text-anchor="end">{most:.1f}</text>',
        "</svg>",
    ]
    return "\n".join(parts)


def intervals(analysis: Analysis) -> str:
    """The leader against each other ranker, as SVG: share of wins with its interval."""
    leader = analysis.leader
    low, high = analysis.intervals
    P = analysis.matrix
    others = [arm for arm in np.argsort(P[leader]) if arm != leader]
    height = ROW * len(others) + 50

    def x(share: float) -> float:
        return 240 + 440 * share

    parts = [
        SVG.format(height=height),
        f"<title>{html.escape(analysis.names[leader])} against each other ranker</title>",
        f'<line x1="{x(0.5)}" x2="{x(0.5)}" y1="8" y2="{height - 36}" stroke="#888" stroke-dasharray="4 4"/>',
    ]
    for row, arm in enumerate(others):
        y = 20 + ROW * row
        parts += [
            f'<text x="230" y="{y + 4}" text-anchor="end">{html.escape(analysis.names[arm][:34])}</text>',
            f'<path d="M{x(low[leader, arm]):.1f},{y}H{x(high[leader, arm]):.1f}" stroke="#07a" stroke-width="3"/>',
            f'<circle cx="{x(P[leader, arm]):.1f}" cy="{y}" r="5" fill="#07a"/>',
        ]
    for share in (0.0, 0.5, 1.0):
        parts.append(f'<text x="{x(share)}" y="{height - 18}" text-anchor="middle">{100 * share:.0f} %</text>')
    title = f"judgements that {html.escape(analysis.names[leader][:34])} won, ties {TIES[analysis.ties]}"
    return "\n".join([*parts, f'<text x="{x(0.5)}" y="{height - 3}" text-anchor="middle">{title}</text>', "</svg>"])


def segment_lines(field: str, cut: dict[str, Analysis], alpha: float) -> list[str]:
    """A sentence per segment."""
    head = f"By {field}, with an error of {percent(alpha)} over all {len(cut)} together:"
    return [head, *(f"  {value}: {headline(one)} {pages_words(one)}" for value, one in cut.items())]


def page(analysis: Analysis, title: str = "Which ranker wins?", more: Sequence[str] = ()) -> str:
    """Write all of it as one HTML page that needs nothing else; ``more`` are sentences on guardrails and segments."""
    sentence, *rest = [*words(analysis), *more]
    blocks: list[Block] = [
        Heading(title, 1),
        Callout(sentence, analysis.verdict.settled),
        *(Text(line) for line in rest),
        Drawing(figure(analysis), "Evidence for the leader against its closest rival, over the pages of the log"),
        Drawing(intervals(analysis), "Shares of judgements that the leader won, with their intervals"),
        *order_blocks(analysis),
        Heading("Who beats whom"),
        matrix(analysis),
        Text(interval_words(analysis)),
    ]
    return documents.page(blocks, title)


def order_blocks(analysis: Analysis) -> list[Block]:
    """The standings as a figure and a table."""
    found = analysis.standings
    if found is None:
        return []
    lines = found.lines
    strength, low, high = (np.array([getattr(line, name) for line in lines]) for name in ("strength", "low", "high"))
    ranks = [rank(line.rank_from, line.rank_to) for line in lines]
    best = next((k for k, line in enumerate(lines) if line.option == found.verdict.winner), None)
    drawn = strengths_svg([line.name for line in lines], ranks, strength, low, high, best)
    rows = [
        [rank(line.rank_from, line.rank_to), line.name, signed(line.strength), span(line.low, line.high), f"{line.shown:,}"]
        for line in lines
    ]
    return [
        Heading("All rankers in order"),
        Drawing(drawn, "Strengths of the rankers, with intervals"),
        Table(["rank", "ranker", "strength", "interval", UNITS[analysis.unit]], rows, range(2, 5)),
        Text(
            "From every page, the pages of one user as one observation. Ranks are ranges that hold with the stated confidence; "
            "strengths are of Bradley and Terry, relative to the mean. Approximate, for many users; the verdict above is exact."
        ),
    ]


def interval_words(analysis: Analysis) -> str:
    unit = "page" if analysis.unit == "impression" else analysis.unit
    words = (
        f"Share of judgements in which the row beats the column, ties {TIES[analysis.ties]}; below, the interval and how "
        f"many judgements, at most one per {unit} and pair. All intervals hold together, at all times, with "
        f"{100 * (1 - analysis.alpha):.0f} % confidence; bold where they leave out 1/2."
    )
    if analysis.stood.winners:
        ends = percent(0.5 - analysis.margin)
        limit = f"at least {ends}" if analysis.margin else f"above {ends}"
        words += f" A winner's lower ends are {limit}: that is the verdict, with an error of its own."
    return words


def by_strength(analysis: Analysis) -> list[int]:
    """The rankers, the leader first, then by their mean share against the others."""
    mean = (analysis.matrix.sum(axis=1) - 0.5) / max(1, len(analysis.names) - 1)
    order = sorted(range(len(analysis.names)), key=lambda arm: (arm not in analysis.stood.winners, -mean[arm], arm))
    first = analysis.leader
    return [first, *(arm for arm in order if arm != first)]


def is_certain(analysis: Analysis, i: int, j: int) -> bool:
    """Whether the report says that one of the two beats the other."""
    low, high = analysis.intervals
    verdict = analysis.margin == 0.0 and bool({i, j} & set(analysis.stood.winners))
    return verdict or bool(low[i, j] > 0.5 or high[i, j] < 0.5)


def ends_words(analysis: Analysis, i: int, j: int, digits: int) -> str:
    """An interval as text; an end that is 1/2 by the verdict is no part of it."""
    low, high = (float(end[i, j]) for end in analysis.intervals)
    sharp = analysis.margin == 0.0
    of_i, of_j = (sharp and arm in analysis.stood.winners for arm in (i, j))
    left = f"above {low:.{digits}f}" if of_i and low == 0.5 else f"{low:.{digits}f}"
    right = f"below {high:.{digits}f}" if of_j and high == 0.5 else f"{high:.{digits}f}"
    return f"{left} to {right}"


def matrix(analysis: Analysis) -> Table:
    """Make a table of who beats whom, strongest first: shares, intervals and numbers of judgements."""
    order = by_strength(analysis)
    rows = []
    for i in order:
        cells = [analysis.names[i]]
        for j in order:
            if i == j or analysis.judgements[i, j] == 0:
                cells.append("")
                continue
            share = f"{analysis.matrix[i, j]:.3f}"
            ends = f"{ends_words(analysis, i, j, 2)}; {analysis.judgements[i, j]:,.0f}"
            cells.append(f"**{share}**\n{ends}" if is_certain(analysis, i, j) else f"{share}\n{ends}")
        rows.append(cells)
    return Table(["", *(analysis.names[arm] for arm in order)], rows, range(1, len(order) + 1))


def table(analysis: Analysis) -> list[str]:
    """The matrix for the terminal, strongest first."""
    wide = max(len(name) for name in analysis.names)
    order, lines = by_strength(analysis), []
    for at, i in enumerate(order):
        for j in order[at + 1 :]:
            if analysis.judgements[i, j] > 0:
                name, other = analysis.names[i], analysis.names[j]
                n = math.floor(analysis.judgements[i, j] + 0.5)
                ends = ends_words(analysis, i, j, 3)
                lines.append(f"{name:{wide}}  over  {other:{wide}}  {analysis.matrix[i, j]:.3f}  ({ends})  {n:,} judgements")
    return lines
