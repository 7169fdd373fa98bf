"""A list where a value stands: one contender for each, labelled by what varies."""

from __future__ import annotations

import itertools
import re
from typing import Any

from multiduel.inputs import BadInput

MOST = 1000  # contenders of one sweep


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
    count = 1
    for name, values in lists.items():
        count *= len(values)
        if not values or count > MOST:
            raise BadInput(
                f"'{name}' of a contender must be a value, or a list of 1 to {MOST} of them in all. Got {len(values)}."
            )
    contenders = []
    for picked in itertools.product(*lists.values()):
        chosen = dict(zip(lists, picked, strict=True))
        own = {name: value for name, value in chosen.items() if name != "slate_size"}
        words = [f"{'m' if name == 'slate_size' else name} = {value}" for name, value in chosen.items()]
        id = "-".join([str(entry.get("id") or _name(entry)), *(_kebab(word) for word in words)])
        label = ", ".join([str(entry.get("label") or entry.get("id") or _name(entry)), *words])
        new = {**entry, "id": id, "label": label} | ({"slate_size": chosen["slate_size"]} if "slate_size" in chosen else {})
        contenders.append(new | ({"params": {**params, **own}} if isinstance(params, dict) else {}))
    return contenders


def _name(entry: dict[str, Any]) -> str:
    """Of a policy that is named by its file: the file's."""
    return _kebab(re.sub(r"(\.py)?(:\w+)?$", "", str(entry.get("policy", ""))).rpartition("/")[2])


def _kebab(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
