"""Options from what an owner pastes: a list with an option per line, blocks between lines of ---, a CSV or JSONL."""

from __future__ import annotations

import re

from multiduel.arena.domain.options import (
    LEAST_OPTIONS,
    MOST_NAME,
    MOST_OPTIONS,
    Option,
    check_options,
    lines_of,
    make_content,
    read_lines,
)
from multiduel.inputs import BadInput

MOST_WORDS = 60  # characters of a name that is made from a text
_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_RULE = re.compile(r"[^\S\n]*-{3,}[^\S\n]*")  # of one line: \s would go on into the next
_HEADING = re.compile(r"^#{1,6}\s+(.+)$")


def read_pasted(written: str, *, least: int = LEAST_OPTIONS) -> tuple[tuple[Option, ...], tuple[str, ...]]:
    """The options and contexts that are meant.

    >>> [option.name for option in read_pasted("- Good morning.\\n- Hello!\\n")[0]]
    ['Good morning.', 'Hello!']
    >>> [option.name for option in read_pasted("# warm\\nDear all,\\nhello.\\n---\\n# cold\\nYou.\\n")[0]]
    ['warm', 'cold']
    """
    written = written.lstrip("\ufeff").strip("\n")
    lines = lines_of(written)
    first = written.partition("\n")[0].strip().lower()
    if first.startswith("{"):
        return read_lines(written, format="jsonl", least=least)
    columns = [cell.strip().strip('"') for cell in first.split(",")]
    if "name" in columns and "content" in columns:
        return read_lines(written + "\n", format="csv", least=least)
    ruled = any(map(_RULE.fullmatch, lines))
    texts = _blocks(lines) if ruled else [text for line in written.splitlines() if (text := _MARK.sub("", line).strip())]
    if not texts:
        raise BadInput("Paste the options: one per line, or longer ones with a line of --- between them.")
    if len(texts) > MOST_OPTIONS:  # before any of them is made
        raise BadInput(f"An arena has {LEAST_OPTIONS} to {MOST_OPTIONS} options. Got {len(texts):,}.")
    options = [_block(text, k) if ruled else _line(text, k) for k, text in enumerate(texts, 1)]
    check_options(options, least=least)
    return tuple(options), ()


def _blocks(lines: list[str]) -> list[str]:
    """The texts between the rules."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if _RULE.fullmatch(line):
            blocks.append([])
        else:
            blocks[-1].append(line)
    joined = ("\n".join(block) for block in blocks)
    return [block.strip("\n") for block in joined if block.strip()]


def _line(line: str, number: int) -> Option:
    return Option(_name(line, number), (make_content("text", line),))


def _block(block: str, number: int) -> Option:
    """A heading in its first line is the name, which raters do not see."""
    first, _, rest = block.strip().partition("\n")
    heading = _HEADING.match(first)
    if heading and rest.strip():
        return Option(heading[1].strip()[:MOST_NAME], (make_content("markdown", rest.strip("\n")),))
    return Option(_name(first, number), (make_content("markdown", block),))


def _name(line: str, number: int) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in line).strip()
    return plain if 0 < len(plain) <= MOST_WORDS else f"{number}: {plain[:MOST_WORDS]}…"
