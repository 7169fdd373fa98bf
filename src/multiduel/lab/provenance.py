"""Where results come from: parameters, seed, versions, and a hash of the code that decides the numbers."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
from typing import Any

import multiduel
from multiduel.engine.registry.fingerprints import modules_behind
from multiduel.engine.simulation import runs
from multiduel.kernels.compiler.sources import code_hash
from multiduel.lab.experiment import Experiment

PACKAGES = ("numpy", "numba", "scipy", "pyarrow")
SHOWN_ONLY = ("title", "short", "label", "rival", "regret")  # fields that decide how results look, not what they are
FREE = ("runs", "name", "checkpoints", "spacing", "horizons")  # of an experiment: these may change, nothing is lost
GROWING = (*FREE, "contenders", "slate_size", "horizon")  # what one contender's runs, as far as they go, do not depend on
WHERE = ("source", "anytime", "cite")  # where a policy lies, and what its card says: the hash of its code stands for it


def code_digest(*policies: str) -> str:
    """A hash of the code that decides these policies' numbers: how runs are played, the policies, and their machines."""
    return code_hash(runs.__name__, *modules_behind(*policies))


def provenance(experiment: Experiment, problem: dict[str, Any]) -> dict[str, Any]:
    """Where the numbers come from. The fingerprint stands for all that decides them."""
    facts: dict[str, Any] = {
        "parameters": _parameters(experiment, problem),
        "seed": experiment.seed,
        "version": multiduel.__version__,
        "code": code_digest(*sorted({contender.policy for contender in experiment.contenders})),
    }
    return {
        **facts,
        "fingerprint": _digest(facts),
        "lines": _lines(experiment, facts["parameters"]),
        "packages": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
    }


def _lines(experiment: Experiment, parameters: dict[str, Any]) -> dict[str, str]:
    """For each contender a fingerprint of all that decides its runs: not how many there are, nor who else plays."""
    shared = {name: value for name, value in parameters.items() if name not in GROWING}
    codes = {policy: code_digest(policy) for policy in {contender.policy for contender in experiment.contenders}}
    lines = {}
    for contender, own in zip(experiment.contenders, parameters["contenders"], strict=True):
        own = {**own, "runs": None, "slate_size": experiment.slate_size_of(contender)}
        lines[contender.id] = _digest([shared, own, multiduel.__version__, codes[contender.policy]])
    return lines


def grows(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Is the new experiment the old one, perhaps with other runs and checkpoints, more contenders, a later end?"""
    before, after = old.get("lines") or {}, new["lines"]
    longer = old["parameters"]["horizon"] <= new["parameters"]["horizon"]
    return bool(before) and longer and all(after.get(id) == line for id, line in before.items())


def belongs(origin: dict[str, Any], experiment: Experiment, problem: dict[str, Any]) -> bool:
    """Is this the provenance of this experiment, with the fingerprint of what it says? The code may be another one's."""
    facts = {name: origin.get(name) for name in ("parameters", "seed", "version", "code")}
    same = facts["parameters"] == _parameters(experiment, problem) and facts["seed"] == experiment.seed
    return same and origin["fingerprint"] == _digest(facts)


def _parameters(experiment: Experiment, problem: dict[str, Any]) -> dict[str, Any]:
    parameters = _what_decides(experiment.to_json())
    parameters["contenders"] = [_what_decides(contender) for contender in parameters["contenders"]]
    parameters["problem"] = {"label": problem["label"], "matrix": identity(problem)}
    as_read_back: dict[str, Any] = json.loads(json.dumps(parameters))
    return as_read_back


def identity(problem: dict[str, Any]) -> str | None:
    """The hash of a problem: of its matrix, or, where rounds differ, of its table of features and all that decides answers."""
    return problem.get("matrix_sha256") or problem.get("problem_sha256")


def _what_decides(table: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in (*SHOWN_ONLY, *WHERE)}


def difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """The first thing in which two provenances differ, in words."""
    for name, value in new["parameters"].items():
        before = old["parameters"].get(name)
        if before == value or name in FREE or (name == "horizon" and before is not None and before < value):
            continue
        if name == "contenders":
            pairs = enumerate(zip(before or [], value, strict=False), 1)
            changed = next((f"contender {n} was {a}, now it is {b}" for n, (a, b) in pairs if a != b), None)
            return changed or f"there were {len(before or [])} contenders, now there are {len(value)}"
        return f"'{name}' was {before}, now it is {value}"
    if old.get("version") != new["version"]:
        return f"they are of multiduel {old.get('version')}, this is {new['version']}"
    return "they are of another state of multiduel's code"


def _digest(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
