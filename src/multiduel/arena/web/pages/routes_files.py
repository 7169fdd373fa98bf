"""Votes from paper, sheets to print, and the journal."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.errors import Conflict, NotFound
from multiduel.arena.domain.events import KINDS, Event
from multiduel.arena.files import batches
from multiduel.arena.files.exports import log_lines, log_table, whole_events
from multiduel.arena.files.sheets import MOST_SHEETS, sheets_of
from multiduel.arena.files.verify import verify
from multiduel.arena.web.context import AppContext, KeyMissing, app_context_of, as_owner, caller_of
from multiduel.arena.web.downloads import votes_file
from multiduel.arena.web.errors import damage_headers
from multiduel.arena.web.pages.contents import read_contents, safe_markdown
from multiduel.arena.web.pages.event_text import Names, words
from multiduel.arena.web.pages.render import page
from multiduel.arena.web.pages.routes_owner import owned, owners_page
from multiduel.arena.web.sessions import checked_form
from multiduel.inputs import BadInput

MOST_LINES = 300  # of a report, on the page
EVENTS = 100  # per page of the journal
SEARCHED = 5_000  # events whose words are looked at for one page
SEARCHED_BY_KIND = 200_000  # events among which the database looks for a kind
SEARCHED_AT_ONCE = 1_000
VERIFIED_AT_ONCE = 3_000  # events up to which looking at the journal verifies it


# ---- votes


async def votes_page(request: Request, *, written: str = "", report: Any = None, problem: str = "") -> Response:
    app_context, arena, info = await owned(request)

    def made() -> Response:
        lines: list[batches.Line] = []
        if report is not None:
            lines = sorted(report.lines, key=lambda line: (line.result != "refused", line.line))[:MOST_LINES]
        status = 422 if problem else 200
        words = {"written": written, "report": report, "lines": lines, "problem": problem}
        return owners_page(request, "votes.html", info, "votes", status=status, **words)

    return await app_context.slow(arena, made, patient=True)  # what was entered must be said


async def enter_votes(request: Request) -> Response:
    app_context, arena, _ = await owned(request)
    fields = await checked_form(request)
    written = fields.get("written", "")
    format, dry_run = "jsonl" if written.lstrip().startswith("{") else "csv", fields.get("action") != "enter"
    try:
        words: dict[str, Any] = {"format": format, "dry_run": dry_run, "actor": caller_of(request)}
        report = await app_context.slow(arena, batches.enter, app_context.service, arena, written, **words)
    except (BadInput, Conflict) as error:
        return await votes_page(request, written=written, problem=str(error))
    return await votes_page(request, written=written, report=report)


# ---- sheets


@dataclass(frozen=True)
class Printing:
    """Sheets that were made together."""

    asked: str  # the request, as in their page's address
    at: str
    sheets: int
    voted: int
    group: str | None


def printings(app_context: AppContext, arena: str) -> list[Printing]:
    """The newest first."""
    found = []
    with app_context.service.look(arena) as state:
        for asked, one in state.printings.items():
            found.append(Printing(asked, one.at, one.sheets, one.voted, one.group))
    return sorted(found, key=lambda one: one.at, reverse=True)


async def sheets_page(request: Request, *, problem: str = "") -> Response:
    app_context, arena, info = await owned(request)
    earlier = await app_context.slow(arena, printings, app_context, arena)
    words = {"problem": problem, "request_id": uuid.uuid4().hex, "earlier": earlier}
    return owners_page(request, "sheets.html", info, "sheets", status=422 if problem else 200, **words)


async def print_sheets(request: Request) -> Response:
    app_context, arena, _ = await owned(request)
    fields = await checked_form(request)
    number, asked = fields.get("number", "").strip(), fields.get("request", "")
    try:
        if not (number.isascii() and number.isdigit() and len(number) < 6 and 1 <= int(number) <= MOST_SHEETS):
            raise BadInput(f"1 to {MOST_SHEETS:,} sheets can be made at once. Got {number[:20] or 'none'}.")
        await app_context.do(request, c.PrintTickets(arena, int(number), asked, group=fields.get("group") or None))
    except (BadInput, Conflict) as error:
        return await sheets_page(request, problem=str(error))
    return RedirectResponse(f"/own/{arena}/sheets/{asked}", 303)


def _printed(app_context: AppContext, arena: str, asked: str) -> list[c.Ticket]:
    with app_context.service.look(arena) as state:
        ids = state.sheets(asked)
    if not ids:
        raise NotFound("There are no such sheets.")
    return [app_context.service.ticket(id) for id in ids]


async def printed(request: Request) -> Response:
    app_context, arena, info = await owned(request)
    asked = request.path_params["asked"]
    constants = await app_context.constants(arena)

    def made() -> Response:
        sheets = [
            {
                "ticket": one,
                "context": constants.context_texts.get(one.context or ""),
                "contents": read_contents(app_context, one),
            }
            for one in _printed(app_context, arena, asked)
        ]
        settings = info.settings
        words = {"question": settings.question, "instructions": safe_markdown(settings.instructions), "asked": asked}
        return owners_page(request, "printed.html", info, "sheets", sheets=sheets, **words)

    return await app_context.slow(arena, made)


async def printed_csv(request: Request) -> Response:
    app_context, arena, _ = await owned(request)
    asked = request.path_params["asked"]
    written = await app_context.slow(
        arena, lambda: "".join(sheets_of(app_context.service, arena, _printed(app_context, arena, asked)))
    )
    return Response(written, media_type="text/csv", headers={"Content-Disposition": 'attachment; filename="sheets.csv"'})


# ---- the journal


@dataclass(frozen=True)
class Found:
    """Events of the journal, newest first, and how far was looked."""

    events: list[tuple[Event, str]]
    last: int  # all events from this number on were looked at, as far as was asked
    more: bool  # there are events before it


def find(app_context: AppContext, arena: str, kind: str, text: str, before: int) -> Found:
    """The newest events before one number; with words to search for, those that hold them.

    A search looks at so many events and no more: whoever wants to go on asks for the next ones.
    """
    with app_context.service.look(arena) as state:
        before = min(before, state.number + 1)
    found: list[tuple[Event, str]] = []
    least = max(1, before - (SEARCHED_BY_KIND if kind else SEARCHED))
    looked = 0
    while before > least and len(found) < EVENTS and looked < SEARCHED:
        page = app_context.service.journal.newest(arena, least, before, EVENTS if not text else SEARCHED_AT_ONCE, kind)
        if not page:
            before = least
            break
        holders = app_context.access.holders(arena, {str(event.body.get("actor")) for event in page})
        with app_context.service.look(arena) as state:
            names = Names(state, page, holders)
        for event in page:
            before, looked = event.number, looked + 1
            said = words(event, names)
            if text in said.lower() or text in event.text.lower():
                found.append((event, said))
                if len(found) == EVENTS:
                    break
    return Found(found, before, before > 1)


async def journal(request: Request) -> Response:
    app_context, arena, info = await owned(request)
    asked = request.query_params
    kind = asked.get("kind", "") if asked.get("kind", "") in KINDS else ""
    text = asked.get("text", "").strip().lower()[:200]
    before = int(asked["before"]) if re.fullmatch("[0-9]{1,12}", asked.get("before", "")) else 10**12
    checks: dict[str, tuple[int, Any]] = request.app.state.verified

    def made() -> Response:
        found = find(app_context, arena, kind, text, before)
        number, report = checks.get(arena, (0, None))
        if number != info.events and ("verify" in asked or (info.events <= VERIFIED_AT_ONCE and app_context.ready.is_set())):
            report = verify(app_context.service.journal, arena)
            number = report.events
            checks[arena] = (number, report)
        words_ = {"kind": kind, "text": asked.get("text", "")[:200], "kinds": KINDS, "report": report, "checked": number}
        return owners_page(request, "journal.html", info, "journal", found=found, **words_)

    return await app_context.slow(arena, made)


async def log_file(request: Request) -> Response:
    if request.scope.get("grant") is None:
        raise KeyMissing("Please sign in with the owner’s key first: this browser has no key that works.")
    app_context, arena, format = app_context_of(request), request.path_params["arena"], request.path_params["format"]
    as_owner(request, arena)
    if format not in ("csv", "jsonl"):
        raise NotFound("A log is written as log.csv or log.jsonl.")
    headers = await damage_headers(app_context, arena)
    name = "log-before-the-damage" if headers else "log"
    headers |= {"Content-Disposition": f'attachment; filename="{name}.{format}"'}
    stored = app_context.service.journal
    if format == "csv":
        lines, kind = log_table(whole_events(stored, arena)), "text/csv"
    else:
        lines = log_lines(whole_events(stored, arena), lambda sha256: stored.get_content(arena, sha256))
        kind = "application/x-ndjson"
    return StreamingResponse(app_context.parts(arena, lines), media_type=kind, headers=headers)


async def vote_table(request: Request) -> Response:
    if request.scope.get("grant") is None:
        raise KeyMissing("Please sign in with the owner’s key first: this browser has no key that works.")
    app_context, arena, format = app_context_of(request), request.path_params["arena"], request.path_params["format"]
    as_owner(request, arena)
    if format not in ("csv", "parquet"):
        raise NotFound("A table of votes is written as votes.csv or votes.parquet.")
    return await votes_file(app_context, arena, format, {"Content-Disposition": f'attachment; filename="votes.{format}"'})


async def damage(request: Request) -> Response:
    """Verify an arena that may be damaged, without reading its state."""
    if request.scope.get("grant") is None:
        raise KeyMissing("Please sign in with the owner’s key first: this browser has no key that works.")
    app_context, arena = app_context_of(request), request.path_params["arena"]
    as_owner(request, arena)
    report = await app_context.slow(arena, verify, app_context.service.journal, arena)
    return page(request, "damaged.html", arena=arena, sentence="", report=report)


ROUTES = [
    Route("/own/{arena}/votes", votes_page),
    Route("/own/{arena}/votes", enter_votes, methods=["POST"]),
    Route("/own/{arena}/sheets", sheets_page),
    Route("/own/{arena}/sheets", print_sheets, methods=["POST"]),
    Route("/own/{arena}/sheets/{asked}", printed),
    Route("/own/{arena}/sheets/{asked}/sheets.csv", printed_csv),
    Route("/own/{arena}/journal", journal),
    Route("/own/{arena}/verify", damage),
    Route("/own/{arena}/log.{format}", log_file),
    Route("/own/{arena}/votes.{format}", vote_table),
]
