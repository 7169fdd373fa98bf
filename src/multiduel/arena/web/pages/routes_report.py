"""The report for the owner, and for whoever has its read-only link."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from multiduel.arena.domain.errors import Forbidden, NotFound
from multiduel.arena.domain.options import Content
from multiduel.arena.web.access import role_and_arena
from multiduel.arena.web.content_headers import CONTENT_HEADERS, served_as
from multiduel.arena.web.context import AppContext, address_of, app_context_of, caller_of
from multiduel.arena.web.pages.links import link_of
from multiduel.arena.web.pages.render import confirm_page, page
from multiduel.arena.web.pages.report import MOST_SHOWN, report_words
from multiduel.arena.web.pages.routes_owner import content_of, owned, owners_page
from multiduel.arena.web.sessions import checked_form


def _words(app_context: AppContext, arena: str, start: str) -> dict[str, Any]:
    """``start`` is where the contents are, without option and place."""

    def address(option: str, place: int, content: Content) -> str:
        return f"{start}/{option}/contents/{place}"

    return report_words(app_context.service, arena, address)


async def report(request: Request) -> Response:
    app_context, arena, info = await owned(request)
    if not app_context.ready.is_set():
        return page(request, "loading.html", name=info.name, why=app_context.why_not_ready, arena=arena)
    words = await app_context.slow(arena, _words, app_context, arena, f"/own/{arena}/options")
    links = len(await app_context.read(app_context.access.keys, arena, ("report",)))
    known = {"owner_view": True, "links": links, "here": "report", "info": info}
    return page(request, "report.html", **words | known)


async def new_link(request: Request) -> Response:
    app_context, arena, info = await owned(request)
    await checked_form(request)
    key = await app_context.read(app_context.access.new_key, "report", arena=arena, by=caller_of(request))
    links = [link_of(request, "Report: anyone with this link can read it", key)]
    return owners_page(request, "links.html", info, "report", links=links, fresh=False)


async def revoke(request: Request) -> Response:
    app_context, arena, _ = await owned(request)
    where = f"/own/{arena}/report"
    if (await checked_form(request)).get("sure") != "1":
        sentence = "All report links stop working, permanently. You can make new ones."
        return confirm_page(
            request, "Revoke report links?", sentence, "Revoke report links", action=f"{where}/revoke", back=where
        )
    await app_context.read(app_context.access.revoke, "report", arena, by=caller_of(request))
    return RedirectResponse(where, 303)


# ---- by the link


async def _reader(request: Request) -> tuple[AppContext, str]:
    """The arena whose report this link shows."""
    app_context, key = app_context_of(request), request.path_params["key"]
    try:
        role, arena = role_and_arena(key)
        grant = await app_context.keys.grant(key, address_of(request)) if role == "report" else None
    except Forbidden:
        grant = None
    if grant is None or not grant.reads_report(arena):
        raise Forbidden("This link does not work, or not any more. Please copy all of it, or ask the person who gave it to you.")
    return app_context, arena


async def shared_report(request: Request) -> Response:
    app_context, arena = await _reader(request)
    if not app_context.ready.is_set():
        return page(request, "loading.html", name="", why=app_context.why_not_ready, arena=arena)
    words = await app_context.slow(arena, _words, app_context, arena, f"/report/{request.path_params['key']}")
    answer = page(request, "report.html", **words | {"owner_view": False, "links": 0})
    answer.headers["X-Robots-Tag"] = "noindex"
    answer.headers["Referrer-Policy"] = "no-referrer"  # its address is a secret
    return answer


async def shared_content(request: Request) -> Response:
    """A content of the winner, and of no other option."""
    app_context, arena = await _reader(request)
    option, place = request.path_params["option"], request.path_params["context"]

    def found() -> Content:
        info = app_context.service.info(arena)
        if app_context.service.board(arena).winner != option or not 0 <= place < MOST_SHOWN:
            raise NotFound("There is no such content.")
        contents = next(one["contents"] for one in info.options if one["id"] == option)
        if place >= len(contents):
            raise NotFound("There is no such content.")
        return content_of(app_context, arena, contents[place])

    content = await app_context.quick(arena, found)
    return Response(content.data, media_type=served_as(content), headers=CONTENT_HEADERS)


ROUTES = [
    Route("/own/{arena}/report", report),
    Route("/own/{arena}/report", new_link, methods=["POST"]),
    Route("/own/{arena}/report/revoke", revoke, methods=["POST"]),
    Route("/report/{key}", shared_report),
    Route("/report/{key}/{option}/contents/{context:int}", shared_content),
]
