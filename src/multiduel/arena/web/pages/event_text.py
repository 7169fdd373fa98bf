"""The journal's events in plain words, for its owner."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from multiduel.arena.domain.actors import actor_words
from multiduel.arena.domain.clock import span, went_back
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.past import LINE, ticket_key
from multiduel.arena.domain.state import State

CHOSEN = {  # how, where it was not the arena's method
    "policy": "",
    "challengers": "; chosen by challengers",
    "uniform": "; chosen at random",
    "unseen": "; not yet compared by this rater",
    "undo": "; again, after an undo",
}
PLAIN = {"opened": "Opened for votes.", "paused": "Paused: no new tickets.", "closed": "Closed permanently."}


class Names:
    """What the ids in some events are called, taken from the state at one moment. ``holders`` says who holds the actors' keys."""

    def __init__(self, state: State, events: Iterable[Event], holders: Mapping[str, str] | None = None) -> None:
        self.holders = holders or {}
        self.options = {option.id: option.name for option in state.options}
        self.shown: dict[str, tuple[str, ...]] = {}
        self.holder: dict[str, str | None] = {}
        raters, some = set(), list(events)
        if state.past is not None:
            state.past.look_ahead(
                (ticket_key(_ticket(event.body)) for event in some if event.kind in ("vote", "undo")), state.number
            )
        for body in (event.body for event in some):
            id = _ticket(body)
            ticket = state.tickets.get(id)
            if ticket is not None:
                self.shown[ticket.id] = tuple(state.options[k].name for k in ticket.shown)
                self.holder[ticket.id] = ticket.rater
                raters.add(ticket.rater)
            raters |= {body.get("rater"), str(body.get("actor")).removeprefix("rater:")}
        self.raters = {id: state.raters[id].label for id in raters if id in state.raters}

    def option(self, id: Any) -> str:
        return f"‘{self.options.get(id, id)}’"

    def rater(self, id: Any) -> str:
        return "nobody in particular" if id is None else str(self.raters.get(id, id))


def _ticket(body: Mapping[str, Any]) -> str:
    return str(body.get("ticket") or f"{LINE}{body.get('line')}")


def words(event: Event, names: Names) -> str:
    """What happened, who did it where the log says so, and whether the clock had been set back."""
    said = PLAIN[event.kind] if event.kind in PLAIN else str(_WORDS[event.kind](event.body, names))
    actor, back = event.body.get("actor"), went_back(event.body)
    by = "" if actor is None else f" By {actor_words(actor, names.raters, names.holders)}."
    return f"{said}{by}" + (f" The clock had been set back by {span(back)}: the times before may be wrong." if back else "")


def _created(body: Mapping[str, Any], names: Names) -> str:
    settings = body["settings"]
    asks = f"asks ‘{settings['question']}’, {settings['slate_size']} at once, by {settings['policy']}"
    return f"‘{body['name']}’ was created with {len(body['options'])} options; it {asks}."


def _vote(body: Mapping[str, Any], names: Names) -> str:
    ticket = body.get("ticket")
    shown = names.shown.get(ticket or f"line:{body.get('line')}", ())
    who = names.rater(body.get("rater") or names.holder.get(ticket or ""))
    how = {"late": ", late", "aside": ", excluded"}.get(body["counted"], "")
    line = f" (line {body['line']} of a file)" if body.get("line") is not None else ""
    return f"{who}: {_ballot(body['ballot'], shown)}{how}{line}."


def _ballot(ballot: Mapping[str, Any], shown: tuple[str, ...]) -> str:
    ((kind, said),) = ballot.items()

    def name(position: int) -> str:
        return f"‘{shown[position]}’" if position < len(shown) else f"place {position + 1}"

    if kind == "skip":
        return "skipped"
    if kind == "rank":
        return " above ".join(" level with ".join(map(name, group)) for group in said)
    return f"{kind} is {name(said)}" if kind in ("best", "worst") else "credits from another system"


_WORDS: dict[str, Any] = {
    "created": _created,
    "vote": _vote,
    "option_added": lambda b, n: f"Added: {', '.join(n.option(option['id']) for option in b['options'])}.",
    "option_retired": lambda b, n: f"{n.option(b['option'])} was retired.",
    "rater_admitted": lambda b, n: f"{b['label']} may vote" + (f", of {b['stratum']}." if b.get("stratum") else "."),
    "quarantined": lambda b, n: f"The votes of {n.rater(b['rater'])} are excluded: {b['reason'] or 'no reason given'}.",
    "released": lambda b, n: f"The votes of {n.rater(b['rater'])} count again.",
    "policy_changed": lambda b, n: f"{b['policy']} chooses what is shown from now on.",
    "margin_changed": lambda b, n: f"Options closer than {100 * b['margin']:g} points need not be told apart from now on.",
    "epoch": lambda b, n: f"{b['policy']} begins anew: {', '.join(b['why'])}.",
    "ticket": lambda b, n: f"Shown to {n.rater(b['rater'])}: {', '.join(map(n.option, b['shown']))}{CHOSEN[b['by']]}.",
    "undo": lambda b, n: f"{n.rater(b['rater'])} undid the last vote.",
    "verdict": lambda b, n: b["sentence"],
    "notified": lambda b, n: f"A {b['kind']} was {'sent' if b['delivered'] else 'not delivered'}: {b['about']}.",
}
