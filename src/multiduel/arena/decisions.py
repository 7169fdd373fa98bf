"""Commands decided: what a command means for the state as it is, as events. Whoever calls holds the arena's lock."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from multiduel.arena import commands as c
from multiduel.arena import events as log
from multiduel.arena.ballots import normal
from multiduel.arena.epochs import fingerprint, shuffled
from multiduel.arena.errors import Conflict, Forbidden, NotFound
from multiduel.arena.events import Event
from multiduel.arena.options import check_options, option_name
from multiduel.arena.records import RaterRecord, TicketRecord
from multiduel.arena.settings import check_margin, check_policy
from multiduel.arena.state import State
from multiduel.arena.statements import verdict_body
from multiduel.inputs import BadInput, shortened, text, whole

MOST_PRINTED = 10_000
MOST_LABEL = 200
WHY = {
    "created": "This arena is not open yet.",
    "paused": "This arena is paused. Please come back later.",
    "closed": "This arena is closed. Thank you.",
    "settled": "It is settled: no more votes are needed. Thank you.",
    "limit": "You have given as many votes as one person may. Thank you.",
    "judged": "You have judged all there is to compare. Thank you.",
    "one_option": "There is only one option left: nothing to compare.",
}


class Decider:
    """One group of commands on one arena. Events are applied to the state at once, and collected to be appended.

    A command checks everything before its first event, so that one that is refused leaves nothing behind.
    """

    def __init__(self, state: State, put_content: Callable[[str, bytes], None]) -> None:
        self.state, self.put_content = state, put_content
        self.events: list[Event] = []
        self.at = state.at

    def decide(self, command: Any, now: datetime) -> Any:
        self.at = max(log.moment(now), self.state.at)
        return _HANDLERS[type(command)](self, command)

    def emit(self, kind: str, body: dict[str, Any]) -> int:
        event = log.sealed(self.state.number + 1, self.state.hash, kind, self.at, body)
        self.state.apply(event)
        self.events.append(event)
        return event.number

    # ---- the arena itself

    def create(self, command: c.Create) -> c.ArenaInfo:
        name = option_name(command.name, "An arena")
        check_options(command.options, command.contexts)
        settings = command.settings
        if settings.room is not None and settings.room < len(command.options):
            raise BadInput(f"'room' must be at least the number of options, {len(command.options)}. Got {settings.room}.")
        seed = secrets.randbits(64) if settings.seed is None else settings.seed
        body = {
            "schema": log.SCHEMA,
            "arena": self.state.arena,
            "name": name,
            "settings": settings.to_json() | {"seed": seed},
            "options": self._options(command.options),
            "contexts": list(command.contexts),
        }
        self.emit("created", body)
        return info(self.state)

    def _options(self, options: Any) -> list[dict[str, Any]]:
        first = len(self.state.options) + 1
        for option in options:
            for content in option.contents:
                self.put_content(content.sha256, content.data)
        return [
            {"id": f"o{k}", "name": option.name.strip(), "contents": [content.describe() for content in option.contents]}
            for k, option in enumerate(options, first)
        ]

    def open(self, command: c.Open) -> c.ArenaInfo:
        return self._turn("open", "opened")

    def pause(self, command: c.Pause) -> c.ArenaInfo:
        if self.state.status == "created":
            raise Conflict("An arena that is not open yet cannot be paused.")
        return self._turn("paused", "paused")

    def close(self, command: c.Close) -> c.ArenaInfo:
        return self._turn("closed", "closed")

    def _turn(self, status: str, kind: str) -> c.ArenaInfo:
        if self.state.status != status:
            self._not_closed()
            self.emit(kind, {})
        return info(self.state)

    def _not_closed(self) -> None:
        if self.state.status == "closed":
            raise Conflict("This arena is closed, and stays so.")

    def add_options(self, command: c.AddOptions) -> c.ArenaInfo:
        state, room = self.state, self.state.settings.room
        if command.request is not None and f"add:{command.request}" in state.requests:
            return info(state)
        self._not_closed()
        if room is None:
            raise Conflict("Options can be added only where 'room', the number of options in all, was stated from the start.")
        check_options(command.options, state.contexts, least=1)
        if len(state.options) + len(command.options) > room:
            raise Conflict(f"This arena has room for {room} options in all. There were {len(state.options)} so far.")
        known = {option.name for option in state.options}
        for option in command.options:
            if option.name.strip() in known:
                raise Conflict(f"There is an option {shortened(option.name)} already. A correction is a new option.")
        self.emit("option_added", {"options": self._options(command.options), "request": command.request})
        self.announce()
        return info(state)

    def retire_option(self, command: c.RetireOption) -> c.ArenaInfo:
        state = self.state
        option = self._option(command.option)
        if not state.options[option].retired:
            self._not_closed()
            if state.settings.room is None:
                raise Conflict("Options can retire only where 'room', the number of options in all, was stated from the start.")
            if len(state.present) <= 2:
                raise Conflict("Two options must stay: there would be nothing to compare.")
            self.emit("option_retired", {"option": command.option})
            self.announce()
        return info(state)

    def _option(self, option: str) -> int:
        try:
            return self.state.index(option)
        except (KeyError, TypeError):
            raise NotFound(f"There is no option {shortened(option)}.") from None

    def change_policy(self, command: c.ChangePolicy) -> c.ArenaInfo:
        self._not_closed()
        parameters = check_policy(command.policy, command.parameters or {})
        settings = self.state.settings
        if (command.policy, parameters) != (settings.policy, dict(settings.parameters)):
            self.emit("policy_changed", {"policy": command.policy, "parameters": parameters})
        return info(self.state)

    def change_margin(self, command: c.ChangeMargin) -> c.ArenaInfo:
        self._not_closed()
        margin = check_margin(command.margin)
        if margin != self.state.settings.margin:
            self.emit("margin_changed", {"margin": margin})
            self.announce()
        return info(self.state)

    # ---- raters

    def admit(self, command: c.AdmitRater) -> str:
        state = self.state
        if command.request is not None and f"admit:{command.request}" in state.requests:
            known: str = state.requests[f"admit:{command.request}"]
            return known
        self._not_closed()
        if command.limit is not None:
            whole("limit", command.limit, 1, of="a rater")
        return self._admit(_label(command.label), _stratum(command.stratum), command.limit, command.request)

    def admit_label(self, label: str, stratum: str | None) -> str:
        """A rater whom a file names for the first time."""
        return self._admit(label, stratum, None, None)

    def _admit(self, label: str, stratum: str | None, limit: int | None, request: str | None) -> str:
        state = self.state
        rater = f"r{len(state.raters) + 1}"
        label = label or rater
        if label in state.labels:
            raise Conflict(f"There is a rater {shortened(label)} already.")
        self.emit("rater_admitted", {"rater": rater, "label": label, "stratum": stratum, "limit": limit, "request": request})
        return rater

    def rater(self, id: str) -> RaterRecord:
        rater = self.state.raters.get(id) if isinstance(id, str) else None
        if rater is None:
            raise NotFound(f"There is no rater {shortened(id)} in this arena.")
        return rater

    def quarantine(self, command: c.Quarantine) -> c.Receipt:
        rater = self.rater(command.rater)
        if not rater.quarantined:
            self.emit("quarantined", {"rater": rater.id, "reason": text("reason", command.reason)[:1000]})
            self.announce()
        return c.Receipt(self.state.number, "aside")

    def release(self, command: c.Release) -> c.Receipt:
        rater = self.rater(command.rater)
        if rater.quarantined:
            self.emit("released", {"rater": rater.id})
            self.announce()
        return c.Receipt(self.state.number, "counted")

    # ---- tickets

    def ask(self, command: c.Ask) -> c.Ticket | c.Done:
        state, rater = self.state, self.rater(command.rater)
        known = state.asks.get(f"{rater.id}:{_request(command.request)}")
        if known is not None:
            return self.shown(state.tickets[known[0]])
        stratum = _stratum(command.stratum) or rater.stratum
        why = self._nothing_to_ask()
        if why is not None:
            return why
        held = [one for one in rater.open if not self._expired(state.tickets[one])]
        if len(held) >= state.settings.places:
            if state.settings.places == 1:
                return self.shown(state.tickets[held[-1]])
            raise Conflict(f"All {state.settings.places} places of this rater are taken. Vote, or wait until a ticket expires.")
        limit = self._limit(rater)
        if limit is not None and rater.votes + len(held) >= limit:
            return _done("limit")
        if self._judged_all(rater):
            return _done("judged")
        expires = log.moment(log.time_of(self.at) + timedelta(seconds=state.settings.expires))
        return self._issue(rater, stratum, expires, {"request": command.request})

    def _nothing_to_ask(self) -> c.Done | None:
        state = self.state
        if state.status != "open":
            return _done(state.status)
        if state.settled() and not state.settings.go_on:
            return _done("settled")
        return _done("one_option") if len(state.present) < 2 else None

    def _expired(self, ticket: TicketRecord) -> bool:
        return ticket.expires is not None and ticket.expires <= self.at

    def _limit(self, rater: RaterRecord) -> int | None:
        return rater.limit if rater.limit is not None else self.state.settings.limit

    def _judged_all(self, rater: RaterRecord) -> bool:
        """Where only the first judgement of a pair counts: is there none left for this rater?"""
        here = self.state.present
        if self.state.settings.unit != "rater" or rater.pairs < len(here) * (len(here) - 1) // 2:
            return False
        return not any(self._unjudged(rater, i, here) for i in here)

    def _unjudged(self, rater: RaterRecord, i: int, others: Any) -> list[int]:
        return [j for j in others if j != i and not self.state.tally.has_judged(rater.id, i, j)]

    def _issue(self, rater: RaterRecord | None, stratum: str | None, expires: str | None, more: dict[str, Any]) -> c.Ticket:
        state = self.state
        why = state.needs_epoch()
        if why:
            self._begin_epoch(why)
        choice = state.choose()
        number = state.number + 1
        arms, by = choice
        if rater is not None and state.settings.unit == "rater" and not any(self._unjudged(rater, i, arms) for i in arms):
            arms, by = self._unseen(rater, arms, number), "unseen"
        shown = shuffled(state.seed, number, "order", arms)
        context = self._context(rater, number)
        body = {
            "id": self._new_id(),
            "rater": rater.id if rater else None,
            "context": None if context is None else f"c{context + 1}",
            "stratum": stratum,
            "shown": [state.options[k].id for k in shown],
            "by": by,
            "chosen": {"options": [state.options[k].id for k in choice.arms], "by": choice.by},
            "expires": expires,
            **more,
        }
        self.emit("ticket", body)
        return self.shown(state.tickets[body["id"]])

    def _begin_epoch(self, why: list[str]) -> None:
        state, settings = self.state, self.state.settings
        body = {
            "why": why,
            "policy": settings.policy,
            "parameters": dict(settings.parameters),
            "options": [state.options[k].id for k in state.present],
            "fingerprint": fingerprint(settings.policy),
            "rounds": state.rounds,
        }
        self.emit("epoch", body)

    def _unseen(self, rater: RaterRecord, arms: tuple[int, ...], number: int) -> tuple[int, ...]:
        """The choice has nothing new for this rater: the first of its options that can meets others not yet judged."""
        here = self.state.present
        for i in (*arms, *shuffled(self.state.seed, number, "unseen", here)):
            rivals = self._unjudged(rater, i, here)
            if rivals:
                return (i, *shuffled(self.state.seed, number, "rivals", rivals)[: self.state.settings.slate_size - 1])
        raise AssertionError("a rater who has judged all is not asked")

    def _context(self, rater: RaterRecord | None, number: int) -> int | None:
        """One of those that this rater has seen least."""
        n = len(self.state.contexts)
        if n == 0:
            return None
        seen = rater.contexts if rater else {}
        least = min(seen.get(k, 0) for k in range(n))
        return shuffled(self.state.seed, number, "context", [k for k in range(n) if seen.get(k, 0) == least])[0]

    def _new_id(self) -> str:
        return f"{self.state.arena}-{secrets.token_urlsafe(16)}"

    def print_tickets(self, command: c.PrintTickets) -> tuple[c.Ticket, ...]:
        state = self.state
        known = state.asks.get(f"print:{_request(command.request)}")
        if known is None:
            number = whole("number", command.number, 1, MOST_PRINTED, of="tickets to print")
            rater = self.rater(command.rater) if command.rater is not None else None
            stratum = _stratum(command.stratum) or (rater.stratum if rater else None)
            why = self._nothing_to_ask()
            if why is not None:
                raise Conflict(why.sentence)
            if rater is not None and state.settings.unit == "rater":
                raise Conflict("Tickets printed for one rater would show pairs again, and they count once here. Name no rater.")
            for place in range(number):
                self._issue(rater, stratum, None, {"request": command.request, "place": place})
            known = state.asks[f"print:{command.request}"]
        return tuple(self.shown(state.tickets[one]) for one in known)

    def shown(self, ticket: TicketRecord) -> c.Ticket:
        return shown_ticket(self.state, ticket)

    # ---- votes

    def vote(self, command: c.Vote) -> c.Receipt:
        state = self.state
        ticket = state.tickets.get(command.ticket)
        if ticket is None or ticket.by == "import":
            raise NotFound("There is no such ticket.")
        if command.rater is not None and ticket.rater not in (None, command.rater):
            raise Forbidden("This ticket is another rater's.")
        rater = ticket.rater or command.rater
        request = _request(command.next_request or f"after {ticket.event}")
        if command.next and rater is None:
            raise BadInput("Only a rater can be given a next ticket. This ticket belongs to none.")
        ballot = normal(command.ballot, state.settings.question, len(ticket.shown))
        if ticket.vote is None:
            self._not_closed()
            if command.rater is not None:
                self.rater(command.rater)
            self.cast(ticket.id, ballot, rater, {} if ticket.rater else {"rater": rater})
            if state.may_settle(ticket.shown):
                self.announce()
        elif ticket.vote.ballot != log.canonical(ballot):
            raise Conflict("This ticket has another vote already.")
        vote = state.tickets[command.ticket].vote
        assert vote is not None
        receipt = c.Receipt(vote.event, "undone" if vote.undone else vote.counted)
        if not command.next:
            return receipt
        assert rater is not None
        try:
            following = self.ask(c.Ask(state.arena, rater, request))
        except Conflict as places:
            following = c.Done("places", str(places))
        return c.Receipt(receipt.event, receipt.counted, following)

    def cast(self, ticket: str | None, ballot: dict[str, Any], rater_id: str | None, more: dict[str, Any]) -> None:
        """Append a vote that has been checked."""
        state = self.state
        rater = state.raters[rater_id] if rater_id is not None else None
        if rater is None and state.settings.unit == "rater" and "skip" not in ballot:
            raise BadInput("This arena counts a rater's first judgement of a pair: it must be told whose vote it is.")
        late = ticket is not None and self._expired(state.tickets[ticket])
        limit = self._limit(rater) if rater else None
        beyond = rater is not None and limit is not None and rater.votes >= limit and "skip" not in ballot
        body: dict[str, Any] = {"ticket": ticket, "ballot": ballot, "late": late, **more}
        if beyond:
            body["aside"] = "limit"
        aside = beyond or (rater is not None and rater.quarantined)
        body["counted"] = "skipped" if "skip" in ballot else "aside" if aside else "late" if late else "counted"
        self.emit("vote", body)

    def undo(self, command: c.Undo) -> c.Receipt:
        state, rater = self.state, self.rater(command.rater)
        known = state.requests.get(f"undo:{rater.id}:{_request(command.request)}")
        if known is None:
            self._not_closed()
            if not rater.voted:
                raise Conflict("There is no vote of this rater to take back.")
            old = state.tickets[rater.voted[-1]]
            again = self._new_id()
            number = self.emit("undo", {"rater": rater.id, "ticket": old.id, "request": command.request, "again": again})
            expires = log.moment(log.time_of(self.at) + timedelta(seconds=state.settings.expires))
            body = {
                "id": again,
                "rater": rater.id,
                "context": None if old.context is None else f"c{old.context + 1}",
                "stratum": old.stratum,
                "shown": [state.options[k].id for k in old.shown],
                "by": "undo",
                "expires": expires,
            }
            self.emit("ticket", body)
            self.announce()
            known = [number, again]
        return c.Receipt(known[0], "undone", self.shown(state.tickets[known[1]]))

    def announce(self) -> None:
        """An event, if it has become settled who is best, or who, or is so no longer."""
        state = self.state
        verdict = state.judge()
        before = state.verdict or {"kind": "open", "winner": None}
        kind = verdict.kind if verdict.settled else "open"
        winner = None if verdict.winner is None else state.options[verdict.winner].id
        if (kind, winner) != (before["kind"], before["winner"]):
            self.emit("verdict", verdict_body(state, verdict))

    def import_votes(self, command: c.ImportVotes) -> c.ImportReport:
        from multiduel.arena.imports import import_votes

        return import_votes(self, command)


_HANDLERS: dict[type[Any], Callable[..., Any]] = {
    c.Create: Decider.create,
    c.Open: Decider.open,
    c.Pause: Decider.pause,
    c.Close: Decider.close,
    c.AddOptions: Decider.add_options,
    c.RetireOption: Decider.retire_option,
    c.AdmitRater: Decider.admit,
    c.Ask: Decider.ask,
    c.Vote: Decider.vote,
    c.Undo: Decider.undo,
    c.Quarantine: Decider.quarantine,
    c.Release: Decider.release,
    c.ChangePolicy: Decider.change_policy,
    c.ChangeMargin: Decider.change_margin,
    c.ImportVotes: Decider.import_votes,
    c.PrintTickets: Decider.print_tickets,
}


def _done(why: str) -> c.Done:
    return c.Done(why, WHY[why])


def _request(request: Any) -> str:
    if not isinstance(request, str) or not 1 <= len(request) <= MOST_LABEL:
        raise BadInput(f"'request' must be text of 1 to {MOST_LABEL} characters. Got {shortened(request)}.")
    return request


def _label(label: Any) -> str:
    if not isinstance(label, str) or len(label) > MOST_LABEL or not label.isprintable():
        raise BadInput(f"A rater's label must be at most {MOST_LABEL} characters that print. Got {shortened(label)}.")
    return label.strip()


def _stratum(stratum: Any) -> str | None:
    return None if stratum is None else _label(stratum) or None


def shown_ticket(state: State, ticket: TicketRecord) -> c.Ticket:
    return c.Ticket(
        ticket.id,
        state.arena,
        ticket.rater,
        None if ticket.context is None else f"c{ticket.context + 1}",
        ticket.stratum,
        tuple(state.options[k].id for k in ticket.shown),
        ticket.by,
        ticket.issued,
        ticket.expires,
    )


def info(state: State) -> c.ArenaInfo:
    return c.ArenaInfo(
        state.arena,
        state.name,
        state.status,
        state.settings,
        tuple({"id": o.id, "name": o.name, "retired": o.retired, "contents": list(o.contents)} for o in state.options),
        tuple({"id": f"c{k}", "text": question} for k, question in enumerate(state.contexts, 1)),
        state.created,
        state.number,
    )
