"""Read votes of any kind: see what a file or table is, read it with the module of its kind, and say how it was understood."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from multiduel.inference.votes import Votes
from multiduel.inputs import BadInput, choice, shortened, truth
from multiduel.votes import arena_logs, battles, counts, preflib, ranker_logs, rankings
from multiduel.votes.assembling import Reading, reading
from multiduel.votes.open_files import PARQUET, first_bytes, opened_text
from multiduel.votes.roles import find_roles, some
from multiduel.votes.tables import Columns, ParquetTable, Records, Table, TextTable, json_lines

KINDS = ("battles", "pairs", "counts", "square counts", "rankings", "places", "slates", "PrefLib", "arena log", "ranker log")
EXPECTED = (
    "two options and a winner (model_a, model_b, winner), a winner and a loser, two options with wins and losses, a ranking, "
    "a column per place (1, 2, 3), or a square table of counts"
)


def read_votes(
    source: Any,
    *more: Any,
    columns: Mapping[str, str | None] | None = None,
    outcomes: Mapping[str, str] | str | None = None,
    ordered: bool | None = None,
    kind: str | None = None,
) -> Votes:
    """Read votes from a file or table, whatever its form.

    Battles, rankings, counts of pairs, PrefLib files, logs of an arena or of rankers; as CSV (cut at commas, semicolons, tabs or
    bars), JSONL, JSON, Parquet, gzip, a pandas or polars frame, or lists. docs/votes.md lists what each looks like.
    ``multiduel.votes.read`` says in one line how a source was understood.

    Parameters
    ----------
    source, *more
        Files, frames, or lists: of dicts; of ``(winner, loser)`` or ``(first, second, winner)``; of rankings such as ``"A>B=C"``.
        Several are read one after the other: their options, raters and cases are the same where their names are.
    columns
        Which column is what, where its name does not say so: ``{"winner": "preferred", "rater": "who"}``. The keys are first,
        second, winner, loser, rater, case, time, count, wins, losses, ties, ranking, best, worst, shown. None leaves one out.
    outcomes
        What the cells of the winner's column mean, where that is not plain: ``{"0": "first", "1": "second"}``, with "tie" and
        "none" (no answer); or "names" if they are names of options although they could be those of sides.
    ordered
        Whether the first option of a battle was shown first. If not given, the columns' names tell.
    kind
        The kind, if it is not recognised: battles, pairs, counts, square counts, rankings, places, slates.

    Returns
    -------
    Votes
        The answers, with the names of the options, for ``standings``, ``verdict`` and ``next_slates``.

    Raises
    ------
    BadInput
        If a source is of no known form, or a line cannot be used. The sentence names the line; nothing is half read.

    Examples
    --------
    >>> votes = read_votes([("tea", "milk", "tea"), ("tea", "water", "tie")])
    >>> votes.options, votes.answers
    (('milk', 'tea', 'water'), 2)
    >>> read_votes(["tea > milk = water"]).above.sum()
    np.float64(2.0)
    """
    return read(source, *more, columns=columns, outcomes=outcomes, ordered=ordered, kind=kind).votes


def read(
    source: Any,
    *more: Any,
    columns: Mapping[str, str | None] | None = None,
    outcomes: Mapping[str, str] | str | None = None,
    ordered: bool | None = None,
    kind: str | None = None,
) -> Reading:
    """Read votes as ``read_votes`` does, and say how they were understood.

    Parameters
    ----------
    source, *more, columns, outcomes, ordered, kind
        As for ``read_votes``.

    Returns
    -------
    Reading
        The votes, their kind, and one line that says what was recognised and what was left out.
    """
    if kind is not None:
        choice("kind", kind, KINDS)
    if ordered is not None:
        truth("ordered", ordered)
    if outcomes is not None and not isinstance(outcomes, Mapping | str):
        raise BadInput(f"'outcomes' must be a word, or a table from words of the file to outcomes. Got {shortened(outcomes)}.")
    readings = [_read(one, columns, outcomes, ordered, kind) for one in (source, *more)]
    if len(readings) == 1:
        return readings[0]
    joined = join([one.votes for one in readings])
    kinds = list(dict.fromkeys(one.kind for one in readings))
    return Reading(
        joined, " and ".join(kinds), "\n".join([*(one.note for one in readings), reading(joined, "together", "").note])
    )


def _read(source: Any, columns: Any, outcomes: Any, ordered: bool | None, kind: str | None) -> Reading:
    if isinstance(source, Votes):
        return reading(source, "votes", "")
    if isinstance(source, str | os.PathLike):
        return _read_file(source, columns, outcomes, ordered, kind)
    if isinstance(source, bytes) or source is None or isinstance(source, int | float):
        raise BadInput(f"Votes are read from a file, a data frame or a list. Got {shortened(source)}.")
    if isinstance(source, Sequence) and not hasattr(source, "columns"):
        rows = list(source)
        if rows and all(isinstance(row, str) for row in rows):
            return rankings.read_texts(rows)
    return _read_table(_table_of(source), columns, outcomes, ordered, kind, counts.frame_with_labels(source))


def _table_of(source: Any) -> Table:
    """A frame, a dict of lists, or a list of dicts or tuples as a table."""
    if hasattr(source, "column_names") and hasattr(source, "column"):  # of Arrow
        return Columns({str(name): source.column(name) for name in source.column_names})
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):  # of pandas or polars
        if len(set(map(str, source.columns))) < len(source.columns):
            raise BadInput(f"The columns of votes must have different names. Got {some(source.columns)}.")
        return Columns({str(name): source[name] for name in source.columns})
    if isinstance(source, Mapping):
        try:
            return Columns({str(name): list(column) for name, column in source.items()})
        except TypeError:
            raise BadInput(f"A table of votes must have a list per column. Got {shortened(source)}.") from None
    try:
        rows = source.tolist() if isinstance(source, np.ndarray) else list(source)
    except TypeError:
        raise BadInput(f"Votes are read from a file, a data frame or a list. Got {shortened(source)}.") from None
    if not rows:
        raise BadInput("Votes must hold at least one row. Got an empty list.")
    if all(isinstance(row, Mapping) for row in rows):
        return Records.of_list(rows)
    lengths = {len(row) if isinstance(row, list | tuple) else 0 for row in rows}
    if lengths == {2}:
        return Columns(dict(zip(("winner", "loser"), zip(*rows, strict=True), strict=True)))
    if len(lengths) == 1 and lengths <= {3, 4}:
        names = ("first", "second", "winner", "rater")[: lengths.pop()]
        return Columns(dict(zip(names, zip(*rows, strict=True), strict=True)))
    raise BadInput(
        "A list of votes must hold dicts, rankings such as 'A>B=C', or tuples: (winner, loser), (first, second, winner) or "
        f"(first, second, winner, rater). Got {shortened(rows)}."
    )


def _read_file(path: Any, columns: Any, outcomes: Any, ordered: bool | None, kind: str | None) -> Reading:
    name = os.fspath(path).lower()
    suffix = os.path.splitext(name.removesuffix(".gz"))[1]
    if first_bytes(path) == PARQUET:
        return _read_table(ParquetTable(path), columns, outcomes, ordered, kind)
    if suffix in preflib.SUFFIXES and kind in (None, "PrefLib"):
        return preflib.read_preflib(path, suffix)
    start = _start(path)
    if start.startswith("#") and "FILE NAME" in start.split("\n")[0]:
        return _preflib_by_header(path, start)
    if start.startswith(("{", "[")) and suffix not in (".csv", ".tsv", ".txt"):
        return _read_json(path, columns, outcomes, ordered, kind)
    if kind is None and not columns and suffix not in (".csv", ".tsv") and rankings.looks_like_rankings(path):
        return rankings.read_lines(path)
    table = TextTable(path)
    lines = kind == "rankings" and not {"ranking", "best", "worst"} & set(find_roles(table, columns))
    if lines or (kind is None and _is_ranking_text(table)):
        return rankings.read_lines(path)
    return _read_table(table, columns, outcomes, ordered, kind)


def _is_ranking_text(table: TextTable) -> bool:
    """Is the first line a ranking rather than names of columns?"""
    return len(table.names) == 1 and ">" in table.names[0]


def _start(path: Any) -> str:
    with opened_text(path) as file:
        start = file.read(4096)
    if not start.strip():
        raise BadInput(f"'{path}' must hold votes. Got an empty file.")
    return start.lstrip()


def _preflib_by_header(path: Any, start: str) -> Reading:
    said = next((line.split(":")[1].strip() for line in start.split("\n") if line.startswith("# DATA TYPE:")), "")
    if f".{said}" not in preflib.SUFFIXES:
        raise BadInput(f"'{path}' must be a PrefLib file of type {some(preflib.SUFFIXES)}. Got {shortened(said)}.")
    return preflib.read_preflib(path, f".{said}")


def _read_json(path: Any, columns: Any, outcomes: Any, ordered: bool | None, kind: str | None) -> Reading:
    _, record = next(json_lines(path), (0, {}))
    if arena_logs.is_arena_log(record) and kind in (None, "arena log"):
        return arena_logs.read_arena_log(path)
    if ranker_logs.is_ranker_log(record) and kind in (None, "ranker log"):
        return ranker_logs.read_ranker_log(path)
    return _read_table(Records.of_file(path), columns, outcomes, ordered, kind)


def _read_table(
    table: Table, columns: Any, outcomes: Any, ordered: bool | None, kind: str | None, labelled: Table | None = None
) -> Reading:
    if not table.sample and not table.names:
        raise BadInput(f"{table.where()} must hold votes. Got none.")
    if len(set(table.names)) < len(table.names):
        twice = next(name for k, name in enumerate(table.names) if name in table.names[:k])
        raise BadInput(f"{table.where()}: columns must have different names. Got {shortened(twice)} twice.")
    roles = find_roles(table, columns)
    found = kind or _kind(labelled or table, roles, bool(columns))
    if found == "square counts":
        square = counts.square_options(labelled or table)
        if square is None:
            raise BadInput(f"{table.where()}: must be a square table of counts, with the options' names in its first line.")
        return counts.read_square(labelled or table, *square)
    needed = {"battles": ("first", "second"), "pairs": ("winner", "loser"), "counts": ("first", "second", "wins")}.get(found, ())
    for role in needed:
        if role not in roles:
            raise BadInput(
                f"{table.where()}: which column is '{role}'? Say it with 'columns' (--column). There are: {some(table.names)}."
            )
    if found == "slates" and rankings.slate_columns(table):
        return rankings.read_slates(table, roles)
    if found == "battles":
        marks = battles.one_hot(table)
        if marks is not None and "winner" not in (columns or {}):
            return battles.read_one_hot(table, roles, marks, ordered)
        if "winner" in roles:
            return battles.read_battles(table, roles, outcomes, ordered)
    if found == "pairs":
        return battles.read_pairs(table, roles)
    if found == "counts":
        return counts.read_long(table, roles)
    if found == "rankings" and {"ranking", "best", "worst"} & set(roles):
        return rankings.read_column(table, roles)
    if found == "places" and rankings.place_columns(table):
        return rankings.read_places(table, roles)
    wanted = EXPECTED if not kind else f"the columns of '{kind}'"
    raise BadInput(
        f"{table.where()}: must have {wanted}. Got the columns {some(table.names)}. Say which is which with 'columns' (--column)."
    )


def _kind(table: Table, roles: Mapping[str, str], given: bool) -> str:
    """What kind of votes these columns are; "" if none is recognised."""
    square = None if given else counts.square_options(table)
    if square is not None and len(square[0]) < len(table.names):  # rows have the names of columns: no other table has that
        return "square counts"
    if not given and rankings.slate_columns(table):
        return "slates"
    if "first" in roles and "second" in roles:
        if battles.one_hot(table) is not None:
            return "battles"
        if "wins" in roles and "winner" not in roles:
            return "counts"
        if "winner" in roles:
            return "battles"
    if "winner" in roles and "loser" in roles:
        return "pairs"
    if {"ranking", "best", "worst"} & set(roles):
        return "rankings"
    if rankings.place_columns(table) and square is None:
        return "places"
    return "square counts" if square is not None else ""


def join(several: Sequence[Votes]) -> Votes:
    """Put votes together. Options, raters and cases with one name are one.

    Parameters
    ----------
    several
        Votes of any options. Raters are known of all answers only if all of these know them; so for cases and times.

    Returns
    -------
    Votes
        All answers, in the order given.
    """
    if len(several) == 1:
        return several[0]
    options = sorted({name for votes in several for name in votes.options})
    number = {name: k for k, name in enumerate(options)}
    new = [np.array([number[name] for name in votes.options], np.int32) for votes in several]
    more: dict[str, Any] = {}
    if any(votes.starts is not None for votes in several):
        sizes = [np.ones(len(v.first), np.int64) if v.starts is None else np.diff(v.starts) for v in several]
        more["starts"] = np.concatenate(([0], np.cumsum(np.concatenate(sizes))))
    if any(votes.counts is not None for votes in several):
        more["counts"] = np.concatenate([np.ones(v.answers) if v.counts is None else v.counts for v in several])
    for one, many in (("rater", "raters"), ("case", "cases")):
        if all(getattr(votes, one) is not None or votes.answers == 0 for votes in several):
            names = list(dict.fromkeys(name for votes in several for name in getattr(votes, many)))
            place = {name: k for k, name in enumerate(names)}
            parts = [
                np.array([place[name] for name in getattr(votes, many)], np.int32)[getattr(votes, one)]
                for votes in several
                if votes.answers
            ]
            more |= {one: np.concatenate(parts) if parts else np.zeros(0, np.int32), many: names}
    if all(votes.time is not None for votes in several):
        more["time"] = np.concatenate([votes.time for votes in several if votes.time is not None])
    return Votes.of(
        options,
        first=np.concatenate([table[votes.first] for table, votes in zip(new, several, strict=True)]),
        second=np.concatenate([table[votes.second] for table, votes in zip(new, several, strict=True)]),
        outcome=np.concatenate([votes.outcome for votes in several]),
        ordered=all(votes.ordered for votes in several if votes.answers),
        **more,
    )


def with_options(votes: Votes, options: Sequence[str]) -> Votes:
    """Add options that no vote has compared yet.

    Parameters
    ----------
    votes
        The votes so far.
    options
        Names. Those that the votes have already change nothing.

    Returns
    -------
    Votes
        The same answers among more options.
    """
    new = [str(name) for name in options if str(name) not in votes.options]
    nothing = np.zeros(0, np.int32)
    return join([votes, Votes.of(new, first=nothing, second=nothing, outcome=nothing, ordered=votes.ordered)]) if new else votes
