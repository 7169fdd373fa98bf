"""Judges shortlist, people decide: the options that a judge's standings leave, for an arena of people to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from multiduel.arena.domain.options import Option
from multiduel.arena.service.kinds import judge_tickets, votes_of
from multiduel.arena.service.service import Service
from multiduel.inference import Standings, standings
from multiduel.inputs import BadInput, whole


class Shortlist(NamedTuple):
    """Options that may be among a judge's first few, and what an arena that begins with them says about it."""

    names: tuple[str, ...]
    said: dict[str, Any]  # by, of, first


def judge_standings(service: Service, arena: str, by: str = "case") -> Standings:
    """The standings of an arena's judges.

    Parameters
    ----------
    service, arena
        The arena.
    by
        "case": for questions like these. "answer": for these questions, which is what a shortlist needs, because people are then
        asked the same ones.

    Returns
    -------
    Standings
        Of all options.
    """
    with service.look(arena) as state:
        votes, several = votes_of(state, judge_tickets(state)), len(state.contexts) > 1
        settings = state.settings
        with np.errstate(invalid="ignore"):  # an option without votes has an infinite width
            return standings(votes, by=by if several else "answer", alpha=settings.alpha, margin=settings.margin)


def shortlist_of(service: Service, arena: str, first: int) -> Shortlist:
    """Choose the options whose rank range in the judges' standings reaches the first few.

    Parameters
    ----------
    service, arena
        The judges' arena.
    first
        How many ranks count as the first few.

    Returns
    -------
    Shortlist
        The names of these options, best first.
    """
    found = judge_standings(service, arena, "answer")
    size = whole("first", first, 1, len(found.present), of="a shortlist")
    with service.look(arena) as state:
        judges = [rater.label for rater in state.raters.values() if rater.kind == "judge"]
    if not judges:
        raise BadInput("A shortlist needs an arena in which a judge has voted. This one has none.")
    names = tuple(found.names[arm] for arm in found.top(size).possible)
    return Shortlist(names, {"by": " + ".join(judges)[:200], "of": len(found.names), "first": size})


def keep(options: Sequence[Option], shortlist: Shortlist) -> tuple[Option, ...]:
    """The options of a file that are on the shortlist, in the file's order."""
    missing = set(shortlist.names) - {option.name for option in options}
    if missing or len(options) != shortlist.said["of"]:
        raise BadInput(
            f"A shortlist is of the options that the judge compared: {shortlist.said['of']}, of the same names. Got "
            f"{len(options)}{f', without {sorted(missing)[0]!r}' if missing else ''}."
        )
    return tuple(option for option in options if option.name in shortlist.names)
