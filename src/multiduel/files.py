"""Result files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from multiduel.inputs import BadInput


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A draft beside ``path`` that takes its place at the end, or vanishes. Refused at once if it cannot be written."""
    target = Path(path).resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    if target.exists() and not target.is_file():
        raise BadInput(f"'{path}' must be a file. Got a folder or device of that name.")
    if target.exists() and not os.access(target, os.W_OK):
        raise BadInput(f"'{path}' cannot be written: Permission denied.")
    try:
        draft.touch()
    except OSError as error:
        raise BadInput(f"'{path}' cannot be written: {error.strerror}.") from None
    try:
        yield draft
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
