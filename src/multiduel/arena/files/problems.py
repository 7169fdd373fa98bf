"""An arena's votes as a problem for the lab and for theory: estimate it, and write it to a file."""

from __future__ import annotations

import json
import os

import numpy as np

from multiduel.arena.domain.state import State
from multiduel.engine.registry.estimates import estimate
from multiduel.files import write_whole
from multiduel.inference import Tally
from multiduel.inputs import BadInput
from multiduel.problems import EstimatedProblem
from multiduel.problems.files import write_csv


def problem_of(state: State) -> EstimatedProblem:
    """Who is placed above whom, and how often, among the options that are there: with intervals that hold together."""
    here = np.array(state.present)
    square = np.ix_(here, here)
    tally = state.tally
    part = Tally.of(
        tally.above[square], tally.ties[square], answers=tally.answers, showings=tally.showings[here], unit=tally.unit
    )
    names = [state.options[k].name for k in here]
    return estimate(part, alpha=state.settings.alpha, names=names, label=f"{state.name}, {tally.answers} answers")


def write_problem(problem: EstimatedProblem, path: str | os.PathLike[str]) -> None:
    """As CSV, which ``multiduel problem`` and the lab read, or as JSON with the intervals."""
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix == ".csv":
        write_csv(problem, path)
    elif suffix == ".json":
        write_whole(path, json.dumps(problem.to_json(), ensure_ascii=False, indent=1))
    else:
        raise BadInput(f"A problem is written to a .csv or .json file. Got '{path}'.")
