"""Notices: where an arena's owner wants to be told of a result, and which places the operator allows.

An owner types a URL or an address, and the server sends something there. Unless the operator allows a place, nothing is sent to
it: otherwise an owner could have the server knock at doors of the network that it stands in, or send letters to strangers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from multiduel.inputs import BadInput, shortened

MOST_TARGET = 1_000  # characters
MAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@((?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,63})", re.ASCII)
DOMAIN = re.compile(r"@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,63}", re.ASCII)
ORIGIN = re.compile(r"https?://(?:[A-Za-z0-9-]{1,63}\.)*[A-Za-z0-9-]{1,63}(?::[0-9]{1,5})?", re.ASCII)
NOT_ALLOWED = "The server's operator has not allowed notices to {}. Ask for 'arena serve --notify {}'."

Kind = Literal["webhook", "mail"]


class Target(NamedTuple):
    """A place, checked for its form: ``allowed_as`` is what the operator must have allowed."""

    kind: Kind
    target: str
    allowed_as: str  # an origin such as https://hooks.example, or a domain such as @example.com

    @classmethod
    def of(cls, written: str) -> Target:
        """Take a webhook's URL or a mail address; refuse what is neither.

        >>> Target.of("https://hooks.example/T1/secret").allowed_as, Target.of("ada@example.com").allowed_as
        ('https://hooks.example', '@example.com')
        """
        if isinstance(written, str) and len(written) <= MOST_TARGET:
            if (mail := MAIL.fullmatch(written)) is not None:
                return cls("mail", written, f"@{mail[1].lower()}")
            origin = _origin(written)
            if origin is not None:
                return cls("webhook", written, origin)
        raise BadInput(
            f"A notice goes to an https URL of at most {MOST_TARGET:,} plain characters, or to a mail address. "
            f"Got {shortened(written)}."
        )


def _origin(url: str) -> str | None:
    """Scheme, host and port of a URL without anything that two programs might read in two ways."""
    if not url.isascii() or not url.isprintable() or set(url) & set(" \"'<>\\^`{|}#@"):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("https", "http") or not parts.hostname:
        return None
    usual = {"https": 443, "http": 80}[parts.scheme]
    origin = f"{parts.scheme}://{parts.hostname}" + ("" if port in (None, usual) else f":{port}")
    plain = parts.netloc.lower() in (origin.partition("://")[2], f"{parts.hostname}:{usual}")
    return origin if plain and ORIGIN.fullmatch(origin) else None


class Allowed:
    """The places that the operator typed.

    >>> Allowed(["https://hooks.example", "@example.com"]).check(Target.of("https://hooks.example/x"))
    """

    def __init__(self, places: Iterable[str] = ()) -> None:
        self.places = frozenset(self._place(place) for place in places)

    @staticmethod
    def _place(place: str) -> str:
        if DOMAIN.fullmatch(place):
            return place.lower()
        origin = _origin(place.rstrip("/"))
        if origin is None or origin != place.rstrip("/").lower():
            raise BadInput(
                "'--notify' must be a server such as https://hooks.example, or a domain for mail such as @example.com. "
                f"Got {shortened(place)}."
            )
        return origin

    def check(self, target: Target) -> None:
        """Refuse a place that the operator did not allow."""
        if target.allowed_as not in self.places:
            raise BadInput(NOT_ALLOWED.format(target.allowed_as, target.allowed_as))
