"""The owner's pages: make an arena, turn it on and off, change what is compared."""

from __future__ import annotations

import uuid
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from multiduel.arena import commands as c
from multiduel.arena.ballots import QUESTIONS
from multiduel.arena.errors import Conflict
from multiduel.arena.http.doors import Doors, Unknown, as_owner, as_server, doors_of
from multiduel.arena.pages.advice import advise, policies
from multiduel.arena.pages.contents import shown
from multiduel.arena.pages.links import link_of
from multiduel.arena.pages.pasting import read_pasted
from multiduel.arena.pages.render import page
from multiduel.arena.pages.sessions import checked_form
from multiduel.arena.settings import Settings
from multiduel.inputs import BadInput

BLANK = {
    "name": "",
    "pasted": "",
    "question": "rank",
    "slate_size": "",
    "policy": "challengers",
    "unit": "answer",
    "room": "",
    "votes": "",
    "limit": "",
    "margin": "",
    "board": "verdict",
    "raters": "open",
}


async def owned(request: Request) -> tuple[Doors, str, c.ArenaInfo]:
    """The arena of this page, if its owner (or the server's) looks."""
    if request.scope.get("grant") is None:
        raise Unknown("Please go in with the owner’s key first: this browser has none, or one that is not good any more.")
    arena = request.path_params["arena"]
    as_owner(request, arena)
    doors = doors_of(request)
    return doors, arena, await doors.read(doors.service.info, arena)


def owners_page(request: Request, template: str, info: c.ArenaInfo, here: str, *, status: int = 200, **words: Any) -> Response:
    return page(request, template, status=status, arena=info.id, name=info.name, info=info, here=here, **words)


# ---- all arenas, and a new one


def _as_server(request: Request) -> None:
    if request.scope.get("grant") is None:
        raise Unknown("Please go in with the server’s key first: this browser has none, or one that is not good any more.")
    as_server(request)


async def arenas(request: Request) -> Response:
    _as_server(request)
    doors = doors_of(request)

    def listed() -> list[c.ArenaInfo]:
        return [doors.service.info(row.id) for row in reversed(doors.service.arenas())]

    return page(request, "arenas.html", infos=await doors.read(listed))


async def new_page(request: Request) -> Response:
    _as_server(request)
    return _form(request, BLANK)


def _form(request: Request, fields: dict[str, str], *, problem: str = "", **words: Any) -> Response:
    known = {"options": None, "contexts": (), "advice": None, "request_id": uuid.uuid4().hex, "policies": policies()}
    status = 422 if problem else 200
    return page(request, "new.html", status=status, f=fields, problem=problem, questions=QUESTIONS, **known | words)


async def new(request: Request) -> Response:
    """First a look at what was pasted, with our advice; then the arena."""
    _as_server(request)
    fields = BLANK | await checked_form(request)
    try:
        options, contexts = read_pasted(fields["pasted"])
        advice = advise(options)
        looked: dict[str, Any] = {
            "options": [(option.name, shown(option.contents[0], "")) for option in options],
            "contexts": contexts,
            "advice": advice,
        }
        if fields.get("action") != "create":
            return _form(request, fields | {"slate_size": fields["slate_size"] or str(advice.slate_size)}, **looked)
        command = c.Create(fields["name"], _settings(fields), options, contexts, fields.get("request"))
    except BadInput as error:
        return _form(request, fields, problem=str(error))
    doors = doors_of(request)
    try:
        info = await doors.do(command)
    except BadInput as error:
        return _form(request, fields, problem=str(error), **looked)
    if fields.get("open") == "1" and info.status == "created":
        info = await doors.do(c.Open(info.id))
    links = [link_of(request, "Owner: whoever has this link can change everything", await _key(doors, "owner", info.id))]
    if fields["raters"] == "open":
        links.insert(0, link_of(request, "Raters: give this link to everyone who may vote", await _key(doors, "link", info.id)))
    return owners_page(request, "links.html", info, "", links=links, fresh=True)


async def _key(doors: Doors, role: str, arena: str) -> str:
    return await doors.read(doors.access.new_key, role, arena=arena)


def _settings(fields: dict[str, str]) -> Settings:
    def number(name: str) -> int | None:
        value = fields[name].strip().replace(",", "")
        if value and not (value.isascii() and value.isdigit() and len(value) < 12):
            raise BadInput(f"‘{name.replace('_', ' ')}’ must be a whole number, or empty. Got {value[:40]}.")
        return int(value) if value else None

    return Settings(
        slate_size=number("slate_size") or 2,
        question=fields["question"],
        policy=fields["policy"],
        unit=fields["unit"],
        room=number("room"),
        votes=number("votes"),
        limit=number("limit"),
        margin=points(fields["margin"]),
        board=fields["board"],
    )


def points(written: str) -> float:
    """
    >>> points("5"), points("")
    (0.05, 0.0)
    """
    try:
        return float(written.strip() or 0) / 100.0
    except ValueError:
        raise BadInput(f"A margin is a number of points, such as 5. Got {written[:40]}.") from None


# ---- one arena


async def overview(request: Request) -> Response:
    doors, arena, info = await owned(request)
    board = await doors.read(doors.service.board, arena) if doors.ready.is_set() else None
    return owners_page(
        request, "overview.html", info, "", board=board, policies=policies(), why=doors.why_not_ready, public=doors.public
    )


TURNS: dict[str, Any] = {"open": c.Open, "pause": c.Pause, "close": c.Close}


async def turn(request: Request) -> Response:
    doors, arena, _ = await owned(request)
    fields = await checked_form(request)
    if fields.get("do") not in TURNS:
        raise BadInput("An arena can be opened, paused or closed.")
    if fields["do"] == "close" and fields.get("sure") != "1":
        raise BadInput("Closing is for good. Please tick the box beside it.")
    await doors.do(TURNS[fields["do"]](arena))
    return RedirectResponse(f"/own/{arena}", 303)


async def policy(request: Request) -> Response:
    doors, arena, _ = await owned(request)
    fields = await checked_form(request)
    await doors.do(c.ChangePolicy(arena, fields.get("policy", "")))
    return RedirectResponse(f"/own/{arena}", 303)


async def margin(request: Request) -> Response:
    doors, arena, _ = await owned(request)
    fields = await checked_form(request)
    await doors.do(c.ChangeMargin(arena, points(fields.get("points", ""))))
    return RedirectResponse(f"/own/{arena}/board", 303)


async def options_page(request: Request, *, problem: str = "", pasted: str = "") -> Response:
    doors, arena, info = await owned(request)

    def first_contents() -> list[Any]:
        from multiduel.arena.options import Content

        made = []
        for option in info.options:
            said = option["contents"][0]
            data = (
                doors.service.journal.get_content(arena, said["sha256"]) or b"" if said["kind"] not in ("image", "audio") else b""
            )
            made.append((option, shown(Content(said["kind"], data, said["type"]), "")))
        return made

    listed = await doors.read(first_contents)
    status = 422 if problem else 200
    words = {"problem": problem, "pasted": pasted, "request_id": uuid.uuid4().hex}
    return owners_page(request, "options.html", info, "options", status=status, listed=listed, **words)


async def add(request: Request) -> Response:
    doors, arena, info = await owned(request)
    fields = await checked_form(request)
    try:
        options, contexts = read_pasted(fields.get("pasted", ""), least=1)
        if list(contexts) != [context["text"] for context in info.contexts]:
            raise BadInput("New options must answer every question of this arena, in their order: paste a CSV with all of them.")
        await doors.do(c.AddOptions(arena, options, fields.get("request")))
    except (BadInput, Conflict) as error:
        return await options_page(request, problem=str(error), pasted=fields.get("pasted", ""))
    return RedirectResponse(f"/own/{arena}/options", 303)


async def retire(request: Request) -> Response:
    doors, arena, _ = await owned(request)
    fields = await checked_form(request)
    try:
        await doors.do(c.RetireOption(arena, fields.get("option", "")))
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
]
