"""What people find, what judges find, and what both find together: apart from the result, which counts those who decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from multiduel.arena.domain.ballots import spoken
from multiduel.arena.domain.records import RaterRecord, TicketRecord
from multiduel.arena.domain.state import State
from multiduel.arrays import Floats
from multiduel.inference import Verdict, Votes, standings, verdict
from multiduel.inference.words import listed, sentence

KINDS = {"people": "person", "judges": "judge"}  # as the setting 'deciders' names them


@dataclass(frozen=True)
class KindRank:
    """An option, as one kind of raters ranks it."""

    option: str
    rank_from: int
    rank_to: int


@dataclass(frozen=True)
class KindLine:
    """What one kind of raters finds, or all together."""

    kind: Annotated[str, "people, judges, or all."]
    raters: int
    answers: Annotated[int, "Votes of theirs that are not excluded."]
    sentence: str
    settled: bool
    winner: str | None
    ranks: Annotated[tuple[KindRank, ...], "Best first, without those retired."]


def whom_words(state: State, kinds: str, unit: str) -> str:
    """For whom a verdict holds; empty where the unit alone says it."""
    n = len(state.contexts)
    cases = f"on questions like these {n}" if n > 1 else "on this question"
    if kinds == "people":
        return f"for these raters, {cases}" if unit == "case" else ""
    if kinds == "all":
        return f"for people and judges together, {cases if unit == 'case' else 'every vote alike'}"
    names = [f"'{rater.label}'" for rater in state.raters.values() if rater.kind == "judge"]
    whose = f"for judge{'s' * (len(names) != 1)} {listed(names)}" if names else "for judges"
    return f"{whose}, {cases if unit == 'case' else 'as often as asked'}"


def decider_words(state: State) -> str:
    """For whom the result holds."""
    return whom_words(state, state.settings.deciders, state.settings.unit)


def exact_words(state: State, verdict: Verdict) -> str:
    """What holds for exactly these questions, which are then no sample of others, so that nothing is uncertain about it. Empty if
    judgements are left that could change it."""
    if state.settings.unit != "case":
        return ""
    n, (above, ties) = max(1, len(state.contexts)), verdict.tally
    for b in verdict.present:
        others = [j for j in verdict.present if j != b]
        left = [n - (above[b, j] + above[j, b] + ties[b, j]) for j in others]
        if others and all(above[b, j] - above[j, b] > rest for j, rest in zip(others, left, strict=True)):
            where = f"On exactly these {n} questions" if n > 1 else "On exactly this question"
            rest = "" if not any(left) else ", whatever the judgements that are left say"
            return f"{where}, '{verdict.names[b]}' was placed above each other option more often than below{rest}."
    return ""


def kind_lines(state: State) -> tuple[KindLine, ...]:
    """A line for each kind, and for all together, where there are judges. The board itself shows those who decide."""
    judges = [rater for rater in state.raters.values() if rater.kind == "judge"]
    if not judges:
        return ()
    people = [rater for rater in state.raters.values() if rater.kind == "person"]
    groups = {"people": people, "judges": judges, "all": [*people, *judges] if people else []}
    return tuple(_line(state, kinds, raters) for kinds, raters in groups.items() if raters and kinds in state.kinds)


def _line(state: State, kinds: str, raters: list[RaterRecord]) -> KindLine:
    tally, settings = state.kinds[kinds], state.settings
    unit = tally.unit
    found = verdict(
        tally,
        alpha=settings.alpha,
        margin=settings.margin,
        room=settings.room,
        retired=state.retired,
        names=[option.name for option in state.options],
    )
    with np.errstate(invalid="ignore"):  # an option without votes has an infinite width
        order = standings(tally, alpha=settings.alpha, verdict=found).lines
    ids = [option.id for option in state.options]
    return KindLine(
        kinds,
        len(raters),
        tally.answers,
        sentence(found, settings.question, whom_words(state, kinds, unit)),
        found.settled,
        None if found.winner is None else ids[found.winner],
        tuple(KindRank(ids[line.option], line.rank_from, line.rank_to) for line in order if line.rank_from),
    )


def judge_tickets(state: State) -> list[TicketRecord]:
    """Tickets with votes of judges that are not excluded, in the order of the votes."""
    judges = [rater.id for rater in state.raters.values() if rater.kind == "judge" and not rater.quarantined]
    voted = [(ticket.vote, ticket) for judge in judges for ticket in state.tickets.of_rater(judge)]
    counts = [(vote.event, ticket) for vote, ticket in voted if vote is not None and vote.says and not vote.aside]
    return [ticket for _, ticket in sorted(counts, key=lambda one: one[0])]


def _wins(ticket: TicketRecord) -> Floats:
    assert ticket.vote is not None
    return spoken(ticket.vote.ballot, len(ticket.shown))


def votes_of(state: State, tickets: Sequence[TicketRecord]) -> Votes:
    """The votes on these tickets in columns: a row for each pair, in the order shown."""
    first, second, outcome, starts = [], [], [], [0]
    for ticket in tickets:
        wins = _wins(ticket).tolist()
        for a, i in enumerate(ticket.shown):
            for b in range(a + 1, len(ticket.shown)):
                if wins[a][b] + wins[b][a] > 0.0:
                    first.append(i)
                    second.append(ticket.shown[b])
                    outcome.append((wins[a][b] > wins[b][a]) - (wins[a][b] < wins[b][a]))
        starts.append(len(first))
    raters = list(dict.fromkeys(ticket.rater or "" for ticket in tickets))
    return Votes.of(
        [option.name for option in state.options],
        first=first,
        second=second,
        outcome=outcome,
        starts=starts,
        rater=[raters.index(ticket.rater or "") for ticket in tickets],
        raters=raters,
        case=[0 if ticket.context is None else ticket.context for ticket in tickets],
        cases=[f"c{k}" for k in range(1, max(1, len(state.contexts)) + 1)],
        ordered=True,
    )
