"""Raters, as their owner sees them: links, agreement and speed, quarantine."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Mapping, Sequence

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.errors import Conflict, NotFound
from multiduel.arena.files.exports import csv_lines
from multiduel.arena.service.decision import label_of
from multiduel.arena.web.context import AppContext, caller_of
from multiduel.arena.web.joining import BY_SIGN_IN
from multiduel.arena.web.pages.links import link_of
from multiduel.arena.web.pages.render import confirm_page
from multiduel.arena.web.pages.routes_owner import owned, owners_page
from multiduel.arena.web.sessions import checked_form
from multiduel.inputs import BadInput, shortened

MOST_AT_ONCE = 200
TO_ALL = "Raters: give this link to everyone who may vote"


BLANK = {"labels": "", "group": "", "limit": ""}


async def raters_page(request: Request, *, problem: str = "", fields: Mapping[str, str] = BLANK) -> Response:
    app_context, arena, info = await owned(request)

    def made() -> Response:
        raters, links = app_context.service.raters(arena), len(app_context.service.journal.secrets.get(arena, "link"))
        used = {key.subject: key.used for key in app_context.access.keys(arena, ("rater",))}
        words = {"raters": raters, "used": used, "links": links, "problem": problem, "request_id": uuid.uuid4().hex}
        words["f"] = BLANK | dict(fields)
        return owners_page(request, "raters.html", info, "raters", status=422 if problem else 200, **words)

    return await app_context.slow(arena, made)


async def open_link(request: Request) -> Response:
    app_context, arena, info = await owned(request)
    by_account = (await checked_form(request)).get("accounts") == "1"
    if by_account and app_context.accounts is None:
        raise BadInput("This server has no sign-in with accounts.")
    words = {"label": "sign-in", "name": f"{BY_SIGN_IN}{secrets.token_hex(8)}"} if by_account else {}
    key = await app_context.quick(arena, app_context.access.new_key, "link", arena=arena, by=caller_of(request), **words)
    said = "Raters: people sign in by this link, and each is one rater" if by_account else TO_ALL
    links = [link_of(request, said, key)]
    return owners_page(request, "links.html", info, "raters", links=links, fresh=False)


async def revoke(request: Request) -> Response:
    app_context, arena, _ = await owned(request)
    if (await checked_form(request)).get("sure") != "1":
        sentence = "All shared links stop working, permanently. Raters who joined by them stay."
        where, title = f"/own/{arena}", "Revoke all links?"
        return confirm_page(request, title, sentence, title[:-1], action=f"{where}/links/revoke", back=f"{where}/raters")
    await app_context.quick(arena, app_context.access.revoke, "link", arena, by=caller_of(request))
    return RedirectResponse(f"/own/{arena}/raters", 303)


def _check_labels(app_context: AppContext, arena: str, labels: Sequence[str], asked: str) -> None:
    """Refuse all names if one is taken or named twice. Else raters could be admitted whose links nobody sees."""
    with app_context.service.look(arena) as state:
        known, before = state.labels, [f"admit:page {asked} {k}" in state.requests for k in range(len(labels))]
        for k, label in enumerate(labels):
            if not before[k] and (label_of(label) in known or label in labels[:k]):
                raise Conflict(
                    f"There is a rater {shortened(label)} already." if label in known else f"{shortened(label)} is named twice."
                )


async def admit(request: Request) -> Response:
    """A link of their own for each, on a page to be printed or copied."""
    app_context, arena, info = await owned(request)
    fields = await checked_form(request)
    labels = [label.strip() for label in fields.get("labels", "").splitlines() if label.strip()]
    limit, asked = fields.get("limit", "").strip(), fields.get("request", "")
    try:
        if not 1 <= len(labels) <= MOST_AT_ONCE:
            raise BadInput(f"Name 1 to {MOST_AT_ONCE} raters, one per line. Got {len(labels)}.")
        if limit and not (limit.isascii() and limit.isdigit() and len(limit) < 10):
            raise BadInput(f"A limit is a whole number of votes, or empty. Got {limit[:20]}.")
        await app_context.quick(arena, _check_labels, app_context, arena, labels, asked)
        links = []
        for k, label in enumerate(labels):
            command = c.AdmitRater(arena, label, fields.get("group") or None, int(limit) if limit else None, f"page {asked} {k}")
            rater = await app_context.do(request, command)
            key = await app_context.quick(
                arena, app_context.access.new_key, "rater", arena=arena, rater=rater, by=caller_of(request)
            )
            links.append(link_of(request, label, key))
    except (BadInput, Conflict) as error:
        return await raters_page(request, problem=str(error), fields=fields)
    table = "".join(csv_lines(["rater", "link"], ([link.words, link.url] for link in links)))
    return owners_page(request, "links.html", info, "raters", links=links, fresh=False, table=table)


async def quarantine(request: Request) -> Response:
    app_context, arena, _ = await owned(request)
    fields = await checked_form(request)
    rater, where = fields.get("rater", ""), f"/own/{arena}/raters"
    if fields.get("do") == "release":
        await app_context.do(request, c.Release(arena, rater))
    elif fields.get("sure") == "1":
        await app_context.do(request, c.Quarantine(arena, rater, fields.get("reason", "")))
    else:
        with app_context.service.look(arena) as state:
            known = state.raters.get(rater)
        if known is None:
            raise NotFound("There is no such rater.")
        sentence = f"Earlier and later votes of ‘{known.label}’ do not count. The result may change. You can count them again."
        meant, asked = {"rater": rater}, ("reason", "Reason, which the report names")
        button, action = "Exclude votes", f"{where}/quarantine"
        return confirm_page(request, "Exclude votes?", sentence, button, action=action, back=where, fields=meant, ask=asked)
    return RedirectResponse(where, 303)


ROUTES = [
    Route("/own/{arena}/raters", raters_page),
    Route("/own/{arena}/raters", admit, methods=["POST"]),
    Route("/own/{arena}/raters/quarantine", quarantine, methods=["POST"]),
    Route("/own/{arena}/links", open_link, methods=["POST"]),
    Route("/own/{arena}/links/revoke", revoke, methods=["POST"]),
]
