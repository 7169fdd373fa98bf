"""Loading the kernels in the background, so that the server answers at once and the first rater does not wait."""

from __future__ import annotations

import logging

from multiduel.arena.domain.chooser import warm
from multiduel.arena.domain.settings import why_unusable
from multiduel.arena.web.context import AppContext
from multiduel.inference import Tally, forecast

LOG = logging.getLogger("multiduel.arena")


def warm_up(app_context: AppContext) -> None:
    """Ready once the kernels of every policy in use are loaded, and every arena that takes votes is folded.

    An arena that cannot be folded is that arena's trouble: its pages say so, and the server gets ready without it.
    """
    try:
        app_context.service.warm()
        policies = _policies_in_use(app_context)
        forecast(Tally.of([[0, 30], [30, 0]]))  # which boards ask for
    except Exception as error:  # it serves without; but it must be seen
        app_context.why_not_ready = "The kernels could not be loaded. The server's log says why."
        LOG.exception("The kernels could not be loaded: %s", error)
        return
    for policy in sorted(policies):
        try:
            warm(policy)
        except BaseException as error:
            LOG.exception("The policy '%s' could not be loaded: %s", policy, error)
    app_context.ready.set()


def _policies_in_use(app_context: AppContext) -> set[str]:
    policies = set()
    for row in app_context.service.arenas():
        try:
            info = app_context.service.info(row.id)
        except BaseException as error:  # whatever is in its log: SystemExit of a plug-in too
            LOG.error("Arena %s cannot be used: %s", row.id, error)
        else:
            if info.status != "closed" and why_unusable(info.settings) is None:
                policies.add(info.settings.policy)
    return policies
