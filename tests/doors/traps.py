"""Code that leaves a mark when it is run, under every kind of name that could lead to it; and ways to plant a name in data."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from multiduel.engine.registry import plugins, registry

CODE = """
with open({marker!r}, "a") as file:
    file.write({name!r})
raise ImportError("this file was run")
"""
POINT = "trap-point"  # of an installed package
NAMES = ("trap_file.py:SPEC", "trap_file.py", "trap_module:SPEC", POINT)
KINDS = (NAMES[0], POINT)  # one of each, where there are thousands of places to plant one: an address, and an installed policy


class Traps:
    """A file, an importable module and an installed package's entry point in ``folder``, which is where we are."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.marker = folder, folder / "marker.txt"
        for name in ("trap_file", "trap_module", "trap_offered"):
            (folder / f"{name}.py").write_text(CODE.format(marker=str(self.marker), name=name))
        about = folder / "trap-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: trap\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[multiduel.policies]\n{POINT} = trap_offered:SPEC\n")

    def sprung(self) -> bool:
        """Was any of the code run since this was last asked?"""
        ran = self.marker.exists()
        self.marker.unlink(missing_ok=True)
        registry._installed.cache_clear()
        for name in [name for name in sys.modules if name.startswith(("trap_", f"{plugins.PREFIX}trap"))]:
            del sys.modules[name]
        return ran


def planted(value: Any, name: str, *, keys: bool = True) -> Iterator[Any]:
    """Copies of JSON, with the name in the place of one text each: every text and every key in turn; then of all texts."""
    for path in _texts(value):
        if keys or path[-1][0] == "value":
            yield _replaced(value, path, name)
    whole = copy.deepcopy(value)
    for path in _texts(value):
        if path[-1][0] == "value":
            whole = _replaced(whole, path, name)
    yield whole


def grafted(base: Any, full: Any, name: str) -> Iterator[Any]:
    """Copies of ``base``, which holds the least that must be given, each with the name in one place where ``full`` has text."""
    for path in _texts(full):
        if path[-1][0] == "value":
            yield _graft(base, full, path, name)


def _graft(base: Any, full: Any, path: Path_, name: str) -> Any:
    (what, key), rest = path[0], path[1:]
    if what == "value":
        return name
    if isinstance(full, dict):
        there = base if isinstance(base, dict) else {}
        return {**there, key: _graft(there.get(key), full[key], rest, name)}
    there = base if isinstance(base, list) and len(base) > key else full
    return [_graft(one, full[key], rest, name) if place == key else one for place, one in enumerate(there)]


Path_ = tuple[tuple[str, Any], ...]  # of keys, and at its end what is replaced: a value or a key


def _texts(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    if isinstance(value, str):
        yield (*path, ("value", None))
    elif isinstance(value, dict):
        for key, one in value.items():
            yield (*path, ("key", key))
            yield from _texts(one, (*path, ("at", key)))
    elif isinstance(value, list | tuple):
        for place, one in enumerate(value):
            yield from _texts(one, (*path, ("at", place)))


def _replaced(value: Any, path: Path_, name: str) -> Any:
    (what, key), rest = path[0], path[1:]
    if what == "value":
        return name
    if what == "key":
        return {name if one == key else one: inner for one, inner in value.items()}
    if isinstance(value, dict):
        return {one: _replaced(inner, rest, name) if one == key else inner for one, inner in value.items()}
    return [_replaced(inner, rest, name) if place == key else inner for place, inner in enumerate(value)]
