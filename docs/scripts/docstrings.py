"""Docstrings as the site shows them, where examples and aligned lines stay as they stand; and other words of Markdown."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object


class Docstrings(Extension):
    """Found by mkdocstrings, which calls it for every object that it has read."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None and "```" not in obj.docstring.value:
            obj.docstring.value = as_markdown(obj.docstring.value, _types(obj))


def _types(obj: Object) -> dict[str, str]:
    """The types of a function's parameters, as its source has them."""
    parameters = getattr(obj, "parameters", ()) if obj.is_function else ()
    return {each.name.lstrip("*"): str(each.annotation) for each in parameters if each.annotation is not None}


def as_markdown(text: str, types: dict[str, str] | None = None) -> str:
    """Put fences around doctests, indented listings and aligned lines; sections become headings with lists, and parameters
    get their types.

    >>> as_markdown("Adds.\\n\\n>>> 1 + 1\\n2")
    'Adds.\\n\\n```pycon\\n>>> 1 + 1\\n2\\n```'
    >>> as_markdown("    a listing\\n\\n    with a gap")
    '```text\\na listing\\n\\nwith a gap\\n```'
    >>> as_markdown("Adds.\\n\\nParameters\\n----------\\nx, y\\n    What is\\n    added.")
    'Adds.\\n\\n**Parameters**\\n\\n- `x, y`: What is added.'
    >>> as_markdown("Parameters\\n----------\\nx, y\\n    What is added.", {"x": "int", "y": "int"})
    '**Parameters**\\n\\n- `x, y` (`int`): What is added.'
    """
    text = re.sub(r"^(Parameters|Returns|Raises|Examples)\n-+\n", r"**\1**\n\n", text, flags=re.M)
    return "\n\n".join(_paragraph(part, types or {}) for part in _parts(text))


def _parts(text: str) -> list[str]:
    """Paragraphs; an indented listing is one, blank lines and all."""
    parts: list[str] = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        if parts and _listing(part) and _listing(parts[-1]):
            parts[-1] += "\n\n" + part
        else:
            parts.append(part)
    return parts


def _listing(part: str) -> bool:
    return all(line.startswith("    ") for line in part.splitlines() if line)


def _paragraph(part: str, types: dict[str, str]) -> str:
    lines = part.splitlines()
    if lines[0].startswith(">>>"):
        return f"```pycon\n{part}\n```"
    if _listing(part):
        shortened = "\n".join(line[4:] for line in part.splitlines())
        return f"```text\n{shortened}\n```"
    if re.fullmatch(r"\*\*[A-Z][a-z]+\*\*", part):
        return part
    if re.fullmatch(r"([\w*, ]+\n( {4}.*\n?)+)+", part):  # names, each with its text below
        entries = re.findall(r"^(\S.*)\n((?: {4}.*\n?)+)", part, re.M)
        return "\n".join(f"- `{name}`{_typed(name, types)}: {escaped(' '.join(words.split()))}" for name, words in entries)
    if len(lines) > 1 and all(re.search(r"\S {2,}\S|^ {2,}\S", line) for line in lines):
        return f"```text\n{part}\n```"
    return escaped(part)


def _typed(names: str, types: dict[str, str]) -> str:
    found = dict.fromkeys(types[name.strip("* ")] for name in names.split(",") if name.strip("* ") in types)
    return f" (`{', '.join(found)}`)" if found else ""


def escaped(text: str) -> str:
    """Text outside of backticks that Markdown shall not take for its own: indices, products, names with underscores.

    >>> escaped("P[i, j] and `W[i]`")
    'P\\\\[i, j\\\\] and `W[i]`'
    """
    code = re.compile(r"(``.+?``|`[^`]+`)", re.S)
    parts = [part if code.fullmatch(part) else re.sub(r"([_*\[\]])", r"\\\1", part) for part in code.split(text)]
    return "".join(part if code.fullmatch(part) else part.replace("<", "&lt;") for part in parts)


def slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def table(headings: Any, rows: Any) -> str:
    """A table in Markdown.

    >>> print(table(["a | b"], [["`c|d`"]]).splitlines())
    ['| a \\\\| b |', '| --- |', '| `c|d` |']
    """

    def text(cell: Any) -> str:  # a bar in a code span ends no cell
        return re.sub(r"`[^`]*`|\|", lambda found: "\\|" if found[0] == "|" else found[0], str(cell))

    def line(cells: Any) -> str:
        return "| " + " | ".join(text(cell).replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(headings), line(["---"] * len(tuple(headings))), *(line(row) for row in rows)])
