"""Style of what was shown: length, headings and lists of each option's contents, as covariates of the votes on them."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from multiduel.arrays import Floats
from multiduel.inference.votes import Votes
from multiduel.inputs import BadInput, shortened
from multiduel.votes.open_files import PARQUET, first_bytes
from multiduel.votes.roles import NAMES, plain, some
from multiduel.votes.tables import Column, ParquetTable, Records, Table, TextTable

OPTIONS = ("option", "name", "model", "generator", "system", "player", "item")
CONTENTS = ("content", "contents", "output", "response", "result", "completion", "text", "answer")
_HEADING = re.compile(r"^ {0,3}#{1,6} ", re.M)
_ITEM = re.compile(r"^\s{0,8}(?:[-*+]|\d{1,3}[.)]) ", re.M)


def style_of(content: str) -> tuple[float, float, float]:
    """Log length, log number of headings and log number of list items of a text, each of 1 + what there is.

    >>> [round(value, 2) for value in style_of("# Tea\\n- hot\\n- wet")]
    [2.89, 0.69, 1.1]
    """
    return (
        float(np.log1p(len(content))),
        float(np.log1p(len(_HEADING.findall(content)))),
        float(np.log1p(len(_ITEM.findall(content)))),
    )


STYLES = ("log length", "headings", "lists")


def style_covariates(votes: Votes, contents: str | os.PathLike[str] | Any) -> dict[str, Floats]:
    """Measure what the first option of each compared pair has more than the second in style, for ``standings(covariates=...)``.

    Parameters
    ----------
    votes
        The votes.
    contents
        A file (CSV, JSONL, JSON, Parquet) or a list of dicts: the option, the case if contents differ by case, and the content.

    Returns
    -------
    dict
        "log length", "headings" and "lists": a number per row of the votes. What no content has is left out.

    Raises
    ------
    BadInput
        If the contents of some option (on some case) are missing.

    Examples
    --------
    >>> from multiduel import read_votes
    >>> content = {"tea": "hot", "milk": "cold!", "gin": "no"}
    >>> contents = [{"option": name, "content": text} for name, text in content.items()]
    >>> list(style_covariates(read_votes(["tea > milk", "tea > gin"]), contents))
    ['log length']
    """
    table = _table(contents)
    option, case, content = _columns(table, votes)
    cells = table.read([name for name in (option, case, content) if name is not None])
    style = _styles(votes, table, cells[option], None if case is None else cells[case], cells[content])
    cases = np.zeros(len(votes.first), np.int64)
    if case is not None and votes.case is not None:
        cases = votes.case[votes.answer_of_row].astype(np.int64)
    first, second = style[votes.first, cases], style[votes.second, cases]
    for arms, values in ((votes.first, first), (votes.second, second)):
        missing = np.isnan(values[:, 0])
        if missing.any():
            row = int(missing.argmax())
            on = f" on {shortened(votes.cases[cases[row]])}" if case is not None else ""
            who = shortened(votes.options[arms[row]])
            raise BadInput(f"{table.where()}: must hold the content of every option. There is none of {who}{on}.")
    apart = first - second
    return {name: apart[:, k] for k, name in enumerate(STYLES) if np.ptp(apart[:, k]) > 0.0}


def _table(contents: Any) -> Table:
    if isinstance(contents, str | os.PathLike):
        start = first_bytes(contents)
        if start == PARQUET:
            return ParquetTable(contents)
        return Records.of_file(contents) if start.lstrip(b"\xef\xbb\xbf \n")[:1] in (b"{", b"[") else TextTable(contents)
    if isinstance(contents, list) and contents and all(isinstance(row, dict) for row in contents):
        return Records.of_list(contents)
    raise BadInput(f"Contents are a file, or a list of dicts with option and content. Got {shortened(contents)}.")


def _columns(table: Table, votes: Votes) -> tuple[str, str | None, str]:
    """The columns of option, case and content: of those with a likely name, the first that speaks of these votes."""
    known: dict[str, str] = {}
    for name in table.names:
        known.setdefault(plain(name), name)
    content = next((known[name] for name in CONTENTS if name in known), None)
    options = [known[name] for name in OPTIONS if name in known]
    cases = [known[name] for name in NAMES["case"] if name in known] if votes.case is not None else []
    cells = table.read(dict.fromkeys([*options, *cases]))
    option = next((name for name in options if set(votes.options) & set(cells[name].values)), None)
    case = next((name for name in cases if set(votes.cases) & set(cells[name].values)), None)
    if option is None or content is None:
        wanted = "options of these votes" if option is None else "contents (content, output, response, result, text)"
        raise BadInput(f"{table.where()}: a column must hold the {wanted}. Got the columns {some(table.names)}.")
    return option, case, content


def _styles(votes: Votes, table: Table, option: Column, case: Column | None, content: Column) -> Floats:
    """f8[K, C, 3]; NaN where there is no content."""
    measured = np.array([style_of(text) for text in content.values]).reshape(-1, len(STYLES))
    number = {name: k for k, name in enumerate(votes.options)}
    which = np.array([number.get(name, -1) for name in option.values], np.int64)[option.codes]
    on = np.zeros(len(which), np.int64)
    if case is not None:
        place = {name: k for k, name in enumerate(votes.cases)}
        on = np.array([place.get(name, -1) for name in case.values], np.int64)[case.codes]
    kept = (which >= 0) & (on >= 0)
    style: Floats = np.full((len(votes.options), max(1, len(votes.cases) if case is not None else 1), len(STYLES)), np.nan)
    style[which[kept], on[kept]] = measured[content.codes[kept]]
    return style
