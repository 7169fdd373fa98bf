"""A query with its documents, and a made-up collection of them."""

from __future__ import annotations

import gzip
import io
import math
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.files import whole_file
from multiduel.inputs import MOST_SEED, whole


class Query(NamedTuple):
    """The judged documents of one query.

    >>> query = next(generate(queries=1, documents=4, features=2))
    >>> query.id, query.features.shape[1], query.columns().tolist()
    ('1', 2, [1, 2])
    """

    id: str
    grades: Ints  # i8[D]     relevance, from 0
    features: Floats  # f8[D, F]
    documents: tuple[str, ...]  # names; without any in the file, the document's number within the query, from 1
    numbers: Ints | None = None  # i8[F]  the feature of each column, ascending; None: 1, 2, 3, ...

    def columns(self) -> Ints:
        """Numbers of the features, one per column."""
        return np.arange(1, self.features.shape[1] + 1) if self.numbers is None else self.numbers


def generate(*, queries: int = 100, documents: int = 30, features: int = 12, grades: int = 5, seed: int = 0) -> Iterator[Query]:
    """Make up learning-to-rank data: most documents are irrelevant; feature 1 is the best ranker, the last the worst.

    A document's grade is a quarter as frequent for each step up. Feature f is the grade plus normal noise, whose
    spread grows from 1 (f = 1) to 12 times the range of grades, so that the features' quality falls smoothly towards
    none. Query k is the same for any number of queries.

    Parameters
    ----------
    queries, documents, features, grades
        How many: documents are per query, on average.
    seed
        Of the draw.

    Returns
    -------
    iterator of Query
        One by one.

    Examples
    --------
    >>> [query.id for query in generate(queries=3, documents=4)]
    ['1', '2', '3']
    """
    of = "generate"
    queries, documents = whole("queries", queries, 1, 10_000_000, of=of), whole("documents", documents, 1, 10_000, of=of)
    features, grades = whole("features", features, 1, 10_000, of=of), whole("grades", grades, 2, 1000, of=of)
    seed = whole("seed", seed, 0, MOST_SEED, of=of)
    share = 0.25 ** np.arange(grades)
    noise = np.geomspace(0.25, 3.0, features) * (grades - 1)
    for k in range(queries):
        rng = np.random.default_rng([seed, k])
        size = max(1, int(rng.integers(math.ceil(documents / 2), 2 * documents - documents // 2 + 1)))
        grade = rng.choice(grades, size, p=share / share.sum())
        values = grade[:, None] + noise * rng.standard_normal((size, features))
        yield Query(str(k + 1), grade, values, tuple(str(d + 1) for d in range(size)))


def write_letor(queries: Iterable[Query], path: str | os.PathLike[str]) -> int:
    """Write queries as a LETOR file, which ``read_letor`` reads back bit for bit.

    Parameters
    ----------
    queries
        The judged queries.
    path
        The file; gzip'd if the name ends in .gz.

    Returns
    -------
    int
        How many documents were written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "made.svm.gz"
    >>> write_letor(generate(queries=2, documents=4), file) > 0
    True
    """
    count = 0
    with whole_file(path) as draft, open(draft, "wb") as raw:
        # no file name and no time inside: equal data, equal bytes
        packed = gzip.GzipFile("", "wb", 6, raw, mtime=0) if os.fspath(path).endswith(".gz") else raw
        with io.TextIOWrapper(packed, "utf-8", newline="\n") as file:
            for query in queries:
                numbers = query.columns().tolist()
                for grade, row, name in zip(query.grades, query.features.tolist(), query.documents, strict=True):
                    pairs = " ".join(f"{f}:{value!r}" for f, value in zip(numbers, row, strict=True))
                    file.write(f"{grade} qid:{query.id} {pairs} #docid = {name}\n")
                    count += 1
    return count
