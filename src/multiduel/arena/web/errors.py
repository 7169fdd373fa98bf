"""Refusals as answers: a status and one sentence. What went wrong inside is for the server's log only."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from multiduel.arena.domain.errors import BrokenLog, Conflict, Forbidden, NotFound, RolledBack, TooOften, Unavailable
from multiduel.arena.web.context import AppContext, KeyMissing
from multiduel.inputs import BadInput

SAY_AGAIN_AFTER = 10.0  # seconds until the log repeats why it is unavailable
ASK_AN_OPERATOR = 60.0  # seconds until it is worth trying again what only an operator can mend
MEANING = {
    400: "This is no request that can be read.",
    401: "A key is needed, or the key is not known.",
    403: "The key is not good for this.",
    404: "There is no such thing.",
    408: "Its body did not come in time.",
    409: "It contradicts what is already so.",
    413: "More than may be sent.",
    421: "Addressed to another host.",
    422: "It cannot be used as given: the sentence says why.",
    429: "Too often; Retry-After says when to try again.",
    500: "The server failed.",
    503: "Not possible at the moment; send it again.",
}


def said(status: int, sentence: str, *, wait: float = 0.0) -> JSONResponse:
    headers = {"Retry-After": str(math.ceil(wait))} if wait else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": sentence}, status, headers)


def add_handlers(app: FastAPI) -> None:
    for kind, status in ((BadInput, 422), (Conflict, 409), (NotFound, 404), (KeyMissing, 401), (Forbidden, 403)):
        app.add_exception_handler(kind, _as(status))
    app.add_exception_handler(Unavailable, _unavailable())
    app.add_exception_handler(RolledBack, lambda request, error: said(503, str(error), wait=ASK_AN_OPERATOR))
    app.add_exception_handler(TooOften, lambda request, error: said(429, str(error), wait=getattr(error, "wait", 1.0)))
    app.add_exception_handler(BrokenLog, _damaged)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _other)
    app.add_exception_handler(Exception, lambda request, error: said(500, "Something went wrong here. The server's log has it."))


def _damaged(request: Request, error: Exception) -> JSONResponse:
    arena = str(request.path_params.get("arena", ""))
    sentence = damage(error, arena if owns(request, arena) else None)
    return said(500, f"{sentence} See GET /arenas/{arena}/verify and /arenas/{arena}/log.jsonl." if arena else sentence)


def owns(request: Request, arena: str) -> bool:
    grant = request.scope.get("grant")
    return grant is not None and bool(arena) and bool(grant.owns(arena))


def damage(error: Exception, arena: str | None) -> str:
    """What to say of a damaged arena. What exactly is wrong is for its owner: it might tell a rater which option is which."""
    if arena is None:
        return "This arena is damaged, and takes no votes for now. Please tell the person who invited you."
    return (
        f"This arena is damaged. {error} Nothing before that event is lost, and no other arena is concerned. "
        "Verify the log, and export the part before the damage."
    )


async def damage_headers(app_context: AppContext, arena: str) -> dict[str, str]:
    """Of a damaged arena the events before the damage are exported: a header names the first that is not."""
    try:
        await app_context.slow(arena, app_context.service.info, arena)  # refused here if there is no such arena
    except BrokenLog as broken:
        return {"Multiduel-Damaged-Event": str(broken.number)}
    return {}


def _unavailable() -> Any:
    """Why is the operator's business: a line in the server's log, not one for every retry."""
    said_last: list[Any] = ["", -math.inf]

    def answer(request: Request, error: Exception) -> JSONResponse:
        now = time.monotonic()
        if str(error) != said_last[0] or now > said_last[1] + SAY_AGAIN_AFTER:
            said_last[:] = [str(error), now]
            logging.getLogger("multiduel.arena").error("Answered 503: %s", error)
        return said(503, MEANING[503], wait=1.0)

    return answer


def _as(status: int) -> Any:
    return lambda request, error: said(status, str(error))


def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = _likeliest(error.errors())
    kind = first.get("type")
    if kind == "json_invalid" or (kind in _NO_OBJECT and "json" not in request.headers.get("content-type", "")):
        return said(422, "The body must be JSON, and its Content-Type application/json.")
    where = ".".join(str(part) for part in first.get("loc", ())[:8] if not str(part).endswith(("In", "-int", "]")))
    return said(422, f"{where}: {first.get('msg', 'cannot be used as given')}."[:500])


_NO_OBJECT = ("model_attributes_type", "model_type", "dict_type")
_ELSEWHERE = ("missing", "extra_forbidden", *_NO_OBJECT)  # what the branches say that were not meant


def _likeliest(errors: Sequence[Any]) -> Any:
    """Of a union every branch complains; the one that got furthest is meant."""
    return max(errors, key=lambda error: (error.get("type") not in _ELSEWHERE, len(error.get("loc", ()))), default={})


def _other(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    answer = said(error.status_code, MEANING.get(error.status_code, str(error.detail)))
    answer.headers.update(error.headers or {})
    return answer
