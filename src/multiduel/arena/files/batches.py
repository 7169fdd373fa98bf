"""Votes from a file: paper forms, or another system. All or nothing, with a report by line; a file sent twice counts once.

A file is CSV (a line of column names first) or JSONL (an object per line) with

    id        of the line, its own: under it a vote counts once; the ticket's, if not given
    ticket    that was printed (see sheets), or, where there was none:
    shown     the options that were shown, by name, separated by | (JSONL: a list); those in the answer, if not given
    rater     a label; a new one is admitted
    group, context   if there is no ticket, which has them
    rank      best first: B>A=C on a ticket (its places are A, B, C ...), mild>sharp=bitter without one
    best, worst   one place, or one name
    skip      yes: nothing is said
    instructions, A, B, C ...   of a sheet: for people, not read

JSONL may give a ballot as the API takes it: "rank": [[1], [0, 2]], places from 0 (or names, without a ticket). Lines without
any answer, such as sheets that did not come back, are left out.

>>> batch = read_votes("id,ticket,rank\\n7,t1,B>A=C\\n8,t2,B>Z>\\n", format="csv")
>>> batch.lines[0].ballot, batch.problems
({'rank': [[1], [0, 2]]}, [Problem(line=3, id='8', sentence="A place is a letter, such as A. Got ''.")])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from multiduel.arena.domain.commands import ImportReport, ImportVotes, VoteLine
from multiduel.arena.domain.options import records
from multiduel.inputs import BadInput, no_others, shortened
from multiduel.spreadsheets import original

if TYPE_CHECKING:
    from multiduel.arena.service.service import Service

COLUMNS = ("id", "ticket", "shown", "rater", "group", "context", "rank", "best", "worst", "skip", "wins")
ANSWERS = ("rank", "best", "worst", "skip", "wins")
MOST_LINES = 100_000
YES = ("yes", "y", "true", "1", "x")


@dataclass(frozen=True)
class Problem:
    line: int
    id: str
    sentence: str


@dataclass
class Batch:
    """What a file says, line by line."""

    lines: list[VoteLine] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # the lines' places in the file
    problems: list[Problem] = field(default_factory=list)
    empty: int = 0  # lines without an answer

    def command(self, arena: str, *, dry_run: bool) -> ImportVotes:
        """To be carried out. With a problem in any line it is a dry run, which says what else is wrong."""
        return ImportVotes(arena, tuple(self.lines), dry_run=dry_run or bool(self.problems))


@dataclass(frozen=True)
class Line:
    line: int  # in the file
    id: str
    result: str  # new, already, refused
    counted: str
    problem: str


@dataclass(frozen=True)
class Report:
    accepted: bool  # every line was in order
    entered: bool  # and is in the log now
    new: int
    already: int
    refused: int
    empty: int
    lines: tuple[Line, ...]


def read_votes(written: str, *, format: str) -> Batch:
    """The votes of a file. What is wrong with a line is kept with it; only what is no table at all is refused here."""
    batch = Batch()
    for read, (number, record) in enumerate(records(written, format), 1):
        if read > MOST_LINES:  # not the number of the line: a cell may have many
            raise BadInput(f"A file of votes has at most {MOST_LINES:,} lines. Send the rest in another one.")
        cells = {name: original(value) if isinstance(value, str) else value for name, value in record.items()}
        id = str(cells.get("id") or cells.get("ticket") or "").strip()
        try:
            line = _line(id, cells)
        except BadInput as error:
            batch.problems.append(Problem(number, id, str(error)))
        else:
            if line is None:
                batch.empty += 1
            else:
                batch.lines.append(line)
                batch.numbers.append(number)
    return batch


def report(batch: Batch, answer: ImportReport) -> Report:
    """Both halves together: what the file's lines were, and what the arena said of them."""
    lines = [Line(problem.line, problem.id, "refused", "", problem.sentence) for problem in batch.problems]
    for said in answer.lines:
        lines.append(Line(batch.numbers[said.line - 1], said.id, said.result, said.counted, said.problem))
    lines.sort(key=lambda line: line.line)
    results = [line.result for line in lines]
    accepted = answer.accepted and not batch.problems
    return Report(
        accepted=accepted,
        entered=accepted and not answer.dry_run,
        new=results.count("new"),
        already=results.count("already"),
        refused=results.count("refused"),
        empty=batch.empty,
        lines=tuple(lines),
    )


def enter(service: Service, arena: str, written: str, *, format: str, dry_run: bool, actor: str) -> Report:
    """Read a file of votes, enter it unless this is a dry run, and report on every line."""
    batch = read_votes(written, format=format)
    command = batch.command(arena, dry_run=dry_run)
    answer: ImportReport = service.do(command, actor=actor) if command.lines else ImportReport(True, command.dry_run, ())
    return report(batch, answer)


def letter(position: int) -> str:
    """A, B, ... Z, AA, AB ...: a place on paper."""
    name = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def place(name: str) -> int:
    """The position of a letter.

    >>> [place(letter(k)) for k in (0, 25, 26, 701, 702)]
    [0, 25, 26, 701, 702]
    """
    plain = name.strip().upper()
    if not 1 <= len(plain) <= 3 or not all("A" <= one <= "Z" for one in plain):
        raise BadInput(f"A place is a letter, such as A. Got {shortened(name)}.")
    position = 0
    for one in plain:
        position = position * 26 + ord(one) - ord("A") + 1
    return position - 1


def _line(id: str, cells: Mapping[str, Any]) -> VoteLine | None:
    no_others({name: None for name in cells if not _is_for_people(name)}, COLUMNS, "A line of votes")
    answers = {name: cells[name] for name in ANSWERS if not _is_empty(cells.get(name))}
    if not answers:
        return None
    if len(answers) > 1:
        raise BadInput(f"A line has one answer. Got {' and '.join(answers)}.")
    if not id or len(id) > 200:
        raise BadInput(f"A line needs an id of its own, of 1 to 200 characters. Got {shortened(id)}.")
    words = {name: _word(name, cells.get(name)) for name in ("ticket", "rater", "group", "context")}
    ((kind, said),) = answers.items()
    if words["ticket"] is not None:
        if cells.get("shown"):
            raise BadInput("What a ticket shows is known: give the ticket, or what was shown.")
        return VoteLine(id, {kind: _said(kind, said, _position)}, ticket=words["ticket"], rater=words["rater"])
    shown = _names(cells.get("shown"))
    given = _said(kind, said, _name)
    for name in _flat(given) if kind in ("rank", "best", "worst") else ():
        if name not in shown and not cells.get("shown"):
            shown.append(name)

    def seat(name: str) -> int:
        if name not in shown:
            raise BadInput(f"{shortened(name)} was not shown.")
        return shown.index(name)

    if len(shown) < 2:
        raise BadInput("A line without a ticket needs two options at least that were shown.")
    return VoteLine(id, {kind: _seated(given, seat)}, shown=tuple(shown), **words)


def _is_empty(cell: Any) -> bool:
    return (
        cell is None or cell is False or (isinstance(cell, str | list) and not cell) or (isinstance(cell, str) and cell.isspace())
    )


def _is_for_people(column: str) -> bool:
    """Tell whether a column of a sheet is for people only: the owner's instructions, and A, B, C ... with what was shown."""
    return column == "instructions" or (1 <= len(column) <= 2 and column.isascii() and column.isalpha())


def _word(name: str, value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str | int) or isinstance(value, bool) or not 1 <= len(str(value).strip()) <= 10_000:
        raise BadInput(f"'{name}' must be text. Got {shortened(value)}.")
    return str(value).strip()


def _said(kind: str, said: Any, read: Callable[[Any], Any]) -> Any:
    """A ballot's value, its places or names read one by one."""
    if kind == "skip":
        if said is True or (isinstance(said, str) and said.strip().lower() in YES):
            return True
        raise BadInput(f"'skip' is yes, or empty. Got {shortened(said)}.")
    if kind == "wins":
        return said
    if kind in ("best", "worst"):
        return read(said)
    if isinstance(said, str):
        return [[read(one) for one in group.split("=")] for group in said.split(">")]
    if not isinstance(said, list):
        raise BadInput(f"'rank' is a list, best first, or text such as B>A=C. Got {shortened(said)}.")
    return [[read(one) for one in (group if isinstance(group, list) else [group])] for group in said]


def _position(value: Any) -> int:
    if isinstance(value, str):
        return place(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadInput(f"A place is a letter, or a whole number from 0. Got {shortened(value)}.")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"Without a ticket, options are named. Got {shortened(value)}.")
    return value.strip()


def _names(shown: Any) -> list[str]:
    if shown is None or shown == "":
        return []
    names = [
        _name(one) for one in (shown.split("|") if isinstance(shown, str) else shown if isinstance(shown, list) else [shown])
    ]
    if len(set(names)) < len(names):
        raise BadInput(f"An option is shown once. Got {shortened(shown)}.")
    return names


def _flat(given: Any) -> Sequence[str]:
    return [name for group in given for name in group] if isinstance(given, list) else [given]


def _seated(given: Any, seat: Callable[[str], int]) -> Any:
    if isinstance(given, str):
        return seat(given)
    if isinstance(given, list) and all(isinstance(group, list) and all(isinstance(n, str) for n in group) for group in given):
        return [[seat(name) for name in group] for group in given]
    return given
