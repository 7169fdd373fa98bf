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
    from multiduel.rankers.judging import Rankers, judged
    from multiduel.rankers.log import Log

    if first_bytes(path, 2) == GZIP:
        raise BadInput(f"'{path}' must be a log that is not packed: unpack it with gunzip.")
    rankers = Rankers()
    queries: list[str | None] = []

    def noting() -> Any:
        for page in Log(path).pages():
            queries.append(page.query)
            yield page

    parts: list[tuple[Any, ...]] = []  # page, i, j, outcome, weight
    users: list[str] = []
    times: list[Any] = []
    before = 0
    for portion in judged(noting(), rankers, ties="half"):
        arms, wins = portion.arms, portion.wins
        a, b = np.triu_indices(arms.shape[1], 1)
        page = np.repeat(np.arange(before, before + len(arms)), len(a))
        i, j, won, lost = arms[:, a].ravel(), arms[:, b].ravel(), wins[:, a, b].ravel(), wins[:, b, a].ravel()
        said = (i >= 0) & (j >= 0) & (won + lost > 0.0)
        page, i, j, won, lost = page[said], i[said], j[said], won[said], lost[said]
        apart, total = won - lost, won + lost
        decided, level = np.round(np.abs(apart) / total, 9), np.round(2.0 * np.minimum(won, lost) / total, 9)
        for weight, outcome in ((decided, np.sign(apart).astype(np.int8)), (level, np.zeros(len(i), np.int8))):
            some = weight > 0.0
            parts.append((page[some], i[some], j[some], outcome[some], weight[some]))
        users += portion.users
        times.append(portion.times)
        before += len(arms)
    if len(rankers.names) < 2 or not parts:
        raise BadInput(f"'{path}' must hold pages of at least two rankers. Got {len(rankers.names)}.")
    return _votes(path, rankers.names, parts, users, np.concatenate(times), queries)


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
