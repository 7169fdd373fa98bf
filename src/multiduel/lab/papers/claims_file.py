"""What a paper claims, as a file: ``claims.toml`` in a folder whose other TOML files are the paper's panels.

title = "..."                 the paper, in words
cite = "komiyama2015"         its key in policies/citations.py; may be missing
source = "..."                where instances and parameters come from, and what is ours
missing = ["..."]             instances of the paper that cannot be had, and why

[[claims]]
statement = "RMED1 has less regret than RUCB."
less = "rmed1"                a contender of the panels, by its id
than = ["rucb"]
panels = ["cyclic"]           only there; everywhere if missing
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multiduel.files import read_text
from multiduel.inputs import BadInput, did_you_mean, shortened
from multiduel.lab import experiment as experiments
from multiduel.lab.experiment import Experiment

FOLDER = Path(__file__).parent
CLAIMS = "claims.toml"


@dataclass(frozen=True)
class Statement:
    """A claim: ``less`` has less mean regret than each of ``than``, in each of ``panels``."""

    statement: str
    less: str
    than: tuple[str, ...]
    panels: tuple[str, ...]


@dataclass(frozen=True)
class Paper:
    """A paper's panels and claims."""

    name: str
    title: str
    cite: str
    source: str
    missing: tuple[str, ...]
    panels: tuple[Experiment, ...]
    claims: tuple[Statement, ...]


def shipped() -> dict[str, Path]:
    """The folders by name."""
    return {path.parent.name: path.parent for path in sorted(FOLDER.glob(f"*/{CLAIMS}"))}


def load(name: str) -> Paper:
    """Read a paper that ships, or a folder of one's own."""
    folder = shipped().get(name, Path(name))
    if not (folder / CLAIMS).is_file():
        known = shipped()
        raise BadInput(
            f"A paper must be {', '.join(known)}, or a folder with '{CLAIMS}'. Got {shortened(name)}.{did_you_mean(name, known)}"
        )
    where = folder / CLAIMS
    try:
        facts = tomllib.loads(read_text(where))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"'{where}' must be TOML: {error}.") from None
    files = sorted(path for path in folder.glob("*.toml") if path.name != CLAIMS)
    panels = tuple(experiments.load(path) for path in files)
    if not panels:
        raise BadInput(f"'{folder}' must hold a TOML file for each panel. Got '{CLAIMS}' only.")
    claims = tuple(_statement(where, number, entry, panels) for number, entry in enumerate(_list(where, facts, "claims"), 1))
    if not claims:
        raise BadInput(f"'{where}' must have at least one [[claims]]. Got none.")
    missing = tuple(_text(where, {"missing": each}, "missing") for each in _list(where, facts, "missing"))
    texts = {key: _text(where, facts, key, key in ("cite", "source")) for key in ("title", "cite", "source")}
    return Paper(folder.resolve().name, **texts, missing=missing, panels=panels, claims=claims)


def _statement(where: Path, number: int, entry: Any, panels: tuple[Experiment, ...]) -> Statement:
    """One entry of [[claims]]; what it names must be in the panels."""
    of = f"claim {number} of '{where}'"
    if not isinstance(entry, dict) or set(entry) - {"statement", "less", "than", "panels"}:
        raise BadInput(f"{of[0].upper()}{of[1:]} takes 'statement', 'less', 'than' and 'panels'. Got {shortened(entry)}.")
    known = {panel.name: {contender.id for contender in panel.contenders} for panel in panels}
    names = tuple(_text(where, {"panels": each}, "panels") for each in _list(where, entry, "panels")) or tuple(known)
    for name in names:
        if name not in known:
            raise BadInput(f"'panels' of {of} must be of {', '.join(known)}. Got {shortened(name)}.{did_you_mean(name, known)}")
    less = _text(where, entry, "less")
    than = tuple(_text(where, {"than": each}, "than") for each in _list(where, entry, "than"))
    for id in (less, *than):
        for name in names:
            if id not in known[name]:
                raise BadInput(f"{of[0].upper()}{of[1:]} names '{id}', which is no contender of '{name}'.")
    if not than:
        raise BadInput(f"'than' of {of} must name at least one contender. Got none.")
    return Statement(_text(where, entry, "statement"), less, than, names)


def _list(where: Path, facts: Mapping[str, Any], key: str) -> list[Any]:
    value = facts.get(key, [])
    if not isinstance(value, list):
        raise BadInput(f"'{key}' in '{where}' must be a list. Got {shortened(value)}.")
    return value


def _text(where: Path, facts: Mapping[str, Any], key: str, may_miss: bool = False) -> str:
    value = facts.get(key, "" if may_miss else None)
    if not isinstance(value, str) or not (value or may_miss):
        raise BadInput(f"'{key}' in '{where}' must be text. Got {shortened(value)}.")
    return value
