"""Votes without the framework, which takes half of the time that the server spends on one.

The route in ``routes_rater`` is the one that the OpenAPI document describes. A vote in its usual form is answered here, by the
same function and in the same words; every other request, and every body that is no ballot, goes to the route as it came, so that
what is wrong with a request is said in one place.
"""

from __future__ import annotations

import json
import re
from collections.abc import MutableMapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from pydantic import TypeAdapter, ValidationError

from multiduel.arena.web.api import models as m
from multiduel.arena.web.api.routes_rater import router, voted
from multiduel.arena.web.context import AppContext
from multiduel.arena.web.request_bodies import Message, Receive

BALLOT: TypeAdapter[m.BallotIn] = TypeAdapter(m.BallotIn)
PATH = re.compile("/tickets/([A-Za-z0-9_-]{1,128})/vote")
NEXT = {b"": False, b"next=0": False, b"next=1": True}
JSON = (b"application/json", b"application/json; charset=utf-8")
LONGEST = 10_000  # bytes of a body; no ballot is longer


class VoteShortcut:
    """Around the API."""

    def __init__(self, api: FastAPI, app_context: AppContext) -> None:
        self.api, self._app_context = api, app_context
        self._route = next(route for route in router.routes if getattr(route, "name", "") == "vote")  # whose name metrics count

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Any) -> None:
        found = PATH.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        follows = NEXT.get(scope["query_string"]) if found is not None else None
        if found is None or follows is None or dict(scope["headers"]).get(b"content-type") not in JSON:
            return await self.api(scope, receive, send)
        came: list[Message] = [await receive()]
        while came[-1].get("more_body", False) and sum(len(part.get("body", b"")) for part in came) <= LONGEST:
            came.append(await receive())
        ballot = _ballot(came)
        if ballot is None:
            return await self.api(scope, _again(came, receive), send)
        scope["route"] = self._route
        request = Request(scope)
        try:
            answer: Response = await voted(self._app_context, request, found[1], ballot, follows)
        except Exception as error:
            answer = self._refusal(request, error)
        await answer(scope, receive, send)

    def _refusal(self, request: Request, error: Exception) -> Response:
        """What the API answers to this error; one that it does not know is raised, for the server's log."""
        for kind in type(error).__mro__[:-3]:  # all but Exception and what is above it
            handler: Any = self.api.exception_handlers.get(kind)
            if handler is not None:
                refusal: JSONResponse = handler(request, error)
                return refusal
        raise error


def _ballot(came: list[Message]) -> dict[str, Any] | None:
    """The ballot of a whole body; None if it is none."""
    if came[-1]["type"] != "http.request" or came[-1].get("more_body", False):
        return None
    try:
        return BALLOT.validate_python(json.loads(b"".join(part.get("body", b"") for part in came))).model_dump()
    except (ValidationError, ValueError, RecursionError):
        return None


def _again(came: list[Message], receive: Receive) -> Receive:
    """``receive`` of a request whose first messages were read already."""
    left = iter(came)

    async def again() -> Message:
        message = next(left, None)
        return await receive() if message is None else message

    return again
