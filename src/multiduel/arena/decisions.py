"""Commands decided: what a command means for the state as it is, as events. Whoever calls holds the arena's lock."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime
from itertools import count
from typing import Any

from multiduel.arena import commands as c
from multiduel.arena import events as log
from multiduel.arena.desk import label_of, stratum_of
from multiduel.arena.errors import Conflict, NotFound
from multiduel.arena.imports import import_votes
from multiduel.arena.options import check_options, option_name
from multiduel.arena.settings import check_margin, check_policy
from multiduel.arena.state import State
from multiduel.arena.voting import Voting
from multiduel.inputs import BadInput, shortened, text, whole


class Decider(Voting):
    """One group of commands on one arena."""

    def decide(self, command: Any, now: datetime) -> Any:
        self.at = max(log.moment(now), self.state.at)
        return _HANDLERS[type(command)](self, command)

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
            self.not_closed()
            self.emit(kind, {})
        return info(self.state)

    def add_options(self, command: c.AddOptions) -> c.ArenaInfo:
        state, room = self.state, self.state.settings.room
        if command.request is not None and f"add:{command.request}" in state.requests:
            return info(state)
        self.not_closed()
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
            self.not_closed()
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
        self.not_closed()
        parameters = check_policy(command.policy, command.parameters or {})
        settings = self.state.settings
        if (command.policy, parameters) != (settings.policy, dict(settings.parameters)):
            self.emit("policy_changed", {"policy": command.policy, "parameters": parameters})
        return info(self.state)

    def change_margin(self, command: c.ChangeMargin) -> c.ArenaInfo:
        self.not_closed()
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
        self.not_closed()
        if command.limit is not None:
            whole("limit", command.limit, 1, of="a rater")
        return self._admit(label_of(command.label), stratum_of(command.stratum), command.limit, command.request)

    def admit_label(self, label: str, stratum: str | None) -> str:
        """A rater whom a file names for the first time."""
        return self._admit(label, stratum, None, None)

    def _admit(self, label: str, stratum: str | None, limit: int | None, request: str | None) -> str:
        state = self.state
        rater = f"r{len(state.raters) + 1}"
        if label in state.labels:
            raise Conflict(f"There is a rater {shortened(label)} already.")
        if not label:  # the id, unless someone took it for a label
            label = next(one for n in count(1) if (one := rater if n == 1 else f"{rater} ({n})") not in state.labels)
        self.emit("rater_admitted", {"rater": rater, "label": label, "stratum": stratum, "limit": limit, "request": request})
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
    c.ImportVotes: import_votes,
    c.PrintTickets: Decider.print_tickets,
}


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
        state.hash,
    )
