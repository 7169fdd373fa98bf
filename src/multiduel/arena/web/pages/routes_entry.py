"""The way in: a link or a key becomes a cookie. Following a link changes nothing; the button on its page does."""

from __future__ import annotations

import uuid

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from multiduel.arena.domain.errors import Forbidden
from multiduel.arena.web.access import Grant, role_and_arena
from multiduel.arena.web.context import address_of, app_context_of
from multiduel.arena.web.joining import BY_SIGN_IN, JOIN_REQUEST, admit_by_link
from multiduel.arena.web.pages.invitation import invitation
from multiduel.arena.web.pages.render import page
from multiduel.arena.web.sessions import check_origin, form_of, remember
from multiduel.inputs import BadInput

HOME = {"rater": "/vote/{}", "owner": "/own/{}", "server": "/own"}


async def home(request: Request) -> Response:
    if request.app.state.demo is not None:
        return RedirectResponse("/demo", 303)
    return _home(request)


def _home(request: Request, *, wrong: str = "") -> Response:
    return page(request, "home.html", status=403 if wrong else 200, wrong=wrong, request_id=uuid.uuid4().hex)


async def link(request: Request) -> Response:
    """A link that was given out. A rater's page is beneath its arena, where the cookie of an earlier visit is seen."""
    key = request.path_params["key"]
    role, arena = role_and_arena(key)
    if role in ("link", "rater"):
        return RedirectResponse(f"/vote/{arena}/start/{key}", 303)
    if role == "report":
        return RedirectResponse(f"/report/{key}", 303)
    return page(request, "start.html", role=role, key=key, request_id=uuid.uuid4().hex)


async def start(request: Request) -> Response:
    """What a rater who follows a link sees first; one who has been here goes on. Only a key that is good shows anything."""
    key, arena = request.path_params["key"], request.path_params["arena"]
    role, of = role_and_arena(key)
    if of != arena or role not in ("link", "rater"):
        raise Forbidden("This link is not whole. Please copy all of it.")
    grant: Grant | None = request.scope.get("grant")
    if role == "link" and grant is not None and grant.arena == arena:
        return RedirectResponse(f"/vote/{arena}", 303)
    app_context = app_context_of(request)
    try:
        good = await app_context.keys.grant(key, address_of(request))
    except Forbidden:
        raise Forbidden(
            "This link does not work, or not any more. Please copy all of it, or ask the person who gave it to you."
        ) from None
    invited = await app_context.quick(arena, invitation, app_context, arena, good.rater)
    by_account = role == "link" and (good.key or "").startswith(BY_SIGN_IN)
    words = {"role": role, "key": key, "request_id": uuid.uuid4().hex, "invited": invited, "by_account": by_account}
    return page(request, "join.html", **words)


async def enter(request: Request) -> Response:
    """With a key: a link's makes a new rater."""
    check_origin(request)
    app_context, fields = app_context_of(request), await form_of(request)
    key = fields.get("key", "").strip().rpartition("/")[2]  # a whole link will do
    try:
        grant = await app_context.keys.grant(key, address_of(request))
    except Forbidden:
        return _home(request, wrong="This key is not known here. Please copy all of it.")
    if grant.role == "report":
        return RedirectResponse(f"/report/{key}", 303)
    if grant.role == "link":
        asked, label = fields.get("request", ""), fields.get("label", "")
        if JOIN_REQUEST.fullmatch(asked) is None:
            raise BadInput("This form is out of date. Load the page again.")
        request.scope["grant"] = grant  # whose the new rater is
        rater, key = await admit_by_link(request, grant.arena or "", label, asked, grant.key or "")
        grant = Grant("rater", grant.arena, rater, rater)
    response = RedirectResponse(HOME[grant.role].format(grant.arena), 303)
    remember(request, response, grant, key)
    return response


ROUTES = [
    Route("/", home),
    Route("/k/{key}", link),
    Route("/k", enter, methods=["POST"]),
    Route("/vote/{arena}/start/{key}", start),
]
