"""Loading the kernels in the background, so that the server answers at once and the first rater does not wait."""

from __future__ import annotations

import logging

from multiduel.arena.epochs import warm
from multiduel.arena.http.doors import Doors
from multiduel.inference import Tally, forecast


def warm_up(doors: Doors) -> None:
    """Ready once the kernels of every policy in use are loaded, and every arena that takes votes is folded."""
    try:
        doors.service.warm()
        policies = set()
        for row in doors.service.arenas():
            info = doors.service.info(row.id)
            if info.status != "closed":
                policies.add(info.settings.policy)
        for policy in sorted(policies):
            warm(policy)
        forecast(Tally.of([[0, 30], [30, 0]]))  # which boards ask for
    except Exception as error:  # it serves without; but it must be seen
        doors.why_not_ready = "The kernels could not be loaded. The server's log says why."
        logging.getLogger("multiduel.arena").exception("The kernels could not be loaded: %s", error)
    else:
        doors.ready.set()
