"""Rankings: ``A>B=C`` in lines or in a column, a column per place, or slates with an answer (what ``multiduel next`` writes)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence

import numpy as np

from multiduel.inputs import BadInput, shortened
from multiduel.spreadsheets import original
from multiduel.votes.assembling import Rankings, Reading, Row, columns_said, counted, not_zero, reading, units
from multiduel.votes.open_files import opened_text
from multiduel.votes.roles import plain
from multiduel.votes.tables import Table

TIES = ("tie", "ties", "draw", "equal", "same", "level")
SKIPS = ("skip", "none", "?", "-")
_PLACE = re.compile(r"(?:place|rank|position|choice|pos)?_?([0-9]{1,4})(?:st|nd|rd|th)?(?:_(?:place|choice|rank))?\Z")
_COUNT = re.compile(r"\s*([0-9]{1,15})\s*:\s*(.*)\Z", re.S)


def groups_of(where: object, written: str) -> list[list[str]]:
    """The groups of a ranking that is written ``A>B=C``, or as a JSON list, best first.

    >>> groups_of("here", "tea > milk = water")
    [['tea'], ['milk', 'water']]
    """
    if written.startswith("["):
        listed = _from_json(written)
        if listed is not None:
            return listed
    groups = [[original(name.strip()) for name in group.split("=")] for group in written.split(">")]
    if not all(name for group in groups for name in group):
        raise BadInput(f"{where}: a ranking must be written as A>B=C, best first, = for a tie. Got {shortened(written)}.")
    return groups


def _from_json(written: str) -> list[list[str]] | None:
    try:
        said = json.loads(written)
    except (ValueError, RecursionError):
        return None
    groups = [[str(name) for name in (group if isinstance(group, list) else [group])] for group in said]
    return groups if groups and all(groups) else None


def looks_like_rankings(path: str | os.PathLike[str]) -> bool:
    """Does the first line that says anything place options with ``>``, outside of a table?"""
    with opened_text(path) as file:
        for line in file:
            text = line.strip()
            if text and not text.startswith("#"):
                return ">" in text and not text.startswith(("{", "[", "<"))
    return False


def read_lines(path: str | os.PathLike[str]) -> Reading:
    """Votes of a text with a ranking in each line, ``A>B=C`` or ``12: A>B=C`` where twelve answers say so."""
    with opened_text(path) as file:
        lines = [(number, line.strip()) for number, line in enumerate(file, 1)]
    written = [(f"'{path}', line {number}", line) for number, line in lines if line and not line.startswith("#")]
    return _rankings(written, "rankings", "a line each")


def read_texts(texts: Sequence[str]) -> Reading:
    """Votes of rankings in memory."""
    return _rankings([(f"The votes, row {k}", text.strip()) for k, text in enumerate(texts, 1)], "rankings", "a text each")


def _rankings(written: Sequence[tuple[str, str]], kind: str, said: str) -> Reading:
    rankings, counts = Rankings(), []
    for where, text in written:
        many = _COUNT.match(text)
        if rankings.add(where, groups_of(where, many[2] if many else text)):
            counts.append(float(many[1]) if many else 1.0)
            if counts[-1] == 0.0:
                raise BadInput(f"{where}: a ranking must count at least once. Got {shortened(text)}.")
    several = any(count != 1.0 for count in counts)
    return reading(rankings.votes(counts=counts if several else None), kind, said, [silent(rankings)])


def silent(rankings: Rankings) -> str:
    return f"{counted(rankings.silent, 'row')} without an answer left out" if rankings.silent else ""


def read_column(table: Table, roles: Mapping[str, str]) -> Reading:
    """Votes of a table with a ranking, a best or a worst option in each row, and perhaps the options that were shown."""
    kept = {
        role: roles[role] for role in ("ranking", "best", "worst", "shown", "rater", "case", "time", "count") if role in roles
    }
    columns = table.read(dict.fromkeys(kept.values()))
    rankings, rows = Rankings(), []
    weighed = not_zero(table, columns, kept)
    for row in range(len(next(iter(columns.values())).codes)):
        where = Row(table, row)
        cells = {role: columns[kept[role]].text(row) for role in ("ranking", "best", "worst", "shown") if role in kept}
        shown = _shown(cells.get("shown", ""))
        rankings.add_options(where, shown)
        said = {
            role: cells[role] for role in ("ranking", "best", "worst") if cells.get(role) and cells[role].lower() not in SKIPS
        }
        if len(said) > 1:
            raise BadInput(f"{where}: a row must hold one answer. Got {' and '.join(said)}.")
        if weighed is not True and not weighed[row]:
            continue
        if _add(rankings, where, said, shown):
            rows.append(row)
    more = units(table, columns, kept, np.array(rows, np.int64))
    return reading(rankings.votes(**more), "rankings", columns_said(kept), [silent(rankings)])


def _add(rankings: Rankings, where: object, said: Mapping[str, str], shown: list[str]) -> bool:
    if not said:
        rankings.silent += 1
        return False
    ((role, text),) = said.items()
    if role == "ranking":
        groups = groups_of(where, text)
        if shown and not {name for group in groups for name in group} <= set(shown):
            raise BadInput(f"{where}: a ranking must name options that were shown. Got {shortened(text)}.")
        return rankings.add(where, groups)
    if not shown:
        raise BadInput(f"{where}: the {role} option is the {role} of those shown: 'shown' must list them. Got an empty cell.")
    if text not in shown:
        raise BadInput(f"{where}: the {role} option must be one that was shown. Got {shortened(text)}.")
    others = [name for name in shown if name != text]
    groups = [[text], others] if role == "best" else [others, [text]]
    return rankings.add(where, groups if others else [[text]], best_only=role == "best", worst_only=role == "worst")


def _shown(cell: str) -> list[str]:
    """The options of a cell: separated by bars, or a JSON list."""
    if cell.startswith("["):
        listed = _from_json(cell)
        if listed is not None:
            return [name for group in listed for name in group]
    return [name.strip() for name in cell.split("|") if name.strip()]


# ---- a column per place


def place_columns(table: Table) -> list[str]:
    """The columns of the first place, the second, and so on; none if there are not two at least."""
    found: dict[int, str] = {}
    for name in table.names:
        place = _PLACE.match(plain(name))
        if place:
            found.setdefault(int(place[1]), name)
    columns: list[str] = []
    while len(columns) + 1 in found:
        columns.append(found[len(columns) + 1])
    return columns if len(columns) > 1 else []


def read_places(table: Table, roles: Mapping[str, str]) -> Reading:
    """Votes of a table with a column per place: the best option, the second best, and so on; ``A=B`` for a tie."""
    places = place_columns(table)
    kept = {role: roles[role] for role in ("rater", "case", "time", "count") if role in roles and roles[role] not in places}
    columns = table.read(dict.fromkeys([*places, *kept.values()]))
    rankings, rows = Rankings(), []
    weighed = not_zero(table, columns, kept)
    for row in range(len(columns[places[0]].codes)):
        where = Row(table, row)
        cells = [columns[name].text(row) for name in places]
        groups = [[original(name.strip()) for name in cell.split("=")] for cell in cells if cell]
        if not all(name for group in groups for name in group):
            raise BadInput(f"{where}: a place must hold an option, or several as A=B. Got {shortened(' | '.join(cells))}.")
        if (weighed is True or weighed[row]) and rankings.add(where, groups):
            rows.append(row)
    more = units(table, columns, kept, np.array(rows, np.int64))
    said = f"best to worst in {shortened(places[0])} to {shortened(places[-1])}" + (f", {columns_said(kept)}" if kept else "")
    return reading(rankings.votes(**more), "places", said, [silent(rankings)])


# ---- slates with answers


def slate_columns(table: Table) -> list[str]:
    """The columns option_1, option_2 ... of slates that have an answer; none if this is another table."""
    known = {plain(name): name for name in table.names}
    columns: list[str] = []
    while f"option_{len(columns) + 1}" in known:
        columns.append(known[f"option_{len(columns) + 1}"])
    return columns if len(columns) > 1 and "answer" in known else []


def read_slates(table: Table, roles: Mapping[str, str]) -> Reading:
    """Votes of slates that were filled in: the options shown, in order, and an answer.

    An answer is a ranking (``A>B=C``), one option (the best of those shown) or ``tie``, by names or by positions (``2>1``);
    a row without an answer waits for one. What is a name is taken for a name.
    """
    places = slate_columns(table)
    answer = next(name for name in table.names if plain(name) == "answer")
    kept = {role: roles[role] for role in ("rater", "case", "time") if role in roles and roles[role] not in (*places, answer)}
    columns = table.read(dict.fromkeys([*places, answer, *kept.values()]))
    rankings, rows = Rankings(), []
    for row in range(len(columns[answer].codes)):
        where = Row(table, row)
        shown = [name for place in places if (name := columns[place].text(row))]
        if len(set(shown)) < len(shown) or len(shown) < 2:
            raise BadInput(f"{where}: a slate must show at least two options, each once. Got {shortened(shown)}.")
        rankings.add_options(where, shown)
        text = columns[answer].text(row)
        if not text or (text.lower() in SKIPS and text not in shown):
            rankings.silent += 1
            continue
        groups, best = _answer(where, text, shown)
        rankings.add(where, groups, best_only=best, shown=shown)
        rows.append(row)
    more = units(table, columns, kept, np.array(rows, np.int64))
    votes = rankings.votes(ordered=True, **more)
    said = f"options in {shortened(places[0])} to {shortened(places[-1])}, answer = {shortened(answer)}"
    waiting = f"{counted(rankings.silent, 'slate')} without an answer yet" if rankings.silent else ""
    return reading(votes, "slates", said + (f", {columns_said(kept)}" if kept else ""), [waiting])


def _answer(where: object, text: str, shown: list[str]) -> tuple[list[list[str]], bool]:
    """Groups, best first, and whether only the best was named."""
    if text in shown:
        return [[text], [name for name in shown if name != text]], True
    if text.lower() in TIES:
        return [shown], False
    groups = groups_of(where, text)
    named = [name for group in groups for name in group]
    if not set(named) <= set(shown):
        position = {str(k): name for k, name in enumerate(shown, 1)}
        if not set(named) <= set(position):
            raise BadInput(
                f"{where}: the answer must be an option that is shown, its position from 1 to {len(shown)}, a ranking such "
                f"as 2>1=3, or tie. Got {shortened(text)}."
            )
        groups = [[position[name] for name in group] for group in groups]
        named = [name for group in groups for name in group]
    if len(named) == 1:
        return [named, [name for name in shown if name != named[0]]], True
    return groups, False
