"""Text for people uses the words of the glossary: terms that it replaced fail here, with the word to use instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

INSTEAD = {  # a pattern that readers stumbled over -> what to write
    r"in this mix": "these raters / people like these raters",
    r"the raters who answered here": "these raters",
    r"take it with you": "Export",
    r"for good: close": "Close permanently",
    r"as claimed nowhere": "a plain count, such as '7 claims do not reproduce, 2 do'",
    r"vacuous(?:ly)?": "bound not informative",
    r"(?:votes?|answers?) (?:are |were |is |was )?set aside": "excluded votes",
    r"outside polic(?:y|ies)": "plug-in policy",
    r"(?:its|the|whose|policy'?s?) cards?(?= (?:says?|has|names))": "policy description",
    r"in (?:its|the) card\b": "in the policy description",
    r"this (?:room|house|floor)": "this module / this package",
    r"which readings?|readings? that (?:make|agree)": "interpretation",
    r"who is at it": "which process is running",
    r"of nobody": "a sentence with its actor",
    r"by foot": "step by step",
}


def texts():
    """(where, text) of what people read: pages, templates of pages, and the help of every command."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages += sorted((ROOT / "src" / "multiduel" / "arena" / "web" / "pages" / "templates").glob("*"))
    pages += sorted((ROOT / "benchmarks").glob("*.template.md"))
    for page in pages:
        yield page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
    yield from commands()


def commands():
    import typer

    from multiduel.cli import app

    def helps(command, name):
        yield f"{name} --help", command.get_help(command.context_class(command, info_name=name))
        for short, below in getattr(command, "commands", {}).items():
            yield from helps(below, f"{name} {short}")

    yield from helps(typer.main.get_command(app), "multiduel")


def found_in(text):
    plain = re.sub(r"\s+", " ", re.sub(r"```.*?```", " ", text, flags=re.S))  # code has names of its own
    return [(match[0], word) for pattern, word in INSTEAD.items() for match in re.finditer(rf"\b{pattern}\b", plain, re.I)]


@pytest.mark.parametrize("text", ["They speak of these raters, in this mix.", "Its card says so.", "The bound is vacuous."])
def test_terms_that_were_replaced_are_found(text):
    assert found_in(text)


def test_text_for_people_uses_the_words_of_the_glossary():
    wrong = [f"{where}: '{term}', write: {word}" for where, text in texts() for term, word in found_in(text)]
    assert not wrong, "\n".join(wrong)


def test_every_command_is_looked_at():
    assert len(list(commands())) > 40
