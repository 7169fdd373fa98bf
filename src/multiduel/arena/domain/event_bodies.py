"""What the events of a log may hold, kind by kind. Whoever writes a log can compute its hashes, so every body is input.

``FIELDS`` says of each entry of a body what it must be by itself; ``log_check`` what it must be after the events before it.
Entries that are not named here are read by nobody and left alone, so that a later version may add some. Nothing is ever loaded by
a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from multiduel.arena.domain import events as log
from multiduel.arena.domain.ballots import QUESTIONS
from multiduel.arena.domain.options import (
    IMAGES,
    KINDS,
    MOST_CONTEXTS,
    MOST_FEATURE,
    MOST_FEATURES,
    MOST_MEDIA,
    MOST_NAME,
    MOST_OPTIONS,
    MOST_QUESTION,
    SOUNDS,
)
from multiduel.arena.domain.settings import MOST_NAME as MOST_POLICY_NAME
from multiduel.arena.domain.settings import MOST_PLACES, Setting, declared
from multiduel.inference.tally import UNITS
from multiduel.inputs import shortened

MOST_LABEL, MOST_REQUEST, MOST_REASON, MOST_WORDS = 200, 1_000, 1_000, 100_000  # characters
MOMENT = re.compile(r"[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")  # not so late that a ticket could not expire
ARENA = re.compile(r"[0-9a-f]{12}")
SHA256 = re.compile(r"[0-9a-f]{64}")
OPTION = re.compile(r"o[1-9][0-9]{0,2}")
RATER = re.compile(r"r[1-9][0-9]{0,8}")
CONTEXT = re.compile(r"c[1-9][0-9]{0,3}")
NOTICE = re.compile(r"[0-9a-f]{16}")
TICKET = re.compile(r"[0-9a-f]{12}-[A-Za-z0-9_-]{1,64}")
TYPES = {  # of contents, by their kind
    "text": {"text/plain; charset=utf-8"},
    "markdown": {"text/markdown; charset=utf-8"},
    "url": {"text/uri-list; charset=utf-8"},
    "image": {type for type, _, _ in IMAGES} | {"image/svg+xml"},
    "audio": {type for type, _, _ in SOUNDS},
}
RATER_KINDS = ("person", "judge")
SHORTLIST_RULES = ("possible", "likely")  # which options a judge's standings leave for people
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
    return Field(lambda value: isinstance(value, dict) and wrong_entry(value, fields) is None, what)


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
    return isinstance(value, dict) and wrong_entry(value, _CONTENT) is None and value["type"] in TYPES[value["kind"]]


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
_OPTION = {
    "id": OPTION_ID,
    "name": NAME,
    "contents": _list(CONTENT, 1, MOST_CONTEXTS),
    "features": _maybe(_list(_number(-MOST_FEATURE, MOST_FEATURE), 1, MOST_FEATURES)),
}
OPTIONS = _list(_object(_OPTION, "an option with id, name and contents"), 1)
_SHORTLIST = {"by": NAME, "of": _whole(2), "first": _whole(1), "rule": _maybe(_word(SHORTLIST_RULES))}
SHORTLIST = _object(_SHORTLIST, "who left which options")
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
        "shortlist": _maybe(_or_none(SHORTLIST)),
    },
    "opened": {},
    "paused": {},
    "closed": {},
    "option_added": {"options": OPTIONS, "request": _maybe(_or_none(REQUEST))},
    "option_retired": {"option": OPTION_ID},
    "rater_admitted": {
        "rater": RATER_ID,
        "label": LABEL,
        "stratum": _maybe(_or_none(LABEL)),  # the rater's group: the name that logs have had from the beginning
        "limit": _maybe(_or_none(_whole(1))),
        "kind": _maybe(_word(RATER_KINDS)),  # early versions had people only
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
    "notified": {
        "notice": _form(NOTICE, "a notice's id"),
        "kind": _word(("webhook", "mail")),
        "about": _text(1, MOST_LABEL),
        "delivered": TRUTH,
        "attempts": _whole(1, 1000),
    },
}
ELSEWHERE = {"shown": SHOWN, "context": _or_none(CONTEXT_ID), "stratum": _or_none(LABEL), "line": _text(1, MOST_LABEL)}


def wrong_entry(table: Mapping[str, Any], fields: Mapping[str, Field]) -> str | None:
    """The first entry that is not what it must be."""
    for name, (holds, what, needed) in fields.items():
        if name not in table:
            if needed:
                return f"its '{name}' is missing"
        elif not holds(table[name]):
            return f"its '{name}' must be {what}, not {shortened(table[name])}"
    return None
