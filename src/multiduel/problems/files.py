"""Preference matrices in files: a line of arm names, then one line of numbers per arm, comma separated; others are read too."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

from multiduel.arrays import Floats
from multiduel.files import read_text, whole_file
from multiduel.inputs import BadInput
from multiduel.problems.problem import Problem, preference_matrix
from multiduel.spreadsheets import harmless, original


def read_csv(path: str | os.PathLike[str]) -> Problem:
    """Read a problem from a file; its label is the file's name without the ending.

    Cells are separated by commas, or where there is none by tabs or spaces. A first line of names may be missing, and so may
    that of the number of arms with which some publish their matrices.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Problem
        As ``from_matrix`` makes it.

    Raises
    ------
    BadInput
        If there is no such file, or it holds no preference matrix; the sentence names the line.

    Examples
    --------
    >>> read_csv("nowhere.csv")
    Traceback (most recent call last):
    multiduel.inputs.BadInput: 'nowhere.csv' must be a file that exists. Got no such file.
    """
    names, rows = _names_and_rows(_read_rows(path))
    lines = [line for line, _ in rows]
    each = "one per name in line 1" if lines[:1] != [1] else "as many as line 1 has"
    for line, row in rows:
        if len(row) != len(names):
            raise BadInput(f"'{path}', line {line}: must have {len(names)} numbers, {each}. Got {len(row)}.")
    values = [[_number(path, line, column, cell) for column, cell in enumerate(row, 1)] for line, row in rows]
    if len(rows) != len(names):
        raise BadInput(f"'{path}': must have {len(names)} lines of numbers, {each}. Got {len(rows)}.")

    def where(i: int, j: int) -> str:
        return f"'{path}', line {lines[i]}, column {j + 1} ('{names[i]}' against '{names[j]}'):"

    P = preference_matrix(values, where=where)
    try:
        return Problem(P, tuple(names), Path(path).stem)
    except BadInput as error:
        raise BadInput(f"'{path}', line 1: {error}") from None


def _read_rows(path: str | os.PathLike[str]) -> list[tuple[int, list[str]]]:
    """The lines that are not blank, with their numbers."""
    text = read_text(path)
    filled = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not filled:
        raise BadInput(f"'{path}' must hold a line of arm names and a line of numbers per arm. Got an empty file.")
    if "," not in text and filled[-1][1].split()[1:]:
        return [(number, line.split("\t") if "\t" in line else line.split()) for number, line in filled]
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        return [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise BadInput(f"'{path}' must be comma-separated text. {error}.") from None


def _names_and_rows(lines: list[tuple[int, list[str]]]) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the arms and the lines of numbers."""
    (_, first), rest = lines[0], lines[1:]
    if len(first) == 1 and len(rest) > 1 and first[0] == str(len(rest)):
        return [f"arm {i}" for i in range(len(rest))], rest  # the number of arms
    if len(first) == len(lines) and all(_is_number(cell) for cell in first):
        return [f"arm {i}" for i in range(len(first))], lines
    return [original(name) for name in first], rest


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(path: str | os.PathLike[str], line: int, column: int, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise BadInput(f"'{path}', line {line}, column {column}: must be a number. Got '{cell}'.") from None


def write_csv(problem: Problem, path: str | os.PathLike[str]) -> None:
    """Write a file that ``read_csv`` reads back bit for bit. The file appears whole or not at all.

    Parameters
    ----------
    problem
        Its matrix and names are written.
    path
        Of the file.

    Examples
    --------
    >>> import tempfile
    >>> from multiduel.problems import read_csv, synthetic, write_csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_csv(synthetic(5), f"{folder}/five.csv")
    ...     read_csv(f"{folder}/five.csv").n_arms
    5
    """
    write_table(problem.names, problem.matrix, path)


def write_table(names: Sequence[str], rows: Floats, path: str | os.PathLike[str]) -> None:
    """A line of names, which no spreadsheet takes for formulas, then one line per row, every number to its last bit."""
    with whole_file(path) as draft, open(draft, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([harmless(name) for name in names])
        writer.writerows([repr(value) for value in row] for row in rows.tolist())
