"""What all routes share: the service, keys, and how things look to a rater, who never learns which option is which."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

from fastapi import Request, Response

from multiduel.arena.access import Access, Grant
from multiduel.arena.commands import ArenaInfo, Done, Receipt, Ticket
from multiduel.arena.errors import Forbidden
from multiduel.arena.exports import finite
from multiduel.arena.http.metrics import Metrics
from multiduel.arena.limits import Limits, Rate
from multiduel.arena.service import Service

T = TypeVar("T")


class Unknown(Forbidden):
    """Without a key, where one is needed."""


class Doors:
    """One per application."""

    def __init__(self, service: Service, access: Access, limits: Limits, *, public: bool = False) -> None:
        self.service, self.access, self.limits, self.public = service, access, limits, public
        self.metrics = Metrics()
        self.joins = Rate(limits.joins_per_minute / 60.0, limits.joins_per_minute)
        self.ready = threading.Event()
        self.why_not_ready = "The kernels are being loaded."
        self._known: dict[str, Known] = {}

    async def do(self, command: Any) -> Any:
        """Carried out, and durable."""
        return await asyncio.wrap_future(self.service.submit(command))

    async def read(self, function: Callable[..., T], *arguments: Any, **words: Any) -> T:
        """A read may wait for a transaction: not on the loop's time."""
        return await asyncio.to_thread(function, *arguments, **words)

    async def large(self, function: Callable[[], Any]) -> Response:
        """An answer that takes time to work out and to write down: neither on the loop's time."""

        def written() -> bytes:
            return json.dumps(finite(function()), ensure_ascii=False, allow_nan=False).encode("utf-8")

        return Response(await self.read(written), media_type="application/json")

    async def known(self, arena: str, options: tuple[str, ...] = ()) -> Known:
        """What never changes of an arena: its question, contexts, and the contents of these options."""
        known = self._known.get(arena)
        if known is None or not known.kinds.keys() >= set(options):
            known = Known(await self.read(self.service.info, arena))
            self._known[arena] = known
        return known

    async def ticket(self, ticket: Ticket | Done) -> dict[str, Any]:
        """As its rater sees it."""
        if isinstance(ticket, Done):
            return {"done": ticket.why, "sentence": ticket.sentence}
        known = await self.known(ticket.arena, ticket.options)
        context = known.place[ticket.context] if ticket.context is not None else 0
        return {
            "ticket": ticket.id,
            "question": known.question,
            "context": known.text[ticket.context] if ticket.context is not None else None,
            "stratum": ticket.stratum,
            "places": len(ticket.options),
            "contents": [
                {"kind": known.kinds[option][context], "url": f"/tickets/{ticket.id}/contents/{position}"}
                for position, option in enumerate(ticket.options)
            ],
            "issued": ticket.issued,
            "expires": ticket.expires,
        }

    def shows_board(self, arena: str) -> bool:
        """To raters, now?"""
        with self.service.look(arena) as state:
            return state.settings.board == "always" or (state.settings.board == "verdict" and state.settled())

    async def receipt(self, receipt: Receipt) -> dict[str, Any]:
        """As its rater sees it, who is not told of a quarantine: that is between the owner and the board."""
        following = None if receipt.next is None else await self.ticket(receipt.next)
        counted = "counted" if receipt.counted == "aside" else receipt.counted
        return {"event": receipt.event, "counted": counted, "next": following}


class Known:
    """Of an arena, for its tickets."""

    def __init__(self, info: ArenaInfo) -> None:
        self.question = info.settings.question
        self.text = {context["id"]: context["text"] for context in info.contexts}
        self.place = {context["id"]: k for k, context in enumerate(info.contexts)}
        self.kinds = {option["id"]: [content["kind"] for content in option["contents"]] for option in info.options}


def arena_out(info: ArenaInfo) -> dict[str, Any]:
    settings = info.settings.to_json()
    del settings["seed"]
    return {
        "arena": info.id,
        "name": info.name,
        "status": info.status,
        "settings": settings,
        "options": list(info.options),
        "contexts": list(info.contexts),
        "created": info.created,
        "events": info.events,
    }


def plain(answer: Any) -> dict[str, Any]:
    return asdict(answer)


def doors_of(request: Request) -> Doors:
    doors: Doors = request.app.state.doors
    return doors


def grant_of(request: Request) -> Grant:
    grant: Grant | None = request.scope.get("grant")
    if grant is None:
        raise Unknown("A key is needed: Authorization: Bearer KEY.")
    return grant


def as_server(request: Request) -> None:
    if grant_of(request).role != "server":
        raise Forbidden("This needs the server's key.")


def as_owner(request: Request, arena: str) -> None:
    """The same refusal whether there is such an arena or not."""
    if not grant_of(request).owns(arena):
        raise Forbidden("This needs the key of this arena's owner.")


def as_rater(request: Request, arena: str) -> str:
    """The rater's id."""
    grant = grant_of(request)
    if grant.role != "rater" or grant.arena != arena or grant.rater is None:
        raise Forbidden("This needs the key of a rater of this arena.")
    return grant.rater
