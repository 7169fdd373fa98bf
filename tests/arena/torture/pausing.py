"""Two servers on one PostgreSQL; one of them is stopped (SIGSTOP) while it holds the arena's lock. The other takes over."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from multiduel.arena.domain.errors import Unavailable
from multiduel.arena.journal import connect
from tests.arena.torture.audit import audit, live_boards
from tests.arena.torture.killing import PATIENCE, owner_of_an_arena
from tests.arena.torture.server import ServerProcess
from tests.arena.torture.stream import Stream

MOST = 30.0  # seconds that an arena may stand still
HELD = """
    SELECT COUNT(*) FROM pg_stat_activity JOIN pg_locks USING (pid)
    WHERE state LIKE 'idle in transaction%' AND now() - state_change > '0.1 s'
      AND relation = 'arenas'::regclass AND mode = 'RowShareLock'"""  # that of SELECT ... FOR UPDATE


def pause(
    url: str, *, pauses: int, votes: int = 60, patience: float = 120.0, sabotage: str = ""
) -> tuple[list[str], dict[str, Any]]:
    """Problems, and what happened."""
    problems: list[str] = []
    stopped, other = ServerProcess(url, sabotage=sabotage), ServerProcess(url)
    still: list[float] = []
    try:
        owner = owner_of_an_arena(stopped, url)
        arena = str(owner.arena)
        other.start()
        streams = [Stream(owner, 4, seed=8, patience=patience, names="stopped")]
        owner_there = type(owner)(other.url, owner.key, arena=arena, patience=PATIENCE)
        streams.append(Stream(owner_there, 4, seed=9, patience=patience, names="other"))
        for stream in streams:
            stream.start()
        for _ in range(pauses):
            for stream in streams:
                stream.wait_for(len(stream.ledger.votes) + votes, PATIENCE)
            if not stop_inside(url, stopped.pid):
                problems.append("the server was never met while it held the lock: nothing is proved")
                break
            start, there = time.monotonic(), streams[1]
            went_on = there.wait_for(len(there.ledger.votes) + 20, MOST)
            still.append(round(time.monotonic() - start, 1))
            os.kill(stopped.pid, signal.SIGCONT)
            if not went_on:
                problems.append(f"the arena stood still for {still[-1]:.0f} s")
        for stream in streams:
            stream.wait_for(len(stream.ledger.votes) + votes, PATIENCE)
            stream.stop()
        boards: list[dict[str, Any]] = []
        for one in (owner, owner_there):
            try:
                boards += live_boards(one, 1)
            except Unavailable as error:
                problems.append(f"a board is not shown any more: {error}")
        said = stopped.said()
        stopped.stop()
        other.stop()
    finally:
        stopped.throw_away()
        other.throw_away()
    ledger = streams[0].ledger
    ledger.votes += streams[1].ledger.votes
    ledger.undone |= streams[1].ledger.undone
    ledger.problems += streams[1].ledger.problems
    journal = connect(url)
    try:
        problems += audit(journal, arena, ledger, boards)
    finally:
        journal.close()
    return problems, {
        "pauses": len(still),
        "seconds to 20 votes elsewhere": still,
        "votes": len(ledger.votes),
        "503": "503" in said,
    }


def stop_inside(url: str, pid: int, tries: int = 2_000) -> bool:
    """Stop the process; go on and try again until it is met while it holds the lock."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(tries):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.15)
            row = connection.execute(HELD).fetchone()
            if row is not None and row[0] > 0:
                return True
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.01)
    return False
