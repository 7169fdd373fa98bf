"""Every policy that can learn from votes it did not ask for serves a lively arena, and its slates are found again.

Run with NUMBA_DISABLE_JIT=1: the same source, and nothing to compile. Prints a line per policy.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from multiduel.arena import Settings
from multiduel.arena.files.verify import verify
from multiduel.engine.registry.registry import POLICIES
from multiduel.inputs import BadInput
from tests.arena.play import Clock, an_arena, lively, running


def serves(policy: str, folder: Path) -> str:
    try:
        Settings(policy=policy)
    except BadInput:
        return "refused"
    clock, db = Clock(), folder / f"{policy}.db"
    with running(db, clock) as service:
        arena, _ = an_arena(service, 5, raters=4, policy=policy, room=9, expires=60)
        lively(service, arena, clock, random.Random(1), 80, churn=0.05)
        live = service.digest(arena)
        good = verify(service.journal, arena).good
    with running(db, clock) as service:
        return "serves" if good and service.digest(arena) == live else "differs"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name in POLICIES:
            print(name, serves(name, Path(folder)))
