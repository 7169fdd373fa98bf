"""Decide the commands on raters: admit, quarantine, release."""

from __future__ import annotations

from itertools import count

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.errors import Conflict
from multiduel.arena.domain.event_bodies import MOST_REQUEST, RATER_KINDS
from multiduel.arena.service.decision import Decision, group_of, label_of, request_id
from multiduel.inputs import choice, shortened, text, whole


def admit(decision: Decision, command: c.AdmitRater) -> str:
    """Admit a rater, and return the rater's id. The same request again returns the same id."""
    state = decision.state
    if command.request is not None and f"admit:{command.request}" in state.requests:
        known: str = state.requests[f"admit:{command.request}"]
        return known
    decision.not_closed()
    if command.request is not None:
        request_id(command.request, MOST_REQUEST)
    if command.limit is not None:
        whole("limit", command.limit, 1, of="a rater")
    choice("kind", command.kind, RATER_KINDS)
    label, group = label_of(command.label), group_of(command.group)
    return _admit(decision, label, group, command.limit, command.request, command.kind)


def admit_label(decision: Decision, label: str, group: str | None) -> str:
    """Admit a rater whom a file names for the first time."""
    return _admit(decision, label, group, None, None)


def _admit(
    decision: Decision, label: str, group: str | None, limit: int | None, request: str | None, kind: str = "person"
) -> str:
    state = decision.state
    rater = f"r{len(state.raters) + 1}"
    if label in state.labels:
        raise Conflict(f"There is a rater {shortened(label)} already.")
    if not label:  # the id, unless someone took it for a label
        label = next(one for n in count(1) if (one := rater if n == 1 else f"{rater} ({n})") not in state.labels)
    body = {"rater": rater, "label": label, "stratum": group, "limit": limit, "request": request, "kind": kind}
    decision.emit("rater_admitted", body)
    return rater


def quarantine(decision: Decision, command: c.Quarantine) -> c.Receipt:
    """Exclude a rater's votes, earlier and later ones."""
    rater = decision.rater(command.rater)
    if not rater.quarantined:
        decision.emit("quarantined", {"rater": rater.id, "reason": text("reason", command.reason)[:1000]})
        decision.revise()
    return c.Receipt(decision.state.number, "aside")


def release(decision: Decision, command: c.Release) -> c.Receipt:
    """Count a rater's votes again."""
    rater = decision.rater(command.rater)
    if rater.quarantined:
        decision.emit("released", {"rater": rater.id})
        decision.revise()
    return c.Receipt(decision.state.number, "counted")
