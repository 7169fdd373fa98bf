"""Kill -9 during a stream of votes, again and again; then the audit."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

from multiduel.arena.client import Client
from multiduel.arena.journal import connect
from multiduel.arena.web.access import Access
from tests.arena.a_postgres import Postgres
from tests.arena.torture.audit import audit, live_boards
from tests.arena.torture.server import ServerProcess
from tests.arena.torture.stream import Stream

PATIENCE = 180.0  # seconds for the votes between two kills, on a busy machine too


@dataclass
class Outcome:
    kills: int = 0
    votes: int = 0  # acknowledged
    undos: int = 0
    resent: int = 0  # on purpose, after they were answered
    cut: int = 0  # requests in flight when the server was killed
    committed: int = 0  # votes in the log before a kill, answered after it: their clients sent them again
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = f"{self.kills} kills, {self.votes} votes acknowledged, {self.undos} undone, {self.resent} sent again, "
        counts += f"{self.cut} requests cut in flight; {self.committed} votes committed before a kill and answered after it"
        return "\n".join([counts, *(f"FAILED: {problem}" for problem in self.problems or [])])


def owner_of_an_arena(server: ServerProcess, db: str, options: int = 5) -> Client:
    """The owner of a new arena that is open and never settled for good."""
    journal = connect(db)
    key = Access(journal.secrets).new_key("server")
    journal.close()
    server.start()
    names = [{"name": f"option {k}", "kind": "text", "content": f"content {k}"} for k in range(options)]
    owner = Client(server.url, key, patience=PATIENCE).create("tortured", names, slate_size=3, go_on=True, seed=3)
    owner.open()
    return owner


def torture(
    db: str,
    *,
    kills: int,
    votes_between: int,
    raters: int = 8,
    workers: int = 1,
    sabotage: str = "",
    seed: int = 1,
    postgres: Postgres | None = None,
    least_votes: int | None = None,
) -> Outcome:
    """With several workers, one of them is killed, and every third time all; with ``postgres``, every fifth time that crashes.

    A run proves something only if there were enough votes and requests that were cut: otherwise that is a problem too.
    """
    rng = random.Random(seed)
    server = ServerProcess(db, workers=workers, sabotage=sabotage)
    try:
        owner = owner_of_an_arena(server, db)
        arena = str(owner.arena)
        stream = Stream(owner, raters, seed=seed)
        ledger = stream.ledger
        stream.start()
        for turn in range(1, kills + 1):
            stream.wait_for(len(ledger.votes) + votes_between, PATIENCE)
            time.sleep(rng.uniform(0.0, 0.03))
            if postgres is not None and turn % 5 == 0:
                server.kills.append(time.time())
                postgres.crash()
                postgres.start()
            elif workers > 1 and turn % 3 != 2:
                server.kill_a_worker(rng)
            else:
                server.kill(stream.until_one_waits)
                server.start()
        stream.wait_for(len(ledger.votes) + votes_between, PATIENCE)
        stream.stop()
        boards = live_boards(owner, 1 if workers == 1 else 4 * workers)
        server.stop()  # it saves a snapshot: the live state, to be compared with the replay
    finally:
        server.throw_away()
    journal = connect(db)
    try:
        problems = audit(journal, arena, ledger, boards)
        when = {event.number: event.at for event in journal.events(arena)}
    finally:
        journal.close()
    outcome = Outcome(len(server.kills), len(ledger.votes), len(ledger.undone), ledger.resent, ledger.cut_in_flight(server.kills))
    outcome.committed = sum(_committed_before(when.get(vote.event, ""), vote.answered, server.kills) for vote in ledger.votes)
    least = votes_between * (kills + 1) if least_votes is None else least_votes
    if outcome.votes < least:
        problems.append(f"too few votes to prove anything: {outcome.votes}, and {least} were wanted")
    if outcome.cut == 0:
        problems.append("no request was cut in flight: nothing is proved")
    outcome.problems = problems
    return outcome


def _committed_before(at: str, answered: float, kills: list[float]) -> bool:
    """Was it written down before a kill, and answered only after it?"""
    from multiduel.arena.domain.events import time_of

    written = time_of(at).timestamp() if at else answered
    return any(written <= kill <= answered for kill in kills)
