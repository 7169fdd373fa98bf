"""The error every refused input raises, and the spelling hint that goes with it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BadInput(ValueError):
    """An argument, file or option that cannot be used as given."""


def did_you_mean(name: str, options: Iterable[str]) -> str:
    """A hint such as " Did you mean 'multi-rucb'?", or "" when nothing known is close."""
    known = {option.lower(): option for option in options}
    close = difflib.get_close_matches(name.lower(), list(known), n=1)
    return f" Did you mean '{known[close[0]]}'?" if close else ""
