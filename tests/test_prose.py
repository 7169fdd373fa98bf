"""Text for people uses the words of the glossary: a term that it replaced fails here, with the word to use instead.

To add a term: a line in ``INSTEAD`` with a pattern, what to write, and a sentence that must fail.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "multiduel"
KERNELS = ("kernels", "machines", "policies")  # named by the papers' terms; their messages are few and tested where they are


class Term(NamedTuple):
    pattern: str
    instead: str
    example: str


INSTEAD = (
    Term(r"in this mix", "these raters / people like these raters", "The winner is best in this mix."),
    Term(r"the raters who answered here", "these raters", "It holds for the raters who answered here."),
    Term(r"take it with you", "Export", "Take it with you: download the log."),
    Term(r"for good: close", "Close permanently", "For good: Close"),
    Term(r"as claimed nowhere", "a plain count: '7 claims do not reproduce, 2 do'", "Lemma 3 is as claimed nowhere."),
    Term(r"\d+ (?:fails|holds)", "a verb that agrees: '7 claims do not reproduce'", "In all: 7 fails, 2 holds."),
    Term(r"could not have stood otherwise", "a sentence with its actor", "What could not have stood otherwise tells nothing."),
    Term(r"tells? nothing", "adds no evidence", "Such a page tells nothing."),
    Term(r"vacuous(?:ly)?", "bound not informative", "The bound is vacuous."),
    Term(r"(?:votes?|answers?) (?:are |were |is |was )?set aside", "excluded votes", "Two votes were set aside."),
    Term(r"outside polic(?:y|ies)", "plug-in policy", "Outside policies are watched."),
    Term(
        r"(?:its|the|whose|policy'?s?) cards?(?= (?:says?|has|names))|in (?:its|the) card",
        "policy description",
        "Its card says so.",
    ),
    Term(r"this (?:room|house|floor)", "this module / this package", "This room turns data into duels."),
    Term(r"which readings?|readings? that (?:make|agree)", "interpretation", "It says which reading agrees."),
    Term(r"who is at it", "which process is running", "The file says who is at it."),
    Term(r"slates of who(?:ever)? is", "the slates of plug-in policies", "It checks slates of who is watched."),
    Term(
        r"settled who(?: is best)?",
        "'the winner changes', 'the winner is certain'",
        "An event if it has become settled who is best.",
    ),
    Term(r"what never changes of", "the immutable part of", "What never changes of an arena: its question."),
    Term(r"in an idle moment", "while no commands are waiting", "In an idle moment, snapshots are saved."),
    Term(r"of nobody", "a sentence with its actor", "It is asked of nobody."),
    Term(r"by foot", "step by step", "The loop is played by foot."),
    Term(r"go in(?=[.!]|$)", "Sign in", "Go in"),
    Term(r"roughly(?= \d)", "about", "It took roughly 500 users."),
    Term(r"(?:\d+|\.\.\.|\})%(?!;| \})", "'95 %', with a space", "It has 95% confidence."),  # not in CSS; "..." is a value
)


def texts() -> Iterator[tuple[str, str]]:
    """Where each text for people is, and the text: pages, templates, scripts of pages, messages, and the help of commands."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages += sorted((ROOT / "examples").rglob("README.md")) + sorted((ROOT / "benchmarks").glob("*.template.md"))
    for page in pages:
        yield named(page), page.read_text(encoding="utf-8")
    for page in sorted((SOURCE / "arena" / "web" / "pages" / "templates").glob("*")):
        yield named(page), re.sub(r"\{#.*?#\}", " ", page.read_text(encoding="utf-8"), flags=re.S)
    for notebook in sorted((ROOT / "examples").rglob("*.ipynb")):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        yield named(notebook), "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    for script in sorted(SOURCE.rglob("*.js")):
        yield named(script), " ; ".join(strings_of_javascript(script.read_text(encoding="utf-8")))
    for module in sorted(SOURCE.rglob("*.py")):
        if module.relative_to(SOURCE).parts[0] not in KERNELS:
            yield named(module), " ; ".join(messages(module.read_text(encoding="utf-8")))
    yield from commands()


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def messages(source: str) -> Iterator[str]:
    """The strings of a module that are no docstrings; what an f-string fills in is left open."""
    tree = ast.parse(source)
    left_out = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings stand alone
    left_out |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.value


def strings_of_javascript(source: str) -> list[str]:
    """The strings of a script, without its comments."""
    found = re.findall(r"/\*.*?\*/|//[^\n]*|('(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`)", source, flags=re.S)
    return [text[1:-1] for text in found if text]


def commands() -> Iterator[tuple[str, str]]:
    import typer

    from multiduel.cli import app

    def helps(command, name):
        yield f"{name} --help", command.get_help(command.context_class(command, info_name=name))
        for short, below in getattr(command, "commands", {}).items():
            yield from helps(below, f"{name} {short}")

    yield from helps(typer.main.get_command(app), "multiduel")


def found_in(text: str) -> list[tuple[str, str]]:
    plain = re.sub(r"\s+", " ", re.sub(r"```.*?```", " ", text, flags=re.S))  # code has names of its own
    return [
        (match[0], term.instead) for term in INSTEAD for match in re.finditer(rf"(?<!\w)(?:{term.pattern})(?!\w)", plain, re.I)
    ]


@pytest.mark.parametrize("term", INSTEAD, ids=lambda term: term.pattern)
def test_every_listed_term_fails_with_its_suggestion(term: Term):
    assert term.instead in [instead for _, instead in found_in(f"Before it. {term.example}")]
    assert found_in(f"```text\n{term.example}\n```") == []


def test_the_suggested_words_pass():
    for term in INSTEAD:
        assert found_in(term.instead) == [], term.instead


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""In this mix."""\nx = f"In {y} mix"  # in this mix', ["In ... mix"]),
        ("def f():\n    '''Of nobody.'''\n    raise ValueError('Of ' 'nobody.')", ["Of nobody."]),
    ],
)
def test_messages_are_strings_and_neither_docstrings_nor_comments(source: str, expected: list[str]):
    assert list(messages(source)) == expected


def test_strings_of_javascript_are_found_without_comments():
    source = "// 'go in'\nsay('Sign in', \"it's\"); /* \"go in\" */ show(`a ${b}\nc`);"
    assert strings_of_javascript(source) == ["Sign in", "it's", "a ${b}\nc"]


def test_text_for_people_uses_the_words_of_the_glossary():
    wrong = [f"{where}: '{term}', write: {word}" for where, text in texts() for term, word in found_in(text)]
    assert not wrong, "\n".join(wrong)


def test_every_kind_of_text_is_looked_at():
    places = [where for where, _ in texts()]
    assert sum(where.endswith("--help") for where in places) > 40
    for one in (
        *("README.md", "docs/index.md", "benchmarks/rankers.template.md", "examples/policy_package/README.md"),
        *("src/multiduel/arena/web/pages/templates/vote.html", "src/multiduel/arena/web/pages/static/vote.js"),
        *("src/multiduel/inference/words.py", "examples/notebooks/1-first-regret-plot.ipynb"),
    ):
        assert one in places
