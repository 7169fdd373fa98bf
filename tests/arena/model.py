"""What an arena must do, said as simply as possible: lists of votes, counted anew whenever somebody asks. No log, no policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from multiduel.arena import Conflict, Forbidden, NotFound, Settings
from multiduel.inference import Tally, verdict
from multiduel.inputs import BadInput


@dataclass
class ModelVote:
    ballot: dict[str, Any]
    rater: str | None
    counted: str  # the word on the receipt
    limited: bool  # beyond the rater's limit: never counts
    undone: bool = False
    announced: bool = False  # a winner or a cycle was announced after it


@dataclass
class ModelTicket:
    id: str
    rater: str | None
    shown: tuple[int, ...]
    context: str | None
    expires: datetime | None
    vote: ModelVote | None = None
    imported: bool = False
    for_rater: bool = True  # issued to one


@dataclass
class ModelRater:
    id: str
    label: str
    limit: int | None = None
    quarantined: bool = False
    voted: list[ModelTicket] = field(default_factory=list)  # whose votes stand


def says(ballot: dict[str, Any]) -> bool:
    return "skip" not in ballot


def placings(ballot: dict[str, Any], shown: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """(i, j) with i < j -> 1: i above, -1: below, 0: level; pairs of which nothing was said are not there."""
    said: dict[tuple[int, int], int] = {}

    def put(a: int, b: int, way: int) -> None:
        i, j = shown[a], shown[b]
        said[min(i, j), max(i, j)] = way if i < j else -way

    places = range(len(shown))
    if "rank" in ballot:
        where = {place: k for k, group in enumerate(ballot["rank"]) for place in group}
        for a in where:
            for b in where:
                if a < b:
                    put(a, b, (where[a] < where[b]) - (where[a] > where[b]))
    for kind, way in (("best", 1), ("worst", -1)):
        if kind in ballot:
            for b in places:
                if b != ballot[kind]:
                    put(ballot[kind], b, way)
    return said


class Model:
    def __init__(self, settings: Settings, n_options: int, contexts: int) -> None:
        self.settings, self.status = settings, "created"
        self.retired = [False] * n_options
        self.contexts = contexts
        self.raters: dict[str, ModelRater] = {}
        self.tickets: dict[str, ModelTicket] = {}
        self.requests: dict[tuple[str, str, str], Any] = {}
        self.lines: dict[str, tuple[Any, ModelTicket]] = {}
        self.now = datetime.min
        self.said: tuple[str, int | None] = ("open", None)  # the last verdict
        self.revised = False  # since then the owner changed options, the margin, or whose votes count

    # ---- looking

    @property
    def present(self) -> list[int]:
        return [k for k, gone in enumerate(self.retired) if not gone]

    def standing(self) -> list[ModelTicket]:
        return [ticket for ticket in self.tickets.values() if ticket.vote is not None and not ticket.vote.undone]

    def counts(self, ticket: ModelTicket) -> bool:
        vote = ticket.vote
        if vote is None or vote.undone or vote.limited or not says(vote.ballot):
            return False
        return vote.rater is None or not self.raters[vote.rater].quarantined

    def set_aside(self) -> int:
        return sum(says(t.vote.ballot) and not self.counts(t) for t in self.standing() if t.vote is not None)

    def tally(self) -> Tally:
        """Counted anew. By rater: the first judgement of a pair, in the order of that rater's votes."""
        K = len(self.retired)
        above, ties, showings, answers = np.zeros((K, K)), np.zeros((K, K)), np.zeros(K, int), 0
        in_order = [t for t in self.standing() if t.vote is not None and t.vote.rater is None]
        in_order += [t for rater in self.raters.values() for t in rater.voted]
        judged: set[Any] = set()
        for ticket in in_order:
            if not self.counts(ticket):
                continue
            assert ticket.vote is not None
            answers += 1
            showings[list(ticket.shown)] += 1
            for (i, j), way in placings(ticket.vote.ballot, ticket.shown).items():
                if self.settings.unit == "rater":
                    if (ticket.vote.rater, i, j) in judged:
                        continue
                    judged.add((ticket.vote.rater, i, j))
                if way == 0:
                    ties[i, j] += 1
                    ties[j, i] += 1
                else:
                    above[(i, j) if way > 0 else (j, i)] += 1
        return Tally.of(above, ties, answers=answers, showings=showings, unit=self.settings.unit)

    def verdict(self) -> tuple[str, int | None]:
        words = self.settings
        gone = [k for k, retired in enumerate(self.retired) if retired]
        found = verdict(self.tally(), alpha=words.alpha, margin=words.margin, room=words.room, retired=gone)
        return (found.kind, found.winner) if found.settled else ("open", None)

    def announce(self) -> tuple[str, int | None]:
        """The verdict: one that was reached stands. If it is another than before and settles, the votes so far cannot be taken
        back."""
        found = self.verdict() if self.said[0] == "open" or self.revised else self.said
        self.revised = False
        if found != self.said and found[0] != "open":
            for ticket in self.tickets.values():
                if ticket.vote is not None:
                    ticket.vote.announced = True
        self.said = found
        return found

    def judged(self, rater: str) -> set[tuple[int, int]]:
        votes = [t for t in self.raters[rater].voted if self.counts(t)]
        return {pair for t in votes if t.vote is not None for pair in placings(t.vote.ballot, t.shown)}

    def votes_of(self, rater: str) -> int:
        return sum(says(t.vote.ballot) for t in self.raters[rater].voted if t.vote is not None)

    def held(self, rater: str) -> list[ModelTicket]:
        mine = [t for t in self.tickets.values() if t.rater == rater and t.for_rater and t.vote is None]
        return [t for t in mine if t.expires is None or t.expires > self.now]

    def limit(self, rater: str) -> int | None:
        own = self.raters[rater].limit
        return self.settings.limit if own is None else own

    # ---- commands: what must come of them, or the refusal

    def not_closed(self) -> None:
        if self.status == "closed":
            raise Conflict

    def turn(self, status: str) -> None:
        if self.status != status:
            if status == "paused" and self.status == "created":
                raise Conflict
            self.not_closed()
            self.status = status

    def add_option(self) -> None:
        self.not_closed()
        if self.settings.room is None or len(self.retired) >= self.settings.room:
            raise Conflict
        self.retired.append(False)
        self.revised = True

    def retire(self, k: int) -> None:
        if k >= len(self.retired):
            raise NotFound
        if not self.retired[k]:
            self.not_closed()
            if self.settings.room is None or len(self.present) <= 2:
                raise Conflict
            self.retired[k] = self.revised = True

    def admit(self, label: str, limit: int | None) -> None:
        self.not_closed()
        if any(rater.label == label for rater in self.raters.values()):
            raise Conflict
        self._admit(label, limit)

    def _admit(self, label: str, limit: int | None = None) -> str:
        id = f"r{len(self.raters) + 1}"
        self.raters[id] = ModelRater(id, label, limit)
        return id

    def rater(self, id: str) -> ModelRater:
        if id not in self.raters:
            raise NotFound
        return self.raters[id]

    def quarantine(self, id: str, on: bool) -> None:
        self.revised |= self.rater(id).quarantined != on
        self.raters[id].quarantined = on

    def nothing_to_ask(self) -> str | None:
        if self.status != "open":
            return self.status
        return "settled" if self.said[0] != "open" and not self.settings.go_on else None

    def ask(self, rater: str, request: str) -> str | ModelTicket | None:
        """A word why there is none; a ticket that is known already; or None: a new one."""
        self.rater(rater)
        known = self.requests.get(("ask", rater, request))
        if known is not None:
            return self.tickets[known]
        why = self.nothing_to_ask()
        if why:
            return why
        held = self.held(rater)
        if len(held) >= self.settings.places:
            if self.settings.places == 1:
                return held[-1]
            raise Conflict
        limit = self.limit(rater)
        if limit is not None and self.votes_of(rater) + len(held) >= limit:
            return "limit"
        if self.settings.unit == "rater" and not self._unjudged(rater, self.present):
            return "judged"
        return None

    def _unjudged(self, rater: str, options: Any) -> set[tuple[int, int]]:
        return {(i, j) for i in options for j in options if i < j} - self.judged(rater)

    def issued(self, ticket: Any, rater: str | None, request: str | None, expires: bool) -> None:
        """A new ticket: is it one that may be issued?"""
        shown = tuple(int(option[1:]) - 1 for option in ticket.options)
        assert 2 <= len(shown) <= self.settings.slate_size and len(set(shown)) == len(shown)
        assert set(shown) <= set(self.present), "a retired option is shown"
        assert ticket.rater == rater
        if rater is not None and self.settings.unit == "rater":
            assert self._unjudged(rater, shown), "nothing new for this rater"
        self._check_context(ticket.context, rater)
        self._keep(ticket, rater, shown, expires)
        if request is not None and rater is not None:
            self.requests["ask", rater, request] = ticket.id

    def _check_context(self, context: str | None, rater: str | None) -> None:
        if not self.contexts:
            assert context is None
            return
        mine = [t.context for t in self.tickets.values() if rater is not None and t.rater == rater and t.for_rater]
        seen = {f"c{k + 1}": mine.count(f"c{k + 1}") for k in range(self.contexts)}
        assert seen[str(context)] == min(seen.values()), "another context was seen less"

    def _keep(self, ticket: Any, rater: str | None, shown: tuple[int, ...], expires: bool) -> None:
        until = self.now + timedelta(seconds=self.settings.expires) if expires else None
        self.tickets[ticket.id] = ModelTicket(ticket.id, rater, shown, ticket.context, until, for_rater=rater is not None)

    def vote(self, ticket_id: str, ballot: dict[str, Any], rater: str | None) -> str:
        """The word on the receipt."""
        ticket = self.tickets.get(ticket_id)
        if ticket is None or ticket.imported:
            raise NotFound
        if rater is not None and ticket.rater not in (None, rater):
            raise Forbidden
        if next(iter(ballot)) not in ("skip", self.settings.question):
            raise BadInput
        who = ticket.rater or rater
        if ticket.vote is not None:
            if ticket.vote.ballot != ballot:
                raise Conflict
            return "undone" if ticket.vote.undone else ticket.vote.counted
        self.not_closed()
        if rater is not None:
            self.rater(rater)
        return self._cast(ticket, ballot, who)

    def _cast(self, ticket: ModelTicket, ballot: dict[str, Any], who: str | None) -> str:
        if who is None and self.settings.unit == "rater" and says(ballot):
            raise BadInput
        late = ticket.expires is not None and ticket.expires <= self.now
        limit = self.limit(who) if who is not None else None
        limited = who is not None and limit is not None and self.votes_of(who) >= limit and says(ballot)
        aside = limited or (who is not None and self.raters[who].quarantined)
        word = "skipped" if not says(ballot) else "aside" if aside else "late" if late else "counted"
        ticket.rater = who
        ticket.vote = ModelVote(ballot, who, word, limited)
        if who is not None:
            self.raters[who].voted.append(ticket)
        return word

    def undo(self, rater: str, request: str) -> Any:
        """(the ticket whose vote goes, None), or (None, what was answered before)."""
        mine = self.rater(rater)
        known = self.requests.get(("undo", rater, request))
        if known is not None:
            return None, known
        self.not_closed()
        if not mine.voted or (mine.voted[-1].vote and mine.voted[-1].vote.announced):
            raise Conflict
        ticket = mine.voted.pop()
        assert ticket.vote is not None
        ticket.vote.undone = True
        return ticket, None

    def undone(self, rater: str, request: str, old: ModelTicket, receipt: Any) -> None:
        again = receipt.next
        assert tuple(int(option[1:]) - 1 for option in again.options) == old.shown and again.context == old.context
        self._keep(again, rater, old.shown, True)
        self.requests["undo", rater, request] = receipt

    def import_lines(self, lines: list[Any], dry_run: bool) -> list[str]:
        """A result by line; if none is refused and it is no dry run, they are counted."""
        if self.status == "closed":
            raise Conflict
        results, new, tickets = [], {}, set()
        for line in lines:
            ticket = self.tickets.get(line.ticket) if line.ticket is not None else None
            owner = self.raters[ticket.rater].label if ticket is not None and ticket.rater is not None else None
            said = (line.ticket, tuple(line.shown), line.ballot, line.rater or owner, line.context)
            before = self.lines[line.id][0] if line.id in self.lines else new.get(line.id)
            wrong = (
                (line.ticket is not None and (ticket is None or ticket.imported or ticket.expires is not None))
                or (owner is not None and line.rater not in (None, owner))
                or next(iter(line.ballot)) not in ("skip", self.settings.question)
                or (before is not None and before != said)
                or (before is None and ticket is not None and (ticket.vote is not None or ticket.id in tickets))
                or (before is None and self.settings.unit == "rater" and said[3] is None)
            )
            results.append("refused" if wrong else "new" if before is None else "already")
            if before is None and not wrong:
                new[line.id] = said
                if ticket is not None:
                    tickets.add(ticket.id)
        if "refused" not in results and not dry_run:
            for id, said in new.items():
                self._import(id, said)
        return results

    def _import(self, id: str, said: Any) -> None:
        ticket_id, shown, ballot, label, context = said
        who = None
        if label is not None:
            known = [rater.id for rater in self.raters.values() if rater.label == label]
            who = known[0] if known else self._admit(label)
        if ticket_id is not None:
            ticket = self.tickets[ticket_id]
        else:
            options = tuple(int(option[1:]) - 1 for option in shown)
            ticket = ModelTicket(f"line:{id}", who, options, context, None, imported=True, for_rater=False)
            self.tickets[ticket.id] = ticket
        self._cast(ticket, ballot, who)
        self.lines[id] = (said, ticket)
