"""docs/standings-numbers.md: standings.template.md, filled with what standings_coverage.py measured.

python benchmarks/standings_page.py
"""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent
TEMPLATE, STORE, PAGE = (
    HERE / "standings.template.md",
    HERE / "standings_coverage.json",
    HERE.parent / "docs" / "standings-numbers.md",
)
PARTS = {"first": "10 options", "all": "duels and rankings", "ties": "with ties", "raters": "raters with tastes, by rater"}


def write(store, template, page):
    rows = [row for row in store["settings"] if "contrast" not in row["part"]]
    fewer = sorted({(row["experiments"], row["K"]) for row in rows if row["experiments"] < 1000})
    words = "".join(f" {number:,} with {K} options." for number, K in fewer)
    fillings = {
        "looks": str(store["looks"]),
        "experiments": f"1,000 experiments a setting;{words}".rstrip(";") if words else "1,000 experiments a setting.",
        "settings": str(len(rows)),
        "highest": percent(max(row["missed"] for row in rows)),
        "wrong": percent(max(row["wrong"] for row in rows)),
        "summary": summary(rows),
        "sizes": listed({row["K"] for row in rows}),
        "slates": listed({row["m"] for row in rows}),
        "contrast": contrast(store["settings"]),
    }
    for name, filling in fillings.items():
        template = template.replace(f"@@{name}@@", filling)
    page.write_text(template, encoding="utf-8")


def percent(share):
    return f"{100 * share:.1f} %"


def table(head, rows, words):
    """Markdown; numbers to the right."""
    rule = "|".join("---" if k < words else "--:" for k in range(len(head)))
    return "\n".join([f"| {' | '.join(head)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)])


def summary(rows):
    """The worst setting of each kind."""
    lines = []
    for part, name in PARTS.items():
        mine = [row for row in rows if row["part"] == part]
        for slates in dict.fromkeys(row["slates"] for row in mine):
            some = [row for row in mine if row["slates"] == slates]
            cells = [name, slates, str(len(some))]
            cells += [percent(max(row[kind] for row in some)) for kind in ("missed", "wrong", "fixed", "last")]
            lines.append([*cells, f"{min(row['ratio'] for row in some):.2f} to {max(row['ratio'] for row in some):.2f}"])
    head = [
        "answers",
        "slates",
        "settings",
        "missed, at most",
        "wrong order",
        "usual, looked at",
        "usual, last look",
        "times wider",
    ]
    return table(head, lines, 2)


def listed(numbers):
    *most, last = map(str, sorted(numbers))
    return f"{', '.join(most)} or {last}"


def contrast(rows):
    lines = []
    for row in (row for row in rows if "contrast" in row["part"]):
        promised = next(
            other
            for other in rows
            if "contrast" not in other["part"]
            and all(other[name] == row[name] for name in ("K", "m", "slates", "strengths", "ties"))
            and other["raters"] == row["raters"]
        )
        words = row["part"].removeprefix("contrast: ")
        cells = [words, str(row["K"]), str(row["m"]), row["slates"], percent(row["missed"]), percent(promised["missed"])]
        lines.append(cells)
    return table(["mistake", "K", "m", "slates", "missed with it", "missed without it"], lines, 1)


if __name__ == "__main__":
    write(json.loads(STORE.read_text()), TEMPLATE.read_text(), PAGE)
