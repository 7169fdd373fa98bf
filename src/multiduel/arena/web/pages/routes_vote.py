"""Voting: a question, an answer, the next question. With scripts the answer brings the next one; without, a page does."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from multiduel.arena.domain.commands import Ask, Done, Receipt, Ticket, Undo, Vote, arena_of
from multiduel.arena.domain.errors import Conflict, Forbidden, NotFound
from multiduel.arena.web.context import AppContext, KeyMissing, app_context_of, as_rater
from multiduel.arena.web.pages.contents import contents_of
from multiduel.arena.web.pages.progress import progress_of
from multiduel.arena.web.pages.render import confirm_page, fragment, page
from multiduel.arena.web.sessions import check_token, checked_form, token_of
from multiduel.arena.web.whole_text import read_json
from multiduel.inputs import BadInput

WAITS = ("created", "paused")  # reasons that may pass


def rater_of(request: Request) -> str:
    """The rater whose cookie this is; without one, the page says how to come in."""
    if request.scope.get("grant") is None:
        raise KeyMissing("Please open the link that you were given: this browser is not known here, or not any more.")
    return as_rater(request, request.path_params["arena"])


def _rater_of_script(request: Request) -> str:
    """The rater whose cookie this is. Refuse a script of another rater's page, which stayed open while this one signed in."""
    rater = rater_of(request)
    if request.headers.get("x-rater", rater) != rater:
        raise KeyMissing("Another rater has signed in in this browser. Please open your link again.")
    return rater


async def _next(request: Request, arena: str, rater: str) -> Ticket | Done:
    """The ticket that is open, or a new one."""
    app_context = app_context_of(request)
    try:
        answer: Ticket | Done = await app_context.do(request, Ask(arena, rater, uuid.uuid4().hex))
    except Conflict:  # all places are taken: one of those
        return await app_context.quick(arena, _held, app_context, arena, rater)
    return answer


def _held(app_context: AppContext, arena: str, rater: str) -> Ticket:
    """The last ticket that a rater holds."""
    with app_context.service.look(arena) as state:
        held = state.raters[rater].open[-1]
    return app_context.service.ticket(held)


def _may_undo(app_context: AppContext, arena: str, rater: str) -> bool:
    with app_context.service.look(arena) as state:
        return state.may_undo(rater)


def _undone(app_context: AppContext, ticket: Ticket) -> tuple[str, dict[str, Any]]:
    """The id of the ticket that this one shows again, and its undone ballot; nothing if this one shows none again."""
    if ticket.by != "undo":
        return "", {}
    with app_context.service.look(ticket.arena) as state:
        (undo,) = app_context.service.events(ticket.arena, state.tickets[ticket.id].event - 2, 1)  # the event before the ticket
        old = state.tickets.get(undo.body.get("ticket"))
        return ("", {}) if old is None or old.vote is None else (old.id, json.loads(old.vote.ballot))


async def _words(request: Request, ticket: Ticket | Done) -> dict[str, Any]:
    """All that a question's template needs."""
    app_context, arena, rater = app_context_of(request), request.path_params["arena"], rater_of(request)
    progress = await app_context.quick(arena, progress_of, app_context, request.app.state.forecasts, arena, rater)
    words: dict[str, Any] = {
        "arena": arena,
        "rater": rater,
        "token": token_of(request),
        "progress": progress,
        "request_id": uuid.uuid4().hex,
        "board": await app_context.quick(arena, app_context.shows_board, arena),
        "may_undo": await app_context.quick(arena, _may_undo, app_context, arena, rater),
        "ticket": None,
    }
    if isinstance(ticket, Done):
        return words | {"done": ticket, "waits": ticket.why in WAITS}
    constants = await app_context.constants(arena, ticket.options)
    again, ballot = await app_context.quick(arena, _undone, app_context, ticket)
    return words | {
        "again": again,
        "ballot": ballot,
        "numbers": {position: place for place, group in enumerate(ballot.get("rank", ()), 1) for position in group},
        "ticket": ticket.id,
        "places": len(ticket.options),
        "question": constants.question,
        "context": constants.context_texts[ticket.context] if ticket.context is not None else None,
        "contents": await contents_of(app_context, ticket),
    }


async def vote_page(request: Request, *, problem: str = "", status: int = 200) -> Response:
    app_context, arena, rater = app_context_of(request), request.path_params["arena"], rater_of(request)
    name = (await app_context.quick(arena, app_context.service.info, arena)).name
    if not app_context.ready.is_set():
        return page(request, "loading.html", name=name, why=app_context.why_not_ready, arena=arena)
    words = await _words(request, await _next(request, arena, rater))
    return page(request, "vote.html", status=status, name=name, problem=problem, **words)


async def vote_form(request: Request) -> Response:
    """Without scripts: fields with numbers."""
    app_context, arena, rater = app_context_of(request), request.path_params["arena"], rater_of(request)
    fields = await checked_form(request)
    try:
        if fields.get("action") == "undo":
            await app_context.do(request, Undo(arena, rater, fields.get("request", "")))
        else:
            ticket = _ticket(request, fields.get("ticket", ""))
            ballot = {"skip": True} if fields.get("action") == "skip" else ballot_of(fields)
            await app_context.do(request, Vote(ticket, ballot, rater=rater))
    except (BadInput, Conflict) as error:
        return await vote_page(request, problem=str(error), status=409 if isinstance(error, Conflict) else 422)
    return RedirectResponse(f"/vote/{arena}", 303)


def ballot_of(fields: Mapping[str, str]) -> dict[str, Any]:
    """From numbered fields: the same number is a tie, none is not compared.

    >>> ballot_of({"place-0": "2", "place-1": "1", "place-2": "2", "place-3": ""})
    {'rank': [[1], [0, 2]]}
    >>> ballot_of({"best": "1"})
    {'best': 1}
    """
    for question in ("best", "worst"):
        if question in fields:
            return {question: _whole(fields[question])}
    groups: dict[int, list[int]] = {}
    for name, value in fields.items():
        if name.startswith("place-") and value.strip():
            groups.setdefault(_whole(value), []).append(_whole(name.removeprefix("place-")))
    if sum(map(len, groups.values())) < 2:
        raise BadInput("Please number two at least: 1 is the best, and equal numbers are ties.")
    return {"rank": [sorted(groups[number]) for number in sorted(groups)]}


def _whole(value: str) -> int:
    plain = value.strip()
    if not plain.isascii() or not plain.isdigit() or len(plain) > 6:
        raise BadInput("A place is a whole number, such as 1.")
    return int(plain)


def _ticket(request: Request, ticket: str) -> str:
    if arena_of(ticket) != request.path_params["arena"]:
        raise NotFound("There is no such ticket.")
    return ticket


async def vote_script(request: Request) -> Response:
    """The vote on a ticket, as a script sends it, again if need be: the answer brings the next question."""
    body = await _json(request)
    ticket = _ticket(request, request.path_params["ticket"])
    command = Vote(ticket, body.get("ballot") or {}, next=True, rater=rater_of(request))
    receipt: Receipt = await app_context_of(request).do(request, command)
    said = "Skipped." if receipt.counted == "skipped" else "Your vote is counted."  # also one that is excluded, see docs
    return await _following(request, receipt, said)


async def undo_script(request: Request) -> Response:
    body = await _json(request)
    command = Undo(request.path_params["arena"], rater_of(request), body.get("request") or "")
    return await _following(
        request, await app_context_of(request).do(request, command), "Your last vote is undone. Here it is again."
    )


async def _json(request: Request) -> dict[str, Any]:
    _rater_of_script(request)  # before the token, which is made from the key: a page with another key is told why
    check_token(request, request.headers.get("x-token"))
    body = await read_json(request)
    if not isinstance(body, dict):
        raise BadInput("This is no answer that can be read.")
    return body


async def _following(request: Request, receipt: Receipt, said: str) -> Response:
    assert receipt.next is not None
    words = await _words(request, receipt.next)
    html = fragment("_question.html", words | {"problem": ""})
    event = {"event": receipt.event, "hash": receipt.hash}
    return JSONResponse({"html": html, "ticket": words["ticket"], "said": said, **event})


async def look_script(request: Request) -> Response:
    """The question that is open, for a script that lost its way."""
    arena = request.path_params["arena"]
    words = await _words(request, await _next(request, arena, _rater_of_script(request)))
    html = fragment("_question.html", words | {"problem": ""})
    return JSONResponse({"html": html, "ticket": words["ticket"], "said": ""})


async def leave_page(request: Request) -> Response:
    """Asked first: who has no link of their own cannot come back as the same rater."""
    arena = request.path_params["arena"]
    rater_of(request)
    sentence = (
        "This browser will not know you any more. Your votes stay and count, but you cannot undo them, and you can go on only "
        "with the link that you were given."
    )
    leaving, back = f"/vote/{arena}/leave", f"/vote/{arena}"
    return confirm_page(request, "Forget me?", sentence, "Forget me", action=leaving, back=back)


async def leave(request: Request) -> Response:
    """This browser forgets who it was."""
    await checked_form(request)
    arena = request.path_params["arena"]
    if request.scope.get("grant") is None:
        raise Forbidden("This browser is not known here.")
    response = page(request, "refused.html", sentence="This browser has forgotten you. Your votes stay.", code=200)
    response.delete_cookie("multiduel-rater", path=f"/vote/{arena}")
    return response


ROUTES = [
    Route("/vote/{arena}", vote_page),
    Route("/vote/{arena}", vote_form, methods=["POST"]),
    Route("/vote/{arena}/question", look_script),
    Route("/vote/{arena}/tickets/{ticket}", vote_script, methods=["POST"]),
    Route("/vote/{arena}/undo", undo_script, methods=["POST"]),
    Route("/vote/{arena}/leave", leave_page),
    Route("/vote/{arena}/leave", leave, methods=["POST"]),
]
