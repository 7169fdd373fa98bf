"""What all routes share: the service, keys, threads, and tickets as a rater sees them, who never learns which option is which."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import islice
from typing import Any, TypeVar

from fastapi import Request, Response

from multiduel.arena.domain.commands import ArenaInfo, Done, Receipt, Ticket
from multiduel.arena.domain.errors import Forbidden
from multiduel.arena.domain.notices import Allowed
from multiduel.arena.domain.settings import why_unusable
from multiduel.arena.files.signed_heads import Signer
from multiduel.arena.service.service import Service
from multiduel.arena.web.access import Access, Grant
from multiduel.arena.web.account_rights import AccountRights
from multiduel.arena.web.accounts import Accounts
from multiduel.arena.web.key_checks import KeyChecks
from multiduel.arena.web.limits import Limits, Rate, network_of
from multiduel.arena.web.metrics import Metrics
from multiduel.arena.web.notifier import Notifier
from multiduel.arena.web.thread_pools import Lanes
from multiduel.files import json_ready

T = TypeVar("T")
LINES = 2_000  # of a long text, in one part


class KeyMissing(Forbidden):
    """A request came without a key where one is needed."""


class AppContext:
    """What the routes of one application share. It is called by its whole name: a "context" is a question of an arena."""

    def __init__(
        self,
        service: Service,
        access: Access,
        limits: Limits,
        *,
        public: bool = False,
        notifier: Notifier | None = None,
        accounts: Accounts | None = None,
    ) -> None:
        self.service, self.access, self.limits, self.public = service, access, limits, public
        self.notifier = notifier or Notifier(service, Allowed())
        self.accounts = accounts
        self.rights = None if accounts is None else AccountRights(access, service.journal.secrets, accounts.provider)
        self.metrics = Metrics()
        self.keys = KeyChecks(access, limits)
        self.joins = Rate(limits.joins_per_minute / 60.0, limits.joins_per_minute)
        self.ready = threading.Event()
        self.why_not_ready = "The kernels are being loaded."
        self._constants: dict[str, ArenaConstants] = {}
        self._quick = Lanes("arena-quick", threads=16, at_once=3, waiting=300)
        self._slow = Lanes("arena-slow", threads=8, at_once=1, waiting=3)
        self.signer = Signer(service.journal)

    async def do(self, request: Request, command: Any) -> Any:
        """Carry out a command, and return its answer when it is durable. The actor is the holder of the request's key."""
        return await asyncio.wrap_future(self.service.submit(command, actor=grant_of(request).actor))

    async def read(self, function: Callable[..., T], *arguments: Any, **words: Any) -> T:
        """Call a function that may wait, and is about no arena: not on the loop's time."""
        return await asyncio.to_thread(function, *arguments, **words)

    async def quick(self, arena: str, function: Callable[..., T], /, *arguments: Any, **words: Any) -> T:
        """Read something of an arena. It may wait for a transaction of that arena: others' reads do not wait behind it."""
        return await self._quick.run(arena, function, *arguments, **words)

    async def slow(self, arena: str, function: Callable[..., T], /, *arguments: Any, **words: Any) -> T:
        """Do what may take seconds: one such call of an arena at a time, a few wait, and more are refused."""
        return await self._slow.run(arena, function, *arguments, **words)

    async def parts(self, arena: str, lines: Iterator[str]) -> AsyncIterator[bytes]:
        """Send a long text in parts, each worked out when it is the arena's turn."""
        while part := await self._slow.run(arena, _part, lines, patient=True):
            yield part

    def close(self) -> None:
        self._quick.close()
        self._slow.close()

    async def constants(self, arena: str, options: tuple[str, ...] = ()) -> ArenaConstants:
        """Return the immutable part of an arena, with the contents of these options. There must be such an arena."""
        constants = self._constants.get(arena)
        if constants is None or not constants.content_kinds.keys() >= set(options):
            constants = ArenaConstants(await self.quick(arena, self.service.info, arena))
            self._constants[arena] = constants
        return constants

    async def ticket(self, ticket: Ticket | Done) -> dict[str, Any]:
        """Describe a ticket as its rater sees it."""
        if isinstance(ticket, Done):
            return {"done": ticket.why, "sentence": ticket.sentence}
        constants = await self.constants(ticket.arena, ticket.options)
        context = constants.context_places[ticket.context] if ticket.context is not None else 0
        return {
            "ticket": ticket.id,
            "question": constants.question,
            "context": constants.context_texts[ticket.context] if ticket.context is not None else None,
            "group": ticket.group,
            "positions": len(ticket.options),
            "contents": [
                {"kind": constants.content_kinds[option][context], "url": f"/tickets/{ticket.id}/contents/{position}"}
                for position, option in enumerate(ticket.options)
            ],
            "issued": ticket.issued,
            "expires": ticket.expires,
        }

    def shows_board(self, arena: str) -> bool:
        """Tell whether raters may see the board now."""
        with self.service.look(arena) as state:
            return state.settings.board == "always" or (state.settings.board == "verdict" and state.settled())

    async def receipt(self, receipt: Receipt) -> dict[str, Any]:
        """Describe a receipt as its rater sees it, who is not told of a quarantine: that is between the owner and the board."""
        following = None if receipt.next is None else await self.ticket(receipt.next)
        counted = "counted" if receipt.counted == "aside" else receipt.counted
        return {"event": receipt.event, "hash": receipt.hash, "counted": counted, "next": following}


class ArenaConstants:
    """The immutable part of an arena: question, contexts, option contents."""

    def __init__(self, info: ArenaInfo) -> None:
        self.question = info.settings.question
        self.context_texts = {context["id"]: context["text"] for context in info.contexts}
        self.context_places = {context["id"]: k for k, context in enumerate(info.contexts)}
        self.content_kinds = {option["id"]: [content["kind"] for content in option["contents"]] for option in info.options}


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
        "problem": why_unusable(info.settings),
    }


def as_json(value: Any) -> Response:
    """An answer that takes time to write down: to be called in a thread."""
    return Response(
        json.dumps(json_ready(value), ensure_ascii=False, allow_nan=False).encode("utf-8"), media_type="application/json"
    )


def _part(lines: Iterator[str]) -> bytes:
    return "".join(islice(lines, LINES)).encode("utf-8")


def app_context_of(request: Request) -> AppContext:
    app_context: AppContext = request.app.state.app_context
    return app_context


def address_of(request: Request) -> str:
    """Return the caller's address as the limits count it."""
    return network_of(request.client.host if request.client else "unknown")


def grant_of(request: Request) -> Grant:
    grant: Grant | None = request.scope.get("grant")
    if grant is None:
        raise KeyMissing("A key is needed: Authorization: Bearer KEY.")
    return grant


def caller_of(request: Request) -> str:
    """Name the caller, as events and the record of keys do."""
    return grant_of(request).actor


def as_server(request: Request) -> None:
    if grant_of(request).role != "server":
        raise Forbidden("This needs the server's key.")


def as_owner(request: Request, arena: str) -> None:
    """Refuse a key that is no owner's of this arena, in the same words whether there is such an arena or not."""
    if not grant_of(request).owns(arena):
        raise Forbidden("This needs the key of this arena's owner.")


def as_rater(request: Request, arena: str) -> str:
    """Return the rater's id, or refuse a key that is no rater's of this arena."""
    grant = grant_of(request)
    if grant.role != "rater" or grant.arena != arena or grant.rater is None:
        raise Forbidden("This needs the key of a rater of this arena.")
    return grant.rater
