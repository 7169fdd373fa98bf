"""The loop: tickets are asked for, judged several at a time, and voted on, until a verdict, the budget or Ctrl-C ends it.

A run may end at any moment, killed even: the next one asks for the same tickets again under the same requests, finds the calls
that were made, and votes. A ticket is voted on once.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from multiduel.arena.domain.commands import Done
from multiduel.arena.domain.errors import Conflict
from multiduel.arena.judges.budgets import Budget, OutOfBudget
from multiduel.arena.judges.calls import Call, Calls
from multiduel.arena.judges.kinds import Judge
from multiduel.arena.judges.questions import Question, Unreadable, joined, question_of, turned
from multiduel.arena.judges.seats import Look, Seat, Shown

ATTEMPTS = 2  # an answer that cannot be read is asked for once more
WHY = {
    "settled": "The verdict is reached.",
    "exact": "All that these questions can say about the best option is judged.",
    "judged": "Every pair is judged on every question.",
    "budget": "The budget is spent. Run it again with more to go on.",
    "interrupted": "Interrupted. Run it again to go on: nothing is paid for twice.",
    "limit": "The judge has given as many votes as it may.",
    "paused": "The arena is paused.",
    "closed": "The arena is closed.",
    "created": "The arena is not open yet.",
    "one_option": "There is only one option left.",
}


class Progress(NamedTuple):
    """Where a run is."""

    votes: int  # of this run
    look: Look | None
    budget: Budget
    forecast: Callable[[], str]  # how many more votes; takes a moment


@dataclass
class Run:
    """One run of judges in an arena: a judge alone, or several as a jury, whose vote is what most of them say."""

    seat: Seat
    judges: Sequence[Judge]
    calls: Calls
    budget: Budget = field(default_factory=Budget)
    swap: bool = False
    instructions: str = ""
    concurrency: int = 8
    progress: Callable[[Progress], None] = lambda _: None
    votes: int = 0
    skips: int = 0
    stop: str = ""
    sentence: str = ""

    def go(self) -> Run:
        """Run until something ends it. ``stop`` says what: a word of ``WHY``."""
        pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="judge")
        under_way: dict[Future[dict[str, Any]], tuple[str, Shown]] = {}
        again = self.calls.open_asks(self.seat.arena, self.seat.rater)
        failure: BaseException | None = None
        reached = 0  # votes when the verdict was last reached
        try:
            while True:
                while not self.stop and len(under_way) < self.concurrency:
                    self._fill(pool, under_way, again)
                if not under_way:
                    if self._is_taken_back() and self.votes > reached:
                        self.stop, reached = "", self.votes
                        continue
                    break
                for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                    failure = self._take(done, *under_way.pop(done)) or failure
        except KeyboardInterrupt:
            self.stop = "interrupted"
            for future in under_way:
                future.cancel()
            for done in wait(under_way).done:  # calls under way are paid for: wait for them, and vote
                if not done.cancelled():
                    failure = self._take(done, *under_way[done]) or failure
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        if failure is not None:
            raise failure
        return self

    def _is_taken_back(self) -> bool:
        """The verdict ended the run, and answers that were under way then took it back."""
        look = self.seat.look() if self.stop in ("settled", "exact") else None
        return look is not None and not (look.settled or look.exact)

    def _fill(self, pool: ThreadPoolExecutor, under_way: dict[Future[Any], tuple[str, Shown]], again: list[str]) -> None:
        """Ask for a ticket, and let it be judged."""
        old = bool(again)
        request = again.pop(0) if old else uuid.uuid4().hex
        self.calls.begin(self.seat.arena, self.seat.rater, request)
        shown = self.seat.ask(request)
        if isinstance(shown, Done):
            self.calls.end(self.seat.arena, self.seat.rater, request)
            if not again:
                self.stop, self.sentence = shown.why, shown.sentence
            return
        under_way[pool.submit(self._judge, shown)] = (request, shown)

    def _take(self, done: Future[dict[str, Any]], request: str, shown: Shown) -> BaseException | None:
        """Vote on what was judged. Returns what went wrong, if the run must end for it."""
        error = done.exception()
        if isinstance(error, OutOfBudget):
            self.stop = self.stop or "budget"
            return None
        if error is not None:
            self.stop = self.stop or "failed"
            return error
        ballot = done.result()
        try:
            self.seat.vote(shown.ticket, ballot)
        except Conflict as refusal:
            if "closed" not in str(refusal):
                raise
            self.stop = "closed"
            return None
        self.calls.end(self.seat.arena, self.seat.rater, request)
        self.votes += 1
        self.skips += "skip" in ballot
        look = self.seat.look()
        self.progress(Progress(self.votes, look, self.budget, self.seat.forecast))
        if look is not None and not self.stop and (look.settled or look.exact):
            self.stop = "settled" if look.settled else "exact"
        return None

    def _judge(self, shown: Shown) -> dict[str, Any]:
        """What the judges say of a ticket, as one ballot. Each order in which a judge is asked, and each judge, counts alike."""
        question = question_of(shown.contents, shown.case, shown.task, self.instructions)
        n = len(question.contents)
        ballots = []
        for judge in self.judges:
            mine = []
            for is_turned in (False, True) if self.swap else (False,):
                ballot, call = self._answer(judge, question.reversed() if is_turned else question)
                ballot = turned(ballot, n) if is_turned else ballot
                self.calls.keep(self.seat.arena, shown.ticket, judge.name, is_turned, call.key, ballot)
                mine.append(ballot)
            unsaid = any("skip" in ballot for ballot in mine)  # said in one order only, nothing is known of the other
            ballots.append({"skip": True} if unsaid else joined(mine, shown.task, n))
        return joined(ballots, shown.task, n)

    def _answer(self, judge: Judge, question: Question) -> tuple[dict[str, Any], Call]:
        """A judge's ballot; a skip if its answer cannot be read."""
        call: Call | None = None
        for attempt in range(ATTEMPTS):
            call = self._call(judge, question, attempt)
            try:
                return judge.read(call.answer, question), call
            except Unreadable:
                continue
        assert call is not None
        return {"skip": True}, call

    def _call(self, judge: Judge, question: Question, attempt: int) -> Call:
        request = judge.request(question, attempt)

        def make() -> Any:
            self.budget.take()
            reply = judge.call(question, request)
            self.budget.add(reply.tokens_in, reply.tokens_out)
            return reply

        return self.calls.call(judge.identity, request, make, name=judge.name)
