"""Code in a Markdown content, coloured: keywords, texts, comments, numbers and names are told apart by a class each.

The language that a fence names is data: it is looked up in the table below. Pygments' own look-up would load installed plug-ins.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from markupsafe import escape

MOST_CODE = 20_000  # characters of a block that is coloured; a longer one is shown as it is
LEXERS = {
    "Python": ("python", "py", "python3"),
    "Javascript": ("javascript", "js", "jsx"),
    "TypeScript": ("typescript", "ts", "tsx"),
    "Json": ("json", "jsonl"),
    "Html": ("html", "xml", "svg"),
    "Css": ("css",),
    "Sql": ("sql",),
    "Bash": ("bash", "sh", "shell", "console"),
    "Java": ("java",),
    "C": ("c", "h"),
    "Cpp": ("cpp", "c++", "cc"),
    "CSharp": ("csharp", "cs", "c#"),
    "Go": ("go", "golang"),
    "Rust": ("rust", "rs"),
    "Kotlin": ("kotlin", "kt"),
    "Swift": ("swift",),
    "Ruby": ("ruby", "rb"),
    "Php": ("php",),
    "S": ("r",),
    "Yaml": ("yaml", "yml"),
    "TOML": ("toml",),
    "Diff": ("diff", "patch"),
}
LANGUAGES = {language: lexer for lexer, languages in LEXERS.items() for language in languages}
CLASSES = ("h-key", "h-text", "h-comment", "h-number", "h-name")


def highlighted(code: str, language: str) -> str:
    """The code as HTML; empty if it stays as it is.

    >>> highlighted("if 1: <b>", "py")
    '<span class="h-key">if</span> <span class="h-number">1</span>: &lt;b&gt;\\n'
    """
    lexer = LANGUAGES.get(language.strip().lower())
    if lexer is None or len(code) > MOST_CODE:
        return ""
    parts: list[str] = []
    for token, text in _lexer(lexer).get_tokens(code):
        kind = next((name for names, name in _kinds() if token in names), None)
        parts.append(f'<span class="{kind}">{escape(text)}</span>' if kind else str(escape(text)))
    return "".join(parts)


@cache
def _lexer(name: str) -> Any:
    from pygments import lexers

    return getattr(lexers, f"{name}Lexer")(stripnl=False)


@cache
def _kinds() -> tuple[tuple[Any, str], ...]:
    from pygments.token import Comment, Keyword, Name, Number, String

    tokens = (Keyword, String, Comment, Number, Name.Function, Name.Class)
    return tuple(zip(tokens, (*CLASSES, CLASSES[-1]), strict=True))
