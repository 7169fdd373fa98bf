"""The service: the only way to change an arena. One thread writes; commands that wait meanwhile share the next transaction."""

from __future__ import annotations

import gc
import logging
import secrets
import threading
from collections import OrderedDict, deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from multiduel.arena import commands as c
from multiduel.arena.asking import shown_ticket
from multiduel.arena.decisions import Decider, info
from multiduel.arena.epochs import warm
from multiduel.arena.errors import BrokenLog, Conflict, NotFound, Refused, Unavailable
from multiduel.arena.events import Event, moment
from multiduel.arena.imports import check_log
from multiduel.arena.journal import ArenaRow, Journal
from multiduel.arena.options import Content
from multiduel.arena.raters import RaterLine, rater_lines, standing
from multiduel.arena.replay import problem_of
from multiduel.arena.snapshots import digest, load, save
from multiduel.arena.state import State
from multiduel.arena.statements import Board, board, facts, forecast_of
from multiduel.inference import Verdict
from multiduel.inputs import BadInput, shortened
from multiduel.problems import EstimatedProblem

LOG = logging.getLogger(__name__)
TOGETHER = 256  # commands in a transaction at most
SNAPSHOT_AFTER = 5_000  # events, when nothing else is to be done
SNAPSHOT_ANYWAY = 50_000
IDLE = 0.5  # seconds without a command
MOST_IN_MEMORY = 200  # arenas
Waiting = tuple[Any, "Future[Any]"]


class Live:
    """An arena in memory. Whoever holds the lock sees it between two transactions."""

    def __init__(self, arena: str) -> None:
        self.arena = arena
        self.lock = threading.RLock()
        self.state: State | None = None
        self.saved = 0  # number of the last snapshot
        self.looking = threading.Lock()  # one works a board out, the others wait for it
        self.looking_at_raters = threading.Lock()
        self.board: Board | None = None
        self.verdict: Verdict | None = None  # of that board
        self.forecast: tuple[Any, Any] = (None, None)  # for which votes, and what
        self.raters: tuple[int, list[RaterLine]] = (0, [])


class Service:
    """Every method may be called from any thread. ``submit`` returns at once; ``do`` waits for the answer.

    >>> import os, tempfile
    >>> from multiduel.arena import connect
    >>> service = Service(connect(os.path.join(tempfile.mkdtemp(), "arena.db")))
    >>> service.close()
    """

    def __init__(self, journal: Journal, *, clock: Any = lambda: datetime.now(UTC)) -> None:
        self.journal, self._clock = journal, clock
        self._live: OrderedDict[str, Live] = OrderedDict()  # the longest not looked at first
        self._waiting: OrderedDict[str, deque[Waiting]] = OrderedDict()  # by arena, the longest waiting first
        self._news = threading.Condition()
        self._closed = False
        self._unsaved: set[str] = set()  # arenas with events since the last idle moment
        self.commits = self.commands = 0  # how well commands share transactions
        self._writer = threading.Thread(target=self._write, name="arena-writer", daemon=True)
        self._writer.start()

    # ---- commands

    def submit(self, command: Any) -> Future[Any]:
        """The answer, when it is durable. Refusals and failures are the future's exception."""
        future: Future[Any] = Future()
        arena = _arena(command)
        with self._news:
            if self._closed:
                raise Unavailable("The service is closed.")
            self._waiting.setdefault(arena, deque()).append((command, future))
            self._news.notify()
        return future

    def do(self, command: Any, timeout: float | None = None) -> Any:
        return self.submit(command).result(timeout)

    def close(self) -> None:
        """Carry out what waits, save snapshots, and end."""
        with self._news:
            self._closed = True
            self._news.notify()
        self._writer.join()
        for live in list(self._live.values()):
            self._save(live, 1)
        self.journal.close()

    def _write(self) -> None:
        while True:
            with self._news:
                if not self._waiting and not self._closed:
                    self._news.wait(IDLE if self._unsaved else None)
                if not self._waiting and self._closed:
                    return
                arena, group = self._take() if self._waiting else ("", [])
            running = [one for one in group if one[1].set_running_or_notify_cancel()]
            if running:
                self._carry_out(arena, running)
            elif not group:
                self._save_some()
            arena, group, running = "", [], []  # nothing is held while waiting

    def _take(self) -> tuple[str, list[Waiting]]:
        """What waits for the arena whose turn it is."""
        arena, queue = self._waiting.popitem(last=False)
        group = [queue.popleft() for _ in range(min(TOGETHER, len(queue)))]
        if queue:
            self._waiting[arena] = queue  # at the end: other arenas come first
        return arena, group

    def _carry_out(self, arena: str, group: list[Waiting]) -> None:
        if arena == "":
            for command, future in group:
                _answer(future, *_try(self._create, command))
            return
        answers, failure = _try(self._together, arena, [command for command, _ in group])
        if failure is not None and len(group) > 1 and not isinstance(failure, (Refused, Unavailable, BrokenLog)):
            for one in group:  # a fault in one command harms no other
                self._carry_out(arena, [one])
            return
        for k, (_, future) in enumerate(group):
            _answer(future, *(answers[k] if failure is None else (None, failure)))
        live = self._live.get(arena)
        if failure is None and live is not None:
            self._unsaved.add(arena)
            self._save(live, SNAPSHOT_ANYWAY)

    def _save_some(self) -> None:
        """In an idle moment, snapshots where they are due."""
        for arena in self._unsaved:
            live = self._live.get(arena)
            if live is not None:
                self._save(live, SNAPSHOT_AFTER)
        self._unsaved.clear()
        self._forget_some()

    def _forget_some(self) -> None:
        """Of very many arenas, those that were not looked at for the longest time; the journal knows them."""
        while len(self._live) > MOST_IN_MEMORY:
            with self._news:
                _, live = self._live.popitem(last=False)
            self._save(live, 1)

    def _save(self, live: Live, after: int) -> None:
        """A snapshot, if there are so many events since the last. It is a cache: without it, all is well and slower."""
        with live.lock:
            if live.state is not None and live.state.number - live.saved >= after:
                live.saved = live.state.number
                try:
                    self.journal.save_snapshot(live.arena, save(live.state))
                except Exception:  # the writer must live on, whatever is wrong with a cache
                    LOG.warning("No snapshot of arena %s could be saved.", live.arena, exc_info=True)

    def _together(self, arena: str, commands: list[Any]) -> list[tuple[Any, Exception | None]]:
        """Decide these commands in one transaction. If it fails, nothing happened, and the state in memory is forgotten."""
        live = self._find(arena)
        with live.lock:
            try:
                state = self._folded(live)
                with self.journal.transaction(arena) as transaction:
                    for event in transaction.since(state.number):
                        state.apply(event)
                    decider = Decider(state, transaction.put_content)
                    answers = [self._decide(decider, command) for command in commands]
                    if decider.events:
                        transaction.append(decider.events)
            except BaseException:
                live.state = None
                raise
        self.commits += 1
        self.commands += len(commands)
        return answers

    def _decide(self, decider: Decider, command: Any) -> tuple[Any, Exception | None]:
        before = decider.state.number
        try:
            return decider.decide(command, self._clock()), None
        except (Refused, BadInput) as refusal:
            if decider.state.number != before:
                raise RuntimeError(f"{type(command).__name__} was refused half-way.") from refusal
            return None, refusal

    def _create(self, command: c.Create) -> c.ArenaInfo:
        known = self._created(command)
        if known is not None:
            return known
        arena = secrets.token_hex(6)
        now = self._clock()
        state = State(arena)
        contents: dict[str, bytes] = {}
        decider = Decider(state, contents.__setitem__)
        answer: c.ArenaInfo = decider.decide(command, now)
        try:
            with self.journal.transaction(arena, ArenaRow(arena, answer.name, command.request, moment(now))) as transaction:
                for sha256, data in contents.items():
                    transaction.put_content(sha256, data)
                transaction.append(decider.events)
        except Unavailable:
            known = self._created(command)  # the same request may have come to another process at the same time
            if known is None:
                raise
            return known
        return answer

    def _created(self, command: c.Create) -> c.ArenaInfo | None:
        row = self.journal.find(request=command.request) if command.request is not None else None
        return None if row is None else self.info(row.id)

    def import_log(self, events: list[Event], contents: dict[str, bytes]) -> c.ArenaInfo:
        """A log that was exported, as an arena of this journal, under its own id. The same log again changes nothing."""
        first = check_log(events, contents)
        arena = first.body["arena"]
        if self.journal.find(id=arena) is not None:
            known = self.journal.events(arena)
            if [event.hash for event in known[: len(events)]] != [event.hash for event in events]:
                raise Conflict(f"There is an arena '{arena}' already, with another log.")
            return self.info(arena)
        row = ArenaRow(arena, first.body["name"], None, first.at)
        with self.journal.transaction(arena, row) as transaction:
            for sha256, data in contents.items():
                transaction.put_content(sha256, data)
            transaction.append(events)
        return self.info(arena)

    # ---- the fold, kept

    def _find(self, arena: str) -> Live:
        with self._news:
            live = self._live.get(arena)
            if live is not None:
                self._live.move_to_end(arena)
        if live is None:
            if self.journal.find(id=arena) is None:
                raise NotFound(f"There is no arena {shortened(arena)}.")
            with self._news:
                live = self._live.setdefault(arena, Live(arena))
        return live

    def _folded(self, live: Live) -> State:
        """The state in memory, or folded from the log."""
        if live.state is None:
            with _no_collecting():
                state = load(live.arena, self.journal.load_snapshot(live.arena)) or State(live.arena)
                live.saved = state.number
                for event in self.journal.stream(live.arena, state.number):
                    state.apply(event)
            live.state = state
        return live.state

    @contextmanager
    def look(self, arena: str) -> Iterator[State]:
        """The state with all that is committed, here or elsewhere. Not to be changed, nor kept."""
        live = self._find(arena)
        with live.lock:
            state = self._folded(live)
            try:
                for event in self.journal.stream(arena, state.number):
                    state.apply(event)
            except BaseException:
                live.state = None
                raise
            yield state

    # ---- reads

    def arenas(self) -> list[ArenaRow]:
        return self.journal.arenas()

    def info(self, arena: str) -> c.ArenaInfo:
        with self.look(arena) as state:
            return info(state)

    def board(self, arena: str) -> Board:
        """Worked out once for all who look between two events, and without holding up votes."""
        live = self._find(arena)
        with live.looking:
            with self.look(arena) as state:
                if live.board is not None and live.board.number == state.number:
                    return live.board
                known = facts(state)
            answers = known.tally.answers
            about = (answers - answers % max(1, answers // 100), known.verdict.present, known.verdict.settled, known.settings)
            if live.forecast[0] != about:  # a range to two digits: one vote in hundred changes it
                live.forecast = (about, forecast_of(known))
            known.verdict.follow(live.verdict)
            live.verdict = known.verdict
            live.board = board(known, live.forecast[1])
            return live.board

    def raters(self, arena: str) -> list[RaterLine]:
        live = self._find(arena)
        with live.looking_at_raters:
            with self.look(arena) as state:
                if live.raters[0] == state.number:
                    return live.raters[1]
                number, votes = state.number, standing(state)
            live.raters = (number, rater_lines(votes))
            return live.raters[1]

    def problem(self, arena: str) -> EstimatedProblem:
        """The log as a problem for the lab and for theory."""
        with self.look(arena) as state:
            return problem_of(state)

    def digest(self, arena: str) -> str:
        """The same for two services that know the same log, and only for them."""
        with self.look(arena) as state:
            return digest(state)

    def warm(self) -> None:
        """Load what is compiled, so that the first vote does not wait for it."""
        warm()

    def events(self, arena: str, since: int = 0, limit: int | None = None) -> list[Event]:
        self._find(arena)
        return self.journal.events(arena, since, limit)

    def ticket(self, ticket: str) -> c.Ticket:
        with self.look(c.arena_of(ticket)) as state:
            if ticket not in state.tickets:
                raise NotFound("There is no such ticket.")
            return shown_ticket(state, state.tickets[ticket])

    def content(self, ticket: str, position: int) -> Content:
        """What a rater sees at this position of a ticket."""
        arena = c.arena_of(ticket)
        with self.look(arena) as state:
            record = state.tickets.get(ticket)
            if record is None or isinstance(position, bool) or not 0 <= position < len(record.shown):
                raise NotFound("There is nothing at this position of this ticket.")
            said = state.options[record.shown[position]].contents[record.context or 0]
        data = self.journal.get_content(arena, said["sha256"])
        if data is None:
            raise NotFound("This content is missing in the journal.")
        return Content(said["kind"], data, said["type"])

    def question(self, ticket: str) -> str | None:
        """The text of the ticket's context."""
        with self.look(c.arena_of(ticket)) as state:
            if ticket not in state.tickets:
                raise NotFound("There is no such ticket.")
            context = state.tickets[ticket].context
            return None if context is None else state.contexts[context]


def _arena(command: Any) -> str:
    """The arena of a command; of one to come, ''."""
    if isinstance(command, c.Create):
        return ""
    where = c.arena_of(command.ticket) if isinstance(command, c.Vote) and isinstance(command.ticket, str) else command.arena
    if not isinstance(where, str) or not where:
        raise NotFound(f"There is no arena {shortened(where)}.")
    return where


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Millions of small objects that all stay: looking for those that do not would take longer than making them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _try(function: Any, *arguments: Any) -> tuple[Any, Exception | None]:
    try:
        return function(*arguments), None
    except Exception as error:
        return None, error


def _answer(future: Future[Any], answer: Any, failure: Exception | None) -> None:
    with suppress(Exception):
        if failure is None:
            future.set_result(answer)
        else:
            future.set_exception(failure)
