"""Results on disk: Parquet parts that appear whole or not at all, each with where it came from.

    OUT/<experiment>/experiment.json    what was asked for, by which code: written first
                     parts/*.parquet    a contender's block of runs each
                     results.parquet    all parts in one table, once all are there

A row is one run at one checkpoint. How long a part took stands in its metadata and not among its rows, so that
results.parquet is the same file to the last byte however often the run was interrupted and wherever it was played.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import multiduel
from multiduel.arrays import Floats, Ints
from multiduel.engine.registry import find
from multiduel.engine.result import Result
from multiduel.files import whole_file
from multiduel.inputs import BadInput
from multiduel.lab.experiment import Experiment, from_json
from multiduel.problems import Problem

FORMAT = "multiduel-results-1"
MANIFEST, PARTS, MERGED = "experiment.json", "parts", "results.parquet"
KEY = b"multiduel"  # of our metadata in a Parquet file
PACKAGES = ("numpy", "numba", "scipy", "pyarrow")
ROOMS = ("kernels", "machines", "engine")  # with the policies' own files, the code that decides the numbers
SHOWN_ONLY = ("title", "label", "rival", "regret")  # fields that decide how results look, not what they are


@dataclass(frozen=True)
class Curve:
    """A contender's regret: one line of the figure."""

    label: str
    policy: str
    params: dict[str, Any]
    slate_size: int
    rival: bool
    checkpoints: Ints
    regret: Floats  # runs x checkpoints, of the experiment's kind
    recommended: Ints  # runs
    events: Ints  # runs
    seconds: float  # of all runs together, as if one after the other
    compile_seconds: float


@dataclass(frozen=True)
class Panel:
    """An experiment's results."""

    experiment: Experiment
    problem: dict[str, Any]
    curves: tuple[Curve, ...]
    provenance: dict[str, Any]


@dataclass(frozen=True)
class Block:
    """Some runs of a contender: what is played in one go and stored as one part."""

    contender: int
    first_run: int
    runs: int

    @property
    def file(self) -> str:
        return f"{self.contender:03}-runs-{self.first_run:06}-{self.first_run + self.runs - 1:06}.parquet"


@dataclass(frozen=True)
class Folder:
    """An experiment's folder of results."""

    path: Path
    experiment: Experiment
    problem: dict[str, Any]
    provenance: dict[str, Any]
    block: int  # runs per part

    @property
    def fingerprint(self) -> str:
        return str(self.provenance["fingerprint"])

    def blocks(self) -> list[Block]:
        """All there are; the first of every contender first, so that one policy compiles while others play."""
        runs = [self.experiment.runs_of(contender) for contender in self.experiment.contenders]
        return [
            Block(number, first, min(self.block, most - first))
            for first in range(0, max(runs), self.block)
            for number, most in enumerate(runs)
            if first < most
        ]

    def finished(self, block: Block) -> bool:
        """Is this part there? One that cannot be read counts as missing; one of another experiment is refused."""
        return self._facts(block) is not None

    def store(self, block: Block, result: Result) -> None:
        """Write a part."""
        import pyarrow as pa

        marks = len(result.checkpoints)
        columns = {
            "contender": np.full(block.runs * marks, block.contender, np.int16),
            "run": np.repeat(np.arange(block.first_run, block.first_run + block.runs), marks),
            "round": np.tile(result.checkpoints, block.runs),
            **{kind: values.ravel() for kind, values in result.regrets.items()},
            "recommended": np.repeat(result.recommended, marks),
            "events": np.repeat(result.events, marks),
        }
        facts = {
            **self.provenance,
            "label": self.experiment.contenders[block.contender].label,
            "policy": result.policy,
            "params": result.params,
            "seconds": result.seconds,
            "compile_seconds": result.compile_seconds,
        }
        _write(self.path / PARTS / block.file, _parquet(pa.table(columns), facts))

    def merge(self) -> Path:
        """All parts as one table with the contenders' names, sorted by contender, run and round."""
        import pyarrow as pa

        tables = [self._table(block) for block in sorted(self.blocks(), key=lambda block: block.file)]
        table = pa.concat_tables(tables)
        labels = pa.array([contender.label for contender in self.experiment.contenders])
        policies = pa.array([contender.policy for contender in self.experiment.contenders])
        of = table["contender"].combine_chunks()
        table = table.add_column(1, "policy", policies.take(of)).add_column(1, "label", labels.take(of))
        target = self.path / MERGED
        _write(target, _parquet(table.combine_chunks(), self.provenance))
        return target

    def panel(self) -> Panel:
        """The results; refused while parts are missing."""
        missing = sum(not self.finished(block) for block in self.blocks())
        if missing:
            raise BadInput(
                f"'{self.path}' is not finished: {missing} of {len(self.blocks())} parts are missing. "
                "The command that began it goes on where it was."
            )
        return Panel(self.experiment, self.problem, tuple(self._curves()), self.provenance)

    def _curves(self) -> Iterator[Curve]:
        marks = self.experiment.marks()
        for number, contender in enumerate(self.experiment.contenders):
            blocks = [block for block in self.blocks() if block.contender == number]
            tables = [self._table(block) for block in blocks]
            facts = [self._facts(block) or {} for block in blocks]
            regret, recommended, events = (
                np.concatenate([table[name].to_numpy() for table in tables]).reshape(-1, len(marks))
                for name in (self.experiment.regret, "recommended", "events")
            )
            yield Curve(
                label=contender.label,
                policy=contender.policy,
                params=facts[0]["params"],
                slate_size=self.experiment.slate_size_of(contender),
                rival=contender.rival,
                checkpoints=marks,
                regret=regret,
                recommended=recommended[:, 0].copy(),
                events=events[:, 0].copy(),
                seconds=sum(fact["seconds"] for fact in facts),
                compile_seconds=sum(fact["compile_seconds"] for fact in facts),
            )

    def _table(self, block: Block) -> Any:
        import pyarrow.parquet as pq

        return pq.read_table(self.path / PARTS / block.file).replace_schema_metadata(None)

    def _facts(self, block: Block) -> dict[str, Any] | None:
        """The metadata of a part, or None if it is not there or not whole."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.path / PARTS / block.file
        try:
            footer = pq.read_metadata(path)
            facts: dict[str, Any] = json.loads(footer.metadata[KEY])
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
            return None
        if facts.get("fingerprint") != self.fingerprint:
            raise BadInput(f"'{path}' is a part of another experiment. Choose another folder, or remove it.")
        return facts if footer.num_rows == block.runs * len(self.experiment.marks()) else None


def read(folder: str | Path) -> Panel:
    """The results in an experiment's folder, from its parts."""
    return find_folder(Path(folder)).panel()


def find_folder(path: Path) -> Folder:
    """An experiment's folder that is there."""
    needed()
    try:
        found = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise BadInput(f"'{path}' must hold results of format '{FORMAT}'. Got {found['format']!r}.")
        experiment = from_json(found["experiment"], path / MANIFEST)
        folder = Folder(path, experiment, found["problem"], found["provenance"], int(found["block"]))
        if folder.fingerprint and folder.block > 0:
            return folder
        raise ValueError
    except BadInput:
        raise
    except FileNotFoundError:
        raise BadInput(f"'{path}' must be a folder of results. It has no {MANIFEST}.") from None
    except OSError as error:
        raise BadInput(f"'{path}' cannot be read: {error.strerror}.") from None
    except (KeyError, TypeError, ValueError):
        raise BadInput(f"'{path / MANIFEST}' is damaged. Remove the folder to begin anew.") from None


def make_folder(path: Path, experiment: Experiment, problem: Problem, *, block: int | None = None) -> Folder:
    """A new folder, or the one there if it is of the same experiment; then titles and labels follow the new ones."""
    needed()
    described = problem.to_json()
    provenance = _provenance(experiment, described)
    if os.path.isdir(path) and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise BadInput(f"'{path}' cannot be written: Permission denied.")
    if os.path.exists(path / MANIFEST):
        old = find_folder(path)
        if old.fingerprint != provenance["fingerprint"]:
            raise BadInput(f"'{path}' holds other results: {_difference(old.provenance, provenance)}. {OTHER}")
        block = old.block
    elif os.path.isdir(path) and any(os.scandir(path)):
        raise BadInput(f"'{path}' holds files that are not results of an experiment. {OTHER}")
    folder = Folder(path, experiment, described, provenance, block or runs_per_part(experiment.runs))
    found = {"format": FORMAT, "experiment": experiment.to_json(), "problem": described}
    text = json.dumps({**found, "block": folder.block, "provenance": provenance}, indent=1, allow_nan=False)
    _write(path / MANIFEST, text.encode() + b"\n")
    return folder


OTHER = "Choose another folder with --out, or remove this one. Nothing was changed."


def runs_per_part(runs: int) -> int:
    """Small enough that a kill costs little and cores stay busy; never dependent on who plays."""
    return min(10, -(-runs // 10))


def needed() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise BadInput("Results need PyArrow, which is not installed. Try: pip install 'multiduel[lab]'") from None


@functools.cache
def code_digest(*policies: str) -> str:
    """A hash of the sources that decide these policies' numbers, as they were when first asked for."""
    root = Path(__file__).resolve().parents[1]
    files = {file for room in ROOMS for file in (root / room).glob("*.py")}
    files |= {Path(str(sys.modules[find(policy).params.__module__].__file__)) for policy in policies}
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in sorted(files))).hexdigest()[:16]


def _provenance(experiment: Experiment, problem: dict[str, Any]) -> dict[str, Any]:
    """Where the numbers come from. The fingerprint stands for all that decides them."""
    asked = {name: value for name, value in experiment.to_json().items() if name not in SHOWN_ONLY}
    asked["contenders"] = [
        {name: value for name, value in contender.items() if name not in SHOWN_ONLY} for contender in asked["contenders"]
    ]
    asked["problem"] = {"label": problem["label"], "matrix": problem.get("matrix_sha256")}
    facts = {
        "parameters": asked,
        "seed": experiment.seed,
        "version": multiduel.__version__,
        "code": code_digest(*sorted({contender.policy for contender in experiment.contenders})),
    }
    facts = json.loads(json.dumps(facts))  # as it will be read back
    return {
        **facts,
        "fingerprint": _digest(facts),
        "packages": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
    }


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """The first thing in which two provenances differ, in words."""
    for name, value in new["parameters"].items():
        before = old["parameters"].get(name)
        if before == value:
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


def _parquet(table: Any, facts: dict[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    text = json.dumps(facts, sort_keys=True)
    pq.write_table(table.replace_schema_metadata({KEY: text.encode()}), sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all, also when the power fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as draft, open(draft, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise BadInput(f"'{path}' cannot be written: {error.strerror}. Finished parts are kept.") from None
