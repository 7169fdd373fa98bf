"""The pages as an application of their own, beside the API's behind the same gate."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from multiduel.arena.domain.errors import BrokenLog, Conflict, Forbidden, NotFound, RolledBack, TooOften, Unavailable
from multiduel.arena.web.context import AppContext, KeyMissing
from multiduel.arena.web.errors import damage, owns, said
from multiduel.arena.web.pages import (
    routes_board,
    routes_entry,
    routes_files,
    routes_keys,
    routes_notices,
    routes_owner,
    routes_raters,
    routes_report,
    routes_signin,
    routes_vote,
)
from multiduel.arena.web.pages.progress import Forecasts
from multiduel.arena.web.pages.render import page, static_file
from multiduel.arena.web.whole_text import is_whole_address
from multiduel.inputs import BadInput

ROOMS = ("vote", "own", "k", "report", "signin", "static", "demo", "")  # first parts of the pages' paths
STATUS: dict[type[Exception], int] = {
    BadInput: 422,
    Conflict: 409,
    NotFound: 404,
    KeyMissing: 401,
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
    """Sends each request to the pages or to the API. Of a browser that asks for neither, the pages say that there is nothing."""

    def __init__(self, api: Any, pages: Starlette) -> None:
        self.api, self.pages = api, pages

    @cached_property
    def _known(self) -> set[str]:
        """First parts of the API's paths, from its document."""
        return {path.split("/")[1] for path in (*self.api.openapi()["paths"], self.api.openapi_url)}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and not is_whole_address(scope):
            await said(400, "The address must be text in UTF-8, without zero characters.")(scope, receive, send)
            return
        first = (scope.get("path", "") + "/").split("/")[1]
        ours = scope["type"] == "http" and (first in ROOMS or (_is_browser(scope) and first not in self._known))
        await (self.pages if ours else self.api)(scope, receive, send)


def _is_browser(scope: Any) -> bool:
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])


def with_pages(api: Any, app_context: AppContext, *, demo: Any = None) -> Site:
    handlers: dict[Any, Any] = {kind: _refused for kind in STATUS}
    handlers |= {HTTPException: _not_found, Exception: _failed}
    routes = [Route("/static/{version}/{name}", static_file)]
    rooms = (routes_entry, routes_signin, routes_vote, routes_board, routes_report, routes_keys, routes_owner, routes_raters)
    for room in (*rooms, routes_notices, routes_files):
        routes += room.ROUTES
    if demo is not None:
        routes += demo.routes()
    pages = Starlette(routes=routes, exception_handlers=handlers)
    pages.state.app_context, pages.state.demo = app_context, demo
    pages.state.forecasts, pages.state.boards = Forecasts(), {}
    pages.state.verified = {}  # arena -> events, and what came out
    pages.state.watch = routes_board.Watch()
    return Site(api, pages)


def _answer(request: Request, status: int, sentence: str) -> Response:
    """For a script, JSON; for people, a page."""
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"error": sentence}, status)
    return page(request, "refused.html", status=status, sentence=sentence, code=status)


def _refused(request: Request, error: Exception) -> Response:
    status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
    if isinstance(error, BrokenLog):
        return _damaged(request, error)
    again = status == 503 and not isinstance(error, RolledBack)
    answer = _answer(request, status, WORDS[503] if again else str(error))
    if isinstance(error, TooOften):
        answer.headers["Retry-After"] = str(math.ceil(error.wait))
    return answer


def _damaged(request: Request, error: BrokenLog) -> Response:
    """What is wrong with an arena, and what its owner can do; raters learn that it is not their fault."""
    arena = str(request.path_params.get("arena", ""))
    mine = owns(request, arena)
    sentence = damage(error, arena if mine else None)
    if "application/json" in request.headers.get("accept", "") or not mine:
        return _answer(request, 500, sentence)
    return page(request, "damaged.html", status=500, arena=arena, sentence=sentence, error=error)


def _not_found(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(request, error.status_code, WORDS.get(error.status_code, str(error.detail)))


def _failed(request: Request, error: Exception) -> Response:  # it is raised once more, for the server's log
    return _answer(request, 500, WORDS[500])
