"""An analysis as a page: the verdict as a sentence, when it was certain, the pairs with their intervals, and a figure."""

from __future__ import annotations

import html
import math
from datetime import UTC, datetime

import numpy as np

from multiduel.display import documents
from multiduel.display.documents import Block, Callout, Drawing, Heading, Text
from multiduel.display.tables import Table
from multiduel.inference.words import percent
from multiduel.rankers.analysis import Analysis, Moment

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 260, 60, 16, 16, 40
ROW = 26  # of the chart of intervals
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" role="img" font-family="system-ui" font-size="12"'
SVG = HEAD + f' viewBox="0 0 {WIDTH} {{height}}">'


def words(analysis: Analysis) -> list[str]:
    """What the log says, as sentences: for the terminal and the page."""
    lines = [
        f"{analysis.pages:,} pages for {analysis.users:,} {'pages' if analysis.unit == 'impression' else analysis.unit + 's'}, "
        f"{analysis.clicked:,} of them with a click, {len(analysis.names)} rankers.",
        str(analysis.verdict),
        settled_words(analysis),
    ]
    if analysis.unknown and analysis.unit != "impression":
        lines.append(f"{analysis.unknown:,} pages were of nobody known; each counts as a user of its own.")
    left_out = [f"{count:,} {WHAT[name]}" for name, count in analysis.faults._asdict().items() if count]
    if left_out:
        lines.append(f"Left out: {', '.join(left_out)}.")
    return lines


TIES = {"half": "half", "drop": "left out"}
WHAT = {
    "lines": "lines that are none of a log",
    "repeated": "pages that came twice",
    "orphans": "clicks on pages that are not in the log",
    "not_shown": "clicks on documents that were not shown",
    "late": "clicks after the time-out",
}


def settled_words(analysis: Analysis) -> str:
    moment = analysis.settled
    if moment is None:
        what = "pages" if analysis.unit == "impression" else analysis.unit + "s"
        return f"Still needed: {str(analysis.forecast).replace('answers', what)}."
    give = f", give or take {percent(analysis.margin)}," if analysis.margin else ""
    best = f"that '{analysis.names[moment.leader]}' is best{give}"
    who = best if moment.kind == "winner" else "that no ranker beats all others"
    return f"It was certain {who} after {moment.pages:,} pages for {moment.users:,} users, on {_date(moment)}."


def _date(moment: Moment) -> str:
    try:
        return datetime.fromtimestamp(moment.time, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):
        return f"second {moment.time:g}"


def figure(analysis: Analysis) -> str:
    """The evidence for the leader over the log, as SVG."""
    moments = analysis.moments
    most = max(1.0, *(moment.evidence for moment in moments), moments[-1].needed) * 1.1
    last = max(1, moments[-1].pages)

    def at(moment: Moment) -> tuple[float, float]:
        x = LEFT + (WIDTH - LEFT - RIGHT) * moment.pages / last
        return x, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * max(0.0, moment.evidence) / most

    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(at, moments))
    needed = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * moments[-1].needed / most
    parts = [
        SVG.format(height=HEIGHT),
        "<title>Evidence for the leader against its closest rival, over the pages of the log</title>",
        f'<path d="M{LEFT},{TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#888"/>',
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{needed:.1f}" y2="{needed:.1f}" stroke="#c33" stroke-dasharray="6 4"/>',
        f'<text x="{LEFT + 6}" y="{needed - 5:.1f}" fill="#c33">certain ({1 - analysis.alpha:.0%})</text>',
        f'<polyline points="{line}" fill="none" stroke="#07a" stroke-width="2"/>',
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 8}" text-anchor="end">{last:,} pages</text>',
        f'<text x="{LEFT}" y="{HEIGHT - 8}">evidence for the leader against its closest rival, over the log</text>',
        f'<text x="{LEFT - 6}" y="{HEIGHT - BOTTOM}" text-anchor="end">0</text>',
        f'<text x="{LEFT - 6}" y="{TOP + 10}" text-anchor="end">{most:.1f}</text>',
        "</svg>",
    ]
    return "\n".join(parts)


def intervals(analysis: Analysis) -> str:
    """The leader against each other ranker, as SVG: share of wins with its interval."""
    leader = analysis.moments[-1].leader
    low, high = analysis.verdict.intervals
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
        parts.append(f'<text x="{x(share)}" y="{height - 18}" text-anchor="middle">{share:.0%}</text>')
    title = f"judgements that {html.escape(analysis.names[leader][:34])} won, ties {TIES[analysis.ties]}"
    return "\n".join([*parts, f'<text x="{x(0.5)}" y="{height - 3}" text-anchor="middle">{title}</text>', "</svg>"])


def page(analysis: Analysis, title: str = "Which ranker wins?") -> str:
    """Write all of it as one HTML page that needs nothing else."""
    pages, sentence, since, *rest = words(analysis)
    unit = "page" if analysis.unit == "impression" else analysis.unit
    blocks: list[Block] = [
        Heading(title, 1),
        Callout(sentence, analysis.verdict.settled),
        *(Text(line) for line in (since, pages, *rest)),
        Drawing(figure(analysis), "Evidence for the leader against its closest rival, over the pages of the log"),
        Drawing(intervals(analysis), "Shares of judgements that the leader won, with their intervals"),
        Heading("Who beats whom"),
        matrix(analysis),
        Text(
            f"Share of judgements in which the row beats the column, ties {TIES[analysis.ties]}; below, the interval and how "
            f"many judgements, at most one per {unit} and pair. All intervals hold together, at all times, with "
            f"{1 - analysis.alpha:.0%} confidence; bold where they leave out 1/2."
        ),
    ]
    return documents.page(blocks, title)


def matrix(analysis: Analysis) -> Table:
    """Make a table of who beats whom: shares, intervals and numbers of judgements."""
    low, high = analysis.verdict.intervals
    rows = []
    for i, name in enumerate(analysis.names):
        cells = [name]
        for j in range(len(analysis.names)):
            if i == j or analysis.judgements[i, j] == 0:
                cells.append("")
                continue
            share = f"{analysis.matrix[i, j]:.3f}"
            sure = low[i, j] > 0.5 or high[i, j] < 0.5
            ends = f"{low[i, j]:.2f} to {high[i, j]:.2f}; {analysis.judgements[i, j]:,.0f}"
            cells.append(f"**{share}**\n{ends}" if sure else f"{share}\n{ends}")
        rows.append(cells)
    return Table(["", *analysis.names], rows, range(1, len(analysis.names) + 1))


def table(analysis: Analysis) -> list[str]:
    """The matrix for the terminal."""
    low, high = analysis.verdict.intervals
    wide = max(len(name) for name in analysis.names)
    lines = []
    for i, name in enumerate(analysis.names):
        for j in range(i):
            if analysis.judgements[i, j] > 0:
                ends = f"{low[i, j]:.3f} to {high[i, j]:.3f}"
                other = analysis.names[j]
                n = math.floor(analysis.judgements[i, j] + 0.5)
                lines.append(f"{name:{wide}}  over  {other:{wide}}  {analysis.matrix[i, j]:.3f}  ({ends})  {n:,} judgements")
    return lines
