"""The service against a model that is simple enough to be right, in random histories."""

from __future__ import annotations

import os
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, precondition, rule

from multiduel.arena import (
    AddOptions,
    AdmitRater,
    Ask,
    Close,
    Conflict,
    Create,
    Done,
    Forbidden,
    ImportVotes,
    NotFound,
    Open,
    Pause,
    PrintTickets,
    Quarantine,
    Refused,
    Release,
    RetireOption,
    Service,
    Settings,
    Ticket,
    Unavailable,
    Undo,
    Vote,
    VoteLine,
    connect,
)
from multiduel.arena.domain.commands import ChangeMargin, ChangePolicy
from multiduel.arena.files.verify import verify
from multiduel.inputs import BadInput
from tests.arena.model import Model
from tests.arena.play import Clock, full_disk, options

EXAMPLES, STEPS = (int(n) for n in os.environ.get("MULTIDUEL_ARENA_HISTORIES", "80x40").split("x"))
REFUSALS = (Conflict, NotFound, Forbidden, BadInput)
REQUESTS = st.sampled_from("abcdefgh")
RATERS = st.sampled_from(["r1", "r1", "r2", "r2", "r3", "r9"])


class Arena(RuleBasedStateMachine):
    tickets = Bundle("tickets")

    @initialize(
        question=st.sampled_from(["rank", "rank", "best", "worst"]),
        unit=st.sampled_from(["answer", "rater"]),
        slate_size=st.integers(2, 4),
        places=st.sampled_from([1, 1, 3]),
        limit=st.sampled_from([None, None, 3]),
        room=st.sampled_from([7, 7, None]),
        alpha=st.sampled_from([0.05, 0.9, 0.9]),
        go_on=st.booleans(),
        contexts=st.sampled_from([0, 0, 2]),
        policy=st.sampled_from(["challengers", "multi-rucb"]),
        n_options=st.integers(2, 4),
    )
    def create(self, n_options: int, contexts: int, **words: Any) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "arena.db"
        self.clock = Clock()
        self.service = Service(connect(self.path), clock=self.clock)
        chosen = Settings(seed=5, expires=100, **words)
        made = Create(
            "an arena", chosen, options(n_options, contexts=max(1, contexts)), [f"question {c}" for c in range(contexts)]
        )
        self.arena = self.service.do(made).id
        self.model = Model(chosen, n_options, contexts)
        self.contexts = contexts
        self.fails = False
        self._do(Open(self.arena), lambda: self.model.turn("open"))
        for k in range(2):
            self._do(AdmitRater(self.arena, f"rater {k}"), lambda k=k: self.model.admit(f"rater {k}", None))

    def teardown(self) -> None:
        if not hasattr(self, "service"):
            return
        self.restart(True)
        journal = self.service.journal
        report = verify(journal, self.arena)
        assert report.good, report
        before = self.service.digest(self.arena)
        journal.drop_snapshots()
        self.service.close()
        self.service = Service(connect(self.path), clock=self.clock)
        assert self.service.digest(self.arena) == before
        self.service.board(self.arena)
        self.service.close()
        self.folder.cleanup()

    def _do(self, command: Any, expected: Any) -> tuple[Any, Any]:
        """(what came, what the model says); refusals must be alike. If the disk is to fail, first nothing must happen."""
        note(f"{command}")
        self.model.now = self.clock.now
        if self.fails and not (isinstance(command, Vote) and command.ticket.startswith("line:")):  # that is of no arena
            self.fails = False
            self._fail_once(command)
        refusal: type[Exception] | None = None
        said = came = None
        try:
            said = expected()
        except REFUSALS as error:
            refusal = type(error)
        try:
            came = self.service.do(command)
        except (Refused, BadInput) as error:
            assert refusal is not None, f"refused, and should not be: {error!r}"
            assert type(error) is refusal, f"refused as {error!r}, should be {refusal.__name__}"
            return None, None
        assert refusal is None, f"should be refused with {refusal}: {command} came to {came}"
        return came, said

    def _fail_once(self, command: Any) -> None:
        """A command that has nothing to write may be answered; one that has is not."""
        before = self.service.info(self.arena).events
        with full_disk(self.service):
            try:
                self.service.do(command)
            except Unavailable:
                return
            except (Refused, BadInput):
                pass
        assert self.service.info(self.arena).events == before, "answered without having been written"

    # ---- rules

    @rule(seconds=st.sampled_from([1, 30, 99, 100, 101]))
    def wait(self, seconds: int) -> None:
        self.clock.now += timedelta(seconds=seconds)

    @rule()
    def the_next_commit_fails(self) -> None:
        self.fails = True

    @rule(drop=st.booleans())
    def restart(self, drop: bool) -> None:
        before = self.service.digest(self.arena)
        if drop:
            self.service.journal.drop_snapshots()
        self.service.close()
        self.service = Service(connect(self.path), clock=self.clock)
        assert self.service.digest(self.arena) == before

    @rule(which=st.sampled_from([Open, Open, Open, Pause, Close]), sure=st.integers(0, 4))
    def turn(self, which: Any, sure: int) -> None:
        if which is Close and sure:
            return  # seldom: little happens afterwards
        status = {Open: "open", Pause: "paused", Close: "closed"}[which]
        came, _ = self._do(which(self.arena), lambda: self.model.turn(status))
        assert came is None or came.status == status

    @rule()
    def add_option(self) -> None:
        more = options(1, len(self.model.retired) + 1, max(1, self.contexts))
        self._do(AddOptions(self.arena, more), self.model.add_option)

    @rule(k=st.sampled_from([0, 1, 2, 3, 9]))
    def retire(self, k: int) -> None:
        self._do(RetireOption(self.arena, f"o{k + 1}"), lambda: self.model.retire(k))

    @rule(k=st.integers(0, 5), limit=st.sampled_from([None, 2]))
    def admit(self, k: int, limit: int | None) -> None:
        self._do(AdmitRater(self.arena, f"rater {k}", limit=limit), lambda: self.model.admit(f"rater {k}", limit))

    @rule(rater=RATERS, on=st.booleans())
    def quarantine(self, rater: str, on: bool) -> None:
        command = Quarantine(self.arena, rater, "too quick") if on else Release(self.arena, rater)
        self._do(command, lambda: self.model.quarantine(rater, on))

    @rule(policy=st.sampled_from(["challengers", "uniform", "multi-rucb"]))
    def change_policy(self, policy: str) -> None:
        self._do(ChangePolicy(self.arena, policy), self.model.not_closed)

    @rule(margin=st.sampled_from([0.0, 0.2]))
    def change_margin(self, margin: float) -> None:
        def expected() -> None:
            self.model.not_closed()
            self.model.revised |= self.model.settings.margin != margin
            self.model.settings = Settings.from_json(self.model.settings.to_json() | {"margin": margin})

        self._do(ChangeMargin(self.arena, margin), expected)

    @rule(target=tickets, rater=RATERS, request=REQUESTS)
    def ask(self, rater: str, request: str) -> Any:
        came, said = self._do(Ask(self.arena, rater, request), lambda: self.model.ask(rater, request))
        return self._asked(came, said, rater, request)

    def _asked(self, came: Any, said: Any, rater: str, request: str) -> Any:
        if came is None:
            return multiple()
        if isinstance(said, str):
            assert isinstance(came, Done) and came.why == said, (came, said)
            return multiple()
        assert isinstance(came, Ticket), (came, said)
        if said is not None:
            assert came.id == said.id, "not the ticket that it should be again"
            return multiple()
        assert came.id not in self.model.tickets
        self.model.issued(came, rater, request, expires=True)
        return came.id

    @rule(target=tickets, rater=st.sampled_from(["r1", "r2"]), rounds=st.integers(1, 5), data=st.data())
    def go_on_rating(self, rater: str, rounds: int, data: Any) -> Any:
        """What mostly happens: ask and vote, several times."""
        left = []
        for _ in range(rounds):
            request = f"request {len(self.model.tickets)} {len(self.model.requests)}"
            came, said = self._do(Ask(self.arena, rater, request), lambda request=request: self.model.ask(rater, request))
            self._asked(came, said, rater, request)
            if not isinstance(came, Ticket):
                break
            self._vote(came.id, self._ballot(data, self.model.tickets[came.id].shown), False, None)
            if self.model.tickets[came.id].vote is None:
                left.append(came.id)
        return multiple(*left)

    @rule(target=tickets, number=st.integers(1, 2), request=REQUESTS)
    def print_tickets(self, number: int, request: str) -> Any:
        known = self.model.requests.get(("print", "", request))

        def expected() -> None:
            if known is None and self.model.nothing_to_ask():
                raise Conflict

        came, _ = self._do(PrintTickets(self.arena, number, request), expected)
        if came is None:
            return multiple()
        if known is not None:
            assert [ticket.id for ticket in came] == known
            return multiple()
        assert len(came) == number
        for ticket in came:
            self.model.issued(ticket, None, None, expires=False)
        self.model.requests["print", "", request] = [ticket.id for ticket in came]
        return multiple(*self.model.requests["print", "", request])

    @rule(
        target=tickets,
        ticket=consumes(tickets),
        data=st.data(),
        next=st.booleans(),
        who=st.sampled_from([None, None, None, "r1"]),
    )
    def vote(self, ticket: str, data: Any, next: bool, who: str | None) -> Any:
        return self._vote(ticket, self._ballot(data, self.model.tickets[ticket].shown), next, who)

    @precondition(lambda self: any(t.vote for t in self.model.tickets.values()))
    @rule(target=tickets, data=st.data(), next=st.booleans())
    def vote_again(self, data: Any, next: bool) -> Any:
        """The same mostly, sometimes another, on a ticket that has a vote."""
        voted = [t for t in self.model.tickets.values() if t.vote is not None]
        ticket = data.draw(st.sampled_from(voted))
        same = data.draw(st.booleans())
        return self._vote(ticket.id, ticket.vote.ballot if same else self._ballot(data, ticket.shown), next, None)

    def _vote(self, id: str, ballot: dict[str, Any], next: bool, who: str | None) -> Any:
        ticket = self.model.tickets[id]
        before = ticket.rater or who
        if next and before is None:
            self._do(Vote(id, ballot, next=True), lambda: self._refuse(NotFound if ticket.imported else BadInput))
            return id if ticket.vote is None else multiple()
        came, said = self._do(Vote(id, ballot, next=next, rater=who), lambda: self.model.vote(id, ballot, who))
        if came is None:
            return id if ticket.vote is None else multiple()
        assert came.counted == said, (came, said)
        self.model.announce()  # before the next question is asked
        if not next:
            assert came.next is None
            return multiple()
        assert before is not None
        try:
            following = self.model.ask(before, f"after {id}")
        except Conflict:
            following = "places"
        return self._asked(came.next, following, before, f"after {id}")

    @staticmethod
    def _refuse(error: type[Exception]) -> None:
        raise error

    def _ballot(self, data: Any, shown: tuple[int, ...]) -> dict[str, Any]:
        """Mostly, options that came first are better: so that verdicts come and go."""
        question = self.model.settings.question
        kind = data.draw(st.sampled_from([question] * 12 + ["skip", "best"]))
        if kind == "skip":
            return {"skip": True}
        how = data.draw(st.sampled_from(["by strength"] * 5 + ["strict", "tie", "partial"]))
        best_first = sorted(range(len(shown)), key=shown.__getitem__)
        order = best_first if how == "by strength" else data.draw(st.permutations(best_first))
        if kind != "rank":
            return {kind: order[0 if kind == "best" else -1]}
        if how == "tie":
            return {"rank": [sorted(order[:2]), *[[p] for p in order[2:]]]}
        return {"rank": [[p] for p in (order[:2] if how == "partial" else order)]}

    @rule(target=tickets, rater=RATERS, request=REQUESTS)
    def undo(self, rater: str, request: str) -> Any:
        came, said = self._do(Undo(self.arena, rater, request), lambda: self.model.undo(rater, request))
        if came is None:
            return multiple()
        old, known = said
        if known is not None:
            assert came == known
            return multiple()
        assert came.counted == "undone"
        self.model.undone(rater, request, old, came)
        return came.next.id

    @rule(data=st.data(), n=st.integers(1, 3), dry_run=st.sampled_from([False, False, True]))
    def import_votes(self, data: Any, n: int, dry_run: bool) -> None:
        lines = [self._line(data) for _ in range(n)]
        came, said = self._do(ImportVotes(self.arena, lines, dry_run), lambda: self.model.import_lines(lines, dry_run))
        if came is not None:
            assert [line.result for line in came.lines] == said
            assert came.accepted == ("refused" not in said)

    def _line(self, data: Any) -> VoteLine:
        id = f"line {data.draw(st.integers(0, 6))}"
        if id in self.model.lines and data.draw(st.booleans()):  # as it was sent before
            ticket, shown, ballot, rater, context = self.model.lines[id][0]
            return VoteLine(id, ballot, ticket=ticket, shown=shown, rater=rater, context=context)
        rater = data.draw(st.sampled_from([None, "rater 0", "rater 1", "paper 1"]))
        printed = [t for t in self.model.tickets.values() if not t.imported]
        if printed and data.draw(st.booleans()):
            ticket = data.draw(st.sampled_from(printed))
            return VoteLine(id, self._ballot(data, ticket.shown), ticket=ticket.id, rater=rater)
        shown = data.draw(st.permutations(range(len(self.model.retired))))[:2]
        context = "c1" if self.contexts and data.draw(st.booleans()) else None
        return VoteLine(
            id, self._ballot(data, tuple(shown)), shown=tuple(f"o{k + 1}" for k in shown), rater=rater, context=context
        )

    # ---- always

    @invariant()
    def they_agree(self) -> None:
        if not hasattr(self, "service"):
            return
        model, tally = self.model, self.model.tally()
        with self.service.look(self.arena) as state:
            assert np.array_equal(state.tally.above, tally.above) and np.array_equal(state.tally.ties, tally.ties)
            assert state.tally.showings.tolist() == tally.showings.tolist() and state.tally.answers == tally.answers
            assert state.set_aside == model.set_aside()
            assert state.status == model.status
            assert state.present == tuple(model.present)
            assert {rater.id: rater.votes for rater in state.raters.values()} == {id: model.votes_of(id) for id in model.raters}
            kind, winner = (state.verdict["kind"], state.verdict["winner"]) if state.verdict else ("open", None)
            expected = model.announce()
            assert (kind, winner) == (expected[0], None if expected[1] is None else f"o{expected[1] + 1}")
            assert {ticket.id for ticket in state.tickets.values()} == set(model.tickets)


TestArena = Arena.TestCase
TestArena.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    derandomize=True,
    phases=(Phase.generate,),  # a failing history is printed as it was: making it shorter would take minutes
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
