"""The page of an arena's settings, made from their declaration."""

from __future__ import annotations

from docstrings import escaped, table  # beside this file

from multiduel.arena.domain.settings import RATERS, Setting, declared

INTRODUCTION = """# Settings of an arena

Only `policy` and `margin` can change after creation. The API and Python use these names, `multiduel arena create` has them as
options (`--slate-size`), and the owner's form shows the label. In a request, `raters` stands beside `settings`, not in it.
"""


def settings_page() -> str:
    """Introduce the table of settings."""
    return f"{INTRODUCTION}\n{settings_table()}"


def settings_table() -> str:
    """Make a line for each setting."""
    return table(("setting", "meaning", "values", "default"), [_line(one) for one in (*declared(), RATERS)])


def _line(setting: Setting) -> list[str]:
    default = "" if setting.default in (None, {}) else str(setting.default)
    label = setting.label + "." * (setting.label[-1] != "?")
    values = "; ".join(f"`{value}`: {meaning}" for value, meaning in setting.choices.items()) or escaped(setting.limits)
    about = [f"`{setting.name}`", escaped(f"{label} {setting.help}".strip()), values]
    return [*about, default.lower() if setting.kind == "truth" else default]
