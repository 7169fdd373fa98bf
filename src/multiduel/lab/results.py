"""Results on disk: Parquet parts that appear whole or not at all, each with where it came from.

    OUT/<experiment>/experiment.json    the experiment, its problem in words and the code that plays it: written first
                     problem.csv        the problem's matrix, as `multiduel problem` reads it
                     parts/*.parquet    a contender's block of runs each
                     results.parquet    all parts in one table, once all are there

All that a report needs is in the folder. A row is one run at one checkpoint, with every kind of regret. How long a part
took stands in its metadata and not among its rows, so that results.parquet is the same file to the last byte however often
the run was interrupted and wherever it was played.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from multiduel import problems
from multiduel.arrays import Floats
from multiduel.engine.play import KINDS as REGRETS
from multiduel.engine.result import Result
from multiduel.files import is_draft, sweep, write_whole
from multiduel.inputs import BadInput, choice
from multiduel.lab.experiment import Contender, Experiment, from_json
from multiduel.lab.provenance import belongs, difference, grows, provenance
from multiduel.problems import Problem

FORMAT = "multiduel-results-2"
MANIFEST, PROBLEM, PARTS, MERGED = "experiment.json", "problem.csv", "parts", "results.parquet"
KEY = b"multiduel"  # of our metadata in a Parquet file
CHECKSUM = "sha256"  # among them
OTHER = "Choose another folder with --out, or remove this one. Nothing was changed."


@dataclass(frozen=True)
class Line:
    """A contender and what was measured of it: one line of the figure."""

    contender: Contender
    result: Result
    shown: str  # the kind of regret that the experiment shows

    @property
    def id(self) -> str:
        return self.contender.id

    @property
    def label(self) -> str:
        return self.contender.label

    @property
    def regret(self) -> Floats:
        """Of the kind that is shown: runs x checkpoints."""
        return self.result.regrets[self.shown]

    @property
    def final(self) -> Floats:
        """The same at the last checkpoint, one value per run."""
        return self.regret[:, -1]


@dataclass(frozen=True)
class Panel:
    """An experiment's results."""

    experiment: Experiment
    problem: Problem
    results: tuple[Result, ...]  # of its contenders, in their order
    provenance: dict[str, Any]

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        pairs = zip(self.experiment.contenders, self.results, strict=True)
        return tuple(Line(contender, result, self.experiment.regret) for contender, result in pairs)

    def line(self, id: str) -> Line:
        """The line of the contender with this id."""
        return self.lines[self.experiment.contenders.index(self.experiment.contender(id))]

    def showing(self, regret: str) -> Panel:
        """The same results, another kind of regret shown."""
        return replace(self, experiment=replace(self.experiment, regret=choice("regret", regret, REGRETS)))


@dataclass(frozen=True)
class Block:
    """Some runs of a contender: what is played in one go and stored as one part."""

    contender: str  # its id
    first_run: int
    runs: int

    @property
    def file(self) -> str:
        return f"{self.contender}-runs-{self.first_run:06}-{self.first_run + self.runs - 1:06}.parquet"


@dataclass(frozen=True)
class Folder:
    """An experiment's folder of results."""

    path: Path
    experiment: Experiment
    problem: Problem
    provenance: dict[str, Any]
    block: int  # runs per part

    @property
    def fingerprint(self) -> str:
        return str(self.provenance["fingerprint"])

    def blocks(self) -> list[Block]:
        """All there are; the first of every contender first, so that one policy compiles while others play."""
        runs = {contender.id: self.experiment.runs_of(contender) for contender in self.experiment.contenders}
        return [
            Block(id, first, min(self.block, most - first))
            for first in range(0, max(runs.values()), self.block)
            for id, most in runs.items()
            if first < most
        ]

    def finished(self, block: Block) -> bool:
        """Is this part there? One that cannot be read counts as missing; one of another experiment is refused."""
        return self._part(block) is not None

    def store(self, block: Block, result: Result) -> None:
        """Write a part."""
        import pyarrow as pa

        marks = len(result.checkpoints)
        columns = {
            "contender": pa.repeat(block.contender, block.runs * marks),
            "run": np.repeat(np.arange(block.first_run, block.first_run + block.runs), marks),
            "round": np.tile(result.checkpoints, block.runs),
            **{kind: result.regrets[kind].ravel() for kind in REGRETS},
            "recommended": np.repeat(result.recommended, marks),
            "events": np.repeat(result.events, marks),
        }
        facts = {
            **self.provenance,
            "contender": block.contender,
            "policy": result.policy,
            "params": result.params,
            "slate_size": result.slate_size,
            "seconds": result.seconds,
            "compile_seconds": result.compile_seconds,
        }
        _write(self.path / PARTS / block.file, _parquet(pa.table(columns), facts))

    def merge(self) -> Path:
        """All parts as one table with the contenders' names, sorted by contender, run and round."""
        import pyarrow as pa

        tables = []
        for contender in self.experiment.contenders:
            for table, _ in map(self._part_at_hand, self._blocks_of(contender)):
                for name, value in (("policy", contender.policy), ("label", contender.label)):
                    table = table.add_column(1, name, pa.repeat(value, table.num_rows))
                tables.append(table)
        target = self.path / MERGED
        _write(target, _parquet(pa.concat_tables(tables).combine_chunks(), self.provenance))
        return target

    def panel(self) -> Panel:
        """The results; refused while parts are missing."""
        missing = sum(not self.finished(block) for block in self.blocks())
        if missing:
            raise BadInput(
                f"'{self.path}' is not finished: {missing} of {len(self.blocks())} parts are missing. "
                "The command that began it goes on where it was."
            )
        results = tuple(self._result(contender) for contender in self.experiment.contenders)
        return Panel(self.experiment, self.problem, results, self.provenance)

    def _blocks_of(self, contender: Contender) -> list[Block]:
        return [block for block in self.blocks() if block.contender == contender.id]

    def _result(self, contender: Contender) -> Result:
        """What ``simulate`` would have returned for all runs of a contender."""
        experiment, marks = self.experiment, self.experiment.marks_of(contender)
        blocks = self._blocks_of(contender)
        parts = [self._part_at_hand(block) for block in blocks]
        tables, facts = [table for table, _ in parts], [facts for _, facts in parts]

        def column(name: str) -> Any:
            return np.concatenate([table[name].to_numpy() for table in tables]).reshape(-1, len(marks))

        return Result(
            policy=contender.policy,
            params=facts[0]["params"],
            problem=self._described,
            slate_size=facts[0]["slate_size"],
            horizon=experiment.horizon,
            runs=experiment.runs_of(contender),
            seed=experiment.seed,
            benchmark=experiment.benchmark,
            checkpoints=marks,
            regrets={kind: column(kind) for kind in REGRETS},
            recommended=column("recommended")[:, 0].copy(),
            events=column("events")[:, 0].copy(),
            seconds=sum(fact["seconds"] for fact in facts),
            compile_seconds=sum(fact["compile_seconds"] for fact in facts),
        )

    @cached_property
    def _described(self) -> dict[str, Any]:
        return self.problem.to_json()

    def _part_at_hand(self, block: Block) -> tuple[Any, dict[str, Any]]:
        part = self._part(block)
        if part is None:
            raise BadInput(f"'{self.path / PARTS / block.file}' was there a moment ago, and is no more.")
        return part

    def _part(self, block: Block) -> tuple[Any, dict[str, Any]] | None:
        """The rows and the metadata of a part, or None if it is not there or not as it was written, to the last bit."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.path / PARTS / block.file
        try:
            table = pq.read_table(path, page_checksum_verification=True)
            facts: dict[str, Any] = json.loads(table.schema.metadata[KEY])
            table = table.replace_schema_metadata(None)
            if facts.pop(CHECKSUM) != _checksum(table, facts):
                return None
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError, AttributeError, MemoryError):
            return None
        line = self.provenance.get("lines", {}).get(block.contender)
        if facts.get("fingerprint") != self.fingerprint and (line is None or facts.get("lines", {}).get(block.contender) != line):
            raise BadInput(f"'{path}' is a part of another experiment. Choose another folder, or remove it.")
        marks = self.experiment.marks_of(self.experiment.contender(block.contender))
        return (table, facts) if table.num_rows == block.runs * len(marks) and _whole_facts(facts) else None


def _whole_facts(facts: dict[str, Any]) -> bool:
    """Is all there that a Result is made of?"""
    times = (facts.get(name) for name in ("seconds", "compile_seconds"))
    timed = all(isinstance(time, int | float) and not isinstance(time, bool) and 0.0 <= time < math.inf for time in times)
    return timed and isinstance(facts.get("params"), dict) and isinstance(facts.get("slate_size"), int)


def read(folder: str | Path) -> Panel:
    """The results in an experiment's folder, from its parts."""
    return find_folder(Path(folder)).panel()


def find_folder(path: Path) -> Folder:
    """An experiment's folder that is there."""
    manifest = _read_manifest(path)
    experiment = from_json(manifest["experiment"], path / MANIFEST)
    problem = _read_problem(path, manifest["problem"])
    if not belongs(manifest["provenance"], experiment, problem.to_json()):
        raise BadInput(
            f"'{path / MANIFEST}' is not as it was written: its fingerprint is not that of what it says. "
            "The command that began the run writes it anew."
        )
    return Folder(path, experiment, problem, manifest["provenance"], manifest["block"])


def make_folder(path: Path, experiment: Experiment, problem: Problem, *, block: int | None = None) -> Folder:
    """A new folder, or the one there if it is of the same experiment; then titles and labels follow the new ones."""
    needed()
    described = problem.to_json()
    origin = provenance(experiment, described)
    if os.path.isdir(path) and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise BadInput(f"'{path}' cannot be written: Permission denied.")
    if os.path.exists(path / MANIFEST):
        old = _read_manifest(path)
        if old["provenance"]["fingerprint"] != origin["fingerprint"] and not grows(old["provenance"], origin):
            raise BadInput(f"'{path}' holds other results: {difference(old['provenance'], origin)}. {OTHER}")
        block = old["block"]
    elif os.path.isdir(path) and any(not is_draft(entry, MANIFEST) for entry in os.scandir(path)):
        raise BadInput(f"'{path}' holds files that are not results of an experiment. {OTHER}")
    folder = Folder(path, experiment, problem, origin, block or runs_per_part(experiment.runs))
    manifest = {"format": FORMAT, "experiment": experiment.to_json(), "problem": described}
    text = json.dumps({**manifest, "block": folder.block, "provenance": origin}, indent=1, allow_nan=False)
    _write(path / MANIFEST, text.encode() + b"\n")
    problems.write_csv(problem, path / PROBLEM)
    for place in (path, path / PARTS):
        sweep(place)
    return folder


def _read_manifest(path: Path) -> dict[str, Any]:
    needed()
    try:
        manifest: dict[str, Any] = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            raise BadInput(f"'{path}' must hold results of format '{FORMAT}'. Got {manifest['format']!r}.")
        entries = manifest["experiment"]["name"], manifest["problem"]["matrix_sha256"], manifest["provenance"]["fingerprint"]
        if all(entries) and isinstance(manifest["block"], int) and manifest["block"] > 0:
            return manifest
        raise ValueError
    except BadInput:
        raise
    except FileNotFoundError:
        raise BadInput(f"'{path}' must be a folder of results. It has no {MANIFEST}.") from None
    except OSError as error:
        raise BadInput(f"'{path}' cannot be read: {error.strerror}.") from None
    except (KeyError, TypeError, ValueError):
        raise BadInput(f"'{path / MANIFEST}' is damaged. Remove the folder to begin anew.") from None


def _read_problem(path: Path, described: dict[str, Any]) -> Problem:
    """The problem that was played, bit for bit: the matrix of the file, the rest from the manifest."""
    file = path / PROBLEM
    table = problems.read_csv(file)
    try:
        problem = Problem(table.matrix, table.names, described["label"], described["utilities"], described["link"])
        same = json.loads(json.dumps(problem.to_json())) == described
    except (KeyError, TypeError, ValueError):
        same = False
    if not same:
        raise BadInput(f"'{file}' is not the problem that was played. The command that began the run writes it anew.")
    return problem


def runs_per_part(runs: int) -> int:
    """Small enough that a kill costs little and cores stay busy; never dependent on who plays."""
    return min(10, -(-runs // 10))


def needed() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise BadInput("Results need PyArrow, which is not installed. Try: pip install 'multiduel[lab]'") from None


def _parquet(table: Any, facts: dict[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    text = json.dumps({**facts, CHECKSUM: _checksum(table, facts)}, sort_keys=True)
    kept = table.replace_schema_metadata({KEY: text.encode()})
    pq.write_table(kept, sink, compression="zstd", write_page_checksum=True)
    return bytes(sink.getvalue().to_pybytes())


def _checksum(table: Any, facts: dict[str, Any]) -> str:
    """Of the names, kinds and values of all columns, and of the facts. Pages have checksums of their own, the rest has none."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name in table.column_names:
        column = table[name]
        digest.update(f"\0{name}\0{column.type}\0".encode())
        if str(column.type) == "string":
            digest.update("\0".join(column.to_pylist()).encode())
        else:
            values = column.to_numpy()
            digest.update(values.astype(values.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"'{path}' cannot be written: {error.strerror}.") from None
    try:
        write_whole(path, data)
    except BadInput as error:
        raise BadInput(f"{error} Finished parts are kept.") from None
