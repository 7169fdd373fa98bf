"""TREC's files: runs and judgements (qrels), and the same from ir_datasets and ranx. Queries without features."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from multiduel.inputs import BadInput, shortened
from multiduel.rankers.corpus import Query
from multiduel.rankers.letor import MOST_DOCUMENTS, MOST_GRADES, open_lines

Scores = dict[str, dict[str, float]]  # by query and document


def read_run(path: str | os.PathLike[str]) -> Scores:
    """Read a TREC run, lines ``query Q0 document rank score name``. The rank column is not used, as in trec_eval.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    dict
        Scores by query and document.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "run.txt"
    >>> _ = file.write_text("cats Q0 a 1 2.5 bm25\\ncats Q0 b 2 1.5 bm25\\n")
    >>> read_run(file)
    {'cats': {'a': 2.5, 'b': 1.5}}
    """
    scores = _read(path, 6, "query Q0 document rank score name", 4, "score")
    if not scores:
        raise BadInput(f"'{path}' must hold a line per retrieved document. Got none.")
    return scores


def read_qrels(path: str | os.PathLike[str]) -> Scores:
    """Read TREC judgements, lines ``query 0 document grade``.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    dict
        Grades by query and document.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = file.write_text("cats 0 a 2\\ncats 0 b 0\\n")
    >>> read_qrels(file)
    {'cats': {'a': 2.0, 'b': 0.0}}
    """
    grades = _read(path, 4, "query 0 document grade", 3, "grade")
    if not grades:
        raise BadInput(f"'{path}' must hold a line per judged document. Got none.")
    return grades


def _read(path: str | os.PathLike[str], count: int, form: str, at: int, what: str) -> Scores:
    scores: Scores = {}
    for number, text in open_lines(path):
        words = text.split()
        if not words:
            continue
        where = f"'{path}', line {number}"
        if len(words) != count:
            raise BadInput(f"{where}: must be '{form}', {count} words. Got {len(words)}.")
        query, document = words[0], words[2]
        try:
            score = float(words[at])
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise BadInput(f"{where}: the {what} must be a finite number. Got '{words[at]}'.")
        of_query = scores.setdefault(query, {})
        if document in of_query:
            raise BadInput(f"{where}: document '{document}' must come once for query '{query}'. Got it twice.")
        of_query[document] = score
    return scores


def run_scores(source: Any) -> Scores:
    """Of a run in any form: a file, a mapping, or a Run of ranx."""
    return read_run(source) if isinstance(source, str | os.PathLike) else _table(source, "A run")


def qrel_grades(source: Any) -> Scores:
    """Of judgements in any form: a file, a mapping, a dataset of ir_datasets, or Qrels of ranx."""
    if isinstance(source, str | os.PathLike):
        return read_qrels(source)
    if hasattr(source, "qrels_iter"):
        grades: Scores = {}
        for judgement in source.qrels_iter():
            grades.setdefault(str(judgement.query_id), {})[str(judgement.doc_id)] = judgement.relevance
        return grades
    return _table(source, "Judgements")


def _table(source: Any, what: str) -> Scores:
    table = source.to_dict() if hasattr(source, "to_dict") else source
    try:
        scores = {str(q): {str(d): float(score) for d, score in row.items()} for q, row in table.items()}
        good = bool(scores) and all(math.isfinite(score) for row in scores.values() for score in row.values())
    except (AttributeError, TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise BadInput(f"{what} must be a file, or finite numbers by query and document. Got {shortened(source)}.")
    return scores


def judged_queries(qrels: Any, runs: Iterable[Any] = ()) -> Iterator[Query]:
    """List the judged queries, each with the documents that were judged or that a run retrieved.

    There are no features: give ``line_up`` the runs as rankers (``run_file``).

    Parameters
    ----------
    qrels
        What ``read_qrels`` returned. Unjudged documents are of grade 0, and so are grades below.
    runs
        What ``read_run`` returned, for each run.

    Returns
    -------
    iterator of Query
        One by one.

    Examples
    --------
    >>> list(judged_queries({"q1": {"a": 2, "b": 0}}, [{"q1": {"b": 1.0, "c": 0.5}}]))[0].documents
    ('a', 'b', 'c')
    """
    retrieved = [run_scores(run) for run in runs]
    for query, grades in qrel_grades(qrels).items():
        lists: list[Mapping[str, float]] = [grades, *(run.get(query, {}) for run in retrieved)]
        documents = tuple(dict.fromkeys(document for row in lists for document in row))
        row = [max(0.0, grades.get(document, 0.0)) for document in documents]
        if len(documents) > MOST_DOCUMENTS or max(row) >= MOST_GRADES or any(grade != int(grade) for grade in row):
            raise BadInput(
                f"Query '{query}' must have at most {MOST_DOCUMENTS} documents, with whole grades below {MOST_GRADES}. "
                f"Got {len(documents)}, and grades up to {max(row):g}."
            )
        yield Query(query, np.array(row).astype(np.int64), np.zeros((len(documents), 0)), documents)
