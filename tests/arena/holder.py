"""A second process that votes, and stands still in the midst of its transaction until it is told to go on.

python -m tests.arena.holder DB TICKET
"""

from __future__ import annotations

import sys
from typing import Any

from multiduel.arena import Service, Unavailable, Vote, connect
from multiduel.arena.service import service as services
from multiduel.arena.service.decision import Decision


def main(db: str, ticket: str) -> None:
    def decide(decision: Decision, *words: Any) -> Any:
        services.decide = honest
        print("inside", flush=True)
        sys.stdin.readline()
        return honest(decision, *words)

    service = Service(connect(db))
    service.warm()
    honest, services.decide = services.decide, decide
    for _ in range(2):  # as a client does: what was not answered is sent again
        try:
            print("acknowledged", service.do(Vote(ticket, {"rank": [[0], [1], [2]]})).event, flush=True)
        except Unavailable as error:
            print("Unavailable", error, flush=True)
    service.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
