"""The written form of a key: ``mdowner.ARENA.NAME.SECRET``. Everything before the secret is public."""

from __future__ import annotations

import re
from typing import NamedTuple

BEGINNINGS = {"server": "mdserver", "owner": "mdowner", "link": "mdlink", "rater": "mdrater", "report": "mdreport"}  # by role
_ROLES = {beginning: role for role, beginning in BEGINNINGS.items()}
_FORM = re.compile(rf"({'|'.join(_ROLES)})\.([A-Za-z0-9_-]{{0,64}})\.([A-Za-z0-9_-]{{1,64}})\.([A-Za-z0-9_-]{{43}})")


class Key(NamedTuple):
    """The parts of a key. They are what the key claims, whether it is good or not.

    >>> key = Key.read(f"mdrater.0123456789ab.r7.{'x' * 43}")
    >>> key.role, key.arena, key.name
    ('rater', '0123456789ab', 'r7')
    """

    arena: str
    role: str
    name: str
    secret: str

    @classmethod
    def read(cls, text: str | None) -> Key | None:
        """Take a key apart; None if the text is no key."""
        form = _FORM.fullmatch(text or "")
        return None if form is None else cls(form[2], _ROLES[form[1]], form[3], form[4])

    @property
    def text(self) -> str:
        """The key as it is written."""
        return ".".join((BEGINNINGS[self.role], self.arena, self.name, self.secret))
