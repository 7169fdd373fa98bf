"""A server whose clock jumps while raters vote: order, counts and today's dates must come out right, and the jumps be said."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from multiduel.arena.domain.clock import went_back
from multiduel.arena.domain.events import time_of
from multiduel.arena.journal import connect
from tests.arena.torture.audit import audit, live_boards
from tests.arena.torture.killing import PATIENCE, owner_of_an_arena
from tests.arena.torture.sabotaged import CLOCK
from tests.arena.torture.server import ServerProcess
from tests.arena.torture.stream import Stream

JUMPS = (3650 * 86_400, 0, -86_400, 0, 7_200, -7_200, 0)  # seconds that the clock is ahead, one after the other
NEAR = 120.0  # seconds


def jump(
    folder: Path, *, votes: int = 60, jumps: tuple[int, ...] = JUMPS, sabotage: str = "has-a-clock-that-jumps"
) -> tuple[list[str], dict[str, Any]]:
    """Problems, and what happened."""
    db, offset = str(folder / f"{sabotage}.db"), folder / f"{sabotage}.ahead"
    offset.write_text("0")
    os.environ[CLOCK] = str(offset)
    server = ServerProcess(db, sabotage=sabotage)
    try:
        owner = owner_of_an_arena(server, db)
        arena = str(owner.arena)
        stream = Stream(owner, 6, seed=7, expiring=True)
        stream.start()
        for ahead in jumps:
            stream.wait_for(len(stream.ledger.votes) + votes, PATIENCE)
            replaced = folder / "ahead"
            replaced.write_text(str(ahead))
            os.replace(replaced, offset)
        last_jump = len(stream.ledger.votes)
        stream.wait_for(last_jump + votes, PATIENCE)
        stream.stop()
        boards = live_boards(owner, 1)
        said = server.said()
        server.stop()
    finally:
        server.throw_away()
        del os.environ[CLOCK]
    journal = connect(db)
    try:
        problems = audit(journal, arena, stream.ledger, boards)
        events = journal.events(arena)
    finally:
        journal.close()
    marked = sum(went_back(event.body) > 0 for event in events)
    back = sum(now < before for before, now in zip((0, *jumps), jumps, strict=False))
    if marked != back:
        problems.append(f"the clock went back {back} times, the log says {marked}")
    off = abs(time_of(events[-1].at).timestamp() - time.time())
    if off > NEAR:
        problems.append(f"the last event is dated {events[-1].at}: the clock is right again and the dates are not")
    if "The clock of this machine jumped" not in said:
        problems.append("the server's log does not say that the clock jumped")
    return problems, {"votes": len(stream.ledger.votes), "jumps": len(jumps), "back": back, "marked": marked}
