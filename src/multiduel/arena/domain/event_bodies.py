"""What the events of a log may hold, kind by kind. Whoever writes a log can compute its hashes, so every body is input.

``FIELDS`` says of each entry of a body what it must be by itself; ``REFERENCES`` what it must be after the events before it.
Entries that are not named here are read by nobody and left alone, so that a later version may add some. Nothing is ever loaded by
a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from multiduel.arena.domain import events as log
from multiduel.arena.domain.actors import FORM as ACTOR
from multiduel.arena.domain.ballots import QUESTIONS, normal
from multiduel.arena.domain.clock import in_order
from multiduel.arena.domain.errors import BrokenLog
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.options import (
    IMAGES,
    KINDS,
    MOST_CONTEXTS,
    MOST_MEDIA,
    MOST_NAME,
    MOST_OPTIONS,
    MOST_QUESTION,
    SOUNDS,
)
from multiduel.arena.domain.settings import MOST_NAME as MOST_POLICY_NAME
from multiduel.arena.domain.settings import MOST_PLACES, Setting, declared
from multiduel.arena.domain.state import State
from multiduel.inference.tally import UNITS
from multiduel.inputs import BadInput, shortened

MOST_LABEL, MOST_REQUEST, MOST_REASON, MOST_WORDS = 200, 1_000, 1_000, 100_000  # characters
MOMENT = re.compile(r"[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")  # not so late that a ticket could not expire
ARENA = re.compile(r"[0-9a-f]{12}")
SHA256 = re.compile(r"[0-9a-f]{64}")
OPTION = re.compile(r"o[1-9][0-9]{0,2}")
RATER = re.compile(r"r[1-9][0-9]{0,8}")
CONTEXT = re.compile(r"c[1-9][0-9]{0,3}")
TICKET = re.compile(r"[0-9a-f]{12}-[A-Za-z0-9_-]{1,64}")
TYPES = {  # of contents, by their kind
    "text": {"text/plain; charset=utf-8"},
    "markdown": {"text/markdown; charset=utf-8"},
    "url": {"text/uri-list; charset=utf-8"},
    "image": {type for type, _, _ in IMAGES} | {"image/svg+xml"},
    "audio": {type for type, _, _ in SOUNDS},
}
BY = ("policy", "challengers", "uniform")  # who chooses a slate


class Field(NamedTuple):
    """An entry of a body."""

    holds: Callable[[Any], Any]
    what: str  # it must be
    needed: bool = True


# ---- values


def _form(pattern: re.Pattern[str], what: str) -> Field:
    full = pattern.fullmatch
    return Field(lambda value: isinstance(value, str) and full(value) is not None, what)


def _text(least: int, most: int) -> Field:
    return Field(lambda value: isinstance(value, str) and least <= len(value) <= most, f"text of {least} to {most:,} characters")


def _whole(least: int, most: int | None = None) -> Field:
    what = f"a whole number of at least {least}" + ("" if most is None else f" and at most {most:,}")
    return Field(lambda value: type(value) is int and value >= least and (most is None or value <= most), what)


def _number(least: float = -1e300, most: float = 1e300) -> Field:
    what = "a finite number" if most == 1e300 else f"a number from {least:g} to {most:g}"
    return Field(lambda value: type(value) in (int, float) and least <= value <= most, what)


def _word(words: tuple[str, ...]) -> Field:
    return Field(lambda value: isinstance(value, str) and value in words, f"one of {', '.join(words)}")


def _list(of: Field, least: int = 0, most: int = MOST_OPTIONS) -> Field:
    holds = of.holds
    return Field(
        lambda value: isinstance(value, list) and least <= len(value) <= most and all(map(holds, value)),
        f"a list of {least} to {most:,}, each {of.what}",
    )


def _or_none(field: Field) -> Field:
    holds = field.holds
    return Field(lambda value: value is None or holds(value), f"null or {field.what}")


def _object(fields: Mapping[str, Field], what: str) -> Field:
    return Field(lambda value: isinstance(value, dict) and _wrong(value, fields) is None, what)


def _maybe(field: Field) -> Field:
    """An entry that need not be there."""
    return field._replace(needed=False)


def is_moment(value: Any) -> bool:
    """Is this a time as events have it, and one that a calendar has?"""
    if not isinstance(value, str) or MOMENT.fullmatch(value) is None:
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= MOST_NAME and value.isprintable() and value == value.strip()


def _is_label(value: Any) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= MOST_LABEL and value.isprintable()


def _is_context(value: Any) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= MOST_QUESTION and "\0" not in value


def _is_content(value: Any) -> bool:
    return isinstance(value, dict) and _wrong(value, _CONTENT) is None and value["type"] in TYPES[value["kind"]]


def _is_parameter(value: Any) -> bool:
    return type(value) in (int, float, bool) or (isinstance(value, str) and len(value) <= MOST_LABEL)


TRUTH = Field(lambda value: isinstance(value, bool), "true or false")
NAME = Field(_is_name, f"1 to {MOST_NAME} characters that print")
LABEL = Field(_is_label, f"1 to {MOST_LABEL} characters that print")
TIME = Field(is_moment, "a time in UTC with microseconds")
REQUEST = _text(1, MOST_REQUEST)
OPTION_ID = _form(OPTION, "an option's id such as o1")
RATER_ID = _form(RATER, "a rater's id such as r1")
CONTEXT_ID = _form(CONTEXT, "a context's id such as c1")
TICKET_ID = _form(TICKET, "a ticket's id")
POLICY_NAME = _text(1, MOST_POLICY_NAME)  # early versions stored where a plug-in was; nothing is loaded by it
BALLOT = Field(lambda value: isinstance(value, dict), "a ballot")
PARAMETERS = Field(
    lambda value: isinstance(value, dict) and len(value) <= 100 and all(map(_is_parameter, value.values())),
    "names with numbers or words",
)
SHOWN = _list(OPTION_ID, 2)
_CONTENT = {
    "kind": _word(KINDS),
    "sha256": _form(SHA256, "a SHA-256 hash"),
    "size": _whole(1, MOST_MEDIA),
    "type": Field(lambda value: isinstance(value, str), "a media type"),
}
CONTENT = Field(_is_content, "a content with kind, sha256, size and type")
_OPTION = {"id": OPTION_ID, "name": NAME, "contents": _list(CONTENT, 1, MOST_CONTEXTS)}
OPTIONS = _list(_object(_OPTION, "an option with id, name and contents"), 1)
# Every log has these settings. Others were added since: where a log lacks one, its default was in force.
FIRST_SETTINGS = (
    *("slate_size", "question", "policy", "parameters", "alpha", "margin", "unit", "room", "votes", "expires", "places", "limit"),
    *("go_on", "board", "seed"),
)


def _setting(one: Setting) -> Field:
    kinds: dict[str, Callable[[], Field]] = {
        "whole": lambda: _whole(int(one.least), int(one.most)),
        "number": lambda: _number(one.least, one.most),
        "text": lambda: _text(0, int(one.most)),
        "choice": lambda: _word(tuple(one.choices)),
        "truth": lambda: TRUTH,
        "policy": lambda: POLICY_NAME,
        "parameters": lambda: PARAMETERS,
    }
    field = kinds[one.kind]()
    if one.optional and one.name != "seed":  # a seed that is not given is drawn and recorded
        field = _or_none(field)
    return field if one.name in FIRST_SETTINGS else _maybe(field)


SETTINGS: dict[str, Field] = {one.name: _setting(one) for one in declared()}
_PAIR = {"option": OPTION_ID, "other": OPTION_ID} | dict.fromkeys(("above", "below", "level", "evidence"), _number())

# ---- bodies

FIELDS: dict[str, dict[str, Field]] = {
    "created": {
        "schema": _whole(1, log.SCHEMA),
        "arena": _form(ARENA, "an arena's id, 12 hexadecimal digits"),
        "name": NAME,
        "settings": Field(lambda value: isinstance(value, dict), "names with values"),
        "options": OPTIONS,
        "contexts": _list(Field(_is_context, f"text of 1 to {MOST_QUESTION:,} characters"), 0, MOST_CONTEXTS),
    },
    "opened": {},
    "paused": {},
    "closed": {},
    "option_added": {"options": OPTIONS, "request": _maybe(_or_none(REQUEST))},
    "option_retired": {"option": OPTION_ID},
    "rater_admitted": {
        "rater": RATER_ID,
        "label": LABEL,
        "stratum": _maybe(_or_none(LABEL)),
        "limit": _maybe(_or_none(_whole(1))),
        "request": _maybe(_or_none(REQUEST)),
    },
    "quarantined": {"rater": RATER_ID, "reason": _text(0, MOST_REASON)},
    "released": {"rater": RATER_ID},
    "policy_changed": {"policy": POLICY_NAME, "parameters": PARAMETERS},
    "margin_changed": {"margin": _number(0.0, 0.5)},
    "epoch": {
        "why": _list(_text(1, MOST_LABEL), 1),
        "policy": POLICY_NAME,
        "parameters": PARAMETERS,
        "options": SHOWN,
        "fingerprint": _text(1, MOST_LABEL),
        "rounds": _whole(0),
    },
    "ticket": {
        "id": TICKET_ID,
        "rater": _or_none(RATER_ID),
        "context": _or_none(CONTEXT_ID),
        "stratum": _or_none(LABEL),
        "shown": SHOWN,
        "by": _word((*BY, "unseen", "undo")),
        "expires": _or_none(TIME),
        "request": _maybe(REQUEST),
        "place": _maybe(_whole(0, MOST_PLACES)),
        "chosen": _maybe(_object({"options": SHOWN, "by": _word(BY)}, "options, and who chose them")),
    },
    "vote": {
        "ticket": _or_none(TICKET_ID),
        "ballot": BALLOT,
        "late": TRUTH,
        "counted": _word(("counted", "late", "aside", "skipped")),
        "rater": _maybe(_or_none(RATER_ID)),
        "aside": _maybe(_word(("limit",))),
        "line": _maybe(_text(1, MOST_LABEL)),
    },
    "undo": {"rater": RATER_ID, "ticket": _text(1, 2 * MOST_LABEL), "request": REQUEST, "again": TICKET_ID},
    "verdict": {
        "kind": _word(("winner", "cycle", "open")),
        "winner": _or_none(OPTION_ID),
        "still_in": _list(OPTION_ID),
        "cycle": _list(OPTION_ID),
        "cycle_is_certain": TRUTH,
        "sentence": _text(1, MOST_WORDS),
        "alpha": _number(),
        "margin": _number(),
        "unit": _word(UNITS),
        "question": _word(QUESTIONS),
        "answers": _whole(0),
        "set_aside": _whole(0),
        "needed": _number(),
        "pairs": _list(_object(_PAIR, "a pair with its counts")),
    },
}
_ELSEWHERE = {"shown": SHOWN, "context": _or_none(CONTEXT_ID), "stratum": _or_none(LABEL), "line": _text(1, MOST_LABEL)}


def _wrong(table: Mapping[str, Any], fields: Mapping[str, Field]) -> str | None:
    """The first entry that is not what it must be."""
    for name, (holds, what, needed) in fields.items():
        if name not in table:
            if needed:
                return f"its '{name}' is missing"
        elif not holds(table[name]):
            return f"its '{name}' must be {what}, not {shortened(table[name])}"
    return None


# ---- what a body must be in the log before it


def _created(state: State, body: dict[str, Any]) -> str | None:
    settings, contexts = body["settings"], body["contexts"]
    wrong = _wrong(settings, SETTINGS)
    if wrong is not None:
        return f"of its settings, {wrong}"
    if len(set(contexts)) < len(contexts):
        return "it has a context twice"
    if not 2 <= len(body["options"]) <= (settings["room"] or MOST_OPTIONS):
        return "it has more or fewer options than an arena can have"
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
        wrong = wrong or _wrong(body, _ELSEWHERE) or _shown(state, body["shown"]) or _context(state, body["context"])
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
    if "line" in body and body["line"] in state.lines:
        return "there is a vote with this line's id already"
    return _said(state, body, shown, rater or holder)


def _said(state: State, body: dict[str, Any], shown: int, rater: str | None) -> str | None:
    ballot = body["ballot"]
    try:
        if ballot != normal(ballot, state.settings.question, shown):
            return "its ballot is not in normal form"
    except BadInput as error:
        return f"its ballot is none: {str(error).rstrip('.')}"
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
    ticket, voted = state.tickets.get(body["ticket"]), state.raters[body["rater"]].voted
    if ticket is None or not voted or voted[-1] != ticket.id:
        return "it undoes a vote that is not the rater's last"
    if "actor" in body and state.announced(ticket):  # earlier versions, whose events have no actor, allowed it
        return "it undoes a vote that was announced in a result"
    return "there is a ticket with the id of its 'again' already" if body["again"] in state.tickets else None


def _verdict(state: State, body: dict[str, Any]) -> str | None:
    named = [body["winner"]] if body["winner"] is not None else []
    pairs = [option for pair in body["pairs"] for option in (pair["option"], pair["other"])]
    if (body["kind"] == "winner") != bool(named):
        return "its 'winner' does not fit its 'kind'"
    return _unknown(state, [*named, *body["still_in"], *body["cycle"], *pairs])


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
}
AFTER_CLOSING = ("quarantined", "released", "verdict")


class BodyCheck:
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
        wrong = _wrong(body, FIELDS[kind])
        if wrong is None and kind in REFERENCES:
            wrong = REFERENCES[kind](state, body)
        return wrong or self._in_order(kind, body)

    def _in_order(self, kind: str, body: dict[str, Any]) -> str | None:
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
