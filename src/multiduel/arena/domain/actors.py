"""Actors: who caused an event. Every event that an arena writes names one.

``operator`` is whoever has the journal itself: the command line, or Python. All others come through the server with a key, and
are named by the key's role and its name (a rater's key is named after its rater): ``rater:r3``, ``owner:NAME``, ``server:NAME``,
``link:NAME``. Events that follow from a command (an epoch, a verdict, the ticket after an undo) have the command's actor: nothing
happens in an arena by itself. Logs that were written before there were actors name none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from multiduel.inputs import BadInput, shortened

OPERATOR = "operator"
OWNERS = ("owner", "server")  # roles that decide about an arena, and do not vote in it
FORM = re.compile(r"operator|(?:rater|owner|server|link):[A-Za-z0-9_-]{1,64}")


def check_actor(actor: Any) -> str:
    if not isinstance(actor, str) or FORM.fullmatch(actor) is None:
        raise BadInput(f"An actor is 'operator', or a role and a name such as 'rater:r3'. Got {shortened(actor)}.")
    return actor


def role_of(actor: str) -> str:
    return actor.partition(":")[0]


def actor_words(actor: Any, raters: Mapping[str, str], holders: Mapping[str, str] | None = None) -> str:
    """For people. ``raters`` has the labels of raters by their ids, ``holders`` who holds a key, by the actor.

    >>> actor_words("owner:k2", {}), actor_words("rater:r1", {"r1": "Ada"}), actor_words("owner:k2", {}, {"owner:k2": "Bo"})
    ('owner key ‘k2’', 'rater Ada', 'Bo, owner')
    """
    role, _, name = str(actor).partition(":")
    if role == "rater":
        return f"rater {raters.get(name, name)}"
    if holder := (holders or {}).get(str(actor)):
        return f"{holder}, {role}"
    return f"{role} key ‘{name}’" if name else "the operator"
