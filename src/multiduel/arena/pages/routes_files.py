"""Votes from paper, sheets to print, and the journal."""

from __future__ import annotations

import re
import uuid
from collections import deque
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from multiduel.arena import batches
from multiduel.arena import commands as c
from multiduel.arena.errors import Conflict, NotFound
from multiduel.arena.events import KINDS, Event
from multiduel.arena.exports import log_lines, log_table
from multiduel.arena.http.doors import Doors
from multiduel.arena.pages.contents import contents_of
from multiduel.arena.pages.routes_owner import owned, owners_page
from multiduel.arena.pages.sessions import checked_form
from multiduel.arena.pages.wording import Names, words
from multiduel.arena.sheets import MOST_SHEETS, sheets_of
from multiduel.arena.verify import verify
from multiduel.inputs import BadInput

MOST_LINES = 300  # of a report, on the page
EVENTS = 100  # per page of the journal
VERIFIED_AT_ONCE = 3_000  # events up to which looking at the journal verifies it


# ---- votes


async def votes_page(request: Request, *, written: str = "", report: Any = None, problem: str = "") -> Response:
    _, _, info = await owned(request)
    lines: list[batches.Line] = []
    if report is not None:
        lines = sorted(report.lines, key=lambda line: (line.result != "refused", line.line))[:MOST_LINES]
    status = 422 if problem else 200
    words = {"written": written, "report": report, "lines": lines, "problem": problem}
    return owners_page(request, "votes.html", info, "votes", status=status, **words)


async def enter_votes(request: Request) -> Response:
    doors, arena, _ = await owned(request)
    fields = await checked_form(request)
    written = fields.get("written", "")
    try:
        format = "jsonl" if written.lstrip().startswith("{") else "csv"
        batch = await doors.read(batches.read_votes, written, format=format)
        command = batch.command(arena, dry_run=fields.get("action") != "enter")
        answer = await doors.do(command) if command.lines else c.ImportReport(True, command.dry_run, ())
    except (BadInput, Conflict) as error:
        return await votes_page(request, written=written, problem=str(error))
    return await votes_page(request, written=written, report=batches.report(batch, answer))


# ---- sheets


async def sheets_page(request: Request, *, problem: str = "") -> Response:
    _, _, info = await owned(request)
    status = 422 if problem else 200
    return owners_page(request, "sheets.html", info, "sheets", status=status, problem=problem, request_id=uuid.uuid4().hex)


async def print_sheets(request: Request) -> Response:
    doors, arena, _ = await owned(request)
    fields = await checked_form(request)
    number, asked = fields.get("number", "").strip(), fields.get("request", "")
    try:
        if not (number.isascii() and number.isdigit() and len(number) < 6 and 1 <= int(number) <= MOST_SHEETS):
            raise BadInput(f"1 to {MOST_SHEETS:,} sheets can be made at once. Got {number[:20] or 'none'}.")
        await doors.do(c.PrintTickets(arena, int(number), asked, stratum=fields.get("stratum") or None))
    except (BadInput, Conflict) as error:
        return await sheets_page(request, problem=str(error))
    return RedirectResponse(f"/own/{arena}/sheets/{asked}", 303)


def _printed(doors: Doors, arena: str, asked: str) -> list[c.Ticket]:
    with doors.service.look(arena) as state:
        ids = list(state.asks.get(f"print:{asked}", ()))
    if not ids:
        raise NotFound("There are no such sheets.")
    return [doors.service.ticket(id) for id in ids]


async def printed(request: Request) -> Response:
    doors, arena, info = await owned(request)
    asked = request.path_params["asked"]
    tickets = await doors.read(_printed, doors, arena, asked)
    known = await doors.known(arena)
    made = [
        {"ticket": one, "context": known.text.get(one.context or ""), "contents": await contents_of(doors, one)}
        for one in tickets
    ]
    return owners_page(request, "printed.html", info, "sheets", sheets=made, asked=asked, question=info.settings.question)


async def printed_csv(request: Request) -> Response:
    doors, arena, _ = await owned(request)
    tickets = await doors.read(_printed, doors, arena, request.path_params["asked"])
    written = await doors.read(lambda: "".join(sheets_of(doors.service, arena, tickets)))
    return Response(written, media_type="text/csv", headers={"Content-Disposition": 'attachment; filename="sheets.csv"'})


# ---- the journal


def _chosen(doors: Doors, arena: str, last: int, kind: str, text: str, before: int) -> list[tuple[Event, str]]:
    """The newest events before one number, newest first; with words to search for, those that hold them."""
    with doors.service.look(arena) as state:
        names = Names(state)
    before = min(before, last + 1)
    if not kind and not text:
        events = doors.service.events(arena, max(0, before - 1 - EVENTS), min(EVENTS, before - 1)) if before > 1 else []
        return [(event, words(event, names)) for event in reversed(events)]
    found: deque[tuple[Event, str]] = deque(maxlen=EVENTS)
    for event in doors.service.journal.stream(arena):
        if event.number >= before:
            break
        if not kind or event.kind == kind:
            said = words(event, names)
            if text in said.lower() or text in event.text.lower():
                found.append((event, said))
    return list(reversed(found))


async def journal(request: Request) -> Response:
    doors, arena, info = await owned(request)
    asked = request.query_params
    kind = asked.get("kind", "") if asked.get("kind", "") in KINDS else ""
    text = asked.get("text", "").strip().lower()[:200]
    before = int(asked["before"]) if re.fullmatch("[0-9]{1,12}", asked.get("before", "")) else 10**12
    events = await doors.read(_chosen, doors, arena, info.events, kind, text, before)
    checks: dict[str, tuple[int, Any]] = request.app.state.verified
    number, report = checks.get(arena, (0, None))
    if number != info.events and ("verify" in asked or (info.events <= VERIFIED_AT_ONCE and doors.ready.is_set())):
        report = await doors.read(verify, doors.service.journal, arena)
        number = report.events
        checks[arena] = (number, report)
    words_ = {
        "events": events,
        "kind": kind,
        "text": asked.get("text", "")[:200],
        "kinds": KINDS,
        "report": report,
        "checked": number,
    }
    return owners_page(request, "journal.html", info, "journal", **words_)


async def log_file(request: Request) -> Response:
    doors, arena, _ = await owned(request)
    stored = doors.service.journal
    headers = {"Content-Disposition": f'attachment; filename="log.{request.path_params["format"]}"'}
    if request.path_params["format"] == "csv":
        return StreamingResponse(log_table(stored.stream(arena)), media_type="text/csv", headers=headers)
    lines = log_lines(stored.stream(arena), lambda sha256: stored.get_content(arena, sha256))
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)


ROUTES = [
    Route("/own/{arena}/votes", votes_page),
    Route("/own/{arena}/votes", enter_votes, methods=["POST"]),
    Route("/own/{arena}/sheets", sheets_page),
    Route("/own/{arena}/sheets", print_sheets, methods=["POST"]),
    Route("/own/{arena}/sheets/{asked}", printed),
    Route("/own/{arena}/sheets/{asked}/sheets.csv", printed_csv),
    Route("/own/{arena}/journal", journal),
    Route("/own/{arena}/log.{format}", log_file),
]
