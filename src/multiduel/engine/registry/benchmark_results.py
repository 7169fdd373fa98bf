"""Results of the benchmark: a file per policy, which ``suggest``, the leaderboard and ``multiduel bench`` read.

A file is a NumPy archive (.npz): a header in JSON, the regret of every run at its end as the bytes of 32-bit floats (a plane per
byte, which compresses well), and a bit per run that ended wrong. A submission is input: nothing in it is code, and sizes are
checked before anything is unpacked.
"""

from __future__ import annotations

import functools
import importlib.resources
import io
import json
import math
import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiduel.files import file_name, write_whole
from multiduel.inputs import BadInput, shortened

FORMAT = "multiduel-bench-1"
ENDING = ".npz"
SHIPPED = "benchmark_v1"  # the folder beside this file
SUITE = "suite.json"  # in it: the suite as it was frozen
MOST_BYTES = 100_000_000  # of what a file unpacks to
PARTS = ("header", "regret", "wrong")
Key = tuple[str, int, int]  # family, slate size, horizon


@dataclass(frozen=True)
class Row:
    """A policy in a cell."""

    family: str
    slate_size: int
    horizon: int
    regret: NDArray[np.float32]  # [instances, runs]; [instances, 0] if it was left out
    wrong: NDArray[np.bool_]  # [instances, runs]  the arm recommended at the end is not the best
    seconds: float  # CPU seconds of a run
    note: str = ""  # why there are fewer runs than the suite asks for, or none

    @property
    def key(self) -> Key:
        return self.family, self.slate_size, self.horizon

    @property
    def runs(self) -> int:
        """Runs of an instance."""
        return int(self.regret.shape[1])


@dataclass(frozen=True)
class PolicyResults:
    """All cells of a policy."""

    policy: str
    suite: str  # its digest
    facts: dict[str, Any]  # where the numbers come from: versions, hash of the code, what the policy is
    rows: dict[Key, Row] = field(default_factory=dict)

    @property
    def cpu_seconds(self) -> float:
        return sum(row.seconds * row.regret.size for row in self.rows.values())


def write(results: PolicyResults, path: Path) -> None:
    """Write a policy's results as one file, whole or not at all."""
    rows = [row for _, row in sorted(results.rows.items())]
    header = {
        **{"format": FORMAT, "policy": results.policy, "suite": results.suite, "facts": results.facts},
        "rows": [[*row.key, *row.regret.shape, float(f"{row.seconds:.4g}"), row.note] for row in rows],
    }
    regret = np.concatenate([np.zeros(0, "<f4"), *(row.regret.ravel().astype("<f4") for row in rows)])
    wrong = np.concatenate([np.zeros(0, bool), *(row.wrong.ravel() for row in rows)])
    file = io.BytesIO()
    np.savez_compressed(
        file,
        header=np.frombuffer(json.dumps(header, allow_nan=False).encode(), np.uint8),
        regret=np.ascontiguousarray(regret.view(np.uint8).reshape(-1, 4).T),
        wrong=np.packbits(wrong),
    )
    write_whole(path, file.getvalue())


def read(path: str | os.PathLike[str]) -> PolicyResults:
    """Read a policy's results. A file that is none, or that was damaged, is refused."""
    try:
        data = Path(file_name(path)).read_bytes()
    except FileNotFoundError:
        raise BadInput(f"'{path}' must be a file of benchmark results. Got no such file.") from None
    except OSError as error:
        raise BadInput(f"'{path}' cannot be read: {error.strerror}.") from None
    try:
        return _results(data)
    except BadInput as error:
        raise BadInput(f"'{path}': {error}") from None
    except (ValueError, KeyError, TypeError, IndexError, OSError, EOFError, zipfile.BadZipFile, NotImplementedError) as error:
        raise BadInput(f"'{path}' is no file of benchmark results, or it is damaged ({shortened(str(error))}).") from None


def _results(data: bytes) -> PolicyResults:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        if sorted(sizes) != sorted(f"{part}.npy" for part in PARTS) or sum(sizes.values()) > MOST_BYTES:
            raise ValueError("its parts are others, or too large")
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        header, planes, bits = (archive[part] for part in PARTS)
    if any(part.dtype != np.uint8 for part in (header, planes, bits)):
        raise ValueError("its parts are no bytes")
    told = json.loads(header.tobytes())
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise BadInput(f"Benchmark results must be of format '{FORMAT}'. Got {shortened(told)}.")
    if not (isinstance(told["policy"], str) and isinstance(told["suite"], str) and isinstance(told["facts"], dict)):
        raise ValueError("its header is not as it should be")
    regret = np.ascontiguousarray(planes.T).view("<f4").ravel()
    wrong = np.unpackbits(bits)[: len(regret)].astype(bool)
    rows: dict[Key, Row] = {}
    start = 0
    for family, slate_size, horizon, instances, runs, seconds, note in told["rows"]:
        whole = all(isinstance(n, int) and 0 <= n < 1 << 62 for n in (slate_size, horizon, instances, runs))
        timed = isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0.0
        if not (whole and timed and isinstance(family, str) and isinstance(note, str)):
            raise ValueError("a row is not as it should be")
        part = slice(start, start := start + instances * runs)
        ours, ends = (each[part].reshape(instances, runs) for each in (regret, wrong))
        row = Row(family, slate_size, horizon, ours, ends, seconds, note)
        if row.regret.size and not (np.isfinite(row.regret).all() and row.regret.min() >= 0.0):
            raise ValueError("regret is not a number of at least 0")
        rows[row.key] = row
    if start != len(regret) or len(wrong) != len(regret):
        raise ValueError("its rows are not as many as its header says")
    return PolicyResults(told["policy"], told["suite"], told["facts"], rows)


def read_folder(folder: Path) -> dict[str, PolicyResults]:
    """All files of results in a folder, by policy."""
    found = [read(path) for path in sorted(folder.glob(f"*{ENDING}"))]
    return {each.policy: each for each in found}


def shipped_folder() -> Path:
    return Path(str(importlib.resources.files(__package__).joinpath(SHIPPED)))


@functools.cache
def shipped_suite() -> Mapping[str, Any]:
    """The suite that the shipped results are of, as it was frozen."""
    suite: dict[str, Any] = json.loads((shipped_folder() / SUITE).read_text(encoding="utf-8"))
    return suite


@functools.cache
def shipped() -> Mapping[str, PolicyResults]:
    """The results of all policies that come with multiduel."""
    return read_folder(shipped_folder())


def worst_tenth(values: Iterable[float] | NDArray[Any]) -> float:
    """The mean of the worst tenth of runs, of at least one."""
    ordered = np.sort(np.asarray(values, np.float64).ravel())
    return float(ordered[-max(1, len(ordered) // 10) :].mean())
