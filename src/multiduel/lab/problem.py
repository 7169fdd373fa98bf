"""An experiment's problem as a table: which kinds there are, what each may be told, and the Problem it stands for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from multiduel import problems
from multiduel.engine.simulation import contexts
from multiduel.inputs import MOST_SEED, BadInput, choice, finite, no_others, text, truth, whole
from multiduel.problems import Problem
from multiduel.problems.problem import MOST_ARMS

AnyProblem = Problem | contexts.ContextProblem

# What each kind of problem may be told besides its kind.
KINDS: dict[str, tuple[str, ...]] = {
    **{name: ("arms", *family.options) for name, family in problems.CATALOGUE.items()},
    contexts.NAME: ("arms", "dimension", "items", "scale", "law", "seed", "link", "answers", "false_answers"),
    "csv": ("file",),  # beside the experiment
    "data": ("file", "arms"),  # in the folder of data
    "given": ("source",),  # handed to the runner by who calls it; ``source`` says what made it
}
MUST_TELL = {"csv": "file", "data": "file", "given": "source"}
DATA = "MULTIDUEL_DATA"  # the environment variable that names the folder of data


def check(table: Any) -> dict[str, Any]:
    """The table, if it describes a problem."""
    if not isinstance(table, Mapping) or "kind" not in table:
        raise BadInput(f"'problem' must be a table with a 'kind': {', '.join(KINDS)}.")
    problem = dict(table)
    kind = choice("kind", problem["kind"], KINDS)
    no_others(problem, ("kind", *KINDS[kind]), f"a problem of kind '{kind}'")
    sizes = (
        ("arms", 1, MOST_ARMS),
        ("seed", 0, MOST_SEED),
        ("dimension", 1, contexts.MOST_DIMENSION),
        ("items", 1, contexts.MOST_NUMBERS),
        ("false_answers", 0, contexts.MOST_ROUNDS),
    )
    for key, least, most in sizes:
        if key in problem:
            problem[key] = whole(key, problem[key], least, most, of="problem")
    for key in ("scale", "gap", "cycle_gap", "step", "rout"):
        if key in problem:
            problem[key] = finite(key, problem[key], of="problem")
    if "condorcet" in problem:
        truth("condorcet", problem["condorcet"])
    if "link" in problem:
        choice("link", problem["link"], contexts.LINKS if kind == contexts.NAME else problems.LINKS)
    for key, known in (("law", contexts.LAWS), ("answers", contexts.ANSWERS)):
        if key in problem:
            choice(key, problem[key], known)
    needed = MUST_TELL.get(kind)
    if needed and needed not in problem:
        raise BadInput(f"A problem of kind '{kind}' must name its '{needed}'.")
    if needed:
        text(needed, problem[needed])
    return problem


def resolve(table: Mapping[str, Any], data: Path | None = None) -> AnyProblem:
    """The problem that a checked table stands for. ``data`` is the folder of data, that of MULTIDUEL_DATA if not given."""
    options = dict(table)
    kind = options.pop("kind")
    if kind == "given":
        raise BadInput(f"A problem of kind 'given' must be handed over by who runs it. Its source: {options['source']}.")
    if kind == contexts.NAME:
        false = options.pop("false_answers", 0)
        problem = contexts.random_contexts(options.pop("arms", 10), **options)
        return problem.corrupted(false) if false else problem
    if kind == "csv":
        return problems.read_csv(options["file"])
    if kind == "data":
        return _from_data(options["file"], options.get("arms"), data)
    return problems.instance(kind, options.pop("arms", None), **options)


def data_folder(data: Path | None = None) -> Path | None:
    """The folder of data: this one, or that of MULTIDUEL_DATA; None if there is neither."""
    return data or (Path(os.environ[DATA]) if os.environ.get(DATA) else None)


def _from_data(file: str, arms: int | None, data: Path | None) -> Problem:
    folder = data_folder(data)
    if folder is None:
        raise BadInput(f"'{file}' must be in a folder of data, named by --data or by {DATA}. Got neither.")
    problem = problems.read_csv(folder / file)
    if arms not in (None, problem.n_arms):
        raise BadInput(f"'arms' of the problem must be {problem.n_arms}, as many as '{file}' has. Got {arms}.")
    return problem
