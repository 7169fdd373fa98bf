"""Votes of a log of impressions and clicks: which ranker of a page beat which, by the page's own method."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from multiduel.inference.votes import Votes
from multiduel.inputs import BadInput
from multiduel.votes.assembling import Reading, counted, reading
from multiduel.votes.open_files import GZIP, first_bytes


def is_ranker_log(record: dict[str, Any]) -> bool:
    """Is this a line of a log of impressions?"""
    return record.get("kind") in ("impression", "click", "more") and "id" in record and "time" in record


def read_ranker_log(path: str | os.PathLike[str]) -> Reading:
    """Votes of a log: the rater is the user, the case the query.

    A page whose method credits fractions of a win becomes several answers that count in parts, as ``rankers.analyse`` counts.
    A page that judges nothing is left out.
    """
    from multiduel.rankers.judgements import read_judgements
    from multiduel.rankers.log import CLICK, Log

    if first_bytes(path, 2) == GZIP:
        raise BadInput(f"'{path}' must be a log that is not packed: unpack it with gunzip.")
    found = read_judgements(Log(path))
    rankers = found.rankers.names
    if len(rankers) < 2:
        raise BadInput(f"'{path}' must hold pages of at least two rankers. Got {len(rankers)}.")
    queries = [page.query for page in Log(path).pages()]
    sizes, first = found.sizes, found.arm_start
    page = np.repeat(np.arange(found.pages), np.diff(found.pair_start))
    pairs = [np.triu_indices(n, 1) for n in range(int(sizes.max()) + 1)]
    a, b = (np.concatenate([pairs[n][side] for n in sizes.tolist()]) for side in (0, 1))
    i, j, won = found.arms[first[page] + a], found.arms[first[page] + b], found.won[CLICK].astype(np.float64)
    apart = 2.0 * won - 1.0
    decided, level = np.round(np.abs(apart), 6), np.round(1.0 - np.abs(apart), 6)  # parts are kept with seven digits
    parts: list[tuple[Any, ...]] = []  # page, i, j, outcome, weight
    for weight, outcome in ((decided, np.sign(apart).astype(np.int8)), (level, np.zeros(len(i), np.int8))):
        some = weight > 0.0
        parts.append((page[some], i[some], j[some], outcome[some], weight[some]))
    known = found.users.names
    users = [f"user {known[number]}" if number >= 0 else f"page {at}" for at, number in enumerate(found.user.tolist())]
    return _votes(path, rankers, parts, users, found.time, queries)


def _votes(
    path: Any, rankers: list[str], parts: list[tuple[Any, ...]], users: list[str], times: Any, queries: list[str | None]
) -> Reading:
    table: list[Any] = [np.concatenate([part[k] for part in parts]) for k in range(5)]
    order = np.lexsort((table[4], table[0]))
    page, i, j, outcome, weight = (column[order] for column in table)
    new = np.ones(len(page), bool)
    new[1:] = (page[1:] != page[:-1]) | (weight[1:] != weight[:-1])
    starts = np.append(np.flatnonzero(new), len(page))
    of = page[starts[:-1]]
    names, who = np.unique(np.array(users, object)[of].astype(str), return_inverse=True)
    asked = [queries[k] for k in of.tolist()]
    cases = sorted({query for query in asked if query is not None}) if all(query is not None for query in asked) else []
    whole = bool((weight == 1.0).all())
    numbers = {query: k for k, query in enumerate(cases)}
    votes = Votes.of(
        rankers,
        first=i,
        second=j,
        outcome=outcome,
        starts=starts if len(of) else None,
        counts=None if whole else weight[starts[:-1]],
        rater=who,
        raters=names.tolist(),
        case=np.array([numbers[query] for query in asked], np.int32) if cases else None,
        cases=cases,
        time=times[of],
    )
    left = len(users) - len(np.unique(of))
    return reading(votes, "ranker log", "", [f"{counted(left, 'page')} that judge nothing left out" if left else ""])
