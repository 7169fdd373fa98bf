"""Votes of an arena's exported log, as the arena itself counts them: undone, quarantined and excluded votes do not count."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from multiduel.inference.votes import Votes
from multiduel.inputs import BadInput
from multiduel.votes.assembling import Reading, counted, reading
from multiduel.votes.open_files import opened_text


def is_arena_log(record: dict[str, Any]) -> bool:
    """Is this the first line of an exported log?"""
    return record.get("kind") == "created" and "hash" in record and "body" in record


def read_arena_log(path: str | os.PathLike[str]) -> Reading:
    """Votes of an exported log.

    The log is checked first (hashes, order, what each event may say); the policy that it names is not asked, nor loaded. Options
    that were retired are left out, with the comparisons that they were in.
    """
    from multiduel.arena.domain import events as log
    from multiduel.arena.domain.ballots import spoken
    from multiduel.arena.domain.errors import BrokenLog
    from multiduel.arena.domain.log_check import LogCheck
    from multiduel.arena.domain.state import State
    from multiduel.arena.files.exports import read_log

    with opened_text(path) as file:
        try:
            events, _ = read_log(file)
        except BadInput as error:
            raise BadInput(f"'{path}': {error}") from None
    state, bodies = State(""), LogCheck()
    try:
        for event in events:
            log.check(event, state.number + 1, state.hash)
            bodies.check(state, event)
            state.apply(event)
        bodies.end(state)
    except BrokenLog as broken:
        raise BadInput(f"'{path}' must be a log as an arena writes it. Event {broken.number}: {broken.what}.") from None
    except BadInput as error:
        raise BadInput(f"'{path}' must be a log as an arena writes it. Event {state.number + 1}: {error}") from None
    here = {arm: k for k, arm in enumerate(state.present)}
    rows: list[tuple[int, int, int]] = []
    starts, raters, contexts, times = [0], [], [], []
    for ticket in sorted(state.tickets.values(), key=lambda one: one.vote.event if one.vote else 0):
        if ticket.vote is None or not state.counts(ticket):
            continue
        wins = spoken(ticket.vote.ballot, len(ticket.shown))
        for a, i in enumerate(ticket.shown):
            for b in range(a + 1, len(ticket.shown)):
                j = ticket.shown[b]
                if wins[a, b] + wins[b, a] > 0.0 and i in here and j in here:
                    rows.append((here[i], here[j], int(np.sign(wins[a, b] - wins[b, a]))))
        if len(rows) > starts[-1]:
            starts.append(len(rows))
            raters.append(ticket.rater or f"ticket {ticket.id}")
            contexts.append(-1 if ticket.context is None else ticket.context)
            times.append(log.time_of(ticket.vote.at).timestamp())
    names = [state.options[arm].name for arm in state.present]
    if len(set(names)) < len(names):  # names need not differ there
        names = [f"{name} ({state.options[arm].id})" for name, arm in zip(names, state.present, strict=True)]
    known = list(dict.fromkeys(raters))
    labels = [state.raters[rater].label if rater in state.raters else rater for rater in known]
    number = {rater: k for k, rater in enumerate(known)}
    pairs = np.array(rows, np.int32).reshape(-1, 3)
    asked = [f"c{k + 1}" for k in range(len(state.contexts))]
    for k, context in enumerate(contexts):
        if context < 0:  # of an import that did not say: no other answer is known to be about the same
            contexts[k] = len(asked)
            asked.append(f"unknown {k + 1}")
    votes = Votes.of(
        names,
        first=pairs[:, 0],
        second=pairs[:, 1],
        outcome=pairs[:, 2],
        starts=np.array(starts) if rows else None,
        rater=np.array([number[rater] for rater in raters], np.int32),
        raters=labels if len(set(labels)) == len(labels) else known,
        case=np.array(contexts, np.int32) if state.contexts else None,
        cases=asked if state.contexts else (),
        time=times,
        ordered=True,
    )
    gone = f"{counted(len(state.retired), 'retired option')} left out" if state.retired else ""
    aside = f"{counted(state.set_aside, 'excluded vote')} left out" if state.set_aside else ""
    return reading(votes, "arena log", state.name, [gone, aside])
