"""How a rater joins by a shared link, from a page or through the API."""

from __future__ import annotations

import hashlib
import re
import time

from fastapi import Request

from multiduel.arena.domain.commands import AdmitRater
from multiduel.arena.domain.errors import Forbidden, TooOften
from multiduel.arena.web.access import BY_ACCOUNT
from multiduel.arena.web.accounts import Account
from multiduel.arena.web.context import address_of, app_context_of

# Whoever knows the request that a rater joined by can have another key of that rater: it must be random, and our pages send 32
# hexadecimal digits. Fewer than 16 characters are refused: they are counted or typed, so that two people send the same.
JOIN_REQUEST = re.compile(r"^[!-~]{16,200}$")
BY_SIGN_IN = "sso-"  # the name of a link begins so if whoever follows it must sign in with an account


async def admit_by_link(request: Request, arena: str, label: str, asked: str, link: str) -> tuple[str, str]:
    """A new rater's id and key. Asked again under the same request it is the same rater, with another key: the first ends.

    The log keeps a hash of the request only: whoever reads an exported log cannot ask for a key with it.
    """
    if link.startswith(BY_SIGN_IN):
        raise Forbidden("This link needs sign-in with an account: open it in a browser.")
    digest = hashlib.sha256(asked.encode()).hexdigest()
    return await _admitted(request, arena, label, digest, f"join {digest}", f"link:{link}")


async def admit_account(request: Request, arena: str, account: Account, link: str) -> tuple[str, str]:
    """The id of this account's rater, the same every time, and a new key: one person is one rater. No caller of the API can send
    this request: theirs are hashed."""
    label, by = account.name or account.mail or "Account", f"link:{link} {BY_ACCOUNT}"
    return await _admitted(request, arena, label, account.id, f"account {account.id}", by)


async def _admitted(request: Request, arena: str, label: str, digest: str, asked: str, by: str) -> tuple[str, str]:
    app_context = app_context_of(request)
    if app_context.public and (wait := app_context.joins.take(address_of(request), now=time.monotonic())):
        raise TooOften("Too many raters join from this address. Try again later.", wait)
    known = f"{label.strip()[:150]} ({digest[:6]})" if label.strip() else ""  # two Adas are two raters
    rater = await app_context.do(request, AdmitRater(arena, known, request=asked))
    if await app_context.quick(arena, app_context.access.was_revoked, "rater", arena, rater):
        raise Forbidden("The key of this rater was revoked. Ask the owner of this arena for another one.")
    return rater, await app_context.quick(arena, app_context.access.new_key, "rater", arena=arena, rater=rater, by=by)
