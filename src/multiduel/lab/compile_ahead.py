"""Compiling ahead, in a process of its own: a process compiles one function at a time, and a fresh checkout has some twenty to
compile before much can be played.

It begins with what will be wanted last, so that the two meet in the middle: what it has stored by then is loaded instead of
compiled. If it fails, or nothing can be stored, all is compiled where it is played, as without it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from multiduel.lab.experiment import Experiment

ARMS = 4  # of the problem that is played for one round: how many they are is not compiled in


def kinds(experiments: Iterable[Experiment]) -> list[tuple[str, dict[str, Any]]]:
    """The policies with the machines plugged into them, each once, in the order in which they will be wanted."""
    found = {}
    for experiment in experiments:
        for contender in experiment.contenders:
            machines = {name: value for name, value in contender.params.items() if name == "machine"}
            if contender.features is None:
                found[contender.policy, *machines.values()] = (contender.policy, machines)
    return list(found.values())


@contextmanager
def compiling(experiments: Iterable[Experiment], cores: int) -> Iterator[None]:
    """While this lasts, another process compiles too; only where there is a core for it."""
    helper = None
    if cores > 1:
        command = [sys.executable, "-m", __name__, json.dumps(kinds(experiments)[::-1])]
        quiet = subprocess.DEVNULL
        with suppress(OSError):
            helper = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        yield
    finally:
        if helper is not None:
            helper.terminate()
            helper.wait()


def main() -> None:
    from multiduel import simulate, synthetic
    from multiduel.engine.registry.registry import find

    for policy, machines in json.loads(sys.argv[1]):
        simulate(find(policy), synthetic(ARMS), horizon=1, runs=1, checkpoints=[1], threads=1, **machines)


if __name__ == "__main__":
    main()
