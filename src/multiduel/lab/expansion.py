"""A list where a value stands is a sweep, labelled by what varies: of a contender it makes several contenders, of the experiment
or its problem it makes several experiments."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from multiduel.inputs import BadInput

MOST = 1000  # contenders, or experiments, of one sweep
WORDS = {"slate_size": "m", "arms": "K"}  # as the values are called in labels


def swept(entry: Any) -> list[Any]:
    """The contenders that a table with lists among its ``params``, or as its ``slate_size``, stands for.

    >>> [(each["id"], each["label"]) for each in swept({"policy": "rucb", "params": {"alpha": [0.51, 1]}})]
    [('rucb-alpha-0-51', 'rucb, alpha = 0.51'), ('rucb-alpha-1', 'rucb, alpha = 1')]
    """
    if not isinstance(entry, dict):
        return [entry]
    params = entry.get("params")
    lists: dict[str, list[Any]] = {}
    if isinstance(entry.get("slate_size"), list):
        lists["slate_size"] = entry["slate_size"]
    if isinstance(params, dict):
        lists |= {name: values for name, values in params.items() if isinstance(values, list)}
    if not lists:
        return [entry]
    contenders = []
    for chosen in _products(lists, "a contender"):
        own = {name: value for name, value in chosen.items() if name != "slate_size"}
        words = [_word(name, value) for name, value in chosen.items()]
        id = "-".join([str(entry.get("id") or _name(entry)), *(kebab(word) for word in words)])
        label = ", ".join([str(entry.get("label") or entry.get("id") or _name(entry)), *words])
        new = {**entry, "id": id, "label": label} | ({"slate_size": chosen["slate_size"]} if "slate_size" in chosen else {})
        contenders.append(new | ({"params": {**params, **own}} if isinstance(params, dict) else {}))
    return contenders


def members(table: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The experiments that a table with several ``problems``, or with lists in its problem or as its ``slate_size``, stands for:
    what varies, in words, and the table of each. Without such lists it is the table itself, and no words.

    >>> [(words, each["slate_size"]) for words, each in members({"slate_size": [2, 4], "problem": {"kind": "cyclic"}})]
    [('m = 2', 2), ('m = 4', 4)]
    """
    if "problem" in table and "problems" in table:
        raise BadInput("an experiment has a [problem] or several [[problems]]. Got both.")
    entries = table.get("problems", [table.get("problem")])
    if not isinstance(entries, list) or not entries:
        raise BadInput("'problems' must be at least one [[problems]] table.")
    problems = [problem for entry in entries for problem in _problems(entry)]
    sizes = table["slate_size"] if isinstance(table.get("slate_size"), list) else None
    if sizes is not None:
        _products({"slate_size": sizes}, "an experiment")
    named = zip(_said(problems), problems, strict=True)
    found = []
    for (problem_words, problem), size in itertools.product(named, sizes or [None]):
        said = [word for word in (problem_words, _word("slate_size", size) if len(sizes or ()) > 1 else "") if word]
        own = {name: value for name, value in table.items() if name != "problems"}
        own |= {} if problem is None else {"problem": {name: value for name, value in problem.items() if name != "label"}}
        found.append((", ".join(said), own | ({} if size is None else {"slate_size": size})))
    names = [kebab(words) for words, _ in found]
    for words, _ in found:
        if len(found) > 1 and (names.count(kebab(words)) > 1 or not kebab(words)):
            raise BadInput(f"problems of a sweep must differ, or have a 'label' of their own. Got '{words}' more than once.")
    if len(found) > MOST:
        raise BadInput(f"a sweep must be of at most {MOST} experiments. Got {len(found)}.")
    return found


def _problems(entry: Any) -> list[Any]:
    """A problem's table for each of the values in its lists."""
    lists = {name: values for name, values in entry.items() if isinstance(values, list)} if isinstance(entry, dict) else {}
    if not lists:
        return [entry]
    label = entry.get("label")
    several = []
    for chosen in _products(lists, "a problem"):
        words = ", ".join([str(label), *(_word(name, value) for name, value in chosen.items())])
        several.append({**entry, **chosen} | ({"label": words} if label else {}))
    return several


def _said(problems: Sequence[Any]) -> list[str]:
    """What each of several problems is called: its label, or its kind if kinds differ, and what else differs."""
    tables = [problem if isinstance(problem, dict) else {} for problem in problems]
    names = dict.fromkeys(name for table in tables for name in table if name != "label")
    differing = [name for name in names if any(table.get(name) != tables[0].get(name) for table in tables)]
    if len(tables) == 1:
        return [""]
    return [
        str(table.get("label") or ", ".join(_word(name, table[name]) for name in differing if name in table)) for table in tables
    ]


def _word(name: str, value: Any) -> str:
    if name == "kind":
        return str(value)
    if name == "file":
        return Path(str(value)).stem
    return f"{value} link" if name == "link" else f"{WORDS.get(name, name)} = {value}"


def _products(lists: dict[str, list[Any]], whose: str) -> list[dict[str, Any]]:
    for name, values in lists.items():
        if not values or math.prod(map(len, lists.values())) > MOST:
            raise BadInput(f"'{name}' of {whose} must be a value, or a list of 1 to {MOST} of them in all. Got {len(values)}.")
    return [dict(zip(lists, picked, strict=True)) for picked in itertools.product(*lists.values())]


def _name(entry: dict[str, Any]) -> str:
    """Of a policy that is named by its file: the file's."""
    return kebab(re.sub(r"(\.py)?(:\w+)?$", "", str(entry.get("policy", ""))).rpartition("/")[2])


def kebab(text: str) -> str:
    """What can name a file.

    >>> kebab("K = 16, natural link, gap = -0.1")
    'k-16-natural-link-gap-minus-0-1'
    """
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"(?<![a-z0-9])-(?=[\d.])", "minus ", text.lower())).strip("-")
