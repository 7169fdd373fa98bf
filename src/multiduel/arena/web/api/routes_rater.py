"""What raters may do: join, ask, look, vote, take back."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request
from fastapi.responses import JSONResponse, Response

from multiduel.arena.domain.commands import Ask, Undo, Vote, arena_of
from multiduel.arena.domain.errors import Forbidden
from multiduel.arena.web.api import models as m
from multiduel.arena.web.api.openapi import file, refusals
from multiduel.arena.web.content_headers import CONTENT_HEADERS, served_as
from multiduel.arena.web.context import AppContext, app_context_of, as_rater, grant_of
from multiduel.arena.web.joining import admit_by_link
from multiduel.arena.web.whole_text import WholeText

router = APIRouter(tags=["raters"], route_class=WholeText)
KEYED: dict[str, Any] = {
    "openapi_extra": {"security": [{"HTTPBearer": []}]}
}  # said here, as a dependency would cost time with every vote


@router.put("/tickets/{ticket}/vote", response_model=m.ReceiptOut, responses=refusals(401, 403, 404, 409, 422), **KEYED)
async def vote(request: Request, ticket: m.TicketId, body: Annotated[m.BallotIn, Body()], next: m.Flag = "0") -> Any:
    """Vote on a ticket. The answer comes when the vote is durable.

    The same vote again gets the same answer; another vote on the ticket is a conflict (409). With `next=1` the answer contains
    the next ticket.
    """
    return await voted(app_context_of(request), request, ticket, body.model_dump(), next == "1")


async def voted(app_context: AppContext, request: Request, ticket: str, ballot: dict[str, Any], next: bool) -> JSONResponse:
    """Carry out a vote, and answer with its receipt."""
    grant, arena = grant_of(request), arena_of(ticket)
    if not grant.owns(arena) and not (grant.role == "rater" and grant.arena == arena):
        raise Forbidden("This needs the key of the ticket's rater.")
    command = Vote(ticket, ballot, next=next, rater=grant.rater)
    return JSONResponse(await app_context.receipt(await app_context.do(request, command)))


@router.post(
    "/arenas/{arena}/join", response_model=m.RaterKeyOut, status_code=201, responses=refusals(401, 403, 404, 409, 422), **KEYED
)
async def join(request: Request, arena: m.Arena, body: m.JoinIn) -> Any:
    """Join as a new rater, with the key of a shared link."""
    grant = grant_of(request)
    if not grant.joins(arena):
        raise Forbidden("This needs the key of a shared link of this arena.")
    rater, key = await admit_by_link(request, arena, body.label, body.request or uuid.uuid4().hex, grant.key or "")
    return JSONResponse({"rater": rater, "key": key}, 201)


@router.post(
    "/arenas/{arena}/tickets", response_model=m.TicketOut | m.DoneOut, responses=refusals(401, 403, 404, 409, 422), **KEYED
)
async def ask(request: Request, arena: m.Arena, body: m.AskIn) -> Any:
    """Get the next ticket, or the reason why there is none. The same request again returns the same ticket."""
    app_context, rater = app_context_of(request), as_rater(request, arena)
    command = Ask(arena, rater, body.request or uuid.uuid4().hex, group=body.group)
    return JSONResponse(await app_context.ticket(await app_context.do(request, command)))


@router.get("/tickets/{ticket}", response_model=m.TicketOut, responses=refusals(401, 403, 404, 422), **KEYED)
async def look(request: Request, ticket: m.TicketId) -> Any:
    """Show a ticket to its rater or to the arena's owner."""
    app_context, grant, arena = app_context_of(request), grant_of(request), arena_of(ticket)
    if not grant.owns(arena) and not (grant.role == "rater" and grant.arena == arena):
        raise Forbidden("This needs the key of the ticket's rater.")
    found = await app_context.quick(arena, app_context.service.ticket, ticket)
    if grant.role == "rater" and found.rater not in (None, grant.rater):
        raise Forbidden("This ticket is another rater's.")
    return JSONResponse(await app_context.ticket(found))


@router.get(
    "/tickets/{ticket}/contents/{position}",
    response_class=Response,
    responses=file("*/*", "What is shown at this place.") | refusals(404, 422),
)
async def content(request: Request, ticket: m.TicketId, position: Annotated[int, Path(ge=0, le=m.MOST_WHOLE)]) -> Any:
    """Show the content at a position of a ticket. The ticket's id is the permission."""
    app_context = app_context_of(request)
    shown = await app_context.quick(arena_of(ticket), app_context.service.content, ticket, position)
    return Response(shown.data, media_type=served_as(shown), headers=CONTENT_HEADERS)


@router.post("/arenas/{arena}/undo", response_model=m.ReceiptOut, responses=refusals(401, 403, 404, 409, 422), **KEYED)
async def undo(request: Request, arena: m.Arena, body: m.UndoIn) -> Any:
    """Undo the rater's last vote. Returns a new ticket with the same options."""
    app_context, rater = app_context_of(request), as_rater(request, arena)
    return JSONResponse(
        await app_context.receipt(await app_context.do(request, Undo(arena, rater, body.request or uuid.uuid4().hex)))
    )
