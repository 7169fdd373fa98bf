"""What owners may do: make arenas, turn them on and off, change what is compared, see the board, and look after raters."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.errors import Forbidden
from multiduel.arena.web.api import models as m
from multiduel.arena.web.api.models_board import BoardOut, RaterBoardOut, RatersOut
from multiduel.arena.web.api.openapi import refusals
from multiduel.arena.web.context import app_context_of, arena_out, as_json, as_owner, as_server, caller_of, grant_of
from multiduel.arena.web.whole_text import WholeText

router = APIRouter(tags=["owners"], route_class=WholeText)
USUAL = refusals(401, 403, 404, 409, 422)


@router.post("/arenas", response_model=m.CreatedOut, status_code=201, responses=refusals(401, 403, 409, 422))
async def create(request: Request, body: m.CreateIn) -> Any:
    """Create an arena (server's key). The same request again returns the same arena with another owner's key."""
    as_server(request)
    app_context = app_context_of(request)

    def read() -> c.Create:
        settings = body.settings.read()
        options, contexts = tuple(option.read() for option in body.options), tuple(context.strip() for context in body.contexts)
        return c.Create(body.name, settings, options, contexts, body.request)

    info = await app_context.do(request, await app_context.slow("", read))
    made = {
        "arena": info.id,
        "owner_key": await app_context.quick(info.id, app_context.access.new_key, "owner", arena=info.id, by=caller_of(request)),
        "link_key": None,
    }
    if body.raters == "open":
        made["link_key"] = await app_context.quick(
            info.id, app_context.access.new_key, "link", arena=info.id, by=caller_of(request)
        )
    return JSONResponse({**made, "info": arena_out(info)}, 201)


@router.get("/arenas", response_model=m.ArenasOut, responses=refusals(401, 403))
async def arenas(request: Request) -> Any:
    """List all arenas (server's key)."""
    as_server(request)
    app_context = app_context_of(request)
    rows = await app_context.read(app_context.service.arenas)
    return JSONResponse({"arenas": [{"arena": row.id, "name": row.name, "created": row.created} for row in rows]})


@router.get("/arenas/{arena}", response_model=m.ArenaOut, responses=refusals(401, 403, 404, 422))
async def info(request: Request, arena: m.Arena) -> Any:
    as_owner(request, arena)
    app_context = app_context_of(request)
    return JSONResponse(arena_out(await app_context.quick(arena, app_context.service.info, arena)))


async def _changed(request: Request, arena: str, command: Any) -> Any:
    as_owner(request, arena)
    return JSONResponse(arena_out(await app_context_of(request).do(request, command)))


@router.post("/arenas/{arena}/open", response_model=m.ArenaOut, responses=USUAL)
async def open_arena(request: Request, arena: m.Arena) -> Any:
    return await _changed(request, arena, c.Open(arena))


@router.post("/arenas/{arena}/pause", response_model=m.ArenaOut, responses=USUAL)
async def pause(request: Request, arena: m.Arena) -> Any:
    """Pause: give out no new tickets. Votes on open tickets are still taken."""
    return await _changed(request, arena, c.Pause(arena))


@router.post("/arenas/{arena}/close", response_model=m.ArenaOut, responses=USUAL)
async def close(request: Request, arena: m.Arena) -> Any:
    """Close permanently: no more tickets or votes."""
    return await _changed(request, arena, c.Close(arena))


@router.post("/arenas/{arena}/options", response_model=m.ArenaOut, responses=USUAL)
async def add_options(request: Request, arena: m.Arena, body: m.OptionsIn) -> Any:
    as_owner(request, arena)
    options = await app_context_of(request).slow(arena, lambda: tuple(option.read() for option in body.options))
    return await _changed(request, arena, c.AddOptions(arena, options, body.request))


@router.post("/arenas/{arena}/options/{option}/retire", response_model=m.ArenaOut, responses=USUAL)
async def retire(request: Request, arena: m.Arena, option: m.OptionId, body: m.RetireIn) -> Any:
    return await _changed(request, arena, c.RetireOption(arena, option, body.request))


@router.put("/arenas/{arena}/policy", response_model=m.ArenaOut, responses=USUAL)
async def change_policy(request: Request, arena: m.Arena, body: m.PolicyIn) -> Any:
    return await _changed(request, arena, c.ChangePolicy(arena, body.policy, body.parameters))


@router.put("/arenas/{arena}/margin", response_model=m.ArenaOut, responses=USUAL)
async def change_margin(request: Request, arena: m.Arena, body: m.MarginIn) -> Any:
    return await _changed(request, arena, c.ChangeMargin(arena, body.margin))


@router.get("/arenas/{arena}/board", response_model=BoardOut | RaterBoardOut, responses=refusals(401, 403, 404, 422))
async def board(request: Request, arena: m.Arena) -> Any:
    """Show the verdict, the forecast and the standings. Raters see them when the setting `board` says so, without other raters
    and excluded votes."""
    app_context, grant = app_context_of(request), grant_of(request)
    if not grant.owns(arena):
        if grant.role != "rater" or grant.arena != arena:
            raise Forbidden("This needs the key of this arena's owner or of a rater.")
        if not await app_context.quick(arena, app_context.shows_board, arena):
            raise Forbidden("The board is not shown to raters now.")
        return await app_context.quick(arena, lambda: as_json(app_context.service.board(arena).rater_json()))
    return await app_context.quick(arena, lambda: as_json(app_context.service.board(arena).to_json()))


# ---- raters


@router.post("/arenas/{arena}/raters", response_model=m.RaterKeyOut, status_code=201, responses=USUAL)
async def admit(request: Request, arena: m.Arena, body: m.RaterIn) -> Any:
    """Add a rater. Returns the rater's key."""
    as_owner(request, arena)
    app_context = app_context_of(request)
    rater = await app_context.do(
        request,
        c.AdmitRater(arena, body.label, body.group, body.limit, f"admit {body.request or uuid.uuid4().hex}", body.kind),
    )
    key = await app_context.quick(arena, app_context.access.new_key, "rater", arena=arena, rater=rater, by=caller_of(request))
    return JSONResponse({"rater": rater, "key": key}, 201)


@router.get("/arenas/{arena}/raters", response_model=RatersOut, responses=refusals(401, 403, 404, 422))
async def raters(request: Request, arena: m.Arena) -> Any:
    """List raters with their votes, agreement and speed."""
    as_owner(request, arena)
    app_context = app_context_of(request)
    return await app_context.slow(arena, lambda: as_json({"raters": [asdict(one) for one in app_context.service.raters(arena)]}))


@router.post("/arenas/{arena}/raters/{rater}/quarantine", response_model=m.ReceiptOut, responses=USUAL)
async def quarantine(request: Request, arena: m.Arena, rater: m.RaterId, body: m.ReasonIn) -> Any:
    """Exclude all votes of this rater, visibly, until they are released."""
    as_owner(request, arena)
    return JSONResponse(asdict(await app_context_of(request).do(request, c.Quarantine(arena, rater, body.reason))))


@router.post("/arenas/{arena}/raters/{rater}/release", response_model=m.ReceiptOut, responses=USUAL)
async def release(request: Request, arena: m.Arena, rater: m.RaterId) -> Any:
    as_owner(request, arena)
    return JSONResponse(asdict(await app_context_of(request).do(request, c.Release(arena, rater))))


@router.post("/arenas/{arena}/links", response_model=m.KeyOut, status_code=201, responses=USUAL)
async def new_link(request: Request, arena: m.Arena) -> Any:
    """Make a shared link: anyone who has its key may join."""
    as_owner(request, arena)
    app_context = app_context_of(request)
    await app_context.quick(arena, app_context.service.info, arena)  # refused here if there is no such arena
    return JSONResponse(
        {"key": await app_context.quick(arena, app_context.access.new_key, "link", arena=arena, by=caller_of(request))}, 201
    )


@router.delete("/arenas/{arena}/links", response_model=m.RevokedOut, responses=refusals(401, 403, 404, 422))
async def revoke_links(request: Request, arena: m.Arena) -> Any:
    """Revoke all shared links. Raters who joined by them stay."""
    as_owner(request, arena)
    app_context = app_context_of(request)
    await app_context.quick(arena, app_context.service.info, arena)
    return JSONResponse(
        {"revoked": await app_context.quick(arena, app_context.access.revoke, "link", arena, by=caller_of(request))}
    )
