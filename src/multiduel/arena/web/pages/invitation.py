"""What a rater is told before the first question: what it is about, how long it takes, and whether votes are still wanted."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from markupsafe import Markup

from multiduel.arena.domain.state import State
from multiduel.arena.service.tickets import limit_of
from multiduel.arena.web.context import AppContext
from multiduel.arena.web.pages.contents import safe_markdown
from multiduel.arena.web.pages.render import plural

LETTERS_PER_SECOND = 17.0  # of a reader
SECONDS = {"image": 4.0, "audio": 15.0, "url": 20.0}  # to take in one, before there are votes to know better
DECIDING = 5.0  # seconds
ENOUGH = 20  # votes from which the time of one is known
OVER = {
    "created": "This comparison is not open yet. Please come back later.",
    "paused": "This comparison is paused. Please come back later.",
    "closed": "This comparison is closed: no more votes are taken.",
}
SETTLED = "This comparison has a result: no more votes are needed."


@dataclass(frozen=True)
class Invitation:
    name: str
    instructions: Markup
    effort: str  # how many questions and minutes
    over: str  # why no votes are wanted now; empty if they are


def invitation(app_context: AppContext, arena: str, rater: str | None = None) -> Invitation:
    """For whoever comes by a shared link, or for one rater, who may have a limit of their own."""
    with app_context.service.look(arena) as state:
        name, settings = state.name, state.settings
        over = OVER.get(state.status, SETTLED if state.settled() and not settings.go_on else "")
        limit = limit_of(state, state.raters[rater]) if rater in state.raters else settings.limit
        seconds = _median_seconds(state) or _reading_seconds(state)
    instructions = safe_markdown(settings.instructions) if settings.instructions else Markup("")
    return Invitation(name, instructions, effort(_least(settings.goal, limit), seconds), over)


def _least(*limits: int | None) -> int | None:
    return min((one for one in limits if one is not None), default=None)


def effort(questions: int | None, seconds: float) -> str:
    """
    >>> effort(20, 24.0), effort(1, 9.0), effort(None, 24.0)
    ('About 20 questions, 8 minutes', 'About 1 question, 1 minute', 'About 24 seconds a question, as many as you like')
    """
    if questions is None:
        each = plural(max(1, round(seconds)), "second") if seconds < 100 else plural(round(seconds / 60), "minute")
        return f"About {each} a question, as many as you like"
    return f"About {plural(questions, 'question')}, {plural(max(1, round(questions * seconds / 60)), 'minute')}"


def _median_seconds(state: State) -> float | None:
    """From question to vote, of the latest votes; None before there are enough. It says nothing of what anyone voted."""
    return statistics.median(state.waits) if len(state.waits) >= ENOUGH else None


def _reading_seconds(state: State) -> float:
    """From the contents: what it takes to read them, on average, and to decide."""
    contents = [content for option in state.options for content in option.contents]
    each = [SECONDS.get(content["kind"], content["size"] / LETTERS_PER_SECOND) for content in contents]
    return DECIDING + min(state.settings.slate_size, len(state.options)) * statistics.fmean(each)
