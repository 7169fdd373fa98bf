"""Raters who vote without a pause, each in a thread, with the client that retries; a ledger of all that they were promised."""

from __future__ import annotations

import http.client
import random
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from multiduel.arena import Conflict
from multiduel.arena import client as clients
from multiduel.arena.client import Client


@dataclass(frozen=True)
class Promise:
    """A vote that was acknowledged."""

    rater: str
    ticket: str
    ballot: dict[str, Any]
    event: int
    answered: float  # when, by time.time()


@dataclass
class Ledger:
    """What was acknowledged, and what went wrong in the raters' eyes."""

    votes: list[Promise] = field(default_factory=list)
    undone: dict[str, int] = field(default_factory=dict)  # ticket -> event of the undo
    cut: list[tuple[float, float]] = field(default_factory=list)  # requests that were sent and never answered: from, until
    waiting: dict[int, float] = field(default_factory=dict)  # requests under way: whose, since when
    problems: list[str] = field(default_factory=list)
    resent: int = 0

    def cut_in_flight(self, kills: list[float]) -> int:
        """Requests that were under way when a server was killed."""
        return sum(any(sent <= kill <= failed for kill in kills) for sent, failed in self.cut)


class WatchedClient(Client):
    """Writes down the requests that were sent and got no answer."""

    ledger: Ledger

    def _once(self, *words: Any) -> Any:
        sent = self.ledger.waiting[id(self)] = time.time()
        try:
            return super()._once(*words)
        except ConnectionRefusedError:
            raise  # nobody got it
        except (OSError, http.client.HTTPException):  # the second: an answer that broke off in its middle
            self.ledger.cut.append((sent, time.time()))
            raise
        finally:
            del self.ledger.waiting[id(self)]


class Stream:
    """``raters`` threads that vote until they are told to stop; each call is brought to an end, however often it is retried.

    Where tickets expire meanwhile (``expiring``), the same vote sent again may bring another next ticket.
    """

    def __init__(
        self, owner: Client, raters: int, *, seed: int, patience: float = 120.0, names: str = "rater", expiring: bool = False
    ) -> None:
        clients.MOST_PAUSE = 0.25  # a test need not be polite
        self._expiring = expiring
        self.ledger = Ledger()
        self._stop = threading.Event()
        self._threads = []
        for k in range(raters):
            client = WatchedClient(owner.url, owner.admit(f"{names} {k}").key, patience=patience)
            client.ledger = self.ledger
            self._threads.append(threading.Thread(target=self._rate, args=(client, random.Random(f"{seed} {k}")), daemon=True))

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def wait_for(self, votes: int, seconds: float) -> bool:
        """Until there are so many acknowledged votes in all, or nobody is left to give them."""
        until = time.monotonic() + seconds
        while len(self.ledger.votes) < votes:
            if time.monotonic() > until or not any(thread.is_alive() for thread in self._threads):
                return False
            time.sleep(0.002)
        return True

    def until_one_waits(self, seconds: float = 30.0) -> None:
        """Until a request waits that a server which stands still since now cannot have answered.

        That is one sent later, and a moment ago; or any, once all raters wait and none of them got an answer for a while.
        """
        still_since = now = time.time()
        while now < still_since + seconds:
            waiting = list(self.ledger.waiting.values())
            if any(still_since < sent < now - 0.02 for sent in waiting):
                return
            if len(waiting) == len(self._threads) and now > still_since + 1.0:
                return
            time.sleep(0.002)
            now = time.time()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(300.0)
            if thread.is_alive():
                self.ledger.problems.append("a rater still waits for an answer")

    def _rate(self, client: WatchedClient, rng: random.Random) -> None:
        try:
            ticket = client.ask()
            while not self._stop.is_set() and "ticket" in ticket:
                ticket = self._turn(client, rng, ticket)
            if "ticket" not in ticket:
                self.ledger.problems.append(f"there was nothing to ask: {ticket}")
        except Exception as error:
            self.ledger.problems.append(f"a rater gave up: {error!r}")

    def _turn(self, client: WatchedClient, rng: random.Random, ticket: dict[str, Any]) -> Any:
        ledger = self.ledger
        ballot = some_ballot(rng, ticket["positions"])
        receipt = client.vote(ticket, ballot, next=True)
        ledger.votes.append(Promise(str(client.rater), ticket["ticket"], ballot, receipt["event"], time.time()))
        if rng.random() < 0.15:
            ledger.resent += 1
            again = client.vote(ticket, ballot, next=True)
            if self._told(again) != self._told(receipt):
                ledger.problems.append(f"the same vote again was answered otherwise: {_short(receipt)} and {_short(again)}")
        if rng.random() < 0.05:
            try:
                client.vote(ticket, {"rank": ballot["rank"][::-1]})
                ledger.problems.append("another vote on the same ticket was taken")
            except Conflict:
                pass
        if rng.random() < 0.08:
            return self._undo(client, rng, ticket)
        return receipt["next"]

    def _undo(self, client: WatchedClient, rng: random.Random, ticket: dict[str, Any]) -> Any:
        request = {"request": f"{rng.getrandbits(64):x}"}
        taken_back = client._post(client._at("/undo"), request)
        self.ledger.undone[ticket["ticket"]] = taken_back["event"]
        if rng.random() < 0.5:
            self.ledger.resent += 1
            again = client._post(client._at("/undo"), request)
            if self._told(again) != self._told(taken_back):
                self.ledger.problems.append(
                    f"the same undo again was answered otherwise: {_short(taken_back)} and {_short(again)}"
                )
        return taken_back["next"]

    def _told(self, receipt: dict[str, Any]) -> dict[str, Any]:
        return receipt | {"next": None} if self._expiring else receipt


def some_ballot(rng: random.Random, places: int) -> dict[str, Any]:
    order = list(range(places))
    rng.shuffle(order)
    return {"rank": [[place] for place in order]}


def _short(receipt: dict[str, Any]) -> str:
    return f"event {receipt['event']}, {receipt['counted']}, then {(receipt['next'] or {}).get('ticket')}"
