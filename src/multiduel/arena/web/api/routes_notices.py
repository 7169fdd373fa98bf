"""Where an owner wants to be told of results: list, add, remove."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, StringConstraints

from multiduel.arena.domain.errors import NotFound
from multiduel.arena.domain.notices import MOST_TARGET
from multiduel.arena.web.api import models as m
from multiduel.arena.web.api.openapi import refusals
from multiduel.arena.web.context import app_context_of, as_owner, caller_of
from multiduel.arena.web.notifier import described
from multiduel.arena.web.whole_text import WholeText

router = APIRouter(tags=["owners"], route_class=WholeText)
NoticeId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]


class NoticeIn(m.Body):
    target: Annotated[str, StringConstraints(min_length=1, max_length=MOST_TARGET)] = Field(
        description="An https URL, or a mail address, that the server's operator allows."
    )


class NoticeOut(BaseModel):
    id: str
    kind: Literal["webhook", "mail"]
    target: str = Field(description="The address; of a webhook the server only, because the rest of its URL may be a secret.")
    created: str
    made_by: str


class NewNoticeOut(NoticeOut):
    secret: str = Field(description="That webhooks are signed with. Shown once.")


class NoticesOut(BaseModel):
    notices: list[NoticeOut]


@router.get("/arenas/{arena}/notices", response_model=NoticesOut, responses=refusals(401, 403, 404, 422))
async def notices(request: Request, arena: m.Arena) -> Any:
    """List where notices go: of a winner, a cycle, enough votes without a result, and a day without votes."""
    as_owner(request, arena)
    app_context = app_context_of(request)
    await app_context.constants(arena)
    rows = await app_context.quick(arena, app_context.service.journal.notices.get, arena)
    return JSONResponse({"notices": [described(one) for one in rows]})


@router.post("/arenas/{arena}/notices", response_model=NewNoticeOut, status_code=201, responses=refusals(401, 403, 404, 409, 422))
async def add(request: Request, arena: m.Arena, body: NoticeIn) -> Any:
    """Send notices to a URL or a mail address. Each call adds one."""
    as_owner(request, arena)
    app_context = app_context_of(request)
    await app_context.constants(arena)  # refused here if there is no such arena
    made = await app_context.quick(arena, app_context.notifier.add, arena, body.target, by=caller_of(request))
    return JSONResponse(described(made) | {"secret": made.secret}, 201)


@router.delete("/arenas/{arena}/notices/{notice}", response_model=m.RevokedOut, responses=refusals(401, 403, 404, 422))
async def remove(request: Request, arena: m.Arena, notice: NoticeId) -> Any:
    """Stop sending notices to this URL or address."""
    as_owner(request, arena)
    app_context = app_context_of(request)
    if not await app_context.quick(arena, app_context.service.journal.notices.remove, arena, notice):
        raise NotFound("There is no such notice.")
    return JSONResponse({"revoked": 1})
