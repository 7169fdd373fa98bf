"""Whole files: votes in, sheets out, logs out and in, and whether a log is what was written."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.options import lines_of
from multiduel.arena.files import batches, imports
from multiduel.arena.files import verify as verification
from multiduel.arena.files.exports import log_lines, log_table, stream_log, whole_events
from multiduel.arena.files.sheets import sheets_of
from multiduel.arena.web.api import models as m
from multiduel.arena.web.api.models_board import VerifiedOut
from multiduel.arena.web.api.openapi import file, refusals
from multiduel.arena.web.context import app_context_of, arena_out, as_json, as_owner, as_server, caller_of
from multiduel.arena.web.downloads import PARQUET, votes_file
from multiduel.arena.web.errors import damage_headers
from multiduel.arena.web.whole_text import WholeText
from multiduel.inputs import BadInput

router = APIRouter(tags=["files"], route_class=WholeText)
CSV = "text/csv; charset=utf-8"


def _wants(kind: str) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {kind: {"schema": {"type": "string"}}}}}


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("The body must be UTF-8 text.") from None


@router.post(
    "/arenas/{arena}/votes",
    response_model=m.ReportOut,
    responses=refusals(401, 403, 404, 409, 422),
    openapi_extra=_wants("text/plain"),
)
async def votes(
    request: Request,
    arena: m.Arena,
    format: Annotated[Literal["csv", "jsonl"], Query()] = "csv",
    dry_run: m.Flag = "0",
) -> Any:
    """Enter a file of votes: all lines or none. Returns a report by line. A file sent twice counts once."""
    as_owner(request, arena)
    app_context, actor, body = app_context_of(request), caller_of(request), await request.body()
    await app_context.constants(arena)  # refused here if there is no such arena

    def entered() -> Response:
        report = batches.enter(app_context.service, arena, _text(body), format=format, dry_run=dry_run == "1", actor=actor)
        return as_json(asdict(report))

    return await app_context.slow(arena, entered)


@router.post(
    "/arenas/{arena}/sheets",
    response_class=Response,
    responses=file("text/csv", "A line per ticket.") | refusals(401, 403, 404, 409, 422),
)
async def sheets(request: Request, arena: m.Arena, body: m.SheetsIn) -> Any:
    """Make tickets for paper. Returns a CSV file to fill in and send as a file of votes."""
    as_owner(request, arena)
    app_context, actor = app_context_of(request), caller_of(request)
    command = c.PrintTickets(arena, body.number, body.request or uuid.uuid4().hex, group=body.group)

    def written() -> str:
        return "".join(sheets_of(app_context.service, arena, app_context.service.do(command, actor=actor)))

    return Response(await app_context.slow(arena, written), media_type=CSV)


@router.get(
    "/arenas/{arena}/log.jsonl",
    response_class=Response,
    responses=file("application/x-ndjson", "A line per event, then per content.") | refusals(401, 403, 404, 422),
)
async def log_jsonl(request: Request, arena: m.Arena) -> Any:
    """Export the whole log with all contents, to verify it or import it elsewhere."""
    as_owner(request, arena)
    journal = (app_context := app_context_of(request)).service.journal
    headers = await damage_headers(app_context, arena)
    lines = log_lines(whole_events(journal, arena), lambda sha256: journal.get_content(arena, sha256))
    return StreamingResponse(app_context.parts(arena, lines), media_type="application/x-ndjson", headers=headers)


@router.get(
    "/arenas/{arena}/log.csv",
    response_class=Response,
    responses=file("text/csv", "A line per event.") | refusals(401, 403, 404, 422),
)
async def log_csv(request: Request, arena: m.Arena) -> Any:
    """Export the log as a table that is safe to open in a spreadsheet."""
    as_owner(request, arena)
    app_context = app_context_of(request)
    headers = await damage_headers(app_context, arena)
    lines = log_table(whole_events(app_context.service.journal, arena))
    return StreamingResponse(app_context.parts(arena, lines), media_type=CSV, headers=headers)


@router.get(
    "/arenas/{arena}/votes.csv",
    response_class=Response,
    responses=file("text/csv", "A line per vote.") | refusals(401, 403, 404, 422),
)
async def votes_csv(request: Request, arena: m.Arena) -> Any:
    """Export the votes as a table, with names instead of ids, safe to open in a spreadsheet."""
    as_owner(request, arena)
    return await votes_file(app_context_of(request), arena, "csv")


@router.get(
    "/arenas/{arena}/votes.parquet",
    response_class=Response,
    responses=file(PARQUET, "A row per vote.") | refusals(401, 403, 404, 422),
)
async def votes_parquet(request: Request, arena: m.Arena) -> Any:
    """Export the votes as a table for programs: the columns of votes.csv, with types."""
    as_owner(request, arena)
    return await votes_file(app_context_of(request), arena, "parquet")


@router.post("/import", response_model=m.ArenaOut, responses=refusals(401, 403, 409, 422), openapi_extra=_wants("text/plain"))
async def import_log(request: Request) -> Any:
    """Import an exported log as an arena of this server (server's key). A log has no keys: make new ones."""
    as_server(request)
    app_context = app_context_of(request)
    body = await request.body()
    info = await app_context.slow("", lambda: imports.import_log(app_context.service, *stream_log(lines_of(_text(body)))))
    return JSONResponse(arena_out(info))


@router.get("/arenas/{arena}/verify", response_model=VerifiedOut, responses=refusals(401, 403, 404, 422))
async def verify(request: Request, arena: m.Arena) -> Any:
    """Verify the log: its hashes, contents, verdicts and slates."""
    as_owner(request, arena)
    app_context = app_context_of(request)
    report = await app_context.slow(arena, verification.verify, app_context.service.journal, arena)
    return JSONResponse({"good": report.good, "sentence": str(report)})
