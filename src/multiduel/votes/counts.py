"""Counts of pairs: a square table with the options' names, or rows ``i, j, wins, losses, ties``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from multiduel.arrays import Floats
from multiduel.inference.tally import MOST_COUNT
from multiduel.inference.votes import Votes
from multiduel.inputs import BadInput, shortened
from multiduel.votes.assembling import Reading, check_options, columns_said, option_numbers, reading
from multiduel.votes.tables import Columns, Table, number_of, numbers_of


def read_long(table: Table, roles: Mapping[str, str]) -> Reading:
    """Votes of rows that count, for two options, how often the first won, and perhaps lost or tied."""
    kept = {role: roles[role] for role in ("first", "second", "wins", "losses", "ties") if role in roles}
    columns = table.read(dict.fromkeys(kept.values()))
    options, (one, two) = option_numbers(
        table, [columns[kept[side]] for side in ("first", "second")], [kept["first"], kept["second"]]
    )
    same = one == two
    if same.any():
        row = int(same.argmax())
        raise BadInput(f"{table.where(row)}: must compare two different options. Got {shortened(options[one[row]])} twice.")
    pairs: list[tuple[Any, int, Floats]] = []
    for role, outcome in (("wins", 1), ("losses", -1), ("ties", 0)):
        if role in kept:
            name = kept[role]
            many = numbers_of(table, columns[name], name, "a count of at least 0", least=0.0)
            _refuse_huge(table, name, many)
            pairs.append((np.flatnonzero(many), outcome, many))
    first = np.concatenate([one[rows] for rows, _, _ in pairs])
    second = np.concatenate([two[rows] for rows, _, _ in pairs])
    result = np.concatenate([np.full(len(rows), outcome, np.int8) for rows, outcome, _ in pairs])
    counts = np.concatenate([many[rows] for rows, _, many in pairs])
    votes = Votes.of(options, first=first, second=second, outcome=result, counts=counts)
    return reading(votes, "counts", columns_said(kept))


def _refuse_huge(table: Table, name: str, many: Floats) -> None:
    if (many > MOST_COUNT).any():
        row = int((many > MOST_COUNT).argmax())
        raise BadInput(f"{table.where(row)}: '{name}' must be at most {MOST_COUNT:g}. Got {many[row]:g}.")


def square_options(table: Table) -> tuple[list[str], list[str]] | None:
    """(options, columns) of a square table: with the names as its first column too, as pandas writes it, or without."""
    names = list(table.names)
    if len(names) > 2:
        rows = [row[0] for row in table.sample if row]
        if rows and rows == names[1 : len(rows) + 1]:
            return names[1:], names[1:]
    numbers = table.sample and all(cell == "" or number_of(cell) == number_of(cell) for row in table.sample for cell in row)
    if len(names) > 1 and numbers and (len(table.sample) == len(names) or len(names) > len(table.sample) >= 100):
        return names, names
    return None


def read_square(table: Table, options: list[str], names: list[str]) -> Reading:
    """Votes of a square table: row i, column j says how often option i was placed above option j."""
    check_options(table.where(), options)
    if len(set(options)) < len(options) or not all(options):
        twice = next(name for k, name in enumerate(options) if not name or name in options[:k])
        raise BadInput(f"{table.where()}: options must have different names. Got {shortened(twice)} {'twice' if twice else ''}.")
    K = len(options)
    labels = table.names[0] if len(table.names) > K else None
    columns = table.read(dict.fromkeys([*names, *([] if labels is None else [labels])]))
    rows = len(columns[names[0]].codes)
    if rows != K:
        raise BadInput(f"{table.where()}: a square table of {K} options must have {K} rows of counts. Got {rows}.")
    if labels is not None:
        for row in range(K):
            if columns[labels].text(row) != options[row]:
                raise BadInput(
                    f"{table.where(row)}: rows must be in the order of the columns, here {shortened(options[row])}. "
                    f"Got {shortened(columns[labels].text(row))}."
                )
    W = np.zeros((K, K))
    for j, name in enumerate(names):
        column = columns[name]
        for i in range(K):
            text = column.text(i)
            value = 0.0 if text == "" or (i == j and text in ("-", "–", "x")) else number_of(text)
            if not 0.0 <= value <= MOST_COUNT:
                raise BadInput(
                    f"{table.where(i)}: the count of {shortened(options[i])} above {shortened(name)} must be a number from 0 to "
                    f"{MOST_COUNT:g}. Got {shortened(text)}."
                )
            W[i, j] = value
    off = ~np.eye(K, dtype=bool)
    if W.max(initial=0.0) <= 1.0 and K > 1 and np.allclose((W + W.T)[off], 1.0) and (W[off] % 1.0 != 0.0).any():
        raise BadInput(
            f"{table.where()}: must hold counts of answers. Got chances, which do not say how many there were: "
            "'multiduel problem' reads those."
        )
    if W.diagonal().any():
        i = int(np.flatnonzero(W.diagonal())[0])
        raise BadInput(f"{table.where(i)}: no option is placed above itself. Got {W[i, i]:g} for {shortened(options[i])}.")
    order = sorted(range(K), key=lambda k: options[k])
    W = W[np.ix_(order, order)]
    one, two = np.nonzero(W)
    votes = Votes.of([options[k] for k in order], first=one, second=two, outcome=np.ones(len(one), np.int8), counts=W[one, two])
    return reading(votes, "square counts", "row above column")


def frame_with_labels(frame: Any) -> Table | None:
    """A square pandas frame whose index names the rows, as the table that it would be in a file."""
    index = getattr(frame, "index", None)
    if index is None or not hasattr(frame, "to_numpy") or [str(name) for name in index] != [str(name) for name in frame.columns]:
        return None
    return Columns({"": [str(name) for name in index], **{str(name): frame[name] for name in frame.columns}})
