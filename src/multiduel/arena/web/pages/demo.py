"""``multiduel arena demo``: a server with a worked example, and raters who can be switched on. Nothing of it stays."""

from __future__ import annotations

import random
import secrets
import threading

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from multiduel.arena.domain.commands import AdmitRater, Ask, Create, Done, Open, Vote
from multiduel.arena.domain.errors import Forbidden, Refused, Unavailable
from multiduel.arena.domain.settings import Settings
from multiduel.arena.service.service import Service
from multiduel.arena.web.access import Access, Grant
from multiduel.arena.web.context import app_context_of
from multiduel.arena.web.pages import example
from multiduel.arena.web.sessions import check_origin, form_of, remember

RATERS = 40
PAUSE = 0.05  # seconds between two simulated votes
SETTINGS = Settings(slate_size=3, board="always", seed=20)


class Demo:
    """The example's arena, the visitor's keys to it, and its simulated raters."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.arena: str = service.do(Create(example.NAME, SETTINGS, example.options(), example.LETTERS, "demo")).id
        service.do(Open(self.arena))
        self._you = service.do(AdmitRater(self.arena, "you"))
        access = Access(service.journal.secrets)
        self._keys = {
            "rater": access.new_key("rater", arena=self.arena, rater=self._you),
            "owner": access.new_key("owner", arena=self.arena),
        }
        self.token = secrets.token_hex(16)
        self.on, self.takes_votes = False, True
        self._turned = threading.Condition()
        threading.Thread(target=self._vote, name="multiduel-simulated-raters", daemon=True).start()

    @property
    def button(self) -> str:
        """What the visitor's button does now: "1" starts the simulated raters, "0" stops them. Empty while no votes are taken."""
        return "" if not self.takes_votes else "0" if self.on else "1"

    def turn(self, on: bool) -> None:
        with self._turned:
            self.on = on
            self._turned.notify()

    def _vote(self) -> None:
        """Each simulated rater sees the options' qualities through a noise of their own."""
        luck, quality = random.Random(5), example.quality()
        raters: list[str] = []
        while True:
            with self._turned:
                self._turned.wait_for(lambda: self.on)
            try:
                if not self._look():
                    self.on = False
                    continue
                if len(raters) < RATERS:
                    raters.append(self.service.do(AdmitRater(self.arena, f"simulated {len(raters) + 1}")))
                rater = luck.choice(raters)
                ticket = self.service.do(Ask(self.arena, rater, secrets.token_hex(8)), actor=f"rater:{rater}")
                if isinstance(ticket, Done):
                    self.on = False
                    continue
                seen = [quality[int(option[1:]) - 1] + luck.gauss(0.0, 1.3) for option in ticket.options]
                order = sorted(range(len(seen)), key=lambda place: -seen[place])
                self.service.do(Vote(ticket.id, {"rank": order}, rater=rater), actor=f"rater:{rater}")
            except Refused:
                pass
            except Unavailable:  # it ends
                return
            threading.Event().wait(PAUSE)

    def _look(self) -> bool:
        """Tell whether the arena takes votes now: not after the verdict, nor while its owner has paused or closed it."""
        with self.service.look(self.arena) as state:
            self.takes_votes = state.status == "open" and (state.settings.go_on or not state.settled())
        return self.takes_votes

    def routes(self) -> list[Route]:
        return [
            Route("/demo", self._enter),
            Route("/demo/raters", self._say),
            Route("/demo/raters", self._switch, methods=["POST"]),
        ]

    async def _enter(self, request: Request) -> Response:
        response = RedirectResponse(f"/vote/{self.arena}", 303)
        remember(request, response, Grant("rater", self.arena, self._you), self._keys["rater"])
        remember(request, response, Grant("owner", self.arena), self._keys["owner"])
        return response

    async def _say(self, request: Request) -> Response:
        """Tell the script of an open page which button to show: simulated raters stop without being told to."""
        await app_context_of(request).quick(self.arena, self._look)
        return JSONResponse({"button": self.button})

    async def _switch(self, request: Request) -> Response:
        check_origin(request)
        fields = await form_of(request)
        if not secrets.compare_digest(fields.get("token", "").encode(), self.token.encode()):
            raise Forbidden("This form is out of date. Load the page again.")
        self.turn(fields.get("on") == "1")
        back = fields.get("back", "")
        return RedirectResponse(back if back.startswith(("/vote/", "/own/")) else "/demo", 303)
