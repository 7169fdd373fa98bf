"""Decide the commands on an arena itself: create, open, pause, close, and change its options, policy or margin."""

from __future__ import annotations

import secrets
from typing import Any

from multiduel.arena.domain import commands as c
from multiduel.arena.domain import events as log
from multiduel.arena.domain.errors import Conflict, NotFound
from multiduel.arena.domain.event_bodies import MOST_REQUEST, SHORTLIST_RULES
from multiduel.arena.domain.options import check_features, check_options, option_name
from multiduel.arena.domain.settings import check_margin, check_policy
from multiduel.arena.domain.state import State
from multiduel.arena.service.decision import Decision, request_id
from multiduel.inputs import BadInput, choice, no_others, shortened, whole


def create(decision: Decision, command: c.Create) -> c.ArenaInfo:
    """Create the arena, with its options and settings."""
    name = option_name(command.name, "An arena")
    check_options(command.options, command.contexts)
    settings = command.settings
    if settings.room is not None and settings.room < len(command.options):
        raise BadInput(f"'room' must be at least the number of options, {len(command.options)}. Got {settings.room}.")
    seed = secrets.randbits(64) if settings.seed is None else settings.seed
    body = {
        "schema": log.SCHEMA,
        "arena": decision.state.arena,
        "name": name,
        "settings": settings.to_json() | {"seed": seed},
        "options": _options(decision, command.options),
        "contexts": list(command.contexts),
    }
    if command.shortlist is not None:
        body["shortlist"] = _shortlist(command.shortlist, len(command.options))
    decision.emit("created", body)
    return info(decision.state)


def _shortlist(said: Any, options: int) -> dict[str, Any]:
    """Check what is said of how the options were chosen."""
    no_others(said, ("by", "of", "first", "rule"), "A shortlist")
    of = whole("of", said.get("of"), max(2, options), of="a shortlist")
    first = whole("first", said.get("first"), 1, of, of="a shortlist")
    rule = choice("rule", said.get("rule", SHORTLIST_RULES[0]), SHORTLIST_RULES)
    return {"by": option_name(said.get("by"), "The judge of a shortlist"), "of": of, "first": first, "rule": rule}


def _options(decision: Decision, options: Any) -> list[dict[str, Any]]:
    """Keep the options' contents, and describe the options for an event."""
    first = len(decision.state.options) + 1
    for option in options:
        for content in option.contents:
            decision.contents[content.sha256] = content.data
    return [
        {"id": f"o{k}", "name": option.name.strip(), "contents": [content.describe() for content in option.contents]}
        | ({"features": list(option.features)} if option.features else {})
        for k, option in enumerate(options, first)
    ]


def open_arena(decision: Decision, command: c.Open) -> c.ArenaInfo:
    """Open the arena for votes."""
    return _turn(decision, "open", "opened")


def pause(decision: Decision, command: c.Pause) -> c.ArenaInfo:
    """Pause the arena."""
    if decision.state.status == "created":
        raise Conflict("An arena that is not open yet cannot be paused.")
    return _turn(decision, "paused", "paused")


def close(decision: Decision, command: c.Close) -> c.ArenaInfo:
    """Close the arena permanently."""
    return _turn(decision, "closed", "closed")


def _turn(decision: Decision, status: str, kind: str) -> c.ArenaInfo:
    """Emit the event that changes the status, unless the arena has it already."""
    if decision.state.status != status:
        decision.not_closed()
        decision.emit(kind, {})
    return info(decision.state)


def add_options(decision: Decision, command: c.AddOptions) -> c.ArenaInfo:
    """Add options to an arena that has room for them."""
    state, room = decision.state, decision.state.settings.room
    if command.request is not None and f"add:{command.request}" in state.requests:
        return info(state)
    decision.not_closed()
    if command.request is not None:
        request_id(command.request, MOST_REQUEST)
    if room is None:
        raise Conflict("Options can be added only where 'room', the number of options in all, was stated from the start.")
    check_options(command.options, state.contexts, least=1)
    check_features(command.options, len(state.options[0].features or ()))
    if len(state.options) + len(command.options) > room:
        raise Conflict(f"This arena has room for {room} options in all. There were {len(state.options)} so far.")
    known = {option.name for option in state.options}
    for option in command.options:
        if option.name.strip() in known:
            raise Conflict(f"There is an option {shortened(option.name)} already. A correction is a new option.")
    decision.emit("option_added", {"options": _options(decision, command.options), "request": command.request})
    decision.revise()
    return info(state)


def retire_option(decision: Decision, command: c.RetireOption) -> c.ArenaInfo:
    """Retire an option: it is shown no more."""
    state = decision.state
    option = _option(state, command.option)
    if not state.options[option].retired:
        decision.not_closed()
        if state.settings.room is None:
            raise Conflict("Options can retire only where 'room', the number of options in all, was stated from the start.")
        if len(state.present) <= 2:
            raise Conflict("Two options must stay: there would be nothing to compare.")
        decision.emit("option_retired", {"option": command.option})
        decision.revise()
    return info(state)


def _option(state: State, option: str) -> int:
    """Find an option's index by its id."""
    try:
        return state.index(option)
    except (KeyError, TypeError):
        raise NotFound(f"There is no option {shortened(option)}.") from None


def change_policy(decision: Decision, command: c.ChangePolicy) -> c.ArenaInfo:
    """Have another policy, or other parameters, choose from now on."""
    decision.not_closed()
    parameters = check_policy(command.policy, command.parameters or {})
    settings = decision.state.settings
    if (command.policy, parameters) != (settings.policy, dict(settings.parameters)):
        decision.emit("policy_changed", {"policy": command.policy, "parameters": parameters})
    return info(decision.state)


def change_margin(decision: Decision, command: c.ChangeMargin) -> c.ArenaInfo:
    """Change the margin by which an option must be better to count as the winner."""
    decision.not_closed()
    margin = check_margin(command.margin)
    if margin != decision.state.settings.margin:
        decision.emit("margin_changed", {"margin": margin})
        decision.revise()
    return info(decision.state)


def info(state: State) -> c.ArenaInfo:
    """Describe an arena."""
    return c.ArenaInfo(
        state.arena,
        state.name,
        state.status,
        state.settings,
        tuple({"id": o.id, "name": o.name, "retired": o.retired, "contents": list(o.contents)} for o in state.options),
        tuple({"id": f"c{k}", "text": question} for k, question in enumerate(state.contexts, 1)),
        state.created,
        state.number,
        state.hash,
    )
