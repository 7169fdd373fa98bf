"""A database that goes back in time beneath a running server: said to everyone, and nothing more is acknowledged."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from multiduel.arena.client import Client
from multiduel.arena.journal import connect
from multiduel.arena.web.access import Access
from tests.arena.backups import backups_of
from tests.arena.torture.audit import audit, live_boards
from tests.arena.torture.full_disk import raw_ask
from tests.arena.torture.killing import PATIENCE, owner_of_an_arena
from tests.arena.torture.server import ServerProcess
from tests.arena.torture.stream import Stream

IN_FLIGHT = 1.0  # seconds in which an answer may arrive that was true when it was sent
SAID = "The database has lost events"


def go_back(
    kind: str, folder: Path, *, votes: int = 100, patience: float = 15.0, sabotage: str = ""
) -> tuple[list[str], dict[str, Any]]:
    """Problems, and what happened. ``kind`` is sqlite or postgres."""
    problems: list[str] = []
    with backups_of(kind, folder) as backups:
        server = ServerProcess(backups.db, sabotage=sabotage)
        try:
            owner = owner_of_an_arena(server, backups.db)
            arena = str(owner.arena)
            calm = _another(server, backups.db)
            quiet = calm.with_key(calm.admit("before").key)
            ticket = quiet.vote(quiet.ask(), {"rank": [[0], [1]]}, next=True)["next"]
            stream = Stream(owner, 4, seed=5, patience=patience)
            ledger = stream.ledger
            stream.start()
            stream.wait_for(votes, PATIENCE)
            sure = time.time()
            backups.keep("older")
            stream.wait_for(len(ledger.votes) + votes, PATIENCE)
            backups.put_back("older")
            back = time.time()
            stream.wait_for(10**6, 25.0)  # until all have given up
            stream.stop()
            told, ledger.problems = list(ledger.problems), []
            after = [vote for vote in ledger.votes if vote.answered > back + IN_FLIGHT]
            if after:
                problems.append(f"{len(after)} votes were acknowledged after the database went back")
            if not told or not all(SAID in words for words in told):
                problems.append(f"raters were not told what happened: {told}")
            status, answer = raw_ask(owner, "one more")
            if status != 503 or SAID not in answer.get("error", ""):
                problems.append(f"the owner was answered {status} {answer}")
            if SAID not in server.said():
                problems.append("the server's log does not say it")
            if quiet.vote(ticket, {"rank": [[0], [1]]})["counted"] != "counted":
                problems.append("an arena that lost nothing did not go on")
            server.stop()
            kept = _events(backups.db, arena)
            lost = [vote for vote in ledger.votes if vote.event > kept]
            if any(vote.answered < sure for vote in lost):
                problems.append("a vote is lost that was acknowledged before the copy was made")
            ledger.votes = [vote for vote in ledger.votes if vote.event <= kept]
            ledger.undone = {one: number for one, number in ledger.undone.items() if number <= kept}
            server.start()  # whoever starts it anew has decided to go on with what is left
            again = Stream(owner, 4, seed=6, names="later")
            again.start()
            again.wait_for(votes, PATIENCE)
            again.stop()
            boards = live_boards(owner, 1)
            server.stop()
            ledger.problems += again.ledger.problems
            ledger.votes += again.ledger.votes
            ledger.undone |= again.ledger.undone
            journal = connect(backups.db)
            problems += audit(journal, arena, ledger, boards)
            journal.close()
        finally:
            server.throw_away()
    return problems, {
        "lost": len(lost),
        "acknowledged after it": len(after),
        "told": told[:1],
        "after a start": len(again.ledger.votes),
    }


def _another(server: ServerProcess, db: str) -> Client:
    """The owner of an arena that nothing happens to meanwhile."""
    journal = connect(db)
    key = Access(journal.secrets).new_key("server")
    journal.close()
    names = [{"name": f"option {k}", "kind": "text", "content": f"content {k}"} for k in range(3)]
    calm = Client(server.url, key, patience=PATIENCE).create("calm", names, slate_size=2, go_on=True, seed=4)
    calm.open()
    return calm


def _events(db: str, arena: str) -> int:
    journal = connect(db)
    try:
        return len(journal.events(arena))
    finally:
        journal.close()
