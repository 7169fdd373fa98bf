"""What was read of a log, in a file: so that a report of a log that grew reads only what is new.

It is data of this machine, beside the log and as confidential as the log; a file that does not fit, in any way, is ignored.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
from typing import Any

import numpy as np

from multiduel.files import file_name, whole_file
from multiduel.rankers.judgements import KEPT, NOBODY, Codes, Judgements, line_id
from multiduel.rankers.log import Faults, Log

FORMAT = "multiduel-log-state-2"
EDGE = 4096  # bytes at the beginning and the end of what was read, by which the log is known again
COLUMNS = {
    "time": np.float64,
    "user": np.int32,
    "session": np.int32,
    "method": np.int32,
    "drop": np.bool_,
    "clicks": np.int32,
    "offset": np.int64,
}
NAMES = ("rankers", "users", "sessions", "methods")


def save_state(path: str | os.PathLike[str], log: Log, about: dict[str, Any], found: Judgements, end: int) -> None:
    """Write what was read up to ``end``."""
    head = {
        "format": FORMAT,
        "version": _version(),
        "about": {name: str(value) for name, value in about.items()},
        "end": end,
        "edges": _edges(log, end),
        "faults": found.faults._asdict(),
        "metrics": list(found.won),
        "fields": {name: texts.names for name, (_, texts) in found.fields.items()},
        **{name: getattr(found, name).names for name in NAMES},
    }
    arrays: dict[str, Any] = {name: getattr(found, name) for name in COLUMNS}
    arrays |= {f"field {k}": codes for k, (codes, _) in enumerate(found.fields.values())}
    arrays |= {f"won {k}": column for k, column in enumerate(found.won.values())}
    arrays |= {"arm_start": found.arm_start, "arms": found.arms, "kept": found.kept}
    arrays |= {"ids": np.frombuffer(found.ids, np.uint8), "head": np.frombuffer(json.dumps(head).encode(), np.uint8)}
    with whole_file(path) as draft, open(draft, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def load_state(path: str | os.PathLike[str], log: Log, about: dict[str, Any]) -> tuple[Judgements, int] | None:
    """What was read before, and up to where; None if there is nothing that fits this log and these options."""
    try:
        with np.load(file_name(path), allow_pickle=False) as arrays:
            head = json.loads(arrays["head"].tobytes())
            wanted = (FORMAT, _version(), {name: str(value) for name, value in about.items()})
            if (head["format"], head["version"], head["about"]) != wanted:
                return None
            end = head["end"]
            if not isinstance(end, int) or not 0 <= end <= log.size() or head["edges"] != _edges(log, end):
                return None
            return _checked(head, arrays), end
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, zipfile.BadZipFile):
        return None


def _checked(head: dict[str, Any], arrays: Any) -> Judgements:
    """Compiled code checks nothing, so that every number is checked here. Raises ValueError."""
    texts: dict[str, Any] = {name: _codes(head[name]) for name in NAMES}
    found = Judgements(**texts, faults=Faults(**head["faults"]))
    for name, kind in COLUMNS.items():
        setattr(found, name, _array(arrays[name], kind))
    N = found.pages
    found.arm_start, found.arms = _array(arrays["arm_start"], np.int64), _array(arrays["arms"], np.int32)
    found.ids = arrays["ids"].tobytes()
    found.kept = arrays["kept"]
    found.hashes = np.fromiter((hash(line_id(line)) for line in io.BytesIO(found.ids)), np.int64, found.ids.count(b"\n"))
    found.won = {str(metric): _array(arrays[f"won {k}"], np.float32) for k, metric in enumerate(head["metrics"])}
    found.fields = {
        str(name): (_array(arrays[f"field {k}"], np.int32), _codes(texts))
        for k, (name, texts) in enumerate(head["fields"].items())
    }
    starts = found.arm_start
    good = (
        all(len(getattr(found, name)) == N for name in COLUMNS)
        and len(starts) == N + 1
        and starts[0] == 0
        and starts[-1] == len(found.arms)
        and bool((np.diff(starts) >= 1).all())
        and found.ids.count(b"\n") == N
        and _within(found.arms, 0, len(found.rankers))
        and _within(found.user, NOBODY, len(found.users))
        and _within(found.session, NOBODY, len(found.sessions))
        and _within(found.method, 0, len(found.methods))
        and _within(found.clicks, 0, 2**31 - 1)
        and all(len(codes) == N and _within(codes, NOBODY, len(texts)) for codes, texts in found.fields.values())
        and bool(np.isfinite(found.time).all())
        and found.kept.ndim == 1
        and found.kept.dtype == KEPT
        and _within(found.kept["page"], 0, N)
        and _within(found.kept["slot"], 0, math.inf)
        and _within(found.kept["metric"], 0, len(found.won))
        and bool(np.isfinite(found.kept["weight"]).all())
    )
    if not good or not all(len(won) == found.pair_start[-1] and _within(won, 0.0, 1.0001) for won in found.won.values()):
        raise ValueError
    return found


def _codes(names: Any) -> Codes:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError
    return Codes(names)


def _array(array: Any, kind: Any) -> Any:
    if array.dtype != kind or array.ndim != 1:
        raise ValueError
    return array


def _within(array: Any, low: float, high: float) -> bool:
    return not len(array) or bool(low <= array.min() and array.max() < high)


def _edges(log: Log, end: int) -> str:
    """A digest of the beginning and the end of what was read: a log that was rewritten has others."""
    with open(log.path, "rb") as file:
        first = file.read(min(EDGE, end))
        file.seek(max(0, end - EDGE))
        last = file.read(min(EDGE, end))
    return hashlib.sha256(first + b"|" + last).hexdigest()


def _version() -> str:
    import multiduel

    return multiduel.__version__
