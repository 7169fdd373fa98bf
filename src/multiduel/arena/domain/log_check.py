"""Checks a log event by event: each body by itself, against the events before it, and in its order.

``REFERENCES`` says of each kind of event what its body must be after the events before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from multiduel.arena.domain import events as log
from multiduel.arena.domain.actors import FORM as ACTOR
from multiduel.arena.domain.ballots import normal
from multiduel.arena.domain.clock import in_order
from multiduel.arena.domain.errors import BrokenLog
from multiduel.arena.domain.event_bodies import ELSEWHERE, FIELDS, SETTINGS, is_moment, wrong_entry
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.options import MOST_OPTIONS
from multiduel.arena.domain.state import State
from multiduel.arena.domain.ticket_store import ballot_text
from multiduel.inputs import BadInput, shortened


def _created(state: State, body: dict[str, Any]) -> str | None:
    settings, contexts = body["settings"], body["contexts"]
    wrong = wrong_entry(settings, SETTINGS)
    if wrong is not None:
        return f"of its settings, {wrong}"
    if len(set(contexts)) < len(contexts):
        return "it has a context twice"
    if not 2 <= len(body["options"]) <= (settings["room"] or MOST_OPTIONS):
        return "it has more or fewer options than an arena can have"
    if body.get("shortlist") is not None and body["shortlist"]["of"] < len(body["options"]):
        return "its shortlist is of fewer options than it has"
    return _options(body["options"], 0, set(), len(contexts))


def _options(options: list[dict[str, Any]], before: int, names: set[str], contexts: int) -> str | None:
    for k, option in enumerate(options, before + 1):
        if option["id"] != f"o{k}" or option["name"] in names:
            return f"its option {shortened(option['id'])} is not the next, or has the name of another"
        if len(option["contents"]) != max(1, contexts):
            return f"its option {option['id']} has no content for each context"
        names.add(option["name"])
    return None


def _option_added(state: State, body: dict[str, Any]) -> str | None:
    if state.settings.room is None or len(state.options) + len(body["options"]) > state.settings.room:
        return "it adds options for which there was no room"
    return _options(body["options"], len(state.options), {option.name for option in state.options}, len(state.contexts))


def _option_retired(state: State, body: dict[str, Any]) -> str | None:
    if (wrong := _unknown(state, [body["option"]])) is not None:
        return wrong
    retired = state.options[state.index(body["option"])].retired
    return "it retires an option that cannot" if state.settings.room is None or retired or len(state.present) < 3 else None


def _unknown(state: State, options: list[str]) -> str | None:
    most = len(state.options)
    for option in options:
        if int(option[1:]) > most:
            return f"there is no option {option}"
    return None


def _shown(state: State, options: list[str]) -> str | None:
    return "it shows an option twice" if len(set(options)) < len(options) else _unknown(state, options)


def _context(state: State, context: str | None) -> str | None:
    if context is not None and int(context[1:]) > len(state.contexts):
        return f"there is no context {context}"
    return None


def _rater(state: State, rater: str | None) -> str | None:
    return None if rater is None or rater in state.raters else f"there is no rater {rater}"


def _rater_admitted(state: State, body: dict[str, Any]) -> str | None:
    if body["rater"] != f"r{len(state.raters) + 1}":
        return f"its rater is not the next, r{len(state.raters) + 1}"
    return "there is a rater with this label already" if body["label"] in state.labels else None


def _quarantined(state: State, body: dict[str, Any], now: bool = False) -> str | None:
    wrong = _rater(state, body["rater"])
    if wrong is None and state.raters[body["rater"]].quarantined != now:
        return "its rater is so already"
    return wrong


def _epoch(state: State, body: dict[str, Any]) -> str | None:
    settings = state.settings
    if (body["policy"], body["parameters"]) != (settings.policy, dict(settings.parameters)):
        return "its policy is not the one that the arena had then"
    if body["options"] != [state.options[k].id for k in state.present] or body["rounds"] != state.rounds:
        return "its options or rounds are not those that the arena had then"
    return None


def _ticket(state: State, body: dict[str, Any]) -> str | None:
    wrong = _shown(state, body["shown"]) or _context(state, body["context"]) or _rater(state, body["rater"])
    if wrong is not None:
        return wrong
    if body["id"] in state.tickets:
        return "there is a ticket with this id already"
    if len(body["shown"]) > state.settings.slate_size and body["by"] != "undo":
        return "it shows more options than the arena shows at once"
    if (body["context"] is None) != (not state.contexts) and body["by"] != "undo":
        return "its context must be one of the arena's, if there are any"
    printed = "place" in body
    if not printed and (body["rater"] is None or body["expires"] is None):
        return "it was not printed, so that it must have a rater and a time when it expires"
    if "request" not in body and body["by"] != "undo":
        return "its 'request' is missing"
    if ("chosen" in body) == (body["by"] == "undo"):
        return "its 'chosen' must be there, unless it follows an undo"
    if "chosen" in body:
        return _shown(state, body["chosen"]["options"]) or (None if state.epoch is not None else "no epoch began before it")
    return None


def _vote(state: State, body: dict[str, Any]) -> str | None:
    rater, holder = body.get("rater"), None
    wrong = _rater(state, rater)
    if body["ticket"] is None:
        wrong = wrong or wrong_entry(body, ELSEWHERE) or _shown(state, body["shown"]) or _context(state, body["context"])
    if wrong is not None:
        return wrong
    if body["ticket"] is None:
        shown = len(body["shown"])
    else:
        ticket = state.tickets.get(body["ticket"])
        if ticket is None or ticket.vote is not None:
            return "its ticket is not there, or has a vote already"
        shown, holder = len(ticket.shown), ticket.rater
    if rater is not None and holder not in (None, rater):
        return "its ticket is another rater's"
    if "line" in body and state.line(body["line"]) is not None:
        return "there is a vote with this line's id already"
    return _said(state, body, shown, rater or holder)


@lru_cache(maxsize=4096)  # of few options there are few rankings
def wrong_ballot(text: str, question: str, shown: int) -> str:
    """What is wrong with a ballot, as canonical JSON; empty if nothing is."""
    ballot = json.loads(text)
    try:
        return "" if ballot == normal(ballot, question, shown) else "its ballot is not in normal form"
    except BadInput as error:
        return f"its ballot is none: {str(error).rstrip('.')}"


def _said(state: State, body: dict[str, Any], shown: int, rater: str | None) -> str | None:
    ballot = body["ballot"]
    wrong = wrong_ballot(ballot_text(ballot), state.settings.question, shown)
    if wrong:
        return wrong
    skipped = "skip" in ballot
    if (body["counted"] == "skipped") != skipped or ("aside" in body and body["counted"] != "aside"):
        return "its 'counted' does not fit its ballot"
    if rater is None and state.settings.unit == "rater" and not skipped:
        return "it must say whose it is, where a rater's first judgement of a pair counts"
    return None


def _undo(state: State, body: dict[str, Any]) -> str | None:
    wrong = _rater(state, body["rater"])
    if wrong is not None:
        return wrong
    last = state.raters[body["rater"]].last
    if not last or last[-1][0] != body["ticket"]:
        return "it undoes a vote that is not the rater's last"
    if "actor" in body and state.announced(last[-1][1]):  # earlier versions, whose events have no actor, allowed it
        return "it undoes a vote that was announced in a result"
    return "there is a ticket with the id of its 'again' already" if body["again"] in state.tickets else None


def _verdict(state: State, body: dict[str, Any]) -> str | None:
    named = [body["winner"]] if body["winner"] is not None else []
    pairs = [option for pair in body["pairs"] for option in (pair["option"], pair["other"])]
    if (body["kind"] == "winner") != bool(named):
        return "its 'winner' does not fit its 'kind'"
    return _unknown(state, [*named, *body["still_in"], *body["cycle"], *pairs])


def _notified(state: State, body: dict[str, Any]) -> str | None:
    return "it was told already" if f"{body['notice']} {body['about']}" in state.notified else None


REFERENCES: dict[str, Callable[[State, dict[str, Any]], str | None]] = {
    "created": _created,
    "option_added": _option_added,
    "option_retired": _option_retired,
    "rater_admitted": _rater_admitted,
    "quarantined": _quarantined,
    "released": lambda state, body: _quarantined(state, body, True),
    "epoch": _epoch,
    "ticket": _ticket,
    "vote": _vote,
    "undo": _undo,
    "verdict": _verdict,
    "notified": _notified,
}
AFTER_CLOSING = ("quarantined", "released", "verdict", "notified")


class LogCheck:
    """Checks the events of one log, each before it is applied."""

    def __init__(self) -> None:
        self.arena = ""  # the log's own id
        self.awaited: tuple[str, str] | None = None  # ticket and rater that the undo before must be followed by

    def check(self, state: State, event: Event) -> None:
        """Refuse an event that no arena could have written after those in ``state``."""
        wrong = self._problem(state, event)
        if wrong is not None:
            raise BrokenLog(event.number, wrong)

    def _problem(self, state: State, event: Event) -> str | None:
        body, kind = event.body, event.kind
        if not event.text.isascii() and not _is_utf8(event.text):
            return "it holds half a character, which is no text"
        if not is_moment(event.at) or not in_order(event, state.at):
            return (
                "it must have a time in UTC, not before the event before it unless it says that the clock went back, "
                f"not {shortened(event.at)}"
            )
        if (kind == "created") != (state.number == 0):
            return "a log begins with 'created', once"
        if "actor" in body and (not isinstance(body["actor"], str) or ACTOR.fullmatch(body["actor"]) is None):
            return f"its 'actor' must be a role and a name, not {shortened(body['actor'])}"
        if state.status == "closed" and kind not in AFTER_CLOSING:
            return "the arena was closed before it"
        if kind == "created" and type(body.get("schema")) is int:
            log.upgrade(event, body["schema"])  # its own sentence
        wrong = wrong_entry(body, FIELDS[kind])
        if wrong is None and kind in REFERENCES:
            wrong = REFERENCES[kind](state, body)
        return wrong or self._out_of_order(kind, body)

    def _out_of_order(self, kind: str, body: dict[str, Any]) -> str | None:
        """What is wrong with the order of this event and the one before it."""
        awaited, self.awaited = self.awaited, None
        if kind == "created":
            self.arena = body["arena"]
        elif kind == "undo":
            self.awaited = body["again"], body["rater"]
        if awaited is not None and (kind != "ticket" or (body["id"], body["rater"]) != awaited):
            return "the ticket that the undo before it gives again is missing"
        if kind == "ticket" and (not body["id"].startswith(f"{self.arena}-") or (body["by"] == "undo") != (awaited is not None)):
            return "its ticket is another arena's, or follows no undo"
        return None

    def end(self, state: State) -> None:
        """Refuse a log that ends in the middle."""
        if self.awaited is not None:
            raise BrokenLog(state.number, "the ticket that this undo gives again is missing")


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
