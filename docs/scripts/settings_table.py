"""The table of settings in docs/arena.md, made from their declaration: ``python docs/scripts/settings_table.py`` renews it."""

from __future__ import annotations

from pathlib import Path

from docstrings import escaped, table  # beside this file

from multiduel.arena.domain.settings import RATERS, Setting, declared

PAGE = Path(__file__).resolve().parents[1] / "arena.md"
BEGIN, END = "<!-- settings: begin -->", "<!-- settings: end -->"


def settings_table() -> str:
    """A line for each setting."""
    return table(("setting", "what it says", "values", "default"), [_line(one) for one in (*declared(), RATERS)])


def _line(setting: Setting) -> list[str]:
    default = "" if setting.default in (None, {}) else str(setting.default)
    about = [f"`{setting.name}`", escaped(setting.description), escaped(setting.limits)]
    return [*about, default.lower() if setting.kind == "truth" else default]


def renewed(page: str) -> str:
    """The page with the table as it is now."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{settings_table().strip()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
