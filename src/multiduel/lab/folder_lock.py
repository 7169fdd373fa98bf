"""One command at a time in a folder of results: the second names the process that is running."""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from multiduel.inputs import BadInput
from multiduel.lab.experiment import QUICK, Experiment

Answer = TypeVar("Answer")


@contextmanager
def occupied(folder: Path) -> Iterator[None]:
    """Hold the folder while results are written into it. The lock lies beside it, and goes with the process, however it ends."""
    try:
        import fcntl
    except ImportError:  # not on this system: then nobody is kept out
        yield
        return
    path = folder.parent / f".{folder.name}.lock"
    new = not folder.parent.exists()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+")  # noqa: SIM115
    except OSError:  # a folder that cannot be written is refused, in its own words, by who writes there
        yield
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            who = file.read().strip() or "another process"
            raise BadInput(f"'{folder}' is at work already: {who}. Wait for it, or choose another folder with --out.") from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {platform.node()}")
        file.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
            if new:
                with suppress(OSError):  # nothing was written: nothing is left
                    folder.parent.rmdir()


def one_at_a_time(run: Callable[..., Answer]) -> Callable[..., Answer]:
    """Of a function of an experiment and a folder of results: it holds the experiment's folder meanwhile."""

    @functools.wraps(run)
    def alone(experiment: Experiment, out: Path, *, quick: bool = False, **options: Any) -> Answer:
        with occupied(Path(out) / (experiment.name + (QUICK if quick else ""))):
            return run(experiment, out, quick=quick, **options)

    return alone
