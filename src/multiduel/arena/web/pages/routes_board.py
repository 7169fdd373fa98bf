"""The board, as owners see it, and raters once they may. Live: a stream says when it has changed, and the page asks again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from multiduel.arena.domain.errors import Forbidden, NotFound, Unavailable
from multiduel.arena.service.board import Board
from multiduel.arena.service.slices import Slice
from multiduel.arena.web.context import AppContext, KeyMissing, app_context_of, as_owner
from multiduel.arena.web.pages import charts
from multiduel.arena.web.pages.progress import votes_needed
from multiduel.arena.web.pages.render import HEADERS, fragment, page
from multiduel.arena.web.pages.routes_vote import rater_of
from multiduel.display import standings_tables as words

EVERY, LONGEST = 1.0, 300.0  # seconds: between looks, and of a stream, after which a browser connects again
MOST_STREAMS = 200
WHOM = {"answer": "these raters", "rater": "people like these raters", "case": "questions like these"}
KIND = {"winner": "Winner", "cycle": "No overall winner (cycle)", "narrowed": "No winner yet", "open": "No winner yet"}
RESULT = {"all": "All votes", "people": "Votes of people (the result)", "judges": "Votes of judges (the result)"}
ASKED = {"rank": "which is better", "best": "which is best", "worst": "which is worst"}


def board_words(board: Board, times: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """All that a board's template needs."""
    place = {option: k for k, option in enumerate(board.options)}
    present = [line for line in board.lines if not line.retired]
    best = present[: charts.MOST_SQUARES]
    rows = [place[line.option] for line in best]
    above, ties = board.above[rows][:, rows], board.ties[rows][:, rows]
    binned = charts.times_binned(times)
    names = {line.option: line.name for line in board.lines}
    met = board.above + board.above.T + board.ties
    compared = {line.option for line in present if met[place[line.option]].any()}  # of the others nothing is known
    limits = charts.scale_of([line.strength for line in present if line.option in compared])
    shares = [
        [charts.share_of(above[i, j], above[j, i], ties[i, j]) if i != j else None for j in range(len(rows))]
        for i in range(len(rows))
    ]
    return {
        "board": board,
        "name": board.name,
        "kind": KIND[board.kind].removesuffix(" yet" if board.status == "closed" else ""),
        "whom": board.whom or WHOM[board.unit],
        "asked": ASKED[board.question],
        "needed": votes_needed(board),
        "sure": f"{100 * (1 - board.alpha):.4g} %",
        "still_in": [names[option] for option in board.still_in],
        "lines": [
            {
                "line": line,
                "rank": "" if line.retired else words.rank(line.rank_from, line.rank_to),
                "strength": "–" if line.option not in compared else words.signed(line.strength[0]),
                "span": "–" if line.option not in compared else words.span(*line.strength[1:]),
                "won": "–" if line.option not in compared else words.share(line.won[0]),
                "won_span": "–" if line.option not in compared else words.shares(*line.won[1:]),
                "interval": charts.interval(*line.strength, limits) if line.option in compared else "",
                "winner": line.option == board.winner,
                "out": line.option in board.out,
            }
            for line in board.lines
        ],
        "compared": [line.name for line in best],
        "shares": shares,
        "met": met[rows][:, rows].tolist(),
        "left_out": len(present) - len(best),
        "heat": charts.heat_map([line.name for line in best], above, ties),
        "time": charts.over_time(binned),
        "binned": [(at.strftime("%Y-%m-%d %H:%M"), total) for at, total in binned[4::5]],
    }


async def _look(request: Request) -> tuple[AppContext, str, bool]:
    """May this visitor see it? Whether as the owner."""
    app_context, arena = app_context_of(request), request.path_params["arena"]
    if request.url.path.startswith("/own/"):
        if request.scope.get("grant") is None:
            raise KeyMissing("Please sign in with the owner’s key first: this browser has no key that works.")
        as_owner(request, arena)
        return app_context, arena, True
    rater_of(request)
    if not await app_context.quick(arena, app_context.shows_board, arena):
        raise Forbidden("The board is not shown to raters now, so that votes are not swayed.")
    return app_context, arena, False


def _words(app_context: AppContext, boards: dict[str, dict[str, Any]], arena: str) -> dict[str, Any]:
    """Made once for all who look between two events."""
    board = app_context.service.board(arena)
    known = boards.get(arena)
    if known is None or known["board"] is not board:
        known = boards[arena] = board_words(board, app_context.service.pace(arena))
    return known


@dataclass(frozen=True)
class Filter:
    """What the owner looks at: all votes, or a part of them; and the parts that there are."""

    slices: list[Slice]
    chosen: Slice | None

    def address(self, one: Slice) -> str:
        return f"{one.kind}={one.place + 1}"

    def whole(self, deciders: str) -> str:
        """What the whole board counts, in the form's words."""
        apart = any(one.kind == "kind" for one in self.slices)
        return RESULT[deciders] if apart else RESULT["all"]


def _filter(app_context: AppContext, arena: str, asked: Mapping[str, str]) -> Filter:
    """By ``?by=context=2``, ``?by=group=1`` or ``?by=kind=2``, as the form sends it."""
    slices = app_context.service.slices(arena)
    found = Filter(slices, None)
    wanted = asked.get("by", "")
    chosen = next((one for one in slices if found.address(one) == wanted), None)
    if wanted and chosen is None:
        raise NotFound("There is no such part of the votes.")
    return Filter(slices, chosen)


def _sliced_words(app_context: AppContext, arena: str, chosen: Slice) -> dict[str, Any]:
    board = app_context.service.sliced_board(arena, chosen)
    return board_words(board, app_context.service.pace(arena, chosen))


async def board_page(request: Request) -> Response:
    app_context, arena, owner = await _look(request)
    if not app_context.ready.is_set():
        name = (await app_context.quick(arena, app_context.service.info, arena)).name
        return page(request, "loading.html", name=name, why=app_context.why_not_ready, arena=arena)

    known = await app_context.quick(arena, _words, app_context, request.app.state.boards, arena) | {"owner": owner}
    known |= {"part": "all", "filter": Filter([], None), "whole": known["board"]}
    if not owner:
        known["board"] = known["board"].for_raters()
    elif "fragment" not in request.query_params or "by" in request.query_params:  # which has no form to choose by
        known["filter"] = await app_context.quick(arena, _filter, app_context, arena, request.query_params)
        if known["filter"].chosen is not None:
            known |= await app_context.slow(arena, _sliced_words, app_context, arena, known["filter"].chosen)
    if "fragment" in request.query_params:
        token = {"token": "", "arena": arena, "demo": None}
        return HTMLResponse(fragment("_board.html", known | token), headers=HEADERS)
    return page(request, "board.html", arena=arena, here="board", **known)


class Watch:
    """The number of the last event of each arena, looked up once for all who watch."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, int]] = {}
        self.streams = 0

    async def number(self, app_context: AppContext, arena: str) -> int:
        at, number = self._known.get(arena, (-EVERY, 0))
        if time.monotonic() - at >= EVERY / 2:

            def last() -> int:
                with app_context.service.look(arena) as state:
                    return state.number

            self._known[arena] = (time.monotonic(), number)  # others wait for none
            number = await app_context.quick(arena, last)
            self._known[arena] = (time.monotonic(), number)
        return number


async def changes(request: Request) -> Response:
    app_context, arena, _ = await _look(request)
    watch: Watch = request.app.state.watch
    if watch.streams >= MOST_STREAMS:
        raise Unavailable("Too many people watch at once. Please try again later.")

    async def said() -> AsyncIterator[str]:
        watch.streams += 1
        try:
            number, until = -1, time.monotonic() + LONGEST
            yield "retry: 3000\n\n"
            while time.monotonic() < until:  # who hangs up ends it sooner
                now = await watch.number(app_context, arena)
                if now != number:
                    number = now
                    yield f"data: {number}\n\n"
                await asyncio.sleep(EVERY)
                await app_context.read(app_context.access.check, request.scope["key"])
        except (Forbidden, Unavailable):
            return  # the key was revoked, or cannot be looked up: who reconnects is told
        finally:
            watch.streams -= 1

    headers = HEADERS | {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(said(), media_type="text/event-stream", headers=headers)


ROUTES = [
    Route("/vote/{arena}/board", board_page),
    Route("/own/{arena}/board", board_page),
    Route("/vote/{arena}/board/changes", changes),
    Route("/own/{arena}/board/changes", changes),
]
