"""Is the log what was written, and do its slates come out again? Also for a log that was exported, without a journal."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from multiduel.arena.domain import events as log
from multiduel.arena.domain.chooser import Epoch, shuffled
from multiduel.arena.domain.clock import span, went_back
from multiduel.arena.domain.errors import BrokenLog
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.log_check import LogCheck
from multiduel.arena.domain.past import Past, line_key, ticket_key
from multiduel.arena.domain.state import State
from multiduel.arena.files.signed_heads import Found
from multiduel.arena.journal import Journal, Snapshot
from multiduel.arena.service.history import past_in
from multiduel.arena.service.snapshots import digest, load
from multiduel.engine.registry.registry import POLICIES
from multiduel.inputs import BadInput, shortened
from multiduel.kernels.compiler.dispatch import uncollected

PAGE = 1_000  # events that are looked up together
MENTIONED = {  # by the event's kind: entries of its body that name a ticket or a line, which may not be in memory
    "ticket": (("id", ticket_key),),
    "vote": (("ticket", ticket_key), ("line", line_key)),
    "undo": (("ticket", ticket_key), ("again", ticket_key)),
}


@dataclass(frozen=True)
class EpochCheck:
    number: int  # of its event
    policy: str
    why: tuple[str, ...]
    tickets: int  # chosen in it
    checked: bool  # the fingerprint is this engine's, so that its slates were asked for again
    differs: int | None = None  # the first ticket that came out otherwise


@dataclass
class Verification:
    """What was checked. Print it."""

    events: int = 0
    epochs: list[EpochCheck] = field(default_factory=list)
    verdicts: int = 0
    jumps: list[tuple[int, int]] = field(default_factory=list)  # where the clock was set back: event, seconds
    contents: int | None = None  # None: an exported log carries none
    snapshot: str = "none"  # agrees, differs (delete it), unreadable (it is ignored), none
    first: tuple[int, str] | None = None  # the first event that is not in order, and why
    kept: list[Found] = field(default_factory=list)  # heads and receipts that somebody kept: are they in the log?

    @property
    def good(self) -> bool:
        return self.first is None and self.snapshot != "differs" and all(found.good for found in self.kept)

    def __str__(self) -> str:
        checked = [epoch for epoch in self.epochs if epoch.checked]
        slates = sum(epoch.tickets for epoch in checked)
        lines = [
            f"{self.events:,} events, hashes in order; {self.verdicts} verdicts found again.",
            f"{slates:,} slates of {len(checked)} of {len(self.epochs)} epochs asked for again; "
            + ("all of them are this engine's." if len(checked) == len(self.epochs) else "the others are of another engine."),
        ]
        unknown = dict.fromkeys(epoch.policy for epoch in self.epochs if epoch.policy not in POLICIES)
        if unknown:
            named = ", ".join(map(shortened, list(unknown)[:5]))
            lines.append(f"Not registered here, so that it could not be asked: {named}. A plug-in is loaded with '--plugin'.")
        if self.contents is not None:
            lines.append(f"{self.contents} contents are what they were. Snapshot: {self.snapshot}.")
        if self.jumps:
            number, seconds = self.jumps[0]
            times = "once" if len(self.jumps) == 1 else f"{len(self.jumps):,} times"
            lines.append(
                f"The clock was set back {times}, first before event {number}, by {span(seconds)}. Numbers give the order."
            )
        lines.extend(found.sentence for found in self.kept if found.good)
        lines.append("Verified." if self.good else f"NOT verified. {self._problem()}")
        return "\n".join(lines)

    def _problem(self) -> str:
        said = [found.sentence for found in self.kept if not found.good]
        if self.first is not None:
            said.insert(0, f"The first that is not in order: event {self.first[0]}, {self.first[1]}.")
        return " ".join(said) or "The snapshot differs from the fold: delete it."


class Verifier:
    def __init__(
        self,
        arena: str,
        get_content: Callable[[str], bytes | None] | None,
        snapshot: Snapshot | None,
        past: Past | None = None,
        first_without_key: Callable[[Sequence[Event]], int | None] | None = None,
    ) -> None:
        self.state, self.report, self._bodies = State(arena, past), Verification(), LogCheck()
        self._get_content, self._snapshot, self._first_without_key = get_content, snapshot, first_without_key
        self._tickets = 0
        if get_content is not None:
            self.report.contents = 0

    def check(self, events: Iterable[Event]) -> Verification:
        try:
            left = iter(events)
            while self._check_page(left):
                pass
            self._bodies.end(self.state)
        except BadInput as error:
            self._note(self.state.number + 1, str(error).rstrip("."))
        except BrokenLog as broken:
            self._note(broken.number, broken.what)
        try:
            self._end_epoch()
        except BadInput as error:  # such as a policy that is not installed here
            self._note(self.state.number, str(error).rstrip("."))
        return self.report

    @uncollected()  # a page's events stay until all of them are checked
    def _check_page(self, left: Iterator[Event]) -> bool:
        """Check the next events. False if there were none."""
        page, past = list(islice(left, PAGE)), self.state.past
        if past is not None:  # one question to the database about all that these events mention
            past.look_ahead((key for event in page for key in _mentioned(event, self.state)), self.state.number)
        for event in page:
            log.check(event, self.state.number + 1, self.state.hash)
            self._bodies.check(self.state, event)
            self._before(event)
            self.state.apply(event, checked=True)
            self.report.events += 1
            self._after(event)
        self.state.trim()
        self.state.catch_up()
        lost = self._first_without_key(page) if self._first_without_key is not None else None
        if lost is not None:
            self._note(lost, "it is missing in the table of keys, so that a vote sent again could count twice")
        return bool(page)

    def _note(self, number: int, what: str) -> None:
        if self.report.first is None or number < self.report.first[0]:
            self.report.first = (number, what)

    def _before(self, event: Event) -> None:
        if event.kind == "epoch":
            self._end_epoch()
        elif event.kind == "verdict":
            state, body = self.state, event.body
            state.weigh_anew()
            verdict = state.judge()
            found = (verdict.kind if verdict.settled else "open", None if verdict.winner is None else f"o{verdict.winner + 1}")
            self.report.verdicts += 1
            if found != (body.get("kind"), body.get("winner")):
                self._note(event.number, f"the verdict says {body.get('kind')} {body.get('winner')}, the votes say {found}")

    def _after(self, event: Event) -> None:
        state = self.state
        if back := went_back(event.body):
            self.report.jumps.append((event.number, back))
        if event.kind == "ticket" and "chosen" in event.body:
            self._tickets += 1
            shown = list(state.tickets.memory[event.body["id"]].shown)
            if shown != shuffled(state.seed, event.number, "order", shown):
                self._note(event.number, "its options are in another order than the seed gives")
        elif event.kind in ("created", "option_added"):
            self._check_contents(event)
        if self._snapshot is not None and event.number == self._snapshot.number:
            saved = load(state.arena, self._snapshot, state.past)
            self.report.snapshot = "unreadable" if saved is None else "agrees" if digest(saved) == digest(state) else "differs"

    def _check_contents(self, event: Event) -> None:
        if self._get_content is None or self.report.contents is None:
            return
        for option in event.body["options"]:
            for content in option["contents"]:
                data = self._get_content(content["sha256"])
                self.report.contents += 1
                if data is None or hashlib.sha256(data).hexdigest() != content["sha256"]:
                    self._note(event.number, f"a content of option {option['id']} is {'missing' if data is None else 'altered'}")

    def _end_epoch(self) -> None:
        """Live through the epoch that ends here, if this engine can."""
        epoch: Epoch | None = self.state.epoch
        if epoch is None:
            return
        mine = epoch.is_current()
        differs = self.state.ready().differs if mine else None
        self.report.epochs.append(EpochCheck(epoch.number, epoch.policy, epoch.why, self._tickets, mine, differs))
        self._tickets = 0
        if differs is not None:
            self._note(differs, f"its slate, of epoch {epoch.number}, comes out otherwise here")


def _mentioned(event: Event, state: State) -> list[str]:
    """What this event needs to know of events that are not in memory: is its ticket or line new, or what was its ticket?"""
    found = []
    for name, key in MENTIONED.get(event.kind, ()):
        value = event.body.get(name)
        if isinstance(value, str) and value not in state.tickets.memory:
            found.append(key(value))
    return found


def verify(journal: Journal, arena: str) -> Verification:
    """Everything that a journal holds of an arena."""

    def get_content(sha256: str) -> bytes | None:
        return journal.get_content(arena, sha256)

    past = past_in(journal, arena)
    checks = Verifier(arena, get_content, journal.load_snapshot(arena), past, lambda page: journal.first_without_key(arena, page))
    report = checks.check(journal.stream(arena))
    if report.events == 0 and report.first is None:  # every log has a first event
        report.first = (1, "it is missing, as are all others")
    return report


def verify_log(events: Iterable[Event], contents: Mapping[str, bytes] | None = None) -> Verification:
    """A log that was exported, with its contents if they are given (``exports.read_log`` reads both)."""
    return Verifier("", contents.get if contents is not None else None, None).check(events)
