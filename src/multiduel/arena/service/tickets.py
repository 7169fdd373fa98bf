"""Decide the commands on tickets: ask for the next one, print many ahead."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any

from multiduel.arena.domain import commands as c
from multiduel.arena.domain import events as log
from multiduel.arena.domain.chooser import fingerprint, shuffled
from multiduel.arena.domain.errors import Conflict
from multiduel.arena.domain.records import RaterRecord, TicketRecord
from multiduel.arena.domain.settings import why_unusable
from multiduel.arena.domain.state import State, case_of
from multiduel.arena.service.decision import Decision, group_of, request_id
from multiduel.inputs import whole

MOST_PRINTED = 10_000
JUDGE_PLACES = 64  # open tickets of a judge, which answers several at the same time
WHY = {
    "created": "This comparison is not open yet. Please come back later.",
    "paused": "This comparison is paused. Please come back later.",
    "closed": "This comparison is closed. Thank you.",
    "settled": "There is a result: no more votes are needed. Thank you.",
    "limit": "You have given as many votes as one person may. Thank you.",
    "judged": "You have judged everything there is to compare. Thank you.",
    "one_option": "There is only one option left: nothing to compare.",
}
NO_CHOICE = "This arena cannot choose what to show at the moment. Its owner can see why."


def ask(decision: Decision, command: c.Ask) -> c.Ticket | c.Done:
    """Issue the rater's next ticket, or say why there is none. The same request again returns the same ticket."""
    state, rater = decision.state, decision.rater(command.rater)
    known = state.asked(rater.id, request_id(command.request))
    if known is not None:
        return shown_ticket(state, state.tickets[known])
    stated = group_of(command.group)  # checked in any case; what the owner assigned comes first
    group = rater.group if rater.group is not None else stated
    why = _nothing_to_ask(state)
    if why is not None:
        return why
    held = [one for one in rater.open if not is_expired(decision, state.tickets[one])]
    places = max(state.settings.places, JUDGE_PLACES) if rater.kind == "judge" else state.settings.places
    if len(held) >= places:
        if places == 1:
            return shown_ticket(state, state.tickets[held[-1]])
        raise Conflict(f"All {places} places of this rater are taken. Vote, or wait until a ticket expires.")
    limit = limit_of(state, rater)
    if limit is not None and rater.votes + len(held) >= limit:
        return _done("limit")
    if _judged_all(state, rater):
        return _done("judged")
    return issue(decision, rater, group, expiry(decision), {"request": command.request})


def _nothing_to_ask(state: State) -> c.Done | None:
    """Say why no rater is asked now; None if raters are."""
    if state.status != "open":
        return _done(state.status)
    if state.settled() and not state.settings.go_on:
        return _done("settled")
    return _done("one_option") if len(state.present) < 2 else None


def expiry(decision: Decision) -> str:
    """When a ticket that is issued now expires."""
    return log.moment(log.time_of(decision.at) + timedelta(seconds=decision.state.settings.expires))


def is_expired(decision: Decision, ticket: TicketRecord) -> bool:
    """Tell whether the ticket expired before this command."""
    return ticket.lapsed or (ticket.expires is not None and ticket.expires <= decision.at)


def limit_of(state: State, rater: RaterRecord) -> int | None:
    """Return how many votes of this rater count: the rater's own limit, or the arena's."""
    return rater.limit if rater.limit is not None else state.settings.limit


def _judged_all(state: State, rater: RaterRecord) -> bool:
    """Where only the first judgement of a pair counts: is there none left for this rater?"""
    here = state.present
    if state.by_case(rater):
        cases = range(max(1, len(state.contexts)))
        return not any(_new_on(state, rater, i, j, c) for i in here for j in here if i < j for c in cases)
    if state.settings.unit != "rater" or rater.pairs < len(here) * (len(here) - 1) // 2:
        return False
    return not any(_unjudged(state, rater, i, here) for i in here)


def _unjudged(state: State, rater: RaterRecord, i: int, others: Any) -> list[int]:
    """List the options whose comparison with ``i`` this rater has not judged."""
    return [j for j in others if j != i and not state.tally.has_judged(rater.id, i, j)]


def _new_on(state: State, rater: RaterRecord | None, i: int, j: int, case: int) -> bool:
    """Is there something to learn from this rater about two options on this context?"""
    if rater is not None and (min(i, j), max(i, j), case) in rater.seen:
        return False
    if state.settings.unit != "case" or not state.decides(rater):
        return True
    return not state.tally.has_judged(case_of(case if state.contexts else None), i, j)


def _new_slate(
    state: State, rater: RaterRecord | None, arms: tuple[int, ...], number: int
) -> tuple[tuple[int, ...], int | None, bool]:
    """The policy's slate, on the context that the rater has seen least of those where most of its pairs are new; or, where none
    is new, the first of its options that can meets others on a context where they are. Returns (slate, context, the policy's
    own)."""
    seen = rater.contexts if rater else {}
    cases = sorted(shuffled(state.seed, number, "context", range(max(1, len(state.contexts)))), key=lambda c: seen.get(c, 0))

    def found(slate: tuple[int, ...], case: int, own: bool) -> tuple[tuple[int, ...], int | None, bool]:
        return slate, case if state.contexts else None, own

    most, best, pairs = 0, cases[0], [(i, j) for i in arms for j in arms if i < j]
    for case in cases:
        new = sum(_new_on(state, rater, i, j, case) for i, j in pairs)
        if new > most:
            most, best = new, case
        if new == len(pairs):
            break
    if most:
        return found(arms, best, True)
    here = state.present
    for i in (*arms, *shuffled(state.seed, number, "unseen", here)):
        for case in cases:
            rivals = [j for j in here if j != i and _new_on(state, rater, i, j, case)]
            if rivals:
                return found((i, *shuffled(state.seed, number, "rivals", rivals)[: state.settings.slate_size - 1]), case, False)
    return found(arms, cases[0], True)  # printed for nobody in particular, when all is judged


def issue(
    decision: Decision, rater: RaterRecord | None, group: str | None, expires: str | None, more: dict[str, Any]
) -> c.Ticket:
    """Ask the policy for a slate, emit a ticket that shows it in random order, and return the ticket."""
    state = decision.state
    why = state.needs_epoch()
    if why:
        unusable = why_unusable(state.settings)
        if unusable is not None:
            raise Conflict(unusable if rater is None else NO_CHOICE)
        _begin_epoch(decision, why)
    choice = state.choose()
    number = state.number + 1
    arms, by = choice
    context = None
    if state.by_case(rater):
        arms, context, own = _new_slate(state, rater, arms, number)
        by = by if own else "unseen"
    else:
        if rater is not None and state.settings.unit == "rater" and not any(_unjudged(state, rater, i, arms) for i in arms):
            arms, by = _unseen(state, rater, arms, number), "unseen"
        context = _context(state, rater, number)
    shown = shuffled(state.seed, number, "order", arms)
    body = {
        "id": new_id(state),
        "rater": rater.id if rater else None,
        "context": None if context is None else f"c{context + 1}",
        "stratum": group,
        "shown": [state.options[k].id for k in shown],
        "by": by,
        "chosen": {"options": [state.options[k].id for k in choice.arms], "by": choice.by},
        "expires": expires,
        **more,
    }
    decision.emit("ticket", body)
    return shown_ticket(state, state.tickets[body["id"]])


def _begin_epoch(decision: Decision, why: list[str]) -> None:
    """Emit an ``epoch`` event: from here on slates are those of this engine and these settings."""
    state, settings = decision.state, decision.state.settings
    body = {
        "why": why,
        "policy": settings.policy,
        "parameters": dict(settings.parameters),
        "options": [state.options[k].id for k in state.present],
        "fingerprint": fingerprint(settings.policy),
        "rounds": state.rounds,
    }
    decision.emit("epoch", body)


def _unseen(state: State, rater: RaterRecord, arms: tuple[int, ...], number: int) -> tuple[int, ...]:
    """The choice has nothing new for this rater: the first of its options that can meets others not yet judged."""
    here = state.present
    for i in (*arms, *shuffled(state.seed, number, "unseen", here)):
        rivals = _unjudged(state, rater, i, here)
        if rivals:
            return (i, *shuffled(state.seed, number, "rivals", rivals)[: state.settings.slate_size - 1])
    raise AssertionError("a rater who has judged all is not asked")


def _context(state: State, rater: RaterRecord | None, number: int) -> int | None:
    """One of those that this rater has seen least."""
    n = len(state.contexts)
    if n == 0:
        return None
    seen = rater.contexts if rater else {}
    least = min(seen.get(k, 0) for k in range(n))
    return shuffled(state.seed, number, "context", [k for k in range(n) if seen.get(k, 0) == least])[0]


def new_id(state: State) -> str:
    """Draw the id of a ticket. It begins with the arena's, and cannot be guessed."""
    return f"{state.arena}-{secrets.token_urlsafe(16)}"


def print_tickets(decision: Decision, command: c.PrintTickets) -> tuple[c.Ticket, ...]:
    """Issue many tickets at once, which never expire. The same request again returns the same tickets."""
    state = decision.state
    known = state.sheets(request_id(command.request))
    if not known:
        number = whole("number", command.number, 1, MOST_PRINTED, of="tickets to print")
        rater = decision.rater(command.rater) if command.rater is not None else None
        group = group_of(command.group) or (rater.group if rater else None)
        why = _nothing_to_ask(state)
        if why is not None:
            raise Conflict(why.sentence)
        if rater is not None and state.settings.unit == "rater":
            raise Conflict("Tickets printed for one rater would show pairs again, and they count once here. Name no rater.")
        for place in range(number):
            issue(decision, rater, group, None, {"request": command.request, "place": place})
        known = state.sheets(command.request)
    return tuple(shown_ticket(state, state.tickets[one]) for one in known)


def _done(why: str) -> c.Done:
    return c.Done(why, WHY[why])


def shown_ticket(state: State, ticket: TicketRecord) -> c.Ticket:
    """Describe a ticket to whoever asked for it."""
    return c.Ticket(
        ticket.id,
        state.arena,
        ticket.rater,
        None if ticket.context is None else f"c{ticket.context + 1}",
        ticket.group,
        tuple(state.options[k].id for k in ticket.shown),
        ticket.by,
        ticket.issued,
        ticket.expires,
    )
