"""Sign-in with an account: to the provider's page, and back to a session. Keys and links work as without it."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from multiduel.arena.domain.errors import Forbidden, NotFound, Unavailable
from multiduel.arena.web.access import Grant, role_and_arena
from multiduel.arena.web.account_rights import AccountRights
from multiduel.arena.web.accounts import KEPT, Account, Accounts, Attempt
from multiduel.arena.web.context import address_of, app_context_of
from multiduel.arena.web.joining import BY_SIGN_IN, admit_account
from multiduel.arena.web.pages.render import page
from multiduel.arena.web.sessions import check_origin, remember

NONE = "This server has no sign-in with accounts. Use your link or key."


def _accounts(request: Request) -> tuple[Accounts, AccountRights]:
    app_context = app_context_of(request)
    if app_context.accounts is None or app_context.rights is None:
        raise NotFound(NONE)
    return app_context.accounts, app_context.rights


def _back(request: Request) -> str:
    """Under the name that the page was asked for by, which is one of ours: the gate answers to no other."""
    return f"{request.url.scheme}://{request.headers['host']}/signin/callback"


def _cookie(request: Request) -> str:
    """With TLS, a name that browsers take from this host only: no neighbour of our domain can plant one."""
    return "__Host-multiduel-signin" if request.url.scheme == "https" else "multiduel-signin"


async def sign_in(request: Request) -> Response:
    """To the pages of owners; of one arena, if one is named."""
    arena = request.path_params.get("arena")
    return await _begin(request, f"own:{arena}" if arena else "own")


async def sign_in_to_vote(request: Request) -> Response:
    """Of a rater, by a link that asks for it."""
    key = request.path_params["key"]
    await _link(request, key)
    return await _begin(request, f"join:{key}")


async def _begin(request: Request, purpose: str) -> Response:
    accounts, _ = _accounts(request)
    check_origin(request)  # another site cannot make its visitors join
    attempt = Attempt.begin(purpose)
    if Attempt.read(attempt.text) is None:
        raise NotFound("There is no such page.")
    try:
        where = await accounts.address(attempt, _back(request))
    except Unavailable as error:
        return _down(request, error)
    response = RedirectResponse(where, 303)
    secure = request.url.scheme == "https"
    response.set_cookie(_cookie(request), attempt.text, max_age=KEPT, path="/", httponly=True, samesite="lax", secure=secure)
    return response


def _down(request: Request, error: Unavailable) -> Response:
    return page(request, "refused.html", status=503, sentence=str(error), code=503)


async def _link(request: Request, key: str) -> Grant:
    """The grant of a link by which accounts join."""
    if role_and_arena(key)[0] != "link":
        raise Forbidden("This link is not whole. Please copy all of it.")
    grant = await app_context_of(request).keys.grant(key, address_of(request))
    if not (grant.key or "").startswith(BY_SIGN_IN):
        raise Forbidden("This link needs no account.")
    return grant


async def come_back(request: Request) -> Response:
    """From the provider, with a code that is good once. The cookie of the attempt ends whatever comes of it."""
    accounts, rights = _accounts(request)
    attempt = Attempt.read(_attempt(request))
    try:
        account = await accounts.account(attempt, request.query_params, _back(request))
        assert attempt is not None  # or it was refused
        response = await _enter(request, rights, account, attempt.purpose)
    except Unavailable as error:
        response = _down(request, error)
    except Forbidden as error:
        response = page(request, "refused.html", status=403, sentence=str(error), code=403)
    response.delete_cookie(_cookie(request), path="/", secure=request.url.scheme == "https", httponly=True)
    return response


def _attempt(request: Request) -> str | None:
    try:
        cookies: SimpleCookie = SimpleCookie(request.headers.get("cookie", "")[:8_000])
    except CookieError:
        return None
    name = _cookie(request)
    return cookies[name].value if name in cookies else None


async def _enter(request: Request, rights: AccountRights, account: Account, purpose: str) -> Response:
    """A session for what the visitor wanted. Where to is made here: no address that came from outside is followed."""
    app_context, (kind, _, what) = app_context_of(request), purpose.partition(":")
    if kind == "join":
        link = await _link(request, what)
        request.scope["grant"] = link  # whose the new rater is
        rater, key = await admit_account(request, link.arena or "", account, link.key or "")
        return _entered(request, Grant("rater", link.arena, rater, rater), key, f"/vote/{link.arena}")
    if rights.is_admin(account):
        grant, key = await app_context.read(rights.server_key, account)
        return _entered(request, grant, key, f"/own/{what}" if what else "/own")
    if what:
        grant, key = await app_context.read(rights.owner_key, account, what)
        return _entered(request, grant, key, f"/own/{what}")
    return await _choose(request, rights, account)


def _entered(request: Request, grant: Grant, key: str, where: str) -> Response:
    response = RedirectResponse(where, 303)
    remember(request, response, grant, key)
    return response


async def _choose(request: Request, rights: AccountRights, account: Account) -> Response:
    """The arenas of this account. Each is another sign-in, which the provider answers without asking again."""
    app_context = app_context_of(request)

    def listed() -> list[tuple[str, str]]:
        mine = set(rights.arenas(account))
        return [(row.id, row.name) for row in app_context.service.arenas() if row.id in mine]

    words: dict[str, Any] = {"arenas": await app_context.read(listed), "account": account}
    return page(request, "account.html", **words)


ROUTES = [
    Route("/signin", sign_in),
    Route("/signin/own/{arena}", sign_in),
    Route("/signin/join/{key}", sign_in_to_vote),
    Route("/signin/callback", come_back),
]
