"""The arena: a team's options, raters' votes, and a verdict when the winner is certain.

>>> import os, tempfile
>>> from multiduel.arena import Ask, Create, Open, AdmitRater, Service, Settings, Vote, connect
>>> from multiduel.arena.domain.options import Option, make_content
>>> service = Service(connect(os.path.join(tempfile.mkdtemp(), "arena.db")))
>>> options = [Option(name, (make_content("text", name),)) for name in ("mild", "sharp", "bitter")]
>>> arena = service.do(Create("taste", Settings(slate_size=3, seed=1), options)).id
>>> service.do(Open(arena)).status
'open'
>>> rater = service.do(AdmitRater(arena, "Ada"))
>>> ticket = service.do(Ask(arena, rater, request="1"))
>>> service.do(Vote(ticket.id, {"rank": [2, 0, 1]})).counted
'counted'
>>> service.close()
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Loaded on first use, so that a client needs no Numba.
_HOME = {
    "Client": "client",
    "Service": "service.service",
    "Settings": "domain.settings",
    "connect": "journal",
    **dict.fromkeys(("BrokenLog", "Conflict", "Forbidden", "NotFound", "Refused", "RolledBack", "Unavailable"), "domain.errors"),
}  # of the others: commands

__all__ = [  # written out, because type checkers do not run code
    "AddOptions", "AdmitRater", "ArenaInfo", "Ask", "BrokenLog", "ChangeMargin", "ChangePolicy", "Client", "Close",
    "Conflict", "Create", "Done", "Forbidden", "ImportReport", "ImportVotes", "LineReport", "NotFound", "Open",
    "Pause", "PrintTickets", "Quarantine", "Receipt", "Refused", "Release", "RetireOption", "RolledBack", "Service",
    "Settings", "Ticket", "Unavailable", "Undo", "Vote", "VoteLine", "connect",
]  # fmt: skip

if TYPE_CHECKING:
    from multiduel.arena.client import Client
    from multiduel.arena.domain.commands import (
        AddOptions,
        AdmitRater,
        ArenaInfo,
        Ask,
        ChangeMargin,
        ChangePolicy,
        Close,
        Create,
        Done,
        ImportReport,
        ImportVotes,
        LineReport,
        Open,
        Pause,
        PrintTickets,
        Quarantine,
        Receipt,
        Release,
        RetireOption,
        Ticket,
        Undo,
        Vote,
        VoteLine,
    )
    from multiduel.arena.domain.errors import BrokenLog, Conflict, Forbidden, NotFound, Refused, RolledBack, Unavailable
    from multiduel.arena.domain.settings import Settings
    from multiduel.arena.journal import connect
    from multiduel.arena.service.service import Service


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'multiduel.arena' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"multiduel.arena.{_HOME.get(name, 'domain.commands')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
