"""Parts of results: some runs of a contender in a Parquet file that appears whole or not at all, and knows if it was altered.

A row is one run at one checkpoint, with every kind of regret. A part may hold more checkpoints than an experiment asks for, and
may be given those that it lacks: what it has is kept.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.engine.simulation.play import KINDS as REGRETS
from multiduel.engine.simulation.result import Result
from multiduel.files import write_whole
from multiduel.inputs import BadInput

KEY = b"multiduel"  # of our metadata in a Parquet file
CHECKSUM = "sha256"  # among them


@dataclass(frozen=True)
class Block:
    """Some runs of a contender: what is played in one go and stored as one part."""

    contender: str  # its id
    first_run: int
    runs: int
    marks: tuple[int, ...] | None = None  # the checkpoints to be played, where the part has others already; None: all
    end: int | None = None  # the round to play up to for them; None: the experiment's horizon

    @property
    def file(self) -> str:
        return f"{self.contender}-runs-{self.first_run:06}-{self.first_run + self.runs - 1:06}.parquet"


@dataclass(frozen=True)
class Rows:
    """What a part holds of its runs."""

    marks: Ints  # i8[marks], ascending
    regrets: dict[str, Floats]  # kind -> f8[runs, marks]
    recommended: Ints  # i8[runs]  at the end
    events: Ints  # i8[runs]  up to the end

    def at(self, marks: Ints) -> Rows:
        """Some of its checkpoints only."""
        places = np.searchsorted(self.marks, marks)
        regrets = {kind: np.ascontiguousarray(values[:, places]) for kind, values in self.regrets.items()}
        return Rows(marks, regrets, self.recommended, self.events)

    def joined(self, new: Rows, *, ends_anew: bool, told: bool) -> Rows | None:
        """With the checkpoints of ``new``; None if the two differ where both have one. ``ends_anew``: the new ones reach the end;
        ``told``: they are runs of their own, so that their events add up."""
        both = np.intersect1d(self.marks, new.marks)
        ours, theirs = self.at(both), new.at(both)
        if any(not np.array_equal(ours.regrets[kind], theirs.regrets[kind]) for kind in REGRETS):
            return None
        marks, places = np.unique(np.concatenate([self.marks, new.marks]), return_index=True)
        regrets = {kind: np.hstack([self.regrets[kind], new.regrets[kind]])[:, places] for kind in REGRETS}
        last = new if ends_anew else self
        return Rows(marks, regrets, last.recommended, self.events + new.events if told else last.events)


def rows_of(result: Result) -> Rows:
    return Rows(result.checkpoints, result.regrets, result.recommended, result.events)


def from_table(table: Any, runs: int) -> Rows:
    """The rows of a table that ``to_table`` made."""

    def column(name: str) -> Any:
        return table[name].to_numpy().reshape(runs, -1)

    ends = (column(name)[:, 0].copy() for name in ("recommended", "events"))
    return Rows(column("round")[0].copy(), {kind: column(kind) for kind in REGRETS}, *ends)


def to_table(rows: Rows, block: Block) -> Any:
    import pyarrow as pa

    marks = len(rows.marks)
    columns = {
        "contender": pa.repeat(block.contender, block.runs * marks),
        "run": np.repeat(np.arange(block.first_run, block.first_run + block.runs), marks),
        "round": np.tile(rows.marks, block.runs),
        **{kind: rows.regrets[kind].ravel() for kind in REGRETS},
        "recommended": np.repeat(rows.recommended, marks),
        "events": np.repeat(rows.events, marks),
    }
    return pa.table(columns)


def read_part(path: Path, runs: int) -> tuple[Any, dict[str, Any]] | None:
    """The rows and the metadata of a part, or None if it is not there or not as it was written, to the last bit."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(path.read_bytes()), page_checksum_verification=True)
        table = file.read(use_threads=False)  # a part is small: a pool of threads costs more than the reading
        facts: dict[str, Any] = json.loads(table.schema.metadata[KEY])
        table = table.replace_schema_metadata(None)
        if facts.pop(CHECKSUM) != _checksum(table, facts):
            return None
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError, AttributeError, MemoryError):
        return None
    return (table, facts) if table.num_rows and table.num_rows % runs == 0 and _whole_facts(facts) else None


def _whole_facts(facts: dict[str, Any]) -> bool:
    """Is all there that a Result is made of?"""
    times = (facts.get(name) for name in ("seconds", "compile_seconds"))
    timed = all(isinstance(time, int | float) and not isinstance(time, bool) and 0.0 <= time < math.inf for time in times)
    return timed and isinstance(facts.get("params"), dict) and isinstance(facts.get("slate_size"), int)


def write(path: Path, table: Any, facts: dict[str, Any]) -> None:
    write_file(path, parquet(table, facts))


def parquet(table: Any, facts: dict[str, Any]) -> bytes:
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


def write_file(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"'{path}' cannot be written: {error.strerror}.") from None
    try:
        write_whole(path, data)
    except BadInput as error:
        raise BadInput(f"{error} Finished parts are kept.") from None
