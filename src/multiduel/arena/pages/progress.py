"""How far it is, as a rater is told: their own votes, and the board's forecast, never more than is known."""

from __future__ import annotations

import threading
import time

from multiduel.arena.http.doors import Doors
from multiduel.arena.pages.render import plural

KEPT = 3.0  # seconds: a forecast is a range, which one vote hardly moves


class Forecasts:
    """The last one of each arena."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, str]] = {}
        self._lock = threading.Lock()

    def words(self, doors: Doors, arena: str) -> str:
        with self._lock:
            at, words = self._known.get(arena, (-KEPT, ""))
            if time.monotonic() - at < KEPT:
                return words
            board = doors.service.board(arena)
            early = board.forecast_range is None
            words = "too early to say how many more decide it" if early else f"{board.forecast} by all decide it"
            words = "it is decided" if board.settled else words
            self._known[arena] = (time.monotonic(), words)
            return words


def progress_of(doors: Doors, forecasts: Forecasts, arena: str, rater: str) -> str:
    with doors.service.look(arena) as state:
        mine = state.raters[rater].votes if rater in state.raters else 0
    return f"{plural(mine, 'vote')} by you; {forecasts.words(doors, arena)}."
