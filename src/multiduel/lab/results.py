"""Results on disk: Parquet parts that appear whole or not at all, each with where it came from.

    OUT/<experiment>/experiment.json    the experiment, its problem in words and the code that plays it: written first
                     problem.csv        the problem's matrix, as `multiduel problem` reads it (of kind contexts: none)
                     parts/*.parquet    a contender's block of runs each
                     results.parquet    all parts in one table, once all are there

All that a report needs is in the folder. A row is one run at one checkpoint, with every kind of regret. How long a part
took stands in its metadata and not among its rows, so that results.parquet is the same file to the last byte however often
the run was interrupted and wherever it was played.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from multiduel import problems
from multiduel.arrays import Floats
from multiduel.display.regret_figures import Curve
from multiduel.display.regret_tables import Summary
from multiduel.engine.simulation import contexts
from multiduel.engine.simulation.delays import read_delay
from multiduel.engine.simulation.play import KINDS as REGRETS
from multiduel.engine.simulation.result import Result
from multiduel.files import file_name, is_draft, sweep
from multiduel.inputs import BadInput, choice, install, shortened
from multiduel.lab import parts
from multiduel.lab import problem as problem_tables
from multiduel.lab.experiment import Contender, Experiment, from_json
from multiduel.lab.parts import Block, Rows
from multiduel.lab.problem import AnyProblem
from multiduel.lab.provenance import belongs, difference, grows, identity, provenance
from multiduel.problems import Problem

FORMAT = "multiduel-results-2"
MANIFEST, PROBLEM, PARTS, MERGED = "experiment.json", "problem.csv", "parts", "results.parquet"
OTHER = "Choose another folder with --out, or remove this one. Nothing was changed."


@dataclass(frozen=True)
class Line:
    """A contender and its results: one line of the figure."""

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
        """Return the regret of the kind that is shown: runs x checkpoints."""
        return self.result.regrets[self.shown]

    @property
    def final(self) -> Floats:
        """Return that regret at the last checkpoint, one value per run."""
        return self.regret[:, -1]

    @property
    def summary(self) -> Summary:
        """Summarise the contender for tables."""
        return self.result.summary(self.shown, name=self.label)


@dataclass(frozen=True, repr=False)
class Panel:
    """An experiment's results."""

    experiment: Experiment
    problem: Any  # a Problem, or a ContextProblem
    results: tuple[Result, ...]  # of its contenders, in their order
    provenance: dict[str, Any]

    @property
    def setting(self) -> str:
        """Describe the problem, with the delay of its answers if there is one."""
        return read_delay(self.experiment.delay).label(self.problem.label)

    def __repr__(self) -> str:
        e = self.experiment
        most = max((e.runs_of(contender) for contender in e.contenders), default=0)
        named = ", ".join(contender.id for contender in e.contenders[:8]) + (" ..." if len(e.contenders) > 8 else "")
        many = "1 contender" if len(e.contenders) == 1 else f"{len(e.contenders)} contenders"
        return f"<Panel '{e.name}' on {self.setting}: {many} ({named}), {most:,} runs of {e.horizon:,} rounds>"

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        pairs = zip(self.experiment.contenders, self.results, strict=True)
        return tuple(Line(contender, result, self.experiment.regret) for contender, result in pairs)

    def line(self, id: str) -> Line:
        """Return the line of the contender with this id."""
        return self.lines[self.experiment.contenders.index(self.experiment.contender(id))]

    def curves(self, thick: Collection[str] = ()) -> list[Curve]:
        """Return what figures show: rivals are dashed, ``thick`` policies are thick."""
        return [
            line.result.curve(
                line.shown,
                name=line.label,
                dashed=line.contender.rival,
                thick=line.contender.policy in thick,
                points=self.experiment.plays_again(line.contender),
            )
            for line in self.lines
        ]

    def showing(self, regret: str) -> Panel:
        """Return the same results with another kind of regret shown."""
        return replace(self, experiment=replace(self.experiment, regret=choice("regret", regret, REGRETS)))


@dataclass(frozen=True)
class Folder:
    """An experiment's folder of results."""

    path: Path
    experiment: Experiment
    problem: AnyProblem
    provenance: dict[str, Any]
    block: int  # runs per part

    @property
    def fingerprint(self) -> str:
        return str(self.provenance["fingerprint"])

    def blocks(self) -> list[Block]:
        """List all parts. The first of every contender comes first, so that one policy compiles while others play."""
        runs = {contender.id: self.experiment.runs_of(contender) for contender in self.experiment.contenders}
        return [
            Block(id, first, min(self.block, most - first))
            for first in range(0, max(runs.values()), self.block)
            for id, most in runs.items()
            if first < most
        ]

    def finished(self, block: Block) -> bool:
        """Tell whether this part is there, with everything that the experiment asks for."""
        return self.missing(block) is None

    def missing(self, block: Block) -> Block | None:
        """What must be played for this part: all of it, or the checkpoints that it lacks; None if it is finished.

        A part that cannot be read counts as missing; one of another experiment is refused.
        """
        return self._lacking(block, self._part(block))

    def _lacking(self, block: Block, part: tuple[Any, dict[str, Any]] | None) -> Block | None:
        if part is None:
            return block
        contender = self.experiment.contender(block.contender)
        marks, told = self.experiment.marks_of(contender), self.experiment.plays_again(contender)
        stored = parts.from_table(part[0], block.runs).marks
        lacking = np.setdiff1d(marks, stored)
        if told:  # a run of its own for each; the last says which arm it would bet on
            wanted = lacking if _end(part[1]) == self._end_of(contender) else np.union1d(lacking, marks[-1:])
            return replace(block, marks=tuple(wanted.tolist())) if len(wanted) else None
        if _end(part[1]) < self.experiment.horizon:
            return replace(block, marks=tuple(marks.tolist()))
        if not len(lacking):
            return None
        until = int(lacking[-1])  # no further: how it ends is known
        return replace(block, marks=tuple(marks[marks <= until].tolist()), end=until)

    def store(self, block: Block, result: Result) -> None:
        """Write a part. Checkpoints that the stored part has and this one lacks are kept."""
        contender = self.experiment.contender(block.contender)
        rows, seconds, compile_seconds = parts.rows_of(result), result.seconds, result.compile_seconds
        old = None if block.marks is None else self._part(block)
        if old is not None:
            table, facts = old
            kept = parts.from_table(table, block.runs)
            told, end = self.experiment.plays_again(contender), self._end_of(contender)
            both = kept.joined(rows, ends_anew=rows.marks[-1] == end if told else block.end is None, told=told)
            if both is None:
                raise BadInput(
                    f"'{self.path / PARTS / block.file}' holds other numbers than the same runs, played again. "
                    "Was it played on another kind of computer? Remove the folder to begin anew."
                )
            rows, seconds, compile_seconds = both, seconds + facts["seconds"], compile_seconds + facts["compile_seconds"]
        facts = {
            **self.provenance,
            "contender": block.contender,
            "policy": result.policy,
            "params": result.params,
            "slate_size": result.slate_size,
            "end": self._end_of(contender),
            "seconds": seconds,
            "compile_seconds": compile_seconds,
        }
        parts.write(self.path / PARTS / block.file, parts.to_table(rows, block), facts)

    def _end_of(self, contender: Contender) -> int:
        """The round at which it says which arm it would bet on."""
        told = self.experiment.plays_again(contender)
        return int(self.experiment.marks_of(contender)[-1]) if told else self.experiment.horizon

    def panel(self) -> Panel:
        """Return the results. Refused while parts are missing."""
        return self._panel(self._whole())

    def finish(self) -> Panel:
        """Return the results, and all parts as one table with the contenders' names, sorted by contender, run and round."""
        import pyarrow as pa

        whole = self._whole()
        tables = []
        for contender in self.experiment.contenders:
            for block in self._blocks_of(contender):
                table = parts.to_table(whole[block][0], block)
                for name, value in (("policy", contender.policy), ("label", contender.label)):
                    table = table.add_column(1, name, pa.repeat(value, table.num_rows))
                tables.append(table)
        parts.write(self.path / MERGED, pa.concat_tables(tables).combine_chunks(), self.provenance)
        return self._panel(whole)

    def _whole(self) -> dict[Block, tuple[Rows, dict[str, Any]]]:
        """What the experiment asks for of every part, and its metadata; each part is read once."""
        whole = {}
        for block in self.blocks():
            part = self._part(block)
            if part is not None and self._lacking(block, part) is None:
                marks = self.experiment.marks_of(self.experiment.contender(block.contender))
                whole[block] = parts.from_table(part[0], block.runs).at(marks), part[1]
        missing = len(self.blocks()) - len(whole)
        if missing:
            raise BadInput(
                f"'{self.path}' is not finished: {missing} of {len(self.blocks())} parts are missing. "
                "The command that began it goes on where it was."
            )
        return whole

    def _panel(self, whole: dict[Block, tuple[Rows, dict[str, Any]]]) -> Panel:
        results = tuple(self._result(contender, whole) for contender in self.experiment.contenders)
        return Panel(self.experiment, self.problem, results, self.provenance)

    def _blocks_of(self, contender: Contender) -> list[Block]:
        return [block for block in self.blocks() if block.contender == contender.id]

    def _result(self, contender: Contender, whole: dict[Block, tuple[Rows, dict[str, Any]]]) -> Result:
        """What ``simulate`` would have returned for all runs of a contender."""
        experiment = self.experiment
        pairs = [whole[block] for block in self._blocks_of(contender)]
        rows, facts = [rows for rows, _ in pairs], [facts for _, facts in pairs]
        return Result(
            policy=contender.policy,
            label=contender.label,
            params=facts[0]["params"],
            problem=self._described,
            slate_size=facts[0]["slate_size"],
            horizon=experiment.horizon,
            runs=experiment.runs_of(contender),
            seed=experiment.seed,
            benchmark=experiment.benchmark,
            checkpoints=rows[0].marks,
            regrets={kind: np.concatenate([each.regrets[kind] for each in rows]) for kind in REGRETS},
            recommended=np.concatenate([each.recommended for each in rows]),
            events=np.concatenate([each.events for each in rows]),
            seconds=sum(fact["seconds"] for fact in facts),
            compile_seconds=sum(fact["compile_seconds"] for fact in facts),
        )

    @cached_property
    def _described(self) -> dict[str, Any]:
        return read_delay(self.experiment.delay).described(self.problem.to_json())

    def _part(self, block: Block) -> tuple[Any, dict[str, Any]] | None:
        """All rows and the metadata of a part; None if there is none whose runs may be kept."""
        path = self.path / PARTS / block.file
        part = parts.read_part(path, block.runs)
        if part is None:
            return None
        facts = part[1]
        line = self.provenance.get("lines", {}).get(block.contender)
        if facts.get("fingerprint") != self.fingerprint and (line is None or facts.get("lines", {}).get(block.contender) != line):
            raise BadInput(f"'{path}' is a part of another experiment. Choose another folder, or remove it.")
        contender = self.experiment.contender(block.contender)
        told_once = not (contender.anytime or self.experiment.plays_again(contender))
        return None if told_once and _end(facts) != self.experiment.horizon else part  # told another end, it plays otherwise


def _end(facts: dict[str, Any]) -> int:
    """The round up to which a part was played."""
    return int(facts.get("end", facts["parameters"]["horizon"]))


def read(folder: str | Path) -> Panel:
    """Read the results in an experiment's folder, from its parts."""
    return find_folder(Path(folder)).panel()


def folders_in(path: Path) -> list[Path]:
    """The folder itself, if it is an experiment's; or those in it, such as a sweep's."""
    try:
        inside = sorted(manifest.parent for manifest in Path(file_name(path)).glob(f"*/{MANIFEST}"))
        return [path] if (path / MANIFEST).exists() or not inside else inside
    except OSError as error:
        raise BadInput(f"The folder {shortened(str(path))} cannot be read: {error.strerror}.") from None


def find_folder(path: Path) -> Folder:
    """An experiment's folder that is there."""
    manifest = _read_manifest(path)
    experiment = from_json(manifest["experiment"], path / MANIFEST)
    problem = _read_problem(path, manifest["problem"], experiment)
    if not belongs(manifest["provenance"], experiment, problem.to_json()):
        raise BadInput(
            f"'{path / MANIFEST}' is not as it was written: its fingerprint is not that of what it says. "
            "The command that began the run writes it anew."
        )
    return Folder(path, experiment, problem, manifest["provenance"], manifest["block"])


def plan_folder(path: Path, experiment: Experiment, problem: AnyProblem, *, block: int | None = None) -> Folder:
    """The folder of an experiment, as it will be. One that is there must be of the same experiment, or of one that grows into
    it. Nothing is written."""
    needed()
    origin = provenance(experiment, problem.to_json())
    if os.path.isdir(path) and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise BadInput(f"'{path}' cannot be written: Permission denied.")
    if os.path.exists(path / MANIFEST):
        old = _read_manifest(path)
        if old["provenance"]["fingerprint"] != origin["fingerprint"] and not grows(old["provenance"], origin):
            raise BadInput(f"'{path}' holds other results: {difference(old['provenance'], origin)}. {OTHER}")
        block = old["block"]
    elif (
        os.path.isdir(path)
        and any(not is_draft(entry, MANIFEST) for entry in os.scandir(path))
        and not os.path.exists(path / MANIFEST)  # another shard may have written it just now: it is the first file
    ):
        raise BadInput(f"'{path}' holds files that are not results of an experiment. {OTHER}")
    return Folder(path, experiment, problem, origin, block or runs_per_part(experiment.runs))


def make_folder(path: Path, experiment: Experiment, problem: AnyProblem, *, block: int | None = None) -> Folder:
    """A new folder, or the one there if it is of the same experiment; then titles and labels follow the new ones."""
    folder = plan_folder(path, experiment, problem, block=block)
    manifest = {"format": FORMAT, "experiment": experiment.to_json(), "problem": problem.to_json()}
    text = json.dumps({**manifest, "block": folder.block, "provenance": folder.provenance}, indent=1, allow_nan=False)
    parts.write_file(path / MANIFEST, text.encode() + b"\n")
    if isinstance(problem, Problem):
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
        entries = manifest["experiment"]["name"], identity(manifest["problem"]), manifest["provenance"]["fingerprint"]
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


def _read_problem(path: Path, described: dict[str, Any], experiment: Experiment) -> AnyProblem:
    """The problem that was played, bit for bit: the matrix of the file, the rest from the manifest; or a table of features, made
    again from its seed."""
    if experiment.problem["kind"] == contexts.NAME:
        made = problem_tables.resolve(experiment.problem)
        if json.loads(json.dumps(made.to_json())) != described:
            raise BadInput(f"'{path / MANIFEST}' describes other features than its seed gives. Remove the folder to begin anew.")
        return made
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
        raise BadInput(f"Results need PyArrow, which is not installed. Try: {install('lab')}.") from None
