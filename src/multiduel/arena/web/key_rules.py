"""Rules of keys that the pages and the API share: which may be revoked, and how changes of keys are listed."""

from __future__ import annotations

from typing import Any

from multiduel.arena.domain.errors import Conflict, NotFound
from multiduel.arena.journal import KeyChange
from multiduel.arena.web.access import Access, Grant
from multiduel.arena.web.context import AppContext

LAST_OWNER = (
    "This is the last key of this arena's owner, after which only the server's key is good for it. Send force=1 to revoke it."
)
LAST_SERVER = (
    "This is the last key of the server, after which only the command on its machine makes one. Send force=1 to revoke it."
)


def change_rows(changes: list[KeyChange]) -> list[dict[str, Any]]:
    return [
        {"at": one.at, "what": one.what, "role": one.role, "name": one.subject, "label": one.label, "by": one.made_by}
        for one in changes
    ]


def revoke_key(access: Access, grant: Grant, role: str, arena: str, name: str, *, by: str, force: bool) -> None:
    """The last key of an owner is revoked by that owner, and the last one of the server, only with ``force``."""
    keep_last = not force and (role == "server" or (role == "owner" and grant.role == "owner"))
    try:
        gone = access.revoke(role, arena, name, by=by, keep_last=keep_last)
    except Conflict:
        raise Conflict(LAST_SERVER if role == "server" else LAST_OWNER) from None
    if not gone:
        raise NotFound("There is no key of this name.")


def known_rater(app_context: AppContext, arena: str, rater: str) -> str:
    """The label of a rater of this arena."""
    with app_context.service.look(arena) as state:
        if rater not in state.raters:
            raise NotFound("There is no such rater in this arena.")
        return state.raters[rater].label
