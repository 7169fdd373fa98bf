"""Judges shortlist, people decide: the options that a judge's standings leave, for an arena of people to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from multiduel.arena.domain.event_bodies import SHORTLIST_RULES
from multiduel.arena.domain.options import Option
from multiduel.arena.service.kinds import judge_tickets, votes_of
from multiduel.arena.service.service import Service
from multiduel.arrays import Floats
from multiduel.inference import Standings, Votes, standings
from multiduel.inputs import BadInput, choice, whole

DRAWS = 400  # times that the judge's answers are drawn anew
LEAST_CHANCE = 0.05  # of being among the first few


class Shortlist(NamedTuple):
    """Options that may be among a judge's first few, and what an arena that begins with them says about it."""

    names: tuple[str, ...]
    said: dict[str, Any]  # by, of, first, rule


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


def chances_of_first(votes: Votes, *, draws: int = DRAWS, seed: int = 1) -> Floats:
    """Estimate each option's chance to be among the first few, by standings of answers drawn anew from those given.

    Parameters
    ----------
    votes
        The judge's answers.
    draws
        How often they are drawn anew.
    seed
        Of these draws.

    Returns
    -------
    Floats
        f8[K, K]: row n - 1 holds the chances to be among the first n. No error is guaranteed: answers that were asked for
        adaptively are not a sample.
    """
    rng, K = np.random.default_rng(seed), len(votes.options)
    ranked: Floats = np.zeros((K, K))
    for _ in range(draws):
        with np.errstate(invalid="ignore"):  # an option without votes has an infinite width
            order = standings(votes.take(rng.integers(votes.answers, size=votes.answers))).order
        ranked[np.arange(K), list(order)] += 1.0
    chances: Floats = np.cumsum(ranked, axis=0) / draws
    return chances


def shortlist_of(service: Service, arena: str, first: int, rule: str = "possible") -> Shortlist:
    """Choose the options that may be among the first few in the judges' standings.

    Parameters
    ----------
    service, arena
        The judges' arena.
    first
        How many ranks count as the first few.
    rule
        "possible": the options whose rank range reaches the first few. All ranges hold together, while one looks, so that many
        answers are needed to leave an option out. "likely": the options with an estimated chance of at least 5 % to be among the
        first few, which leaves more out and guarantees nothing.

    Returns
    -------
    Shortlist
        The names of these options, best first.
    """
    choice("rule", rule, SHORTLIST_RULES)
    with service.look(arena) as state:
        judges = [rater.label for rater in state.raters.values() if rater.kind == "judge"]
        votes = votes_of(state, judge_tickets(state))
        retired = state.retired
    if not judges or not votes.answers:
        raise BadInput("A shortlist needs an arena in which a judge has voted. This one has none.")
    found = judge_standings(service, arena, "answer")
    size = whole("first", first, 1, len(found.present), of="a shortlist")
    kept = found.top(size).possible
    if rule == "likely":
        chances = chances_of_first(votes)[size - 1]
        kept = tuple(arm for arm in found.order if arm not in retired and chances[arm] >= LEAST_CHANCE)
    names = tuple(found.names[arm] for arm in kept)
    if len(names) < 2:
        raise BadInput(f"The judge leaves {len(names)} of {len(found.names)} options, and people need 2. Use a larger 'first'.")
    return Shortlist(names, {"by": " + ".join(judges)[:200], "of": len(found.names), "first": size, "rule": rule})


def keep(options: Sequence[Option], shortlist: Shortlist) -> tuple[Option, ...]:
    """The options of a file that are on the shortlist, in the file's order."""
    missing = set(shortlist.names) - {option.name for option in options}
    if missing or len(options) != shortlist.said["of"]:
        raise BadInput(
            f"A shortlist is of the options that the judge compared: {shortlist.said['of']}, of the same names. Got "
            f"{len(options)}{f', without {sorted(missing)[0]!r}' if missing else ''}."
        )
    return tuple(option for option in options if option.name in shortlist.names)
