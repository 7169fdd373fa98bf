"""A page as a list of blocks, written as Markdown or as one HTML file that needs no other.

In texts and cells, `code` and **bold** are as in Markdown. What stands below a line break in a cell is small.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from multiduel.display.tables import BOLD, Table


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Callout:
    """The sentence that the reader came for."""

    text: str
    certain: bool  # else it may still change, and is coloured so


@dataclass(frozen=True)
class Drawing:
    """An SVG element as it is, its letters those of the page. On a narrow screen it scrolls in its own box."""

    svg: str
    caption: str  # what it shows, in Markdown in its place


@dataclass(frozen=True)
class Picture:
    file: Path
    caption: str
    narrow: Path | None = None  # the same, to be read on a narrow screen


@dataclass(frozen=True)
class Fold:
    """Blocks behind a line to click on; in Markdown below it."""

    summary: str
    blocks: Sequence[Block]


Block = Heading | Text | Callout | Table | Drawing | Picture | Fold
NARROW = "max-width: 640px"  # a screen for one column
MOST_STACKED = 3  # columns of words that may stand one below the other


def markdown(blocks: Sequence[Block], folder: Path) -> str:
    """Pictures are linked, relative to ``folder``."""
    out = []
    for block in blocks:
        if isinstance(block, Heading):
            out.append(f"{'#' * block.level} {block.text}")
        elif isinstance(block, Text):
            out.append(block.text)
        elif isinstance(block, Callout):
            out.append(f"> {block.text}")
        elif isinstance(block, Drawing):
            out.append(f"*{block.caption}*")
        elif isinstance(block, Fold):
            out.append(f"**{block.summary}**\n\n{markdown(block.blocks, folder).rstrip()}")
        elif isinstance(block, Picture):
            out.append(f"![{block.caption}]({block.file.relative_to(folder).as_posix()})\n\n*{block.caption}*")
        else:
            rule = ["--:" if k in block.numeric else "---" for k in range(len(block.head))]
            lines = [block.head, rule, *block.rows]
            table = "\n".join(f"| {' | '.join(_markdown_cell(cell) for cell in line)} |" for line in lines)
            out.append(f"{block.folded}\n\n{table}" if block.folded else table)
    return "\n\n".join(out) + "\n"


def _markdown_cell(cell: str) -> str:
    return cell.replace("|", "/").replace("\n", "<br>")


def page(blocks: Sequence[Block], heading: str) -> str:
    """One HTML file: pictures are inside it, nothing is loaded from elsewhere, and it has no scripts."""
    body = "\n".join(_html(block) for block in blocks)
    parts = [block.text for block in blocks if isinstance(block, Heading) and block.level == 2]
    links = "".join(f'<a href="#{_anchor(text)}">{html.escape(text)}</a>' for text in parts)
    nav = f"<nav>{links}</nav>" if len(parts) > 1 else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(heading)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{CSS}</style></head>\n'
        f"<body>{nav}<main>\n{body}\n</main></body></html>\n"
    )


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f'<h{block.level} id="{_anchor(block.text)}">{_inline(block.text)}</h{block.level}>'
    if isinstance(block, Text):
        return f"<p>{_inline(block.text)}</p>"
    if isinstance(block, Callout):
        return f'<p class="callout {"good" if block.certain else "middling"}">{_inline(block.text)}</p>'
    if isinstance(block, Drawing):
        return f'<div class="drawing" tabindex="0" role="group" aria-label="{html.escape(block.caption)}">{block.svg}</div>'
    if isinstance(block, Fold):
        inside = "\n".join(_html(each) for each in block.blocks)
        return f"<details><summary>{_inline(block.summary)}</summary>\n{inside}\n</details>"
    if isinstance(block, Picture):
        words = _inline(block.caption)
        image = f'<img alt="{html.escape(block.caption)}" src="{_data(block.file)}">'
        if block.narrow is None:
            return f"<figure>{image}<figcaption>{words}</figcaption></figure>"
        source = f'<source media="({NARROW})" srcset="{_data(block.narrow)}">'
        return f'<figure class="fits"><picture>{source}{image}</picture><figcaption>{words}</figcaption></figure>'
    head = "".join(f"<th{_align(block, k)}>{_inline(cell)}</th>" for k, cell in enumerate(block.head))
    rows = "".join(f"<tr>{''.join(_cell(block, k, cell) for k, cell in enumerate(row))}</tr>\n" for row in block.rows)
    kind = 'class="words"' if _stacked(block) else 'class="wide" tabindex="0"'
    table = f"<div {kind}><table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    return f"<details><summary>{_inline(block.folded)}</summary>{table}</details>" if block.folded else table


def _data(file: Path) -> str:
    kind = "svg+xml" if file.suffix == ".svg" else "png"
    return f"data:image/{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"


def _cell(block: Table, column: int, cell: str) -> str:
    word, colon, rest = cell.partition(":")
    if word in block.marks and (colon or not rest):
        return f'<td{_head(block, column)}><span class="mark {block.marks[word]}">{word}</span>{_inline(rest)}</td>'
    first, _, below = cell.partition("\n")
    small = f"<br><small>{_inline(below)}</small>" if below else ""
    return f"<td{_align(block, column)}{_head(block, column)}>{_inline(first)}{small}</td>"


def _stacked(block: Table) -> bool:
    return not block.numeric and len(block.head) <= MOST_STACKED


def _head(block: Table, column: int) -> str:
    """What stands before a cell where it stands below others."""
    return f' data-head="{html.escape(block.head[column])}: "' if _stacked(block) and column > 0 else ""


def _align(block: Table, column: int) -> str:
    return ' class="n"' if column in block.numeric else ""


def _inline(text: str) -> str:
    safe = html.escape(text, quote=False)
    powers = re.sub(r"\b(10|[A-Za-z])\^(\d+)", r"\1<sup>\2</sup>", safe)
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", BOLD.sub(r"<b>\1</b>", powers))


def _anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


CSS = """
:root { color-scheme: light; }
body { margin: 0; font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  color: #1b1f24; background: #fff; }
nav { position: sticky; top: 0; background: #fffffff2; border-bottom: 1px solid #e3e6ea; padding: .5rem 1.5rem; display: flex;
  gap: .3rem 1.2rem; flex-wrap: wrap; font-size: 13px; z-index: 1; }
nav a { color: #0072b2; text-decoration: none; } nav a:hover { text-decoration: underline; }
main { max-width: 1120px; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 1rem 0 .4rem; }
h2 { font-size: 1.3rem; margin: 2.4rem 0 .6rem; padding-top: .6rem; border-top: 1px solid #e3e6ea; scroll-margin-top: 3rem; }
h3 { font-size: 1.02rem; margin: 1.6rem 0 .2rem; }
p { max-width: 56rem; margin: .5rem 0; }
figure { margin: 1.2rem 0; } figure img { max-width: 100%; height: auto; }
figure img { display: block; }
figcaption { color: #57606a; font-size: 13px; max-width: 56rem; }
.wide, .words, .drawing { overflow-x: auto; margin: .6rem 0; }
.drawing svg { display: block; width: 100%; max-width: 56rem; min-width: 34rem; height: auto; }
.callout { font-size: 1.15rem; padding: .5rem 1rem; border-left: .3rem solid; border-radius: 3px; }
small { color: #57606a; } sup { line-height: 0; }
table { border-collapse: collapse; font-size: 13px; }
th, td { padding: .28rem .7rem .28rem 0; text-align: left; vertical-align: top; }
th { border-bottom: 1.5px solid #8b949e; font-weight: 600; } td { border-bottom: 1px solid #eceef1; }
.words td:first-child { min-width: 18rem; } 
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.mark { display: inline-block; padding: 0 .5em; border-radius: 1em; font-weight: 600; font-size: 12px; white-space: nowrap; }
.good { background: #d5efe6; color: #00573f; } .bad { background: #fbdcc7; color: #8a3a00; }
.middling { background: #fdf0c9; color: #6a5200; } .dim { background: #eaedf0; color: #444c56; }
code { font-size: 12.5px; background: #f3f4f6; padding: .05em .3em; border-radius: 3px; }
details { margin: .4rem 0; } summary { cursor: pointer; color: #0072b2; font-size: 13px; }
@media (NARROW) { main { padding: .5rem .8rem 3rem; } nav { position: static; padding: .5rem .8rem; }
  h1 { font-size: 1.3rem; } td, th { padding-right: .5rem; } td { min-width: 4.5rem; } td:first-child { min-width: 9rem; }
  td:last-child:not(.n, :first-child) { min-width: 13rem; }
  .words thead { display: none; } .words :is(tr, td) { display: block; }
  .words tr { padding: .5rem 0; border-bottom: 1px solid #eceef1; }
  .words td { border: 0; padding: .1rem 0; } .words td:first-child { font-weight: 600; }
  .words td::before { content: attr(data-head); color: #57606a; }
  figure { overflow-x: auto; } figure img { max-width: none; width: 760px; } figure.fits img { width: 100%; } }
@media print { nav { display: none; } details > * { display: block; } }
""".strip().replace("NARROW", NARROW)
