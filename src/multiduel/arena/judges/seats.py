"""How a judge reaches an arena: in its file, by the service, or through the API of a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from multiduel.arena.client import Client
from multiduel.arena.domain import commands as c
from multiduel.arena.domain.options import Content, make_content
from multiduel.arena.service.kinds import exact_words
from multiduel.arena.service.service import Service
from multiduel.inputs import BadInput, shortened


@dataclass(frozen=True)
class Shown:
    """What a judge is shown."""

    ticket: str
    task: str
    case: str | None
    contents: tuple[Content, ...]


class Look(NamedTuple):
    """How things stand."""

    settled: bool
    exact: bool  # what holds for exactly these questions is known, and nothing is left to ask about it
    answers: int
    still_in: int


class Seat(Protocol):
    """A judge's place in an arena."""

    arena: str
    rater: str

    def ask(self, request: str) -> Shown | c.Done:
        """The next ticket. The same request again brings the same ticket."""

    def vote(self, ticket: str, ballot: dict[str, Any]) -> None:
        """Vote on a ticket, once."""

    def look(self) -> Look | None:
        """How things stand, or None if that cannot be seen from here."""

    def forecast(self) -> str:
        """How many more votes are needed, in words; empty if that cannot be seen from here."""


class LocalSeat:
    """A place in an arena in a file."""

    def __init__(self, service: Service, arena: str, label: str) -> None:
        self.service, self.arena = service, arena
        with service.look(arena) as state:
            known = state.raters.get(state.labels.get(label, ""))
            if known is not None and known.kind != "judge":
                raise BadInput(f"There is a person {shortened(label)} among the raters. Give the judge another name.")
            self._cases = {f"c{k}": text for k, text in enumerate(state.contexts, 1)}
            self._task = state.settings.question
        self.rater = known.id if known is not None else service.do(c.AdmitRater(arena, label, kind="judge"))

    def ask(self, request: str) -> Shown | c.Done:
        ticket = self.service.do(c.Ask(self.arena, self.rater, request))
        if isinstance(ticket, c.Done):
            return ticket
        contents = tuple(self.service.content(ticket.id, k) for k in range(len(ticket.options)))
        case = None if ticket.context is None else self._cases[ticket.context]
        return Shown(ticket.id, self._task, case, contents)

    def vote(self, ticket: str, ballot: dict[str, Any]) -> None:
        self.service.do(c.Vote(ticket, ballot, rater=self.rater))

    def look(self) -> Look:
        with self.service.look(self.arena) as state:
            verdict = state.judge()
            mine = state.decides(state.raters[self.rater])
            exact = mine and not state.settled() and bool(words := exact_words(state, verdict)) and "left" not in words
            return Look(mine and state.settled(), exact, state.raters[self.rater].votes, len(verdict.still_in))

    def forecast(self) -> str:
        return self.service.board(self.arena).forecast


class RemoteSeat:
    """A place in an arena of a server, with the key of its owner, who admits the judge, or of a rater who is one."""

    def __init__(self, client: Client, label: str) -> None:
        if client.rater is not None:
            self._client = client
        else:
            known = [one for one in client.raters() if one["label"] == label]
            if known and known[0]["kind"] != "judge":
                raise BadInput(f"There is a person {shortened(label)} among the raters. Give the judge another name.")
            self._client = client.new_rater_key(known[0]["rater"]) if known else client.admit(label, kind="judge")
        if self._client.arena is None or self._client.rater is None:
            raise BadInput("The key must be of an arena's owner, or of a rater that is a judge.")
        self.arena, self.rater = self._client.arena, self._client.rater

    def ask(self, request: str) -> Shown | c.Done:
        ticket = self._client.ask(request=request)
        if "ticket" not in ticket:
            return c.Done(ticket["done"], ticket["sentence"])
        contents = tuple(make_content(said["kind"], self._client.content(ticket, k)) for k, said in enumerate(ticket["contents"]))
        return Shown(ticket["ticket"], ticket["question"], ticket["context"], contents)

    def vote(self, ticket: str, ballot: dict[str, Any]) -> None:
        self._client.vote(ticket, ballot)

    def look(self) -> None:
        return None

    def forecast(self) -> str:
        return ""
