"""Votes from columns: names of options to numbers, raters and cases, rankings to pairs. What all kinds of files share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Ints
from multiduel.inference.votes import MOST_OPTIONS, Votes
from multiduel.inputs import BadInput, shortened
from multiduel.votes.tables import Column, Table, numbers_of, seconds_of

MOST_PAIRS = 100_000_000
MOST_NAME = 1_000  # characters


class Reading(NamedTuple):
    """Votes, and how their file was understood.

    >>> from multiduel.votes import read
    >>> read([("tea", "milk", "tea")]).note
    "battles: first = 'first', second = 'second', winner = 'winner' (by name); 1 answer, 2 options"
    """

    votes: Votes
    kind: str  # battles, pairs, counts, square counts, rankings, places, slates, PrefLib, arena log, ranker log
    note: str  # one line: the kind, what the columns were taken for, what was left out


def counted(number: int, word: str) -> str:
    """A number with its noun.

    >>> counted(1, "answer"), counted(2_000, "answer")
    ('1 answer', '2,000 answers')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def reading(votes: Votes, kind: str, said: str, left_out: Iterable[str] = ()) -> Reading:
    """The votes with their one line."""
    parts = [counted(votes.answers, "answer")]
    if votes.counts is not None:
        parts[0] = f"{counted(votes.answers, 'row')} of {counted(round(votes.counts.sum()), 'answer')}"
    parts.append(counted(len(votes.options), "option"))
    if votes.rater is not None:
        parts.append(counted(len(votes.raters), "rater"))
    if votes.case is not None:
        parts.append(counted(len(votes.cases), "case"))
    parts += [words for words in left_out if words]
    return Reading(votes, kind, f"{kind}{': ' + said if said else ''}; {', '.join(parts)}")


def columns_said(roles: Mapping[str, str]) -> str:
    """How the columns were understood, in words."""
    return ", ".join(f"{role} = {shortened(column)}" for role, column in roles.items())


def option_numbers(table: Table, columns: Sequence[Column], names: Sequence[str]) -> tuple[list[str], list[Any]]:
    """The options of several columns in the order of their names, and each column as numbers of them. Empty cells are refused."""
    for column, name in zip(columns, names, strict=True):
        empty = column.blank
        if empty.any():
            raise BadInput(f"{table.where(int(empty.argmax()))}: '{name}' must name an option. Got an empty cell.")
    options = sorted({value for column in columns for value in _used(column)})
    check_options(table.where(), options)
    number = {option: k for k, option in enumerate(options)}
    numbers = [np.array([number.get(value, -1) for value in column.values], np.int32) for column in columns]
    return options, [table[column.codes] if len(table) else column.codes for table, column in zip(numbers, columns, strict=True)]


def _used(column: Column) -> list[str]:
    present = np.zeros(len(column.values), bool)
    present[column.codes] = True
    return [value for value, there in zip(column.values, present.tolist(), strict=True) if there]


def check_options(where: object, options: Sequence[str]) -> None:
    """Refuse more options, or longer names, than a table of votes can have."""
    if len(options) > MOST_OPTIONS:
        raise BadInput(
            f"{where}: votes must have at most {MOST_OPTIONS:,} options. Got {len(options):,}, such as {shortened(options[0])}. "
            "Is this the column of the options?"
        )
    for option in options:
        if len(option) > MOST_NAME:
            raise BadInput(
                f"{where}: an option's name must have at most {MOST_NAME:,} characters. Got {len(option):,}: {shortened(option)}."
            )
        if "\0" in option:
            raise BadInput(f"{where}: an option's name must be text. Got a zero byte in {shortened(option)}.")


def not_zero(table: Table, columns: Mapping[str, Column], roles: Mapping[str, str]) -> Any:
    """bool[rows], or True: which rows stand for an answer at all."""
    if "count" not in roles:
        return True
    name = roles["count"]
    return numbers_of(table, columns[name], name, "a number of at least 0", least=0.0) > 0.0


def units(table: Table, columns: Mapping[str, Column], roles: Mapping[str, str], rows: Any = None) -> dict[str, Any]:
    """Rater, case, time and count of each row that is kept, as ``Votes.of`` takes them."""
    found: dict[str, Any] = {}
    for role, names in (("rater", "raters"), ("case", "cases")):
        if role in roles:
            found[role], found[names] = _named(columns[roles[role]], rows)
    if "time" in roles:
        column = columns[roles["time"]]
        seconds = np.array([seconds_of(value) for value in column.values])[column.codes]
        bad = np.isnan(seconds)
        if bad.any():
            row = int(bad.argmax())
            raise BadInput(
                f"{table.where(row)}: '{roles['time']}' must be seconds or a date such as 2026-01-31T12:00. "
                f"Got {shortened(column.text(row))}. (To read the votes without it: columns={{'time': None}}, or --no-time.)"
            )
        found["time"] = seconds if rows is None else seconds[rows]
    if "count" in roles:
        name = roles["count"]
        many = numbers_of(table, columns[name], name, "a number of at least 0", least=0.0)
        found["counts"] = many if rows is None else many[rows]
    return found


def _named(column: Column, rows: Any) -> tuple[Ints, list[str]]:
    """Who or what each row belongs to. Where a cell is empty, the row belongs to nobody else: it gets a name of its own."""
    codes = column.codes if rows is None else column.codes[rows]
    blank = column.blank if rows is None else column.blank[rows]
    known, numbers = np.unique(codes[~blank], return_inverse=True)
    names = [column.values[code] for code in known.tolist()]
    taken = set(names)
    result = np.zeros(len(codes), np.int64)
    result[~blank] = numbers
    for number, row in enumerate(np.flatnonzero(blank).tolist(), len(names)):
        name = f"unknown {row + 1}"
        while name in taken:
            name += "'"
        names.append(name)
        result[row] = number
    return result, names


class Row:
    """The place of a row, looked up only when a sentence needs it: that reads the file again."""

    def __init__(self, table: Table, row: int) -> None:
        self.table, self.row = table, row

    def __str__(self) -> str:
        return self.table.where(self.row)


class Rankings:
    """Rankings, collected answer by answer, to become votes: groups of options, best first, those of a group level."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, Any, Any] | None] = {}
        self.number: dict[str, int] = {}
        self.answers: list[tuple[Any, Any, Any]] = []
        self.pairs = 0
        self.silent = 0  # answers that place fewer than two options

    def add_options(self, where: object, options: Iterable[str]) -> None:
        for option in options:
            if option not in self.number:
                self.number[option] = len(self.number)
                if len(self.number) > MOST_OPTIONS or len(option) > MOST_NAME or "\0" in option:
                    check_options(where, list(self.number))

    def add(
        self,
        where: object,
        groups: Sequence[Sequence[str]],
        *,
        best_only: bool = False,
        worst_only: bool = False,
        shown: Sequence[str] = (),
    ) -> bool:
        """An answer; False if it compares nothing.

        With ``best_only`` nothing is said among those that are not best, with ``worst_only`` among those that are not worst. With
        ``shown`` the first option of each pair is the one that was shown first.
        """
        key = (tuple(map(tuple, groups)), best_only, worst_only, tuple(shown))
        if key not in self._known:
            self._known[key] = _shown_first(
                self._pairs(where, groups, best_only, worst_only), [self.number[one] for one in shown]
            )
        found = self._known[key]
        if found is None:
            self.silent += 1
            return False
        self.pairs += len(found[0])
        if self.pairs > MOST_PAIRS:
            raise BadInput(f"{where}: rankings must compare at most {MOST_PAIRS:,} pairs in all. These compare more.")
        self.answers.append(found)
        return True

    def _pairs(self, where: object, groups: Any, best_only: bool, worst_only: bool) -> tuple[Any, Any, Any] | None:
        placed = [option for group in groups for option in group]
        if len(set(placed)) < len(placed):
            twice = next(option for k, option in enumerate(placed) if option in placed[:k])
            raise BadInput(f"{where}: a ranking must name each option once. {shortened(twice)} stands there twice.")
        self.add_options(where, placed)
        if len(placed) < 2:
            return None
        n = len(placed)
        if n * (n - 1) // 2 > MOST_PAIRS:
            raise BadInput(f"{where}: rankings must compare at most {MOST_PAIRS:,} pairs in all. One of {n:,} options has more.")
        place = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        arms = np.array([self.number[option] for option in placed], np.int32)
        a, b = np.triu_indices(n, 1)
        if best_only or worst_only:
            edge = 0 if best_only else len(groups) - 1
            kept = (place[a] == edge) != (place[b] == edge)
            a, b = a[kept], b[kept]
        return arms[a], arms[b], (place[a] < place[b]).astype(np.int8)  # the first of a pair is never below

    def votes(self, **columns: Any) -> Votes:
        """The votes; the options are put into the order of their names."""
        if not self.number:
            raise BadInput("Votes must compare options. These name none.")
        options = sorted(self.number)
        order = {option: k for k, option in enumerate(options)}
        new = np.array([order[option] for option in self.number], np.int32)
        if not self.answers:
            nothing = np.zeros(0, np.int32)
            return Votes.of(options, first=nothing, second=nothing, outcome=nothing, **columns)
        first, second, outcome = (np.concatenate([answer[part] for answer in self.answers]) for part in range(3))
        starts = np.concatenate(([0], np.cumsum([len(answer[0]) for answer in self.answers])))
        return Votes.of(options, first=new[first], second=new[second], outcome=outcome, starts=starts, **columns)


def _shown_first(pairs: Any, shown: Sequence[int]) -> Any:
    if pairs is None or not shown:
        return pairs
    first, second, outcome = pairs
    position = {arm: k for k, arm in enumerate(shown)}
    turned = np.array([position[i] > position[j] for i, j in zip(first.tolist(), second.tolist(), strict=True)], bool)
    return np.where(turned, second, first), np.where(turned, first, second), np.where(turned, -outcome, outcome)
