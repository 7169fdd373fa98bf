"""PrefLib files (.soc .soi .toc .toi .wmd), of today's format and of that before 2022.

``preflibtools`` reads them too, and the tests compare with it. It is not used here because it names no lines, leaves out what it
does not understand (``3: 1,,2;4`` is a ranking of 1, 2 and 4 there), and ends in a traceback on the rest.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from multiduel.inference.votes import MOST_OPTIONS, Votes
from multiduel.inputs import BadInput, shortened
from multiduel.votes.assembling import Rankings, Reading, check_options, reading
from multiduel.votes.open_files import opened_text
from multiduel.votes.rankings import silent
from multiduel.votes.tables import number_of

SUFFIXES = (".soc", ".soi", ".toc", ".toi", ".wmd")
_NAME = re.compile(r"#\s*ALTERNATIVE NAME (\d{1,6})\s*:\s*(.*)\Z")
_GROUP = re.compile(r"\{([^{}]*)\}|([^,{}]+)")


def read_preflib(path: str | os.PathLike[str], suffix: str) -> Reading:
    """Votes of a PrefLib file. Alternatives that an order does not list are not compared with any."""
    with opened_text(path) as file:
        lines = [(number, line.strip()) for number, line in enumerate(file, 1) if line.strip()]
    if not lines:
        raise BadInput(f"'{path}' must be a PrefLib file. Got an empty file.")
    new = lines[0][1].startswith("#")
    names, data = (_header if new else _old_header)(path, lines, suffix)
    options = _distinct(names)
    check_options(f"'{path}'", options)
    label = dict(zip(names, options, strict=True))
    return (_graph if suffix == ".wmd" else _orders)(path, data, label, suffix, ":" if new else ",")


def _header(path: object, lines: list[tuple[int, str]], suffix: str) -> tuple[dict[int, str], list[tuple[int, str]]]:
    names: dict[int, str] = {}
    rest: list[tuple[int, str]] = []
    for number, line in lines:
        named = _NAME.match(line)
        if named:
            if int(named[1]) in names:
                raise BadInput(f"'{path}', line {number}: alternative {named[1]} must be named once. It has a name already.")
            names[int(named[1])] = named[2].strip()
        elif not line.startswith("#"):
            rest.append((number, line))
    if not names:
        raise BadInput(f"'{path}' must name its alternatives: '# ALTERNATIVE NAME 1: ...'. Got none.")
    return names, rest


def _old_header(path: object, lines: list[tuple[int, str]], suffix: str) -> tuple[dict[int, str], list[tuple[int, str]]]:
    (number, first), rest = lines[0], lines[1:]
    many = first.split(",")[0].strip()
    if not many.isdecimal() or not 1 <= int(many[:9]) <= MOST_OPTIONS or len(rest) < int(many):
        raise BadInput(
            f"'{path}', line {number}: must begin a PrefLib file: '# FILE NAME: ...', or a number of alternatives. "
            f"Got {shortened(first)}."
        )
    names: dict[int, str] = {}
    for number, line in rest[: int(many)]:
        key, _, name = line.partition(",")
        if not key.strip().isdecimal() or int(key.strip()[:9]) in names or not name.strip():
            raise BadInput(f"'{path}', line {number}: must be an alternative's number and name. Got {shortened(line)}.")
        names[int(key.strip()[:9])] = name.strip()
    return names, rest[int(many) + (suffix != ".wmd") :]  # after the names stand the numbers of voters


def _distinct(names: dict[int, str]) -> list[str]:
    """Names that differ: an alternative without a name has its number, and one whose name came before has it added."""
    known: set[str] = set()
    for number, name in names.items():
        one = name or str(number)
        while one in known:
            one = f"{one} ({number})"
        known.add(one)
        names[number] = one
    return list(names.values())


def _orders(path: object, data: list[tuple[int, str]], label: dict[int, str], suffix: str, cut: str) -> Reading:
    rankings, counts = Rankings(), []
    rankings.add_options(f"'{path}'", label.values())
    for number, line in data:
        where = f"'{path}', line {number}"
        many, mark, order = line.partition(cut)
        if not mark or not many.strip().isdecimal() or not int(many.strip()[:15]) > 0:
            raise BadInput(f"{where}: must be a count and an order such as '3{cut} 1,{{2,4}}'. Got {shortened(line)}.")
        groups = list(_groups(where, order, label))
        if suffix in (".soc", ".soi") and any(len(group) > 1 for group in groups):
            raise BadInput(f"{where}: a {suffix} file has no ties. Got {shortened(order)}.")
        if suffix in (".soc", ".toc") and sum(map(len, groups)) != len(label):
            raise BadInput(
                f"{where}: a {suffix} file orders all {len(label)} alternatives. Got {sum(map(len, groups))}: {shortened(order)}."
            )
        if rankings.add(where, groups):
            counts.append(float(many.strip()[:15]))
    return reading(rankings.votes(counts=counts or None), "PrefLib", suffix, [silent(rankings)])


def _groups(where: str, order: str, label: dict[int, str]) -> Iterator[list[str]]:
    plain = "".join(order.split())
    rest = _GROUP.sub("", plain)
    if rest.strip(",") or "{}" in plain or ",," in plain or plain.startswith(",") or plain.endswith(","):
        raise BadInput(f"{where}: must be an order such as 1,{{2,4}},3. Got {shortened(order)}.")
    for tied, single in _GROUP.findall(plain):
        group = []
        for one in tied.split(",") if tied else [single]:
            if not one.isdecimal() or int(one[:9]) not in label:
                raise BadInput(f"{where}: an order must name alternatives by their numbers. Got {shortened(one)}.")
            group.append(label[int(one[:9])])
        yield group


def _graph(path: object, data: list[tuple[int, str]], label: dict[int, str], suffix: str, cut: str) -> Reading:
    """A weighted graph: ``i, j, w`` counts w answers that place i above j."""
    options = sorted(label.values())
    place = {option: k for k, option in enumerate(options)}
    first, second, counts = [], [], []
    for number, line in data:
        cells = [cell.strip() for cell in line.split(",")]
        ends = [int(cell[:9]) if cell.isdecimal() else -1 for cell in cells[:2]]
        weight = number_of(cells[2]) if len(cells) == 3 else -1.0
        if not 0.0 <= weight <= 1e15 or not all(end in label for end in ends) or ends[0] == ends[1]:
            raise BadInput(
                f"'{path}', line {number}: must be two alternatives and a weight of at least 0. Got {shortened(line)}."
            )
        if weight > 0.0:
            first.append(place[label[ends[0]]])
            second.append(place[label[ends[1]]])
            counts.append(weight)
    pairs: dict[str, Any] = {
        "first": np.array(first, np.int32),
        "second": np.array(second, np.int32),
        "outcome": np.ones(len(first), np.int8),
    }
    return reading(Votes.of(options, **pairs, counts=counts or None), "PrefLib", f"{suffix}, a weight counts answers")
