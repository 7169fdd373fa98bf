"""The owner's pages: make an arena, turn it on and off, change what is compared."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.errors import BrokenLog, Conflict, NotFound, Unavailable
from multiduel.arena.domain.options import LEAST_OPTIONS, Content, Option
from multiduel.arena.domain.settings import RATERS, Settings, declared, setting, why_unusable
from multiduel.arena.files.uploads import Upload, read_uploads
from multiduel.arena.journal import ArenaRow
from multiduel.arena.web.content_headers import CONTENT_HEADERS, served_as
from multiduel.arena.web.context import AppContext, KeyMissing, app_context_of, as_owner, as_server, caller_of
from multiduel.arena.web.pages.advice import advise, policies
from multiduel.arena.web.pages.contents import Shown, shown
from multiduel.arena.web.pages.links import link_of
from multiduel.arena.web.pages.pasting import read_pasted
from multiduel.arena.web.pages.progress import votes_needed
from multiduel.arena.web.pages.render import confirm_page, page
from multiduel.arena.web.sessions import checked_form, checked_upload
from multiduel.inputs import BadInput

FORM = sorted((*declared(), RATERS), key=lambda one: not one.first)  # those that most owners need come first
BLANK = {"name": "", "pasted": ""} | {one.name: one.write(one.default) for one in FORM} | {"slate_size": ""}  # as we advise


async def owned(request: Request) -> tuple[AppContext, str, c.ArenaInfo]:
    """The arena of this page, if its owner (or the server's) looks."""
    if request.scope.get("grant") is None:
        raise KeyMissing("Please sign in with the owner’s key first: this browser has no key that works.")
    arena = request.path_params["arena"]
    as_owner(request, arena)
    app_context = app_context_of(request)
    return app_context, arena, await app_context.quick(arena, app_context.service.info, arena)


def owners_page(request: Request, template: str, info: c.ArenaInfo, here: str, *, status: int = 200, **words: Any) -> Response:
    return page(request, template, status=status, arena=info.id, name=info.name, info=info, here=here, **words)


# ---- all arenas, and a new one


def servers_only(request: Request) -> None:
    if request.scope.get("grant") is None:
        raise KeyMissing("Please sign in with the server’s key first: this browser has no key that works.")
    as_server(request)


async def arenas(request: Request) -> Response:
    servers_only(request)
    app_context = app_context_of(request)

    def listed() -> Response:
        return page(request, "arenas.html", arenas=[_listed(app_context, row) for row in reversed(app_context.service.arenas())])

    return await app_context.slow("", listed)


def _listed(app_context: AppContext, row: ArenaRow) -> dict[str, Any]:
    """A line of the list. What is wrong with one arena is said in its line."""
    try:
        info = app_context.service.info(row.id)
    except (BrokenLog, Unavailable):
        return {"id": row.id, "name": row.name, "status": "damaged", "created": row.created}
    counts = {"options": len(info.options), "events": info.events}
    return {"id": row.id, "name": info.name, "status": info.status, "created": info.created} | counts


async def new_page(request: Request) -> Response:
    servers_only(request)
    return _form(request, BLANK)


def _form(request: Request, fields: dict[str, str], *, problem: str = "", **words: Any) -> Response:
    known: dict[str, Any] = {
        "options": None,
        "contexts": (),
        "files": 0,
        "why": {},
        "request_id": uuid.uuid4().hex,
        "policies": policies(),
    }
    known |= {"first": [one for one in FORM if one.first], "more": [one for one in FORM if not one.first]}
    return page(request, "new.html", status=422 if problem else 200, f=fields, problem=problem, **known | words)


async def new(request: Request) -> Response:
    """First a look at what was pasted, with our advice; then the arena."""
    servers_only(request)
    sent, files = await checked_upload(request)
    fields = BLANK | sent
    app_context = app_context_of(request)
    try:
        options, looked = await app_context.slow("", _looked_at, fields["pasted"], files)
    except BadInput as error:
        return _form(request, fields, problem=str(error))
    advice = looked.pop("advice")
    looked["why"] = {
        "slate_size": f"We suggest {advice.slate_size}: {advice.slate_why}",
        "policy": f"We suggest {advice.policy}: {advice.policy_why} {advice.other_why}",
    }
    fields["slate_size"] = fields["slate_size"] or str(advice.slate_size)
    if fields.get("action") != "create":
        return _form(request, fields, **looked)
    try:
        raters, settings = (
            RATERS.check(fields["raters"]),
            Settings(**{one.name: one.read(fields[one.name]) for one in declared()}),
        )
        info = await app_context.do(
            request, c.Create(fields["name"], settings, options, looked["contexts"], fields.get("request"))
        )
    except BadInput as error:
        return _form(request, fields, problem=str(error), **looked)
    if fields.get("open") == "1" and info.status == "created":
        info = await app_context.do(request, c.Open(info.id))
    links = [link_of(request, "Owner: anyone with this link can change everything", await _key(request, "owner", info.id))]
    if raters == "open":
        links.insert(0, link_of(request, "Raters: give this link to everyone who may vote", await _key(request, "link", info.id)))
    return owners_page(request, "links.html", info, "", links=links, fresh=True, add_raters=raters == "secret")


def _given(pasted: str, files: list[Upload], least: int = LEAST_OPTIONS) -> tuple[tuple[Option, ...], tuple[str, ...]]:
    """The options that were pasted, or sent as files."""
    if not files:
        return read_pasted(pasted, least=least)
    if pasted.strip():
        raise BadInput("Options can be pasted or sent as files, not both at once. Empty the field, or remove the files.")
    return read_uploads(files, least=least)


def _looked_at(pasted: str, files: list[Upload]) -> tuple[tuple[Option, ...], dict[str, Any]]:
    """The options that were given, and what the form shows of them."""
    options, contexts = _given(pasted, files)
    seen = [(option.name, shown(option.contents[0], "")) for option in options]
    return options, {"options": seen, "contexts": contexts, "advice": advise(options), "files": len(files)}


async def _key(request: Request, role: str, arena: str) -> str:
    app_context = app_context_of(request)
    return await app_context.quick(arena, app_context.access.new_key, role, arena=arena, by=caller_of(request))


# ---- one arena


async def overview(request: Request) -> Response:
    app_context, arena, info = await owned(request)
    board = await app_context.quick(arena, app_context.service.board, arena) if app_context.ready.is_set() else None
    words: dict[str, Any] = {
        "board": board,
        "needed": "" if board is None else votes_needed(board),
        "policies": policies(),
        "why": app_context.why_not_ready,
        "public": app_context.public,
    }
    words |= {"changeable": [setting("policy"), setting("margin")], "settings": [one for one in declared() if one.name != "seed"]}
    return owners_page(request, "overview.html", info, "", problem=why_unusable(info.settings), **words)


TURNS: dict[str, Any] = {"open": c.Open, "pause": c.Pause, "close": c.Close}


async def turn(request: Request) -> Response:
    app_context, arena, info = await owned(request)
    fields = await checked_form(request)
    if fields.get("do") not in TURNS:
        raise BadInput("An arena can be opened, paused or closed.")
    if fields["do"] == "close" and fields.get("sure") != "1":
        sentence = f"Nobody can vote in ‘{info.name}’ after that, and you cannot open it again. Results, report and exports stay."
        where, meant = f"/own/{arena}", {"do": "close"}
        title, button = "Close permanently?", "Close permanently"
        return confirm_page(request, title, sentence, button, action=f"{where}/status", back=where, fields=meant)
    await app_context.do(request, TURNS[fields["do"]](arena))
    return RedirectResponse(f"/own/{arena}", 303)


async def policy(request: Request) -> Response:
    app_context, arena, _ = await owned(request)
    fields = await checked_form(request)
    await app_context.do(request, c.ChangePolicy(arena, fields.get("policy", "")))
    return RedirectResponse(f"/own/{arena}", 303)


async def margin(request: Request) -> Response:
    app_context, arena, _ = await owned(request)
    fields = await checked_form(request)
    await app_context.do(request, c.ChangeMargin(arena, setting("margin").read(fields.get("margin", ""))))
    return RedirectResponse(f"/own/{arena}/board", 303)


async def options_page(request: Request, *, problem: str = "", pasted: str = "") -> Response:
    """All options, as they answer one of the questions if there are several."""
    app_context, arena, info = await owned(request)
    asked = request.query_params.get("context", "1")
    place = min(int(asked), len(info.contexts)) - 1 if asked.isascii() and asked.isdigit() and 0 < len(asked) < 6 else 0
    place = max(place, 0)

    def contents() -> list[Any]:
        made = []
        for option in info.options:
            said = option["contents"][place]
            url = f"/own/{arena}/options/{option['id']}/contents/{place}"
            if said["kind"] in ("image", "audio"):
                made.append((option, Shown(said["kind"], Markup(""), url, said["size"])))
            else:
                made.append((option, shown(content_of(app_context, arena, said), url)))
        return made

    listed = await app_context.slow(arena, contents)
    status = 422 if problem else 200
    words = {"problem": problem, "pasted": pasted, "request_id": uuid.uuid4().hex, "place": place}
    return owners_page(request, "options.html", info, "options", status=status, listed=listed, **words)


def content_of(app_context: AppContext, arena: str, said: Mapping[str, Any]) -> Content:
    """A content with its bytes, from how an event describes it."""
    data = app_context.service.journal.get_content(arena, said["sha256"])
    if data is None:
        raise NotFound("This content is missing. Verify the log.")
    return Content(said["kind"], data, said["type"])


async def option_content(request: Request) -> Response:
    """A content for its owner, under the headers with which raters get it."""
    app_context, arena, info = await owned(request)
    place = request.path_params["context"]
    option = next((one for one in info.options if one["id"] == request.path_params["option"]), None)
    if option is None or not 0 <= place < len(option["contents"]):
        raise NotFound("There is no such content.")
    content = await app_context.quick(arena, content_of, app_context, arena, option["contents"][place])
    return Response(content.data, media_type=served_as(content), headers=CONTENT_HEADERS)


async def add(request: Request) -> Response:
    app_context, arena, info = await owned(request)
    fields, files = await checked_upload(request)
    try:
        options, contexts = await app_context.slow(arena, _given, fields.get("pasted", ""), files, 1)
        if list(contexts) != [context["text"] for context in info.contexts]:
            raise BadInput("New options must answer every question of this arena, in their order: paste a CSV with all of them.")
        await app_context.do(request, c.AddOptions(arena, options, fields.get("request")))
    except (BadInput, Conflict) as error:
        return await options_page(request, problem=str(error), pasted=fields.get("pasted", ""))
    return RedirectResponse(f"/own/{arena}/options", 303)


async def retire(request: Request) -> Response:
    app_context, arena, info = await owned(request)
    fields = await checked_form(request)
    option = next((one for one in info.options if one["id"] == fields.get("option")), None)
    if option is not None and fields.get("sure") != "1":
        sentence = (
            f"‘{option['name']}’ is shown no more and cannot win. Its votes stay in the log. It cannot be brought back: "
            "a correction is a new option."
        )
        where, meant = f"/own/{arena}/options", {"option": option["id"]}
        return confirm_page(
            request, "Retire this option?", sentence, "Retire", action=f"{where}/retire", back=where, fields=meant
        )
    try:
        await app_context.do(request, c.RetireOption(arena, fields.get("option", "")))
    except Conflict as error:
        return await options_page(request, problem=str(error))
    return RedirectResponse(f"/own/{arena}/options", 303)


ROUTES = [
    Route("/own", arenas),
    Route("/own/new", new_page),
    Route("/own/new", new, methods=["POST"]),
    Route("/own/{arena}", overview),
    Route("/own/{arena}/status", turn, methods=["POST"]),
    Route("/own/{arena}/policy", policy, methods=["POST"]),
    Route("/own/{arena}/margin", margin, methods=["POST"]),
    Route("/own/{arena}/options", options_page),
    Route("/own/{arena}/options", add, methods=["POST"]),
    Route("/own/{arena}/options/retire", retire, methods=["POST"]),
    Route("/own/{arena}/options/{option}/contents/{context:int}", option_content),
]
