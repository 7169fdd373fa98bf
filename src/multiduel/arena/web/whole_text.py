"""Text that comes in: an address or a JSON body that holds half a character or a zero character is refused, on every route."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, MutableMapping
from typing import Any
from urllib.parse import unquote_to_bytes

from fastapi import Request, Response
from fastapi.routing import APIRoute

from multiduel.arena.domain.texts import check_text, is_broken
from multiduel.arena.web.context import app_context_of
from multiduel.inputs import BadInput

SMALL = 100_000  # bytes that are read at once; more in a thread


class WholeText(APIRoute):
    """A route whose JSON is read and checked before anything else, and not on the loop's time if it is long."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def checked(request: Request) -> Response:
            if "json" in request.headers.get("content-type", ""):
                await read_json(request)
            return await handle(request)

        return checked


async def read_json(request: Request) -> Any:
    """The body as JSON, kept for whoever asks the request for it; None if it is no JSON."""
    body = await request.body()
    if len(body) <= SMALL:
        parsed = _parsed(body)
    else:
        parsed = await app_context_of(request).slow(str(request.path_params.get("arena", "")), _parsed, body)
        if parsed is None:
            raise BadInput("The body must be JSON, and its Content-Type application/json.")
    if parsed is not None:
        request._json = parsed
    return parsed


def _parsed(body: bytes) -> Any:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return None
    check_text(parsed)
    return parsed


def is_whole_address(scope: MutableMapping[str, Any]) -> bool:
    """Are path and query text that UTF-8 can hold, without zero characters?"""
    raw = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogatepass")
    try:
        return not any(is_broken(unquote_to_bytes(part).decode("utf-8")) for part in (raw, scope.get("query_string", b"")))
    except UnicodeDecodeError:
        return False
