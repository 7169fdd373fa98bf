"""The service: the only way to change an arena. One thread at a time writes to an arena; commands that wait meanwhile share the
next transaction. A fault in one arena, or in one command, costs no other arena and no other command anything."""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.actors import OPERATOR
from multiduel.arena.domain.chooser import warm
from multiduel.arena.domain.clock import WallClock
from multiduel.arena.domain.errors import BrokenLog, Conflict, NotFound, Refused, Unavailable
from multiduel.arena.domain.events import Event, moment, time_of
from multiduel.arena.domain.options import Content
from multiduel.arena.domain.pace import Pace
from multiduel.arena.domain.state import State
from multiduel.arena.domain.texts import check_text, is_broken
from multiduel.arena.journal import ArenaRow, Journal, Transaction
from multiduel.arena.service.board import Board, board, facts, forecast_of
from multiduel.arena.service.decision import Decision
from multiduel.arena.service.handlers import decide
from multiduel.arena.service.history import keys_ahead, past_in, reading
from multiduel.arena.service.lifecycle import info
from multiduel.arena.service.raters import Gathering, RaterLine, RaterLog, portion_name
from multiduel.arena.service.slices import Slice, part_of, slices_of
from multiduel.arena.service.snapshots import digest, load, save
from multiduel.arena.service.tickets import shown_ticket
from multiduel.arena.service.writers import More, Waiting, Writers, answer, harmless
from multiduel.inference import Forecast
from multiduel.inputs import BadInput, shortened
from multiduel.kernels.compiler.dispatch import uncollected

LOG = logging.getLogger(__name__)
TOGETHER = 256  # commands in a transaction at most
SNAPSHOT_AFTER = 5_000  # events, when nothing else is to be done
SNAPSHOT_ANYWAY = 50_000
SNAPSHOT_AFTER_FAULT = 500  # where the state in memory was lost, so that it costs little if it happens again
TRIM = 1_000  # events, after which a fold lets go of closed tickets
IDLE = 0.5  # seconds without a command
MOST_IN_MEMORY = 200  # arenas
MOST_SLICED = 50  # boards of parts that are kept
REMEMBERED = 10.0  # seconds for which a damaged arena is known to be so without another look
FRESH = 5.0  # seconds for which a durable write proves that writing works
FAILED_FOR = 1.0  # seconds for which one that failed proves that it does not
MANY = 300  # lines of a file, or tickets, that take long
HEART, BEAT = "(heart)", object()  # the line and the command of a write that only proves that writing works


class Order(NamedTuple):
    """A command, and whose it is."""

    command: Any
    actor: str = OPERATOR


class HalfWay(Exception):
    """A command failed after it had changed the state in memory. The cause says why; nothing was appended."""

    def __init__(self, command: int) -> None:
        super().__init__(f"Command {command} of its group failed half-way.")
        self.command = command


class PolicyFailed(Exception):
    """A policy failed while a log was folded."""


class Overtaken(Exception):
    """Another process appended to the arena while a long command was decided."""


class Live:
    """An arena in memory. Whoever holds the lock sees it between two transactions."""

    def __init__(self, arena: str) -> None:
        self.arena = arena
        self.lock = threading.RLock()
        self.state: State | None = None
        self.saved = 0  # number of the last snapshot
        self.lost = False  # the state was forgotten after a fault
        self.broken: tuple[float, BrokenLog] | None = None  # when it was found, and what
        self.looking = threading.Lock()  # one works a board out, the others wait for it
        self.looking_at_raters = threading.Lock()
        self.board: Board | None = None
        self.forecast: tuple[Any, Any] = (None, None)  # for which votes, and what
        self.raters: tuple[int, list[RaterLine]] = (0, [])
        self.gathering = Gathering()  # of what raters did
        self.slicing = threading.Lock()
        self.sliced: dict[Slice, tuple[Board, Pace]] = {}


class Service:
    """All arenas of a journal. Methods may be called from any thread; ``submit`` returns at once, ``do`` waits for the answer.

    >>> import os, tempfile
    >>> from multiduel.arena import connect
    >>> service = Service(connect(os.path.join(tempfile.mkdtemp(), "arena.db")))
    >>> service.close()
    """

    def __init__(self, journal: Journal, *, clock: Any = None) -> None:
        self.journal, self._clock = journal, clock or WallClock()
        self._live: OrderedDict[str, Live] = OrderedDict()  # the longest not looked at first
        self._guard = threading.Lock()  # of what the writers share
        self._unsaved: set[str] = set()  # arenas with events since the last idle moment
        self._failed = False  # the last write did not go through
        self._written = -FRESH  # when a write last went through
        self._beat: tuple[float, Future[Any]] | None = None
        self.commits = self.commands = 0  # how well commands share transactions
        self._writers = Writers(self._carry_out, self._save_some, pause=IDLE, together=TOGETHER, is_long=_is_long)

    # ---- commands

    def submit(self, command: Any, *, actor: str = OPERATOR) -> Future[Any]:
        """Queue a command.

        Parameters
        ----------
        command
            One of the commands of ``multiduel.arena``, such as ``Vote``.
        actor
            Who sends it, as its events will say.

        Returns
        -------
        Future
            It has the answer when the answer is durable; refusals and failures are its exception.
        """
        return self._writers.submit(_arena(command), Order(command, actor))

    def do(self, command: Any, timeout: float | None = None, *, actor: str = OPERATOR) -> Any:
        """Carry out a command and wait for its answer.

        Parameters
        ----------
        command, actor
            As for ``submit``.
        timeout
            Seconds to wait for the answer. The command goes on after that.

        Returns
        -------
        Any
            The command's answer, such as a ``Receipt`` of a ``Vote``.

        Raises
        ------
        Refused, BadInput
            The command changed nothing; the sentence says why.
        Unavailable
            The database does not take writes now.
        """
        return self.submit(command, actor=actor).result(timeout)

    def close(self) -> None:
        """Carry out the commands that wait, save snapshots, and end."""
        self._writers.close()
        for live in list(self._live.values()):
            self._save(live, 1)
        self.journal.close()

    def stuck(self) -> str:
        """Say why commands are not carried out as they should be; empty if all is well."""
        return self._writers.stuck()

    def heartbeat(self) -> Future[Any]:
        """Prove that a write goes through: by one of the last seconds, or by one that the writers make now."""
        done: Future[Any] = Future()
        done.set_result(None)
        with self._guard:
            now = time.monotonic()
            if now - self._written < FRESH and not self._failed:
                return done
            if self._beat is not None:
                begun, beat = self._beat
                if not beat.done() or (beat.exception() is not None and now - begun < FAILED_FOR):
                    return beat
            self._beat = (now, self._writers.submit(HEART, Order(BEAT)))
            return self._beat[1]

    def _carry_out(self, arena: str, group: list[Waiting], more: More) -> None:
        if arena in ("", HEART):
            for order, future in group:
                answer(future, *_try(self._prove) if order.command is BEAT else _try(self._create, *order))
            return
        left = list(group)
        while left:
            answers, failure = _try(self._together, arena, left, more)
            if not isinstance(failure, HalfWay):
                break
            _, future = left.pop(failure.command)  # a fault in one command harms no other
            answer(future, None, harmless(failure.__cause__ or failure))
        if failure is not None and len(left) > 1 and not isinstance(failure, (Refused, Unavailable, BrokenLog)):
            for one in left:  # events that cannot be written: whose they are shows when they come alone
                self._carry_out(arena, [one], list)
            return
        for k, (_, future) in enumerate(left):
            answer(future, *(answers[k] if failure is None else (None, failure)))
        live = self._live.get(arena)
        if failure is None and live is not None:
            with self._guard:
                self._unsaved.add(arena)
            self._save(live, SNAPSHOT_AFTER_FAULT if live.lost else SNAPSHOT_ANYWAY)
            live.lost = False

    def _prove(self) -> None:
        """Make a durable write that changes no arena."""
        with self._noting_writes() as wrote:
            self.journal.beat(f"{os.getpid() % 100}", moment(self._clock()))
            wrote.append(True)

    @contextmanager
    def _noting_writes(self) -> Iterator[list[bool]]:
        """Remember whether the last write went through. A transaction that wrote nothing proves nothing."""
        wrote: list[bool] = []
        try:
            yield wrote
        except Unavailable:
            self._failed = True
            raise
        if any(wrote):
            self._failed, self._written = False, time.monotonic()

    def _save_some(self) -> None:
        """Save due snapshots while no commands are waiting."""
        with self._guard:
            unsaved, self._unsaved = self._unsaved, set()
        for arena in unsaved:
            live = self._live.get(arena)
            if live is not None:
                self._save(live, SNAPSHOT_AFTER)
        self._forget_some()

    def _forget_some(self) -> None:
        """Forget, of very many arenas, those that were not looked at for the longest time; the journal knows them."""
        while len(self._live) > MOST_IN_MEMORY:
            with self._guard:
                _, live = self._live.popitem(last=False)
            self._save(live, 1)

    def _save(self, live: Live, after: int) -> None:
        """Save a snapshot, if there are so many events since the last. It is a cache: without it, all is well and slower."""
        with live.lock:
            self._save_portions(live)
            state = live.state
            if state is not None and not state.torn and state.number - live.saved >= after:
                live.saved = state.number
                try:
                    self.journal.save_snapshot(live.arena, save(state))
                except Exception:  # the writer must live on, whatever is wrong with a cache
                    LOG.warning("No snapshot of arena %s could be saved.", live.arena, exc_info=True)

    def _save_portions(self, live: Live) -> None:
        """Save what was gathered of raters, where a portion is complete. These are caches too."""
        complete, live.gathering.complete = live.gathering.complete, []
        try:
            for snapshot in complete:
                self.journal.save_snapshot(live.arena, snapshot, portion_name(snapshot.number))
        except Exception:
            LOG.warning("No statistics of raters of arena %s could be saved.", live.arena, exc_info=True)

    def _together(self, arena: str, group: list[Waiting], more: More) -> list[tuple[Any, Exception | None]]:
        """Decide these commands in one transaction, with those that came while it waited for the arena's lock: they are added to
        the group. If it fails, nothing happened."""
        live = self._find(arena)
        with live.lock:
            self._make_ready(live)
            answers = self._ahead(live, _orders(group)) if self._is_decided_ahead(group[0][0].command) else None
            if answers is None:
                answers = self._locked(live, group, more)
        with self._guard:
            self.commits += 1
            self.commands += len(group)
        return answers

    def _is_decided_ahead(self, command: Any) -> bool:
        """Where one lock is that of all arenas, all that takes long; else what would hold the arena's lock for seconds."""
        return is_long(command) and (self.journal.one_lock or not isinstance(command, c.Quarantine | c.Release))

    def _make_ready(self, live: Live) -> None:
        """Do what takes long before the journal is locked: fold the log, and tell the policy what happened since."""
        if self._failed:
            self._prove()  # while nothing can be written, a command must not cost the state in memory
        state = self._folded(live)
        with suppress(BaseException):  # a command that needs a policy which fails will say so
            state.needs_epoch()
        if state.torn:
            self._forget(live)

    def _locked(self, live: Live, group: list[Waiting], more: More) -> list[tuple[Any, Exception | None]]:
        """Lock the arena, read what others appended, decide, append, commit."""
        state = self._folded(live)
        with (
            self._forgetting(live, state) as known,
            self._noting_writes() as wrote,
            self.journal.transaction(live.arena) as transaction,
        ):
            group += more()
            orders = _orders(group)
            ahead = list(dict.fromkeys(keys_ahead(state, (order.command for order in orders))))
            others, about = transaction.since_and_about(state.number, ahead)
            for event in others:
                state.apply(event)
            known.append(state.number)
            live.gathering.take(state.tickets, others)
            state.trim()
            if state.past is not None:
                state.past.keep(ahead, about)
            decision = Decision(state)
            answers = [self._decide(decision, order, k) for k, order in enumerate(orders)]
            wrote.append(_append(transaction, decision))
        live.gathering.take(state.tickets, decision.events)
        state.trim()
        return [self._with_hash(live.arena, answer, failure, decision.events) for answer, failure in answers]

    def _with_hash(self, arena: str, answer: Any, failure: Exception | None, events: list[Event]) -> tuple[Any, Exception | None]:
        """The answer; a receipt with the hash of its event, which is one of these, or for a command sent again in the journal."""
        if not isinstance(answer, c.Receipt):
            return answer, failure
        k = answer.event - events[0].number if events else -1
        if 0 <= k < len(events):
            return replace(answer, hash=events[k].hash), None
        there, failure = _try(self.journal.events, arena, answer.event - 1, 1)
        return (None, failure) if failure else (replace(answer, hash=there[0].hash), None)

    def _ahead(self, live: Live, orders: list[Order]) -> list[tuple[Any, Exception | None]] | None:
        """Decide first, and lock only to append. None if another process came between."""
        state = self._folded(live)
        try:
            with self._forgetting(live, state) as known, uncollected():
                for event in self.journal.stream(live.arena, state.number):
                    state.apply(event)
                    live.gathering.take(state.tickets, [event])
                known.append(state.number)
                state.trim()
                if state.past is not None:
                    state.past.look_ahead(keys_ahead(state, (order.command for order in orders)), state.number)
                decision = Decision(state)
                answers = [self._decide(decision, order, k) for k, order in enumerate(orders)]
                if decision.events:
                    with self._noting_writes() as wrote, self.journal.transaction(live.arena) as transaction:
                        if transaction.since(known[0]):
                            raise Overtaken
                        wrote.append(_append(transaction, decision))
                live.gathering.take(state.tickets, decision.events)
                answers = [self._with_hash(live.arena, answer, failure, decision.events) for answer, failure in answers]
                while decision.events:
                    del decision.events[-1_000:]  # all at once, other threads would stand still
                state.trim()
        except Overtaken:
            return None
        return answers

    @contextmanager
    def _forgetting(self, live: Live, state: State) -> Iterator[list[int]]:
        """Forget the state after an error, if it has changed since the event whose number is put into the list."""
        known: list[int] = []
        try:
            yield known
        except BaseException:
            if state.torn or (known and state.number != known[0]):
                self._forget(live)
            raise

    def _forget(self, live: Live) -> None:
        live.state, live.lost = None, True

    def _decide(self, decision: Decision, order: Order, place: int = 0) -> tuple[Any, Exception | None]:
        """The answer, or why there is none. A command that fails before its first event leaves everything as it was."""
        command, before = order.command, decision.state.number
        try:
            check_text(command)
            return decide(decision, command, self._clock(), order.actor), None
        except BaseException as error:
            begun = decision.state.number != before or decision.state.torn
            if begun or not isinstance(error, Refused | BadInput):
                where = f"{type(command).__name__} failed{' half-way' if begun else ''} in arena {decision.state.arena}"
                if isinstance(error, Unavailable):  # a database that does not answer is no fault of the code
                    LOG.warning("%s: %s", where, error)
                else:
                    LOG.exception("%s.", where)
            if begun:
                raise HalfWay(place) from error
            return None, harmless(error)

    def _create(self, command: c.Create, actor: str) -> c.ArenaInfo:
        check_text(command)
        known = self._created(command)
        if known is not None:
            return known
        arena = secrets.token_hex(6)
        now = self._clock()
        state = State(arena)
        decision = Decision(state)
        made: c.ArenaInfo = decide(decision, command, now, actor)
        row = ArenaRow(arena, made.name, command.request, moment(now))
        try:
            with self._noting_writes() as wrote, self.journal.transaction(arena, row) as transaction:
                wrote.append(_append(transaction, decision))
        except Unavailable:
            known = self._created(command)  # the same request may have come to another process at the same time
            if known is None:
                raise
            return known
        return made

    def _created(self, command: c.Create) -> c.ArenaInfo | None:
        row = self.journal.find(request=command.request) if command.request is not None else None
        return None if row is None else self.info(row.id)

    def add_checked_log(self, events: Iterable[Event], contents: Mapping[str, bytes]) -> c.ArenaInfo:
        """Make a log an arena of this journal, under its own id. The same log again changes nothing.

        Parameters
        ----------
        events
            The whole log, in order, checked before by ``files.imports.import_log``.
        contents
            The contents of its options, by their SHA-256.

        Returns
        -------
        ArenaInfo
            The arena.
        """
        left = iter(events)
        first = next(left)
        arena, left = first.body["arena"], chain([first], left)
        if self.journal.find(id=arena) is not None:
            known = self.journal.stream(arena)
            for event in left:
                there = next(known, None)
                if there is None or there.hash != event.hash:
                    raise Conflict(f"There is an arena '{arena}' already, with another log.")
            return self.info(arena)
        row = ArenaRow(arena, first.body["name"], None, first.at)
        with self.journal.transaction(arena, row) as transaction:
            for sha256, data in contents.items():
                transaction.put_content(sha256, data)
            while page := list(islice(left, SNAPSHOT_AFTER)):
                transaction.append(page)
        return self.info(arena)

    # ---- the fold, kept

    def _find(self, arena: str) -> Live:
        with self._guard:
            live = self._live.get(arena)
            if live is not None:
                self._live.move_to_end(arena)
        if live is None:
            if is_broken(arena) or self.journal.find(id=arena) is None:
                raise NotFound(f"There is no arena {shortened(arena)}.")
            with self._guard:
                live = self._live.setdefault(arena, Live(arena))
        return live

    def _folded(self, live: Live) -> State:
        """The state in memory, or folded from the log."""
        if live.state is None:
            if live.broken is not None and time.monotonic() - live.broken[0] < REMEMBERED:
                raise BrokenLog(live.broken[1].number, live.broken[1].what)
            live.broken = None
            with uncollected(), self._noting_damage(live):
                try:
                    live.state = self._fold(live)
                except PolicyFailed:
                    live.state = self._fold(live, catch_up=False)
        return live.state

    def _fold(self, live: Live, *, catch_up: bool = True) -> State:
        """Fold the log, from a snapshot on if there is one. ``catch_up`` lets the policy follow on the way, which one that fails
        cannot; then the command that needs it says so."""
        past = past_in(self.journal, live.arena)
        state = load(live.arena, self.journal.load_snapshot(live.arena), past) or State(live.arena, past)
        live.saved = state.number
        for event in self.journal.stream(live.arena, state.number):
            state.apply(event)
            if event.number % TRIM == 0:
                state.trim()
                if catch_up:
                    try:
                        state.catch_up()
                    except Exception as error:
                        raise PolicyFailed from error
        if state.number == 0:
            raise BrokenLog(1, "it is missing, as are all others")
        state.trim()
        return state

    @contextmanager
    def _noting_damage(self, live: Live) -> Iterator[None]:
        try:
            yield
        except BrokenLog as broken:
            live.broken = (time.monotonic(), broken)
            raise

    @contextmanager
    def look(self, arena: str) -> Iterator[State]:
        """Lend the state with all events that this process and others have committed. Do not change it, and do not keep it.

        Parameters
        ----------
        arena
            The arena's id.
        """
        live = self._find(arena)
        with live.lock:
            state = self._folded(live)
            try:
                with self._noting_damage(live):
                    for event in self.journal.stream(arena, state.number):
                        state.apply(event)
                        live.gathering.take(state.tickets, [event])
            except BaseException:
                if state.torn:
                    self._forget(live)
                raise
            state.trim()
            live.broken = None
            yield state

    def damaged(self) -> list[str]:
        """List the arenas whose log was found to be damaged, and has not been read since."""
        with self._guard:
            return sorted(live.arena for live in self._live.values() if live.broken is not None)

    # ---- reads

    def arenas(self) -> list[ArenaRow]:
        """List all arenas of the journal."""
        return self.journal.arenas()

    def info(self, arena: str) -> c.ArenaInfo:
        """Describe an arena: settings, options, contexts, and where its log ends.

        Parameters
        ----------
        arena
            The arena's id.
        """
        with self.look(arena) as state:
            return info(state)

    def board(self, arena: str) -> Board:
        """Work out the board, once for all who look between two events, without holding up votes.

        Parameters
        ----------
        arena
            The arena's id.
        """
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
            live.board = board(known, live.forecast[1])
            return live.board

    def slices(self, arena: str) -> list[Slice]:
        """List the parts of the votes that can be looked at apart: by question, by group of raters, and people apart from judges.

        Parameters
        ----------
        arena
            The arena's id.

        Returns
        -------
        list of Slice
            Empty if the arena has neither several questions, nor several groups, nor judges beside people.
        """
        with self.look(arena) as state:
            return slices_of(state)

    def sliced_board(self, arena: str, wanted: Slice) -> Board:
        """Work out the board of a part of the votes. The time grows with the votes, and holds up none that come in.

        Parameters
        ----------
        arena
            The arena's id.
        wanted
            The part, one of ``slices``.

        Returns
        -------
        Board
            Its verdict has the part's share of the error; it has no forecast.
        """
        return self._sliced(arena, wanted)[0]

    def _sliced(self, arena: str, wanted: Slice) -> tuple[Board, Pace]:
        live = self._find(arena)
        with live.slicing:
            with self.look(arena) as state:
                made = live.sliced.get(wanted)
                if made is not None and made[0].number == state.number:
                    return made
                then = reading(state, self.journal)
            part = part_of(then, wanted)
            with self.look(arena) as state:
                part.tally.grow(len(state.options))
                known = replace(facts(state, part), number=then.number)
            if len(live.sliced) >= MOST_SLICED:
                live.sliced.clear()
            made = live.sliced[wanted] = board(known, (Forecast(True, 0.0, 0.0, 0.0), None)), part.pace
            return made

    def pace(self, arena: str, wanted: Slice | None = None) -> list[tuple[int, int]]:
        """Say when the votes that count were given.

        Parameters
        ----------
        arena
            The arena's id.
        wanted
            A part of the votes, one of ``slices``; None: all.

        Returns
        -------
        list of tuple
            When a span of time began, in seconds since 1970, and its votes. What the clock dated ahead of now is there as of now.
        """
        spans = None if wanted is None else self._sliced(arena, wanted)[1].spans()
        with self.look(arena) as state:
            now = int(time_of(state.at).timestamp())
            return [(min(at, now), votes) for at, votes in (state.pace.spans() if spans is None else spans)]

    def reading(self, arena: str) -> State:
        """Return the state as it is now, for reading all its tickets. That takes as long as reading the log, and delays no vote.

        Parameters
        ----------
        arena
            The arena's id.
        """
        with self.look(arena) as state:
            return reading(state, self.journal)

    def raters(self, arena: str) -> list[RaterLine]:
        """Describe the raters: how many votes, how quick, and how often they agree with the others.

        Parameters
        ----------
        arena
            The arena's id.
        """
        live = self._find(arena)
        with live.looking_at_raters:
            with self.look(arena) as state:
                if live.raters[0] == state.number:
                    return live.raters[1]
                then = reading(state, self.journal)
            live.raters = (then.number, RaterLog(self.journal, then).lines())
            return live.raters[1]

    def digest(self, arena: str) -> str:
        """Hash the state. Two services have the same digest if they know the same log, and only then.

        Parameters
        ----------
        arena
            The arena's id.
        """
        with self.look(arena) as state:
            return digest(state)

    def warm(self) -> None:
        """Load what is compiled, so that the first vote does not wait for it."""
        warm()

    def events(self, arena: str, since: int = 0, limit: int | None = None) -> list[Event]:
        """Read events of an arena's log, in order.

        Parameters
        ----------
        arena
            The arena's id.
        since
            The number of the last event that the caller knows.
        limit
            The most events to read; None: all.
        """
        self._find(arena)
        return self.journal.events(arena, since, limit)

    def ticket(self, ticket: str) -> c.Ticket:
        """Find a ticket.

        Parameters
        ----------
        ticket
            Its id.
        """
        with self.look(c.arena_of(ticket)) as state:
            record = state.tickets.get(ticket)
            if record is None:
                raise NotFound("There is no such ticket.")
            return shown_ticket(state, record)

    def content(self, ticket: str, position: int) -> Content:
        """Read what a rater sees at a position of a ticket.

        Parameters
        ----------
        ticket
            Its id.
        position
            From 0, in the order shown.
        """
        arena = c.arena_of(ticket)
        with self.look(arena) as state:
            record = state.tickets.get(ticket)
            if record is None or isinstance(position, bool) or not 0 <= position < len(record.shown):
                raise NotFound("There is nothing at this position of this ticket.")
            option = state.options[record.shown[position]]
            said, number = option.contents[record.context or 0], record.event
        data = self.journal.get_content(arena, said["sha256"])
        if data is None:
            raise BrokenLog(number, f"a content of option {option.id}, which it shows, is missing")
        return Content(said["kind"], data, said["type"])


def is_long(command: Any) -> bool:
    """May it take seconds? A quarantine may change tens of thousands of votes."""
    if isinstance(command, c.ImportVotes):
        return len(command.lines) > MANY
    if isinstance(command, c.PrintTickets):
        return isinstance(command.number, int) and command.number > MANY
    return isinstance(command, c.Quarantine | c.Release)


def _is_long(order: Order) -> bool:
    return is_long(order.command)


def _arena(command: Any) -> str:
    """The arena of a command; of one to come, ''."""
    if isinstance(command, c.Create):
        return ""
    where = c.arena_of(command.ticket) if isinstance(command, c.Vote) and isinstance(command.ticket, str) else command.arena
    if not isinstance(where, str) or not where:
        raise NotFound(f"There is no arena {shortened(where)}.")
    return where


def _orders(group: list[Waiting]) -> list[Order]:
    return [order for order, _ in group]


def _append(transaction: Transaction, decision: Decision) -> bool:
    """Append what was decided. False if there is nothing to append."""
    if decision.events:
        for sha256, data in decision.contents.items():
            transaction.put_content(sha256, data)
        transaction.append(decision.events)
    return bool(decision.events)


def _try(function: Any, *arguments: Any) -> tuple[Any, Exception | None]:
    try:
        return function(*arguments), None
    except BaseException as error:
        return None, harmless(error)
