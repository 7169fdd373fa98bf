"""Which function decides which command. Whoever calls holds the arena's lock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.actors import OPERATOR, check_actor
from multiduel.arena.domain.clock import dated
from multiduel.arena.service import admission, lifecycle, notices, tickets, vote_lines, votes
from multiduel.arena.service.decision import Decision

HANDLERS: dict[type[Any], Callable[[Decision, Any], Any]] = {
    c.Create: lifecycle.create,
    c.Open: lifecycle.open_arena,
    c.Pause: lifecycle.pause,
    c.Close: lifecycle.close,
    c.AddOptions: lifecycle.add_options,
    c.RetireOption: lifecycle.retire_option,
    c.ChangePolicy: lifecycle.change_policy,
    c.ChangeMargin: lifecycle.change_margin,
    c.AdmitRater: admission.admit,
    c.Quarantine: admission.quarantine,
    c.Release: admission.release,
    c.Ask: tickets.ask,
    c.PrintTickets: tickets.print_tickets,
    c.Vote: votes.vote,
    c.Undo: votes.undo,
    c.ImportVotes: vote_lines.import_votes,
    c.RecordNotice: notices.record,
}


def decide(decision: Decision, command: Any, now: datetime, actor: str = OPERATOR) -> Any:
    """Turn a command of this actor into events, which are applied at once. Returns the command's answer."""
    decision.actor = check_actor(actor)
    decision.at, decision.went_back = dated(now, decision.state.at)
    return HANDLERS[type(command)](decision, command)
