"""The journal's events in plain words, for its owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from multiduel.arena.events import Event
from multiduel.arena.state import State

PLAIN = {"opened": "Opened: tickets are given out.", "paused": "Paused: no new tickets.", "closed": "Closed for good."}


class Names:
    """What ids are called, taken from the state at one moment."""

    def __init__(self, state: State) -> None:
        self.options = {option.id: option.name for option in state.options}
        self.raters = {rater.id: rater.label for rater in state.raters.values()}
        self.shown = {ticket.id: tuple(state.options[k].name for k in ticket.shown) for ticket in state.tickets.values()}
        self.holder = {ticket.id: ticket.rater for ticket in state.tickets.values()}

    def option(self, id: Any) -> str:
        return f"‘{self.options.get(id, id)}’"

    def rater(self, id: Any) -> str:
        return "nobody in particular" if id is None else str(self.raters.get(id, id))


def words(event: Event, names: Names) -> str:
    body = event.body
    if event.kind in PLAIN:
        return PLAIN[event.kind]
    return str(_WORDS[event.kind](body, names))


def _created(body: Mapping[str, Any], names: Names) -> str:
    settings = body["settings"]
    asks = f"asks ‘{settings['question']}’, {settings['slate_size']} at once, by {settings['policy']}"
    return f"‘{body['name']}’ was created with {len(body['options'])} options; it {asks}."


def _vote(body: Mapping[str, Any], names: Names) -> str:
    ticket = body.get("ticket")
    shown = names.shown.get(ticket or f"line:{body.get('line')}", ())
    who = names.rater(body.get("rater") or names.holder.get(ticket or ""))
    how = {"late": ", late", "aside": ", set aside"}.get(body["counted"], "")
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
    "quarantined": lambda b, n: f"The votes of {n.rater(b['rater'])} are set aside: {b['reason'] or 'no reason given'}.",
    "released": lambda b, n: f"The votes of {n.rater(b['rater'])} count again.",
    "policy_changed": lambda b, n: f"What is shown is chosen by {b['policy']} from now on.",
    "margin_changed": lambda b, n: f"Options closer than {100 * b['margin']:g} points need not be told apart from now on.",
    "epoch": lambda b, n: f"{b['policy']} begins anew: {', '.join(b['why'])}.",
    "ticket": lambda b, n: f"Shown to {n.rater(b['rater'])}: {', '.join(map(n.option, b['shown']))}; chosen by {b['by']}.",
    "undo": lambda b, n: f"{n.rater(b['rater'])} took the last vote back.",
    "verdict": lambda b, n: b["sentence"],
}
