"""Notices: where the owner is told of results. A webhook's secret is shown once, when it is made."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from multiduel.arena.domain.errors import Conflict, NotFound
from multiduel.arena.journal import Notice
from multiduel.arena.web.context import caller_of
from multiduel.arena.web.notifier import described
from multiduel.arena.web.pages.render import confirm_page
from multiduel.arena.web.pages.routes_owner import owned, owners_page
from multiduel.arena.web.sessions import checked_form
from multiduel.inputs import BadInput


async def notices_page(request: Request, *, problem: str = "", target: str = "", made: Notice | None = None) -> Response:
    app_context, arena, info = await owned(request)

    def listed() -> dict[str, Any]:
        rows = [described(one) for one in app_context.service.journal.notices.get(arena)]
        holders = app_context.access.holders(arena, {row["made_by"] for row in rows})
        return {"notices": [row | {"made_by": holders.get(row["made_by"], row["made_by"])} for row in rows]}

    words = await app_context.quick(arena, listed)
    notifier = app_context.notifier
    words |= {"places": sorted(notifier.allowed.places), "mail": notifier.mail is not None, "problem": problem, "target": target}
    return owners_page(request, "notices.html", info, "notices", status=422 if problem else 200, made=made, **words)


async def add(request: Request) -> Response:
    app_context, arena, _ = await owned(request)
    target = (await checked_form(request)).get("target", "").strip()
    try:
        made = await app_context.quick(arena, app_context.notifier.add, arena, target, by=caller_of(request))
    except (BadInput, Conflict) as error:
        return await notices_page(request, problem=str(error), target=target)
    if made.kind == "mail":  # which has no secret to show
        return RedirectResponse(f"/own/{arena}/notices", 303)
    return await notices_page(request, made=made)


async def remove(request: Request) -> Response:
    app_context, arena, _ = await owned(request)
    fields = await checked_form(request)
    home, name = f"/own/{arena}/notices", fields.get("notice", "")
    if fields.get("sure") != "1":
        sentence = "Notices to this address stop. You can add it again; a webhook then gets a new secret."
        meant = {"notice": name}
        return confirm_page(request, "Remove this notice?", sentence, "Remove", action=f"{home}/remove", back=home, fields=meant)
    if not await app_context.quick(arena, app_context.service.journal.notices.remove, arena, name):
        raise NotFound("There is no such notice.")
    return RedirectResponse(home, 303)


ROUTES = [
    Route("/own/{arena}/notices", notices_page),
    Route("/own/{arena}/notices", add, methods=["POST"]),
    Route("/own/{arena}/notices/remove", remove, methods=["POST"]),
]
