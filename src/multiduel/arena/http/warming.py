"""Loading the kernels in the background, so that the server answers at once and the first rater does not wait."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from multiduel.arena.commands import AdmitRater, Ask, Create, Open, Vote
from multiduel.arena.http.doors import Doors
from multiduel.arena.journal import connect
from multiduel.arena.options import Option, make_content
from multiduel.arena.service import Service
from multiduel.arena.settings import Settings


def warm(doors: Doors) -> None:
    """Ready once every policy in use has chosen a slate and learned from a vote, in arenas that are thrown away."""
    try:
        arenas = [doors.service.info(row.id) for row in doors.service.arenas()]
        in_use = {Settings().policy: Settings()}
        in_use.update(
            (arena.settings.policy, arena.settings) for arena in arenas if arena.status in ("created", "open", "paused")
        )
        for settings in in_use.values():
            rehearse(Settings(policy=settings.policy, parameters=settings.parameters, question=settings.question))
    except Exception as error:  # it serves without; but it must be seen
        doors.why_not_ready = "The kernels could not be loaded. The server's log says why."
        logging.getLogger("multiduel.arena").exception("Warming up failed: %s", error)
    else:
        doors.ready.set()


def rehearse(settings: Settings) -> None:
    with tempfile.TemporaryDirectory() as folder:
        service = Service(connect(Path(folder) / "rehearsal.db"))
        try:
            options = [Option(name, (make_content("text", name),)) for name in ("a", "b", "c")]
            arena = service.do(Create("rehearsal", settings, options)).id
            service.do(Open(arena))
            rater = service.do(AdmitRater(arena, "rater"))
            for turn in range(2):
                ticket = service.do(Ask(arena, rater, f"ask {turn}"))
                ballot = {"rank": [0, 1]} if settings.question == "rank" else {settings.question: 0}
                service.do(Vote(ticket.id, ballot))
            service.board(arena)
        finally:
            service.close()
