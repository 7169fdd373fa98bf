"""Snapshots are input like any other: every number in one is checked before compiled code, which checks nothing, sees it."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Stream
from multiduel.inference.tally import MOST_COUNT
from multiduel.inputs import BadInput, shortened
from multiduel.kernels import validity
from multiduel.kernels.contract import valid
from multiduel.kernels.evidence import Counts

FORMAT = "multiduel-policy-2"
FINGERPRINT = 16  # hexadecimal digits
MOST_OPEN = 100_000  # slates asked and not told that are remembered
MOST_OPEN_FEATURES = 10_000_000  # numbers that describe their arms, where every round brings its own


def refuse(what: str) -> BadInput:
    return BadInput(f"This is not a whole snapshot of a policy: {what}.")


def part(saved: Any, name: str, kind: type) -> Any:
    """A part of the snapshot, if it is there and of this type."""
    if not isinstance(saved, Mapping):
        raise refuse(f"it is no dict but {shortened(saved)}")
    if name not in saved or not isinstance(saved[name], kind):
        raise refuse(f"'{name}' is missing or no {kind.__name__}")
    return saved[name]


def number(value: Any, least: int, most: int, name: str) -> int:
    """An int from ``least`` to ``most``."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise refuse(f"'{name}' must be from {least:,} to {most:,}. Got {shortened(value)}")
    return value


def read_labels(saved: Any, n_arms: int) -> list[int]:
    labels: list[int] = part(saved, "labels", list)
    if len(labels) != n_arms:
        raise refuse(f"'labels' must name {n_arms} arms. Got {len(labels)}")
    if sorted(number(label, 0, n_arms - 1, "labels") for label in labels) != list(range(n_arms)):
        raise refuse("'labels' must name every arm once")
    return labels


def read_fingerprint(saved: Any) -> str:
    fingerprint: str = part(saved, "fingerprint", str)
    if len(fingerprint) != FINGERPRINT or not set(fingerprint) <= set("0123456789abcdef"):
        raise refuse(f"'fingerprint' must be {FINGERPRINT} hexadecimal digits. Got {shortened(fingerprint)}")
    return fingerprint


def read_rng(saved: Any) -> Stream:
    words = [number(word, 0, (1 << 64) - 1, "rng") for word in part(saved, "rng", list)]
    if len(words) != 4 or not any(words):  # from four zeros nothing but zeros would follow
        raise refuse("'rng' must be four numbers, not all of them 0")
    return np.array(words, np.uint64)


def read_open(saved: Any, n_arms: int, seats: int, round: int) -> Iterable[tuple[int, tuple[int, ...]]]:
    """Slates asked and not yet told, oldest first."""
    pairs = part(saved, "open", list)
    if len(pairs) > MOST_OPEN:
        raise refuse(f"at most {MOST_OPEN:,} slates are open. Got {len(pairs):,}")
    last = 0
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[1], list | tuple):
            raise refuse(f"an open slate is a round and its arms. Got {shortened(pair)}")
        last = number(pair[0], last + 1, round, "the round of an open slate")
        arms = tuple(number(arm, 0, n_arms - 1, "an arm of an open slate") for arm in pair[1])
        if len(set(arms)) < len(arms) or not 2 <= len(arms) <= seats:
            raise refuse(f"an open slate has 2 to {seats} different arms. Got {shortened(arms)}")
        yield last, arms


def read_features(
    saved: Any, n_arms: int, dimension: int, open: Mapping[int, tuple[int, ...]], most: float
) -> tuple[Floats, dict[int, Floats]]:
    """The features of the last ask, a row per arm, and those of every open slate."""
    features = part(saved, "features", dict)
    packed = part(features, "open", list)
    if len(packed) != len(open):
        raise refuse(f"'features' must describe {len(open)} open slates. Got {len(packed)}")
    if sum(map(len, open.values())) * dimension > MOST_OPEN_FEATURES:
        raise refuse(f"'features' must hold at most {MOST_OPEN_FEATURES:,} numbers of open slates")
    last = np.zeros((n_arms, dimension))
    rows = {round: np.zeros((len(arms), dimension)) for round, arms in open.items()}
    for one, table in zip((part(features, "last", list), *packed), (last, *rows.values()), strict=True):
        unpack(one, table, "features")
        if not validity.between(table, -most, most):
            raise refuse(f"'features' must be numbers from {-most:,.0f} to {most:,.0f}")
    return last, rows


def leaves(state: Any) -> list[Any]:
    """The arrays of a State, those of the machines inside it included."""
    return [leaf for value in state for leaf in (leaves(value) if isinstance(value, tuple) else [value])]


def is_scratch(params: Any, state: Any, n_arms: int, round: int) -> list[bool]:
    """Of each of the ``leaves``, whether its algorithm says that it is written before it is read: it need not be stored."""

    def each(state: Any, findings: dict[str, Any]) -> list[bool]:
        flags: list[bool] = []
        for name, value in state._asdict().items():
            found = findings.get(name, {})
            flags += each(value, found) if isinstance(value, tuple) else [found is validity.SCRATCH]
        return flags

    if type(params) not in valid.table:  # an outside policy that nobody has restored yet
        return [False] * len(leaves(state))
    return each(state, _findings(params, state, n_arms, round))


def pack(array: Any) -> list[Any]:
    raw = zlib.compress(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes(), 1)
    return [array.dtype.str[1:], list(array.shape), base64.b64encode(raw).decode("ascii")]


def unpack_all(packed: list[Any], arrays: list[tuple[Any, bool]], name: str) -> None:
    """Scratch stays as ``init`` made it, whatever stands in its place: None, or an array from versions that stored it."""
    if len(packed) != len(arrays):
        raise refuse(f"'{name}' must hold {len(arrays)} arrays")
    for one, (array, scratch) in zip(packed, arrays, strict=True):
        if not scratch:
            unpack(one, array, name)


def unpack(packed: Any, array: Any, name: str) -> None:
    """Fill ``array`` with what ``pack`` made of one of the same type and shape."""
    expected = f"{array.dtype.str[1:]}{list(array.shape)}"
    if not isinstance(packed, list | tuple) or len(packed) != 3 or not isinstance(packed[2], str):
        raise refuse(f"'{name}' must be a type, a shape and text")
    if [packed[0], packed[1]] != [array.dtype.str[1:], list(array.shape)]:
        raise refuse(f"an array in '{name}' must be {expected}. Got {shortened(packed[0])}{shortened(packed[1])}")
    try:
        raw = zlib.decompressobj().decompress(base64.b64decode(packed[2], validate=True), array.nbytes + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise refuse(f"an array in '{name}' cannot be read") from None
    if len(raw) != array.nbytes:
        raise refuse(f"an array in '{name}' must have {array.nbytes} bytes. Got {len(raw)} or more")
    array[...] = np.frombuffer(raw, f"<{array.dtype.str[1:]}").reshape(array.shape)


def check_answers(tally: Counts) -> None:
    """By what counts of answers can be."""
    level, shares = tally.ties, tally.shares
    sums = validity.counts(shares) and bool((shares[:, 0] <= shares[:, 1] * (1.0 + 1e-9)).all())
    few = max(float(table.max(initial=0.0)) for table in tally) <= MOST_COUNT / 2.0  # so that it can go on counting
    if not (few and validity.tally(tally.above) and validity.tally(level) and (level == level.T).all() and sums):
        raise refuse("'tally' holds what it cannot hold")


def check_state(policy: str, params: Any, state: Any, n_arms: int, round: int) -> None:
    """By the invariants that the algorithm declares."""
    _check(policy, state, _findings(params, state, n_arms, round))


def _findings(params: Any, state: Any, n_arms: int, round: int) -> dict[str, Any]:
    with np.errstate(all="ignore"):
        return dict(valid(params, state, n_arms, round))


def _check(policy: str, state: Any, findings: dict[str, Any]) -> None:
    if set(findings) != set(state._fields):
        odd = ", ".join(sorted(set(findings) ^ set(state._fields)))
        raise TypeError(f"'valid' of '{policy}' must speak of every field of {type(state).__name__}. It differs in: {odd}.")
    for name, value in state._asdict().items():
        if isinstance(value, tuple):
            _check(policy, value, findings[name])
        elif not findings[name]:
            raise refuse(f"'{name}' in the state of '{policy}' holds what it cannot hold")
