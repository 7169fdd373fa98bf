"""A disk that is full: clear errors, nothing lost that was acknowledged, and on it goes when there is room again."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from multiduel.arena.client import Client
from multiduel.arena.journal import connect
from tests.arena.torture.audit import audit, live_boards
from tests.arena.torture.killing import PATIENCE, owner_of_an_arena
from tests.arena.torture.server import ServerProcess
from tests.arena.torture.stream import Stream

SMALL = 600_000  # bytes: some hundreds of votes


@contextmanager
def a_small_disk(folder: Path) -> Iterator[Callable[[], None] | None]:
    """A disk of its own in ``folder``, and how to enlarge it; None where one may not mount any."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(words, capture_output=True, check=False).returncode != 0:
        yield None
        return
    try:
        yield lambda: subprocess.run(["mount", "-o", "remount,size=50m", str(folder)], check=True) and None
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, enlarge: Callable[[], None] | None) -> tuple[list[str], dict[str, Any]]:
    """Problems, and what happened. Without a disk of its own, files of the server may have SMALL bytes only."""
    db = str(folder / "arena.db")
    server = ServerProcess(db, file_limit=None if enlarge else SMALL)
    problems: list[str] = []
    try:
        owner = owner_of_an_arena(server, db)
        stream = Stream(owner, 4, seed=2, patience=1.0)  # who is told "try again" gives up after a second
        stream.start()
        stream.wait_for(10**6, PATIENCE)  # until nobody is left
        told = list(stream.ledger.problems)
        stream.ledger.problems.clear()
        when_full = len(stream.ledger.votes)
        if not told or not all("Unavailable" in words for words in told):
            problems.append(f"raters were not told to try again: {told}")
        for number in range(100):  # a rater is less to write than a vote: there may be room for a few yet
            status, answer = raw_ask(owner, f"one more, {number}")
            if status != 201:
                break
        if status != 503 or "error" not in answer:
            problems.append(f"an ask on a full disk was answered {status} {answer}")
        if "full" not in server.said() and "disk I/O error" not in server.said():
            problems.append(f"the server's log does not say why: {server.said()!r}")
        live_boards(owner, 1)  # looking needs no room
        if enlarge is not None:
            enlarge()
        else:
            server.raise_file_limit()
        again = Stream(owner.with_key(str(owner.key)), 4, seed=3, names="later")
        again.start()
        again.wait_for(50, PATIENCE)
        again.stop()
        boards = live_boards(owner, 1)
        server.stop()
        ledger = again.ledger
        ledger.votes += stream.ledger.votes
        ledger.undone |= stream.ledger.undone
        journal = connect(db)
        try:
            problems += [problem for problem in audit(journal, str(owner.arena), ledger, boards)]
        finally:
            journal.close()
    finally:
        server.throw_away()
    return problems, {"when_full": when_full, "after": len(ledger.votes) - when_full, "told": told[:1], "answer": answer}


def raw_ask(owner: Client, label: str) -> tuple[int, Any]:
    """A new rater needs to be written down: it cannot be now."""
    connection = http.client.HTTPConnection("127.0.0.1", int(owner.url.rpartition(":")[2]), timeout=60)
    headers = {"Authorization": f"Bearer {owner.key}", "Content-Type": "application/json"}
    connection.request("POST", f"/arenas/{owner.arena}/raters", json.dumps({"label": label}), headers)
    response = connection.getresponse()
    return response.status, json.loads(response.read())
