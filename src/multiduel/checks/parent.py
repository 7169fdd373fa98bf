"""A process that works for another one ends with it. Watched from the start: to load the rest takes seconds."""

from __future__ import annotations

import os
import threading
import time

INSIDE = "MULTIDUEL_CHECKED_BY"  # environment variable of the plain process: the process that it works for


def _die_with_the_parent() -> None:
    """Who waits for us may be killed: then nobody wants to know any more."""
    parent = int(os.environ[INSIDE])
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if INSIDE in os.environ:
    threading.Thread(target=_die_with_the_parent, daemon=True).start()
