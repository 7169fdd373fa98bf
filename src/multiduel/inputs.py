"""Refused input: the error that it raises, the spelling hint that goes with it, and the checks that many callers share."""

from __future__ import annotations

import difflib
import math
import numbers
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

MOST_SEED = 2**128 - 1  # all that a seed can tell apart
MOST_THREADS = 1024
PUBLISHED = False  # whether a package index has multiduel; messages and pages then install it from there


class BadInput(ValueError):
    """An argument, file or option that cannot be used as given.

    >>> raise BadInput("'alpha' of 'rucb' must be above 0.5. Got 0.2.")
    Traceback (most recent call last):
    multiduel.inputs.BadInput: 'alpha' of 'rucb' must be above 0.5. Got 0.2.
    """


def install(extra: str) -> str:
    """Say how to install the packages of an extra.

    >>> install("lab")
    "pip install -c constraints.txt '.[lab]', in a copy of the repository"
    """
    if PUBLISHED:
        return f"pip install 'multiduel[{extra}]'"
    return f"pip install -c constraints.txt '.[{extra}]', in a copy of the repository"


def did_you_mean(name: str, options: Iterable[str]) -> str:
    """A hint such as " Did you mean 'multi-rucb'?", or "" when nothing known is close."""
    known = {option.lower(): option for option in options}
    close = difflib.get_close_matches(name.lower(), list(known), n=1)
    return f" Did you mean '{known[close[0]]}'?" if close else ""


def whole(name: str, value: Any, least: int, most: int | None = None, *, of: str) -> int:
    """``value`` as an int, if it is a whole number of at least ``least`` and at most ``most``."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        good = number and math.isfinite(value) and value == math.floor(value)
    except OverflowError:  # an int that no float can hold is whole, and more than anyone wants
        good = True
    if not good or value < least:
        raise BadInput(f"'{name}' of '{of}' must be a whole number of at least {least}. Got {shortened(value)}.")
    if most is not None and value > most:
        raise BadInput(f"'{name}' of '{of}' must be at most {most:,}. Got {shortened(value)}.")
    return int(value)


def cores(threads: Any, *, of: str) -> int:
    """How many to use: as many as ``threads`` says, or as there are."""
    if threads is not None:
        return whole("threads", threads, 1, MOST_THREADS, of=of)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def finite(name: str, value: Any, *, of: str) -> float:
    """``value`` as a float, if it is a finite number."""
    try:
        good = isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an int that no float can hold
        good = False
    if not good:
        raise BadInput(f"'{name}' of '{of}' must be a finite number. Got {shortened(value)}.")
    return float(value)


def share(name: str, value: Any, *, of: str) -> float:
    """``value`` as a float, if it is a number between 0 and 1, both excluded."""
    number = finite(name, value, of=of)
    if not 0.0 < number < 1.0:
        raise BadInput(f"'{name}' of '{of}' must lie between 0 and 1. Got {shortened(value)}.")
    return number


def listed(name: str, value: Any, *, of: str) -> list[Any]:
    """``value`` as a list, if it is a collection of any kind; a text is none."""
    try:
        if not isinstance(value, str | bytes):
            return list(value)
    except TypeError:
        pass
    raise BadInput(f"'{name}' of '{of}' must be a list. Got {shortened(value)}.")


def names_of(names: Any, count: int, *, of: str) -> tuple[str, ...]:
    """Names as a tuple of texts, if there are ``count``."""
    given = listed("names", names, of=of)
    if len(given) != count or not all(isinstance(name, str) for name in given):
        raise BadInput(f"'names' of '{of}' must be one text per option, {count} in all. Got {shortened(given)}.")
    return tuple(given)


def shortened(value: Any, most: int = 60) -> str:
    """A value as an error sentence shows it: whole if it is short."""
    try:
        text = repr(value)
    except ValueError:  # an int of thousands of digits, or something that holds one
        size = f" of about {int(value.bit_length() * 0.30103):,} digits" if isinstance(value, int) else ""
        return f"a number{size}" if size else "numbers of thousands of digits"
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def visible(text: str) -> str:
    """Text as a terminal may have it: control characters but for the end of a line, such as those that colour, are spelt out.

    >>> visible("red \\x1b[31m tea")
    'red \\\\x1b[31m tea'
    """
    return re.sub(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", lambda found: repr(found[0])[1:-1], text)


def choice(name: str, value: Any, options: Iterable[str]) -> str:
    """``value``, if it is one of the words it may be."""
    known = tuple(options)
    if not isinstance(value, str) or value not in known:
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        raise BadInput(f"'{name}' must be one of {', '.join(known)}. Got {shortened(value)}.{hint}")
    return value


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise BadInput(f"'{name}' must be text in quotes. Got {shortened(value)}.")
    return value


def truth(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadInput(f"'{name}' must be true or false. Got {shortened(value)}.")
    return value


def no_others(table: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    """Refuse a table with a key that ``what`` does not have."""
    names = tuple(known)
    for name in table:
        if name not in names:
            raise BadInput(f"{what} has no '{name}'.{did_you_mean(name, names)} It has: {', '.join(names)}.")
