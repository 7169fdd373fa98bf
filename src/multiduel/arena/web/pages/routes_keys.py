"""Keys, as owners and the server's operator see them: who holds which, when it was last used; make, replace and revoke."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.errors import Conflict, NotFound
from multiduel.arena.journal import Secret
from multiduel.arena.web.access import Grant, key_label
from multiduel.arena.web.account_rights import ROLE, is_session
from multiduel.arena.web.context import AppContext, app_context_of, caller_of, grant_of
from multiduel.arena.web.key_rules import change_rows, known_rater, revoke_key
from multiduel.arena.web.pages.links import link_of
from multiduel.arena.web.pages.render import confirm_page, page
from multiduel.arena.web.pages.routes_owner import owned, servers_only
from multiduel.arena.web.sessions import checked_form, forget, remember
from multiduel.inputs import BadInput

ROLES = {
    "server": "Server",
    "owner": "Owner",
    "link": "Shared link",
    "rater": "Rater",
    "report": "Report link",
    "account": "Account",
}
DONE = {"made": "made", "rotated": "replaced", "revoked": "revoked"}
INVITED = {"made": "invited", "rotated": "signed in first", "revoked": "removed"}


@dataclass(frozen=True)
class Whose:
    """An arena's keys, or with ``info`` None the server's."""

    app_context: AppContext
    info: c.ArenaInfo | None

    @property
    def arena(self) -> str:
        return self.info.id if self.info else ""

    @property
    def home(self) -> str:
        return f"/own/{self.arena}/keys" if self.info else "/own/keys"

    def page(self, request: Request, template: str, *, status: int = 200, **words: Any) -> Response:
        known = {"arena": self.arena, "info": self.info, "name": self.info.name if self.info else "", "home": self.home}
        return page(request, template, status=status, roles=ROLES, **known, **words)


async def _whose(request: Request) -> Whose:
    if "arena" in request.path_params:
        app_context, _, info = await owned(request)
        return Whose(app_context, info)
    servers_only(request)
    return Whose(app_context_of(request), None)


# ---- all of them


async def keys_page(request: Request, *, problem: str = "") -> Response:
    whose = await _whose(request)
    access, arena, grant = whose.app_context.access, whose.arena, grant_of(request)

    def listed() -> tuple[list[Secret], list[Secret], list[dict[str, Any]]]:
        keys = access.keys(arena, ("owner", "link", "report") if arena else ("server",))
        return keys, access.keys(arena, (ROLE,)) if arena else [], change_rows(access.changes(arena))

    keys, invited, changes = await whose.app_context.read(listed)
    words = {"keys": keys, "invited": invited, "changes": changes, "yours": _yours(grant, arena), "problem": problem}
    words |= {"done": DONE, "done_to_account": INVITED, "leaving": f"/own/{grant.arena}" if grant.arena else "/own"}
    return whose.page(request, "keys.html", status=422 if problem else 200, here="keys", **words)


def _yours(grant: Grant, arena: str) -> tuple[str, str | None]:
    """Role and name of the visitor's key, if it is one of these."""
    return (grant.role, grant.key) if (grant.arena or "") == arena else ("", "")


async def new(request: Request) -> Response:
    whose = await _whose(request)
    fields = await checked_form(request)
    try:
        label = key_label(fields.get("label", ""))
    except BadInput as error:
        return await keys_page(request, problem=str(error))
    role = "owner" if whose.arena else "server"
    about = {"arena": whose.arena or None, "label": label, "by": caller_of(request)}
    key = await whose.app_context.read(whose.app_context.access.new_key, role, **about)
    return _shown(request, whose, f"{ROLES[role]}: {label}" if label else ROLES[role], key)


async def invite(request: Request) -> Response:
    """An owner by account: whoever signs in with this address."""
    app_context, arena, _ = await owned(request)
    fields = await checked_form(request)
    if app_context.rights is None:
        raise NotFound("This server has no sign-in with accounts.")
    try:
        await app_context.quick(arena, app_context.rights.invite, arena, fields.get("mail", ""), by=caller_of(request))
    except (BadInput, Conflict) as error:
        return await keys_page(request, problem=str(error))
    return RedirectResponse(f"/own/{arena}/keys", 303)


async def remove_account(request: Request) -> Response:
    app_context, arena, _ = await owned(request)
    fields = await checked_form(request)
    name, home = fields.get("name", ""), f"/own/{arena}/keys"
    found = await app_context.quick(arena, app_context.access.keys_named, arena, ROLE, name)
    if app_context.rights is None or not found:
        raise NotFound("There is no such account in this arena.")
    if fields.get("sure") != "1":
        sentence = f"{found[0].label} owns this arena no more, and is signed out at once. You can invite the account again."
        action, meant = f"{home[:-5]}/accounts/remove", {"name": name}
        return confirm_page(request, "Remove this owner?", sentence, "Remove", action=action, back=home, fields=meant)
    await app_context.quick(arena, app_context.rights.withdraw, arena, name, by=caller_of(request))
    return RedirectResponse(home, 303)


async def sign_out(request: Request) -> Response:
    """Make this browser forget its key. A key that came of an account ends; one that was typed stays good."""
    await _whose(request)
    await checked_form(request)
    app_context, grant = app_context_of(request), grant_of(request)
    if is_session(grant.key or ""):
        end = app_context.access.revoke
        await app_context.read(end, grant.role, grant.arena or "", grant.key, by=caller_of(request))
    response = page(request, "refused.html", sentence="You are signed out.", code=200)
    forget(response, grant)
    return response


def _shown(request: Request, whose: Whose, words: str, key: str) -> Response:
    return whose.page(request, "links.html", here="keys", links=[link_of(request, words, key)], fresh=False)


# ---- one of them


@dataclass(frozen=True)
class Held:
    """A key, or that of a rater who has none."""

    role: str
    name: str
    holder: str
    key: Secret | None
    last: bool  # of the server, or of an arena's owner


async def _held(request: Request, whose: Whose) -> Held:
    role, name = request.path_params["role"], request.path_params["name"]
    if role not in (("owner", "link", "rater", "report") if whose.arena else ("server",)):
        raise NotFound("There is no such key.")

    def look() -> Held:
        access = whose.app_context.access
        found = access.keys_named(whose.arena, role, name)
        if role == "rater":
            return Held(role, name, known_rater(whose.app_context, whose.arena, name), found[0] if found else None, False)
        if not found:
            raise NotFound("There is no key of this name. It may have been revoked.")
        last = role in ("server", "owner") and len(access.keys(whose.arena, (role,))) == 1
        return Held(role, name, found[0].label, found[0], last)

    return await whose.app_context.read(look)


async def key_page(request: Request, *, problem: str = "") -> Response:
    whose = await _whose(request)
    held = await _held(request, whose)
    yours = _yours(grant_of(request), whose.arena) == (held.role, held.name)
    here = "raters" if held.role == "rater" else "keys"
    return whose.page(request, "key.html", status=422 if problem else 200, here=here, held=held, yours=yours, problem=problem)


async def replace(request: Request) -> Response:
    """A new secret; if it was the visitor's own, the cookie holds the new one."""
    whose = await _whose(request)
    await checked_form(request)
    held, grant, by = await _held(request, whose), grant_of(request), caller_of(request)
    access, read = whose.app_context.access, whose.app_context.read
    if held.role == "rater":
        key = await read(access.new_key, "rater", arena=whose.arena, rater=held.name, by=by)
    else:
        key = await read(access.rotate, held.role, whose.arena, held.name, by=by)
    response = _shown(request, whose, f"{ROLES[held.role]}: {held.holder}" if held.holder else ROLES[held.role], key)
    if _yours(grant, whose.arena) == (held.role, held.name):
        remember(request, response, grant, key)
    return response


async def revoke(request: Request) -> Response:
    whose = await _whose(request)
    fields = await checked_form(request)
    held, grant, by = await _held(request, whose), grant_of(request), caller_of(request)
    if fields.get("sure") != "1":
        return await key_page(request, problem="Revoking is permanent. Please tick the box beside it.")
    force = held.last and fields.get("last") == "1"  # the page said that it is the last one
    try:
        await whose.app_context.read(
            revoke_key,
            whose.app_context.access,
            grant,
            held.role,
            whose.arena,
            held.name,
            by=by,
            force=force or held.role == "rater",
        )
    except Conflict:
        return await key_page(request, problem="This is the last key now. Please read below what that means.")
    if _yours(grant, whose.arena) == (held.role, held.name):
        response = page(request, "refused.html", sentence="Your key is revoked, and this browser has forgotten it.", code=200)
        forget(response, grant)
        return response
    return RedirectResponse(f"/own/{whose.arena}/raters" if held.role == "rater" else whose.home, 303)


ROUTES = [
    Route("/own/signout", sign_out, methods=["POST"]),
    Route("/own/{arena}/signout", sign_out, methods=["POST"]),
    Route("/own/{arena}/accounts", invite, methods=["POST"]),
    Route("/own/{arena}/accounts/remove", remove_account, methods=["POST"]),
]
ROUTES += [
    route
    for room in ("/own/keys", "/own/{arena}/keys")
    for route in (
        Route(room, keys_page),
        Route(room, new, methods=["POST"]),
        Route(room + "/{role}/{name}", key_page),
        Route(room + "/{role}/{name}/replace", replace, methods=["POST"]),
        Route(room + "/{role}/{name}/revoke", revoke, methods=["POST"]),
    )
]
