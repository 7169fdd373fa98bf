"""How far it is, as a rater is told: their own votes, and the board's forecast, never more than is known."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from multiduel.arena.domain.errors import BrokenLog, Refused, Unavailable
from multiduel.arena.service.board import Board
from multiduel.arena.web.context import AppContext
from multiduel.arena.web.pages.render import plural


@dataclass(frozen=True)
class Progress:
    """What a rater is told besides the question."""

    mine: str  # such as "7 of 20", or "7 votes by you"
    forecast: str  # such as "81 to 710 more by all raters may decide it"; empty while it is too early


KEPT = 3.0  # seconds: a forecast is a range, which one vote hardly moves


class Forecasts:
    """The last one of each arena. A new one is worked out beside: no vote waits for it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, str]] = {}
        self._working: set[str] = set()
        self._lock = threading.Lock()

    def words(self, app_context: AppContext, arena: str) -> str:
        with self._lock:
            at, words = self._known.get(arena, (-KEPT, ""))
            if time.monotonic() - at < KEPT or arena in self._working:
                return words
            self._working.add(arena)
        threading.Thread(target=self._work, args=(app_context, arena), name="multiduel-forecast", daemon=True).start()
        return words

    def _work(self, app_context: AppContext, arena: str) -> None:
        words = ""
        try:
            board = app_context.service.board(arena)
            if board.forecast_range is not None and not board.settled:
                words = f"{votes_needed(board)} more by all raters may decide it"
        except (Refused, Unavailable, BrokenLog):  # the next one who asks tries again
            pass
        finally:
            with self._lock:
                self._known[arena] = (time.monotonic(), words)
                self._working.discard(arena)


def votes_needed(board: Board) -> str:
    """The forecast in an owner's words, such as "81 to 710"."""
    return "too early to say" if board.forecast_range is None else board.forecast.removesuffix(" more answers")


def progress_of(app_context: AppContext, forecasts: Forecasts, arena: str, rater: str) -> Progress:
    with app_context.service.look(arena) as state:
        votes, goal = state.raters[rater].votes if rater in state.raters else 0, state.settings.goal
    return Progress(own_progress(votes, goal), forecasts.words(app_context, arena))


def own_progress(votes: int, goal: int | None) -> str:
    """
    >>> own_progress(7, None), own_progress(7, 20), own_progress(1, 1)
    ('7 votes by you', '7 of 20 votes by you', '1 vote by you, 1 was asked for. Thank you')
    """
    if goal is None:
        return f"{plural(votes, 'vote')} by you"
    return (
        f"{votes:,} of {plural(goal, 'vote')} by you"
        if votes < goal
        else f"{plural(votes, 'vote')} by you, {goal:,} {'was' if goal == 1 else 'were'} asked for. Thank you"
    )
