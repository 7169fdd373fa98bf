"""Learning-to-rank files: svmlight lines with query ids, as LETOR, MSLR-WEB, Yahoo and Istella come.

    2 qid:WT04-182 1:0.03 2:0.75 5:1 # docid = G00-43-3417672

A line is a document: its grade, its query, its features (those left out are 0), and a comment that may name it. The
lines of a query stand together. Files may be gzip'd. scikit-learn's reader knows neither query ids that are words nor
the number of a bad line, and it reads whole files where rankings need one query at a time; so this is a reader of its
own.
"""

from __future__ import annotations

import gzip
import itertools
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

import numpy as np

from multiduel.files import readable_name
from multiduel.inputs import BadInput, shortened
from multiduel.rankers.corpus import Query

MOST_DOCUMENTS = 32767  # per query: positions are 16-bit numbers
MOST_FEATURES = 1_000_000
MOST_GRADES = 1000
NARROW = 1024  # numbers up to this are columns of their own, whether they occur or not
_DOCID = re.compile(r"\bdocid\s*=\s*(\S+)")


class _Line(NamedTuple):
    grade: int
    query: str
    features: dict[int, float] | list[float]  # by number, or from feature 1 on
    document: str


def read_letor(*paths: str | os.PathLike[str]) -> Iterator[Query]:
    """Read the queries of learning-to-rank files, one by one, in order.

    Parameters
    ----------
    *paths
        The files.

    Returns
    -------
    iterator of Query
        One by one.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.svm"
    >>> _ = file.write_text("2 qid:cats 1:0.5 2:1 # docid = a\\n0 qid:cats 2:3 # docid = b\\n1 qid:dogs 1:7\\n")
    >>> [(query.id, query.grades.tolist(), query.documents) for query in read_letor(file)]
    [('cats', [2, 0], ('a', 'b')), ('dogs', [1], ('1',))]
    """
    if not paths:
        raise BadInput("At least one learning-to-rank file is needed. Got none.")
    home: dict[str, str] = {}  # where each query was met
    for path in paths:
        met = False
        group: list[_Line] = []
        for number, text in open_lines(path):
            line = _parse(text, f"'{path}', line {number}")
            if line is None:
                continue
            met = True
            if group and group[0].query != line.query:
                yield _query(group)
                group = []
            if not group:
                if line.query in home:
                    raise BadInput(
                        f"'{path}', line {number}: the documents of a query must stand together. "
                        f"Query '{line.query}' began at {home[line.query]} already."
                    )
                home[line.query] = f"'{path}', line {number},"
            group.append(line)
            if len(group) > MOST_DOCUMENTS:
                raise BadInput(
                    f"'{path}', line {number}: a query may have at most {MOST_DOCUMENTS} documents. '{line.query}' has more."
                )
        if not met:
            raise BadInput(f"'{path}' must hold a line per document. Got none.")
        yield _query(group)


def open_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """The lines of a text file, gzip'd or not, numbered from 1."""
    number = 0
    try:
        with open(readable_name(path), "rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            file: IO[bytes] = gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[assignment]
            for number, line in enumerate(file, 1):
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
    except FileNotFoundError:
        raise BadInput(f"'{path}' must be a file that exists. Got no such file.") from None
    except UnicodeDecodeError:
        raise BadInput(f"'{path}', line {number}: must be UTF-8 text. Got other bytes.") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise BadInput(f"'{path}': the gzip data is broken after line {number}.") from None
    except OSError as error:
        raise BadInput(f"'{path}' cannot be read: {error.strerror}.") from None


def _parse(text: str, where: str) -> _Line | None:
    body, _, comment = text.partition("#")
    words = body.split()
    if not words:
        return None
    try:
        value = float(words[0])
        grade = int(value)
        if value != grade or not 0 <= grade < MOST_GRADES:
            raise ValueError
    except (ValueError, OverflowError):
        raise BadInput(f"{where}: the grade must be a whole number from 0 to {MOST_GRADES - 1}. Got '{words[0]}'.") from None
    if len(words) < 2 or not words[1].startswith("qid:") or len(words[1]) == 4:
        got = f"'{words[1]}'" if len(words) > 1 else "nothing"
        raise BadInput(f"{where}: the query must follow the grade, as in 'qid:17'. Got {got}.")
    named = _DOCID.search(comment)
    return _Line(grade, words[1][4:], _features(words[2:], where), named.group(1) if named else "")


def _features(words: list[str], where: str) -> dict[int, float] | list[float]:
    # Nearly every line has features 1, 2, 3, ... in order: the fast way. Whatever else comes is looked at word by word.
    try:
        numbers = list(map(float, ":".join(words).split(":")))
        paired = len(numbers) == 2 * len(words) and all(":" in word for word in words)  # so each has one colon
        if paired and numbers[::2] == list(range(1, len(words) + 1)) and math.isfinite(sum(numbers)):
            return numbers[1::2]
    except ValueError:
        pass
    values: dict[int, float] = {}
    for word in words:
        name, colon, value = word.partition(":")
        if not colon or not name.isdecimal() or len(name) > 9 or not 1 <= int(name) <= MOST_FEATURES:
            raise BadInput(
                f"{where}: a feature must look like '3:0.25', numbered from 1 to {MOST_FEATURES}. Got {shortened(word)}."
            )
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise BadInput(f"{where}: a feature's value must be a finite number. Got '{word}'.")
        if int(name) in values:
            raise BadInput(f"{where}: a feature must come once. Got feature {int(name)} twice.")
        values[int(name)] = number
    return values


def _query(group: list[_Line]) -> Query:
    width = max(len(f) if isinstance(f, list) else max(f, default=0) for f in (line.features for line in group))
    numbers = None
    if width > NARROW:  # a column per feature that occurs, if few do; else a column per number
        present: set[int] = set().union(*(_numbers(line) for line in group))
        numbers = np.array(sorted(present)) if 2 * len(present) < width else None
    column = dict(zip(numbers.tolist(), itertools.count(), strict=False)) if numbers is not None else None
    features = np.zeros((len(group), width if numbers is None else len(numbers)))
    for row, line in zip(features, group, strict=True):
        if isinstance(line.features, list):
            row[: len(line.features)] = line.features  # 1, 2, 3, ... come first in either case
        else:
            for feature, value in line.features.items():
                row[feature - 1 if column is None else column[feature]] = value
    names = tuple(line.document or str(d) for d, line in enumerate(group, 1))
    return Query(group[0].query, np.array([line.grade for line in group]), features, names, numbers)


def _numbers(line: _Line) -> Iterable[int]:
    return range(1, len(line.features) + 1) if isinstance(line.features, list) else line.features.keys()


def each(queries: Iterable[Query]) -> Iterator[Query]:
    """Queries from any iterable, checked as the files' are."""
    for query in queries:
        D = len(query.grades)
        if D == 0 or D > MOST_DOCUMENTS or len(query.features) != D or len(query.documents) != D:
            raise BadInput(
                f"Query '{query.id}' must have 1 to {MOST_DOCUMENTS} documents, each with a grade, features and "
                f"a name. Got {D} grades, {len(query.features)} rows of features, {len(query.documents)} names."
            )
        numbers = query.columns()
        if len(numbers) != query.features.shape[1] or (np.diff(numbers) <= 0).any() or (numbers < 1).any():
            raise BadInput(f"Query '{query.id}' must number its {query.features.shape[1]} features from 1, ascending.")
        yield query
