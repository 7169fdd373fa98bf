"""The state of an arena: a fold over its events. No clock, and no luck but what events hold or seed and numbers give."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import cached_property
from sys import intern
from typing import Any

import numpy as np

from multiduel.arena.domain import events as log
from multiduel.arena.domain.ballots import judged_pairs, spoken
from multiduel.arena.domain.chooser import Asked, Choice, Chooser, Epoch, Told, feature_rows
from multiduel.arena.domain.clock import went_back
from multiduel.arena.domain.errors import BrokenLog, Unavailable
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.pace import Pace
from multiduel.arena.domain.past import LINE, Past, ask_key, line_key, sheet_key, undo_key
from multiduel.arena.domain.records import OptionRecord, Printing, RaterRecord, TicketRecord, VoteRecord
from multiduel.arena.domain.settings import Settings, recorded_policy
from multiduel.arena.domain.ticket_store import Tickets, vote_record
from multiduel.arrays import Floats
from multiduel.inference import RunningTally, Verdict, Weighed, verdict
from multiduel.inference.verdict import needed
from multiduel.inputs import BadInput

SLACK = 1e-6  # far more than rounding
LATEST = 32  # votes of a rater that are known without a look into the log
LATEST_WAITS = 100  # votes whose time is known
MOST_STEPS = 200_000  # that the chooser may be behind, while a log is folded
GROUPS = {"people": ("person",), "judges": ("judge",), "all": ("person", "judge")}  # whose votes are counted apart


def case_of(context: int | None) -> str:
    """A context as a unit of evidence; where there are none, all votes are about the same case."""
    return f"c{0 if context is None else context + 1}"


class State:
    """Made by applying events one after the other. ``apply`` trusts them: who appends has checked.

    Its size grows with options, raters and open tickets. What it does not hold it finds in ``past``, the log that is folded, and
    so it stays a function of the events; without ``past`` it holds everything.
    """

    def __init__(self, arena: str, past: Past | None = None) -> None:
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
        self._place: dict[str, int] = {}  # of options, by their ids; it is changed and never replaced
        self.tickets = Tickets(past, self._place.__getitem__, lambda: self.number)
        self.issued = 0  # tickets, and votes on none
        self.printings: dict[str, Printing] = {}  # by the request
        self.requests: dict[str, Any] = {}  # requests of owners, and what came of them
        self._fresh: dict[str, Any] = {}  # what came of requests and lines whose events may not be stored yet, by their keys
        self.groups: dict[str, int] = {}  # groups in which votes were given, with the event of the first
        self.pace = Pace()  # of the votes that count
        self.waits: list[float] = []  # seconds from ticket to vote, of the latest votes
        self.verdict: dict[str, Any] | None = None  # the last event of that kind: its body and number
        self.settled_at = 0  # number of the last event that announced a winner or a cycle
        self.quiet_from = ""  # when the last vote came, or the arena was opened after it
        self.notified: dict[str, int] = {}  # notice and what it is about -> the event that says so
        self.rounds = 0  # tickets that were chosen
        self.set_aside = 0  # votes that say something and do not count, for now or for good
        self.epoch: Epoch | None = None
        self.stale: list[str] = []  # why the next ticket begins an epoch
        self.steps: list[Asked | Told] = []  # of this epoch, that the chooser has not lived through
        self._behind = False  # some of them were let go: they are of another engine
        self.chooser: Chooser | None = None
        self._weighed: Weighed | None = None
        self._ahead: Asked | None = None  # chosen, for the event to come
        self.shortlist: dict[str, Any] | None = None  # whose standings left the options of this arena, if it began so
        self.tally = RunningTally(1)
        self.kinds: dict[str, RunningTally] = {}  # of people, judges and all, but those who decide; empty without judges

    # ---- looking

    @property
    def past(self) -> Past | None:
        return self.tickets.past

    def trim(self) -> None:
        """Let go of closed tickets. All events so far must be stored."""
        self.tickets.trim()
        if self.past is not None:
            self._fresh.clear()
            self.past.forget()

    def counts(self, ticket: TicketRecord) -> bool:
        """Does the vote on this ticket count in the result?"""
        rater = self.raters[ticket.rater] if ticket.rater is not None else None
        return self._stands(ticket, rater) and self.decides(rater)

    def _stands(self, ticket: TicketRecord, rater: RaterRecord | None) -> bool:
        """Does it count in the result, or would it if votes like this decided?"""
        vote = ticket.vote
        excluded = rater is not None and rater.quarantined
        return vote is not None and vote.says and not vote.undone and not vote.aside and not excluded

    def asked(self, rater: str, request: str) -> str | None:
        """The ticket that this rater was given for a request."""
        found: str | None = self._known(ask_key(rater, request), lambda event: event.body["id"])
        return found

    def undone(self, rater: str, request: str) -> tuple[int, str] | None:
        """The event of this rater's undo under a request, and the ticket that was given again."""
        found: tuple[int, str] | None = self._known(undo_key(rater, request), lambda event: (event.number, event.body["again"]))
        return found

    def line(self, line: str) -> str | None:
        """The ticket that a line of a file voted on."""
        found: str | None = self._known(line_key(line), lambda event: event.body["ticket"] or f"{LINE}{line}")
        return found

    def _known(self, key: str, made: Callable[[Event], Any]) -> Any:
        if key in self._fresh or self.past is None:
            return self._fresh.get(key)
        wanted = {"a": "ticket", "u": "undo", "l": "vote"}[key[0]]
        return next((made(event) for event in self.past.about(key, self.number) if event.kind == wanted), None)

    def sheets(self, request: str) -> list[str]:
        """The tickets that were printed under a request."""
        fresh: list[str] = self._fresh.get(sheet_key(request), [])
        if fresh or self.past is None or request not in self.printings:
            return fresh
        return [event.body["id"] for event in self.past.about(sheet_key(request), self.number)]

    def decides(self, rater: RaterRecord | None) -> bool:
        """Do this rater's votes count in the result? Votes without a rater count as people's."""
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

    def announced(self, vote: int) -> bool:
        """Was a winner or a cycle announced after this event, a vote? Then the vote cannot be taken back.

        It is the same for excluded votes and for skips: otherwise a refusal would tell its rater which votes count.
        """
        return vote < self.settled_at

    def may_undo(self, rater: str) -> bool:
        """Has this rater a vote that can be taken back?"""
        last = self.raters[rater].last
        return self.status != "closed" and bool(last) and not self.announced(last[-1][1])

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
        if not why and (self._behind or not self.epoch.is_current()):
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

    def catch_up(self) -> None:
        """Let the chooser live through what happened, while a long log is folded, so that steps do not pile up."""
        if len(self.steps) >= MOST_STEPS and self.epoch is not None and not self.stale:
            if self.epoch.is_current() and not self._behind:
                self.ready()
            else:
                self._behind = True
                self.steps.clear()

    def choose(self) -> Choice:
        """The slate of the next event, which must then be a ticket that records it."""
        chooser = self.ready()
        self.torn = True  # until the event to come
        asked = Asked(self.number + 1, chooser.ask(self.number + 1))
        self._ahead = asked
        return asked.choice

    # ---- the fold

    def apply(self, event: Event, *, checked: bool = False) -> None:
        """Fold the next event. ``checked``: its number and hash are known to follow."""
        if not checked:
            log.check(event, self.number + 1, self.hash)
        if (self.number == 0) != (event.kind == "created"):
            raise BrokenLog(event.number, "a log begins with 'created', once")
        if self.schema != log.SCHEMA:
            event = log.upgrade(event, self.schema)
        self.torn = True
        try:
            if went_back(event.body):
                self._shorten_tickets(event.at)
            getattr(self, f"_on_{event.kind}")(event, event.body)
        except (BrokenLog, Unavailable):  # the latter from a look into the log: nothing is wrong with the event
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
        for ticket in (self.tickets.memory[one] for rater in self.raters.values() for one in rater.open):
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
            self.tally = RunningTally(len(self.options), unit=self.settings.unit)
        else:
            for tally in (self.tally, *self.kinds.values()):
                tally.grow(len(self.options))
        self._options_changed()

    def set_options(self, options: list[OptionRecord]) -> None:
        """Have these options, instead of those before."""
        self.options = options
        self._options_changed()

    def _options_changed(self) -> None:
        self._weighed = None
        self._place.update((option.id, k) for k, option in enumerate(self.options))
        for name in ("present", "retired"):
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
        self.quiet_from = event.at

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
        if kind == "judge" and not self.kinds:
            self._count_kinds_apart()

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
        self._behind = False
        self.chooser = None

    def _on_ticket(self, event: Event, body: dict[str, Any]) -> None:
        ticket = self.tickets.issued(event)
        self.tickets.hold(ticket)
        self.issued += 1
        self._remember_ask(ticket)
        if ticket.rater is not None:
            rater = self.raters[ticket.rater]
            self._let_expire(rater, event.at)
            rater.open.append(ticket.id)
            if ticket.context is not None:
                rater.contexts[ticket.context] = rater.contexts.get(ticket.context, 0) + 1
            self._remember_seen(rater, ticket)
        if "chosen" in body:
            self.rounds += 1
            chosen = tuple(map(self._place.__getitem__, body["chosen"]["options"]))
            asked = Asked(event.number, Choice(chosen, intern(body["chosen"]["by"])))
            if self._ahead != asked:  # it was chosen elsewhere
                self.steps.append(asked)
            self._ahead = None

    def _remember_seen(self, rater: RaterRecord, ticket: TicketRecord) -> None:
        if self.by_case(rater):
            where = 0 if ticket.context is None else ticket.context
            rater.seen.update((i, j, where) for i in ticket.shown for j in ticket.shown if i < j)

    def _remember_ask(self, ticket: TicketRecord) -> None:
        if ticket.printed:
            request = ticket.request or ""
            self.printings.setdefault(request, Printing(ticket.issued, ticket.group)).sheets += 1
            self._fresh.setdefault(sheet_key(request), []).append(ticket.id)
        elif ticket.request is not None:
            self._fresh[ask_key(ticket.rater, ticket.request)] = ticket.id

    def _let_expire(self, rater: RaterRecord, at: str) -> None:
        for id in list(rater.open):
            ticket = self.tickets.memory[id]
            if ticket.expires is not None and ticket.expires <= at:
                rater.open.remove(id)
                ticket.lapsed = True  # a vote on it may still come
                self.tickets.close(ticket)

    def _on_vote(self, event: Event, body: dict[str, Any]) -> None:
        if body.get("ticket") is None:
            ticket = self.tickets.shown_elsewhere(event)
            self.issued += 1
        else:
            ticket = self.tickets[body["ticket"]]
            ticket.rater = body.get("rater") or ticket.rater
        ticket.vote = vote = vote_record(event)
        self.tickets.close(ticket)
        self.quiet_from = event.at
        if ticket.expires is not None and not vote.late and ticket.issued <= vote.at:
            self.waits.append((log.time_of(vote.at) - log.time_of(ticket.issued)).total_seconds())
            if len(self.waits) > LATEST_WAITS:
                del self.waits[:-LATEST_WAITS]
        if body.get("line") is not None:
            self._fresh[line_key(body["line"])] = ticket.id
        if ticket.printed:
            self.printings[ticket.request or ""].voted += 1
        if ticket.group is not None:
            self.groups.setdefault(ticket.group, event.number)
        rater = self.raters[ticket.rater] if ticket.rater is not None else None
        if rater is not None:
            if ticket.id in rater.open:
                rater.open.remove(ticket.id)
            rater.given += 1
            rater.last.append((ticket.id, event.number))
            if len(rater.last) > LATEST:
                del rater.last[:-LATEST]
            rater.votes += vote.says
        stands = self._stands(ticket, rater)
        if stands and self.kinds:
            self._count_kinds(ticket, vote, rater, 1)
        if vote.says and self.decides(rater):
            if stands:
                self._count(ticket, vote)
            else:
                self.set_aside += 1

    def _count(self, ticket: TicketRecord, vote: VoteRecord) -> None:
        """One answer more, in the tally and for the policy."""
        told = spoken(vote.ballot, len(ticket.shown))
        pairs, unit = judged_pairs(vote.ballot, len(ticket.shown)), self.unit_of(ticket)
        if unit is not None and self.settings.unit != "answer":
            told = told.copy()
            rater = self.raters[ticket.rater or ""] if self.settings.unit == "rater" else None
            for a, b, _ in pairs:
                if self.tally.has_judged(unit, ticket.shown[a], ticket.shown[b]):
                    told[a, b] = told[b, a] = 0.0
                elif rater is not None:
                    rater.pairs += 1
        self.tally.add(vote.event, ticket.shown, pairs, unit)
        self.pace.count(vote.at, 1)
        self._weigh(ticket.shown)
        if self.epoch is not None and not self.stale:
            self.steps.append(Told(ticket.shown, told))

    def _uncount(self, ticket: TicketRecord, vote: VoteRecord) -> None:
        pairs = judged_pairs(vote.ballot, len(ticket.shown))
        self.tally.undo(vote.event, ticket.shown, pairs, self.unit_of(ticket))
        self.pace.count(vote.at, -1)
        self._weigh(ticket.shown)
        if self.settings.unit == "rater":
            rater = self.raters[ticket.rater or ""]
            for a, b, _ in pairs:
                if not self.tally.has_judged(rater.id, ticket.shown[a], ticket.shown[b]):
                    rater.pairs -= 1

    def _count_kinds_apart(self) -> None:
        """From the first judge on, people and judges are counted apart from the result, and together."""
        for name in GROUPS:
            if name != self.settings.deciders:
                # Asking a judge again about the same question is no evidence: apart from people, a judge's questions count once.
                self.kinds[name] = RunningTally(len(self.options), unit="case" if name == "judges" else self.settings.unit)
        for ticket in self.tickets.values():
            rater = self.raters[ticket.rater] if ticket.rater is not None else None
            if ticket.vote is not None and self._stands(ticket, rater):
                self._count_kinds(ticket, ticket.vote, rater, 1)

    def _count_kinds(self, ticket: TicketRecord, vote: VoteRecord, rater: RaterRecord | None, sign: int) -> None:
        for name, tally in self.kinds.items():
            if (rater.kind if rater is not None else "person") in GROUPS[name]:
                whom = case_of(ticket.context) if tally.unit == "case" else ticket.rater
                change = tally.add if sign > 0 else tally.undo
                change(vote.event, ticket.shown, judged_pairs(vote.ballot, len(ticket.shown)), whom)

    def _weigh(self, arms: tuple[int, ...]) -> None:
        if self._weighed is not None:
            self._weighed.update(self.tally.above, self.tally.ties, arms, self.settings.margin)

    def _on_undo(self, event: Event, body: dict[str, Any]) -> None:
        rater = self.raters[body["rater"]]
        ticket = self.tickets[body["ticket"]]
        vote = ticket.vote
        if vote is None or vote.undone:
            raise BrokenLog(event.number, "it undoes a vote that does not stand")
        if not rater.last or rater.last[-1][0] != ticket.id:
            raise BrokenLog(event.number, "it undoes a vote that is not the rater's last")
        stood, counted = self._stands(ticket, rater), self.counts(ticket)
        vote.undone = True
        self.tickets.close(ticket)
        rater.given -= 1
        rater.last.pop()
        rater.votes -= vote.says
        if not rater.last and rater.given:  # somebody goes back far
            before = [one for one in self.tickets.of_rater(rater.id) if one.id != ticket.id]
            rater.last = [(one.id, one.vote.event) for one in before[-LATEST:] if one.vote is not None]
        if stood:
            self._count_kinds(ticket, vote, rater, -1)
        if counted:
            self._uncount(ticket, vote)
            self._note("undo")
        elif vote.says and self.decides(rater):
            self.set_aside -= 1
        self._fresh[undo_key(rater.id, body["request"])] = (event.number, body["again"])

    def _on_quarantined(self, event: Event, body: dict[str, Any]) -> None:
        rater = self.raters[body["rater"]]
        for ticket in self.tickets.of_rater(rater.id):
            if ticket.vote is not None and self._stands(ticket, rater):
                self._count_kinds(ticket, ticket.vote, rater, -1)
                if self.decides(rater):
                    self._uncount(ticket, ticket.vote)
                    self.set_aside += 1
                    self._note("quarantine")
        rater.quarantined, rater.reason = True, body["reason"]

    def _on_released(self, event: Event, body: dict[str, Any]) -> None:
        rater = self.raters[body["rater"]]
        rater.quarantined, rater.reason = False, ""
        for ticket in self.tickets.of_rater(rater.id):
            if ticket.vote is not None and self._stands(ticket, rater):
                self._count_kinds(ticket, ticket.vote, rater, 1)
                if self.decides(rater):
                    self._note("release")  # first, so that the policy is not told of old votes as if they were new
                    self._count(ticket, ticket.vote)
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
