"""Whole files: votes in, sheets out, logs out and in, and whether a log is what was written."""

from __future__ import annotations

import uuid
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from multiduel.arena import batches
from multiduel.arena import commands as c
from multiduel.arena.exports import log_lines, log_table, read_log
from multiduel.arena.http import models as m
from multiduel.arena.http.doors import arena_out, as_owner, as_server, doors_of, plain
from multiduel.arena.http.errors import file, refusals
from multiduel.arena.http.models_board import VerifiedOut
from multiduel.arena.sheets import sheets_of
from multiduel.inputs import BadInput

router = APIRouter(tags=["files"])
CSV = "text/csv; charset=utf-8"


def _wants(kind: str) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {kind: {"schema": {"type": "string"}}}}}


async def _text(request: Request) -> str:
    try:
        return (await request.body()).decode("utf-8-sig")
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
    """A file of votes, all or nothing, with a report by line. Sent twice it counts once."""
    as_owner(request, arena)
    doors = doors_of(request)
    batch = await doors.read(batches.read_votes, await _text(request), format=format)
    await doors.known(arena)  # or there is none
    command = batch.command(arena, dry_run=dry_run == "1")
    answer = await doors.do(command) if command.lines else c.ImportReport(True, command.dry_run, ())
    return await doors.large(lambda: plain(batches.report(batch, answer)))


@router.post(
    "/arenas/{arena}/sheets",
    response_class=Response,
    responses=file("text/csv", "A line per ticket.") | refusals(401, 403, 404, 409, 422),
)
async def sheets(request: Request, arena: m.Arena, body: m.SheetsIn) -> Any:
    """Tickets printed ahead: a CSV to be filled in, which then is a file of votes."""
    as_owner(request, arena)
    doors = doors_of(request)
    tickets = await doors.do(c.PrintTickets(arena, body.number, body.request or uuid.uuid4().hex, stratum=body.stratum))

    def written() -> str:
        return "".join(sheets_of(doors.service, arena, tickets))

    return Response(await doors.read(written), media_type=CSV)


@router.get(
    "/arenas/{arena}/log.jsonl",
    response_class=Response,
    responses=file("application/x-ndjson", "A line per event, then per content.") | refusals(401, 403, 404, 422),
)
async def log_jsonl(request: Request, arena: m.Arena) -> Any:
    """The whole log, and the contents: enough to check it, and to import it elsewhere."""
    as_owner(request, arena)
    journal = (doors := doors_of(request)).service.journal
    await doors.read(doors.service.info, arena)  # or there is none
    lines = log_lines(journal.stream(arena), lambda sha256: journal.get_content(arena, sha256))
    return StreamingResponse(lines, media_type="application/x-ndjson")


@router.get(
    "/arenas/{arena}/log.csv",
    response_class=Response,
    responses=file("text/csv", "A line per event.") | refusals(401, 403, 404, 422),
)
async def log_csv(request: Request, arena: m.Arena) -> Any:
    """The log as a table that is safe to open in a spreadsheet."""
    as_owner(request, arena)
    doors = doors_of(request)
    await doors.read(doors.service.info, arena)
    return StreamingResponse(log_table(doors.service.journal.stream(arena)), media_type=CSV)


@router.post("/import", response_model=m.ArenaOut, responses=refusals(401, 403, 409, 422), openapi_extra=_wants("text/plain"))
async def import_log(request: Request) -> Any:
    """A log that was exported, as an arena of this server (server's key). Its keys do not come with it."""
    as_server(request)
    doors = doors_of(request)
    written = await _text(request)
    info = await doors.read(lambda: doors.service.import_log(*read_log(written.split("\n"))))
    return JSONResponse(arena_out(info))


@router.get("/arenas/{arena}/verify", response_model=VerifiedOut, responses=refusals(401, 403, 404, 422))
async def verify(request: Request, arena: m.Arena) -> Any:
    """Is the log what was written, and does every slate come out again?"""
    from multiduel.arena.verify import verify as check

    as_owner(request, arena)
    doors = doors_of(request)
    report = await doors.read(check, doors.service.journal, arena)
    return JSONResponse({"good": report.good, "sentence": str(report)})
