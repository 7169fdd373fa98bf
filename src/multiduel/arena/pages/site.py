"""The pages as an application of their own, beside the API's behind the same gate."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from multiduel.arena.errors import BrokenLog, Conflict, Forbidden, NotFound, Unavailable
from multiduel.arena.http.doors import Doors, Unknown
from multiduel.arena.http.errors import TooOften
from multiduel.arena.limits import Rate
from multiduel.arena.pages import routes_board, routes_entry, routes_files, routes_owner, routes_raters, routes_vote
from multiduel.arena.pages.progress import Forecasts
from multiduel.arena.pages.render import page, static_file
from multiduel.inputs import BadInput

ROOMS = ("vote", "own", "k", "static", "demo", "")  # first parts of the pages' paths
STATUS: dict[type[Exception], int] = {
    BadInput: 422,
    Conflict: 409,
    NotFound: 404,
    Unknown: 401,
    Forbidden: 403,
    TooOften: 429,
    Unavailable: 503,
    BrokenLog: 500,
}
WORDS = {
    404: "There is no such page.",
    405: "This page cannot be asked for that way.",
    500: "Something went wrong here. The server's log has it.",
    503: "This could not be written down just now. Nothing is lost: please try again.",
}


class Site:
    """Sends each request to the pages or to the API."""

    def __init__(self, api: Any, pages: Starlette) -> None:
        self.api, self.pages = api, pages

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        ours = scope["type"] == "http" and (scope["path"] + "/").split("/")[1] in ROOMS
        await (self.pages if ours else self.api)(scope, receive, send)


def with_pages(api: Any, doors: Doors, *, demo: Any = None) -> Site:
    handlers: dict[Any, Any] = {kind: _refused for kind in STATUS}
    handlers |= {HTTPException: _not_found, Exception: _failed}
    routes = [Route("/static/{version}/{name}", static_file)]
    for room in (routes_entry, routes_vote, routes_board, routes_owner, routes_raters, routes_files):
        routes += room.ROUTES
    if demo is not None:
        routes += demo.routes()
    pages = Starlette(routes=routes, exception_handlers=handlers)
    pages.state.doors, pages.state.demo = doors, demo
    per_minute = doors.limits.wrong_keys_per_minute
    pages.state.forecasts, pages.state.boards = Forecasts(), {}
    pages.state.verified = {}  # arena -> events, and what came out
    pages.state.watch = routes_board.Watch()
    pages.state.wrong_keys = Rate(per_minute / 60.0, per_minute)
    return Site(api, pages)


def _answer(request: Request, status: int, sentence: str) -> Response:
    """For a script, JSON; for people, a page."""
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"error": sentence}, status)
    return page(request, "refused.html", status=status, sentence=sentence, code=status)


def _refused(request: Request, error: Exception) -> Response:
    status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
    sentence = WORDS[503] if status == 503 else "This arena's log is damaged." if status == 500 else str(error)
    return _answer(request, status, sentence)


def _not_found(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(request, error.status_code, WORDS.get(error.status_code, str(error.detail)))


def _failed(request: Request, error: Exception) -> Response:  # it is raised once more, for the server's log
    return _answer(request, 500, WORDS[500])
