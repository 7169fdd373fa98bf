"""The state of an arena: a fold over its events. No clock, and no luck but what events hold or seed and numbers give."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import cached_property
from sys import intern
from typing import Any

import numpy as np

from multiduel.arena.domain import events as log
from multiduel.arena.domain.ballots import spoken
from multiduel.arena.domain.chooser import Asked, Choice, Chooser, Epoch, Told, feature_rows
from multiduel.arena.domain.clock import went_back
from multiduel.arena.domain.errors import BrokenLog
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.records import OptionRecord, RaterRecord, TicketRecord, VoteRecord
from multiduel.arena.domain.settings import Settings, recorded_policy
from multiduel.arrays import Floats
from multiduel.inference import Tally, Verdict, Weighed, verdict
from multiduel.inference.verdict import needed
from multiduel.inputs import BadInput

SLACK = 1e-6  # far more than rounding


def case_of(context: int | None) -> str:
    """A context as a unit of evidence; where there are none, all votes are about the same case."""
    return f"c{0 if context is None else context + 1}"


class State:
    """Made by applying events one after the other. ``apply`` trusts them: who appends has checked."""

    def __init__(self, arena: str) -> None:
        self.arena = arena
        self.number, self.hash, self.at = 0, log.START, ""
        self.torn = False  # between two events: after an error there, nothing here can be trusted
        self.schema = log.SCHEMA
        self.name, self.status, self.created = "", "created", ""
        self.settings = Settings()
        self.options: list[OptionRecord] = []
        self.contexts: list[str] = []
        self.raters: dict[str, RaterRecord] = {}
        self.labels: dict[str, str] = {}  # label -> rater
        self.tickets: dict[str, TicketRecord] = {}
        self.asks: dict[str, str] = {}  # tickets by the rater and the request that they were asked for
        self.sheets: dict[str, list[str]] = {}  # printed tickets, by the request
        self.requests: dict[str, Any] = {}  # other requests, and what came of them
        self.lines: dict[str, str] = {}  # line of a file -> the ticket that it voted on
        self.verdict: dict[str, Any] | None = None  # the last event of that kind: its body and number
        self.settled_at = 0  # number of the last event that announced a winner or a cycle
        self.voted_at = ""  # when the last vote came
        self.notified: dict[str, int] = {}  # notice and what it is about -> the event that says so
        self.rounds = 0  # tickets that were chosen
        self.set_aside = 0  # votes that say something and do not count, for now or for good
        self.epoch: Epoch | None = None
        self.stale: list[str] = []  # why the next ticket begins an epoch
        self.steps: list[Asked | Told] = []  # of this epoch, that the chooser has not lived through
        self.chooser: Chooser | None = None
        self._weighed: Weighed | None = None
        self._ahead: Asked | None = None  # chosen, for the event to come
        self.shortlist: dict[str, Any] | None = None  # whose standings left the options of this arena, if it began so
        self.tally = Tally(1)

    # ---- looking

    def decides(self, rater: RaterRecord | None) -> bool:
        """Do this rater's votes count in the result? Votes of nobody in particular are people's."""
        deciders = self.settings.deciders
        return deciders == "all" or deciders == ("judges" if rater is not None and rater.kind == "judge" else "people")

    def by_case(self, rater: RaterRecord | None) -> bool:
        """Is this rater asked about two options once per context? A judge asked again would only repeat itself."""
        return self.settings.unit == "case" or (rater is not None and rater.kind == "judge" and not self.decides(rater))

    def unit_of(self, ticket: TicketRecord) -> str | None:
        """Who, or which case, counts once for each pair."""
        return case_of(ticket.context) if self.settings.unit == "case" else ticket.rater

    @cached_property
    def present(self) -> tuple[int, ...]:
        return tuple(k for k, option in enumerate(self.options) if not option.retired)

    @cached_property
    def retired(self) -> tuple[int, ...]:
        return tuple(k for k, option in enumerate(self.options) if option.retired)

    @property
    def seed(self) -> int:
        return self.settings.seed or 0

    def judge(self) -> Verdict:
        """The verdict of the tally as it is, from evidence that is kept."""
        margin = self.settings.margin
        if self._weighed is None:
            self._weighed = Weighed.of(self.tally.above, self.tally.ties, margin)
        return verdict(
            self.tally,
            alpha=self.settings.alpha,
            margin=margin,
            room=self.settings.room,
            retired=self.retired,
            names=[option.name for option in self.options],
            weighed=self._weighed,
        )

    def may_settle(self, arms: Sequence[int]) -> bool:
        """May an answer about these arms have settled what was open? A quick look that is sure whenever it says no.

        Of a winner's evidence the least has grown, which is in a row of these arms. In a cycle everyone has evidence against
        it: the mean over all others at least what is needed, or, where some have retired, the largest, which is at most the
        sum.
        """
        if self._weighed is None or self.settled():
            return True
        here, K = list(self.present), len(self.options)
        claim = needed(K, self.settings.alpha, self.settings.room, bool(self.retired))
        slack = SLACK + (math.log(max(1, K - 1)) if self.retired else 0.0)
        rows = self._weighed.L[np.ix_(arms, here)] if self.retired else self._weighed.L[list(arms)]
        rows[np.array(arms)[:, None] == (here if self.retired else np.arange(K))] = math.inf
        if rows.min(axis=1).max() >= claim.winner - SLACK:
            return True
        return bool(self._weighed.against[here].min() >= claim.out - slack)

    def weigh_anew(self) -> None:
        """Trust no evidence that was kept."""
        self._weighed = None

    def settled(self) -> bool:
        """By the last verdict in the log."""
        return self.verdict is not None and self.verdict["kind"] in ("winner", "cycle")

    def announced(self, ticket: TicketRecord) -> bool:
        """Was a winner or a cycle announced after the vote on this ticket was given? Then the vote cannot be taken back.

        It is the same for excluded votes and for skips: otherwise a refusal would tell its rater which votes count.
        """
        return ticket.vote is not None and ticket.vote.event < self.settled_at

    def may_undo(self, rater: str) -> bool:
        """Has this rater a vote that can be taken back?"""
        voted = self.raters[rater].voted
        return self.status != "closed" and bool(voted) and not self.announced(self.tickets[voted[-1]])

    def wins(self, arms: Iterable[int]) -> Floats:
        square = np.ix_(list(arms), list(arms))
        table: Floats = self.tally.above[square] + 0.5 * self.tally.ties[square]
        return table

    # ---- choosing

    def needs_epoch(self) -> list[str]:
        """Why a new epoch must begin before the next ticket; empty if none must."""
        if self.epoch is None:
            return self.stale or ["the first"]
        why = list(self.stale)
        if not why and not self.epoch.is_current():
            why = ["another engine"]
        if not why and self.ready().differs is not None:
            why = [f"the slate of event {self.ready().differs} came out otherwise here"]
        return why

    def ready(self) -> Chooser:
        """The chooser of this epoch, up to date."""
        assert self.epoch is not None
        if self.chooser is None:
            self.chooser = Chooser(self.epoch, self.settings)
        if self.steps:
            torn, self.torn = self.torn, True
            self.chooser.follow(self.steps)
            self.steps.clear()
            self.torn = torn
        return self.chooser

    def choose(self) -> Choice:
        """The slate of the next event, which must then be a ticket that records it."""
        chooser = self.ready()
        self.torn = True  # until the event to come
        asked = Asked(self.number + 1, chooser.ask(self.number + 1))
        self._ahead = asked
        return asked.choice

    # ---- the fold

    def apply(self, event: Event) -> None:
        log.check(event, self.number + 1, self.hash)
        if (self.number == 0) != (event.kind == "created"):
            raise BrokenLog(event.number, "a log begins with 'created', once")
        if self.schema != log.SCHEMA:
            event = log.upgrade(event, self.schema)
        if event.at == self.at:
            event = event._replace(at=self.at)  # one text for many: a vote and the ticket after it
        self.torn = True
        try:
            if went_back(event.body):
                self._shorten_tickets(event.at)
            getattr(self, f"_on_{event.kind}")(event, event.body)
        except BrokenLog:
            raise
        except BadInput as error:  # such as a policy that is not installed here
            raise BrokenLog(event.number, f"a '{event.kind}' that cannot be used here: {str(error).rstrip('.')}") from error
        except Exception as error:
            raise BrokenLog(event.number, f"a '{event.kind}' that does not fit the log before it ({error!r})") from error
        self.number, self.hash, self.at = event.number, event.hash, event.at
        self.torn = False

    def _shorten_tickets(self, at: str) -> None:
        """The clock went back: tickets that it dated in what is the future now expire as if they were issued now."""
        latest = log.moment(log.time_of(at) + timedelta(seconds=self.settings.expires))
        for ticket in (self.tickets[one] for rater in self.raters.values() for one in rater.open):
            if ticket.expires is not None and ticket.expires > latest:
                ticket.expires = latest

    def _on_created(self, event: Event, body: dict[str, Any]) -> None:
        self.schema = body["schema"]
        if self.schema != log.SCHEMA:
            body = log.upgrade(event, self.schema).body
        self.name, self.created = body["name"], event.at
        self.settings = Settings.from_json(body["settings"], recorded=True)
        self.contexts = list(body["contexts"])
        self.shortlist = body.get("shortlist")
        self._add_options(body["options"])

    def _add_options(self, options: list[dict[str, Any]]) -> None:
        first = not self.options
        self.options += [
            OptionRecord(option["id"], option["name"], option["contents"], features=option.get("features")) for option in options
        ]
        if first:
            self.tally = Tally(len(self.options), unit=self.settings.unit)
        else:
            self.tally.grow(len(self.options))
        self._options_changed()

    def _options_changed(self) -> None:
        self._weighed = None
        for name in ("present", "retired", "_place"):
            self.__dict__.pop(name, None)

    def _on_option_added(self, event: Event, body: dict[str, Any]) -> None:
        self._add_options(body["options"])
        self._remember(body, "add", [option["id"] for option in body["options"]])
        self._note("options added")

    def _on_option_retired(self, event: Event, body: dict[str, Any]) -> None:
        self.options[self.index(body["option"])].retired = True
        self._options_changed()
        self._note("option retired")

    def _on_opened(self, event: Event, body: dict[str, Any]) -> None:
        self.status = "open"

    def _on_paused(self, event: Event, body: dict[str, Any]) -> None:
        self.status = "paused"

    def _on_closed(self, event: Event, body: dict[str, Any]) -> None:
        self.status = "closed"

    def _on_rater_admitted(self, event: Event, body: dict[str, Any]) -> None:
        kind = body.get("kind", "person")
        rater = RaterRecord(body["rater"], body["label"], body.get("stratum"), body.get("limit"), kind)
        self.raters[rater.id] = rater
        self.labels[rater.label] = rater.id
        self._remember(body, "admit", rater.id)

    def _on_policy_changed(self, event: Event, body: dict[str, Any]) -> None:
        self._set(policy=body["policy"], parameters=body["parameters"])
        self._note("policy changed")

    def _on_margin_changed(self, event: Event, body: dict[str, Any]) -> None:
        self._set(margin=body["margin"])
        self._weighed = None

    def _set(self, **words: Any) -> None:
        self.settings = Settings.from_json(self.settings.to_json() | words, recorded=True)

    def _on_epoch(self, event: Event, body: dict[str, Any]) -> None:
        options = tuple(self.index(option) for option in body["options"])
        self.epoch = Epoch(
            event.number,
            tuple(body["why"]),
            body["policy"],
            recorded_policy(body["policy"], body["parameters"]),
            options,
            body["fingerprint"],
            body["rounds"],
            bool(self.retired),
            self.wins(options),
            feature_rows([self.options[option].features for option in options]),
        )
        self.stale.clear()
        self.steps.clear()
        self.chooser = None

    def _on_ticket(self, event: Event, body: dict[str, Any]) -> None:
        shown = tuple(self.index(option) for option in body["shown"])
        context = None if body["context"] is None else int(body["context"][1:]) - 1
        rater = self.raters[body["rater"]] if body["rater"] is not None else None
        ticket = TicketRecord(
            body["id"],
            event.number,
            rater.id if rater else None,
            context,
            body["stratum"],
            shown,
            intern(body["by"]),
            event.at,
            body["expires"],
            body.get("request"),
            "place" in body,
        )
        self.tickets[ticket.id] = ticket
        self.remember_ask(ticket)
        if rater is not None:
            rater.open = [one for one in rater.open if not self._expired(one, event.at)]
            rater.open.append(ticket.id)
            if context is not None:
                rater.contexts[context] = rater.contexts.get(context, 0) + 1
            self.remember_seen(rater, ticket)
        if "chosen" in body:
            self.rounds += 1
            chosen = tuple(self.index(option) for option in body["chosen"]["options"])
            asked = Asked(event.number, Choice(chosen, intern(body["chosen"]["by"])))
            if self._ahead != asked:  # it was chosen elsewhere
                self.steps.append(asked)
            self._ahead = None

    def remember_seen(self, rater: RaterRecord, ticket: TicketRecord) -> None:
        if self.by_case(rater):
            where = 0 if ticket.context is None else ticket.context
            rater.seen.update((i, j, where) for i in ticket.shown for j in ticket.shown if i < j)

    def remember_ask(self, ticket: TicketRecord) -> None:
        if ticket.printed:
            self.sheets.setdefault(ticket.request or "", []).append(ticket.id)
        elif ticket.request is not None:
            self.asks[f"{ticket.rater}:{ticket.request}"] = ticket.id

    def _expired(self, ticket: str, at: str) -> bool:
        expires = self.tickets[ticket].expires
        return expires is not None and expires <= at

    def _on_vote(self, event: Event, body: dict[str, Any]) -> None:
        rater_id = body.get("rater")
        if body.get("ticket") is None:  # shown elsewhere
            shown = tuple(self.index(option) for option in body["shown"])
            context = None if body["context"] is None else int(body["context"][1:]) - 1
            key = f"line:{body['line']}"
            ticket = TicketRecord(key, event.number, rater_id, context, body["stratum"], shown, "import", event.at, None)
            self.tickets[key] = ticket
        else:
            ticket = self.tickets[body["ticket"]]
            if rater_id is not None:
                ticket.rater = rater_id
        said, counted = intern(log.canonical(body["ballot"])), intern(body["counted"])  # there are few, and many votes
        vote = VoteRecord(event.number, event.at, said, counted, body["late"], body.get("aside", ""))
        ticket.vote = vote
        self.voted_at = event.at
        if body.get("line") is not None:
            self.lines[body["line"]] = ticket.id
        rater = self.raters[ticket.rater] if ticket.rater is not None else None
        if rater is not None:
            if ticket.id in rater.open:
                rater.open.remove(ticket.id)
            rater.voted.append(ticket.id)
            rater.votes += vote.says
        if not vote.says or not self.decides(rater):
            return
        if vote.aside or (rater is not None and rater.quarantined):
            self.set_aside += 1
        else:
            self._count(ticket, vote)

    def _count(self, ticket: TicketRecord, vote: VoteRecord) -> None:
        """One answer more, in the tally and for the policy."""
        told = wins = spoken(vote.ballot, len(ticket.shown))
        unit = self.unit_of(ticket)
        if self.settings.unit != "answer":
            told = wins.copy()
            rater = self.raters[ticket.rater or ""] if self.settings.unit == "rater" else None
            for a, i in enumerate(ticket.shown):
                for b in range(a + 1, len(ticket.shown)):
                    if wins[a, b] + wins[b, a] > 0.0:
                        if self.tally.has_judged(unit, i, ticket.shown[b]):
                            told[a, b] = told[b, a] = 0.0
                        elif rater is not None:
                            rater.pairs += 1
        vote.answer = self.tally.add(ticket.shown, wins, unit).number
        self._weigh(ticket.shown)
        if self.epoch is not None and not self.stale:
            self.steps.append(Told(ticket.shown, told))

    def _uncount(self, ticket: TicketRecord, vote: VoteRecord) -> None:
        assert vote.answer is not None
        wins = spoken(vote.ballot, len(ticket.shown))
        self.tally.undo(self.tally.held(vote.answer, ticket.shown, wins, self.unit_of(ticket)))
        vote.answer = None
        self._weigh(ticket.shown)
        if self.settings.unit == "rater":
            rater = self.raters[ticket.rater or ""]
            for a, i in enumerate(ticket.shown):
                for b in range(a + 1, len(ticket.shown)):
                    if wins[a, b] + wins[b, a] > 0.0 and not self.tally.has_judged(rater.id, i, ticket.shown[b]):
                        rater.pairs -= 1

    def recall_answers(self) -> None:
        """Tell a tally that knows counts only what its answers said: older snapshots do not hold it."""
        counted = [(ticket.vote.answer, ticket) for ticket in self.tickets.values() if ticket.vote and ticket.vote.answer]
        self.tally.recall(
            self.tally.held(number, ticket.shown, spoken(ticket.vote.ballot, len(ticket.shown)), self.unit_of(ticket))
            for number, ticket in sorted(counted, key=lambda one: one[0])
            if ticket.vote is not None
        )

    def _weigh(self, arms: tuple[int, ...]) -> None:
        if self._weighed is not None:
            self._weighed.update(self.tally.above, self.tally.ties, arms, self.settings.margin)

    def _on_undo(self, event: Event, body: dict[str, Any]) -> None:
        rater = self.raters[body["rater"]]
        ticket = self.tickets[body["ticket"]]
        vote = ticket.vote
        if vote is None or vote.undone:
            raise BrokenLog(event.number, "it undoes a vote that does not stand")
        vote.undone = True
        if rater.voted.pop() != ticket.id:
            raise BrokenLog(event.number, "it undoes a vote that is not the rater's last")
        rater.votes -= vote.says
        if vote.answer is not None:
            self._uncount(ticket, vote)
            self._note("undo")
        elif vote.says and self.decides(rater):
            self.set_aside -= 1
        self.requests[f"undo:{rater.id}:{body['request']}"] = [event.number, body["again"]]

    def _on_quarantined(self, event: Event, body: dict[str, Any]) -> None:
        rater = self.raters[body["rater"]]
        rater.quarantined, rater.reason = True, body["reason"]
        for ticket in map(self.tickets.__getitem__, rater.voted):
            if ticket.vote is not None and ticket.vote.answer is not None:
                self._uncount(ticket, ticket.vote)
                self.set_aside += 1
                self._note("quarantine")

    def _on_released(self, event: Event, body: dict[str, Any]) -> None:
        rater = self.raters[body["rater"]]
        rater.quarantined, rater.reason = False, ""
        for ticket in map(self.tickets.__getitem__, rater.voted):
            vote = ticket.vote
            if vote is not None and vote.says and vote.answer is None and not vote.aside and self.decides(rater):
                self._note("release")  # first, so that the policy is not told of old votes as if they were new
                self._count(ticket, vote)
                self.set_aside -= 1

    def _note(self, why: str) -> None:
        if why not in self.stale:
            self.stale.append(why)

    def _on_verdict(self, event: Event, body: dict[str, Any]) -> None:
        self.verdict = body | {"number": event.number, "at": event.at}
        if self.settled():
            self.settled_at = event.number

    def _on_notified(self, event: Event, body: dict[str, Any]) -> None:
        self.notified[f"{body['notice']} {body['about']}"] = event.number

    def _remember(self, body: dict[str, Any], what: str, came: Any) -> None:
        if body.get("request") is not None:
            self.requests[f"{what}:{body['request']}"] = came

    def index(self, option: str) -> int:
        """An option's place from its id."""
        return self._place[option]

    @cached_property
    def _place(self) -> dict[str, int]:
        return {option.id: k for k, option in enumerate(self.options)}
